"""Reports of lockstat and plockstat: sections with a table of locks and callers, distributions of times, stacks of callers.

    Adaptive mutex hold: 68 events in 1.026 seconds (66 events/sec)
    -------------------------------------------------------------------------------
    Count indv cuml rcnt     nsec Lock                   Caller
       32  47%  47% 0.00     1631 0xfffff800686f50d8     tcp_do_segment+0x284b

          nsec ------ Time Distribution ------ count     Stack
          1024 |@@@@@@@@@@                     11        tcp_input+0xf54

A row's instance is "SECTION: LOCK CALLER"; without a section's title it is "LOCK CALLER". Pairs that come again in the same section
differ in their stacks only, and are numbered (" #2").

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b'''Adaptive mutex spin: 3318 events
... Count indv cuml rcnt spin Lock Caller
... 601 18% 18% 1.00 1 flock_lock cleanlocks+0x10
... '''
>>> result = read(require_spec("lockstat"), text, state={}, offset=0)
>>> [(block.stat.name, list(block.instances)) for block in result.blocks]
[('lockstat', ['Adaptive mutex spin: flock_lock cleanlocks+0x10']), ('lockstat_section', ['Adaptive mutex spin'])]
"""

import re
from dataclasses import dataclass, field
from typing import Annotated, Final

from normstat.stats.engine.histogram import bucket_instance
from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.outcome import NOT_MINE, Claim, Outcome, Rejected
from normstat.stats.engine.series.report_numbers import Repeats
from normstat.stats.layout import Shaped
from normstat.stats.records import LineKind, State, texts_of
from normstat.stats.spec import Layout, Shape, Stat

RULE: Final = re.compile(r"\s*-{5,}\s*")
# Marks for omitted text.
LEFT_OUT: Final = re.compile(r"\s*(?:\[?\.\.\.[^\]]*\]?|\u2026|\[\u2026\])\s*")
HEADER: Final = re.compile(
    r"\s*(?P<count>Count|ops/s)(?P<shares>\s+(?P<share>indv|genr)\s+cuml\s+rcnt)?(?:\s+(?P<unit>[a-z]+|\(N/A\)))?"
    r"\s+(?P<lock>(?:Hottest )?[A-Z]\S*)\s+(?P<caller>(?:Hottest )?Caller)\s*",
    re.ASCII,
)
TITLE: Final = re.compile(
    r"\s*(?P<title>[A-Z][^:|]{2,60}): (?P<events>\d{1,18}) events"
    r"(?: in (?P<seconds>\d+\.\d+) seconds \((?P<rate>\d{1,18}) events/sec\))?\s*",
    re.ASCII,
)
# A wrapped title; the rest of it is on the next line.
TITLE_BEGIN: Final = re.compile(r"\s*[A-Z][^:|]{2,60}: \d+ events in(?: \d+\.\d+(?: seconds(?: \(\d+)?)?)?\s*", re.ASCII)
TITLE_ONLY: Final = re.compile(
    r"(?:(?:Adaptive )?[Mm]utex|(?:Spin|Thread) lock|R/W reader|R/W writer) (?:hold|block|spin|unsuccessful spin)"
    r"|Profiling interrupt"
)
WIDE_GAP: Final = re.compile(r"\s{2,}")
# lockstat -D 0 prints only this.
TOTAL_ONLY: Final = re.compile(
    r"\s*(?P<events>\d{1,18}) (?P<title>[A-Z][a-zA-Z/ ]{2,60}"
    r" (?:spin|block|hold|writer|readers|wanted|interrupt|detected|failure))",
    re.ASCII,
)
DISTRIBUTION: Final = re.compile(r"\s*(?:[a-z]+|\(N/A\))\s+-+ Time Distribution -+\s+(?:count|ops/s)(?:\s+Stack)?\s*")
BUCKET: Final = re.compile(
    r"\s*(?P<low>\d{1,19})\s{0,20}\|[@ ]{0,60}\|?\s{0,40}(?P<count>\d{1,18})(?:\s+(?P<frame>\S+))?\s*", re.ASCII
)
FRAME: Final = re.compile(r"\s*(?P<frame>[^\s|]+)\s*")
# `lockstat -p`: the number of the event, count, lock, caller, references, time in all, the 64 buckets with -s, the stack.
PARSABLE: Final = re.compile(
    r"(?P<event>\d{1,2}) (?P<count>\d{1,18}) (?P<lock>\S{1,300}) (?P<caller>\S{1,300}) (?P<rcnt>\d{1,12}\.\d{6})"
    r"(?: (?P<time>\d{1,20}))?(?P<buckets>(?: \d{1,18}){64})?(?P<frames>(?: (?!\d+(?: |$))\S{1,300}){0,200}) ?",
    re.ASCII,
)
EVENTS: Final = {
    0: "Adaptive mutex spin", 1: "Adaptive mutex block", 2: "Spin lock spin", 3: "Thread lock spin",
    4: "R/W writer blocked by writer",
    5: "R/W writer blocked by readers", 6: "R/W reader blocked by writer", 7: "R/W reader blocked by write wanted",
    32: "Adaptive mutex hold", 33: "Spin lock hold", 34: "R/W writer hold", 35: "R/W reader hold", 56: "Profiling interrupt",
}  # fmt: skip
SHARE: Final = re.compile(r"([0-9]{1,18})%")
NUMBER: Final = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,6})?")
NO_SHARE: Final = "----"
BUCKET_COLUMNS: Final = ("count", "low", "high")
PARSABLE_COLUMNS: Final = ["Count", "rcnt", "total nsec"]
NOT_OURS: Final = Rejected("not a line of this tool")
# No line of a table is longer, but a report that was squeezed into one may be.
MAX_LINE: Final = 1000
MAX_REPORT: Final = 65_536
MAX_FRAMES: Final = 256
MAX_SECTIONS: Final = 256


