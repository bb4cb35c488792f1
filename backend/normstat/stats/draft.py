"""Draft a spec from a pasted sample of a tool's output, for a user to correct instead of starting from scratch.

Two forms of output, as dim_STAT has them: single, one row a report (`app_time 10`: six times a line), and multi, several rows a
report, each about another thing (`app_user 10`: a line for each user). With a usable header line the columns are known by their
headers (reader `columns`), else by their places (reader `fixed_columns`), or by the names next to the numbers (`ttl=64`, reader
`patterns`). What the sample does not show is not guessed: units
are empty, no direction is worse, and a column counts up only where the sample leaves no doubt.
"""

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from normstat.errors import BadRequest, shorten
from normstat.runtime.field_docs import Documented
from normstat.stats.catalogue import RESERVED_KEYS
from normstat.stats.draft_pairs import PairTable, find_pairs
from normstat.stats.engine.header import slug, split_header
from normstat.stats.engine.number_formats import EXACT_LIMIT, NUMBER, SUFFIXES
from normstat.stats.engine.times.timestamps import parse_timestamp, split_words, take_clock
from normstat.stats.spec import Kind, Storage

MAX_BYTES: Final = 1 << 20
MAX_COLUMNS: Final = 500
# More lines than these would add nothing.
MAX_LINES: Final = 5000
# No user would paste longer rows.
MAX_LINE_LENGTH: Final = 4096
# dim_STAT's rule: shorter lines are noise.
MIN_LENGTH: Final = 4
# "Sat Nov 21 12:00:01 PM UTC 2026" is the longest time that tools print.
MAX_TIME_WORDS: Final = 7
MAX_DECIMALS: Final = 9
# A column counts as a counter when it never falls in this many rows of one instance, and rises this often.
COUNTER_ROWS: Final = 8
COUNTER_RISES: Final = 6
PANEL_FIELDS: Final = 6
PATTERN_WORDS: Final = 16
MAX_PATTERN_LENGTH: Final = 300
BLANKS: Final = r"\s+"
MAX_KEY_LENGTH: Final = 45
# What tools print for "no value"; any other word makes the column one of text.
MISSING: Final = frozenset({"-", "n/a", "N/A", "na", "NA", "nan", "NaN", "null", "NULL", "none", "None"})
CONTROL: Final = re.compile(r"\x1b\[[0-9;]*[mK]|[\x00-\x08\x0b-\x1f\x7f]")
INTEGER: Final = re.compile(r"[-+]?[0-9]{1,18}")
NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")


class Form(StrEnum):
    """How many rows a report has."""

    SINGLE = "single"
    MULTI = "multi"


@dataclass(frozen=True, slots=True)
class DraftRequest:
    """Parameters besides the sample; `instance_column` is a header, or a place counted from 1."""

    name: str
    sample: str
    form: Form
    tool: str = ""
    command: str = ""
    instance_column: str = ""


@dataclass(frozen=True, slots=True)
class SpecDraftColumn(Documented):
    """A column of numbers, as the draft interprets it."""

    key: str
    column: str
    kind: str
    unit: str
    decimals: int


@dataclass(frozen=True, slots=True)
class SpecDraft(Documented):
    """A draft spec, to be corrected and added."""

    toml: str
    columns: list[SpecDraftColumn]


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """A column of numbers, and how the draft stores it."""

    shown: SpecDraftColumn
    storage: Storage
    scale: int


@dataclass(frozen=True, slots=True)
class SampleLine:
    """A line of the sample: its words after a leading time of `n_lead` words."""

    text: str
    words: tuple[str, ...]
    n_lead: int
    is_stamp: bool

    @property
    def n_numbers(self) -> int:
        """The number of words that are numbers."""
        return sum(map(is_number, self.words))


