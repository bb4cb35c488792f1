"""The base of readers of /proc files that an agent prints again and again, each file under the heading of head(1).

    1795305600
    ==> /proc/uptime <==
    350735.47 234388.90

    ==> /proc/loadavg <==
    0.20 0.18 0.12 1/80 11206

A snapshot begins with its time, or with its uptime where no time is printed. Its time is that line; rates are over the time that
the kernel's own clock, /proc/uptime, shows between two snapshots, so a step or a delay of the host's clock does not change them.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

from normstat.stats.engine.block import BlockBuilder, Row
from normstat.stats.engine.line_engine import LINE_LIMIT, LayoutT
from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.proc.counters import pack_state, unpack_state
from normstat.stats.engine.times.time_lines import parse_time_line
from normstat.stats.records import LineKind, State, number_of
from normstat.stats.spec import Field

UPTIME: Final = "/proc/uptime"
UPTIME_LINE: Final = re.compile(r"(?P<whole>\d{1,12})\.(?P<hundredths>\d\d) \d{1,15}\.\d\d", re.ASCII)
HEADING: Final = "==> "
HEADING_END: Final = " <=="
EPOCH_LENGTH: Final = 10
# Lines with control characters (a carriage return, colours) take the careful path.
ODD: Final = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")
NO_HEADING: Final = Rejected("a line without the name of its file before it (==> /proc/... <==)")
UNKNOWN_FILE: Final = Rejected("a line of a file that is not read here")
MALFORMED: Final = Rejected("not a line of this file as Linux prints it")
NO_UPTIME: Final = Rejected("no rate: /proc/uptime is not before it in its snapshot, or is that of the snapshot before")
# Digits of a whole number that a column of 63 bits can hold, and of a counter of the kernel.
MAX_DIGITS: Final = 18
MAX_COUNTER_DIGITS: Final = 20

# Takes a line of a file, without blanks at its ends, and its place in the stream.
TakeLine = Callable[[str, int], Outcome]
Value = float | int | None


class CounterReader(LineReader[LayoutT]):
    """One call of a reader. For readers: `file`, the place of its heading, `uptime` of the present snapshot and `before` of the
    previous one.

    Units: centiseconds since boot. Missing: None while unknown; without `uptime` there are no rates.
    """

    reads_files = True

    # Implemented by a reader.

    def open_file(self, path: str) -> TakeLine | None:
        """Return what takes the lines of a file. Missing: None for a file that the reader does not know."""
        raise NotImplementedError

    def close_file(self) -> None:
        """Note that the lines of the present file have ended."""

    def end_snapshot(self) -> None:
        """Add the rows that were gathered in the snapshot."""
        raise NotImplementedError

    def forget_counters(self) -> None:
        """Forget all counters: the host was booted since."""
        raise NotImplementedError

    def load_counters(self, own: State) -> None:
        """Restore what `save_counters` returned."""
        raise NotImplementedError

    def save_counters(self) -> State:
        """Return what the reader needs of the snapshots so far."""
        raise NotImplementedError

    # Used by a reader.

    def put(self, name: str, columns: tuple[str, ...], values: Sequence[Value], *, instance: str = "", offset: int) -> None:
        """Add a row of the present snapshot: one value for each key of a field. None is "no value"."""
        builder = self._open_builders.get((name, columns))
        if builder is None:
            stat = self.stat(name)
            known = {field.key: field for field in stat.fields}
            fields = self._known_fields[(name, columns)] = tuple(known[key] for key in columns)
            builder = self._open_builders[(name, columns)] = self.builder(stat, fields, is_since_boot=False)
        if None in values:
            missing = tuple(at for at, value in enumerate(values) if value is None)
            row = Row([0 if value is None else value for value in values], missing, None)
        else:
            row = Row(values, (), None)  # type: ignore[arg-type]
        builder.add(row, self.report_us, instance, offset)

    # Internals.

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        self._open_builders: dict[tuple[str, tuple[str, ...]], BlockBuilder] = {}
        # Blocks are found by the identity of their fields, which lives as long as the call.
        self._known_fields: dict[tuple[str, tuple[str, ...]], tuple[Field, ...]] = {}
        own = unpack_state(own)
        self.uptime = number_of(own.get("uptime"), None)
        self.before = number_of(own.get("before"), None)
        self._is_open = own.get("open") is True
        self.load_counters(own)
        self.file, self.heading_offset = "", self.offset
        self._take: TakeLine | None = None
        path = own.get("file")
        if isinstance(path, str) and path:
            self._open(path)

    def let_go(self) -> None:
        """Drop the method that reads lines of the present file."""
        self._take = None

    def save(self) -> State:
        """Return the state for the next piece."""
        common: State = {"uptime": self.uptime, "before": self.before, "open": self._is_open, "file": self.file}
        return pack_state(common | self.save_counters())

    def take_many(self, data: bytes, begin: int, end: int) -> int | None:
        """Read whole lines, booking those of one kind together. Missing: None for text that needs a look at each byte."""
        data = data if (begin, end) == (0, len(data)) else data[begin:end]
        if not data.isascii() or ODD.search(data) is not None or self.may_name_hosts(data):
            return None
        lines = data[:-1].decode("ascii").split("\n")
        if len(data) > LINE_LIMIT and max(map(len, lines)) >= LINE_LIMIT:
            return None
        take = self._take_text
        offset = self.offset + begin
        booked: dict[LineKind, list[int]] = {}
        for text in lines:
            found = take(text, offset)
            size = len(text) + 1
            if isinstance(found, Rejected):
                # Its number is that of the lines before it.
                self._book(booked)
                self.ledger.reject(text.encode(), offset, size, found.reason)
            elif found in booked:
                account = booked[found]
                account[0] += 1
                account[1] += size
            else:
                booked[found] = [1, size]
            offset += size
        self._book(booked)
        return end

    def _book(self, booked: dict[LineKind, list[int]]) -> None:
        for kind, (n_lines, n_bytes) in booked.items():
            self.ledger.book(kind, n_bytes, n_lines)
        booked.clear()

    def take_bytes(self, line: bytes, offset: int) -> Outcome:
        """Return what a line is, or why it cannot be read."""
        return self._take_text(line.decode("utf-8", "backslashreplace"), offset)

    def take_line(self, line: Line) -> Outcome:
        """Return what a line is, or why it cannot be read."""
        return self._take_text(line.text, line.offset)

    def _take_text(self, text: str, offset: int) -> Outcome:
        text = text.strip(" \t")
        if not text:
            return LineKind.IGNORED
        if text[0] == "=" and text.startswith(HEADING) and text.endswith(HEADING_END):
            self.close_file()
            self.heading_offset = offset
            self._open(text[len(HEADING) : -len(HEADING_END)])
            return LineKind.HEADER
        if len(text) == EPOCH_LENGTH and text.isdecimal() and self._see_time(text):
            return LineKind.TIMESTAMP
        take = self._take
        if take is None:
            found: Outcome = self._take_bare(text, offset)
        else:
            if not self._is_open:
                self._begin_snapshot()
            found = take(text, offset)
        # A recorder may write other forms of time.
        return LineKind.TIMESTAMP if isinstance(found, Rejected) and self._see_time(text) else found

    def take_without_heading(self, text: str, offset: int) -> Outcome:  # noqa: ARG002 (readers look at it)
        """Return the kind of a line without a heading, or why it cannot be read."""
        return MALFORMED if self.file == UPTIME else UNKNOWN_FILE if self.file else NO_HEADING

    def _take_bare(self, text: str, offset: int) -> Outcome:
        """Take a line without a heading: the uptime, and what the reader knows by its form."""
        if not self.file and UPTIME_LINE.fullmatch(text) is not None:
            return self._take_uptime(text, offset)
        if not self._is_open:
            self._begin_snapshot()
        return self.take_without_heading(text, offset)

    def _open(self, path: str) -> None:
        self.file = path
        self._take = self._take_uptime if path == UPTIME else self.open_file(path)

    def _see_time(self, text: str) -> bool:
        """Take a line that is a time: the next snapshot begins, and the rows of the present one are added with its own time."""
        stamp = parse_time_line(text)
        if stamp is None:
            return False
        self._end_snapshot()
        self.see_stamp(stamp)
        return True

    def _begin_snapshot(self) -> None:
        self.begin_report()
        self._is_open = True

    def _end_snapshot(self) -> None:
        self.close_file()
        if self._is_open:
            self.end_snapshot()
        if self.uptime is not None:
            self.before = self.uptime
        self.file, self._take, self._is_open, self.uptime = "", None, False, None

    def _take_uptime(self, text: str, offset: int) -> Outcome:
        found = UPTIME_LINE.fullmatch(text)
        if found is None:
            # The file has one line: the next one may be of a file without a heading.
            return MALFORMED if self.uptime is None else self.take_without_heading(text, offset)
        uptime = int(found["whole"]) * 100 + int(found["hundredths"])
        if self.uptime is not None:
            # The next snapshot, of a recording without times.
            self._end_snapshot()
        if not self._is_open:
            self._begin_snapshot()
        if self.before is not None and uptime < self.before:
            self.forget_counters()
            self.before = None
        # There is no rate without elapsed time.
        self.uptime = None if uptime == self.before else uptime
        return LineKind.TIMESTAMP

    def finish(self) -> None:
        """Complete the last snapshot: the stream has ended."""
        self._end_snapshot()


def is_counter(word: str) -> bool:
    """Return whether the word is a whole number as the kernel prints it."""
    return word.isdigit() and word.isascii() and len(word) <= MAX_COUNTER_DIGITS


def is_counters(words: Sequence[str]) -> bool:
    """Return whether all words are whole numbers as the kernel prints them.

    >>> is_counters(["0", "12"]), is_counters(["-1"]), is_counters([]), is_counters(["9" * 21])
    (True, False, False, False)
    """
    joined = "".join(words)
    return joined.isdigit() and joined.isascii() and len(max(words, key=len)) <= MAX_COUNTER_DIGITS
