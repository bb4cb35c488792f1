"""The metrics of several hosts: fields of their stats, and quantities that different tools and systems measure alike.

A quantity is a meaning of the rule file (next_questions/questions.toml) in one dimension. `net.in` is bytes a second in one field
and packets a second in another: these are two quantities. Fields whose numbers cannot be compared between hosts (counters
since boot, counts of intervals of unknown length) belong to none; each is a metric of its own, by its stat and key.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Final

from normstat.comparison.next_questions.question_rules import Meaning, Pattern, load_rules
from normstat.errors import NotFound, shorten
from normstat.query.host_lines import MetricColumn
from normstat.query.host_steps import HostColumn
from normstat.query.step_reduction import Reduction
from normstat.runtime.field_docs import Documented
from normstat.runtime.units import BYTES, MILLISECONDS
from normstat.samples.lookup import StatRef
from normstat.stats.catalogue import load_catalogue
from normstat.stats.spec import Field, Kind, Semantics, Shape, Worse

FIELD_KEY: Final = re.compile(r"([a-z]\w*)\.(\w+)", re.ASCII)
CPU: Final = "cpu"
# Numbers of things, which may be compared whatever the tool calls the things; others in small letters are amounts.
COUNTED: Final = re.compile(r"|1|[a-z]+s", re.ASCII)
AMOUNTS: Final = frozenset({"pages", "blocks", "characters", "ticks", "cycles"})
CPU_TITLES: Final = frozenset({"CPU", "logical processor"})


@dataclass(frozen=True, slots=True)
class MetricInfo(Documented):
    """What a graph of several hosts can show."""

    key: str
    """`STAT.FIELD`, or the name of a meaning; where it has several dimensions, with the dimension: `net.in:bytes_per_s`."""

    title: str
    unit: str
    group: str
    """The heading in a menu: the title of the stat, or empty for a meaning."""

    n_hosts: int
    """Hosts that have sent it at any time."""

    fields: list[str]
    """The fields that give it, as `STAT.FIELD`; the one that most hosts have comes first."""

    help: str
    worse: Worse
    decimals: int
    is_percent: bool
    is_level: bool
    """A state, such as free memory, rather than a rate."""


@dataclass(frozen=True, slots=True)
class MetricChoice:
    """A metric of some hosts: where each host has it, and how a host's instances become one line by default."""

    info: MetricInfo
    columns: Mapping[str, MetricColumn]
    usual: Reduction


@dataclass(frozen=True, slots=True)
class KnownHost:
    """A host with the stats that it has sent."""

    id: int
    name: str
    stats: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _QuantitySource:
    """A field that gives a quantity. `place`: its position among those of the meaning."""

    stat: StatRef
    field: Field
    place: tuple[int, int, int]
    instances: tuple[str, ...]
    n_hosts: int


def dimension_of(field: Field) -> tuple[str, str, float]:
    """Return the name of what is measured, the base unit, and the factor to it.

    Numbers of different dimensions are never in one graph.
    """
    unit = field.unit
    name, slash, per = unit.partition("/")
    if unit == "%":
        return "pct", "%", 1.0
    suffix = "_per_s" if slash else ""
    if slash and per != "s":
        return _slug(unit), unit, 1.0
    if name in BYTES:
        return f"bytes{suffix}", f"B{slash}{per}", float(BYTES[name])
    if name in MILLISECONDS:
        return f"time{suffix}", f"ms{slash}{per}", MILLISECONDS[name]
    if COUNTED.fullmatch(name) and name not in AMOUNTS:
        return ("per_s", "1/s", 1.0) if slash else ("number", "", 1.0)
    return _slug(unit), unit, 1.0


def _slug(unit: str) -> str:
    return re.sub(r"\W+", "_", unit.lower(), flags=re.ASCII).strip("_") or "number"


def is_comparable(field: Field) -> bool:
    """Return whether a number of one host means the same as that of another: not a counter since boot, and not the count of an
    interval, which may be ten seconds here and a minute there.
    """
    return field.semantics is not Semantics.COUNTER and not (field.kind is Kind.COUNT and field.semantics is Semantics.RATE)


