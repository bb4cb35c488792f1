"""The layout part of a spec: how the lines of a tool's output are told apart, for the reader `columns`.

Keys of `[layout]` (all but `tables` optional):
    since_boot   "first" (the first report of a run tells of the time since boot), "same_clock" (only when its header bears the
                 same clock as its rows, which is how sysstat prints a call without an interval), "never"
    omit_option  the letter of the option that suppresses the since-boot report
    banner       regular expression of a line that begins a run; its group `date`, if it has one, holds the date
    group_line   regular expression of the line above a header that names groups of columns
    ignored      regular expressions of lines that say nothing
    messages     regular expressions of lines that tell of a change of state; the report behind one is about the time since boot
    blank_ends_table   true when rows after a blank line need a new header
    header_rows  least number of rows after which a header comes back on a new screen; one that comes earlier, or not after as many
                 rows as the time before, begins a new run. Absent when every report has its header
Keys of `[[layout.tables]]`:
    stat         the stat of its rows, "" for a table that is known and not read
    header       columns that must be there; "Device|Device:" are alternatives
    instance     columns that name what a row is about
    labels       columns of text that are neither
    skipped      headers that stand for nothing ("--", an unused slot)
    time         "none", "leading" (clock, 12 hour clock or epoch before the columns), "trailing" (date and clock behind them; the
                 zone is their header or a third word), "line" (a line of its own before the report)
    missing      words that the tool prints for "no value"
    groups       [["kthr", "r"], ...]: a group and the column that begins it ("re|si": either); "<sr" begins behind column sr
    last_text    true when the last column may contain blanks, if it is a column of text
    titles       words of the header line that stand before the columns and have nothing below them ("avg-cpu:")
    lead_instance   the instance that every row begins with although the header has no word for it
    optional     columns side by side that only some rows have: those lack all of them
    counters     true when the values count from boot in every report, so that no report is about something else
    short_rows   true when columns are parted by tabs, and a row may end before its header does
    text_from    the column from which on all words of a row are one text, named by the header's words
    wrapped      true when a long name stands on a line of its own, and its values on the next
    joined       columns whose names hold a blank: "read sectors"
    titled       true when the header begins with the instance of the rows below
    first_text   true when the first column, which names the row, may contain blanks between words that are no numbers
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from normstat.stats.pattern import join_patterns
from normstat.stats.spec import Spec


class TimeStyle(StrEnum):
    """Where the time of a row stands."""

    NONE = "none"
    LEADING = "leading"
    TRAILING = "trailing"
    LINE = "line"


class SinceBoot(StrEnum):
    """Which reports tell of the time since boot instead of an interval."""

    FIRST = "first"
    SAME_CLOCK = "same_clock"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class GroupMark:
    """A group of columns begins at a column that is one of `first`, or behind it when `is_behind`."""

    group: str
    first: frozenset[str]
    is_behind: bool


@dataclass(frozen=True, slots=True)
class TableLayout:
    """One kind of table in a tool's output; the module's docstring explains the keys."""

    stat: str
    header: tuple[frozenset[str], ...]
    instance: frozenset[str]
    labels: frozenset[str]
    skipped: frozenset[str]
    time: TimeStyle
    missing: frozenset[str]
    groups: tuple[GroupMark, ...]
    has_last_text: bool
    titles: frozenset[str]
    lead_instance: str
    optional: frozenset[str]
    has_counters: bool
    has_short_rows: bool = False
    text_from: str = ""
    is_wrapped: bool = False
    joined: tuple[str, ...] = ()
    is_titled: bool = False
    has_first_text: bool = False
    # For the headers that no other table knows.
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """How the lines of a tool are told apart; the module's docstring explains the keys."""

    tables: tuple[TableLayout, ...]
    since_boot: SinceBoot
    omit_option: str
    banner: re.Pattern[str] | None
    group_line: re.Pattern[str] | None
    ignored: re.Pattern[str] | None
    messages: re.Pattern[str] | None
    has_blank_end: bool
    header_rows: int | None
    has_sections: bool = False


