"""The outcome of one line: its kind, the reason why it was rejected, or that no reader claims it.

>>> NOT_MINE or LineKind.IGNORED
<LineKind.IGNORED: 'ignored'>
"""

from dataclasses import dataclass
from typing import Final, Literal

from normstat.stats.records import LineKind


@dataclass(frozen=True, slots=True)
class Rejected:
    """The line, or the row in it, cannot be read; `reason` is shown to users."""

    reason: str


class NotMine:
    """The function does not know the line; the next one is tried. It is false, so `or` tries the next."""

    __slots__ = ()

    def __bool__(self) -> Literal[False]:
        return False


NOT_MINE: Final = NotMine()

# The outcome of a reader for a line.
Outcome = LineKind | Rejected
# The outcome of a step of a reader for a line.
Claim = LineKind | Rejected | NotMine
