"""The general reader: rows under headers. Most *stat tools need no other.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b'''procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----
...  r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC
...  1  0      0 402312 267968 846360    0    0  1444  4554  647 1297 34  8 57  1  1 2026-11-21 12:00:00
...  3  0      0 402200 267968 846360    0    0    44     0  381  615  2  2 96  0  0 2026-11-21 12:00:01
... '''
>>> result = read(require_spec("vmstat_linux"), text, state={}, offset=0)
>>> [len(block) for block in result.blocks], [len(block) for block in result.since_boot], result.n_taken == len(text)
([1], [1], True)
>>> block = result.blocks[0]
>>> block.fields[0].key, block.values[0].tolist(), block.time_us.tolist()
('procs_r', [3], [1795262401000000])
"""

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from normstat.stats.engine.block import BlockBuilder, BulkRows
from normstat.stats.engine.bulk import LineIndex, PlainRows, find_plain_rows
from normstat.stats.engine.column_layout import ColumnLayout, SinceBoot, TimeStyle
from normstat.stats.engine.header import Header
from normstat.stats.engine.heading import CONTROL, Heading, known_headers
from normstat.stats.engine.ledger import Ledger
from normstat.stats.engine.outcome import NOT_MINE, Claim, Outcome, Rejected
from normstat.stats.engine.reader_state import LATER, ReaderState, omits_since_boot
from normstat.stats.engine.row import Words, instance_of, read_row, split_row
from normstat.stats.engine.row_times import RowTimes
from normstat.stats.engine.timestamps import PREFIX, ClockWords, is_recorder_line, parse_timestamp, split_words, take_clock
from normstat.stats.records import NO_TIME, LineKind, ReadResult, SampleBlock, State, Timing
from normstat.stats.spec import Field, Spec

LINE_LIMIT: Final = 1 << 20
# A piece of fewer bytes is read line by line: it takes longer to set up the arrays than to read so little without them.
BULK_LEAST: Final = 3000
GROUP_LINE_LIMIT: Final = 1000
# A piece with more kinds of headers than these is no tool's output; each kind costs a pass over all of its lines.
BULK_HEADERS: Final = 12
# Colours, which sysstat prints when told to.
COLOUR: Final = re.compile(rb"\x1b\[[0-9;]*[mK]")
TOO_LONG: Final = "line longer than 1 MiB"
CONTROLLED: Final = "control characters: not the output of a tool"
CUT_OFF: Final = "cut off: the last line has no newline and may be incomplete"


LAYOUT: Final = ColumnLayout


