"""Tables of results as shown on slides and pages: cells between bars (Markdown), or columns separated by two blanks.

    | 順位 | アドレス | 回数 | 平均(秒) | 最大(秒) | 合計(秒) | 割合(%) |
    |----|------------|--------|----------|----------|--------|--------|
    | 4 | 0xf8863ba3 | 61,477 | 1.8E-07 | 2.49E-05 | 0.0111 | 0.0142 |

The layout says which headers name a row; the others are fields by their column or one of its aliases, blanks and brackets aside.
Seconds are kept as printed and, without a rounding, as whole nanoseconds. A table whose other columns are all times (~1 us, ~10 us,
10 s and more) is a distribution.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = '''| アドレス | 回数 | 平均(秒) |
... |---|---|---|
... | 0xf8863ba3 | 61,477 | 1.8E-07 |
... '''.encode()
>>> (block,) = read(require_spec("lkst"), text, state={}, offset=0).blocks
>>> block.instances, [column.tolist() for column in block.values]
(['0xf8863ba3'], [[61477], [1.8e-07], [180]])
"""

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Annotated, Final

from normstat.stats.engine.histogram import bucket_instance
from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.series.report_numbers import Repeats, spell_out, ungroup
from normstat.stats.layout import Convert
from normstat.stats.records import NO_TIME, LineKind, State
from normstat.stats.spec import Field, Layout, Shape, Stat

RULE: Final = frozenset("|:+=- \t")
GAP: Final = re.compile(r"\s{2,}|\t")
CLOCK: Final = re.compile(r"(?P<h>[01]\d|2[0-3]):(?P<m>[0-5]\d):(?P<s>[0-5]\d)(?:\.(?P<fraction>\d{1,9}))?", re.ASCII)
# Decimal places that a unit has below the second.
UNITS: Final = {
    "ns": 9, "ナノ秒": 9, "us": 6, "µs": 6, "μs": 6, "usec": 6, "マイクロ秒": 6, "ms": 3, "msec": 3, "ミリ秒": 3, "s": 0, "sec": 0,
    "秒": 0,
}  # fmt: skip
UNIT: Final = "|".join(sorted(UNITS, key=len, reverse=True))
BUCKET: Final = re.compile(
    rf"(?P<before>~|〜|～|<=?|≤|-|>=?|≥)?(?P<number>\d{{1,9}})(?P<unit>{UNIT})(?P<behind>以下|未満|以上|~|〜|～|-|\+)?"
)
BELOW: Final = frozenset({"~", "〜", "～", "<", "<=", "≤", "-", "以下", "未満"})
FLAGS: Final = {"×": "0", "✕": "0", "✗": "0", "no": "0", "○": "1", "◯": "1", "〇": "1", "✓": "1", "yes": "1"}
FLAG: Final = "yes/no"
OPTIONAL: Final = "?"
NS_OF_DAY: Final = "ns of day"
BUCKET_COLUMNS: Final = ("count", "low", "high")
MESSAGE: Final = re.compile(r"\[?(?:\.\.\.|…)\]?")
MAX_LINE: Final = 4096
MAX_CELLS: Final = 64
MAX_HEADER: Final = 80
NOTHING: Final = dict.fromkeys(map(ord, " \t()[]（）\u3000\u00a0"))
NANO: Final = 1_000_000_000


def plain_header(text: str) -> str:
    """Return the header normalised: without case, blanks, brackets.

    >>> plain_header("平均 (秒)"), plain_header("~1 マイ クロ 秒"), plain_header("Average[sec]")
    ('平均秒', '~1マイクロ秒', 'averagesec')
    """
    return text.translate(NOTHING).casefold() if len(text) < MAX_HEADER else ""


def bucket_ends(label: str) -> tuple[Decimal | None, Decimal | None] | None:
    """Return low and high end of a bucket by its header. Without a low end, it is the high end of the bucket before it.

    Units: seconds. Missing: None for a header that is no time, or an end that it does not say.

    >>> bucket_ends("~10ミリ秒"), bucket_ends("10秒以上"), bucket_ends(">=10s"), bucket_ends("関数")
    ((None, Decimal('0.010')), (Decimal('10'), None), (Decimal('10'), None), None)
    """
    found = BUCKET.fullmatch(plain_header(label))
    if found is None or (found["before"] is None) == (found["behind"] is None):
        return None
    end = Decimal(found["number"]).scaleb(-UNITS[found["unit"]])
    # 10s~ is what lasts longer, ~10s what does not.
    is_below = found["before"] in BELOW or found["behind"] in ("以下", "未満")
    return (None, end) if is_below else (end, None)


