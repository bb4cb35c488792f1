"""Detect where a report ends: tracers print no mark for it, so repeated output is the only sign.

A new report begins with a time, or when a part of the current one repeats: the same header under the same title, the same
distribution, the same counted key. Only checksums of these are kept, and only of the first ones of a report.
"""

import zlib
from collections.abc import Sequence
from typing import Final

MAX_SEEN: Final = 512


def mark_of(*parts: str) -> int:
    """Return a checksum of something that is printed once a report.

    >>> mark_of("key", "bash") == mark_of("key", "bash"), mark_of("key", "bash") == mark_of("stack", "bash")
    (True, False)
    """
    return zlib.crc32("\x1f".join(parts).encode("utf-8", "backslashreplace"))


class ReportMarks:
    """The parts of the current report. `is_fresh` while there are none, `is_stamped` while a time identifies the report."""

    def __init__(self, state: object) -> None:
        is_known = isinstance(state, list) and len(state) == 3 and isinstance(state[2], list)
        fresh, stamped, seen = state if is_known and isinstance(state, list) else (True, False, [])
        self.is_fresh = fresh is not False
        self.is_stamped = stamped is True
        self._seen: dict[int, None] = dict.fromkeys(int(mark) for mark in seen)

    def to_state(self) -> list[object]:
        """Return the state as JSON values."""
        return [self.is_fresh, self.is_stamped, list(self._seen)]

    def see_time(self) -> None:
        """Note a printed time: another report follows."""
        self.is_fresh = self.is_stamped = True

    def see_break(self) -> None:
        """Note that another report follows, at an unknown time."""
        if not self.is_fresh:
            self.is_fresh = True
            self.is_stamped = False

    def starts_report(self, marks: Sequence[int], *, is_known_report: bool = False) -> bool:
        """Return whether these start a new report; they belong to the present one from now on.

        With `is_known_report` they are of the present report even if they come again.

        >>> marks = ReportMarks(None)
        >>> marks.starts_report([1, 2]), marks.starts_report([3]), marks.starts_report([4, 2]), marks.starts_report([3])
        (True, False, True, False)
        """
        is_new = self.is_fresh or (not is_known_report and any(mark in self._seen for mark in marks))
        if is_new:
            self.is_stamped = self.is_stamped and self.is_fresh
            self.is_fresh = False
            self._seen.clear()
        for mark in marks[: MAX_SEEN - len(self._seen)]:
            self._seen[mark] = None
        return is_new