class Reader:
    """One call of the reader: goes through the lines in their order and gathers what they say."""

    def __init__(self, spec: Spec, *, state: State, offset: int, timing: Timing, command: str) -> None:
        self._spec = spec
        known = known_headers(spec)
        self._layout = known.layout
        self._state = ReaderState(state, len(self._layout.tables), timing, omits_since_boot=omits_since_boot(self._layout, command))
        self._ledger = Ledger(self._state.line_no)
        self._offset = offset
        self._row_times = RowTimes(state, timing)
        # Keyed by the identity of the fields, which the heading keeps the same for one header: hashing them takes long.
        self._builders: dict[tuple[bool, int], BlockBuilder] = {}
        self._heading = Heading(known, self._state)
        self._plain: dict[int, PlainRows | None] = {}
        self._runs: dict[int, list[tuple[int, int, list[int]]]] = {}
        self._is_after_blank = False

    def read(self, data: bytes, *, is_final: bool) -> ReadResult:
        """Read all whole lines of the data, and the last one if it is final."""
        return self._result(self._take_all(data, is_final=is_final))

    def _result(self, n_taken: int) -> ReadResult:
        """Return everything gathered."""
        self._state.line_no = self._ledger.line_no
        state = self._state.to_state() | self._row_times.to_state()
        blocks: list[SampleBlock] = []
        since_boot: list[SampleBlock] = []
        for (is_since_boot, _), builder in self._builders.items():
            (since_boot if is_since_boot else blocks).append(builder.build())
        return ReadResult(
            blocks=tuple(blocks),
            since_boot=tuple(since_boot),
            rejected=tuple(self._ledger.rejected),
            accounts=self._ledger.close(),
            state=state,
            n_taken=n_taken,
        )

    def _take_all(self, data: bytes, *, is_final: bool) -> int:
        """Read all whole lines of the data; give the number of bytes that are accounted for."""
        begin = 0
        if self._state.is_in_long_line:
            begin = self._skip_long_line(data)
        end = data.rfind(b"\n", begin) + 1
        if end > begin:
            self._take_lines(data[begin:end], begin)
            begin = end
        if len(data) - begin > LINE_LIMIT:
            self._ledger.reject(data[begin : begin + LINE_LIMIT], self._offset + begin, len(data) - begin, TOO_LONG)
            self._state.is_in_long_line = not is_final
            return len(data)
        if is_final and begin < len(data):
            self._take_last(data[begin:], begin)
            return len(data)
        return begin

    def _take_lines(self, data: bytes, begin: int) -> None:
        """Read whole lines: rows that are plain in bulk, everything else one by one."""
        if len(data) < BULK_LEAST or (b"\r" in data and data.count(b"\r") != data.count(b"\r\n")):
            for line in data[:-1].split(b"\n"):
                self._take_line(line, begin, len(line) + 1)
                begin += len(line) + 1
            return
        index = LineIndex(data, LINE_LIMIT)
        # Two lists of numbers: as many pairs would make the garbage collector look at all that there is.
        starts, ends = index.line_start.tolist(), index.line_end.tolist()
        at = 0
        while at < index.n_lines:
            rows = self._plain_rows(index)
            if rows is not None and rows.number[at] >= 0:
                stop = int(rows.next_other[at])
                if self._take_run(rows, at, stop):
                    self._ledger.book(LineKind.SAMPLE, ends[stop - 1] + 1 - starts[at], stop - at)
                    at = stop
                    continue
            else:
                stop = at + 1
            for start, end in zip(starts[at:stop], ends[at:stop], strict=True):
                self._take_line(data[start:end], begin + start, end - start + 1)
            at = stop
        self._close_runs(index, begin)

    def _skip_long_line(self, data: bytes) -> int:
        """Book what is still to come of a line that is too long."""
        newline = data.find(b"\n")
        n_bytes = len(data) if newline < 0 else newline + 1
        self._ledger.book_rest(n_bytes)
        self._state.is_in_long_line = newline < 0
        return n_bytes

    def _take_last(self, line: bytes, at: int) -> None:
        """Take a last line without a newline, if nothing can be missing from its end."""
        header = self._heading.header
        is_blank = not COLOUR.sub(b"", line).strip(b" \t\r")
        is_whole = (
            is_blank
            or header is None
            or (
                not header.has_last_text
                and header.value_at[-1:] == (len(header.words) - 1,)
                and len(line) >= len(self._state.header_line.rstrip())
            )
        )
        if is_whole:
            self._take_line(line, at, len(line))
        else:
            self._ledger.reject(line, self._offset + at, len(line), CUT_OFF)

    def _take_line(self, line: bytes, at: int, n_bytes: int) -> None:
        """Classify one line and book it."""
        if n_bytes > LINE_LIMIT:
            self._ledger.reject(line, self._offset + at, n_bytes, TOO_LONG)
            return
        if line.endswith(b"\r"):
            line = line[:-1]
        if b"\x1b" in line:
            line = COLOUR.sub(b"", line)
        self._is_after_blank = self._state.is_after_blank
        self._state.is_after_blank = not line.strip(b" \t")
        if self._state.is_after_blank:
            self._ledger.book(self._take_blank(), n_bytes)
            return
        again = self._heading.take_again(line)
        if again is not None:
            self._see_header(again.clock)
            self._ledger.book(LineKind.HEADER, n_bytes)
            return
        found = Rejected(CONTROLLED) if CONTROL.search(line) is not None else self._take_text(line, self._offset + at)
        if isinstance(found, LineKind):
            self._ledger.book(found, n_bytes)
        else:
            self._state.n_header_rows += 1
            self._ledger.reject(line, self._offset + at, n_bytes, found.reason)

    def _take_text(self, line: bytes, offset: int) -> Outcome:
        """Return what a line is that is not blank and not the present header once more, or why it cannot be read."""
        text = line.decode("utf-8", "backslashreplace")
        self._row_times.prefix_us = NO_TIME
        prefix = PREFIX.match(text) if text[4:5] == "-" else None
        if prefix is not None:
            text = text[prefix.end() :]
            self._row_times.take_prefix(prefix)
        header = self._heading.header
        row = self._take_row(header, text, offset) if header is not None else NOT_MINE
        if isinstance(row, LineKind):
            return row
        other = self._take_other(text)
        if other is not None:
            return other
        return row or Rejected("a line before any header" if header is None else f"not a known line of {self._spec.tool}")

    def _take_row(self, header: Header, text: str, offset: int) -> Claim:
        """Read a row: return what it is; another kind of line may be rejected as a row, or none at all."""
        state = self._state
        name, state.name_line = state.name_line, ""
        words = split_row(header, f"{name} {text}", state.header_line) if name else None
        if not isinstance(words, Words):
            # What stood on a line of its own was no name.
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
        is_since_boot = state.is_since_boot(self._layout, self._heading.table, header, words.clock)
        self._builder(header, fields, is_since_boot=is_since_boot).add(row, self._row_us(words), instance, offset)
        return LineKind.SINCE_BOOT if is_since_boot else LineKind.SAMPLE

    def _is_known_line(self, text: str) -> bool:
        """Return whether the layout knows the line for something that is no row, however many words it has."""
        layout = self._layout
        return any(pattern is not None and pattern.search(text) for pattern in (layout.messages, layout.ignored))

    def _plain_rows(self, index: LineIndex) -> PlainRows | None:
        """Return the plain rows of the present header in the text, while its rows need no look at each."""
        header = self._heading.header
        if header is None or header.stat is None:
            return None
        state = self._state
        if not state.omits_since_boot and not header.table.has_counters:
            if self._layout.since_boot is SinceBoot.FIRST and state.n_reports[self._heading.table] != LATER:
                return None
            if self._layout.since_boot is SinceBoot.SAME_CLOCK and state.is_single and state.header_clock_s is not None:
                return None
        key = id(self._heading.fields)
        if key not in self._plain:
            if not self._heading.knows_decimals() or len(self._plain) >= BULK_HEADERS:
                return None
            self._plain[key] = find_plain_rows(index, header, self._heading.fields)
        return self._plain[key]

    def _take_run(self, rows: PlainRows, at: int, end: int) -> bool:
        """Take the plain rows that lines `at` up to `end` are; False, and nothing taken, when each must be looked at."""
        header = self._heading.header
        assert header is not None
        first = int(rows.number[at])
        n_rows = end - at
        if rows.clocks is not None:
            times = []
            last: ClockWords | None = None
            time_us = NO_TIME
            for clock in rows.clocks[first : first + n_rows]:
                if clock is not last:
                    time_us = self._row_times.clock_us(clock)
                    last = clock
                times.append(time_us)
        elif header.table.time is TimeStyle.LEADING:
            times = [self._state.row_us(self._heading.table)] * n_rows
        else:
            stamps = self._state.see_rows(self._heading.table, header, rows.instances[first : first + n_rows])
            if stamps is None:
                return False
            times = stamps
            if rows.moments is not None:
                times = self._row_times.moments_us(header.zone_name, rows.moments[first : first + n_rows])
        self._state.is_after_blank = False
        self._state.name_line = ""
        runs = self._runs.get(id(self._heading.fields))
        if runs is None:
            runs = self._runs[id(self._heading.fields)] = []
            self._builder(header, self._heading.fields, is_since_boot=False)
        runs.append((first, n_rows, times))
        return True

    def _close_runs(self, index: LineIndex, begin: int) -> None:
        """Turn the runs of plain rows into blocks."""
        for key, runs in self._runs.items():
            rows = self._plain[key]
            assert rows is not None
            chosen = np.concatenate([np.arange(first, first + n_rows) for first, n_rows, _ in runs])
            self._builders[False, key].add_bulk(
                BulkRows(
                    time_us=np.array([time for _, _, times in runs for time in times], dtype=np.int64),
                    instances=[name for first, n_rows, _ in runs for name in rows.instances[first : first + n_rows]],
                    values=[column[chosen] for column in rows.values],
                    line_offset=index.line_start[rows.line[chosen]] + (self._offset + begin),
                )
            )

    def _builder(self, header: Header, fields: Sequence[Field], *, is_since_boot: bool) -> BlockBuilder:
        assert header.stat is not None
        key = (is_since_boot, id(fields))
        if key not in self._builders:
            self._builders[key] = BlockBuilder(header.stat, tuple(fields))
        return self._builders[key]

    def _row_us(self, words: Words) -> int:
        if words.clock is not None:
            return self._row_times.clock_us(words.clock)
        if words.moment is not None:
            return self._row_times.moment_us(words.zone_name, words.moment)
        prefix_us = self._row_times.prefix_us
        return self._state.row_us(self._heading.table) if prefix_us == NO_TIME else prefix_us

    def _take_blank(self) -> LineKind:
        """Return a blank line, which in some tools ends a table."""
        self._state.name_line = ""
        if self._layout.has_blank_end:
            self._heading.drop()
        return LineKind.IGNORED

    def _take_other(self, text: str) -> LineKind | None:
        """Return what a line is that is no row."""
        layout = self._layout
        if layout.messages is not None and layout.messages.search(text):
            self._state.see_change()
            self._see_restart(text)
            return LineKind.STATE_CHANGE
        if layout.ignored is not None and layout.ignored.search(text):
            return LineKind.IGNORED
        if layout.banner is not None and (banner := layout.banner.search(text)):
            self._begin_run(banner)
            return LineKind.HEADER
        if layout.group_line is not None and layout.group_line.search(text):
            self._state.group_line = text[-GROUP_LINE_LIMIT:]
            return LineKind.HEADER
        line = self._heading.take(text, may_be_unknown=self._is_after_blank)
        if line is not None:
            self._see_header(line.clock)
            return LineKind.HEADER
        stamp = parse_timestamp(text)
        if stamp is not None:
            if stamp.is_call:
                # A new call of the tool: its first report is about the time since boot, and its header comes.
                self._state.begin_run()
                self._heading.drop()
                self._row_times.begin_sections()
            self._state.see_stamp(self._row_times.timeline.stamp_us(stamp))
            return LineKind.TIMESTAMP
        if is_recorder_line(text):
            return LineKind.IGNORED
        return LineKind.HEADER if self._heading.take_name(text) else None

    def _begin_run(self, banner: re.Match[str]) -> None:
        self._state.begin_run()
        self._heading.drop()
        self._row_times.see_banner(banner.groupdict().get("date") or "")

    def _see_restart(self, text: str) -> None:
        """Start another period after a restart of the host."""
        self._row_times.begin_sections()
        clock = take_clock(split_words(text, 4))
        if self._layout.has_sections and clock is not None and not clock.is_epoch:
            self._row_times.timeline.see_clock(clock.seconds)

    def _see_header(self, clock: ClockWords | None) -> None:
        self._state.see_header(self._layout, self._heading.table)
        if clock is not None and not clock.is_epoch:
            self._row_times.see_header(clock, self._heading.section if self._layout.has_sections else None)
