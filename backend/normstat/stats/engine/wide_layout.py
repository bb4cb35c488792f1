"""The layout part of a spec for the reader `wide_tables`: tables with a header of one or two lines.

Keys of `[layout]` (all but `tables` optional):
    since_boot   "first" (the first report of a run covers the time since boot) or "never"
    omit_option  the letter of the option that suppresses the since-boot report
    ignored      regular expressions of lines without data
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
    suffix       what is put after every instance of this table
    counters     true when its values count from boot in every report, so that no report is about something else
    captioned    true when the caption's name begins every instance
    unheaded     the header of rows that come without any, their words separated by tabs; the first is the name
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from normstat.stats.engine.lines import ABSENT
from normstat.stats.layout import NON_EMPTY, Alternatives, AnyPattern, Convert, StatName, toml_key
from normstat.stats.spec import Layout

# Default number of columns below a word of the upper line.
USUAL_SPAN: Final = 2


@dataclass(frozen=True)
class WideTable:
    """One kind of table; the module's docstring explains the keys."""

    stat: StatName
    header: tuple[Alternatives, ...] = ()
    upper: frozenset[str] = frozenset()
    join: Literal["", "words", "spans"] = ""
    spans: Mapping[str, int] = field(default_factory=dict)
    implied: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()
    name: Literal["", "first", "last"] = ""
    instance: tuple[str, ...] = ()
    labels: frozenset[str] = frozenset()
    has_last_text: bool = toml_key("last_text", default=False)
    has_first_text: bool = toml_key("first_text", default=False)
    optional: frozenset[str] = frozenset()
    clock: str = ""
    is_tree: bool = toml_key("tree", default=False)
    sections: frozenset[str] = frozenset()
    missing: Annotated[frozenset[str], Convert(frozenset[str], lambda words: words | {ABSENT})] = frozenset({ABSENT})
    suffix: str = ""
    is_captioned: bool = toml_key("captioned", default=False)
    has_counters: bool = toml_key("counters", default=False)
    unheaded: tuple[str, ...] = ()

    @property
    def sides_header(self) -> tuple[str, ...]:
        """The header of one of the things that stand side by side: the last words of its columns' names."""
        return tuple(name.rpartition(" ")[2] for name in self.sides)

    def groups(self, upper: tuple[str, ...], n_columns: int) -> list[str] | None:
        """Return the group of each of the columns after the names. Missing: None when the two lines do not fit together."""
        words = upper or self.implied
        # Text before the first required word is the end of a prompt.
        begin = next((at for at, word in enumerate(words) if word in self.upper), 0)
        words = words[begin:]
        groups = [word for word in words for _ in range(self.spans.get(word, USUAL_SPAN))]
        return groups if len(groups) == n_columns else None


@dataclass(frozen=True)
class WideLayout(Layout):
    """How to distinguish the lines of a tool; the module's docstring explains the keys."""

    tables: Annotated[tuple[WideTable, ...], NON_EMPTY]
    since_boot: Literal["first", "never"] = "never"
    omit_option: str = ""
    ignored: AnyPattern = None
    caption: re.Pattern[str] | None = None