PlainHeader = Annotated[str, Convert(str, plain_header)]


@dataclass(frozen=True)
class MarkdownTable:
    """A table of the layout.

    `names` are the headers that name a row, each with its synonyms; `needed` the keys of fields without which it is another table.
    """

    stat: Stat
    names: tuple[tuple[PlainHeader, ...], ...]
    needed: frozenset[str] = frozenset()
    clock: tuple[PlainHeader, ...] = ()
    nanoseconds: Mapping[str, str] = field(default_factory=dict)
    inner: re.Pattern[str] | None = None

    def __post_init__(self) -> None:
        """Require that keys are those of fields."""
        keys = {known.key for known in self.stat.fields}
        for key in (*self.needed, *self.nanoseconds, *self.nanoseconds.values()):
            if key not in keys:
                raise ValueError(f"needed or nanoseconds: {key!r} is not a field of {self.stat.name}")

    @functools.cached_property
    def known(self) -> Mapping[str, tuple[Field, str]]:
        """The fields by their plain headers, each with the column or alias that the header is."""
        return {plain_header(name): (known, name) for known in self.stat.fields for name in (*known.aliases, known.column)}


@dataclass(frozen=True)
class MarkdownLayout(Layout):
    """The tables."""

    tables: tuple[MarkdownTable, ...]


LAYOUT: Final = MarkdownLayout


