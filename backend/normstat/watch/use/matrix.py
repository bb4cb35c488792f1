"""Answer the USE matrix of a host, or of all hosts, at a moment: from the means of the minutes before it."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.query.fleet_rows import read_host_ids
from normstat.query.host_os import read_system
from normstat.runtime.field_docs import Documented
from normstat.runtime.readable import format_human, natural_key
from normstat.runtime.units import to_base
from normstat.samples.lookup import list_host_stats, require_host
from normstat.stats.spec import Field
from normstat.stats.summaries import is_summary
from normstat.watch.rules.rule_file import WatchInput
from normstat.watch.rules.rule_frame import FieldSource, find_sources
from normstat.watch.use.checklist import OPTIONAL, RESOURCE_TITLES, SYSTEMS, UseKind, UseQuestion, UseSource, load_checklist
from normstat.watch.use.limited_units import MAX_UNITS, LimitedUnit, find_limited, limit_sources
from normstat.watch.use.use_means import LOOPBACK, HostMeans, is_cpu_of, read_use_means
from normstat.window import Window

# Minutes before the moment whose means the matrix shows; that of the fleet reads fewer of each host.
WINDOW: Final = timedelta(minutes=5)
FLEET_WINDOW: Final = timedelta(minutes=1)
WHOLE: Final = 100.0
UNIT: Final = "unit"
BASE_UNITS: Final = ("ms", "bytes", "bytes/s")

# fine, warning, critical: by the limits; no_limit: there is a value but no number that says whether it is too much;
# not_recorded: run the command.
UseState = Literal["fine", "warning", "critical", "no_limit", "not_recorded"]
# The worst last; a value without a limit or without a record has no state.
RANKS: Final[Mapping[UseState, int]] = {"not_recorded": 0, "no_limit": 1, "fine": 2, "warning": 3, "critical": 4}


@dataclass(frozen=True, slots=True)
class UseCell(Documented):
    """One question about a resource, and its answer."""

    kind: UseKind
    about: str
    state: UseState
    text: str
    """The value with its instance: `vda 83 %`. Of saturation it is the median of the highest tenth of the samples, with the mean
    where that is less: `vda 32 requests in the worst tenth (mean 4 requests)`. Empty where nothing is recorded."""

    n_instances: int
    """How many instances were looked at; the worst is shown."""

    stat: str | None
    """Where the value is from; null where nothing is recorded."""

    field: str | None
    instance: str
    warning_from: str
    """From this value on it is a warning; empty without such a limit, as are the next three."""

    warning_above: str
    critical_from: str
    limits_from: str
    """Where the limits come from."""

    command: str
    """What answers it by hand on this system."""

    record: str
    """The line of stats.conf that would record it; empty where no tool can."""


@dataclass(frozen=True, slots=True)
class UseRow(Documented):
    """A resource of the host, or a unit with limits of its own."""

    resource: str
    title: str
    """`CPUs`; of a unit its name."""
    cells: list[UseCell]
    limits: str = ""
    """What a systemd unit or container may use: `0.5 CPUs, 512 MiB`. Empty for a resource of the whole host."""


@dataclass(frozen=True, slots=True)
class UseMatrix(Documented):
    """Utilisation, saturation and errors of the resources of a host: means of the window, of saturation its worst tenth."""

    host: str
    start: datetime
    end: datetime
    rows: list[UseRow]
    """The resources of the host, GPUs only where there are some; then the units with a limit of CPU time or memory, the worst
    first, at most 20."""
    n_units: int = 0
    """How many units have a limit."""


@dataclass(frozen=True, slots=True)
class FleetUseCell(Documented):
    """A resource of a host: its worst cell."""

    resource: str
    state: UseState
    kind: UseKind | None
    """Which of the three it is; null where nothing is recorded."""

    text: str
    n_recorded: int
    """How many of the questions about the resource are answered."""

    n_questions: int


@dataclass(frozen=True, slots=True)
class FleetUseRow(Documented):
    """The resources of a host."""

    host: str
    state: UseState
    """That of its worst cell."""

    cells: list[FleetUseCell]


@dataclass(frozen=True, slots=True)
class FleetUse(Documented):
    """The USE matrices of all hosts, the worst host first: of the window, as in the matrix of a host."""

    start: datetime
    end: datetime
    resources: dict[str, str]
    """Titles by resource, in the order of the columns."""

    hosts: list[FleetUseRow]


@dataclass(frozen=True, slots=True)
class WorstValue:
    """The worst instance of a field. `value`: in the unit of the limits; `amount`: the same in words; `n`: instances looked at"""

    value: float
    amount: str
    text: str
    instance: str
    n: int


async def read_matrix(session: AsyncSession, host: str, at: datetime) -> UseMatrix:
    """Return the matrix of a host at a moment.

    Raises: NotFound for an unknown host
    """
    host_id = await require_host(session, host)
    window = Window(at - WINDOW, at)
    means = (await read_use_means(session, [host_id], _sources(), window))[host_id]
    system = await read_system(session, host, [stat.name for stat in await list_host_stats(session, host_id)])
    rows = answer_host(means, system if system in SYSTEMS else "linux")
    own = [row for row in rows if not row.limits]
    of_units = [row for row in rows if row.limits]
    return UseMatrix(host, window.start, window.end, [*own, *of_units[:MAX_UNITS]], len(of_units))


async def read_fleet_use(session: AsyncSession, at: datetime) -> FleetUse:
    """Return the worst cell of each resource of every host at a moment."""
    ids = await read_host_ids(session)
    window = Window(at - FLEET_WINDOW, at)
    means = await read_use_means(session, sorted(ids.values()), _sources(), window)
    rows = [_to_fleet_row(host, answer_host(means[host_id], "linux")) for host, host_id in ids.items()]
    rows.sort(key=lambda row: (-RANKS[row.state], natural_key(row.host)))
    recorded = {cell.resource for row in rows for cell in row.cells if cell.n_recorded}
    titles = {resource: title for resource, title in RESOURCE_TITLES.items() if resource not in OPTIONAL or resource in recorded}
    rows = [replace(row, cells=[cell for cell in row.cells if cell.resource in titles]) for row in rows]
    return FleetUse(window.start, window.end, titles, rows)


def answer_host(means: HostMeans, system: str) -> list[UseRow]:
    """Return the rows of a host, then those of its units with limits, the worst first.

    `system`: whose commands to show where nothing is recorded
    """
    rows: dict[str, list[UseCell]] = {resource: [] for resource in RESOURCE_TITLES if resource != UNIT}
    of_unit: list[UseQuestion] = []
    for question in load_checklist():
        if question.resource == UNIT:
            of_unit.append(question)
        else:
            rows[question.resource].append(_answer(means, question, system))
    own = [UseRow(resource, RESOURCE_TITLES[resource], cells) for resource, cells in rows.items()]
    units = [_to_unit_row(means, unit, of_unit, system) for unit in find_limited(means.values)]
    units.sort(key=lambda row: (-max(RANKS[cell.state] for cell in row.cells), natural_key(row.title)))
    return [*(row for row in own if row.resource not in OPTIONAL or _is_recorded(row)), *units]


def _is_recorded(row: UseRow) -> bool:
    return any(cell.state != "not_recorded" for cell in row.cells)


def _sources() -> list[UseSource]:
    return [*(source for question in load_checklist() for source in question.sources), *limit_sources()]


def _to_unit_row(means: HostMeans, unit: LimitedUnit, questions: Sequence[UseQuestion], system: str) -> UseRow:
    cells = [_answer_unit(means, unit.name, question, system) for question in questions]
    return UseRow(UNIT, unit.name, cells, unit.limits)


def _answer_unit(means: HostMeans, unit: str, question: UseQuestion, system: str) -> UseCell:
    """Return a cell of a unit: what is known of it, each after its words, with the state and the limits of the worst."""
    found: list[UseCell] = []
    told: list[str] = []
    for source in question.sources:
        for place in _sources_of(source.wanted, tuple(means.stats)):
            value = (means.tails if source.is_tail else means.values).get((place.stat, place.field.key), {}).get(unit)
            if value is None:
                continue
            own = choose_worst(source, place.field, {unit: value}, 1)
            text = f"{source.words} {own.amount}"
            found.append(_to_cell(question, system, source, place, replace(own, text=text)))
            # Most units are never throttled, or have no limit of memory.
            told += [text] if value else []
    if not found:
        return _not_recorded(question, system)
    worst = max(found, key=lambda cell: RANKS[cell.state])
    return replace(worst, text=", ".join(told) or worst.text)


def _to_fleet_row(host: str, rows: Sequence[UseRow]) -> FleetUseRow:
    by_resource: dict[str, list[UseRow]] = {resource: [] for resource in RESOURCE_TITLES}
    for row in rows:
        by_resource[row.resource].append(row)
    cells = [_to_fleet_cell(resource, own) for resource, own in by_resource.items()]
    return FleetUseRow(host, max((cell.state for cell in cells), key=lambda state: RANKS[state]), cells)


def _to_fleet_cell(resource: str, rows: Sequence[UseRow]) -> FleetUseCell:
    """Return the worst cell of a resource; of units that of the worst one, which comes first."""
    if not rows:
        return FleetUseCell(resource, "not_recorded", None, "", 0, 0)
    row = rows[0]
    worst = max(row.cells, key=lambda cell: RANKS[cell.state])
    n_recorded = sum(cell.state != "not_recorded" for cell in row.cells)
    kind = worst.kind if n_recorded else None
    text = f"{row.title} {worst.text}" if row.limits else worst.text
    return FleetUseCell(resource, worst.state, kind, text, n_recorded, len(row.cells))


def _answer(means: HostMeans, question: UseQuestion, system: str) -> UseCell:
    cells = []
    for source in question.sources:
        for found in _sources_of(source.wanted, tuple(means.stats)):
            value = _find_value(means, source, found)
            if value is None:
                continue
            cells.append(_to_cell(question, system, source, found, value))
            # Kinds of errors do not stand for each other: no killed process says nothing about the memory modules.
            if question.kind != "errors":
                return cells[0]
            break
    if cells:
        return max(cells, key=lambda cell: RANKS[cell.state])
    return _not_recorded(question, system)


def _to_cell(question: UseQuestion, system: str, source: UseSource, found: FieldSource, value: WorstValue) -> UseCell:
    state, limits = judge_value(source, value.value), word_limits(source)
    place = (found.stat, found.field.key, value.instance)
    commands = (question.commands[system], question.records.get(system, ""))
    # Most tools number GPUs.
    text = f"GPU {value.text}" if question.resource == "gpu" and value.instance.isdecimal() else value.text
    return UseCell(question.kind, question.about, state, text, value.n, *place, *limits, *commands)


def _not_recorded(question: UseQuestion, system: str) -> UseCell:
    commands = (question.commands[system], question.records.get(system, ""))
    return UseCell(question.kind, question.about, "not_recorded", "", 0, None, None, "", "", "", "", "", *commands)


@functools.lru_cache(maxsize=4096)
def _sources_of(wanted: WatchInput, stats: tuple[str, ...]) -> tuple[FieldSource, ...]:
    # Most hosts of a fleet run the same tools.
    return tuple(find_sources(wanted, stats))


def _find_value(means: HostMeans, source: UseSource, found: FieldSource) -> WorstValue | None:
    """Return the value of a field that answers a cell. Missing: None without samples, or where the number of CPUs is unknown"""
    n_cpus = means.n_cpus if source.is_per_cpu else 1
    own = _own_values(means.values, source, found)
    if not own or n_cpus is None:
        return None
    if not source.is_tail:
        return choose_worst(source, found.field, own, n_cpus)
    worst = choose_worst(source, found.field, _own_values(means.tails, source, found), n_cpus)
    mean = choose_worst(source, found.field, {worst.instance: own[worst.instance]}, n_cpus)
    is_even = mean.value >= worst.value or mean.amount == worst.amount
    text = worst.text if is_even else f"{worst.text} in the worst tenth (mean {mean.amount})"
    return replace(worst, text=text)


def _own_values(
    values: Mapping[tuple[str, str], dict[str, float]], source: UseSource, found: FieldSource
) -> dict[str, float]:  # fmt: skip
    """Return the values of the instances that a source looks at."""
    all_of = values.get((found.stat, found.field.key), {})
    if source.wanted.is_each:
        own = {name: value for name, value in all_of.items() if not is_summary(found.stat, name) and name not in LOOPBACK}
    elif found.instance is not None:
        own = {name: value for name, value in all_of.items() if name == found.instance}
    else:
        own = {name: value for name, value in all_of.items() if not name or is_summary(found.stat, name)}
        cpus = [value for name, value in all_of.items() if is_cpu_of(found.stat, name)]
        if not own and cpus:
            own = {"": sum(cpus) / len(cpus)}
    return {name: value for name, value in own.items() if not source.leaves_out(name)}


def choose_worst(source: UseSource, field: Field, values: dict[str, float], n_cpus: int) -> WorstValue:
    """Return the instance with the highest value of a cell."""
    unit = source.wanted.unit
    factor = (to_base(1.0, field.unit) or 1.0) if unit in BASE_UNITS else 1.0
    cells = {name: (WHOLE - value if source.is_idle else value * factor / n_cpus) for name, value in values.items()}
    name = max(cells, key=lambda each: cells[each])
    # A number is shown with the noun that it counts.
    amount = format_human(cells[name], field.unit if unit == "1" else unit)
    if unit == "1/s":
        amount = format_human(values[name], field.unit)
    text = f"{amount} for each CPU" if source.is_per_cpu else amount
    return WorstValue(cells[name], amount, f"{name} {text}" if source.wanted.is_each else text, name, len(cells))


def judge_value(source: UseSource, value: float) -> UseState:
    """Return the state of a value.

    >>> judge_value(load_checklist()[0].sources[0], 81.5)
    'warning'
    """
    if source.amber is None and source.above is None:
        return "no_limit"
    if source.red is not None and value >= source.red:
        return "critical"
    is_high = value >= source.amber if source.amber is not None else value > (source.above or 0.0)
    return "warning" if is_high else "fine"


def word_limits(source: UseSource) -> tuple[str, str, str, str]:
    """Return from which value on it is a warning, above which, from which on it is critical, and the source. "" for none"""
    unit = "" if source.wanted.unit == "1" else source.wanted.unit
    amber, above, red = ("" if each is None else format_human(each, unit) for each in (source.amber, source.above, source.red))
    return amber, above, red, source.limits_from
