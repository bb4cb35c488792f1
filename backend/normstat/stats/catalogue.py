"""The catalogue: all spec files, each parsed once and checked strictly.

A built-in spec is checked when it is first needed, in tests all of them are; a mistake is found before its first line is read.
"""

import dataclasses
import functools
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final, TypeVar, cast, get_args

from normstat.errors import NotFound, SpecError
from normstat.stats.installed_specs import Installed
from normstat.stats.layout import LayoutError, parse_layout
from normstat.stats.lazy_mapping import LazyMapping
from normstat.stats.readers import READERS
from normstat.stats.spec import Family, Field, Kind, Layout, PanelInfo, Section, Semantics, Shape, Spec, Stat, Storage, Worse
from normstat.stats.spec_defaults import complete_stat, usual_kind, usual_semantics, usual_storage
from normstat.stats.spec_table import SpecTable, cut
from normstat.stats.toml_text import parse_toml
from normstat.stats.translated_lines import translation_names

KEY: Final = re.compile(r"[a-z][a-z0-9_]*")
# Where a stat begins in the text of a built-in spec.
STAT_NAME: Final = re.compile(r'^\[\[stats\]\]\nname = "(.*)"$', re.MULTILINE)
# Columns of every table and its view besides the stat's fields; see samples/stat_tables.py.
RESERVED_KEYS: Final = frozenset({"time", "host_id", "instance_id", "stream_id", "line_offset", "printed", "host", "instance"})
SECTIONS: Final[tuple[Section, ...]] = get_args(Section)
# Over all stats of a file; sar has some 400.
MAX_FIELDS: Final = 5000
# Keys of a file that say something of its stats.
FILE_KEYS: Final = ("source", "defaults", "rest", "rename_columns")
# unix: of several systems, but neither Linux nor Solaris.
SYSTEMS: Final = ("linux", "sunos", "aix", "freebsd", "macos", "unix", "any")
FAILURES: Final = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError, re.error)
# User specs that are kept parsed: as many as there may be.
MAX_PARSED: Final = 1000