@dataclass(slots=True)
class LockRecord:
    """The row that a distribution or a stack belongs to; `words` are its count and mean."""

    instance: str
    section: str
    lock: str
    caller: str
    words: list[str]
    offset: int
    frames: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class LockstatLayout(Layout):
    """The stats of locks, of sections (if there are any), of distributions and of stacks; lines that are no data."""

    rows: Annotated[Stat, Shaped(Shape.TABLE)]
    sections: Annotated[Stat | None, Shaped(Shape.TABLE)]
    histogram: Annotated[Stat, Shaped(Shape.HISTOGRAM)]
    stacks: Annotated[Stat, Shaped(Shape.STACKS)]
    messages: re.Pattern[str]


LAYOUT: Final = LockstatLayout


class Reader(LineReader[LockstatLayout]):
    """One call of the reader."""

    has_epoch_calls = True

    def load(self, own: State) -> None:
        """Restore the section, the columns, the record whose stack is open, and the names seen."""
        layout = self.layout
        self._messages, self._sections = layout.messages, layout.sections
        self._rows, self._histogram, self._stacks = layout.rows, layout.histogram, layout.stacks
        self._section = str(own.get("section", ""))
        self._begun = str(own.get("begun", ""))
        self._begun_at = int(str(own.get("begun_at", 0)))
        self._columns = texts_of(own.get("columns"))
        self._titles = texts_of(own.get("titles"))
        self._is_open = own.get("is_open") is True
        self._in_distribution = own.get("in_distribution") is True
        self._event = int(str(own.get("event", 0)))
        self._repeats = Repeats(own.get("repeats"))
        record = own.get("record")
        self._record = LockRecord(*record) if isinstance(record, list) else None

    def save(self) -> State:
        """Return the state as JSON values."""
        record = self._record
        return {
            "section": self._section,
            "begun": self._begun,
            "begun_at": self._begun_at,
            "columns": self._columns,
            "titles": self._titles,
            "is_open": self._is_open,
            "in_distribution": self._in_distribution,
            "event": self._event,
            "repeats": self._repeats.to_state(),
            "record": None
            if record is None
            else [record.instance, record.section, record.lock, record.caller, record.words, record.offset, record.frames],
        }

    def begin_call(self) -> None:
        """Start a new report. Its first section may be the last one of the call before."""
        self._close_record()
        self._is_open = False
        self._section, self._columns, self._event = "", [], 0

    def finish(self) -> None:
        """Complete the last stack."""
        self._close_record()

    def open_lines(self) -> tuple[int, ...]:
        """Return the line of the row whose stack is open."""
        return () if self._record is None else (self._record.offset,)

    def is_whole(self, line: Line) -> bool:
        """Return whether the line is a rule, which has no numbers to lose."""
        return RULE.fullmatch(line.text) is not None or LEFT_OUT.fullmatch(line.text) is not None

    def take_line(self, line: Line) -> Outcome:
        """Return the outcome of the line in its section."""
        text = line.text
        if len(text) > MAX_LINE:
            return LineKind.SAMPLE if self._take_one_line(line) else NOT_OURS
        if self._begun:
            begun, self._begun = self._begun, ""
            found = TITLE.fullmatch(f"{begun} {text.strip()}")
            if found is not None:
                return self._take_title(found, self._begun_at)
        if not text.strip() or LEFT_OUT.fullmatch(text) is not None:
            return LineKind.IGNORED
        if RULE.fullmatch(text) is not None:
            self._close_record()
            return LineKind.IGNORED
        return self._take_words(line)

    def _take_words(self, line: Line) -> Outcome:
        text = line.text
        if (found := PARSABLE.fullmatch(text)) is not None:
            return self._take_parsable(found, line.offset)
        if (found := HEADER.fullmatch(text)) is not None:
            return self._take_header(found)
        if (found := TITLE.fullmatch(text)) is not None:
            return self._take_title(found, line.offset)
        if DISTRIBUTION.fullmatch(text) is not None:
            self._in_distribution = True
            return LineKind.HEADER
        taken = self._take_bucket(line) if self._in_distribution else NOT_MINE
        if not taken and self._columns and text.split(maxsplit=1)[0].isdecimal():
            taken = self._take_row(line)
        return taken or self._take_other(line)

    def _take_other(self, line: Line) -> Outcome:
        text = line.text
        if TITLE_ONLY.fullmatch(text.strip()) is not None:
            self._begin_section(text.strip())
            return LineKind.HEADER
        if TITLE_BEGIN.fullmatch(text) is not None:
            self._begun, self._begun_at = text.strip(), line.offset
            return LineKind.HEADER
        if self.see_time_line(text):
            self.begin_call()
            return LineKind.TIMESTAMP
        found = TOTAL_ONLY.fullmatch(text)
        if found is not None and self._sections is not None:
            return self._take_title(found, line.offset)
        if self._take_one_line(line):
            return LineKind.SAMPLE
        return LineKind.IGNORED if self._messages.fullmatch(text.strip()) is not None else NOT_OURS

    # Titles and headers.

    def _open_report(self) -> None:
        if not self._is_open:
            self.begin_report()
            self._is_open = True
            self._titles.clear()
            self._repeats.clear()

    def _begin_section(self, title: str) -> None:
        self._close_record()
        if title in self._titles or len(self._titles) >= MAX_SECTIONS:
            # A tool prints each section once: this is the next report.
            self._is_open = False
        self._open_report()
        self._titles.append(title)
        self._section, self._columns = title, []

    def _take_title(self, found: re.Match[str], offset: int) -> Outcome:
        self._begin_section(found["title"])
        if self._sections is None:
            return LineKind.HEADER
        words = {"events": found["events"]}
        groups = found.groupdict()
        if groups.get("seconds"):
            words |= {"seconds": groups["seconds"], "events/sec": groups["rate"]}
        reason = self.add_row(self._sections, list(words), list(words.values()), instance=self._section, offset=offset)
        return reason or LineKind.SAMPLE

    def _take_header(self, found: re.Match[str]) -> LineKind:
        self._close_record()
        self._open_report()
        columns = [found["count"]]
        if found["shares"]:
            columns += [found["share"], "cuml", "rcnt"]
        if found["unit"]:
            columns.append(found["unit"])
        self._columns = columns
        return LineKind.HEADER

    # Rows.

    def _take_row(self, line: Line) -> Outcome:
        self._close_record()
        n_values = len(self._columns)
        words = line.text.split()
        if len(words) > n_values + 2:
            # Names may have blanks (threads of FreeBSD), but not two of them.
            *numbers, rest = line.text.strip().split(maxsplit=n_values)
            names = WIDE_GAP.split(rest)
            words = [*numbers, *names] if len(names) == 2 else words
        if len(words) != n_values + 2:
            found = TOTAL_ONLY.fullmatch(line.text)
            if found is not None and self._sections is not None:
                return self._take_title(found, line.offset)
            return Rejected(f"{len(words)} words under a header of {n_values + 2} columns")
        return self._add(words, line.offset)

    def _add(self, words: list[str], offset: int) -> Outcome:
        *numbers, lock, caller = words
        for at, column in enumerate(self._columns):
            if column in ("indv", "genr", "cuml"):
                share = SHARE.fullmatch(numbers[at])
                if share is None and numbers[at] != NO_SHARE:
                    return Rejected(f"column {column}: {numbers[at][:40]!r} is not a percentage")
                numbers[at] = share[1] if share is not None else NO_SHARE
        name = f"{self._section}: {lock} {caller}" if self._section else f"{lock} {caller}"
        if self._columns.count("(N/A)"):
            return Rejected("times without a unit")
        instance = self._repeats.name(name)
        missing = frozenset({NO_SHARE})
        reason = self.add_row(self._rows, self._columns, numbers, instance=instance, offset=offset, missing=missing)
        if reason is not None:
            return reason
        values = [numbers[0], *numbers[4 if len(self._columns) > 3 else 1 :]]
        self._record = LockRecord(instance, self._section, lock, caller, values, offset)
        return LineKind.SAMPLE

    def _take_parsable(self, found: re.Match[str], offset: int) -> Outcome:
        """Take a row of `lockstat -p`, which has no titles: a lower event than the one before begins the next report."""
        number = int(found["event"])
        section = EVENTS.get(number, f"Unknown event (type {number})")
        if section != self._section or self._columns != PARSABLE_COLUMNS:
            if self._titles and number < self._event:
                self._is_open = False
            self._begin_section(section)
            self._columns = PARSABLE_COLUMNS
        self._event = number
        self._close_record()
        instance = self._repeats.name(f"{section}: {found['lock']} {found['caller']}")
        words = [found["count"], found["rcnt"], found["time"] or NO_SHARE]
        reason = self.add_row(self._rows, PARSABLE_COLUMNS, words, instance=instance, offset=offset, missing=frozenset({NO_SHARE}))
        for power, count in enumerate((found["buckets"] or "").split()):
            if reason is None and count != "0":
                bounds = [count, f"{2**power // 2}.0", f"{2**power}.0"]
                name = bucket_instance(instance, str(2**power))
                reason = self.add_row(self._histogram, BUCKET_COLUMNS, bounds, instance=name, offset=offset)
        frames = found["frames"].split()
        if reason is None and frames:
            path = [section, *reversed(frames), *([] if found["caller"] in frames else [found["caller"]]), found["lock"]]
            stack = ";".join(frame.replace(";", ":") for frame in path)
            columns = ["Count", "total nsec"] if found["time"] else ["Count"]
            numbers = [found["count"], found["time"]][: len(columns)]
            reason = self.add_row(self._stacks, columns, numbers, instance=stack, offset=offset)
        return reason or LineKind.SAMPLE

    # Lines that follow a row.

    def _take_bucket(self, line: Line) -> Claim:
        found = BUCKET.fullmatch(line.text)
        record = self._record
        if found is None:
            found = FRAME.fullmatch(line.text)
            if found is None:
                return NOT_MINE
            return Rejected("a frame outside a row's stack") if record is None else self._add_frame(record, found["frame"])
        if record is None:
            return Rejected("a bucket outside a row's distribution")
        high = int(found["low"])
        # The tool labels a bucket with its upper end: what lasted 1024 ns is counted under 2048.
        words = [found["count"], f"{high // 2}.0", f"{high}.0"]
        instance = bucket_instance(record.instance, found["low"])
        reason = self.add_row(self._histogram, BUCKET_COLUMNS, words, instance=instance, offset=line.offset)
        if reason is not None:
            return reason
        if found["frame"]:
            return self._add_frame(record, found["frame"])
        return LineKind.SAMPLE

    def _add_frame(self, record: LockRecord, frame: str) -> Outcome:
        if len(record.frames) >= MAX_FRAMES:
            return Rejected(f"a stack of more than {MAX_FRAMES} frames")
        record.frames.append(frame)
        return LineKind.SAMPLE

    def _close_record(self) -> None:
        """Complete the row's stack, if it has one: root first, the lock last."""
        record, self._record, self._in_distribution = self._record, None, False
        if record is None or not record.frames:
            return
        frames = list(reversed(record.frames))
        if record.caller not in frames:
            frames.append(record.caller)
        path = [*([record.section] if record.section else []), *frames, record.lock]
        instance = ";".join(frame.replace(";", ":") for frame in path)
        columns = [column for column in self._columns if column not in ("indv", "genr", "cuml", "rcnt")]
        if len(columns) == len(record.words):
            self.add_row(self._stacks, columns, record.words, instance=instance, offset=record.offset)

    # A whole report on one line, as in mails and web pages.

    def _take_one_line(self, line: Line) -> bool:
        is_report = len(line.text) <= MAX_REPORT and " events " in line.text and " Lock " in line.text
        words = line.text.split() if is_report else []
        parts = _split_sections(words)
        for title, header, rows in parts:
            found = TITLE.fullmatch(" ".join(title))
            columns = HEADER.fullmatch(" ".join(header))
            assert found is not None
            assert columns is not None
            self._take_title(found, line.offset)
            self._take_header(columns)
            for row in rows:
                self._add(row, line.offset)
        self._close_record()
        return bool(parts)


