"""How large uploads may be. Apart from the modules that read them: every server needs the limits, few read an upload."""

from typing import Final

# `perf script` of minutes is larger, its folded stacks are not.
MAX_ARTEFACT_BYTES: Final = 256 << 20
MAX_REPORT_FILE_BYTES: Final = 32 << 20
