"""What moves with a series: read every series of some hosts around a window, and find those that move like it, before or after it.

A window shows an event and little else, so as much time before and after it is read, too: what moves alike all the time and what
did it once then differ. Stats whose rows are also summed by command are left out, as in comparisons.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.comparison.findings.wording import name_column, name_series
from normstat.errors import BadRequest, NoData, NotFound, shorten
from normstat.query.host_steps import HostColumn, read_longest_interval_us, read_step_means
from normstat.query.step_reduction import DAY_US, STEPS_S, StepGrid
from normstat.runtime import work_budget
from normstat.runtime.field_docs import Documented
from normstat.runtime.readable import format_duration
from normstat.samples.lookup import InstanceRef, StatRef, find_instances, list_host_stats, list_latest_instances, require_host
from normstat.samples.rollups.rollup_rows import MINUTE_US, Place
from normstat.scoring.co_movement import MIN_STEPS, CoMovements, CoMovementSearch, choose_related, join_movements
from normstat.scoring.summary import Float32Array, FloatArray
from normstat.stats.catalogue import load_catalogue
from normstat.stats.spec import Field, Kind, Semantics
from normstat.window import Window, from_us

# Steps of the time that is looked at; a lag is found to one of them.
N_STEPS: Final = 480
# With more samples than this, minutes are read where there are rollups.
MAX_SAMPLES: Final = 30_000_000
# Values that are in memory at once.
MAX_CELLS: Final = 4_000_000
# Instances of a stat that are compared, those with the latest samples.
MAX_INSTANCES: Final = 5_000
MAX_WINDOW: Final = timedelta(days=31)
MIN_STEP_US: Final = 1_000_000
# Lags up to this part of the window are looked for.
LAG_SHARE: Final = 4
# Which series moved first is asked of those at least this many times as sure as the surest.
LEADING: Final = 0.6
# Groups of series in the answer.
MAX_GROUPS: Final = 100


@dataclass(frozen=True, slots=True)
class RelatedRequest:
    """The series that was chosen and where to look. `hosts`: names, the chosen one's first"""

    hosts: Sequence[str]
    stat: str
    field: str
    instance: str
    window: Window
    limit: int


@dataclass(frozen=True, slots=True)
class RelatedSeries(Documented):
    """A series that moves with the chosen one. It stands for the instances of its field that do so in the same direction."""

    host: str
    stat: str
    field: str
    column: str
    """As the tool prints it."""
    unit: str
    instance: str
    """Name of the instance; empty for stats without instances."""
    title: str
    """In words."""
    correlation: float
    """Correlation of their movements at the lag, -1..1; negative where one rises as the other falls."""
    lag_s: float
    """Seconds between the movement of the chosen series and that of this one: negative where this one moved first."""
    sentence: str
    """Direction and lag in words."""
    n_alike: int
    """Further instances of this field that move like the chosen series in the same direction."""
    values: list[float | None]
    """Mean of each step, as in `starts`; null without a sample."""


@dataclass(frozen=True, slots=True)
class RelatedAnswer(Documented):
    """What moves with a series around a window, the surest first."""

    host: str
    stat: str
    field: str
    instance: str
    title: str
    unit: str
    start: datetime
    end: datetime
    read_start: datetime
    """The time that was looked at begins before the window, where there is data."""
    read_end: datetime
    step_ms: int
    """Lags are found to one step."""
    max_lag_s: float
    """Lags up to this are looked for, in both directions."""
    starts: list[int]
    """When each step starts, in ms since the epoch."""
    values: list[float | None]
    """Mean of the chosen series in each step; null without a sample."""
    n_compared: int
    """Series that were compared."""
    n_left_out: int
    """Series with too few values around the window, and instances over the limit."""
    n_found: int
    """Series that move with the chosen one. About one in ten of them may do so by chance."""
    related: list[RelatedSeries]
    sentence: str
    """The result in one sentence."""


@dataclass(frozen=True, slots=True)
class _Look:
    """The chosen series and the steps that are looked at. Shape: values (n_steps,), NaN without a sample"""

    request: RelatedRequest
    chosen: HostColumn
    instance: InstanceRef
    window: Window
    grid: StepGrid
    values: Float32Array
    search: CoMovementSearch


@dataclass(frozen=True, slots=True)
class _Place:
    """A stat of a host, with the fields that are compared."""

    host: str
    host_id: int
    stat: StatRef
    fields: list[Field]


