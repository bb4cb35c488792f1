"""opreport of OProfile: samples by image, by symbol (-l), by instruction (-d), by caller (-c).

    CPU: Intel Sandy Bridge microarchitecture, speed 1.601e+06 MHz (estimated)
    vma      samples  %        image name               symbol name
    0006d430 1238     24.6123  libc-2.14.1.so           fgetc
      0006d431 12        0.9693

Several events have a pair of columns each. Without -l there is no header, or one with bars; images that a program used stand below
it, farther to the right.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b'''samples  %        image name               symbol name
... 35855    36.0707  vmlinux                  get_tgid_list
... '''
>>> (block,) = read(require_spec("opreport"), text, state={}, offset=0).blocks
>>> block.stat.name, block.instances, [column.tolist() for column in block.values]
('opreport', ['vmlinux get_tgid_list'], [[35855], [36.0707]])
"""

import re
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.outcome import NOT_MINE, Claim, Outcome, Rejected
from normstat.stats.engine.series.report_numbers import Repeats, spell_out, ungroup
from normstat.stats.records import LineKind, State, texts_of
from normstat.stats.spec import Layout, Stat

NUMBERS: Final = ("samples", "cum. samples", "%", "cum. %", "diff %")
VMA: Final = "vma"
TEXTS: Final = ("linenr info", "image name", "app name", "symbol name")
COLUMN: Final = r"vma|cum\. samples|samples|cum\. %|diff %|%|linenr info|image name|app name|symbol name"
COLUMNS: Final = re.compile(COLUMN)
HEADER: Final = re.compile(rf"\s*(?:vma\s+)?samples(?:\s+(?:{COLUMN}))+\s*")
# Summaries: CPU_CLK_UNHALT...|LLC_MISSES:10000| and, below it, samples and per cent of each event.
BAR_EVENTS: Final = re.compile(r"\s*(?:[A-Za-z][\w.:/-]*\|)+\s*")
BAR_HEADER: Final = re.compile(r"\s*(?:samples\|\s*%\|)(?P<more>(?:\s*samples\|\s*%\|)*)\s*")
SHARE: Final = re.compile(r"\d{1,3}(?:\.\d{1,9})?(?:e[-+]?\d{1,2})?", re.ASCII)
RULE: Final = re.compile(r"\s*-{5,}\s*")
HEX: Final = re.compile(r"[0-9a-f]{6,16}")
MESSAGE: Final = re.compile(
    r"CPU: .*|Counted .* events .*|Profiling through .*|.*unit mask of|0x[0-9a-f]+ .*unit mask\) count .*|.*\bcount \d+"
    r"|op(?:report|error|timer|control).*|(?:warning|error|note): .*|Using \S+ for .*|WARNING[!:].*|.*overflow.*|\(.*\)"
    r"|Cpu type: .*|(?:.{0,200}[#$%>]\s*)?(?:\S*/)?opreport\b.*|\[?\.\.\.\]?|The .*may be .*|Events? .* multiplexed.*",
    re.IGNORECASE,
)
MAX_LINE: Final = 1000
NEAR: Final = 2
MAX_ARCS: Final = 1024


@dataclass(frozen=True, slots=True)
class Arc:
    """A caller or callee: its numbers, its name, the place of its line."""

    numbers: list[str]
    name: str
    offset: int


@dataclass(frozen=True)
class OpreportLayout(Layout):
    """The stats of the four tables of opreport."""

    symbols: Stat
    details: Stat
    arcs: Stat
    images: Stat


LAYOUT: Final = OpreportLayout


