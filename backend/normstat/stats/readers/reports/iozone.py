"""IOzone: throughput by file size and record length, of several processes at once, and the reports for spreadsheets (-R).

                                                                  random    random     bkwd    record    stride
                  kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read   fwrite
              102400       4     3087     3145    10337    10376     9761     5744

The first line of the header completes the names of the last columns of the second. Tests that did not run leave blanks; the
command line above, or the positions of the numbers under the header, show which ones.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b'''                                   random    random
...       kB  reclen    write  rewrite    read     write
...    10240       4     1864     1901     5331     2962
... '''
>>> (block,) = read(require_spec("iozone"), text, state={}, offset=0).blocks
>>> block.instances, [field.column for field in block.fields]
(['10240 kB reclen 4'], ['write', 'rewrite', 'random read', 'random write'])
"""

import re
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.outcome import NOT_MINE, Claim, Outcome, Rejected
from normstat.stats.engine.series.report_numbers import Repeats
from normstat.stats.engine.times.time_lines import parse_time_line
from normstat.stats.records import LineKind, State, texts_of
from normstat.stats.spec import Layout, Stat

PREFIXES: Final = re.compile(r"\s*(?:random|bkwd|record|stride)(?:\s+(?:random|bkwd|record|stride))*\s*")
HEADER: Final = re.compile(r"\s*[kK]B\s+reclen(?:\s+(?:f?re)?(?:write|read)|\s+(?:fwrite|fread|frewrite|freread))+\s*")
ALL_PREFIXES: Final = ("random", "random", "bkwd", "record", "stride")
# The words that follow each word of the upper line.
FOLLOWS: Final = {"random": ("read", "write"), "bkwd": ("read",), "record": ("rewrite",), "stride": ("read",)}
# The columns of each test by its number after -i.
TESTS: Final = (
    ("write", "rewrite"),
    ("read", "reread"),
    ("random read", "random write"),
    ("bkwd read",),
    ("record rewrite",),
    ("stride read",),
    ("fwrite", "frewrite"),
    ("fread", "freread"),
)
NUMBERS: Final = re.compile(r"\s*\d{1,18}(?:\s+\d{1,18}){2,40}\s*", re.ASCII)
WORD: Final = re.compile(r"\S+")
COMMAND: Final = re.compile(r"\s*Command line used: (?P<command>.*)")
BEGAN: Final = re.compile(r"\s*Run began: (?P<time>.{10,40}?)\s*")
MODE: Final = re.compile(r"\s*(?P<mode>OPS|Microseconds/op) Mode\b.*")
SEEN_BY: Final = re.compile(
    r"\s*(?P<who>Children see|Parent sees) throughput for\s+(?P<test>\d{1,6}\s+[\w -]{1,40}?)\s*=\s*(?P<value>\d{1,18}(?:\.\d+)?)"
    r"\s*(?P<unit>[kK]B|ops)/sec\s*",
    re.ASCII,
)
PER_CHILD: Final = re.compile(
    r"\s*(?P<which>Min|Max|Avg) (?:throughput per (?:process|thread)|(?P<xfer>xfer))\s*=\s*(?P<value>\d{1,18}(?:\.\d+)?)"
    r"\s*(?:(?P<unit>[kK]B|ops)(?:/sec)?)?\s*",
    re.ASCII,
)
# -R: "Writer report", below it the record lengths, and a row for each file size; or a row for each test.
REPORT: Final = re.compile(r'\s*"?(?P<test>[A-Za-z][A-Za-z -]{2,30}?) report"?\s*')
LENGTHS: Final = re.compile(r'\s*"\d{1,12}"(?:\s+"\d{1,12}")*\s*', re.ASCII)
SIZE_ROW: Final = re.compile(r'\s*"(?P<size>\d{1,15})"(?P<values>(?:\s+\d{1,18}(?:\.\d+)?)+)\s*', re.ASCII)
TEST_ROW: Final = re.compile(r'\s*"\s*(?P<test>[A-Za-z][\w -]{1,30}?)\s*"(?P<values>(?:\s+\d{1,18}(?:\.\d+)?)+)\s*', re.ASCII)
BANNER: Final = re.compile(r"\s*Iozone: Performance Test of File I/O\s*")
SETTING: Final = re.compile(
    r"(?:Auto Mode|(?:File|Record) [Ss]ize|(?:Minimum|Maximum|Max|Min) |Processor cache|File stride|Throughput test|Purge"
    r"|Include|No |No_|Cross over|Using|Setting|Time Resolution|Each process|Selected|Network|Multi_|CPU utilization|SYNC Mode"
    r"|O_DIRECT|Stride|Run |Version|Compiled|Build|Contributors|Excel|iozone test complete|Test running:|Unmount|Page|Best|Exclu"
    r"|exiting iozone|\"Throughput report|\"Record size|\"Output is|(?:.{0,200}[#$%>]\s*)?(?:\S*/)?iozone\s).*"
)
OUTPUT: Final = re.compile(r"\s*Output is in .*")
MAX_LINE: Final = 1000
# A header and its rows need not be aligned: their distance from their first number must be.
NEAR: Final = 2