@dataclass(slots=True)
class _Candidates:
    """The series that were compared, and the values of those that may be in the answer."""

    names: list[tuple[str, StatRef, Field, str]] = field(default_factory=list)
    found: list[CoMovements] = field(default_factory=list)
    values: dict[int, Float32Array] = field(default_factory=dict)
    n_left_out: int = 0


async def find_related(session: AsyncSession, request: RelatedRequest, now: datetime) -> RelatedAnswer:
    """Return the series of the hosts that move with the chosen one around the window.

    Raises: NotFound for an unknown host, stat, field or instance; BadRequest for a counter and for too long a window; NoData when
    the series has too few samples there, or never moves
    """
    if request.window.end - request.window.start > MAX_WINDOW:
        raise BadRequest(f"A window of more than {MAX_WINDOW.days} days is too long for this; choose the time of one event")
    host_ids = {host: await require_host(session, host) for host in dict.fromkeys(request.hosts)}
    chosen, instance = await _find_chosen(session, host_ids[request.hosts[0]], request)
    window = _widen(request.window, instance, now)
    interval_us = await read_longest_interval_us(session, chosen, window, np.array([instance.id]))
    candidates = _Candidates()
    places: list[tuple[_Place, list[InstanceRef]]] = []
    n_series = 0
    for host, host_id in host_ids.items():
        for stat in without_summarised(await list_host_stats(session, host_id)):
            fields = list_moving_fields(stat)
            found, n_all = await list_latest_instances(session, host_id, stat, window, limit=MAX_INSTANCES)
            candidates.n_left_out += (n_all - len(found)) * len(fields)
            n_series += len(found) * len(fields)
            places.append((_Place(host, host_id, stat, fields), found))
    grid = StepGrid(0, _choose_step_us(window, interval_us, n_series))
    look = await _look_at(session, request, chosen, instance, window=grid.align(window), grid=grid)
    for place, instances in places:
        await _compare_stat(session, look, candidates, place, instances)
    return await work_budget.run_in_thread(_to_answer, look, candidates)


async def _look_at(
    session: AsyncSession, request: RelatedRequest, chosen: HostColumn, instance: InstanceRef, *, window: Window, grid: StepGrid
) -> _Look:
    place, ids = Place(chosen.host_id, chosen.stat.id), np.array([instance.id])
    means = await read_step_means(session, place, chosen.stat, [chosen.field], window=window, instance_ids=ids, grid=grid)
    values = means[0, 0]
    # The host may have begun to send later, or have stopped.
    known = np.flatnonzero(~np.isnan(values))
    if len(known):
        first, last = int(known[0]), int(known[-1]) + 1
        values = values[first:last]
        window = Window(from_us(window.start_us + first * grid.step_us), from_us(window.start_us + last * grid.step_us))
    period = DAY_US // grid.step_us if DAY_US % grid.step_us == 0 else None
    max_lag = math.ceil((request.window.end_us - request.window.start_us) / LAG_SHARE / grid.step_us)
    try:
        search = CoMovementSearch(values.astype(np.float64), max_lag, period=period)
    except ValueError as error:
        title = name_series(chosen.stat.name, instance.name, chosen.field)
        raise NoData(
            f"{title} of {chosen.host} cannot be compared around this window: {error}. Choose a longer window, with at least "
            f"{MIN_STEPS // 3} reports, in which it changes"
        ) from None
    return _Look(request, chosen, instance, window, grid, values, search)


async def _find_chosen(session: AsyncSession, host_id: int, request: RelatedRequest) -> tuple[HostColumn, InstanceRef]:
    host = request.hosts[0]
    stat = next((own for own in await list_host_stats(session, host_id) if own.name == request.stat), None)
    if stat is None:
        raise NotFound(f"{host} has never sent {shorten(request.stat)}", {"stat": request.stat})
    found = next((own for own in stat.fields if own.key == request.field), None)
    if found is None:
        known = ", ".join(own.key for own in stat.fields)
        raise NotFound(f"{stat.name} has no field {shorten(request.field)}; it has {known}", {"field": request.field})
    if found.semantics is Semantics.COUNTER:
        raise BadRequest(f"{stat.name}.{found.key} only counts up since boot, so nothing in it goes up and down. Choose a rate")
    named = await find_instances(session, host_id, stat.id, [request.instance])
    if not named:
        what = f"no instance {shorten(request.instance)}" if request.instance else "several instances: name one"
        raise NotFound(f"{stat.name} of {host} has {what}", {"instance": request.instance})
    return HostColumn(host_id, host, stat, found), named[0]


