"""Parse the `[layout]` of a spec into the typed model that its reader declares.

A reader's `LAYOUT` is a frozen dataclass derived from `Layout`; its fields are the keys of the TOML table. `parse_layout` fills it
once, when the spec is loaded, and names the key of every mistake. The type of a field says what its key may hold:

    str, int, bool             a text, a whole number, true or false
    a StrEnum, Literal["a"]    one of its texts
    Stat                       the name of a stat of the spec
    re.Pattern[str]            a regular expression, or a list of them where the field is marked JOINED
    tuple, frozenset           a list
    Mapping[str, X]            a table
    a dataclass                a table with these keys
    X | None                   X; None where the key is absent or its text is empty

A field without a default is required. `Annotated[X, ...]` adds a rule: `Convert`, `Shaped`, `JOINED`, `ASCII`.

>>> @dataclass(frozen=True)
... class Example(Layout):
...     columns: tuple[str, ...]
...     has_last_text: bool = toml_key("last_text", default=False)
>>> parse_layout(Example, {"columns": ["x"], "last_text": True}, stats=())
Example(columns=('x',), has_last_text=True)
>>> parse_layout(Example, {"columns": "x"}, stats=())
Traceback (most recent call last):
normstat.stats.layout.LayoutError: columns: must be a list, not 'x'
"""

import dataclasses
import functools
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Final, Literal, TypeVar, Union

from normstat.stats.pattern import join_patterns
from normstat.stats.spec import Layout, Shape, Stat

L_ = TypeVar("L_")
TOML_KEY: Final = "toml_key"
MAX_QUOTED: Final = 80


class LayoutError(ValueError):
    """A layout that does not fit its model; the message begins with the key."""


@dataclass(frozen=True, slots=True)
class Convert:
    """Make the field's value from one of another type: the key is parsed as `source`, then `convert` is called with it.

    A ValueError of `convert` becomes the complaint about the key.
    """

    source: Any
    convert: Callable[[Any], Any]


@dataclass(frozen=True)
class Shaped:
    """Allow only stats of these shapes."""

    shapes: tuple[Shape, ...]

    def __init__(self, *shapes: Shape) -> None:
        object.__setattr__(self, "shapes", shapes)


class Rule(Enum):
    """Rules without arguments.

    JOINED     the pattern is made of a list of expressions, any of which may match
    ASCII      the pattern's classes (\\d, \\w, ...) are those of ASCII
    NON_EMPTY  the list has an item
    STAT       the text is the name of a stat of the spec
    OPTIONAL   None and "" are allowed; a union with None has this rule without saying so
    """

    JOINED = "joined"
    ASCII = "ascii"
    NON_EMPTY = "non_empty"
    STAT = "stat"
    OPTIONAL = "optional"


JOINED: Final = Rule.JOINED
ASCII: Final = Rule.ASCII
NON_EMPTY: Final = Rule.NON_EMPTY

# The name of a stat, for readers that keep the name in their state.
StatName = Annotated[str, Rule.STAT]
OptionalStatName = Annotated[str, Rule.STAT, Rule.OPTIONAL]
# Any of the patterns of a list; None for an empty one.
AnyPattern = Annotated[re.Pattern[str] | None, JOINED]
# Columns of which one must be there: "alloc|used".
Alternatives = Annotated[frozenset[str], Convert(str, lambda text: frozenset(text.split("|")))]


@dataclass(frozen=True)
class OneStatLayout(Layout):
    """The layout of a reader without keys, whose specs have one stat."""

    def validate(self, stats: Sequence[Stat]) -> None:
        """Require one stat, summaries of it aside."""
        n_stats = sum(not stat.summary_of for stat in stats)
        if n_stats != 1:
            raise ValueError(f"{n_stats} stats; this reader needs one")


def toml_key(name: str, default: Any = dataclasses.MISSING) -> Any:
    """Return a dataclass field that is filled from the TOML key `name`."""
    return dataclasses.field(default=default, metadata={TOML_KEY: name})


def not_a_key(default: Any) -> Any:
    """Return a dataclass field that no TOML key fills."""
    return dataclasses.field(default=default, metadata={TOML_KEY: ""})


def parse_layout(model: type[L_], raw: Mapping[str, object], *, stats: Sequence[Stat], is_user_made: bool = False) -> L_:
    """Return the layout that the table holds. User-made patterns are compiled for linear time (stats/pattern.py).

    Raises: LayoutError naming the key
    """
    layout = _LayoutParser(stats, is_user_made=is_user_made).parse_table("", model, raw)
    if isinstance(layout, Layout):
        try:
            layout.validate(stats)
        except ValueError as error:
            raise LayoutError(str(error)) from error
    return layout


@functools.cache
def _keys_of(model: Any) -> tuple[tuple[str, str, Any, bool], ...]:
    """Return attribute, TOML key, type and whether it is required, for each key of a model."""
    hints = typing.get_type_hints(model, include_extras=True)
    keys = [(field, field.metadata.get(TOML_KEY, field.name)) for field in dataclasses.fields(model)]
    return tuple(
        (field.name, key, hints[field.name], field.default is dataclasses.MISSING is field.default_factory)
        for field, key in keys
        if key
    )