@dataclass(frozen=True)
class IozoneLayout(Layout):
    """The stats of the tables by unit, of the children, and of the spreadsheet reports."""

    table: Stat
    table_ops: Stat
    table_us: Stat
    children: Stat
    children_ops: Stat
    report: Stat


LAYOUT: Final = IozoneLayout


class Reader(LineReader[IozoneLayout]):
    """One call of the reader."""

    def load(self, own: State) -> None:
        """Restore columns and their ends, the tests that were asked for, the unit, and the sample of the children."""
        self._prefixes, self._columns = texts_of(own.get("prefixes")), texts_of(own.get("columns"))
        self._lengths = texts_of(own.get("lengths"))
        self._ends = [int(end) for end in texts_of(own.get("ends"))]
        self._tests = [int(test) for test in texts_of(own.get("tests"))]
        self._mode, self._report = str(own.get("mode", "")), str(own.get("report", ""))
        self._in_banner = own.get("in_banner") is True
        self._is_open = own.get("is_open") is True
        children = own.get("children")
        self._children = {str(key): str(value) for key, value in children.items()} if isinstance(children, dict) else {}
        self._children_at = int(str(own.get("children_at", 0)))
        self._repeats = Repeats(own.get("repeats"))

    def save(self) -> State:
        """Return the state as JSON values."""
        return {
            "prefixes": self._prefixes,
            "columns": self._columns,
            "lengths": self._lengths,
            "ends": [str(end) for end in self._ends],
            "tests": [str(test) for test in self._tests],
            "mode": self._mode,
            "report": self._report,
            "in_banner": self._in_banner,
            "is_open": self._is_open,
            "children": dict(self._children),
            "children_at": self._children_at,
            "repeats": self._repeats.to_state(),
        }

    def begin_call(self) -> None:
        """Start a new run."""
        self._close_children()
        self._prefixes, self._columns, self._lengths, self._tests = [], [], [], []
        self._mode = self._report = ""
        self._is_open = False

    def finish(self) -> None:
        """Complete the sample of the children."""
        self._close_children()

    def is_whole(self, line: Line) -> bool:
        """Return whether a unit follows the last number."""
        return SEEN_BY.fullmatch(line.text) is not None

    def take_line(self, line: Line) -> Outcome:
        """Return a header, a row of one of the tables, a line of the children, or a message of IOzone."""
        text = line.text
        if not text.strip():
            return LineKind.IGNORED
        if len(text) > MAX_LINE:
            return Rejected("longer than any line of IOzone")
        taken = self._take_header(text)
        if not taken and self._columns and NUMBERS.fullmatch(text) is not None:
            taken = self._take_row(line)
        return taken or self._take_children(line) or self._take_report(line) or self._take_setting(text)

    def _open_run(self) -> None:
        if not self._is_open:
            self.begin_report()
            self._is_open = True
            self._repeats.clear()

    # Settings.

    def _take_setting(self, text: str) -> Outcome:
        if BANNER.fullmatch(text) is not None:
            self.begin_call()
            self._in_banner = True
            return LineKind.IGNORED
        found = BEGAN.fullmatch(text)
        stamp = parse_time_line(found["time"] if found is not None else text)
        if stamp is not None:
            self._close_children()
            self._is_open = False
            self.see_stamp(stamp)
            return LineKind.TIMESTAMP
        if (found := MODE.fullmatch(text)) is not None:
            self._mode = found["mode"]
            return LineKind.IGNORED
        if (found := COMMAND.fullmatch(text)) is not None:
            self._tests = [int(test) for test in re.findall(r"(?:^|\s)-i\s*(\d{1,2})(?=\s|$)", found["command"])][:32]
            return LineKind.IGNORED
        if OUTPUT.fullmatch(text) is not None:
            # The names of the contributors follow.
            self._in_banner = False
            return LineKind.IGNORED
        if self._in_banner or SETTING.fullmatch(text.strip()) is not None or text.strip() in ("[...]", "..."):
            return LineKind.IGNORED
        return Rejected("not a line of IOzone")

    # The table.

    def _take_header(self, text: str) -> Claim:
        if PREFIXES.fullmatch(text) is not None:
            self._prefixes, self._in_banner = text.split(), False
            return LineKind.HEADER
        if HEADER.fullmatch(text) is None:
            return NOT_MINE
        self._close_children()
        self._in_banner = False
        found = list(WORD.finditer(text))
        words = [word[0] for word in found]
        n_plain = sum(not word.startswith("f") for word in words)
        # Without the first line the columns are known when all are there, or those of the first three tests.
        prefixes = self._prefixes or list(ALL_PREFIXES[: {11: 5, 8: 2}.get(n_plain, 0)])
        first = n_plain - len(prefixes)
        for number, prefix in enumerate(prefixes):
            if first < 2 or words[first + number] not in FOLLOWS[prefix]:
                self._columns = []
                return Rejected("a header whose two lines do not fit")
            words[first + number] = f"{prefix} {words[first + number]}"
        self._prefixes = []
        if len(set(words)) != len(words):
            self._columns = []
            return Rejected("a header without its first line")
        self._columns, self._ends = words[2:], [word.end() for word in found]
        self._open_run()
        return LineKind.HEADER

    def _take_row(self, line: Line) -> Outcome:
        found = list(WORD.finditer(line.text))
        size, length, *values = [word[0] for word in found]
        columns = self._place(values, [word.end() for word in found])
        if columns is None:
            return Rejected(f"{len(values)} numbers under a header of {len(self._columns)} tests; it is unknown which of them ran")
        layout = self.layout
        stat = {"OPS": layout.table_ops, "Microseconds/op": layout.table_us}.get(self._mode, layout.table)
        name = self._repeats.name(f"{size} kB reclen {length}")
        return self.add_row(stat, columns, values, instance=name, offset=line.offset) or LineKind.SAMPLE

    def _place(self, values: list[str], ends: list[int]) -> list[str] | None:
        """Return which columns the values belong to. Missing: None when that is unclear."""
        if len(values) == len(self._columns):
            return self._columns
        asked = {column for test in self._tests if test < len(TESTS) for column in TESTS[test]}
        ran = [column for column in self._columns if column in asked]
        if len(ran) == len(values):
            return ran
        placed = []
        for end in ends[2:]:
            near = [
                column
                for column, column_end in zip(self._columns, self._ends[2:], strict=True)
                if abs((end - ends[0]) - (column_end - self._ends[0])) <= NEAR
            ]
            placed.extend(near)
        is_sure = len(placed) == len(values) == len(set(placed)) and placed == [c for c in self._columns if c in placed]
        return placed if is_sure else None

    # Several processes.

    def _take_children(self, line: Line) -> Claim:
        if (found := SEEN_BY.fullmatch(line.text)) is not None:
            test, column = " ".join(found["test"].split()), f"{found['who']} throughput"
            if column in self._children or test != self._children.get("test", test):
                self._close_children()
            if not self._children:
                self._open_run()
                self._children, self._children_at = {"test": test, "unit": found["unit"].lower()}, line.offset
            self._children[column] = found["value"]
            return LineKind.SAMPLE
        found = PER_CHILD.fullmatch(line.text)
        if found is None:
            return NOT_MINE
        column = f"{found['which']} {'xfer' if found['xfer'] else 'throughput per process'}"
        if not self._children or column in self._children:
            return Rejected("a number without a test")
        self._children[column] = found["value"]
        return LineKind.SAMPLE

    def _close_children(self) -> None:
        children, self._children = self._children, {}
        if not children:
            return
        test, unit = children.pop("test"), children.pop("unit")
        stat = self.layout.children_ops if unit == "ops" else self.layout.children
        name = self._repeats.name(test)
        self.add_row(stat, list(children), list(children.values()), instance=name, offset=self._children_at)

    # Reports for spreadsheets.

    def _take_report(self, line: Line) -> Claim:
        text = line.text
        if (found := REPORT.fullmatch(text)) is not None:
            self._report, self._lengths = found["test"], []
            return LineKind.HEADER
        if self._report and LENGTHS.fullmatch(text) is not None:
            self._lengths = [word.strip('"') for word in text.split()][:64]
            return LineKind.HEADER
        names: list[str] = []
        found = SIZE_ROW.fullmatch(text)
        if found is not None and self._lengths:
            names = [f"{self._report}: {found['size']} kB reclen {length}" for length in self._lengths]
        elif (found := TEST_ROW.fullmatch(text)) is not None:
            names = [found["test"]] * len(found["values"].split())
        if found is None or not names:
            return NOT_MINE
        values = found["values"].split()
        if len(values) > len(names):
            return Rejected(f"{len(values)} numbers under {len(names)} record lengths")
        self._close_children()
        self._open_run()
        stat = self.layout.report
        for name, value in zip(names, values, strict=False):
            reason = self.add_row(stat, ("value",), [value], instance=self._repeats.name(name), offset=line.offset)
            if reason is not None:
                return reason
        return LineKind.SAMPLE
