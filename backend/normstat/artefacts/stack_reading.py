"""Shared by the readers of stacks: the lines that they could not read, names without control characters, columns of weights."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from normstat.artefacts.parts import Part, PartColumn
from normstat.stats.spec import Kind, Worse

# Deeper stacks are endless recursion, or not stacks.
MAX_FRAMES: Final = 1_500
MAX_REJECTED: Final = 200
MAX_TEXT: Final = 300
CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True, slots=True)
class RejectedStackLine:
    """A line that is no part of a stack."""

    line_no: int
    text: str
    reason: str


@dataclass(slots=True)
class StackReading:
    """What was read. `first_us`: the first time of the text, where it prints the day; `duration_s`: from its first to its last."""

    parts: Sequence[Part] = ()
    n_lines: int = 0
    n_rejected: int = 0
    rejected: list[RejectedStackLine] = field(default_factory=list)
    first_us: int | None = None
    last_us: int | None = None
    duration_s: float | None = None

    def reject(self, line_no: int, line: bytes, reason: str) -> None:
        """Count a line that was not read; keep the first MAX_REJECTED."""
        self.n_rejected += 1
        if len(self.rejected) < MAX_REJECTED:
            self.rejected.append(RejectedStackLine(line_no, line[:MAX_TEXT].decode("utf-8", "replace"), reason))


def clean_frame(frame: str) -> str:
    """Return the name of a frame without characters that would break or turn the text around it.

    >>> clean_frame("main\\x00\\x1b[31m")
    'main��[31m'
    """
    return CONTROL.sub(REPLACEMENT, frame)


def weight_column(key: str, title: str, unit: str, text: str, kind: Kind = Kind.COUNT) -> PartColumn:
    """Return a column of weights; more is worse."""
    return PartColumn(key, title, unit, kind, Worse.HIGHER, 0, text, is_additive=True)