class _LayoutParser:
    """Fills models from tables. Paths such as `tables[0].` begin the messages."""

    def __init__(self, stats: Sequence[Stat], *, is_user_made: bool) -> None:
        self.is_user_made = is_user_made
        self._stats = {stat.name: stat for stat in stats}

    def parse_table(self, path: str, model: type[L_], raw: Mapping[str, object]) -> L_:
        """Return the model, filled from the table."""
        keys = _keys_of(typing.cast("typing.Hashable", model))
        known = {key for _, key, _, _ in keys}
        for key in raw:
            if key not in known:
                raise LayoutError(f"{path}{key[:MAX_QUOTED]}: is not known; the keys are {', '.join(sorted(known)) or 'none'}")
        values: dict[str, Any] = {}
        for name, key, kind, is_required in keys:
            if key in raw:
                values[name] = self._parse(path + key, kind, (), raw[key])
            elif is_required:
                raise LayoutError(f"{path}{key}: is missing")
        try:
            return model(**values)
        except ValueError as error:
            # The error of the model's __post_init__; it names the key.
            raise LayoutError(f"{path}{error}") from error

    def _parse(self, path: str, kind: Any, rules: tuple[Any, ...], value: object) -> Any:
        origin = typing.get_origin(kind)
        if origin is Annotated:
            return self._parse_annotated(path, kind, rules, value)
        if origin in (Union, types.UnionType):
            (inner,) = (part for part in typing.get_args(kind) if part is not types.NoneType)
            return None if value == "" else self._parse(path, inner, (*rules, Rule.OPTIONAL), value)
        if origin is Literal or (isinstance(kind, type) and issubclass(kind, Enum)):
            return self._parse_choice(path, kind, value)
        if origin in (tuple, frozenset):
            items = self._require(path, list, "a list", value)
            if NON_EMPTY in rules and not items:
                raise LayoutError(f"{path}: at least one is needed")
            item_kind, item_rules = typing.get_args(kind)[0], tuple(rule for rule in rules if rule is not NON_EMPTY)
            return origin(self._parse(f"{path}[{number}]", item_kind, item_rules, item) for number, item in enumerate(items))
        if origin is re.Pattern:
            return self._parse_pattern(path, rules, value)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            table = self._require(path, dict, "a table", value)
            key_kind, item_kind = typing.get_args(kind)
            return {
                self._parse(path, key_kind, rules, key): self._parse(f"{path}.{key[:MAX_QUOTED]}", item_kind, rules, item)
                for key, item in table.items()
            }
        return self._parse_plain(path, kind, rules, value)

    def _parse_plain(self, path: str, kind: Any, rules: tuple[Any, ...], value: object) -> Any:
        if kind is str:
            return self._parse_text(path, rules, value)
        if kind is bool:
            return self._require(path, bool, "true or false", value)
        if kind is int:
            if isinstance(value, bool):
                raise LayoutError(f"{path}: must be a whole number, not {_quote(value)}")
            return self._require(path, int, "a whole number", value)
        if kind is Stat:
            return self._parse_stat(path, rules, value)
        assert dataclasses.is_dataclass(kind), kind
        return self.parse_table(f"{path}.", typing.cast("type[Any]", kind), self._require(path, dict, "a table", value))

    def _parse_text(self, path: str, rules: tuple[Any, ...], value: object) -> str:
        text = self._require(path, str, "a text", value)
        if Rule.STAT in rules and text not in self._stats and (text or Rule.OPTIONAL not in rules):
            raise LayoutError(f"{path}: {_quote(value)} is no stat of this spec")
        return text

    def _parse_annotated(self, path: str, kind: Any, rules: tuple[Any, ...], value: object) -> Any:
        inner, *own = typing.get_args(kind)
        conversion = next((rule for rule in own if isinstance(rule, Convert)), None)
        if conversion is None:
            return self._parse(path, inner, (*rules, *own), value)
        source = self._parse(path, conversion.source, rules, value)
        try:
            return conversion.convert(source)
        except ValueError as error:
            raise LayoutError(f"{path}: {error}") from error

    def _parse_choice(self, path: str, kind: Any, value: object) -> Any:
        choices = typing.get_args(kind) if typing.get_origin(kind) is Literal else tuple(item.value for item in kind)
        if value not in choices:
            names = ", ".join(choice or '""' for choice in choices)
            raise LayoutError(f"{path}: {_quote(value)} is none of {names}")
        return value if typing.get_origin(kind) is Literal else kind(value)

    def _parse_stat(self, path: str, rules: tuple[Any, ...], value: object) -> Stat:
        stat = self._stats.get(value) if isinstance(value, str) else None
        shapes = next((rule.shapes for rule in rules if isinstance(rule, Shaped)), ())
        if stat is None:
            raise LayoutError(f"{path}: {_quote(value)} is no stat of this spec")
        if shapes and stat.shape not in shapes:
            raise LayoutError(f"{path}: {_quote(value)} has the shape {stat.shape}; {' or '.join(shapes)} expected")
        return stat

    def _parse_pattern(self, path: str, rules: tuple[Any, ...], value: object) -> re.Pattern[str] | None:
        texts = self._parse(path, tuple[str, ...], (), value) if JOINED in rules else (self._parse(path, str, (), value),)
        flags = re.ASCII if ASCII in rules else re.NOFLAG
        try:
            pattern = join_patterns(self, [text for text in texts if text or JOINED not in rules], flags)
        except (re.error, ValueError) as error:
            raise LayoutError(f"{path}: {error}") from error
        if pattern is None and Rule.OPTIONAL not in rules:
            raise LayoutError(f"{path}: at least one is needed")
        return pattern

    @staticmethod
    def _require(path: str, kind: type[L_], name: str, value: object) -> L_:
        if not isinstance(value, kind):
            raise LayoutError(f"{path}: must be {name}, not {_quote(value)}")
        return value


def _quote(value: object) -> str:
    return repr(value)[:MAX_QUOTED]