LAYOUT_KEYS: Final = frozenset(
    {
        "since_boot",
        "omit_option",
        "banner",
        "group_line",
        "ignored",
        "messages",
        "blank_ends_table",
        "header_rows",
        "sections",
        "unknown",
        "tables",
    }
)
TABLE_KEYS: Final = frozenset(
    {
        "stat",
        "header",
        "instance",
        "labels",
        "skipped",
        "time",
        "missing",
        "groups",
        "last_text",
        "titles",
        "lead_instance",
        "optional",
        "counters",
        "short_rows",
        "text_from",
        "wrapped",
        "joined",
        "titled",
        "first_text",
    }
)


def build_layout(spec: Spec) -> Layout:
    """Return the layout of a spec in typed form.

    Raises: ValueError, TypeError or re.error for a layout that makes no sense; the catalogue turns them into SpecError.
    """
    raw = spec.layout
    _refuse_unknown(raw, LAYOUT_KEYS)
    tables = raw.get("tables")
    if not isinstance(tables, list) or not tables:
        raise ValueError("tables: at least one is needed")
    names = {stat.name for stat in spec.stats}
    header_rows = raw.get("header_rows")
    if header_rows is not None and not isinstance(header_rows, int):
        raise TypeError("header_rows: a number is needed")
    unknown = _text(raw, "unknown", "")
    open_tables = [replace(_table({"stat": unknown, "time": "leading"}, names), is_open=True)] if unknown else []
    return Layout(
        tables=(*(_table(table, names) for table in tables), *open_tables),
        since_boot=SinceBoot(_text(raw, "since_boot", "never")),
        omit_option=_text(raw, "omit_option", ""),
        banner=_pattern(spec, [_text(raw, "banner", "")]),
        group_line=_pattern(spec, [_text(raw, "group_line", "")]),
        ignored=_pattern(spec, _texts(raw, "ignored")),
        messages=_pattern(spec, _texts(raw, "messages")),
        has_blank_end=raw.get("blank_ends_table") is True,
        header_rows=header_rows,
        has_sections=raw.get("sections") is True,
    )


def _table(raw: object, names: set[str]) -> TableLayout:
    if not isinstance(raw, dict):
        raise TypeError("tables: each must be a table")
    _refuse_unknown(raw, TABLE_KEYS)
    stat = _text(raw, "stat", "")
    if stat and stat not in names:
        message = f"tables.stat: {stat!r} is no stat of this spec"
        raise ValueError(message)
    groups = raw.get("groups", [])
    if not isinstance(groups, list):
        raise TypeError("tables.groups: a list of pairs is needed")
    return TableLayout(
        stat=stat,
        header=tuple(frozenset(item.split("|")) for item in _texts(raw, "header")),
        instance=frozenset(_texts(raw, "instance")),
        labels=frozenset(_texts(raw, "labels")),
        skipped=frozenset(_texts(raw, "skipped")),
        time=TimeStyle(_text(raw, "time", "none")),
        missing=frozenset(_texts(raw, "missing")),
        groups=tuple(
            GroupMark(str(name), frozenset(str(first).removeprefix("<").split("|")), str(first).startswith("<"))
            for name, first in groups
        ),
        has_last_text=raw.get("last_text") is True,
        titles=frozenset(_texts(raw, "titles")),
        lead_instance=_text(raw, "lead_instance", ""),
        optional=frozenset(_texts(raw, "optional")),
        has_counters=raw.get("counters") is True,
        has_short_rows=raw.get("short_rows") is True,
        text_from=_text(raw, "text_from", ""),
        is_wrapped=raw.get("wrapped") is True,
        joined=tuple(_texts(raw, "joined")),
        is_titled=raw.get("titled") is True,
        has_first_text=raw.get("first_text") is True,
    )


def _refuse_unknown(raw: Mapping[str, object], known: frozenset[str]) -> None:
    for key in raw:
        if key not in known:
            message = f"{key}: is not known"
            raise ValueError(message)


def _text(raw: Mapping[str, object], key: str, default: str) -> str:
    value = raw.get(key, default)
    if not isinstance(value, str):
        message = f"{key}: must be text, not {value!r}"
        raise TypeError(message)
    return value


def _texts(raw: Mapping[str, object], key: str) -> list[str]:
    value = raw.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        message = f"{key}: must be a list of texts, not {value!r}"
        raise TypeError(message)
    return [str(item) for item in value]


def _pattern(spec: Spec, patterns: list[str]) -> re.Pattern[str] | None:
    return join_patterns(spec, [pattern for pattern in patterns if pattern])