class Reader(LineReader[OpreportLayout]):
    """One call of the reader."""

    has_epoch_calls = True

    def load(self, own: State) -> None:
        """Restore the columns, the header's indent, the row that indented ones belong to, and callers without their callee."""
        layout = self.layout
        self._symbols, self._details, self._arcs, self._images = layout.symbols, layout.details, layout.arcs, layout.images
        callers = own.get("callers")
        self._columns = texts_of(own.get("columns"))
        self._indent = int(str(own.get("indent", 0)))
        self._end = int(str(own.get("end", 0)))
        self._owner = str(own.get("owner", ""))
        self._is_graph = own.get("is_graph") is True
        self._is_open = own.get("is_open") is True
        self._callers = [Arc(*item) for item in callers] if isinstance(callers, list) else []
        self._repeats = Repeats(own.get("repeats"))

    def save(self) -> State:
        """Return the state as JSON values."""
        return {
            "columns": self._columns,
            "indent": self._indent,
            "end": self._end,
            "owner": self._owner,
            "is_graph": self._is_graph,
            "is_open": self._is_open,
            "callers": [[arc.numbers, arc.name, arc.offset] for arc in self._callers],
            "repeats": self._repeats.to_state(),
        }

    def begin_call(self) -> None:
        """Start a new report."""
        self._close_arcs("")
        self._columns, self._owner, self._is_graph, self._is_open, self._end = [], "", False, False, 0

    def finish(self) -> None:
        """Callers whose callee was cut off."""
        self._close_arcs("")

    def take_line(self, line: Line) -> Outcome:
        """Return a header, a row, or a message of OProfile."""
        text = line.text
        if not text.strip():
            return LineKind.IGNORED
        if len(text) > MAX_LINE:
            return Rejected("longer than any line of opreport")
        if RULE.fullmatch(text) is not None:
            self._close_arcs("")
            if self._columns:
                self._is_graph, self._owner = True, ""
            return LineKind.IGNORED
        if self._take_header(text):
            return LineKind.HEADER
        taken = self._take_row(line) if self._columns else self._take_summary(line)
        if taken:
            return taken
        if MESSAGE.fullmatch(text.strip()) is not None:
            if text.lstrip().startswith("CPU: "):
                self.begin_call()
            return LineKind.IGNORED
        if self.see_time_line(text):
            self.begin_call()
            return LineKind.TIMESTAMP
        return Rejected("not a line of opreport")

    def _open_report(self) -> None:
        if not self._is_open:
            self.begin_report()
            self._is_open = True
            self._repeats.clear()

    def _take_header(self, text: str) -> bool:
        if HEADER.fullmatch(text) is not None:
            self._close_arcs("")
            columns = COLUMNS.findall(text)
            n_numbers = sum(column in NUMBERS for column in columns)
            first = columns[0] == VMA
            if not all(column in NUMBERS for column in columns[first : first + n_numbers]):
                return False
            self._columns, self._owner, self._is_graph = columns, "", False
            self._indent = len(text) - len(text.lstrip())
            self._open_report()
            return True
        is_summary = BAR_HEADER.fullmatch(text) is not None
        if is_summary and self._columns:
            self.begin_call()
        if is_summary and not self._end:
            self._end = text.expandtabs().index("|")
        return is_summary or BAR_EVENTS.fullmatch(text) is not None

    # Summaries by image.

    def _take_summary(self, line: Line) -> Claim:
        words = line.text.split()
        at = 0
        while at + 1 < len(words) and words[at].isdecimal() and SHARE.fullmatch(words[at + 1]) is not None:
            at += 2
        name = " ".join(words[at:])
        if not at or not name:
            return NOT_MINE
        numbers = [spell_out(word) for word in words[:at]]
        # The numbers of programs end at one place, those of the images that they used farther right.
        text = line.text.expandtabs()
        end = len(text) - len(text.lstrip()) + len(words[0])
        self._end = self._end or end
        if end > self._end + NEAR and self._owner:
            name = f"{self._owner}: {name}"
        else:
            self._owner = name
        self._open_report()
        columns = ["samples", "%"] * (len(numbers) // 2)
        instance = self._repeats.name(name)
        refused = self.add_row(
            self._images, columns, numbers, instance=instance, offset=line.offset, as_printed=words[: len(numbers)]
        )
        return refused or LineKind.SAMPLE

    # Rows under a header.

    def _take_row(self, line: Line) -> Claim:
        columns = [column for column in self._columns if column in NUMBERS]
        has_vma = self._columns[0] == VMA
        words = line.text.split(maxsplit=len(columns) + has_vma)
        vma = words.pop(0) if has_vma and words else ""
        numbers = words[: len(columns)]
        if not numbers or not _plain(numbers[0]).isdecimal() or (has_vma and HEX.fullmatch(vma) is None):
            return NOT_MINE
        if len(numbers) < len(columns):
            return Rejected(f"{len(numbers)} numbers under a header of {len(columns)}")
        name = " ".join(" ".join(words[len(columns) :]).split())
        is_indented = len(line.text) - len(line.text.lstrip()) > self._indent
        if is_indented and has_vma:
            parts = [self._owner, vma, name]
            return self._add(self._details, columns, numbers, ": ".join(filter(None, parts)), line.offset)
        if not name:
            return Rejected("no name")
        if is_indented and self._is_graph:
            return self._take_arc(Arc(numbers, name, line.offset))
        self._owner = name
        self._close_arcs(name)
        return self._add(self._symbols, columns, numbers, name, line.offset)

    def _add(self, stat: Stat, columns: list[str], numbers: list[str], name: str, offset: int) -> Outcome:
        """Add a row of numbers as they were printed."""
        words = [_plain(number) for number in numbers]
        return (
            self.add_row(stat, columns, words, instance=self._repeats.name(name), offset=offset, as_printed=numbers)
            or LineKind.SAMPLE
        )

    def _take_arc(self, arc: Arc) -> Outcome:
        if self._owner:
            self._add_arc(arc, f"{self._owner} -> {arc.name}")
        elif len(self._callers) >= MAX_ARCS:
            return Rejected(f"more than {MAX_ARCS} callers")
        else:
            self._callers.append(arc)
        return LineKind.SAMPLE

    def _close_arcs(self, callee: str) -> None:
        for arc in self._callers:
            self._add_arc(arc, f"{arc.name} -> {callee}" if callee else arc.name)
        self._callers = []

    def _add_arc(self, arc: Arc, name: str) -> None:
        columns = [column for column in self._columns if column in NUMBERS]
        if len(columns) == len(arc.numbers):
            self._add(self._arcs, columns, arc.numbers, name, arc.offset)


def _plain(word: str) -> str:
    """Return the number without separators and exponent."""
    return spell_out(ungroup(word))
