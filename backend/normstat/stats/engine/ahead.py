"""The lines after the present one, for readers that put folded lines together."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final


class More(Enum):
    """Marks that the next lines must be known first, unlike None: the line is not folded."""

    MORE = 0


MORE: Final = More.MORE


@dataclass(frozen=True, slots=True)
class Joined:
    """Several lines that are one, without the marks of the fold. `reason`: why it cannot be read, "" when it can."""

    line: bytes
    n_lines: int
    reason: str = ""


class Ahead:
    """The lines of a piece that follow one of its lines: `line(1)` is the next one. Lines come without line end and colours.

    `begin` is the place of the next line in the data, `limit` the length from which on a line is not looked at. `is_final`: the
    stream ends with the data.
    """

    __slots__ = ("_clean", "_data", "_ends", "_is_final", "_limit", "_lines")

    def __init__(self, data: bytes, begin: int, clean: Callable[[bytes], bytes], limit: int, *, is_final: bool) -> None:
        self._data = data
        self._clean = clean
        self._limit = limit
        self._is_final = is_final
        self._lines: list[bytes] = []
        self._ends = [begin]

    def line(self, number: int) -> bytes | None:
        """Return a line, b"" after the end of the stream. Missing: None when it has not arrived yet."""
        while len(self._lines) < number:
            begin = self._ends[-1]
            end = self._data.find(b"\n", begin)
            stop = len(self._data) if end < 0 else end
            is_long = stop - begin >= self._limit
            if end < 0 and not self._is_final and not is_long:
                return None
            # A line that is too long is never continued.
            self._lines.append(b"" if is_long else self._clean(self._data[begin:stop]))
            self._ends.append(stop + (end >= 0))
        return self._lines[number - 1]

    def end(self, number: int) -> int:
        """Return the place after the line end of a line that `line` gave; 0 is the present line."""
        return self._ends[number]