@dataclass(frozen=True, slots=True)
class SampleTable:
    """The sample as parsed. `header` is the text of the header line, "" for none."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    header: str
    is_header_driven: bool
    has_leading_time: bool
    has_times: bool
    pairs: PairTable | None = None


def draft_spec(request: DraftRequest) -> SpecDraft:
    """Return the draft.

    Raises: BadRequest for a name that cannot be one, and for a sample in which no row of numbers is found
    """
    if NAME.fullmatch(request.name) is None:
        raise BadRequest(f"{shorten(request.name)} cannot be a name: 1 to 40 of the characters a-z 0-9 _, the first one a letter")
    lines = list(_split(request.sample))
    pairs = find_pairs([line.text for line in lines])
    table = _find_table(lines) if pairs is None else _pair_table(pairs, lines)
    texts = [at for at in range(len(table.names)) if not _is_numeric([row[at] for row in table.rows])]
    instance_at = _find_instance(request, table, texts)
    value_at = [at for at in range(len(table.names)) if at not in texts and at != instance_at]
    if not value_at:
        raise BadRequest("The sample has no column of numbers besides the instance")
    keys = _keys([table.names[at] for at in value_at])
    columns = tuple(_column(table, at, key, instance_at) for at, key in zip(value_at, keys, strict=True))
    labels = [table.names[at] for at in texts if at != instance_at]
    instance = "" if instance_at is None else table.names[instance_at]
    needed = {instance, *(column.shown.column for column in columns)} - {""}
    if table.pairs is None and any(_is_other_header(line, table, needed) for line in lines):
        table = replace(table, is_header_driven=False)
    toml = "\n".join(_to_toml(request, table, columns, labels, instance)) + "\n"
    return SpecDraft(toml, [column.shown for column in columns])


def _pair_table(pairs: PairTable, lines: Sequence[SampleLine]) -> SampleTable:
    has_times = pairs.has_stamp or any(line.is_stamp for line in lines)
    return SampleTable(
        pairs.names, pairs.rows, "", is_header_driven=False, has_leading_time=False, has_times=has_times, pairs=pairs
    )


def is_number(word: str) -> bool:
    """Return whether a word is a number, perhaps with a suffix or a percent sign."""
    return NUMBER.fullmatch(word) is not None or (
        word[-1:].upper() in SUFFIXES and not word[:-1].endswith("%") and NUMBER.fullmatch(word[:-1]) is not None
    )


def _split(sample: str) -> Iterator[SampleLine]:
    for line in itertools.islice(_clean(sample).split("\n"), MAX_LINES):
        text = line.rstrip()
        if text.strip() and len(text) <= MAX_LINE_LENGTH:
            yield _sample_line(text)


def _clean(text: str) -> str:
    """Return the text without control characters, colours and halves of surrogate pairs."""
    return CONTROL.sub("", text.encode("utf-8", "replace").decode())


def _sample_line(text: str) -> SampleLine:
    words = split_words(text)
    is_stamp = parse_timestamp(text) is not None
    n_lead = 0
    for n in range(min(MAX_TIME_WORDS, len(words) - 1), 0, -1):
        clock = take_clock(words[:n])
        stamp = parse_timestamp(" ".join(words[:n]))
        if (clock is not None and clock.n_words == n) or (stamp is not None and not stamp.is_clock_only):
            n_lead = n
            break
    return SampleLine(text, tuple(words[n_lead:]), n_lead, is_stamp)


def _find_table(lines: Sequence[SampleLine]) -> SampleTable:
    """Return the table: its rows are the lines with numbers that have the most frequent number of words."""
    found = [line for line in lines if not line.is_stamp and line.n_numbers]
    if not found:
        raise BadRequest("The sample has no line with a number in it; paste some reports as the tool prints them")
    has_leading_time = 2 * sum(1 for line in found if line.n_lead) > len(found)
    if not has_leading_time:
        # An occasional number of ten digits in the first column is not an epoch.
        lines = [SampleLine(line.text, tuple(split_words(line.text)), 0, line.is_stamp) for line in lines]
        found = [line for line in lines if not line.is_stamp and line.n_numbers]
    shapes = Counter(len(line.words) for line in found if bool(line.n_lead) is has_leading_time)
    n_columns = max(shapes, key=lambda n: (shapes[n], n))
    if n_columns > MAX_COLUMNS:
        raise BadRequest(f"A row has {n_columns} words; a table has at most {MAX_COLUMNS} columns")
    found = [line for line in found if len(line.words) == n_columns and bool(line.n_lead) is has_leading_time]
    # A line without rows after it is not a header.
    before = lines[: max(at for at, line in enumerate(lines) if line is found[-1])]
    header = next((line for line in before if not line.is_stamp and not line.n_numbers and _header_words(line, n_columns)), None)
    names = _header_words(header, n_columns) if header is not None else ()
    return SampleTable(
        names=_distinct(names or tuple(f"col{number}" for number in range(1, n_columns + 1))),
        rows=tuple(line.words for line in found),
        header=header.text if header is not None else "",
        is_header_driven=header is not None and _drives(header.text, names, found, has_leading_time=has_leading_time),
        has_leading_time=has_leading_time,
        has_times=has_leading_time or any(line.is_stamp for line in lines),
    )


def _header_words(line: SampleLine, n_columns: int) -> tuple[str, ...]:
    """Return the names of the columns when the line may be their header: with a mark or a name for the time before them.

    Missing: () for any other line.
    """
    words = [word for word in line.words if word != "#"]
    if words and words[0].startswith("#"):
        words[0] = words[0].lstrip("#")
    n_before = len(words) - n_columns
    if n_before < 0 or n_before > 2 or (n_before and words[0].lower() not in {"time", "date", "timestamp"}):
        return ()
    return tuple(words[n_before:])


def _drives(text: str, names: tuple[str, ...], rows: Sequence[SampleLine], *, has_leading_time: bool) -> bool:
    """Return whether the reader `columns` knows the header: by its words as they are, each another one."""
    line = split_header(text)
    if line is None or line.words != names or len(set(names)) < len(names) or line.has_clock is not has_leading_time:
        return False
    return all(take_clock(split_words(row.text)) is not None for row in rows if row.n_lead)


def _is_other_header(line: SampleLine, table: SampleTable, needed: Set[str]) -> bool:
    """Return whether the reader `columns` would take the line as another header: it has the needed columns, and others."""
    found = split_header(line.text)
    is_same = found is not None and (found.words, found.has_clock) == (table.names, table.has_leading_time)
    return found is not None and not is_same and needed <= set(found.words)


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names, with a number after repeated ones."""
    taken: set[str] = set()
    found = []
    for name in names:
        new, number = name, 2
        while new in taken:
            new, number = f"{name}_{number}", number + 1
        taken.add(new)
        found.append(new)
    return tuple(found)