def list_metrics(hosts: Sequence[KnownHost], stats: Sequence[StatRef]) -> list[MetricInfo]:
    """Return the metrics of these hosts: meanings first, then the fields of each stat."""
    n_hosts = Counter(name for host in hosts for name in host.stats)
    own = [stat for stat in stats if n_hosts[stat.name] and _shape_of(stat) is not Shape.HISTOGRAM]
    by_meaning = []
    for meaning in load_rules().meanings.values():
        dimensions = _split(meaning, _find_sources(meaning, own, n_hosts))
        by_meaning += [
            _to_info(meaning, _key_of(meaning, name, dimensions), sources, hosts, is_alone=len(dimensions) == 1)
            for name, sources in dimensions.items()
        ]
    return by_meaning + [_of_field(stat, field, n_hosts[stat.name]) for stat in own for field in stat.fields]


def choose_metric(key: str, hosts: Sequence[KnownHost], stats: Sequence[StatRef]) -> MetricChoice:
    """Return the metric of that key: for each host that has it, the field that most hosts have.

    Raises: NotFound for an unknown key
    """
    name, _, wanted = key.partition(":")
    meaning = load_rules().meanings.get(name)
    n_hosts = Counter(stat for host in hosts for stat in host.stats)
    if meaning is None:
        return _choose_field(key, hosts, stats, n_hosts)
    dimensions = _split(meaning, _find_sources(meaning, stats, n_hosts))
    if wanted and wanted not in dimensions:
        has = f"; they have {', '.join(f'{name}:{known}' for known in dimensions)}" if dimensions else ""
        raise NotFound(f"None of these hosts has {shorten(key)}{has}", {"metric": key})
    if not dimensions:
        raise NotFound(f"None of these hosts has {meaning.words} ({name})", {"metric": key})
    found = wanted or next(iter(dimensions))
    sources = dimensions[found]
    info = _to_info(meaning, _key_of(meaning, found, dimensions), sources, hosts, is_alone=len(dimensions) == 1)
    columns = {}
    for host in hosts:
        source = next((source for source in sources if source.stat.name in host.stats), None)
        if source is not None:
            factor = 1.0 if source.field.unit == info.unit else dimension_of(source.field)[2]
            columns[host.name] = MetricColumn(
                HostColumn(host.id, host.name, source.stat, source.field), factor, source.instances
            )  # fmt: skip
    used = {metric.column.field.decimals for metric in columns.values()}
    info = replace(info, decimals=max(used, default=info.decimals))
    return MetricChoice(info, columns, _usual_reduction(meaning.of == CPU, sources[0].field))


def _choose_field(key: str, hosts: Sequence[KnownHost], stats: Sequence[StatRef], n_hosts: Counter[str]) -> MetricChoice:
    parts = FIELD_KEY.fullmatch(key)
    stat = None if parts is None else next((stat for stat in stats if stat.name == parts[1]), None)
    field = None if stat is None or parts is None else next((field for field in stat.fields if field.key == parts[2]), None)
    if stat is None or field is None:
        known = parts is not None and parts[1] in load_catalogue().stats
        reason = "no host has sent it" if known and stat is None else "GET /api/v1/host-metrics lists those of some hosts"
        raise NotFound(f"There is no metric {shorten(key)}: {reason}", {"metric": key})
    columns = {
        host.name: MetricColumn(HostColumn(host.id, host.name, stat, field), 1.0) for host in hosts if stat.name in host.stats
    }  # fmt: skip
    return MetricChoice(_of_field(stat, field, n_hosts[stat.name]), columns, _usual_reduction(_is_of_cpus(stat), field))


def _usual_reduction(is_of_cpus: bool, field: Field) -> Reduction:  # noqa: FBT001
    """Return what a host's instances become by default: for CPUs their average or sum; for others (disks, interfaces) the worst
    one, because those that a tool prints may contain each other.
    """
    if is_of_cpus:
        dimension, _, _ = dimension_of(field)
        if dimension == "pct":
            return Reduction.AVERAGE
        if dimension in ("per_s", "number", "bytes", "bytes_per_s"):
            return Reduction.SUM
    return Reduction.MINIMUM if field.worse is Worse.LOWER else Reduction.MAXIMUM


def _is_of_cpus(stat: StatRef) -> bool:
    return _instance_title(stat) in CPU_TITLES


