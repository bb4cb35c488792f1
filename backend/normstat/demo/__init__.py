"""The demo: a day of three hosts, made again from a seed whenever it is opened, and loaded as any recorded day is.

Responsible for: what the tools of those hosts would have printed (`day`, `solaris_output`, `linux_output`), which hosts and
incidents there are (`scene`), and what people did with them (`filling`). Never: samples that no reader has read. Entry
point: `filling.fill_demo`.
"""

from typing import Final

# The account that sees the demo; here, so that who prints its link need not import what fills the demo.
VISITOR: Final = "visitor"