def _is_numeric(words: Sequence[str]) -> bool:
    return all(is_number(word) or word in MISSING for word in words) and any(map(is_number, words))


def _find_instance(request: DraftRequest, table: SampleTable, texts: Sequence[int]) -> int | None:
    """Return the column of the instance: the given one, else the first text column, else the first one."""
    if request.form is Form.SINGLE:
        return None
    wanted = _clean(request.instance_column).strip()
    if wanted in table.names:
        return table.names.index(wanted)
    if wanted.isascii() and wanted.isdecimal() and 1 <= int(wanted[:6]) <= len(table.names):
        return int(wanted) - 1
    if wanted:
        raise BadRequest(f"The sample has no column {shorten(wanted)}; it has {', '.join(table.names)[:500]}")
    if len(table.names) == 1:
        raise BadRequest("A sample of one column has none that says what a row is about; it is a single-line one")
    return texts[0] if texts else 0


def _keys(names: Sequence[str]) -> tuple[str, ...]:
    keys = [slug(name, lead="x_")[:MAX_KEY_LENGTH].strip("_") or "x" for name in names]
    return _distinct(tuple(f"{key}_value" if key in RESERVED_KEYS else key for key in keys))


def _column(table: SampleTable, at: int, key: str, instance_at: int | None) -> StoredColumn:
    words = [row[at] for row in table.rows]
    numbers = [word for word in words if is_number(word)]
    plain = [number.rstrip("%").replace(",", ".") for number in numbers]
    is_percent = "%" in table.names[at] or any(number.endswith("%") for number in numbers)
    has_suffix = any(number[-1].upper() in SUFFIXES for number in plain)
    tails = [number.rstrip(SUFFIXES + SUFFIXES.lower()).partition(".")[2] for number in plain]
    decimals = min(MAX_DECIMALS, max(map(len, tails), default=0))
    is_large = not decimals and not has_suffix and any(abs(float(number)) >= EXACT_LIMIT[Storage.FLOAT8] for number in plain)
    is_counter = not decimals and not has_suffix and not is_percent and _counts_up(table, at, instance_at)
    return StoredColumn(
        SpecDraftColumn(
            key=key,
            column=table.names[at],
            kind=Kind.PERCENT if is_percent else Kind.COUNTER if is_counter else Kind.GAUGE,
            unit="%" if is_percent else "" if table.pairs is None else table.pairs.units[at],
            decimals=decimals,
        ),
        # A column that printed whole numbers so far may print others: float8 holds both, as long as they are not too large.
        storage=Storage.INT8 if is_large and all(INTEGER.fullmatch(number) for number in plain) else Storage.FLOAT8,
        scale=1024 if has_suffix else 0,
    )


