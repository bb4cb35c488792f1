"""The state of a reader between lines: the report, the run, the stamp. Kept as JSON between chunks."""

from typing import Final

from normstat.stats.engine.column_layout import ColumnLayout, SinceBoot, TimeStyle
from normstat.stats.engine.header import Header
from normstat.stats.engine.times.timestamps import ClockWords
from normstat.stats.records import NO_TIME, State, Timing, number_of

STATE_VERSION: Final = 1
# Rows since a header that a gap hides: less than any number that may follow.
UNKNOWN_ROWS: Final = -(1 << 40)
# Reports are counted as 0 (none yet), 1 (the first) and 2 (a later one).
NONE: Final = 0
FIRST: Final = 1
LATER: Final = 2
# Marks a header among the rows that were seen in a report.
HEADER_MARK: Final = "\n"
# No report has more rows than this; it bounds the state of a broken stream.
MAX_SEEN: Final = 20_000


def mark_of(header: Header, instance: str) -> str:
    """Return how a row under a header is noted as seen."""
    return f"{header.words[header.value_at[0]]} {instance}"


class ReaderState:
    """The position in the sequence of runs and reports of a stream.

    A run begins with the tool, a report with its header, its stamp, or a repeated instance. A stamp dates one report of
    every table. Later reports without a stamp have no known time, unless the interval is known from elsewhere.
    """

    __slots__ = (
        "decimals",
        "fold_width",
        "group_line",
        "header_clock_s",
        "header_group",
        "header_line",
        "interval_us",
        "is_after_blank",
        "is_call_stamp",
        "is_changed",
        "is_hard_fold",
        "is_run_stamp",
        "is_single",
        "is_stamp_new",
        "is_stamped",
        "n_header_rows",
        "n_reports",
        "name_line",
        "omits_since_boot",
        "period",
        "seen",
        "stamp_us",
        "steps",
        "tables",
    )

    def __init__(self, state: State, n_tables: int, timing: Timing, *, omits_since_boot: bool) -> None:
        self.header_line = str(state.get("header", ""))
        # The group line above the present header; `group_line` may already be that of the next one.
        self.header_group = str(state.get("header_group", ""))
        self.group_line = str(state.get("group", ""))
        # The clock of the present header; the header's line holds it between chunks.
        self.header_clock_s: float | None = None
        # Whether the previous line was blank or does not exist.
        self.is_after_blank = state.get("blank", True) is True
        # A name on a separate line before its row.
        self.name_line = str(state.get("name", ""))
        # The width at which lines were folded, 0 for none, and whether that was in the midst of words.
        fold = state.get("fold")
        self.fold_width, self.is_hard_fold = (int(fold[0]), fold[1] is True) if isinstance(fold, list) else (0, False)
        # The tables that this run has printed so far.
        tables = state.get("tables")
        self.tables = {int(table) for table in tables} if isinstance(tables, list) else set()
        if state.get("gap") is True:
            self._forget_lines()
        # False once a row bore another clock than its header: then the tool was called with an interval.
        self.is_single = state.get("single", True) is True
        # Rows since the last header; negative while a gap leaves their number open.
        self.n_header_rows = UNKNOWN_ROWS if state.get("gap") is True else number_of(state.get("rows"), 0)
        self.period = number_of(state.get("period"), 0)
        start_us = NO_TIME if timing.start_us is None else timing.start_us
        self.stamp_us = number_of(state.get("stamp"), start_us)
        # True until a row came after the stamp: the stamp dates a run that begins now.
        self.is_stamp_new = state.get("stamp_new", True) is True
        # Whether a report without a stamp followed a stamped one: then stamps stand before calls of the tool, not before reports.
        # And whether such a stamp was the latest line that is no blank: a header after it begins a call.
        # `is_stamped`: the present report had a stamp, if only of a zone with several meanings.
        self.is_stamped = state.get("stamped", self.stamp_us != NO_TIME) is True
        self.is_run_stamp = state.get("run_stamp") is True
        self.is_call_stamp = state.get("call_stamp") is True
        self.interval_us = timing.interval_us
        # For each table the number of reports since the stamp; only counted where the interval is known.
        steps = state.get("steps")
        self.steps = [int(number) for number in steps] if isinstance(steps, list) else [0] * n_tables
        self.omits_since_boot = omits_since_boot
        # True from a message about a change to the end of the next report, which no option suppresses.
        self.is_changed = state.get("changed") is True
        decimals = state.get("decimals")
        self.decimals = {str(key): int(value) for key, value in decimals.items()} if isinstance(decimals, dict) else {}
        reports = state.get("reports")
        self.n_reports = [int(number) for number in reports] if isinstance(reports, list) else [0] * n_tables
        seen = state.get("seen")
        self.seen = [set(map(str, names)) for names in seen] if isinstance(seen, list) else [set() for _ in range(n_tables)]

    def to_state(self) -> State:
        """Return the memory as JSON values."""
        return {
            "version": STATE_VERSION,
            "header": self.header_line,
            "header_group": self.header_group,
            "group": self.group_line,
            "blank": self.is_after_blank,
            "name": self.name_line,
            "tables": sorted(self.tables),
            "single": self.is_single,
            "changed": self.is_changed,
            "rows": self.n_header_rows,
            "period": self.period,
            "stamp": self.stamp_us,
            "stamp_new": self.is_stamp_new,
            "steps": list(self.steps),
            "decimals": dict(self.decimals),
            "reports": list(self.n_reports),
            "seen": [sorted(names) for names in self.seen],
            **({"run_stamp": True} if self.is_run_stamp else {}),
            **({"call_stamp": True} if self.is_call_stamp else {}),
            **({"stamped": self.is_stamped} if self.is_stamped != (self.stamp_us != NO_TIME) else {}),
            **({"fold": [self.fold_width, self.is_hard_fold]} if self.fold_width else {}),
        }

    def _forget_lines(self) -> None:
        """Forget the previous line after lost bytes, and the present table where there are several."""
        self.is_after_blank = False
        self.name_line = ""
        if len(self.tables) > 1:
            self.header_line = ""

    def begin_run(self) -> None:
        """Start a new run: the tool was started again."""
        self.tables.clear()
        self.n_reports = [NONE] * len(self.n_reports)
        self.seen = [set() for _ in self.seen]
        self.is_single = True
        self.is_changed = False
        self.n_header_rows = 0
        self.period = 0
        if not self.is_stamp_new:
            self._forget_stamp()

    def see_change(self) -> None:
        """Note a message about a change of CPUs or disks: the next report covers the time since boot again.

        Source: vmstat, mpstat and iostat of illumos, main loop; they say so nowhere in their manual pages.
        """
        self.n_reports = [NONE] * len(self.n_reports)
        self.is_changed = True
        for names in self.seen:
            names.clear()
        if self.interval_us is None:
            self.stamp_us, self.is_stamped = NO_TIME, False

    def row_us(self, table: int) -> int:
        """Return the instant of the table's current report, if a stamp dates it."""
        if self.interval_us is None or self.stamp_us == NO_TIME:
            return self.stamp_us
        return self.stamp_us + self.steps[table] * self.interval_us

    def _forget_stamp(self) -> None:
        self.stamp_us, self.is_stamped = NO_TIME, False
        self.steps = [0] * len(self.steps)

    def see_rows(self, table: int, header: Header, marks: frozenset[str], n_rows: int) -> list[int] | None:
        """Note many consecutive rows of the table, and return their stamped times: one for all, or one for each.

        `marks` are those of the rows. Missing: None, and nothing noted, when an instance repeats or there are too many: then the
        rows must be noted one by one.
        """
        if not header.instance_at:
            # Only the first of such rows can belong to the stamp; the second one opens a report without, and so do all others.
            instance = header.title
            self.see_row(table, header, instance)
            times = [self.row_us(table)]
            n_more = n_rows - 1
            if n_more:
                self.see_row(table, header, instance)
                self.n_header_rows += n_more - 1
                self.steps[table] += n_more - 1 if self.interval_us is not None else 0
                step_us = self.interval_us if self.interval_us is not None and times[0] != NO_TIME else None
                times += [NO_TIME] * n_more if step_us is None else [times[0] + step_us * step for step in range(1, n_more + 1)]
            return times
        seen = self.seen[table]
        if len(marks) != n_rows or not marks.isdisjoint(seen) or len(seen) + n_rows > MAX_SEEN:
            return None
        if self.n_reports[table] == NONE:
            self.n_reports[table] = FIRST
        seen |= marks
        self.n_header_rows += n_rows
        self.is_stamp_new = False
        return [self.row_us(table)]

    def see_stamp(self, stamp_us: int) -> None:
        """Note a time on a separate line: a new report follows."""
        self.is_call_stamp = self.is_run_stamp
        self.is_run_stamp = False
        self.stamp_us = stamp_us
        self.is_stamp_new = self.is_stamped = True
        self.steps = [0] * len(self.steps)
        for table, names in enumerate(self.seen):
            if self.n_reports[table] != NONE:
                self.n_reports[table] = LATER
                self.is_changed = False
                names.clear()

    def see_header(self, layout: ColumnLayout, table: int) -> None:
        """Note a header of the table: the start of a report, one repeated on every screen, or a new run."""
        self.see_heading()
        if layout.header_rows is not None:
            self._see_screen(layout.header_rows, table)
        elif layout.tables[table].time is not TimeStyle.LEADING:
            names = self.seen[table]
            mark = HEADER_MARK + self.header_line
            if mark in names:
                self._next_report(table)
            names.add(mark)
        self.tables.add(table)

    def see_heading(self) -> None:
        """Note a line above rows. After a stamp before a call, it begins a run, which the stamp dates."""
        if self.is_call_stamp:
            stamp_us = self.stamp_us
            self.begin_run()
            self.stamp_us, self.is_stamp_new, self.is_stamped = stamp_us, True, True
            self.is_call_stamp = False

    def _see_screen(self, header_rows: int, table: int) -> None:
        """Note a header that is repeated on every screen. At another distance than the last time it starts a new run.

        The first one after a gap is at no known distance. A run that begins has a stream of its own, so it is the same run.
        """
        if self.n_header_rows < 0:
            self.n_header_rows = 0
            return
        is_repeated = abs(self.n_header_rows - self.period) <= 1 if self.period else self.n_header_rows >= header_rows
        if self.n_reports[table] != NONE and not is_repeated:
            stamp_us, steps, is_stamped = self.stamp_us, self.steps, self.is_stamped
            self.begin_run()
            self.stamp_us, self.steps, self.is_stamped = stamp_us, steps, is_stamped
        elif self.n_reports[table] != NONE:
            self.period = self.n_header_rows
        self.n_header_rows = 0

    def see_row(self, table: int, header: Header, instance: str) -> None:
        """Note a row of the table. It starts a new report when its instance already had a row under this header."""
        row = mark_of(header, instance)
        if self.n_reports[table] == NONE:
            self.n_reports[table] = FIRST
        elif row in self.seen[table] or len(self.seen[table]) >= MAX_SEEN:
            self._next_report(table)
        self.seen[table].add(row)
        self.n_header_rows += 1
        self.is_stamp_new = False
        self.is_call_stamp = False

    def _next_report(self, table: int) -> None:
        """Start a report without its own time, unless the previous one was empty."""
        if self.n_reports[table] != NONE:
            self.is_run_stamp = self.is_run_stamp or self.is_stamped
            if self.interval_us is None:
                self.stamp_us, self.is_stamped = NO_TIME, False
            else:
                self.steps[table] += 1
            self.is_changed = False
        self.n_reports[table] = LATER
        self.seen[table].clear()

    def is_since_boot(self, layout: ColumnLayout, table: int, header: Header, clock: ClockWords | None) -> bool:
        """Return whether the row just seen belongs to a report about the time since boot."""
        if (self.omits_since_boot and not self.is_changed) or header.table.has_counters or layout.since_boot is SinceBoot.NEVER:
            return False
        if layout.since_boot is SinceBoot.FIRST:
            return self.n_reports[table] == FIRST
        if clock is None or self.header_clock_s is None:
            return False
        self.is_single = self.is_single and clock.seconds == self.header_clock_s
        return self.is_single


def state_after_gap(state: State) -> State:
    """Return the state to continue with after a gap. Headers are still known.

    The rest of a line that may have lost its beginning is skipped and booked as rejected: what is left of `1234 5 6` can be
    `34 5 6`, and look whole. Rows wait for the next stamp, since the last one may belong to a report before the gap; what was
    gathered of an unfinished sample of many lines is dropped.
    """
    return state | {"long": True, "stamp": NO_TIME, "gap": True}