def _widen(window: Window, instance: InstanceRef, now: datetime) -> Window:
    """Return the window with as much time before and after it, as far as there can be samples of the instance."""
    length = window.end - window.start
    # The row of an active instance is written now and then, so its last sample may be later than it says.
    return Window(
        max(window.start - length, min(instance.first_sample_at, window.start)), min(window.end + length, max(now, window.end))
    )


def _choose_step_us(window: Window, interval_us: int, n_series: int) -> int:
    """Return the length of the steps: a round one, that holds a report of the chosen series."""
    length_us = window.end_us - window.start_us
    least_us = max(length_us // N_STEPS, interval_us, MIN_STEP_US)
    if n_series * length_us / max(interval_us, MIN_STEP_US) > MAX_SAMPLES and length_us // MINUTE_US >= MIN_STEPS:
        least_us = max(least_us, MINUTE_US)
    return next((step_s * 1_000_000 for step_s in STEPS_S if step_s * 1_000_000 >= least_us), DAY_US)


def without_summarised(stats: Sequence[StatRef]) -> list[StatRef]:
    """Return the stats without those whose rows another one of them sums up."""
    known = load_catalogue().stats
    summarised = {known[stat.name][1].summary_of for stat in stats if stat.name in known}
    return [stat for stat in stats if stat.name not in summarised]


def list_moving_fields(stat: StatRef) -> list[Field]:
    """Return the fields of a stat that can move both ways: all but counters."""
    return [own for own in stat.fields if own.kind is not Kind.COUNTER and own.semantics is not Semantics.COUNTER]


async def _compare_stat(
    session: AsyncSession, look: _Look, candidates: _Candidates, place: _Place, instances: Sequence[InstanceRef]
) -> None:
    """Compare the series of a stat of a host, some fields at a time."""
    by_id = sorted(instances, key=lambda own: own.id)
    if not by_id or not place.fields:
        return
    ids = np.array([own.id for own in by_id])
    n_cells = len(ids) * look.search.n_steps
    at_once = max(1, MAX_CELLS // n_cells)
    for begin in range(0, len(place.fields), at_once):
        some = place.fields[begin : begin + at_once]
        await work_budget.use_here(work_budget.CELL_BYTES * n_cells * len(some))
        means = await read_step_means(
            session,
            Place(place.host_id, place.stat.id),
            place.stat,
            some,
            window=look.window,
            instance_ids=ids,
            grid=look.grid,
        )
        names = [(place.host, place.stat, own, instance.name) for own in some for instance in by_id]
        await work_budget.run_in_thread(_compare_some, look.search, candidates, names, means)
    await work_budget.use_here(0)


def _compare_some(
    search: CoMovementSearch, candidates: _Candidates, names: list[tuple[str, StatRef, Field, str]], means: Float32Array
) -> None:
    """Compare the series of some fields, and keep the values of those that may be in the answer. Shape: see read_step_means"""
    work_budget.check()
    stat = names[0][1]
    if _counts_absent(stat):
        # A command without a row in a report did nothing in it.
        is_reported = ~np.isnan(means).all(axis=(0, 1))
        rated = [number for number in range(len(means)) if names[number * means.shape[1]][2].semantics is Semantics.RATE]
        for number in rated:
            of_field = means[number]
            of_field[np.isnan(of_field) & is_reported] = 0
    rows = means.reshape(-1, means.shape[2])
    found = search.compare(rows)
    first = len(candidates.names)
    candidates.names += names
    candidates.found.append(found)
    for row in np.flatnonzero(found.is_candidate()).tolist():
        candidates.values[first + row] = rows[row].copy()


def _counts_absent(stat: StatRef) -> bool:
    known = load_catalogue().stats.get(stat.name)
    return known is not None and known[1].summary_of != ""


def _to_answer(look: _Look, candidates: _Candidates) -> RelatedAnswer:
    request, chosen, instance, grid = look.request, look.chosen, look.instance, look.grid
    found = join_movements(candidates.found)
    own = (chosen.host, chosen.stat.name, chosen.field.key, instance.name)
    places = [place for place in choose_related(found).tolist() if _key(candidates.names[place]) != own]
    step_s = grid.step_us / 1_000_000
    groups: dict[tuple[str, str, str, bool], list[int]] = {}
    for place in places:
        host, stat, of_field, _ = candidates.names[place]
        groups.setdefault((host, stat.name, of_field.key, found.correlation[place] > 0), []).append(place)
    related = [
        _to_series(candidates, found, members, step_s) for members in list(groups.values())[: min(request.limit, MAX_GROUPS)]
    ]
    first_us = look.window.start_us
    title = name_series(chosen.stat.name, instance.name, chosen.field)
    n_compared = int(found.is_known.sum()) - 1
    return RelatedAnswer(
        host=chosen.host,
        stat=chosen.stat.name,
        field=chosen.field.key,
        instance=instance.name,
        title=title,
        unit=chosen.field.unit,
        start=request.window.start,
        end=request.window.end,
        read_start=look.window.start,
        read_end=look.window.end,
        step_ms=grid.step_us // 1000,
        max_lag_s=look.search.max_lag * step_s,
        starts=[(first_us + number * grid.step_us) // 1000 for number in range(len(look.values))],
        values=_to_list(look.values),
        n_compared=max(0, n_compared),
        n_left_out=candidates.n_left_out + len(found.is_known) - int(found.is_known.sum()),
        n_found=len(places),
        related=related,
        sentence=_to_sentence(title, related[: _count_sure(found, groups.values())], len(places), max(0, n_compared)),
    )


def _key(name: tuple[str, StatRef, Field, str]) -> tuple[str, str, str, str]:
    host, stat, own, instance = name
    return host, stat.name, own.key, instance


def _to_series(candidates: _Candidates, found: CoMovements, members: Sequence[int], step_s: float) -> RelatedSeries:
    place = members[0]
    host, stat, own, instance = candidates.names[place]
    correlation, lag_s = float(found.correlation[place]), float(found.lag[place]) * step_s
    return RelatedSeries(
        host=host,
        stat=stat.name,
        field=own.key,
        column=name_column(own),
        unit=own.unit,
        instance=instance,
        title=name_series(stat.name, instance, own),
        correlation=round(correlation, 3),
        lag_s=lag_s,
        sentence=describe_lag(lag_s, step_s, is_opposite=correlation < 0),
        n_alike=len(members) - 1,
        values=_to_list(candidates.values[place]),
    )


def describe_lag(lag_s: float, step_s: float, *, is_opposite: bool) -> str:
    """Return the direction and the lag in words. `step_s`: lags are found to one step.

    >>> describe_lag(-4, 2, is_opposite=True), describe_lag(0, 10, is_opposite=False), describe_lag(90, 30, is_opposite=False)
    ('moves the other way, 4 s before it', 'moves with it, within 10 s', 'moves with it, 1 min 30 s after it')
    """
    way = "moves the other way" if is_opposite else "moves with it"
    if lag_s == 0:
        return f"{way}, within {format_duration(step_s)}"
    return f"{way}, {format_duration(abs(lag_s))} {'before' if lag_s < 0 else 'after'} it"


def _to_sentence(title: str, related: Sequence[RelatedSeries], n_found: int, n_compared: int) -> str:
    if not related:
        return f"Nothing moves with {title}: none of {n_compared:,} series does so more than chance would explain."
    earliest = min(related, key=lambda own: own.lag_s)
    first = "nothing moved before it"
    if earliest.lag_s < 0:
        first = f"{earliest.title} of {earliest.host} moved first, {format_duration(-earliest.lag_s)} before it"
    return f"{n_found:,} of {n_compared:,} series move with {title}; {first}."


def _count_sure(found: CoMovements, groups: Iterable[Sequence[int]]) -> int:
    """Return how many of the first groups are about as sure as the first."""
    scores = [float(found.score[members[0]]) for members in groups]
    return sum(score >= LEADING * scores[0] for score in scores)


def _to_list(values: Float32Array | FloatArray) -> list[float | None]:
    return [None if math.isnan(value) else float(f"{value:.6g}") for value in values.tolist()]


def names_of_hosts(host: str, others: Iterable[str]) -> list[str]:
    """Return the hosts to look at, the chosen series' own first, each once."""
    return list(dict.fromkeys([host, *others]))