def _instance_title(stat: StatRef) -> str:
    known = load_catalogue().stats.get(stat.name)
    return "" if known is None else known[1].instance_title


def _shape_of(stat: StatRef) -> Shape:
    known = load_catalogue().stats.get(stat.name)
    return Shape.TABLE if known is None else known[1].shape


def _find_sources(meaning: Meaning, stats: Sequence[StatRef], n_hosts: Counter[str]) -> list[_QuantitySource]:
    """Return the fields of the meaning that some host has, first those of the stat that most hosts have."""
    found = []
    for stat in stats:
        if not n_hosts[stat.name] or _shape_of(stat) is Shape.HISTOGRAM:
            continue
        patterns = [(number, pattern) for number, pattern in enumerate(meaning.patterns) if pattern.matches_stat(stat.name)]
        for position, field in enumerate(stat.fields if patterns else ()):
            place, pattern = _place_of(patterns, stat.name, field.key, position)
            if pattern is not None and is_comparable(field):
                found.append(_QuantitySource(stat, field, place, pattern.instances, n_hosts[stat.name]))
    return sorted(found, key=lambda source: (-source.n_hosts, source.place, source.stat.name))


def _place_of(
    patterns: Iterable[tuple[int, Pattern]], stat: str, field: str, position: int
) -> tuple[tuple[int, int, int], Pattern | None]:
    """Return the place of a field: by the pattern, by the alternative that names it, then by its column."""
    for number, pattern in patterns:
        if pattern.matches(stat, field, pattern.instances):
            named = next((at for at, name in enumerate(pattern.fields) if fnmatchcase(field, name)), 0)
            return (number, named, position), pattern
    return (0, 0, 0), None


def _split(meaning: Meaning, sources: Sequence[_QuantitySource]) -> dict[str, list[_QuantitySource]]:
    """Return the sources by dimension; the one that most hosts have comes first.

    What a tool counts for the whole host is not the same as for a disk or an interface. CPUs are parts of the host.
    """
    split: dict[str, list[_QuantitySource]] = {}
    for source in sources:
        name, _, _ = dimension_of(source.field)
        if meaning.of not in ("", CPU) and _instance_title(source.stat) == "":
            name = f"{name}_of_host"
        split.setdefault(name, []).append(source)
    return split


def _key_of(meaning: Meaning, dimension: str, dimensions: Mapping[str, object]) -> str:
    return meaning.name if len(dimensions) == 1 else f"{meaning.name}:{dimension}"


def _to_info(
    meaning: Meaning, key: str, sources: Sequence[_QuantitySource], hosts: Sequence[KnownHost], *, is_alone: bool
) -> MetricInfo:  # fmt: skip
    fields = [source.field for source in sources]
    units = {field.unit for field in fields}
    unit = fields[0].unit if len(units) == 1 else dimension_of(fields[0])[1]
    stats = {source.stat.name for source in sources}
    is_of_host = key.endswith("_of_host")
    title = meaning.words + (" of the whole host" if is_of_host else "") + ("" if is_alone else f" ({unit or 'number'})")
    return MetricInfo(
        key=key,
        title=title,
        unit=unit,
        group="",
        n_hosts=sum(not stats.isdisjoint(host.stats) for host in hosts),
        fields=[f"{source.stat.name}.{source.field.key}" for source in sources],
        help=fields[0].help,
        worse=fields[0].worse if len({field.worse for field in fields}) == 1 else Worse.NEITHER,
        decimals=max(field.decimals for field in fields),
        is_percent=unit == "%",
        is_level=all(field.kind in (Kind.GAUGE, Kind.COUNTER) for field in fields),
    )


def _of_field(stat: StatRef, field: Field, n_hosts: int) -> MetricInfo:
    known = load_catalogue().stats.get(stat.name)
    return MetricInfo(
        key=f"{stat.name}.{field.key}",
        title=f"{field.group} {field.column}" if field.group else field.column,
        unit=field.unit,
        group=stat.name if known is None else known[1].title,
        n_hosts=n_hosts,
        fields=[f"{stat.name}.{field.key}"],
        help=field.help,
        worse=field.worse,
        decimals=field.decimals,
        is_percent=field.unit == "%",
        is_level=field.kind in (Kind.GAUGE, Kind.COUNTER),
    )
