"""Specs: what a tool prints and what each column means, as data.

A spec is one TOML file in specs/: one tool in one form of call on one system. A spec yields one or more stats; a stat is one kind
of sample (one wide table in the store). `iostat -x` prints devices and CPU shares, so its spec yields two stats.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from normstat.runtime.field_docs import Documented
from normstat.stats.pattern import compile_pattern


class Kind(StrEnum):
    """The kind of a number, which decides how it may be summed, drawn and compared."""

    GAUGE = "gauge"
    RATE = "rate"
    COUNTER = "counter"
    PERCENT = "percent"
    COUNT = "count"
    TIME = "time"


class Semantics(StrEnum):
    """The span of time that a number covers, which its unit alone does not show.

    counter  everything since boot, or since the process or the run began: only differences between reports mean something
    instant  a state, or a running average that the tool keeps itself, as it was at the report
    rate     what happened in the report's interval: per second, as a count, a share or a mean
    """

    COUNTER = "counter"
    INSTANT = "instant"
    RATE = "rate"


class Worse(StrEnum):
    """The direction in which a field gets worse."""

    HIGHER = "higher"
    LOWER = "lower"
    NEITHER = "neither"


class Shape(StrEnum):
    """The shape of a stat's samples.

    table      rows with named columns
    keys       a counted key: the instance is the key as printed (`@process[rm]`, "1109 svc.startd")
    stacks     a counted stack: the instance is its frames, root first, joined by ";"
    histogram  a bucket of a distribution: the instance is `KEY{LABEL}`; fields count, low and high (see stats/engine/histogram.py)
    """

    TABLE = "table"
    KEYS = "keys"
    STACKS = "stacks"
    HISTOGRAM = "histogram"


class Storage(StrEnum):
    """How the field is stored: exact for what the tool prints.

    int4    whole numbers of at most 31 bits
    int8    whole numbers of at most 63 bits
    dec4    decimals, as the whole number of four bytes that they are without their point: 12.34 is 1234
    float4  decimals, where seven digits are enough
    float8  decimals, and whole numbers of a column that sometimes prints others
    """

    INT4 = "int4"
    INT8 = "int8"
    DEC4 = "dec4"
    FLOAT4 = "float4"
    FLOAT8 = "float8"

    # Whether its values are whole numbers, which readers keep as int64.
    is_whole: bool

    # Both are asked for every column of every block: Enum's own hash and a property take ten times as long.
    __hash__ = str.__hash__

    def __init__(self, name: str) -> None:
        self.is_whole = name in {"int4", "int8"}


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a stat.

    `key` is the name in SQL, JSON, CSV and URLs; `column` the header as the tool prints it; `printed_key` the name in the output of
    `normstat parse`: the printed column, with its group or number only where the tool prints that column twice.
    `decimals` is the number of digits after the point that the tool prints, 0 for integers.
    """

    key: str
    column: str
    printed_key: str
    group: str
    unit: str
    kind: Kind
    worse: Worse
    decimals: int
    storage: Storage
    help: str
    source: str
    is_documented: bool = True
    # Other headers that the same number had in other releases; a block's fields carry the header that was really there.
    aliases: tuple[str, ...] = ()
    # The factor of a suffix: "1.5K" is 1.5 times this (1024 or 1000); 0: the tool prints no suffixes here.
    scale: int = 0
    # How a duration is printed: "h:m:s" (0:04:11), "m:s" (12:34.56) or "unit" (64us, 2ms; a plain number is nanoseconds), read as
    # seconds; "": as a plain number.
    clock: str = ""
    # The keys whose product this is, for a number that the tool does not print (count x time); the reader works it out.
    derived: tuple[str, ...] = ()
    semantics: Semantics = Semantics.INSTANT
    # The types that the field's column had before it was widened, oldest first: older rows still hold theirs in those.
    earlier: tuple[Storage, ...] = ()


@dataclass(frozen=True, slots=True)
class Family:
    """Columns whose names only the host knows, such as the disks of Solaris vmstat: what they have in common.

    `pattern` is a regular expression for the whole header text; `template.key` is the beginning of every key (`disk_`).
    """

    pattern: str
    template: Field
    is_user_made: bool = False

    def matches(self, word: str) -> bool:
        """Return whether a header is one of the family's."""
        return compile_pattern(self, self.pattern).fullmatch(word) is not None


Section = Literal["cpu", "memory", "disk", "network", "process", "lock", "trace", "other"]


@dataclass(frozen=True, slots=True)
class PanelInfo(Documented):
    """A graph that the host page shows by default."""

    key: str
    title: str
    section: Section
    fields: tuple[str, ...]
    instances: str
    """Empty (one-row stats), all, top:N (the N highest by the mean of the first field, lowest where less is worse) or only:NAME."""

    is_stacked: bool


@dataclass(frozen=True, slots=True, repr=False)
class Stat:
    """One kind of sample: its name is the name of its table, `instance_title` says what a row is about ("" for one-row stats)."""

    name: str
    title: str
    instance_title: str
    fields: tuple[Field, ...]
    panels: tuple[PanelInfo, ...]
    families: tuple[Family, ...] = ()
    shape: Shape = Shape.TABLE
    # The stat whose rows these are the sums of, by command: comparisons take these instead.
    summary_of: str = ""

    def __repr__(self) -> str:
        return f"<Stat {self.name}>"


@dataclass(frozen=True)
class Layout:
    """The description of the tool's output for the reader. Each reader derives its own model: see stats/layout.py."""

    def validate(self, stats: Sequence[Stat]) -> None:
        """Check what the types of the fields do not say.

        Raises: ValueError, its message beginning with the key
        """


@dataclass(frozen=True, slots=True, repr=False)
class Spec:
    """A tool in one form of call on one system, and the stats it yields.

    `layout` is the reader's model of `[layout]`. `version` grows whenever the same bytes would give other samples. `marks` are
    regular expressions of lines (their whole text) that show which tool printed a file, `refuses` of lines that this spec's tool
    never prints; `is_fallback` specs are only guessed where no other fits. All three serve guess_spec alone. `is_user_made`: its
    patterns are matched in linear time, see stats/pattern.py. `translations` names the
    file of stats/translations/ with what the tool prints in other languages ("": none).
    """

    name: str
    tool: str
    os: str
    title: str
    version: int
    commands: tuple[str, ...]
    reader: str
    layout: Layout
    stats: tuple[Stat, ...]
    marks: tuple[str, ...] = ()
    refuses: tuple[str, ...] = ()
    is_fallback: bool = False
    is_user_made: bool = False
    translations: str = ""

    def __repr__(self) -> str:
        # All of it is thousands of characters: what failed with it would be lost between them.
        return f"<Spec {self.name} {self.version}>"
