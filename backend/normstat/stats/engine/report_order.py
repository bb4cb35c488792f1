"""Which report of its run a reader is in, when reports begin with a header, a stamp, or a name that comes again.

Tools that print tables again and again tell in their first report of the time since boot (or since a process began), and a report
has no number of its own: it is over when something comes that it has already.
"""

from typing import Final

# Reports are counted as 0 (none yet), 1 (the first) and 2 (a later one).
NONE: Final = 0
FIRST: Final = 1
LATER: Final = 2
# The command line of a stream that an agent makes by calling the tool again and again begins with it.
LOOP_MARK: Final = "@"
# No report has more rows than this; it bounds the state that a broken stream can make.
MAX_SEEN: Final = 20_000


class Reports:
    """The present report: `number` of it (0, 1 or 2), and the names it has already."""

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
        """Take a name; True when a new report begins with it, because none is open or the open one has that name already."""
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

    def see_stamp(self, command: str) -> None:
        """End the present report at a time on a line of its own.

        An agent that calls a tool again and again (`@5 command`) puts the time before each call, whose first report is about the
        time since boot once more.
        """
        self.close()
        if command.startswith(LOOP_MARK):
            self.number = NONE

    @property
    def is_first(self) -> bool:
        """Whether the present report is the first of the run."""
        return self.number == FIRST


def reports_after_gap(state: object) -> Reports:
    """Return what is still known when bytes were lost: that the first report is over."""
    reports = Reports(state)
    reports.number = LATER
    reports.close()
    return reports
