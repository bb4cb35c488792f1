"""Parse a header line into the roles of its columns.

    procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----
     r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC

Columns are known by their text. Where a tool prints a text twice, the group distinguishes them, and a group begins at a column
that the layout names: the group line of Solaris vmstat cannot be used for that, because its columns drift when numbers grow wide.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from normstat.stats.engine.column_layout import ColumnLayout, ColumnTable, TimeStyle
from normstat.stats.engine.times.timestamps import ClockWords, split_words, take_clock
from normstat.stats.spec import Field, Kind, Spec, Stat, Storage, Worse

TIMESTAMP_GROUP: Final = "timestamp"
# A column's name as sysstat makes them, and one that names things (CPU, IFACE) instead of counting them.
COLUMN_WORD: Final = re.compile(r"%?[A-Za-z][\w%/.+-]*", re.ASCII)
NAMING_WORD: Final = re.compile(r"[A-Z][A-Z0-9]+")
LIKE_CLOCK: Final = re.compile(r"\d{1,2}[^\d\s]\d\d[^\d\s]\d\d", re.ASCII)
TIME_MARK: Final = re.compile(r"\s*#[ \t]*Time[ \t]")
# A line with more columns than this is not the header of a stat tool.
MAX_COLUMNS: Final = 4096
HEADER_LIMIT: Final = 65_536
NOTHING_RENAMED: Final[Mapping[str, str]] = {}


class ColumnRole(StrEnum):
    """The role of a column for the reader."""

    VALUE = "value"
    INSTANCE = "instance"
    LABEL = "label"


@dataclass(frozen=True, slots=True)
class Header:
    """A header that was understood: the roles of the row's words after a leading and before a trailing time.

    `words` are the header's texts after a leading time, `roles` what they are; `fields` are those of the value
    columns, in their order, where `decimals` of an undocumented field is only known from its first row.
    """

    table: ColumnTable
    stat: Stat | None
    words: tuple[str, ...]
    roles: tuple[ColumnRole, ...]
    instance_at: tuple[int, ...]
    value_at: tuple[int, ...]
    fields: tuple[Field, ...]
    zone_name: str
    has_trailing_time: bool
    has_clock: bool
    # The last word of a row is its clock.
    has_clock_after: bool
    has_last_text: bool
    # The instance of all rows, where the header begins with it.
    title: str
    # The first of the columns that only some rows have, and how many those are.
    optional_at: int
    n_optional: int


@dataclass(frozen=True, slots=True)
class HeaderLine:
    """A line that may be a header: its words without the time before them, and that time.

    `has_clock`: rows begin with a time, because the header does (mpstat) or says "# Time" (pidstat -h).
    """

    words: tuple[str, ...]
    clock: ClockWords | None
    has_clock: bool


def split_header(text: str) -> HeaderLine | None:
    """Return the parts of a line that may be a header. Missing: None for a line that has too few or too many words."""
    if len(text) > HEADER_LIMIT:
        return None
    words = split_words(text)
    if not 1 < len(words) <= MAX_COLUMNS:
        return None
    clock = take_clock(words)
    is_marked = clock is None and TIME_MARK.match(text) is not None
    if clock is not None:
        words = words[clock.n_words :]
    elif is_marked:
        words = words[1 if words[0] != "#" else 2 :]
    return HeaderLine(tuple(words), clock, clock is not None or is_marked)


def find_header(
    spec: Spec, layout: ColumnLayout, line: HeaderLine, group_line: str = "", printed: Mapping[str, str] = NOTHING_RENAMED
) -> Header | None:
    """Return the header of the line, by the first table of the layout whose required columns it has; `printed` are the columns
    that the tool prints otherwise in another language.

    Missing: None when the line is no header of this spec.
    """
    present = set(line.words)
    if not line.has_clock and (layout.tables[-1].is_open or LIKE_CLOCK.match(line.words[0])):
        # A clock in an unknown form would be mistaken for columns.
        return None
    for table in layout.tables:
        if table.is_open and not _may_be_header(line):
            continue
        # One word alone is too little without the clock that the table's rows begin with.
        has_times = table.time is TimeStyle.LEADING
        fits_clock = line.has_clock or len(table.header) > 1 if has_times else not line.has_clock
        if fits_clock and all(needed & present for needed in table.header):
            header = _header(spec, table, line, group_line, printed)
            return header if header is None or table.is_open or _is_whole(header) else None
    return None


def _is_whole(header: Header) -> bool:
    """Return whether the header begins with a column that the tool is known for.

    What another program put before a line would be columns of its own, or be glued to the column of the instances, so that the rows
    of all would be one.
    """
    first = header.value_at[:1] == (0,) and header.roles[0] is ColumnRole.VALUE
    return not first or header.fields[0].is_documented or header.stat is None


def _may_be_header(line: HeaderLine) -> bool:
    """Return whether the line looks like a header although no table knows it: after its clock are words of which none is a
    number.
    """
    return all(COLUMN_WORD.fullmatch(word) for word in line.words)


def _header(spec: Spec, table: ColumnTable, line: HeaderLine, group_line: str, renamed: Mapping[str, str]) -> Header | None:
    zone_name = ""
    words = list(line.words)
    last_group = group_line.rstrip().rpartition(" ")[2]
    has_trailing_time = table.time is TimeStyle.TRAILING and TIMESTAMP_GROUP in last_group
    stat = next((stat for stat in spec.stats if stat.name == table.stat), None)
    if has_trailing_time and not _is_documented(stat, words[-1]):
        # procps 3.2 has no word for the zone in its header, but one in every row.
        zone_name = words[-1]
        words = words[:-1]
    words = _join([word for word in words if word not in table.titles], table)
    if not words:
        # Titles alone, or the word for a zone.
        return None
    has_clock_after = words[-1] in table.clock_after and len(words) > 1
    words = words[:-1] if has_clock_after else words
    title = words.pop(0) if table.is_titled and len(words) > 1 else ""
    if table.lead_instance:
        words.insert(0, table.lead_instance)
    groups = _groups(table, words)
    roles = []
    value_at = []
    instance_at = []
    for number, word in enumerate(words):
        is_naming = table.is_open and NAMING_WORD.fullmatch(word) is not None
        if word in table.instance or is_naming or (number == 0 and table.lead_instance):
            instance_at.append(number)
        if word in table.labels or word in table.skipped:
            roles.append(ColumnRole.LABEL)
        elif instance_at[-1:] == [number] and not _is_documented(stat, word):
            roles.append(ColumnRole.INSTANCE)
        else:
            roles.append(ColumnRole.VALUE)
            value_at.append(number)
    fields = fields_of(stat, [(groups[at], words[at]) for at in value_at], by_group=bool(table.groups), printed=renamed)
    optional_at, n_optional = _optional(table, words)
    return Header(
        table=table,
        stat=stat,
        words=tuple(words),
        roles=tuple(roles),
        instance_at=tuple(instance_at),
        value_at=tuple(value_at),
        fields=fields,
        zone_name=zone_name,
        has_trailing_time=has_trailing_time,
        has_clock=line.has_clock,
        has_clock_after=has_clock_after,
        has_last_text=table.has_last_text and roles[-1] is not ColumnRole.VALUE,
        title=title,
        optional_at=optional_at,
        n_optional=n_optional,
    )


def _join(words: list[str], table: ColumnTable) -> list[str]:
    """Return the header's words, those that are one column's name together."""
    if table.text_from in words:
        at = words.index(table.text_from)
        words = [*words[:at], " ".join(words[at:])]
    for name in table.joined:
        parts = name.split()
        for at in range(len(words) - len(parts) + 1):
            if words[at : at + len(parts)] == parts:
                words = [*words[:at], name, *words[at + len(parts) :]]
                break
    return words


def _optional(table: ColumnTable, words: list[str]) -> tuple[int, int]:
    """Return where the columns begin that only some rows have, and how many they are: those at the end, else those side by side."""
    number = 0
    while number < len(words) and words[-1 - number] in table.optional:
        number += 1
    if number:
        return (len(words) - number, number) if number < len(words) else (0, 0)
    places = [number for number, word in enumerate(words) if word in table.optional]
    return (places[0], len(places)) if places and places[-1] - places[0] < len(places) else (0, 0)


def _is_documented(stat: Stat | None, word: str) -> bool:
    return stat is not None and any(word == field.column or word in field.aliases for field in stat.fields)


def _groups(table: ColumnTable, words: Iterable[str]) -> list[str]:
    """Return the group of each column: marks are passed in their order, each once."""
    found = []
    group = ""
    marks = list(table.groups)
    is_next_behind = False
    for word in words:
        if is_next_behind:
            group = marks.pop(0).group
            is_next_behind = False
        if marks and not marks[0].is_after and word in marks[0].first:
            group = marks.pop(0).group
        found.append(group)
        is_next_behind = bool(marks) and marks[0].is_after and word in marks[0].first
    return found


def fields_of(
    stat: Stat | None, columns: Sequence[tuple[str, str]], *, by_group: bool, printed: Mapping[str, str] = NOTHING_RENAMED
) -> tuple[Field, ...]:
    """Return one field for each column: documented, of a family, or undocumented; keys are made unique by numbers.

    `printed` are the columns that the tool prints otherwise in another language.
    """
    if stat is None:
        return ()
    times = Counter(columns)
    numbers: Counter[tuple[str, str]] = Counter()
    fields: list[Field] = []
    taken: set[str] = set()
    taken_names: set[str] = set()
    for column in columns:
        field = _field(stat, *column, by_group=by_group)
        if column[1] in printed:
            field = replace(field, printed_key=printed[column[1]])
        if times[column] > 1:
            joint = "_" if field.column[-1:].isdigit() else ""
            suffix = f"{joint}{numbers[column]}"
            field = replace(field, key=field.key + suffix, printed_key=field.printed_key + suffix)
            numbers[column] += 1
        field = replace(field, key=_free(field.key, taken), printed_key=_free(field.printed_key, taken_names))
        taken.add(field.key)
        taken_names.add(field.printed_key)
        fields.append(field)
    return tuple(fields)


def _free(name: str, taken: set[str]) -> str:
    if name not in taken:
        return name
    number = 2
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"


def _field(stat: Stat, group: str, word: str, *, by_group: bool) -> Field:
    for field in stat.fields:
        if (word == field.column or word in field.aliases) and (not by_group or group == field.group):
            # The suffix that distinguishes this column from another of the same name does not apply to its other names.
            return field if word == field.column else replace(field, column=word, printed_key=word)
    for family in stat.families:
        if (not by_group or group == family.template.group) and family.matches(word):
            return replace(family.template, key=family.template.key + slug(word), column=word, printed_key=word)
    return Field(
        key=slug(f"{group}_{word}" if group else word, lead="x_"),
        column=word,
        printed_key=word,
        group=group,
        unit="",
        kind=Kind.GAUGE,
        worse=Worse.NEITHER,
        decimals=0,
        storage=Storage.FLOAT8,
        help="This column is not in the tool's description that normstat was written with.",
        source="undocumented",
        is_documented=False,
    )


SIGNS: Final = {"/": "_per_", "#": "n_", "+": "_plus_"}


def slug(text: str, lead: str = "") -> str:
    """Return the text as a key: lower case [a-z0-9_]; `lead` is put before what does not begin with a letter.

    >>> slug("%usr"), slug("r/s"), slug("c0t0d0"), slug("3", "x_")
    ('usr_pct', 'r_per_s', 'c0t0d0', 'x_3')
    """
    if "%" in text:
        text = f"{text.replace('%', '')}_pct"
    for sign, words in SIGNS.items():
        text = text.replace(sign, words)
    key = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_") or "column"
    return key[:50] if key[0].isalpha() or not lead else (lead + key)[:50]
