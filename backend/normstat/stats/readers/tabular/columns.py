"""The general reader: rows under headers. Most *stat tools need no other.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b'''procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----
...  r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC
...  1  0      0 402312 267968 846360    0    0  1444  4554  647 1297 34  8 57  1  1 2026-11-21 12:00:00
...  3  0      0 402200 267968 846360    0    0    44     0  381  615  2  2 96  0  0 2026-11-21 12:00:01
... '''
>>> result = read(require_spec("vmstat_linux"), text, state={}, offset=0, command="vmstat -n -t 1")
>>> [len(block) for block in result.blocks], [len(block) for block in result.since_boot], result.n_taken == len(text)
([1], [1], True)
>>> block = result.blocks[0]
>>> block.fields[0].key, block.values[0].tolist(), block.time_us.tolist()
('procs_r', [3], [1795262401000000])
"""

import itertools
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from normstat.stats.engine.ahead import Ahead, Joined, More
from normstat.stats.engine.block import BlockBuilder, BulkRows
from normstat.stats.engine.column_layout import ColumnLayout, SinceBoot, TimeStyle
from normstat.stats.engine.comma_lines import blank_commas
from normstat.stats.engine.folding import Folding
from normstat.stats.engine.header import Header
from normstat.stats.engine.heading import Heading, known_headers
from normstat.stats.engine.line_engine import DISGUISED, LINE_LIMIT, LineEngine, decode_line
from normstat.stats.engine.line_prefix import FormKind
from normstat.stats.engine.outcome import NOT_MINE, Claim, Outcome, Rejected
from normstat.stats.engine.reader_state import LATER, ReaderState
from normstat.stats.engine.row import Words, instance_of, read_row, split_row
from normstat.stats.engine.shared_text import TextRows, TextWindow, index_alone
from normstat.stats.engine.stretches import (
    MAX_LINES,
    MAX_STRETCH_BYTES,
    HeaderTurn,
    LineNote,
    LineRole,
    Stretch,
    StretchKey,
)
from normstat.stats.engine.times.calls import may_be_live
from normstat.stats.engine.times.row_times import RowTimes
from normstat.stats.engine.times.time_lines import parse_time_line
from normstat.stats.engine.times.timestamps import (
    EMPTY_PREFIX,
    PREFIX,
    ClockWords,
    Timestamp,
    is_recorder_line,
    split_words,
    take_clock,
)
from normstat.stats.records import NO_TIME, Int64Array, LineKind, RowNames, State, Timing
from normstat.stats.spec import Field, Spec

# A piece of fewer bytes is read line by line: it takes longer to set up the arrays than to read so little without them.
MIN_BULK_BYTES: Final = 3000
GROUP_LINE_LIMIT: Final = 1000
BLANK_NOTE: Final = LineNote(LineRole.BLANK)
NO_MARKS: Final[frozenset[str]] = frozenset()

# The agent's, before a call: never a row, although it may be as long as one.
EPOCH_LINE: Final = re.compile(rb"^\d{9,10}\r?$", re.MULTILINE)

LAYOUT: Final = ColumnLayout


@dataclass(frozen=True, slots=True)
class _Runs:
    """Runs of plain rows of one header, which follow each other: the first of each run, and how many; in `times_us` the times of
    all rows, each for as many rows as `n_alike` says.
    """

    rows: TextRows
    builder: BlockBuilder
    firsts: list[int] = field(default_factory=list)
    n_rows: list[int] = field(default_factory=list)
    times_us: list[int] = field(default_factory=list)
    n_alike: list[int] = field(default_factory=list)

    def is_gapless(self) -> bool:
        """Return whether each run begins where the one before ends."""
        return self.firsts[-1] - self.firsts[0] == sum(self.n_rows) - self.n_rows[-1]

    def row_times(self) -> Int64Array:
        """Return the time of each row."""
        times = np.array(self.times_us, dtype=np.int64)
        return times if len(times) == sum(self.n_rows) else np.repeat(times, self.n_alike)


