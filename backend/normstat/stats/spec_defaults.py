"""Fill in what a spec file omits: defaults of its fields, and what a stat shares with another one.

Keys of `[[stats]]` for that (all optional):
    source     the document that describes the fields, for those that name none themselves; also a key of the whole file, where
               it covers all stats without `like`
    defaults   members that every field of the stat has unless it says otherwise, such as { unit = "%", decimals = 2 }
    tables     the `[[layout.tables]]` whose rows are the stat's, without their key `stat`
    like       a stat with the same fields: all of them, in the same order. The stat takes its instance title, panels and tables
               too, unless it has its own. An entry in `fields` with the key of a shared field changes the members that it names;
               any other is a further field
    without    keys of shared fields that this stat lacks
    has_rest   true: the fields `rest` of the file follow those of the stat

Keys of the whole file:
    defaults         the defaults of all stats without `like` and defaults of their own
    rest             fields for whatever other columns a stat with `has_rest` has, by patterns
    rename_columns   how columns of the stats that `like` names are called here: { "*/s" = "*", "%*" = "*-percent" } makes rkB of
                     rkB/s and util-percent of %util; each rule is applied to what the one before made

And a field may omit every member with a usual value: `column` is its pattern or key, `printed_key` its column, `group` and `unit`
are "", `kind` follows from the unit, `worse` is "neither". `storage` is four bytes where no host's numbers can be larger, else
eight: half the bytes of a row are saved on disk and on the way, but a number that does not fit costs the field a second column
(samples/wide_columns.py).
"""

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Final

from normstat.errors import SpecError, shorten
from normstat.stats.spec import Kind, Semantics, Storage

DEFAULTED: Final = ("group", "unit", "kind", "semantics", "worse", "decimals", "storage")
# Keys that say how the table is completed; the complete one has none of them.
ONLY_HERE: Final = ("like", "without", "defaults", "has_rest", "rename_columns", "rest")
# Keys that a stat takes from the one that it is like, besides fields, where it has none of its own.
INHERITED: Final = ("instance_title", "panels", "tables")
# A spec may use a stat that uses another one, not much more: a longer chain is a circle.
MAX_CHAIN: Final = 4
# The part of a column that a rule of rename_columns keeps.
ANY_TEXT: Final = "*"
# A raw stat by its name, with the `source` of its file filled in. Missing: None when no file has it.
FindStat = Callable[[str], Mapping[str, object] | None]

SEMANTICS_BY_KIND: Final[Mapping[Kind, Semantics]] = {
    Kind.GAUGE: Semantics.INSTANT,
    Kind.COUNTER: Semantics.COUNTER,
    Kind.RATE: Semantics.RATE,
    Kind.PERCENT: Semantics.RATE,
    Kind.COUNT: Semantics.RATE,
    Kind.TIME: Semantics.RATE,
}


def usual_kind(unit: str) -> Kind:
    """Return the kind of a field that names none.

    >>> [str(usual_kind(unit)) for unit in ("%", "kB/s", "ms", "")]
    ['percent', 'rate', 'gauge', 'gauge']
    """
    if unit == "%":
        return Kind.PERCENT
    return Kind.RATE if unit.endswith("/s") else Kind.GAUGE


def usual_semantics(kind: Kind) -> Semantics:
    """Return the semantics of a field that names none."""
    return SEMANTICS_BY_KIND[kind]


def complete_stat(where: str, raw: Mapping[str, object], find_stat: FindStat) -> dict[str, object]:
    """Return the stat's table with its shared fields and defaults written out; `where` begins the messages of errors.

    Malformed values stay as they are: the check of the table names them.

    Raises: SpecError for an unknown stat, or one that is built on itself
    """
    return _complete(where, raw, find_stat, n_left=MAX_CHAIN)


def _complete(where: str, raw: Mapping[str, object], find_stat: FindStat, *, n_left: int) -> dict[str, object]:
    if "like" in raw and "has_rest" in raw:
        raise SpecError(f"{where}has_rest: the fields are those of the stat in `like`")
    stat = {key: value for key, value in raw.items() if key not in (*ONLY_HERE, "source")}
    if "fields" in raw or "like" not in raw:
        stat["fields"] = _with_defaults(where, raw)
    if "like" in raw:
        _share(where, raw, stat, find_stat, n_left)
    elif "without" in raw:
        raise SpecError(f"{where}without: only a stat with `like` can lack fields")
    return stat


