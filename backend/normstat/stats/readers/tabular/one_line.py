"""Tools that print everything on one line: swap -s.

total: 456164k bytes allocated + 44248k reserved = 500412k used, 1105756k available

Keys of `[[layout.lines]]`: `stat`, and `pattern`, a regular expression of the whole line whose named groups are the columns.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> excerpt = __doc__.split("\\n\\n")[1].encode() + b"\\n"
>>> block = read(require_spec("swap_s_solaris"), excerpt, state={}, offset=0, is_final=True).blocks[0]
>>> [(field.key, values.tolist()) for field, values in zip(block.fields, block.values)][3]
('available', [1132294144.0])
"""

import re
from dataclasses import dataclass
from typing import Annotated, Final

from normstat.stats.engine.lines import Line
from normstat.stats.engine.outcome import NOT_MINE, Claim
from normstat.stats.engine.snapshot import SnapshotReader
from normstat.stats.layout import ASCII, NON_EMPTY
from normstat.stats.records import LineKind
from normstat.stats.spec import Layout, Stat

MAX_LINE_LENGTH: Final = 600


@dataclass(frozen=True)
class OneLine:
    """A form of the line; the named groups of the pattern are columns."""

    stat: Stat
    pattern: Annotated[re.Pattern[str], ASCII]

    def __post_init__(self) -> None:
        """Require a named group."""
        if not self.pattern.groupindex:
            raise ValueError("pattern: has no named group")


@dataclass(frozen=True)
class OneLineLayout(Layout):
    """The forms of the line."""

    lines: Annotated[tuple[OneLine, ...], NON_EMPTY]


LAYOUT: Final = OneLineLayout


class Reader(SnapshotReader[OneLineLayout]):
    """One call of the reader."""

    def take_data(self, line: Line, text: str) -> Claim:
        """Return the line, if the layout knows it."""
        if len(text) > MAX_LINE_LENGTH:
            return NOT_MINE
        for form in self.layout.lines:
            found = form.pattern.fullmatch(text)
            if found is not None:
                parts = {column: word for column, word in found.groupdict().items() if word is not None}
                reason = self.gather(form.stat, list(parts), list(parts.values()), offset=line.offset)
                return reason or LineKind.SAMPLE
        return NOT_MINE
