"""Tools that say everything in one line: swap -s.

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
from typing import Final

from normstat.stats.engine.lines import Line
from normstat.stats.engine.snapshot import SnapshotReading
from normstat.stats.pattern import compile_pattern
from normstat.stats.records import LineKind
from normstat.stats.spec import Spec

MAX_LINE_LENGTH: Final = 600


def check(spec: Spec) -> None:
    """Raise KeyError, TypeError, ValueError or re.error for a layout that makes no sense."""
    lines = _lines(spec)
    wrong = {name for name, _ in lines} - {stat.name for stat in spec.stats}
    if wrong or not lines or set(spec.layout) != {"lines"} or not all(pattern.groupindex for _, pattern in lines):
        message = f"lines: a stat of this spec and a pattern with named groups for each; no stats: {sorted(wrong)}"
        raise ValueError(message)


def _lines(spec: Spec) -> list[tuple[str, re.Pattern[str]]]:
    raw = spec.layout["lines"]
    if not isinstance(raw, list):
        raise TypeError("lines: a list is needed")
    return [(str(line["stat"]), compile_pattern(spec, str(line["pattern"]), re.ASCII)) for line in raw]


class OneLineReading(SnapshotReading):
    """One call of the reader."""

    def take_data(self, line: Line, text: str) -> LineKind | str | None:
        """Return the line, if it is one of those that the layout knows."""
        if len(text) > MAX_LINE_LENGTH:
            return None
        for name, pattern in _lines(self.spec):
            found = pattern.fullmatch(text)
            if found is not None:
                parts = {column: word for column, word in found.groupdict().items() if word is not None}
                reason = self.gather(self.stat(name), list(parts), list(parts.values()), offset=line.offset)
                return reason or LineKind.SAMPLE
        return None