def _share(where: str, raw: Mapping[str, object], stat: dict[str, object], find_stat: FindStat, n_left: int) -> None:
    name = raw["like"]
    found = find_stat(name) if isinstance(name, str) else None
    if found is None or n_left == 0:
        why = "is no other stat" if found is None else "is built on itself"
        raise SpecError(f"{where}like: {_show(name)} {why}")
    base = _complete(where, found, find_stat, n_left=n_left - 1)
    rules = _rename_rules(where, raw)
    own_source = {"source": raw["source"]} if "source" in raw else {}
    shared = {str(field.get("key")): {**_renamed(field, rules), **own_source} for field in _tables(base.get("fields"))}
    for key in _texts(where, "without", raw):
        if shared.pop(key, None) is None:
            raise SpecError(f"{where}without: {shorten(key)} is not a field of {name}")
    own = stat.get("fields", [])
    for field in _tables(own):
        key = str(field.get("key"))
        shared[key] = {**shared.get(key, {}), **field}
    stat["fields"] = list(shared.values()) if isinstance(own, list) else own
    for key in INHERITED:
        if key in base:
            stat.setdefault(key, base[key])


def _rename_rules(where: str, raw: Mapping[str, object]) -> Sequence[tuple[str, str]]:
    rules = raw.get("rename_columns", {})
    if not isinstance(rules, dict) or not all(
        isinstance(new, str) and old.count(ANY_TEXT) == new.count(ANY_TEXT) == 1 for old, new in rules.items()
    ):
        raise SpecError(f"{where}rename_columns: must be a table of texts with one * each, not {_show(rules)}")
    return list(rules.items())


def _renamed(field: Mapping[str, object], rules: Sequence[tuple[str, str]]) -> Mapping[str, object]:
    """Return a field of another stat with its column as it is called here; columns that only a host knows keep their pattern."""
    column = str(field.get("column", field.get("key")))
    if "pattern" in field or not rules:
        return field
    for old, new in rules:
        start, end = old.split(ANY_TEXT)
        if column.startswith(start) and column.endswith(end) and len(column) > len(start) + len(end):
            column = new.replace(ANY_TEXT, column[len(start) : len(column) - len(end)])
    return {**field, "column": column}


def _with_defaults(where: str, raw: Mapping[str, object]) -> object:
    fields, rest = raw.get("fields"), raw.get("rest", [])
    defaults = raw.get("defaults", {})
    if not isinstance(defaults, dict):
        raise SpecError(f"{where}defaults: must be a table, not {_show(defaults)}")
    for key in defaults:
        if key not in DEFAULTED:
            raise SpecError(f"{where}defaults: {shorten(key)} is none of {', '.join(DEFAULTED)}")
    if "has_rest" in raw and (raw["has_rest"] is not True or "rest" not in raw):
        raise SpecError(f"{where}has_rest: must be true, in a file that has `rest`")
    common = {"source": raw["source"], **defaults} if "source" in raw else defaults
    if not isinstance(rest, list):
        raise SpecError(f"{where}rest: must be a list of fields, not {_show(rest)}")
    if not isinstance(fields, list):
        return fields
    return [{**common, **field} if isinstance(field, dict) else field for field in (*fields, *rest)]


def _tables(value: object) -> Sequence[Mapping[str, object]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _texts(where: str, key: str, raw: Mapping[str, object]) -> list[str]:
    value = raw.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise SpecError(f"{where}{key}: must be a list of texts, not {_show(value)}")
    return value


def _show(value: object) -> str:
    return shorten(value) if isinstance(value, str) else repr(value)[:80]


# A dec4 of two decimals ends at 21 474 836.47: shares, milliseconds, events a second. 20 GiB/s in KiB/s is in reach, and 200 GiB/s,
# where one decimal ends, is not.
MAX_DECIMALS: Final = 3
LARGE_DECIMALS: Final = frozenset(
    {"B", "bytes", "B/s", "bytes/s", "kB", "KB", "KiB", "kB/s", "KB/s", "blocks", "sectors", "ns", "us", ""}
)
# Whole numbers: an int4 ends at 2 147 483 647. 2 TB/s in KiB/s is not in reach, 2 GB/s in bytes is.
LARGE_RATES: Final = frozenset({"B/s", "bytes/s", "bits/s", "ns/s", "us/s", "cycles/s", "instructions/s", ""})
SMALL_GAUGES: Final = frozenset({"threads", "processes", "tasks", "CPUs", "requests", "sockets", "users", "MHz", "LWPs", "locks"})


def usual_storage(kind: Kind, unit: str, decimals: int, raw: Container[str]) -> Storage:
    """Return the type for such a field; `raw` holds the keys of the spec that the field has (scale, clock, derived)."""
    if decimals:
        is_plain = "scale" not in raw and "clock" not in raw and "derived" not in raw and decimals <= MAX_DECIMALS
        is_large = unit in LARGE_DECIMALS or (unit == "KiB/s" and decimals > 1)
        is_small = kind is Kind.PERCENT or (kind in (Kind.RATE, Kind.GAUGE, Kind.TIME) and not is_large)
        return Storage.DEC4 if is_plain and is_small else Storage.FLOAT8
    if "scale" in raw:
        return Storage.FLOAT8
    is_small = (
        kind is Kind.PERCENT or (kind is Kind.RATE and unit not in LARGE_RATES) or (kind is Kind.GAUGE and unit in SMALL_GAUGES)
    )
    return Storage.INT4 if is_small and "derived" not in raw and "clock" not in raw else Storage.INT8
