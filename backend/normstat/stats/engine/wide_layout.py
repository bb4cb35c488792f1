"""The layout part of a spec for the reader `wide_tables`: tables with a header of one or two lines.

Keys of `[layout]` (all but `tables` optional):
    since_boot   "first" (the first report of a run tells of the time since boot) or "never"
    omit_option  the letter of the option that suppresses the since-boot report
    ignored      regular expressions of lines that say nothing
    caption      regular expression of a line that names what the rows below are about; its group `name` begins their instances
Keys of `[[layout.tables]]`:
    stat         the stat of its rows
    header       columns that must be there; "alloc|used" are alternatives
    upper        words that must be in the line above the header, for a header of two lines
    join         how the two lines make names: "words" (word by word: "new" above "file" is "new file") or "spans" (a word above
                 stands over as many columns as `spans` says, and is their group)
    spans        how many columns a word of the upper line stands over (2 when it is not named here)
    implied      the upper line's words where a header of these columns comes without it
    sides        the columns of one of several things that stand side by side; the upper line names each as its second word of three
    name         "first" or "last": a column of names that has no header
    instance     columns that name what a row is about
    labels       columns of text that are neither
    last_text    true when the last column may hold blanks
    first_text   true when the first column may hold blanks
    optional     columns at the end that not every row has
    clock        the column that holds the time of the row
    tree         true when names are indented below the one that they belong to
    sections     names of a tree's rows without values that parts of it stand under
    missing      words for "no value", besides "-"
    suffix       what is put behind every instance of this table
    counters     true when its values count from boot in every report, so that no report is about something else
    captioned    true when the name that the caption told begins every instance
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.lines import ABSENT
from normstat.stats.pattern import compile_pattern, join_patterns
from normstat.stats.spec import Spec

LAYOUT_KEYS: Final = frozenset({"since_boot", "omit_option", "ignored", "caption", "tables"})
LIST_KEYS: Final = (
    "header", "upper", "implied", "sides", "instance", "labels", "optional", "sections", "missing",
)  # fmt: skip
TABLE_KEYS: Final = frozenset(
    {"stat", "join", "spans", "name", "last_text", "first_text", "clock", "tree", "suffix", "captioned", "counters", *LIST_KEYS}
)
# Over how many columns a word of the upper line stands, where the spec does not say.
USUAL_SPAN: Final = 2


@dataclass(frozen=True, slots=True)
class WideTable:
    """One kind of table; the module's docstring explains the keys."""

    stat: str
    header: tuple[frozenset[str], ...]
    upper: frozenset[str]
    join: str
    spans: Mapping[str, int]
    implied: tuple[str, ...]
    sides: tuple[str, ...]
    name: str
    instance: tuple[str, ...]
    labels: frozenset[str]
    has_last_text: bool
    has_first_text: bool
    optional: frozenset[str]
    clock: str
    is_tree: bool
    sections: frozenset[str]
    missing: frozenset[str]
    suffix: str
    is_captioned: bool
    has_counters: bool

    @property
    def sides_header(self) -> tuple[str, ...]:
        """The header of one of the things that stand side by side: the last words of its columns' names."""
        return tuple(name.rpartition(" ")[2] for name in self.sides)

    def groups(self, upper: tuple[str, ...], n_columns: int) -> list[str] | None:
        """Return the group of each of the columns behind the names. Missing: None when the two lines do not fit together."""
        words = upper or self.implied
        # What stands before the first word that must be there is the end of a prompt.
        begin = next((at for at, word in enumerate(words) if word in self.upper), 0)
        words = words[begin:]
        groups = [word for word in words for _ in range(self.spans.get(word, USUAL_SPAN))]
        return groups if len(groups) == n_columns else None


@dataclass(frozen=True, slots=True)
class WideLayout:
    """How the lines of a tool are told apart; the module's docstring explains the keys."""

    tables: tuple[WideTable, ...]
    is_first_since_boot: bool
    omit_option: str
    ignored: re.Pattern[str] | None
    caption: re.Pattern[str] | None


def build_wide_layout(spec: Spec) -> WideLayout:
    """Return the layout of a spec in typed form.

    Raises: KeyError, ValueError, TypeError or re.error for a layout that makes no sense; the catalogue turns them into SpecError.
    """
    raw = spec.layout
    _refuse_unknown(raw, LAYOUT_KEYS)
    tables = raw["tables"]
    if not isinstance(tables, list) or not tables:
        raise ValueError("tables: at least one is needed")
    ignored = _texts(raw, "ignored")
    caption = raw.get("caption")
    since_boot = str(raw.get("since_boot", "never"))
    if since_boot not in ("first", "never"):
        message = f"since_boot: {since_boot!r} is none of first, never"
        raise ValueError(message)
    return WideLayout(
        tables=tuple(_table(table, {stat.name for stat in spec.stats}) for table in tables),
        is_first_since_boot=since_boot == "first",
        omit_option=str(raw.get("omit_option", "")),
        ignored=join_patterns(spec, ignored),
        caption=compile_pattern(spec, str(caption)) if caption else None,
    )


def _table(raw: object, stats: set[str]) -> WideTable:
    if not isinstance(raw, dict):
        raise TypeError("tables: each must be a table")
    _refuse_unknown(raw, TABLE_KEYS)
    lists = {key: _texts(raw, key) for key in LIST_KEYS}
    join, name, stat = str(raw.get("join", "")), str(raw.get("name", "")), str(raw["stat"])
    if stat not in stats or join not in ("", "words", "spans") or name not in ("", "first", "last"):
        message = f"tables: stat {stat!r}, join {join!r} or name {name!r} is not known"
        raise ValueError(message)
    spans = raw.get("spans", {})
    if not isinstance(spans, dict):
        raise TypeError("tables.spans: a table of numbers is needed")
    return WideTable(
        stat=stat,
        header=tuple(frozenset(item.split("|")) for item in lists["header"]),
        upper=frozenset(lists["upper"]),
        join=join,
        spans={str(word): int(number) for word, number in spans.items()},
        implied=tuple(lists["implied"]),
        sides=tuple(lists["sides"]),
        name=name,
        instance=tuple(lists["instance"]),
        labels=frozenset(lists["labels"]),
        has_last_text=raw.get("last_text") is True,
        has_first_text=raw.get("first_text") is True,
        optional=frozenset(lists["optional"]),
        clock=str(raw.get("clock", "")),
        is_tree=raw.get("tree") is True,
        sections=frozenset(lists["sections"]),
        missing=frozenset({ABSENT, *lists["missing"]}),
        suffix=str(raw.get("suffix", "")),
        is_captioned=raw.get("captioned") is True,
        has_counters=raw.get("counters") is True,
    )


def _refuse_unknown(raw: Mapping[str, object], known: frozenset[str]) -> None:
    for key in raw:
        if key not in known:
            message = f"{key}: is not known"
            raise ValueError(message)


def _texts(raw: Mapping[str, object], key: str) -> list[str]:
    value = raw.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        message = f"{key}: must be a list of texts, not {value!r}"
        raise TypeError(message)
    return [str(item) for item in value]
