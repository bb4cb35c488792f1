"""Read the data for the scores of hosts, and compute them."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Final

import anyio.to_thread
import numpy as np
import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.covering_rows import read_covering_baselines
from normstat.baselines.rolling_baseline import MIN_PROFILED_S
from normstat.codecs.array_codec import BrokenBytes
from normstat.comparison.findings.coming_and_going import is_process_stat
from normstat.profiles.profile_codec import Band, unpack_band, unpack_scales
from normstat.profiles.profile_rows import ProfileRow, read_band_bodies
from normstat.query.fleet_rows import PresentInstance, read_instances
from normstat.query.minute_means import MinuteMeans
from normstat.records.score_rows import ScoreRow
from normstat.samples.lookup import StatRef, list_stats
from normstat.scoring.summary import Float32Array
from normstat.stats.spec import Semantics
from normstat.watch.fleet.baseline_normals import choose_profiles
from normstat.watch.fleet.minute_store import MINUTE_US, MinuteStore, StatRead
from normstat.watch.scores.host_bands import HostBand, StatBands, table_bands
from normstat.watch.scores.minute_scores import LENGTHS, MinuteScores, Repetition, StatMeans, UnusualSeries, score_minutes
from normstat.watch.scores.repetition import Asked, SeriesIds, add_repetitions
from normstat.window import Window, from_us

log = structlog.get_logger()

# Increase it with every change to how a score is computed.
SCORE_METHOD: Final = 1
# Minutes before the first one that its windows reach into.
N_BEFORE: Final = max(LENGTHS) - 1
MAX_KEPT_BANDS: Final = 2000
SCORE_DIGITS: Final = 4
NO_BUDGET_S: Final = float("inf")
# Looking for how series repeat takes this long at most in an hour of minutes.
REPETITIONS_S: Final = 5.0


@dataclass(slots=True)
class ScoreMemory:
    """The state of a process between two runs: means by minute, bands of profiles, tables made of them, and how series
    repeat.
    """

    minutes: MinuteStore
    bands: OrderedDict[tuple[object, ...], tuple[Band, Float32Array]] = field(default_factory=OrderedDict)
    tables: dict[str, tuple[tuple[object, ...], StatBands | None]] = field(default_factory=dict)
    repetitions: OrderedDict[Asked, Repetition | None] = field(default_factory=OrderedDict)


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """The hosts that are scored, in order, with their profiles and bands, and the instances of each stat."""

    host_ids: list[int]
    profiles: Mapping[int, ProfileRow]
    bands: Mapping[int, tuple[Band, Float32Array]]
    stats: Sequence[StatRef]
    instances: Mapping[int, Sequence[PresentInstance]]


async def score_hosts(
    session: AsyncSession, memory: ScoreMemory, host_ids: Sequence[int], minutes: range, *, now_us: int
) -> list[ScoreRow]:  # fmt: skip
    """Return the scores of these hosts in these minutes (of the epoch), of those with samples and the profile of a baseline.

    The minutes are within one hour, whose seasonal slot they are compared with.
    """
    plan = await _plan(session, memory, host_ids, minutes, from_us(now_us))
    if not plan.host_ids:
        return []
    read = range(minutes.start - N_BEFORE, minutes.stop)
    tables: list[StatBands] = []
    means: list[StatMeans] = []
    for stat in plan.stats:
        table = await anyio.to_thread.run_sync(_find_table, memory, plan, stat)
        if table is None:
            continue
        wanted = StatRead(stat, table.fields, tuple(plan.host_ids), table.instance_id.tolist())
        (found,), _ = await memory.minutes.read(session, [wanted], read, now_us=now_us, budget_s=NO_BUDGET_S)
        tables.append(table)
        means.append(await anyio.to_thread.run_sync(_to_means, found, table))
    scores = await anyio.to_thread.run_sync(score_minutes, tables, means, len(plan.host_ids), len(minutes))
    return _to_rows(plan, scores, await _find_repetitions(session, memory, plan, scores, minutes), minutes)


async def _find_repetitions(
    session: AsyncSession, memory: ScoreMemory, plan: _Plan, scores: MinuteScores, minutes: range
) -> dict[tuple[int, int], tuple[UnusualSeries, ...]]:
    """Return the unusual series with how they repeat, by host and minute."""
    found = {
        (plan.host_ids[host], minutes[at]): own for at, hosts in enumerate(scores.findings) for host, own in enumerate(hosts) if own
    }
    names = {stat.id: stat.name for stat in plan.stats}
    instances = {
        (one.host_id, names[stat_id], one.name): one.id
        for stat_id, own in plan.instances.items()
        if stat_id in names
        for one in own
    }
    ids = SeriesIds({stat.name: stat for stat in plan.stats}, instances)
    return await add_repetitions(session, memory.repetitions, found, ids, budget_s=REPETITIONS_S)


async def _plan(session: AsyncSession, memory: ScoreMemory, host_ids: Sequence[int], minutes: range, now: datetime) -> _Plan:
    window = Window(from_us(minutes.start * MINUTE_US), from_us(minutes.stop * MINUTE_US))
    wanted = set(host_ids)
    known = await read_covering_baselines(session, min_s=MIN_PROFILED_S, now=now)
    covering = {host_id: own for host_id, own in known.items() if host_id in wanted}
    profiles = await choose_profiles(session, covering, window)
    bands = await _find_bands(session, memory, profiles)
    scored = sorted(bands)
    stats = [stat for stat in await list_stats(session) if not is_process_stat(stat.name)] if scored else []
    whole = Window(from_us((minutes.start - N_BEFORE) * MINUTE_US), window.end)
    instances: dict[int, list[PresentInstance]] = {}
    for one in await read_instances(session, scored, [stat.id for stat in stats], whole) if stats else []:
        instances.setdefault(one.stat_id, []).append(one)
    return _Plan(scored, profiles, bands, [stat for stat in stats if stat.id in instances], instances)


async def _find_bands(
    session: AsyncSession, memory: ScoreMemory, profiles: Mapping[int, ProfileRow]
) -> dict[int, tuple[Band, Float32Array]]:  # fmt: skip
    """Return the band and the change scales of each profile that can be read, by host."""
    missing = [row.key for row in profiles.values() if (row.key, row.made_at) not in memory.bands]
    bodies = await read_band_bodies(session, missing)
    for row in profiles.values():
        body = bodies.get(row.key)
        if body is not None:
            try:
                memory.bands[row.key, row.made_at] = await anyio.to_thread.run_sync(_unpack, body)
            except BrokenBytes:
                log.warning("profile_broken", baseline=row.key.baseline_id, host_id=row.key.host_id)
    found = {}
    for host_id, row in profiles.items():
        key = (row.key, row.made_at)
        if key in memory.bands:
            found[host_id] = memory.bands[key]
            memory.bands.move_to_end(key)
    while len(memory.bands) > max(MAX_KEPT_BANDS, len(profiles)):
        memory.bands.popitem(last=False)
    return found


def _unpack(body: bytes) -> tuple[Band, Float32Array]:
    return unpack_band(body), unpack_scales(body)


def _find_table(memory: ScoreMemory, plan: _Plan, stat: StatRef) -> StatBands | None:
    """Return the normal values of a stat's series, as made before if neither profiles nor instances changed."""
    own = plan.instances[stat.id]
    fields = tuple(field for field in stat.fields if field.semantics is not Semantics.COUNTER)
    by_host: dict[int, dict[str, int]] = {}
    for one in own:
        by_host.setdefault(one.host_id, {})[one.name] = one.id
    versions = tuple((plan.profiles[host_id].key, plan.profiles[host_id].made_at) for host_id in plan.host_ids)
    key = (versions, tuple(sorted(one.id for one in own)), tuple(field.key for field in fields))
    kept = memory.tables.get(stat.name)
    if kept is not None and kept[0] == key:
        return kept[1]
    hosts = [HostBand(*plan.bands[host_id], {stat.name: by_host.get(host_id, {})}) for host_id in plan.host_ids]
    table = table_bands(stat.name, fields, hosts)
    memory.tables[stat.name] = (key, table)
    return table