@dataclass(slots=True)
class _Walk:
    """The way through the lines of a window that begins at data[begin]: up to its line `at`, which is at data[taken].

    `opened`: where the lines that are read one by one begin, what their kinds depend on, and the header before them. The rest is
    booked at the end, because there are thousands of runs and stretches.
    """

    window: TextWindow
    begin: int
    taken: int
    at: int = 0
    is_after_run: bool = False
    opened: tuple[int, StretchKey, Header | None] | None = None
    n_row_bytes: int = 0
    n_row_lines: int = 0
    stretches: list[Stretch] = field(default_factory=list)


class Reader(LineEngine[ColumnLayout]):
    """One call of the reader: processes the lines in order and gathers their data."""

    shares_text = True
    prefix_kinds = frozenset(FormKind)

    def __init__(self, spec: Spec, *, state: State, offset: int, timing: Timing, command: str) -> None:
        assert isinstance(spec.layout, ColumnLayout)
        if any(table.time is TimeStyle.LEADING for table in spec.layout.tables):
            self.prefix_kinds = self.prefix_kinds - {FormKind.CLOCKS}
        super().__init__(spec, state=state, offset=offset, timing=timing, command=command)
        known = known_headers(spec)
        self._state = ReaderState(state, len(self.layout.tables), self.timing, omits_since_boot=self.omits_since_boot)
        self._row_times = RowTimes(state, self.timeline, has_zone=self.has_zone)
        self._heading = Heading(known, self._state)
        # Not a method of this object, which would then be garbage with all of its arrays.
        decode = decode_line if self.translations is None else self.translations.decode
        self._folding = Folding(self.layout, self._heading, self._state, decode, is_translated=self.translations is not None)
        # An agent reads a tool through a pipe, where lines are not folded.
        self.joins_lines = not timing.is_live and not may_be_live(command)
        self._plain: dict[int, TextRows | None] = {}
        self._runs: dict[int, _Runs] = {}
        self._is_after_blank = False
        # The kinds of the lines since the last row, while a stretch of them is learnt.
        self._notes: list[LineNote] = []

    def state(self) -> State:
        """Return what the next piece needs to know."""
        return self._state.to_state() | self._row_times.to_state()

    def take_many(self, data: bytes, begin: int, end: int) -> int | None:
        """Read whole lines: rows that are plain in bulk, everything else one by one. Missing: None if bulk is not worthwhile."""
        window = self._window_of(data, begin, end)
        if window is None:
            return None
        walk = _Walk(window, begin, begin)
        n_lines = len(window.starts)
        knows_stretches = not self.joins_lines and not self.calls.is_loop and not self.spec.is_user_made
        while walk.at < n_lines:
            # The line after a run is no row under the same header.
            found = None if walk.is_after_run or self.is_of_another_host else self._plain_rows(window)
            walk.is_after_run = False
            stop = walk.at + 1
            if found is not None and found.number[window.first_line + walk.at] >= 0:
                self._learn(walk, data)
                # The lines after those of a shared text are of other streams.
                stop = min(found.next_other[window.first_line + walk.at] - window.first_line, n_lines)
                if self._take_rows(walk, found, stop, data):
                    continue
            elif knows_stretches and walk.opened is None and not self.is_of_another_host and self._take_stretch(walk, data, end):
                continue
            if not self._take_singly(walk, stop, data):
                break
        # What ends a piece, such as the blank line after a report, ends the next one.
        self._learn(walk, data)
        self._book(walk)
        self._close_runs(begin - window.begin)
        return walk.taken

    def _take_rows(self, walk: _Walk, found: TextRows, stop: int, data: bytes) -> bool:
        """Take a run of plain rows up to the line `stop`; False, without taking any, where they are read one by one."""
        window, at, run_end = walk.window, walk.at, stop
        if self.joins_lines:
            # The line after the last row decides whether it is whole.
            last = data[walk.begin + window.starts[stop - 1] : walk.begin + window.ends[stop - 1]].removesuffix(b"\r")
            run_end = stop - self._folding.may_be_cut(self.decode(last))
        if run_end <= at or not self._take_run(found, found.number[window.first_line + at], run_end - at):
            return False
        end = window.ends[run_end - 1] + 1
        walk.n_row_bytes += end - window.starts[at]
        walk.n_row_lines += run_end - at
        self.ledger.pass_lines(run_end - at)
        walk.taken = walk.begin + end
        walk.at = run_end
        walk.is_after_run = run_end == stop
        return True

    def _take_singly(self, walk: _Walk, stop: int, data: bytes) -> bool:
        """Read the lines before the line `stop` one by one; False where more lines must come first."""
        window, begin = walk.window, walk.begin
        while walk.at < stop:
            line_begin = walk.taken
            walk.taken = self.read_line(data, line_begin, begin + window.ends[walk.at] + 1)
            if walk.taken == line_begin:
                return False
            # A folded line is several.
            walk.at = bisect_left(window.starts, walk.taken - begin, walk.at + 1) if self.joins_lines else walk.at + 1
        return True

    def _take_stretch(self, walk: _Walk, data: bytes, end: int) -> bool:
        """Take the next lines if they are known from an earlier report; else open a stretch, to know them again."""
        key = self._heading.stretch_key()
        known = self._take_known(key, data, walk.taken, end)
        if known is None:
            walk.opened = (walk.taken, key, self._heading.header)
            self._notes.clear()
            return False
        walk.stretches.append(known)
        self.ledger.pass_lines(len(known.lines))
        walk.taken += known.n_bytes
        walk.at += len(known.lines)
        return True

    def _book(self, walk: _Walk) -> None:
        """Book the lines that were passed."""
        if walk.n_row_lines:
            self.ledger.settle(LineKind.SAMPLE, walk.n_row_bytes, walk.n_row_lines)
        for known, n_times in Counter(walk.stretches).items():
            for kind, n_bytes, n_lines in known.books:
                self.ledger.settle(kind, n_bytes * n_times, n_lines * n_times)

    def _learn(self, walk: _Walk, data: bytes) -> None:
        """Keep the lines that were read one by one since the last row, to know them again."""
        if walk.opened is None:
            return
        begin, key, before = walk.opened
        walk.opened = None
        if walk.taken - begin <= MAX_STRETCH_BYTES:
            self._heading.stretches.learn(key, before, data[begin : walk.taken], self._notes)
        self._notes.clear()

    def _take_known(self, key: StretchKey, data: bytes, begin: int, end: int) -> Stretch | None:
        """Take lines that are known from an earlier report. Missing: None, without taking any, for others."""
        for known in self._heading.stretches.alternatives(key):
            if known.before is not self._heading.header or begin + known.n_bytes > end:
                continue
            times = known.times_at(data, begin)
            if times is None:
                continue
            state = self._state
            self.calls.forget_line()
            for line, time in zip(known.lines, times, strict=True):
                state.is_after_blank = line.role is LineRole.BLANK
                if line.role is LineRole.BLANK:
                    self._take_blank()
                elif line.role is LineRole.AGAIN:
                    clock = time if isinstance(time, ClockWords) else None
                    self._heading.repeat(data[begin + line.begin : begin + line.end], clock)
                    self._see_header(clock)
                elif line.turn is not None:
                    self._take_turn(line.turn)
                elif isinstance(time, Timestamp):
                    self._row_times.prefix_us = NO_TIME
                    state.name_line = ""
                    state.see_stamp(self._row_times.timeline.stamp_us(time))
            return known
        return None

    def _window_of(self, data: bytes, begin: int, end: int) -> TextWindow | None:
        """Return the whole lines data[begin:end] for reading in bulk. Missing: None if that is not worthwhile, or not possible."""
        shared = self.window
        if shared is not None and (shared.data is not data or begin or end != shared.n_bytes or self.calls.is_loop):
            shared = None
        if shared is None and end - begin < MIN_BULK_BYTES:
            return None
        lines = data[begin:end]
        if (
            (self.layout.has_commas and b"," in lines)
            # One byte is found faster than two.
            or (b">" in lines and (lines[:1] == b">" or b"\n>" in lines))
            # To search a MiB takes longer than to read it.
            or (not lines.isascii() and DISGUISED.search(lines) is not None)
            or (b"\r" in lines and lines.count(b"\r") != lines.count(b"\r\n"))
        ):
            return None
        if shared is not None:
            return shared
        alone = index_alone(lines, LINE_LIMIT)
        if self.calls.is_loop:
            alone.text.index.mark_odd(EPOCH_LINE)
        return alone

    def join(self, line: bytes, ahead: Ahead) -> Joined | More | None:
        """Return a folded line. Missing: None for any other."""
        return self._folding.join(line, ahead)

    def clean(self, line: bytes) -> bytes:
        """Return the line with blanks between its cells."""
        return blank_commas(line) if self.layout.has_commas else line

    def is_complete(self, line: bytes, offset: int) -> bool:  # noqa: ARG002 (where it stands says nothing)
        """Return whether a row under the present header is certain to be complete at its end."""
        header = self._heading.header
        return header is None or (
            not header.has_last_text
            and header.value_at[-1:] == (len(header.words) - 1,)
            and len(line) >= len(self._state.header_line.rstrip())
        )

    def take_bytes(self, line: bytes, offset: int) -> Outcome:
        """Return the kind of the line, or why it cannot be read."""
        self._is_after_blank = self._state.is_after_blank
        self._state.is_after_blank = not line.strip(b" \t")
        if self._state.is_after_blank:
            self._note(BLANK_NOTE)
            return self._take_blank()
        again = self._heading.take_again(line)
        if again is not None:
            self._note(LineNote(LineRole.AGAIN, clock=again.clock))
            self._see_header(again.clock)
            return LineKind.HEADER
        turn = self._heading.find_turn(line)
        if turn is not None:
            self._note(LineNote(LineRole.TURN, turn=turn))
            self._take_turn(turn)
            return LineKind.HEADER
        before = self._heading.header
        found = self._take_text(line, offset)
        if found is LineKind.HEADER and self._heading.header is not before:
            turn = self._heading.note_turn(line, before)
            if turn is not None:
                self._note(LineNote(LineRole.TURN, turn=turn))
        return found

    def _note(self, note: LineNote) -> None:
        """Note what a line is, for as many lines as may be known again."""
        if len(self._notes) <= MAX_LINES:
            self._notes.append(note)

    def _take_turn(self, turn: HeaderTurn) -> None:
        """Take a line that was a header before, in the same place."""
        self._heading.turn(turn)
        self._row_times.prefix_us = self.prefix_us
        self._see_header(None)

    def omit_since_boot(self) -> None:
        """Take the first report for one like all others."""
        super().omit_since_boot()
        self._state.omits_since_boot = True

    def take_interval(self, interval_us: int) -> None:
        """Take the time between two reports of a call from what a recorder said."""
        super().take_interval(interval_us)
        self._state.interval_us = interval_us

    def begin_call(self) -> None:
        """Start a new run: its first report may cover the time since boot, and its header comes."""
        self._state.begin_run()
        self._state.is_after_blank = True
        self._heading.drop()
        self._row_times.begin_sections()

    def see_call(self, stamp: Timestamp) -> None:
        """Start a new run at that time."""
        self.begin_call()
        self._state.see_stamp(self._row_times.timeline.stamp_us(stamp))

    def see_rejected(self) -> None:
        """Count a rejected line among the rows of its screen."""
        self._state.is_after_blank = False
        self._state.n_header_rows += 1

    def _take_text(self, line: bytes, offset: int) -> Outcome:
        """Return the kind of a line that is neither blank nor the present header again, or why it cannot be read."""
        text = self.decode(line)
        self._row_times.prefix_us = self.prefix_us
        # Rows of a user's own program may begin with such a time.
        may_be_prefix = text[4:5] == "-" and not (self.spec.is_user_made and text[10:11] == "T")
        if may_be_prefix and EMPTY_PREFIX.fullmatch(text) is not None:
            self._state.is_after_blank = True
            return self._take_blank()
        prefix = PREFIX.match(text) if may_be_prefix else None
        if prefix is not None:
            text = text[prefix.end() :]
            self._row_times.take_prefix(prefix)
        header = self._heading.header
        row = self._take_row(header, text, offset) if header is not None else NOT_MINE
        if isinstance(row, LineKind):
            return row
        other = self._take_other(text, offset)
        if other is not None:
            return other
        return row or Rejected("a line before any header" if header is None else f"not a known line of {self.spec.tool}")

    def _take_row(self, header: Header, text: str, offset: int) -> Claim:
        """Read a row and return its kind; any other line may be rejected as a row."""
        state = self._state
        name, state.name_line = state.name_line, ""
        words = split_row(header, f"{name} {text}", state.header_line) if name else None
        if not isinstance(words, Words):
            # The text on a separate line was not a name.
            words = split_row(header, text, state.header_line)
        if not isinstance(words, Words):
            return words
        if header.stat is None:
            return LineKind.IGNORED
        if not self._heading.knows_decimals():
            self._heading.learn_decimals(words)
        fields: Sequence[Field] | None = self._heading.fields
        row = read_row(header, self._heading.fields, words.words)
        if isinstance(row, Rejected):
            fields = self._heading.suffixed_fields(words)
            row = read_row(header, fields, words.words) if fields is not None else row
        if isinstance(row, Rejected) or fields is None:
            return row if isinstance(row, Rejected) else NOT_MINE
        if row.missing and row.printed is not None and self._is_known_line(text):
            return NOT_MINE
        instance = instance_of(header, words.words)
        if header.table.time is not TimeStyle.LEADING:
            state.see_row(self._heading.table, header, instance)
        is_since_boot = state.is_since_boot(self.layout, self._heading.table, header, words.clock)
        self.builder(header.stat, fields, is_since_boot=is_since_boot).add(row, self._row_us(words), instance, offset)
        return LineKind.SINCE_BOOT if is_since_boot else LineKind.SAMPLE

    def _is_known_line(self, text: str) -> bool:
        """Return whether the layout knows that the line is not a row, regardless of its words."""
        layout = self.layout
        return any(pattern is not None and pattern.search(text) for pattern in (layout.messages, layout.ignored))

    def _plain_rows(self, window: TextWindow) -> TextRows | None:
        """Return the plain rows of the present header in the text, while its rows need no look at each."""
        header = self._heading.header
        state = self._state
        if header is None or header.stat is None or header.has_clock_after or state.fold_width:
            return None
        if (not state.omits_since_boot or state.is_changed) and not header.table.has_counters:
            if self.layout.since_boot is SinceBoot.FIRST and state.n_reports[self._heading.table] != LATER:
                return None
            if self.layout.since_boot is SinceBoot.SAME_CLOCK and state.is_single and state.header_clock_s is not None:
                return None
        fields = self._heading.fields
        key = id(fields)
        if key not in self._plain:
            if not self._heading.knows_decimals() or not window.text.is_open(fields):
                return None
            self._plain[key] = window.text.rows(header, fields)
        return self._plain[key]

    def _take_run(self, found: TextRows, first: int, n_rows: int) -> bool:
        """Take plain rows; False, without taking any, when each must be read by itself."""
        header = self._heading.header
        assert header is not None
        rows = found.rows
        end = first + n_rows
        alike = [n_rows]
        if rows.clocks is not None:
            # Most runs have one clock.
            at = bisect_right(rows.clock_rows, first) - 1
            stop = bisect_left(rows.clock_rows, end, at + 1)
            times = [self._row_times.clock_us(clock) for clock in rows.clocks[at:stop]]
            if stop > at + 1:
                bounds = [first, *rows.clock_rows[at + 1 : stop], end]
                alike = [one - before for before, one in itertools.pairwise(bounds)]
        elif header.table.time is TimeStyle.LEADING:
            times = [self._state.row_us(self._heading.table)]
        else:
            marks = found.marks(header, first, n_rows) if header.instance_at else NO_MARKS
            stamps = self._state.see_rows(self._heading.table, header, marks, n_rows)
            if stamps is None:
                return False
            times = stamps
            if rows.moments is not None:
                times = self._row_times.moments_us(header.zone_name, rows.moments[first:end])
            if len(times) > 1:
                alike = [1] * n_rows
        self._state.is_after_blank = False
        self._state.name_line = ""
        self.calls.forget_line()
        runs = self._runs.get(id(self._heading.fields))
        if runs is None:
            assert header.stat is not None
            builder = self.builder(header.stat, self._heading.fields, is_since_boot=False)
            runs = self._runs[id(self._heading.fields)] = _Runs(found, builder)
        runs.firsts.append(first)
        runs.n_rows.append(n_rows)
        runs.times_us.extend(times)
        runs.n_alike.extend(alike)
        return True

    def _close_runs(self, shift: int) -> None:
        """Turn the runs of plain rows into blocks. `shift` is what the lines' places in the piece are beyond those in the text."""
        for runs in self._runs.values():
            if runs.is_gapless():
                # Rows that follow each other are a part of each array: nothing is copied.
                chosen: slice | Int64Array = slice(runs.firsts[0], runs.firsts[-1] + runs.n_rows[-1])
            else:
                ranges = [np.arange(first, first + n_rows) for first, n_rows in zip(runs.firsts, runs.n_rows, strict=True)]
                chosen = np.concatenate(ranges)
            runs.builder.add_bulk(self._bulk_rows(runs, chosen, shift))
        # This object is part of a cycle: what it holds would stay, and be looked at, until the garbage collector comes.
        self._runs.clear()
        self._plain.clear()

    def _bulk_rows(self, runs: _Runs, chosen: slice | Int64Array, shift: int) -> BulkRows:
        rows = runs.rows.rows
        missing = (
            [None if mask is None or not (own := mask[chosen]).any() else own for mask in rows.missing] if rows.has_missing else ()
        )
        return BulkRows(
            time_us=runs.row_times(),
            instances=RowNames(rows.instances.names, rows.instances.codes[chosen]),
            values=[column[chosen] for column in rows.values],
            line_offset=runs.rows.offsets[chosen] + (self.offset + shift),
            missing=missing,
            bound=rows.bound,
        )

    def _row_us(self, words: Words) -> int:
        prefix_us = self._row_times.prefix_us
        if words.clock is not None:
            clock_us = self._row_times.clock_us(words.clock)
            return prefix_us if clock_us == NO_TIME else clock_us
        if words.moment is not None:
            header = self._heading.header
            is_own_zone = header is None or not header.zone_name
            return self._row_times.moment_us(words.zone_name, words.moment, is_own_zone=is_own_zone)
        return self._state.row_us(self._heading.table) if prefix_us == NO_TIME else prefix_us

    def _take_blank(self) -> LineKind:
        """Return a blank line, which in some tools ends a table."""
        self._state.name_line = ""
        if self.layout.has_blank_end:
            self._heading.drop()
        return LineKind.IGNORED

    def _take_other(self, text: str, offset: int) -> LineKind | None:
        """Return the kind of a line that is no row."""
        layout = self.layout
        if layout.messages is not None and layout.messages.search(text):
            self._state.see_change()
            self._see_restart(text, offset)
            return LineKind.STATE_CHANGE
        if layout.ignored is not None and layout.ignored.search(text):
            return LineKind.IGNORED
        if layout.banner is not None and (banner := layout.banner.search(text)):
            self._begin_run(banner)
            return LineKind.HEADER
        if layout.group_line is not None:
            group_line = self.translations.english(text) if self.translations is not None else text
            if layout.group_line.search(group_line):
                self._state.see_heading()
                self._state.group_line = group_line[-GROUP_LINE_LIMIT:]
                return LineKind.HEADER
        line = self._heading.take(text, may_be_unknown=self._is_after_blank)
        if line is not None:
            self._see_header(line.clock)
            return LineKind.HEADER
        stamp = parse_time_line(text)
        if stamp is not None:
            self._note(LineNote(LineRole.STAMP, stamp=stamp))
            self._state.see_stamp(self._row_times.timeline.stamp_us(stamp))
            return LineKind.TIMESTAMP
        if is_recorder_line(text):
            return LineKind.IGNORED
        return LineKind.HEADER if self._heading.take_name(text) else None

    def _begin_run(self, banner: re.Match[str]) -> None:
        self._state.begin_run()
        self._heading.drop()
        self._row_times.see_banner(banner.groupdict().get("date") or "")

    def _see_restart(self, text: str, offset: int) -> None:
        """Start a new period after a restart of the host, which is an event if its time is known."""
        self._row_times.begin_sections()
        clock = take_clock(split_words(text, 4))
        if self.layout.has_sections and clock is not None and not clock.is_epoch:
            self.see_restart(self._row_times.see_section_clock(clock), offset)

    def _see_header(self, clock: ClockWords | None) -> None:
        self._state.see_header(self.layout, self._heading.table)
        self._row_times.header_zone.see_header()
        if clock is not None and not clock.is_epoch:
            self._row_times.see_header(clock, self._heading.section if self.layout.has_sections else None)