def _counts_up(table: SampleTable, at: int, instance_at: int | None) -> bool:
    """Return whether the column rises and never falls, row after row of each instance, in enough rows to be sure."""
    series: dict[str, list[float]] = {}
    for row in table.rows:
        if is_number(row[at]):
            series.setdefault("" if instance_at is None else row[instance_at], []).append(float(row[at].replace(",", ".")))
    steps = [[after - before for before, after in itertools.pairwise(values)] for values in series.values()]
    is_sure = any(len(found) >= COUNTER_ROWS - 1 and sum(step > 0 for step in found) >= COUNTER_RISES for found in steps)
    return is_sure and all(step >= 0 for found in steps for step in found)


def _to_toml(
    request: DraftRequest, table: SampleTable, columns: Sequence[StoredColumn], labels: Sequence[str], instance: str
) -> Iterator[str]:
    tool = " ".join(_clean(request.tool).split())[:100] or request.name
    command = " ".join(_clean(request.command).split())[:1000] or tool
    yield f"# Drafted from {len(table.rows)} rows of a sample. Say what the columns mean (help, unit), which direction is worse."
    if not table.has_times:
        yield "# The sample has no times. Let the program print one before each report, or let the agent do that: docs/add-ons.md."
    yield f"name = {_quoted(request.name)}"
    yield f"tool = {_quoted(tool)}"
    yield 'os = "any"'
    yield f"title = {_quoted(tool)}"
    yield f"commands = [{_quoted(command)}]"
    reader = "patterns" if table.pairs is not None else "columns" if table.is_header_driven else "fixed_columns"
    yield f'reader = "{reader}"'
    yield ""
    yield from _layout(request, table, columns, labels, instance)
    yield ""
    yield "[[stats]]"
    yield f"name = {_quoted(request.name)}"
    yield f"title = {_quoted(tool)}"
    yield f"instance_title = {_quoted(instance)}"
    for column in columns:
        yield from _field(tool, column)
    if table.is_header_driven and table.pairs is None:
        yield from _table(table, columns, labels, instance)
    yield ""
    yield "[[stats.panels]]"
    yield 'key = "first"'
    yield f"title = {_quoted(tool)}"
    yield 'section = "other"'
    # Many instances with many columns each would be unreadable.
    shown = [column.shown.key for column in columns if column.shown.kind == columns[0].shown.kind][
        : 1 if instance else PANEL_FIELDS
    ]
    yield f"fields = {_list(shown)}"
    yield f'instances = "{"top:10" if instance else ""}"'