def _to_means(found: Sequence[MinuteMeans | None], table: StatBands) -> StatMeans:
    """Return the minutes in the order of the table's instances."""
    n = len(table.instance_id)
    means = np.full((len(found), n, len(table.fields)), np.nan, np.float32)
    n_rows = np.zeros((len(found), n), np.int64)
    order = np.argsort(table.instance_id)
    ids = table.instance_id[order]
    for at, minute in enumerate(found):
        if minute is None or not len(minute.instance_id):
            continue
        places = np.minimum(np.searchsorted(ids, minute.instance_id), n - 1)
        is_known = ids[places] == minute.instance_id
        rows = order[places[is_known]]
        means[at, rows] = minute.means[is_known]
        n_rows[at, rows] = minute.n_rows[is_known]
    return StatMeans(means, n_rows)


def _to_rows(
    plan: _Plan, found: MinuteScores, series: Mapping[tuple[int, int], Sequence[UnusualSeries]], minutes: range
) -> list[ScoreRow]:  # fmt: skip
    """Return the rows of the minutes in which something was judged."""
    rows = []
    for at, host in np.argwhere(found.n_judged > 0).tolist():
        profile = plan.profiles[plan.host_ids[host]].key
        rows.append(
            ScoreRow(
                plan.host_ids[host],
                from_us(minutes[at] * MINUTE_US),
                SCORE_METHOD,
                profile.baseline_id,
                profile.version,
                int(found.n_judged[at, host]),
                _to_numbers(found.scores[at, host, 0]),
                _to_numbers(found.scores[at, host, 1]),
                _to_numbers(found.scores[at, host, 2]),
                tuple(asdict(one) for one in series.get((plan.host_ids[host], minutes[at]), ())),
            )
        )
    return rows


def _to_numbers(scores: Float32Array) -> tuple[float | None, ...]:
    return tuple(None if np.isnan(score) else round(float(score), SCORE_DIGITS) for score in scores)
