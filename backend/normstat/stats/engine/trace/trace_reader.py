"""The state of tracer readers between lines: the time, the table, the title, the open stack or distribution.

The output of scripts is free-form, so a line often gets its meaning from the next one: a text may be a title, a header, a
frame or the key of a distribution; so may a row of dtrace. Such lines are held back, within fixed bounds.

Counted keys wait until their block ends as well: only then it is known whether the block begins a new report (see marks.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from normstat.errors import shorten
from normstat.stats.engine.histogram import bucket_bounds, bucket_instance
from normstat.stats.engine.lines import ABSENT, Line, LineReader
from normstat.stats.engine.outcome import NOT_MINE, Claim, Outcome, Rejected
from normstat.stats.engine.times.timestamps import Timestamp
from normstat.stats.engine.trace.column_names import find_title, is_header, split_headers, trim_title
from normstat.stats.engine.trace.question_names import Rank, TracedQuestion, is_open, pasted_command, question_of
from normstat.stats.engine.trace.report_marks import ReportMarks, mark_of
from normstat.stats.engine.trace.stacks import MAX_CHARACTERS, MAX_FRAMES, TOO_DEEP, is_frame
from normstat.stats.engine.trace.trace_layout import TraceLayout, begin_tables
from normstat.stats.engine.trace.trace_lines import (
    TIME_NAMES,
    Pairs,
    is_integer,
    is_number,
    parse_pairs,
    says_nothing,
    split_stamp,
    tells_of_losses,
    tidy,
)
from normstat.stats.engine.trace.trace_table import TableRow, TraceTable, cut_row, stat_column
from normstat.stats.records import LineKind, State
from normstat.stats.spec import Stat

TOO_LONG: Final = Rejected(f"line of more than {MAX_CHARACTERS} characters")
MISFIT: Final = Rejected("does not fit under the columns of its header")
UNKNOWN: Final = "not a known line of {tool}"
NO_STAT: Final = "the spec of {tool} has no stat for this"
# Rows that wait for their block to end; a few of the last must not be longer together than one line may be.
MAX_BLOCK: Final = 500
LONG_KEYS: Final = 8


@dataclass(frozen=True, slots=True)
class HeldRow:
    """A counted key that waits for its block to end."""

    title: str
    key: str
    word: str
    offset: int

    @property
    def instance(self) -> str:
        """The key with the title of its block."""
        return f"{self.title}: {self.key}" if self.title and self.key else self.title or self.key


TraceLayoutT = TypeVar("TraceLayoutT", bound=TraceLayout)


class TraceReader(LineReader[TraceLayoutT]):
    """The base of the tracers' readers, which say in `take` what a line is."""

    has_epoch_calls = True
    # Keys and titles may be any text.
    takes_any_text = True

    may_be_quoted = False

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        texts, block, title = own.get("texts"), own.get("block"), own.get("title")
        self.texts = [Line(str(text), int(at)) for text, at in texts] if isinstance(texts, list) else []
        self._n_characters = sum(len(line.text) for line in self.texts)
        self.block = [HeldRow(*row) for row in block] if isinstance(block, list) else []
        self._marks = ReportMarks(own.get("marks"))
        self._title, self._is_title_used = (str(title[0]), title[1] is True) if isinstance(title, list) else ("", False)
        self._table = TraceTable.from_state(own.get("table"))
        bucket_key = own.get("bucket_key")
        self.bucket_key = bucket_key if isinstance(bucket_key, str) else None
        self._is_dormant = own.get("dormant") is True
        self.has_gap = own.get("gap") is True
        self._is_too_deep = own.get("too_deep") is True
        self._is_block_continued = own.get("continued") is True
        self._asked = str(own.get("asked", ""))
        name = own.get("question")
        found = TracedQuestion(str(name[0]), Rank(int(name[1]))) if isinstance(name, list) else question_of(self.command)
        self.question = found
        self._own_stats = {known.stat.name for known in self.layout.tables} | {known.stat.name for known in self.layout.lines}

    def save(self) -> State:
        """Return the state for the next piece."""
        return {
            "texts": [[line.text, line.offset] for line in self.texts],
            "block": [[row.title, row.key, row.word, row.offset] for row in self.block],
            "marks": self._marks.to_state(),
            "title": [self._title, self._is_title_used],
            "table": None if self._table is None else self._table.to_state(),
            "bucket_key": self.bucket_key,
            "dormant": self._is_dormant,
            "gap": self.has_gap,
            "too_deep": self._is_too_deep,
            "continued": self._is_block_continued,
            "asked": self._asked,
            "question": [self.question.name, self.question.rank.value],
        }

    def take_line(self, line: Line) -> Outcome:
        """Blank lines and lines that are too long; all others go to `take`."""
        text = tidy(line.text)
        if self._asked or (text and pasted_command(text) is not None):
            return self._take_command(text)
        if not text:
            self.see_blank()
            return LineKind.IGNORED
        if len(text) > MAX_CHARACTERS:
            self.forget_texts()
            return TOO_LONG
        return self.take(Line(text, line.offset))

    def finish(self) -> None:
        """Complete the last block."""
        self.flush_block()

    def is_whole(self, line: Line) -> bool:
        """Return whether the line ends in padding, a bar or a percent sign; a bare number may have lost digits."""
        return line.text[-1:] in " |%"

    def take(self, line: Line) -> Outcome:
        """Return the kind of the line; it is not blank, and has neither tabs nor trailing blanks."""
        raise NotImplementedError

    # Questions.

    def _take_command(self, text: str) -> LineKind:
        """Take a line of the command that was pasted above its output; it may have a program of many lines."""
        self._leave_parts()
        self._table = None
        command = f"{self._asked}\n{text}" if self._asked else pasted_command(text) or ""
        self._asked = command if is_open(command) else ""
        if not self._asked:
            self.see_question(question_of(command))
        return LineKind.HEADER

    def see_question(self, question: TracedQuestion) -> None:
        """Note what the samples that follow are about."""
        self.question = self.question.then(question)

    def named(self, stat: Stat, instance: str) -> str:
        """Return the instance with the question, where the stat does not tell it."""
        if not self.question.name or stat is self.layout.summary or stat.name in self._own_stats:
            return instance
        if stat is self.layout.stacks:
            return f"{self.question.name.replace(';', ',')};{instance}"
        return self.question.of(instance)

    # Reports.

    def enter(self, *parts: str, is_row: bool = False) -> None:
        """Note a part of a report. Rows of one table may repeat within the report of one time (two events of one process)."""
        if self._marks.starts_report([mark_of(self.question.name, *parts)], is_known_report=is_row and self._marks.is_stamped):
            self.begin_report()

    def mark_report(self) -> None:
        """Start a report of unknown time with the next line."""
        self.flush_block()
        self._marks.see_break()

    def mark_time(self, stamp: Timestamp) -> None:
        """Set the time of the following lines."""
        self.flush_block()
        self.see_stamp(stamp)
        self._marks.see_time()

    def see_call(self, stamp: Timestamp) -> None:
        """Start a new call of the tracer at that time."""
        super().see_call(stamp)
        self._marks.see_time()

    # Lines that all tracers have.

    def see_blank(self) -> None:
        """End the distribution and the block of rows at a blank line; a title covers one block."""
        self.flush_block()
        self.has_gap = True
        self._is_dormant = True
        self._is_too_deep = False
        self.bucket_key = None
        if self._is_title_used:
            self._title, self._is_title_used = "", False

    def take_self_talk(self, line: Line) -> LineKind | None:
        """Return the outcome of a message of the tracer. Missing: None for other lines."""
        is_loss = tells_of_losses(line.text)
        if not is_loss and not says_nothing(line.text):
            return None
        self.flush_block()
        self.forget_texts()
        self.bucket_key = None
        self._is_dormant = True
        return LineKind.STATE_CHANGE if is_loss else LineKind.IGNORED

    def take_stamp(self, line: Line) -> Claim:
        """Return a time, perhaps with numbers after it. Missing: None for other lines."""
        found = split_stamp(line.text)
        if found is None:
            return NOT_MINE
        stamp, rest = found
        pairs = parse_pairs(rest) if rest else None
        if rest and pairs is None:
            return NOT_MINE if self._has_time_column() else self.take_after_time(stamp, Line(rest, line.offset))
        self._leave_parts()
        self.mark_time(stamp)
        return LineKind.TIMESTAMP if pairs is None else self.add_pairs(pairs, line.offset)

    def take_after_time(self, stamp: Timestamp, rest: Line) -> Claim:  # noqa: ARG002 (readers look at them)
        """Return the outcome of a tool's line that begins with a time. Missing: None for an unknown line."""
        return NOT_MINE

    def _leave_parts(self) -> None:
        self.flush_block()
        self.forget_texts()
        self.bucket_key = None
        self._is_dormant = True
        self._title, self._is_title_used = "", False

    def _has_time_column(self) -> bool:
        if self.texts:
            return self.texts[-1].text.split()[0].upper() in TIME_NAMES
        return self._table is not None and self._table.columns[0].text.upper() in TIME_NAMES

    def take_pairs(self, line: Line, least: int = 1) -> Claim:
        """Return the outcome of a line with at least a minimum of named numbers. Missing: None for other lines."""
        pairs = parse_pairs(line.text) if self.layout.summary is not None else None
        if pairs is None or len(pairs.columns) < least:
            return NOT_MINE
        self.flush_block()
        self.forget_texts()
        self._table = None
        return self.add_pairs(pairs, line.offset)

    def add_pairs(self, pairs: Pairs, offset: int) -> Outcome:
        """Return the sample that numbers with names are."""
        stat = self.layout.summary
        if stat is None:
            return Rejected(NO_STAT.format(tool=self.spec.tool))
        self.enter("pairs", *pairs.columns)
        return self.add(stat, pairs.columns, pairs.words, instance="", offset=offset)

    def take_known_line(self, line: Line) -> Claim:
        """Return a line that the spec knows as a sample in itself. Missing: None for other lines."""
        text = line.text.strip()
        for known in self.layout.lines:
            found = known.pattern.fullmatch(text)
            if found is not None:
                self.flush_block()
                self.forget_texts()
                self._table = None
                instance = " ".join(" ".join(found[name].split()) for name in known.instance)
                self.enter("line", known.stat.name, instance)
                columns = [column for name, column in known.columns if found[name] is not None]
                words = [found[name] for name, _ in known.columns if found[name] is not None]
                return self.add(known.stat, columns, words, instance=instance, offset=line.offset)
        return NOT_MINE

    # Tables.

    def take_row(self, line: Line) -> Claim:
        """Return a row under the header just above, or of the table that is being read.

        Missing: None when it is not a row; a reason when it is in a table and does not fit.
        """
        if self.texts:
            return NOT_MINE if self.has_gap else self._take_first_row(line)
        if self._table is None:
            return NOT_MINE
        row = cut_row(self._table, line.text, is_exact=self._is_dormant)
        if isinstance(row, TableRow) and row.columns:
            return self._add_row(row, line.offset)
        if self._is_dormant or isinstance(row, TableRow) or self._is_text(line.text):
            self._is_dormant = True
            return NOT_MINE
        return row or MISFIT

    def _is_text(self, text: str) -> bool:
        return not any(is_integer(word) for word in text.split()) or is_header(text)

    def _take_first_row(self, line: Line) -> Claim:
        headers = split_headers(self.texts[-1].text, line.text)
        title = find_title([text.text for text in self.texts[-2:]], self._title)
        is_header = any(header.is_certain for header in headers) and any(map(is_number, line.text.split()))
        for table in begin_tables(self.layout, headers, title):
            row = cut_row(table, line.text)
            if isinstance(row, TableRow) and row.columns:
                self.forget_texts()
                self._is_title_used = True
                self.enter("table", row.table.title, *(column.text for column in row.table.columns))
                return self._add_row(row, line.offset)
            is_header = is_header and not isinstance(row, TableRow)
        return MISFIT if is_header else NOT_MINE

    def _add_row(self, row: TableRow, offset: int) -> Outcome:
        self.flush_block()
        self.bucket_key = None
        self._table = row.table
        self._is_dormant = False
        if row.stamp is not None:
            self.mark_time(row.stamp)
        instance = f"{row.table.title}: {row.key}" if row.table.title and row.key else row.table.title or row.key
        self.enter("row", row.table.stat, instance, *row.columns, is_row=bool(row.key))
        return self.add(self.stat(row.table.stat), row.columns, row.words, instance=instance, offset=offset)

    # Texts whose meaning is still open.

    def hold_text(self, line: Line) -> Outcome:
        """Keep a line whose meaning depends on the next ones: a header, a title, a frame, the key of a distribution."""
        self.flush_block()
        self._table = None
        if self._is_too_deep:
            return TOO_DEEP
        if self.texts and self.has_gap and not self.has_frames():
            self._title, self._is_title_used = "" if is_header(self.texts[-1].text) else self.texts[-1].text, False
            self.forget_texts()
        if len(self.texts) >= MAX_FRAMES or self._n_characters + len(line.text) > MAX_CHARACTERS:
            self.forget_texts()
            self._is_too_deep = True
            return TOO_DEEP
        self.texts.append(line)
        self._n_characters += len(line.text)
        self.has_gap = False
        return LineKind.HEADER

    def take_title(self, line: Line) -> Outcome:
        """Return a title or a header. Unnamed numbers must not get lost in one."""
        if line.text.endswith(":") or not any(map(is_number, line.text.split())) or is_header(line.text):
            return self.hold_text(line)
        return Rejected(UNKNOWN.format(tool=self.spec.tool))

    def has_frames(self) -> bool:
        """Return whether the pending lines are a stack."""
        return any(is_frame(line.text) for line in self.texts)

    def forget_texts(self) -> None:
        """Drop the lines that were held."""
        self.texts.clear()
        self._n_characters = 0
        self._is_too_deep = False

    def take_texts(self) -> list[Line]:
        """Return the lines that waited; they are used now."""
        texts = list(self.texts)
        self.forget_texts()
        return texts

    def use_title(self) -> str:
        """Return the title of the rows that come: the text above them."""
        if self.texts:
            self._title = self.texts[-1].text
            self.forget_texts()
        self._is_title_used = True
        return trim_title(self._title)

    @property
    def is_too_deep(self) -> bool:
        """Whether the stack that is being printed was given up."""
        return self._is_too_deep

    # Samples.

    def hold_row(self, row: HeldRow) -> LineKind:
        """Keep a counted key until its block ends: only the end shows whether the block begins a new report."""
        if len(self.block) >= MAX_BLOCK or sum(len(held.key) for held in self.block[-LONG_KEYS:]) > MAX_CHARACTERS:
            self.flush_block()
            self._is_block_continued = True
        self.block.append(row)
        self.has_gap = False
        return LineKind.SAMPLE

    def flush_block(self) -> None:
        """Add the counted keys that waited."""
        stat = self.layout.keys
        if self.block and stat is not None:
            marks = [mark_of(self.question.name, "key", row.instance) for row in self.block]
            if self._marks.starts_report(marks, is_known_report=self._is_block_continued):
                self.begin_report()
            for row in self.block:
                self.add(stat, ["count"], [row.word], instance=row.instance, offset=row.offset)
        self.block.clear()
        self._is_block_continued = False

    def begin_histogram(self, key: str) -> Outcome:
        """Return the header of a distribution."""
        if self.layout.histogram is None:
            return Rejected(NO_STAT.format(tool=self.spec.tool))
        self.flush_block()
        self._table = None
        self.bucket_key = key
        self.has_gap = False
        self.enter("histogram", key)
        return LineKind.HEADER

    def add_bucket(self, label: str, count: str, offset: int) -> Outcome:
        """Return a bucket of the open distribution."""
        stat = self.layout.histogram
        if stat is None or self.bucket_key is None:
            return Rejected("a bucket outside a distribution")
        label = " ".join(label.split())
        low, high = bucket_bounds(label)
        words = [count, *(ABSENT if bound is None else f"{bound:.1f}" for bound in (low, high))]
        return self.add(stat, ["count", "low", "high"], words, instance=bucket_instance(self.bucket_key, label), offset=offset)

    def add_stack(self, instance: str | None, words: Sequence[str], offset: int) -> Outcome:
        """Return a counted stack; the instance is its folded key."""
        stat = self.layout.stacks
        if stat is None:
            return Rejected(NO_STAT.format(tool=self.spec.tool))
        if instance is None:
            return TOO_DEEP
        self.flush_block()
        self._table = None
        self.enter("stack", instance)
        columns = [field.column for field in stat.fields][: len(words)]
        return self.add(stat, columns, words, instance=instance, offset=offset)

    def add(self, stat: Stat, columns: Sequence[str], words: Sequence[str], *, instance: str, offset: int) -> Outcome:
        """Add a sample; columns match the stat's fields, ignoring case and blanks."""
        names, values = [], []
        for column, word in zip(columns, words, strict=True):
            field = stat_column(stat, column)
            names.append(column if field is None else field.column)
            keeps_sign = field is not None and field.unit == "%" and not field.storage.is_whole
            values.append(word if keeps_sign else word.rstrip("%"))
        return self.add_row(stat, names, values, instance=self.named(stat, instance), offset=offset) or LineKind.SAMPLE


def count_reason(word: str) -> str:
    """Return why a word is no count."""
    return f"column count: {shorten(word, 40)} is not a number that it can hold"
