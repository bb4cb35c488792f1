"""The catalogue: all spec files, read once and checked strictly.

A mistake in a spec is found here, when the program starts, and not when the first odd line arrives.
"""

import functools
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final, TypeVar

from normstat.errors import NotFound, SpecError
from normstat.stats.readers import READERS
from normstat.stats.spec import Family, Field, Kind, Panel, Shape, Spec, Stat, Storage, Worse
from normstat.stats.storage_rule import usual_storage

KEY: Final = re.compile(r"[a-z][a-z0-9_]*")
# What every table and its view have besides the stat's fields; see store/stat_tables.py.
RESERVED_KEYS: Final = frozenset({"time", "host_id", "instance_id", "stream_id", "line_offset", "printed", "host", "instance"})
SECTIONS: Final = ("cpu", "memory", "disk", "network", "process", "lock", "trace", "other")
SYSTEMS: Final = ("linux", "sunos", "any")

E_ = TypeVar("E_", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class UserSpecText:
    """A spec that a user added, as text; `version` is counted by the store, whatever the text says."""

    name: str
    toml: str
    version: int


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All specs by name, and all stats by name with the spec that yields them.

    `user_specs` are the names of those that users added, `revision` tells one state of these from another ("": none).
    """

    specs: Mapping[str, Spec]
    stats: Mapping[str, tuple[Spec, Stat]]
    user_specs: frozenset[str] = frozenset()
    revision: str = ""


@functools.cache
def built_in_catalogue() -> Catalogue:
    """All specs of the package, sorted by name.

    Raises: SpecError naming the file and the key.
    """
    files = sorted(_spec_files(resources.files("normstat.stats") / "specs"), key=lambda item: item.name)
    specs: dict[str, Spec] = {}
    stats: dict[str, tuple[Spec, Stat]] = {}
    for item in files:
        spec = parse_spec(item.name, item.read_text(encoding="utf-8"))
        _add_spec(specs, stats, spec)
    return Catalogue(specs=specs, stats=stats)


class _Present:
    """The catalogue of this process, once user specs were installed."""

    catalogue: Catalogue | None = None


def load_catalogue() -> Catalogue:
    """All specs of the package and those that users added, as far as install_user_specs was told of them."""
    return _Present.catalogue or built_in_catalogue()


def install_user_specs(texts: Iterable[UserSpecText], revision: str) -> Mapping[str, str]:
    """Makes these the user specs of this process, in the place of those before; gives what is wrong with which by name.

    One that cannot be read any more (a newer program has a spec of its name) is left out, and its streams are kept unread.
    """
    built_in = built_in_catalogue()
    specs, stats = dict(built_in.specs), dict(built_in.stats)
    troubles: dict[str, str] = {}
    for item in sorted(texts, key=lambda item: item.name):
        try:
            _add_spec(specs, stats, parse_spec(f"{item.name}.toml", item.toml, version=item.version))
        except SpecError as trouble:
            troubles[item.name] = trouble.message
    names = frozenset(specs.keys() - built_in.specs.keys())
    _Present.catalogue = Catalogue(specs, stats, names, revision) if names or troubles or revision else None
    return troubles


def _add_spec(specs: dict[str, Spec], stats: dict[str, tuple[Spec, Stat]], spec: Spec) -> None:
    if spec.name in specs:
        message = f"{spec.name}.toml: there is another spec of that name"
        raise SpecError(message)
    new: dict[str, tuple[Spec, Stat]] = {}
    for stat in spec.stats:
        taken = stats.get(stat.name) or new.get(stat.name)
        if taken is not None:
            message = f"{spec.name}.toml: stats.name {stat.name!r} is taken by {taken[0].name}.toml; names are unique"
            raise SpecError(message)
        new[stat.name] = (spec, stat)
    specs[spec.name] = spec
    stats.update(new)


def require_spec(name: str) -> Spec:
    """The spec of that name.

    Raises: NotFound with the names there are.
    """
    specs = load_catalogue().specs
    if name not in specs:
        message = f"there is no spec {name!r}; there are {', '.join(specs)}"
        raise NotFound(message, {"spec": name})
    return specs[name]


def read_built_in(name: str) -> str:
    """The text of a built-in spec, which must exist."""
    files = _spec_files(resources.files("normstat.stats") / "specs")
    return next(item for item in files if item.name == f"{name}.toml").read_text(encoding="utf-8")


def _spec_files(folder: Traversable) -> Iterator[Traversable]:
    """All spec files in the folder and the folders in it."""
    for item in folder.iterdir():
        if item.is_dir():
            yield from _spec_files(item)
        elif item.name.endswith(".toml"):
            yield item


def parse_spec(file: str, text: str, *, version: int | None = None) -> Spec:
    """The spec that a file holds, checked; with `version` that is its version, and the text need not have one.

    Raises: SpecError naming the file and the key.
    """
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as trouble:
        message = f"{file}: not a TOML file: {trouble}"
        raise SpecError(message) from trouble
    top = _Table(file, "", raw)
    name = top.string("name")
    if f"{name}.toml" != file:
        message = f"{file}: name is {name!r}; the file must be called {name}.toml"
        raise SpecError(message)
    layout = top.table("layout")
    written = top.number("version", version)
    spec = Spec(
        name=name,
        tool=top.string("tool"),
        os=top.choice("os", SYSTEMS),
        title=top.string("title"),
        version=written if version is None else version,
        commands=top.texts("commands"),
        reader=top.choice("reader", READERS),
        layout=layout.values(),
        stats=tuple(_stat(item) for item in top.tables("stats")),
        marks=top.patterns("marks"),
        refuses=top.patterns("refuses"),
        is_fallback=top.flag("is_fallback"),
    )
    top.done()
    try:
        READERS[spec.reader].check(spec)
    except (KeyError, TypeError, ValueError, re.error) as trouble:
        message = f"{file}: layout: {trouble}"
        raise SpecError(message) from trouble
    return spec


def _stat(raw: "_Table") -> Stat:
    items = [_field(item) for item in raw.tables("fields")]
    fields = tuple(item for item in items if isinstance(item, Field))
    keys = [field.key for field in fields]
    for key in keys:
        if keys.count(key) > 1 or KEY.fullmatch(key) is None:
            raw.fail("fields.key", f"{key!r} is twice or is not made of [a-z0-9_]")
    stat = Stat(
        name=raw.string("name"),
        title=raw.string("title"),
        instance_title=raw.string("instance_title", ""),
        fields=fields,
        panels=tuple(_panel(item, keys) for item in raw.tables("panels", needed=False)),
        families=tuple(item for item in items if isinstance(item, Family)),
        shape=Shape(raw.choice("shape", tuple(Shape), "table")),
    )
    for field in fields:
        for key in field.derived:
            if key not in keys:
                raw.fail("fields.derived", f"{key!r} is no field of this stat")
    raw.done()
    return stat


def _field(raw: "_Table") -> Field | Family:
    pattern = raw.string("pattern", "")
    column = raw.string("column", pattern)
    decimals = raw.number("decimals", 0)
    unit = raw.string("unit")
    kind = _enum(raw, "kind", Kind)
    field = Field(
        key=raw.string("key"),
        column=column,
        printed_key=raw.string("printed_key", column),
        group=raw.string("group"),
        unit=unit,
        kind=kind,
        worse=_enum(raw, "worse", Worse),
        decimals=decimals,
        storage=Storage(raw.choice("storage", tuple(Storage), usual_storage(kind, unit, decimals, raw))),
        help=raw.string("help"),
        source=raw.string("source"),
        aliases=raw.texts("aliases", needed=False),
        scale=raw.number("scale", 0),
        clock=raw.choice("clock", ("", "h:m:s", "m:s", "unit"), ""),
        derived=raw.texts("derived", needed=False),
    )
    if field.key in RESERVED_KEYS:
        raw.fail("key", f"{field.key!r} is a column that every table has; choose another (cpu_time)")
    if field.scale not in (0, 1000, 1024):
        raw.fail("scale", "must be 1000 or 1024")
    # A float8 of no decimals is a column that mostly prints whole numbers, and not always.
    if field.storage.is_whole != (decimals == 0) and not (field.storage is Storage.FLOAT8 and decimals == 0):
        raw.fail("storage", f"{field.storage} does not fit {decimals} decimals")
    raw.done()
    return Family(pattern, field) if pattern else field


def _panel(raw: "_Table", keys: Iterable[str]) -> Panel:
    panel = Panel(
        key=raw.string("key"),
        title=raw.string("title"),
        section=raw.choice("section", SECTIONS),
        fields=raw.texts("fields"),
        instances=raw.string("instances", ""),
        is_stacked=raw.flag("is_stacked"),
    )
    known = set(keys)
    for key in panel.fields:
        if key not in known:
            raw.fail("fields", f"{key!r} is no field of this stat")
    if re.fullmatch(r"|all|top:[1-9][0-9]*|only:.+", panel.instances) is None:
        raw.fail("instances", f"{panel.instances!r} is none of '', 'all', 'top:N', 'only:NAME'")
    raw.done()
    return panel


def _enum(raw: "_Table", key: str, kind: type[E_]) -> E_:
    return kind(raw.choice(key, tuple(kind)))


class _Table:
    """A TOML table that is read key by key; every complaint names the file and the key."""

    def __init__(self, file: str, path: str, raw: Mapping[str, object]) -> None:
        self._file = file
        self._path = path
        self._raw = dict(raw)
        self._used: set[str] = set()

    def fail(self, key: str, why: str) -> None:
        """Raises SpecError for a key."""
        message = f"{self._file}: {self._path}{key}: {why}"
        raise SpecError(message)

    def _get(self, key: str, *, needed: bool) -> object:
        self._used.add(key)
        if needed and key not in self._raw:
            self.fail(key, "is missing")
        return self._raw.get(key)

    def string(self, key: str, default: str | None = None) -> str:
        value = self._get(key, needed=default is None)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            self.fail(key, f"must be text, not {value!r}")
        return str(value)

    def number(self, key: str, default: int | None = None) -> int:
        value = self._get(key, needed=default is None)
        if value is None and default is not None:
            return default
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            self.fail(key, f"must be a whole number, not {value!r}")
        assert isinstance(value, int)
        return value

    def flag(self, key: str) -> bool:
        value = self._get(key, needed=False)
        if value is not None and not isinstance(value, bool):
            self.fail(key, f"must be true or false, not {value!r}")
        return value is True

    def choice(self, key: str, allowed: Iterable[str], default: str | None = None) -> str:
        value = self.string(key, default)
        if value not in tuple(allowed):
            self.fail(key, f"{value!r} is none of {', '.join(allowed)}")
        return value

    def texts(self, key: str, *, needed: bool = True) -> tuple[str, ...]:
        value = self._get(key, needed=needed)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.fail(key, f"must be a list of texts, not {value!r}")
        assert isinstance(value, list)
        return tuple(str(item) for item in value)

    def patterns(self, key: str) -> tuple[str, ...]:
        """Regular expressions, each tried."""
        found = self.texts(key, needed=False)
        for pattern in found:
            try:
                re.compile(pattern)
            except re.error as trouble:
                self.fail(key, f"{pattern!r} is no regular expression: {trouble}")
        return found

    def __contains__(self, key: object) -> bool:
        return key in self._raw

    def table(self, key: str) -> "_Table":
        value = self._get(key, needed=True)
        if not isinstance(value, dict):
            self.fail(key, "must be a table")
        assert isinstance(value, dict)
        return _Table(self._file, f"{self._path}{key}.", value)

    def tables(self, key: str, *, needed: bool = True) -> list["_Table"]:
        value = self._get(key, needed=needed)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.fail(key, "must be a list of tables")
        assert isinstance(value, list)
        return [_Table(self._file, f"{self._path}{key}[{number}].", item) for number, item in enumerate(value)]

    def values(self) -> Mapping[str, object]:
        """Everything in the table, for the one that checks it (build_layout)."""
        return self._raw

    def done(self) -> None:
        """Complains about keys that nobody asked for: a misspelt key must not be silently without effect."""
        for key in self._raw:
            if key not in self._used:
                self.fail(key, "is not known")
