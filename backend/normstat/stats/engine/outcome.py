"""What came of one line: what it was, why it was rejected, or that it belongs to nobody who was asked.

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
    """The line is none of those that the function knows: the next one is asked. False, so that `or` asks it."""

    __slots__ = ()

    def __bool__(self) -> Literal[False]:
        return False


NOT_MINE: Final = NotMine()

# What a reader says of a line.
Outcome = LineKind | Rejected
# What a step of a reader says of a line.
Claim = LineKind | Rejected | NotMine