def _split_sections(words: list[str]) -> list[tuple[list[str], list[str], list[list[str]]]]:
    """Return the sections of a report on one line: words of the title, of the header, of each row.

    A command may stand before the first title. Missing: empty when any word is left over.
    """
    sections: list[tuple[list[str], list[str], list[list[str]]]] = []
    numbered = (number - 2 for number, word in enumerate(words) if word == "events")
    at = next(numbered, -1)
    while at >= 0 and not words[at][:1].isupper():
        at -= 1
    while 0 <= at < len(words):
        header_at = next((number for number in range(at, min(at + 16, len(words))) if words[number] in ("Count", "ops/s")), 0)
        rule_at = next((number for number in range(header_at, min(header_at + 12, len(words))) if RULE.fullmatch(words[number])), 0)
        title, header = words[at:header_at], words[header_at:rule_at]
        columns = HEADER.fullmatch(" ".join(header))
        if not header_at or not rule_at or TITLE.fullmatch(" ".join(title)) is None or columns is None or not columns["shares"]:
            return []
        n_words = 6 + bool(columns["unit"])
        rows = []
        at = rule_at + 1
        while at < len(words) and not RULE.fullmatch(words[at]):
            row = words[at : at + n_words]
            if len(row) < n_words or not _is_row(row, n_words - 2):
                return []
            rows.append(row)
            at += n_words
        sections.append((title, header, rows))
        at += 1
    return sections


def _is_row(words: list[str], n_values: int) -> bool:
    shares = all(SHARE.fullmatch(word) or word == NO_SHARE for word in words[1:3])
    return shares and all(NUMBER.fullmatch(words[at]) for at in (0, *range(3, n_values)))