def _layout(
    request: DraftRequest, table: SampleTable, columns: Sequence[StoredColumn], labels: Sequence[str], instance: str
) -> Iterator[str]:
    if table.pairs is not None:
        yield from _pair_layout(request, table.pairs, columns, instance)
        return
    ignored = [f"^.{{0,{MIN_LENGTH - 1}}}$"]
    if table.is_header_driven:
        yield "[layout]"
        if len(table.header) >= MIN_LENGTH:
            yield f"ignored = {_list(ignored)}"
        return
    yield "[layout]"
    yield f"stat = {_quoted(request.name)}"
    yield f"columns = {_list(table.names)}"
    if table.header:
        yield f"ignored = {_list([_header_pattern(table.header)])}"
    yield f"shortest = {MIN_LENGTH}"
    yield from _row_keys(table, labels, instance)


def _table(table: SampleTable, columns: Sequence[StoredColumn], labels: Sequence[str], instance: str) -> Iterator[str]:
    yield ""
    yield "[[stats.tables]]"
    yield f"header = {_list([*([instance] if instance else []), *(column.shown.column for column in columns)])}"
    yield from _row_keys(table, labels, instance)


def _row_keys(table: SampleTable, labels: Sequence[str], instance: str) -> Iterator[str]:
    missing = sorted({word for row in table.rows for word in row if word in MISSING})
    if instance:
        yield f"instance = {_list([instance])}"
    if labels:
        yield f"labels = {_list(labels)}"
    if missing:
        yield f"missing = {_list(missing)}"
    yield f'time = "{"leading" if table.has_leading_time else "line"}"'


def _pair_layout(request: DraftRequest, pairs: PairTable, columns: Sequence[StoredColumn], instance: str) -> Iterator[str]:
    used = {instance, *(column.shown.column for column in columns)}
    names = {group: name for group, name in zip(pairs.groups, pairs.names, strict=True) if name in used and group != name}
    yield "[layout]"
    yield "[[layout.rows]]"
    yield f"stat = {_quoted(request.name)}"
    yield f"pattern = {_quoted(pairs.pattern_of(used))}"
    if names:
        yield f"names = {{ {', '.join(f'{group} = {_quoted(name)}' for group, name in names.items())} }}"
    if instance:
        yield f"instance = {_quoted('{' + pairs.groups[pairs.names.index(instance)] + '}')}"
    if pairs.has_stamp:
        yield 'clock = "stamp"'


def _header_pattern(header: str) -> str:
    """Return a pattern of the header line with any blanks between words; of a long line, only of its beginning."""
    words = split_words(header)
    if len(words) <= PATTERN_WORDS and len(header) <= MAX_PATTERN_LENGTH:
        return rf"^\s*{BLANKS.join(map(re.escape, words))}\s*$"
    return rf"^\s*{BLANKS.join(re.escape(word[:20]) for word in words[:PATTERN_WORDS])}"


def _field(tool: str, column: StoredColumn) -> Iterator[str]:
    shown = column.shown
    yield ""
    yield "[[stats.fields]]"
    yield f"key = {_quoted(shown.key)}"
    yield f"column = {_quoted(shown.column)}"
    yield 'group = ""'
    yield f"unit = {_quoted(shown.unit)}"
    yield f'kind = "{shown.kind}"'
    yield 'worse = "neither"'
    if shown.decimals:
        yield f"decimals = {shown.decimals}"
    if column.scale:
        yield f"scale = {column.scale}"
    yield f'storage = "{column.storage}"'
    yield f"help = {_quoted(f'{shown.column} of {tool}.')}"
    yield f"source = {_quoted(tool)}"


def _quoted(text: str) -> str:
    """Return the text as a TOML string; JSON's are such, as long as they hold no control characters."""
    return json.dumps(text, ensure_ascii=False)


def _list(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(_quoted, texts))}]"
