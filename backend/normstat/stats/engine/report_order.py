"""Count the reports of a run, when reports begin with a header, a stamp, or a repeated name.

The first report of tools that print tables repeatedly covers the time since boot (or since a process started). Reports have no
number: one ends when a name repeats.
"""

from typing import Final

# Reports are counted as 0 (none yet), 1 (the first) and 2 (a later one).
NONE: Final = 0
FIRST: Final = 1
LATER: Final = 2
# No report has more rows than this; it bounds the state of a broken stream.
MAX_SEEN: Final = 20_000


class Reports:
    """The current report: its `number` (0, 1 or 2), and the names seen in it."""

    __slots__ = ("is_open", "number", "seen")

    def __init__(self, state: object = None) -> None:
        self.number = NONE
        self.is_open = False
        self.seen: set[str] = set()
        if isinstance(state, list) and len(state) == 3:
            number, is_open, seen = state
            self.number, self.is_open = int(number), is_open is True
            self.seen = set(map(str, seen)) if isinstance(seen, list) else set()

    def to_state(self) -> list[object]:
        """Return the report as JSON values."""
        return [self.number, self.is_open, sorted(self.seen)]

    def see(self, name: str) -> bool:
        """Take a name. Return True when it starts a new report, because none is open or the open one already has the name."""
        is_new = not self.is_open or name in self.seen or len(self.seen) >= MAX_SEEN
        if is_new:
            self.number = min(LATER, self.number + 1)
            self.seen.clear()
            self.is_open = True
        self.seen.add(name)
        return is_new

    def close(self) -> None:
        """End the present report."""
        self.is_open = False
        self.seen.clear()

    @property
    def is_first(self) -> bool:
        """Whether the present report is the first of the run."""
        return self.number == FIRST


def reports_after_gap(state: object) -> Reports:
    """Return the state after lost bytes: only that the first report is over."""
    reports = Reports(state)
    reports.number = LATER
    reports.close()
    return reports
