"""The layout part of a spec for the reader `columns`: how to distinguish the lines of a tool's output.

Keys of `[layout]` (all but `tables` optional):
    since_boot   "first" (the first report of a run covers the time since boot), "same_clock" (only when its header has the
                 same clock as its rows, which is how sysstat prints a call without an interval), "never"
    omit_option  the letter of the option that suppresses the since-boot report
    banner       regular expression of a line that begins a run; its group `date`, if it has one, holds the date
    group_line   regular expression of the line above a header that names groups of columns
    ignored      regular expressions of lines without data
    messages     regular expressions of lines that announce a change of state; the report after one covers the time since boot
    blank_ends_table   true when rows after a blank line need a new header
    commas       true when an option has the tool print commas between cells instead of blanks
    header_rows  minimum number of rows before a header is repeated on a new screen; one that comes earlier, or not after as many
                 rows as the time before, begins a new run. Absent when every report has its header
Keys of `[[stats.tables]]` or, with `stat`, `[[layout.tables]]`:
    stat         the stat of its rows, "" for a known table that is not read
    header       required columns; "Device|Device:" are alternatives
    instance     columns that name what a row is about
    labels       columns of text that are neither
    skipped      headers without a column ("--", an unused slot)
    time         "none", "leading" (clock, 12 hour clock or epoch before the columns), "trailing" (date and clock after them; the
                 zone is their header or a third word), "line" (a separate line before the report)
    clock_after  names of the last column where it is the clock of the row ("time"); rows under other headers have none
    missing      words that the tool prints for "no value", which may be numbers (-1.00)
    groups       [["kthr", "r"], ...]: a group and the column that begins it ("re|si": either); "<sr" begins after column sr
    last_text    true when the last column may contain blanks, if it is a column of text
    titles       words of the header line before the columns, with nothing below them ("avg-cpu:")
    lead_instance   the instance that every row begins with although the header has no word for it
    optional     columns side by side that only some rows have: those lack all of them
    counters     true when the values count from boot in every report, so that the first report is no exception
    short_rows   true when columns are parted by tabs, and a row may end before its header does
    text_from    the column from which on all words of a row are one text, named by the header's words
    wrapped      true when a long name is on a separate line, with its values on the next
    joined       columns whose names hold a blank: "read sectors"
    titled       true when the header begins with the instance of the rows below
    first_text   true when the first column, which names the row, may contain blanks between words that are no numbers
"""

import functools
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from normstat.stats.layout import NON_EMPTY, Alternatives, AnyPattern, Convert, OptionalStatName, not_a_key, toml_key
from normstat.stats.spec import Layout


class TimeStyle(StrEnum):
    """The position of a row's time."""

    NONE = "none"
    LEADING = "leading"
    TRAILING = "trailing"
    LINE = "line"


class SinceBoot(StrEnum):
    """Which reports cover the time since boot instead of an interval."""

    FIRST = "first"
    SAME_CLOCK = "same_clock"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class GroupMark:
    """A group of columns begins at a column that is one of `first`, or after it when `is_after`."""

    group: str
    first: frozenset[str]
    is_after: bool


def parse_group(pair: tuple[str, ...]) -> GroupMark:
    """Return the mark that a pair of the key `groups` is.

    >>> parse_group(("io", "bi|in")).is_after, parse_group(("cpu", "<sr")).first
    (False, frozenset({'sr'}))
    """
    if len(pair) != 2:
        raise ValueError("a group and the column that begins it are needed")
    name, first = pair
    return GroupMark(name, frozenset(first.removeprefix("<").split("|")), first.startswith("<"))


@dataclass(frozen=True)
class ColumnTable:
    """One kind of table in a tool's output; the module's docstring explains the keys."""

    stat: OptionalStatName = ""
    header: tuple[Alternatives, ...] = ()
    instance: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()
    skipped: frozenset[str] = frozenset()
    time: TimeStyle = TimeStyle.NONE
    missing: frozenset[str] = frozenset()
    groups: tuple[Annotated[GroupMark, Convert(tuple[str, ...], parse_group)], ...] = ()
    has_last_text: bool = toml_key("last_text", default=False)
    titles: frozenset[str] = frozenset()
    lead_instance: str = ""
    optional: frozenset[str] = frozenset()
    has_counters: bool = toml_key("counters", default=False)
    has_short_rows: bool = toml_key("short_rows", default=False)
    text_from: str = ""
    is_wrapped: bool = toml_key("wrapped", default=False)
    joined: tuple[str, ...] = ()
    is_titled: bool = toml_key("titled", default=False)
    has_first_text: bool = toml_key("first_text", default=False)
    clock_after: frozenset[str] = frozenset()
    # For the headers that no other table knows.
    is_open: bool = not_a_key(default=False)


@dataclass(frozen=True)
class ColumnLayout(Layout):
    """How to distinguish the lines of a tool; the module's docstring explains the keys."""

    known_tables: Annotated[tuple[ColumnTable, ...], NON_EMPTY] = toml_key("tables")
    unknown: OptionalStatName = ""
    since_boot: SinceBoot = SinceBoot.NEVER
    omit_option: str = ""
    banner: re.Pattern[str] | None = None
    group_line: re.Pattern[str] | None = None
    ignored: AnyPattern = None
    messages: AnyPattern = None
    has_blank_end: bool = toml_key("blank_ends_table", default=False)
    header_rows: int | None = None
    has_sections: bool = toml_key("sections", default=False)
    has_commas: bool = toml_key("commas", default=False)

    @functools.cached_property
    def tables(self) -> tuple[ColumnTable, ...]:
        """The tables, after them the one for unknown headers, if the layout has a stat for it."""
        if not self.unknown:
            return self.known_tables
        return (*self.known_tables, ColumnTable(stat=self.unknown, time=TimeStyle.LEADING, is_open=True))