class Reader(LineReader[MarkdownLayout]):
    """One call of the reader."""

    def load(self, own: State) -> None:
        """Restore the headers of the present table and the names seen in it."""
        headers = own.get("headers")
        self._headers: list[str] = []
        self._table: MarkdownTable | None = None
        if isinstance(headers, list):
            self._headers = [str(item) for item in headers]
            self._table = self._find_table(self._headers)
        self._is_marked = own.get("is_marked") is True
        self._repeats = Repeats(own.get("repeats"))

    def save(self) -> State:
        """Return the state as JSON values."""
        return {"headers": self._headers, "is_marked": self._is_marked, "repeats": self._repeats.to_state()}

    def begin_call(self) -> None:
        """Start a new report."""
        self._headers, self._table = [], None

    def is_whole(self, line: Line) -> bool:
        """Return whether the last cell is closed."""
        return line.text.rstrip().endswith("|")

    def take_line(self, line: Line) -> Outcome:
        """Return a header, the rule below it, a row."""
        text = line.text.strip()
        if not text or ("--" in text and RULE.issuperset(text)) or MESSAGE.fullmatch(text) is not None:
            return LineKind.IGNORED
        if len(text) > MAX_LINE:
            return Rejected("longer than any row of a table")
        is_marked = text.startswith("|")
        cells = _cells(text, is_marked=is_marked)
        table = self._find_table(cells)
        if table is not None:
            self._headers, self._table, self._is_marked = cells, table, is_marked
            self.begin_report()
            self._repeats.clear()
            return LineKind.HEADER
        if self._table is not None and is_marked == self._is_marked:
            if len(cells) != len(self._headers):
                cells = text.split() if not is_marked else cells
            if len(cells) == len(self._headers):
                return self._take_row(self._table, cells, line.offset)
            if is_marked:
                return Rejected(f"{len(cells)} cells under a header of {len(self._headers)}")
        if self.see_time_line(text):
            return LineKind.TIMESTAMP
        return Rejected("not a row of a known table")

    # Headers.

    def _find_table(self, headers: Sequence[str]) -> MarkdownTable | None:
        if not 2 <= len(headers) <= MAX_CELLS:
            return None
        plain = [plain_header(header) for header in headers]
        for table in self.layout.tables:
            stat = table.stat
            if not all(_place(plain, names) is not None for names in table.names if names[0] != OPTIONAL):
                continue
            if stat.shape is Shape.HISTOGRAM:
                if all(bucket_ends(header) for header in self._others(table, headers)):
                    return table
                continue
            keys = {found[0].key for found in (self._field(table, header) for header in headers) if found is not None}
            if table.needed <= keys and (not table.clock or _place(plain, table.clock) is not None):
                return table
        return None

    def _others(self, table: MarkdownTable, headers: Sequence[str]) -> list[str]:
        """Return the headers that do not name a row."""
        plain = [plain_header(header) for header in headers]
        named = {_place(plain, names) for names in table.names}
        return [header for at, header in enumerate(headers) if at not in named]

    def _field(self, table: MarkdownTable, header: str) -> tuple[Field, str] | None:
        """Return the field of a header, and its column or alias that the header is."""
        plain = plain_header(header)
        if table.inner is not None and (found := table.inner.fullmatch(header.strip())) is not None:
            plain = plain_header(found["column"])
        return table.known.get(plain)

    # Rows.

    def _take_row(self, table: MarkdownTable, cells: list[str], offset: int) -> Outcome:
        plain = [plain_header(header) for header in self._headers]
        places = [place for names in table.names if (place := _place(plain, names)) is not None]
        parts = [found["part"] for header in self._headers if table.inner and (found := table.inner.fullmatch(header.strip()))]
        parts += [cells[place] for place in places]
        if not any(parts):
            return Rejected("a row without a name")
        stat = table.stat
        if stat.shape is Shape.HISTOGRAM:
            return self._take_buckets(table, stat, cells, offset)
        words: dict[str, str] = {}
        printed: dict[str, str] = {}
        time_us = None
        for at, (header, cell) in enumerate(zip(self._headers, cells, strict=True)):
            known = self._field(table, header)
            if plain[at] in table.clock:
                clock = CLOCK.fullmatch(cell)
                if clock is None:
                    return Rejected(f"{cell[:40]!r} is not a time of day")
                words[NS_OF_DAY], time_us = self._take_clock(clock)
            elif known is not None:
                known_field, column = known
                words[column] = word = _word(known_field, cell)
                if known_field.unit != FLAG:
                    printed[column] = cell
                extra = table.nanoseconds.get(known_field.key)
                if extra is not None:
                    words[next(other.column for other in stat.fields if other.key == extra)] = _nanoseconds(word)
            elif at not in places and cell:
                # A column that says what the row is about, such as a group.
                parts.append(cell)
        name = self._repeats.name(" ".join(" ".join(parts).split()))
        said = [printed.get(column, word) for column, word in words.items()]
        reason = self.add_row(
            stat, list(words), list(words.values()), instance=name, offset=offset, time_us=time_us, as_printed=said
        )
        return reason or LineKind.SAMPLE

    def _take_clock(self, found: re.Match[str]) -> tuple[str, int]:
        seconds = int(found["h"]) * 3600 + int(found["m"]) * 60 + int(found["s"])
        fraction = (found["fraction"] or "").ljust(9, "0")
        whole_us = self.timeline.clock_us(seconds)
        return str(seconds * NANO + int(fraction)), whole_us if whole_us == NO_TIME else whole_us + int(fraction) // 1000

    def _take_buckets(self, table: MarkdownTable, stat: Stat, cells: list[str], offset: int) -> Outcome:
        others = self._others(table, self._headers)
        names = [cell for header, cell in zip(self._headers, cells, strict=True) if header not in others]
        name = self._repeats.name(" ".join(names))
        low: Decimal | None = Decimal(0)
        for header, cell in zip(self._headers, cells, strict=True):
            if header not in others:
                continue
            ends = bucket_ends(header)
            assert ends is not None
            begin, high = ends[0] if ends[0] is not None else low, ends[1]
            bounds = ["" if end is None else f"{end:f}" for end in (begin, high)]
            instance = bucket_instance(name, re.sub(r"\s+", "", header))
            words, said = [ungroup(cell), *bounds], [cell, *bounds]
            reason = self.add_row(stat, BUCKET_COLUMNS, words, instance=instance, offset=offset, as_printed=said)
            if reason is not None:
                return reason
            low = high
        return LineKind.SAMPLE


def _cells(text: str, *, is_marked: bool) -> list[str]:
    if is_marked:
        return [cell.strip() for cell in text.strip().removeprefix("|").removesuffix("|").split("|")]
    return GAP.split(text)


def _place(plain: Sequence[str], names: Sequence[str]) -> int | None:
    return next((at for at, header in enumerate(plain) if header in names), None)


def _word(field: Field, cell: str) -> str:
    if field.unit == FLAG:
        return FLAGS.get(cell.casefold(), cell)
    return spell_out(ungroup(cell.removesuffix("%").strip()))


def _nanoseconds(word: str) -> str:
    """Return seconds as whole nanoseconds. Missing: "" for a number that is not whole nanoseconds."""
    try:
        value = Decimal(word) * NANO
    except InvalidOperation:
        return ""
    return f"{value:.0f}" if value.is_finite() and value == value.to_integral_value() else ""