E_ = TypeVar("E_", bound=StrEnum)
StatTables = Mapping[str, Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class UserSpecText:
    """A spec that a user added, as text; `version` is counted by the store, independent of the text."""

    name: str
    toml: str
    version: int


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All specs by name, and all stats by name with the spec that yields them.

    `user_specs` are the names of those that users added, `revision` identifies their state ("": none), `troubles`
    says why which of them is disabled.
    """

    specs: Mapping[str, Spec]
    stats: Mapping[str, tuple[Spec, Stat]]
    user_specs: frozenset[str] = frozenset()
    revision: str = ""
    troubles: Mapping[str, str] = dataclasses.field(default_factory=dict)


@functools.cache
def built_in_catalogue() -> Catalogue:
    """Return all specs of the package, sorted by name. Each is parsed when it is first asked for: to parse all takes 0.8 s of CPU.

    Raises: SpecError naming the file and the key, as does what is asked for
    """
    texts = {item.name.removesuffix(".toml"): item.read_text(encoding="utf-8") for item in _find_spec_files()}
    spec_of_stat: dict[str, str] = {}
    for name in sorted(texts):
        for stat in STAT_NAME.findall(texts[name]):
            if stat in spec_of_stat:
                message = f"{name}.toml: stats.name {stat!r} is taken by {spec_of_stat[stat]}.toml; names are unique"
                raise SpecError(message)
            spec_of_stat[stat] = name
    raws = LazyMapping(sorted(texts), lambda name: _loads(f"{name}.toml", texts[name]))
    # Stats share fields across files: sadf prints what sar prints.
    shared = LazyMapping(spec_of_stat, lambda stat: _stats_by_name(raws[spec_of_stat[stat]])[stat])

    def build(name: str) -> Spec:
        spec = _build_spec(f"{name}.toml", raws[name], shared, version=None)
        if [stat.name for stat in spec.stats] != [stat for stat, other in spec_of_stat.items() if other == name]:
            message = f"{name}.toml: stats.name: each stat of a built-in spec begins with its name"
            raise SpecError(message)
        return spec

    specs = LazyMapping(sorted(texts), build)
    return Catalogue(specs, LazyMapping(spec_of_stat, lambda stat: _find_stat(specs[spec_of_stat[stat]], stat)))


def _find_stat(spec: Spec, name: str) -> tuple[Spec, Stat]:
    return spec, next(stat for stat in spec.stats if stat.name == name)


class _Present:
    """The catalogue of this process, after user specs were installed."""

    catalogue: Catalogue | None = None


def load_catalogue() -> Catalogue:
    """Return all specs of the package and the installed user specs."""
    return _Present.catalogue or built_in_catalogue()


def install_user_specs(texts: Iterable[UserSpecText], revision: str) -> Mapping[str, str]:
    """Replace the user specs of this process. Return the errors by name of the spec.

    One that cannot be read any more (a newer program has a spec of its name) is left out, and its streams are kept unread.
    """
    built_in = built_in_catalogue()
    specs: dict[str, Spec] = {}
    stats: dict[str, tuple[Spec, Stat]] = {}
    troubles: dict[str, str] = {}
    for item in sorted(texts, key=lambda item: item.name):
        try:
            _add_spec(built_in, specs, stats, _parse_once(item))
        except SpecError as trouble:
            troubles[item.name] = trouble.message
        except FAILURES as trouble:
            # The server must start, even if an older version accepted a bad spec.
            troubles[item.name] = f"{item.name}.toml: cannot be read: {type(trouble).__name__}"
    if not specs and not troubles and not revision:
        _Present.catalogue = None
        Installed.revision = ""
        return troubles
    all_specs = LazyMapping([*built_in.specs, *specs], lambda name: specs[name] if name in specs else built_in.specs[name])
    all_stats = LazyMapping([*built_in.stats, *stats], lambda name: stats[name] if name in stats else built_in.stats[name])
    _Present.catalogue = Catalogue(all_specs, all_stats, frozenset(specs), revision, troubles)
    Installed.revision = revision
    return troubles


@functools.lru_cache(maxsize=MAX_PARSED)
def _parse_once(item: UserSpecText) -> Spec:
    """Return the parsed spec from the cache: a change of one spec does not have all others parsed again."""
    return parse_user_spec(item)


def _add_spec(built_in: Catalogue, specs: dict[str, Spec], stats: dict[str, tuple[Spec, Stat]], spec: Spec) -> None:
    if spec.name in built_in.specs or spec.name in specs:
        message = f"{spec.name}.toml: there is another spec of that name"
        raise SpecError(message)
    new: dict[str, tuple[Spec, Stat]] = {}
    for stat in spec.stats:
        taken = built_in.stats.get(stat.name) or stats.get(stat.name) or new.get(stat.name)
        if taken is not None:
            message = f"{spec.name}.toml: stats.name {stat.name!r} is taken by {taken[0].name}.toml; names are unique"
            raise SpecError(message)
        new[stat.name] = (spec, stat)
    specs[spec.name] = spec
    stats.update(new)


def require_spec(name: str) -> Spec:
    """Return the spec of that name.

    Raises: NotFound, listing the known names.
    """
    specs = load_catalogue().specs
    if name not in specs:
        message = f"there is no spec {name!r}; there are {', '.join(specs)}"
        raise NotFound(message, {"spec": name})
    return specs[name]


def read_built_in(name: str) -> str:
    """Return the text of a built-in spec, which must exist."""
    return next(item for item in _find_spec_files() if item.name == f"{name}.toml").read_text(encoding="utf-8")


def _find_spec_files() -> Iterator[Traversable]:
    """Yield all spec files: those in specs/ and its folders, and those beside a reader that has a folder of its own."""
    package = resources.files("normstat.stats")
    yield from _spec_files(package / "specs")
    for folder in (package / "readers").iterdir():
        # Not __pycache__, which another account may have made for itself alone.
        if folder.is_dir() and not folder.name.startswith("_"):
            yield from (item for item in folder.iterdir() if item.name.endswith(".toml"))


def _spec_files(folder: Traversable) -> Iterator[Traversable]:
    for item in folder.iterdir():
        if item.is_dir():
            yield from _spec_files(item)
        elif item.name.endswith(".toml"):
            yield item


def parse_user_spec(item: UserSpecText) -> Spec:
    """Return the spec that a user wrote, checked; its patterns are those of RE2.

    Raises: SpecError naming the file and the key.
    """
    return parse_spec(f"{item.name}.toml", item.toml, version=item.version, is_user_made=True)


def parse_spec(file: str, text: str, *, version: int | None = None, is_user_made: bool = False) -> Spec:
    """Return the spec that a file holds, checked; with `version` that is its version, and the text need not have one.

    Its stats may share fields with each other, not with those of other files, which may change without it.

    Raises: SpecError naming the file and the key.
    """
    raw = _loads(file, text, is_user_made=is_user_made)
    return _build_spec(file, raw, _stats_by_name(raw), version=version, is_user_made=is_user_made)


def _loads(file: str, text: str, *, is_user_made: bool = False) -> dict[str, object]:
    try:
        return parse_toml(text) if is_user_made else tomllib.loads(text)
    except (tomllib.TOMLDecodeError, SpecError) as trouble:
        message = f"{file}: {trouble}" if is_user_made else f"{file}: not a TOML file: {trouble}"
        raise SpecError(message) from trouble


def _stats_by_name(raw: Mapping[str, object]) -> dict[str, Mapping[str, object]]:
    """Return the tables of a file's stats that have a name, each with its source."""
    stats = raw.get("stats")
    found = [stat for stat in stats if isinstance(stat, dict)] if isinstance(stats, list) else []
    return {str(stat["name"]): _with_file_keys(raw, stat) for stat in found if "name" in stat}


def _with_file_keys(raw: Mapping[str, object], stat: Mapping[str, object]) -> dict[str, object]:
    """Return a stat's table with what the file says about all of them (stats/spec_defaults.py)."""
    keys = ["rename_columns"] if "like" in stat else ["source", "defaults"]
    if "has_rest" in stat:
        keys.append("rest")
    return {**{key: raw[key] for key in keys if key in raw}, **stat}


def _complete_stats(file: str, stats: Sequence[object], raw: Mapping[str, object], shared: StatTables) -> list[object]:
    """Return the tables of all stats with what they share written out, within the bounds of one spec."""
    completed: list[object] = []
    n_fields = 0
    for number, stat in enumerate(stats):
        if isinstance(stat, dict):
            stat = complete_stat(f"{file}: stats[{number}].", _with_file_keys(raw, stat), shared.get)  # noqa: PLW2901
            fields = stat.get("fields")
            n_fields += len(fields) if isinstance(fields, list) else 0
        completed.append(stat)
        if n_fields > MAX_FIELDS:
            # With `like`, a short text could stand for millions of fields.
            raise SpecError(f"{file}: stats: more than {MAX_FIELDS} fields in all")
    return completed


def _take_tables(file: str, stats: Sequence[object]) -> list[object]:
    """Take the key `tables` off each stat. Return them as tables of the layout, each with the name of its stat."""
    taken: list[object] = []
    for number, stat in enumerate(stats):
        if not isinstance(stat, dict):
            continue
        tables = stat.pop("tables", [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise SpecError(f"{file}: stats[{number}].tables: must be a list of tables")
        taken.extend({**table, "stat": stat.get("name")} for table in tables)
        if len(taken) > MAX_FIELDS:
            # As with the fields: `like` repeats them.
            raise SpecError(f"{file}: stats: more than {MAX_FIELDS} tables in all")
    return taken


def _build_spec(file: str, raw: dict[str, object], shared: StatTables, *, version: int | None, is_user_made: bool = False) -> Spec:
    stats = raw.get("stats")
    tables: list[object] = []
    if isinstance(stats, list):
        stats = _complete_stats(file, stats, raw, shared)
        tables = _take_tables(file, stats)
        raw = {**raw, "stats": stats}
    top = SpecTable(file, "", {key: value for key, value in raw.items() if key not in FILE_KEYS})
    top.is_user_made = is_user_made
    name = top.string("name")
    if f"{name}.toml" != file:
        message = f"{file}: name is {name!r}; the file must be called {name}.toml"
        raise SpecError(message)
    reader = top.choice("reader", READERS)
    layout = dict(top.table("layout").values()) if "layout" in top else {}
    if tables:
        others = layout.get("tables", [])
        layout["tables"] = [*tables, *others] if isinstance(others, list) else others
    written = top.number("version", version)
    stats = tuple(_stat(item) for item in top.tables("stats"))
    for stat in stats:
        if stat.summary_of and stat.summary_of not in {other.name for other in stats if not other.summary_of}:
            top.fail("stats.summary_of", f"{stat.summary_of!r} is no other stat of this spec with rows of its own")
    spec = Spec(
        name=name,
        tool=top.string("tool"),
        os=top.choice("os", SYSTEMS),
        title=top.string("title"),
        version=written if version is None else version,
        commands=top.texts("commands"),
        reader=reader,
        layout=_layout(file, READERS[reader].layout, layout, stats, is_user_made=is_user_made),
        stats=stats,
        marks=top.patterns("marks"),
        refuses=top.patterns("refuses"),
        is_fallback=top.flag("is_fallback"),
        is_user_made=is_user_made,
        translations=top.choice("translations", ("", *translation_names()), ""),
    )
    top.done()
    return spec


def _layout(file: str, model: type[Layout], raw: Mapping[str, object], stats: Sequence[Stat], *, is_user_made: bool) -> Layout:
    try:
        return parse_layout(model, raw, stats=stats, is_user_made=is_user_made)
    except LayoutError as error:
        message = f"{file}: layout: {cut(str(error))}"
        raise SpecError(message) from error


def _stat(raw: SpecTable) -> Stat:
    items = [_field(item) for item in raw.tables("fields")]
    fields = tuple(item for item in items if isinstance(item, Field))
    keys = Counter(field.key for field in fields)
    for key, n in keys.items():
        if n > 1 or KEY.fullmatch(key) is None:
            raw.fail("fields.key", f"{key!r} is twice or is not made of [a-z0-9_]")
    stat = Stat(
        name=raw.string("name"),
        title=raw.string("title"),
        instance_title=raw.string("instance_title", ""),
        fields=fields,
        panels=tuple(_panel(item, keys) for item in raw.tables("panels", needed=False)),
        families=tuple(item for item in items if isinstance(item, Family)),
        shape=Shape(raw.choice("shape", tuple(Shape), "table")),
        summary_of=raw.string("summary_of", ""),
    )
    for field in fields:
        for key in field.derived:
            if key not in keys:
                raw.fail("fields.derived", f"{key!r} is no field of this stat")
    raw.done()
    return stat


def _field(raw: SpecTable) -> Field | Family:
    pattern = raw.string("pattern", "")
    key = raw.string("key")
    column = raw.string("column", pattern or key)
    decimals = raw.number("decimals", 0)
    unit = raw.string("unit", "")
    kind = _enum(raw, "kind", Kind, usual_kind(unit))
    field = Field(
        key=key,
        column=column,
        printed_key=raw.string("printed_key", column),
        group=raw.string("group", ""),
        unit=unit,
        kind=kind,
        worse=_enum(raw, "worse", Worse, Worse.NEITHER),
        decimals=decimals,
        storage=Storage(raw.choice("storage", tuple(Storage), usual_storage(kind, unit, decimals, raw))),
        help=raw.string("help"),
        source=raw.string("source"),
        aliases=raw.texts("aliases", needed=False),
        scale=raw.number("scale", 0),
        clock=raw.choice("clock", ("", "h:m:s", "m:s", "unit"), ""),
        derived=raw.texts("derived", needed=False),
        semantics=_enum(raw, "semantics", Semantics, usual_semantics(kind)),
    )
    if field.key in RESERVED_KEYS:
        raw.fail("key", f"{field.key!r} is a column that every table has; choose another (cpu_time)")
    if field.scale not in (0, 1000, 1024):
        raw.fail("scale", "must be 1000 or 1024")
    # A float8 of no decimals is a column that mostly prints whole numbers, and not always.
    if field.storage.is_whole != (decimals == 0) and not (field.storage is Storage.FLOAT8 and decimals == 0):
        raw.fail("storage", f"{field.storage} does not fit {decimals} decimals")
    raw.done()
    if not pattern:
        return field
    family = Family(pattern, field, raw.is_user_made)
    if raw.is_user_made:
        raw.require_pattern("pattern", pattern)
    return family


def _panel(raw: SpecTable, keys: Iterable[str]) -> PanelInfo:
    panel = PanelInfo(
        key=raw.string("key"),
        title=raw.string("title"),
        section=cast("Section", raw.choice("section", SECTIONS)),
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


def _enum(raw: SpecTable, key: str, kind: type[E_], default: E_) -> E_:
    return kind(raw.choice(key, tuple(kind), default))
