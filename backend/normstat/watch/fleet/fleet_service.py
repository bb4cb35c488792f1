"""Read the fleet: every host in the hour before a moment, beside what its baseline says is normal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import anyio.to_thread
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.rolling_baseline import LENGTH, SENDING
from normstat.baselines.rolling_rows import read_recorded
from normstat.query.fleet_rows import (
    PresentInstance,
    read_groups_of_hosts,
    read_host_ids,
    read_instances,
    read_past_streams,
    read_stat_names,
)
from normstat.query.host_lists import list_hosts
from normstat.records.episode_rows import CONTINUOUS, read_episodes_at
from normstat.runtime.readable import natural_key
from normstat.samples.lookup import StatRef, find_stats
from normstat.watch.fleet.baseline_normals import NormalsCache, NormalsRequest, find_normals
from normstat.watch.fleet.fleet_answer import NO_STREAMS, FleetParts, HostPart, StatMinutes, make_fleet
from normstat.watch.fleet.fleet_model import Fleet
from normstat.watch.fleet.judging import RECENT_MINUTES
from normstat.watch.fleet.key_metrics import MAX_INSTANCES, KeyField, choose_fields, find_key_fields, is_key_stat
from normstat.watch.fleet.minute_store import MINUTE_US, MinuteStore, StatRead
from normstat.window import Window, from_us, to_us

N_MINUTES: Final = 60
# Maximum time to read the hour per request; the rest is read at the next one.
BUDGET_S: Final = 0.3
# The colour of an episode that is named before others of its host.
WORST: Final = "red"


@dataclass(frozen=True, slots=True)
class FleetMemory:
    """The state of the fleet that a process keeps between requests."""

    minutes: MinuteStore
    normals: NormalsCache


async def read_fleet(
    session: AsyncSession, memory: FleetMemory, at: datetime | None, *, now: datetime, budget_s: float = BUDGET_S
) -> Fleet:  # fmt: skip
    """Return the fleet in the hour before `at`, or (None) as it is now, its last minute being the one that has begun."""
    end_us = -(-to_us(at) // MINUTE_US) if at is not None else to_us(now) // MINUTE_US + 1
    minutes = range(end_us - N_MINUTES, end_us)
    window = Window(from_us(minutes.start * MINUTE_US), from_us(minutes.stop * MINUTE_US))
    infos = await list_hosts(session, now)
    ids = await read_host_ids(session)
    groups = await read_groups_of_hosts(session)
    stats = await find_stats(session, [name for name in await read_stat_names(session) if is_key_stat(name)])
    known = {stat.name: keys for stat in stats if (keys := find_key_fields(stat))}
    stats = [stat for stat in stats if stat.name in known]
    own_ids = sorted(ids[info.name] for info in infos if info.name in ids)
    instances = await read_instances(session, own_ids, [stat.id for stat in stats], window) if stats else []
    chosen = _choose_series(stats, known, instances)
    reads = _plan(stats, known, chosen, own_ids)
    found, n_read = await memory.minutes.read(session, reads, minutes, now_us=to_us(now), budget_s=budget_s)
    recent = Window(from_us((minutes.stop - RECENT_MINUTES) * MINUTE_US), window.end)
    covered = await find_normals(session, memory.normals, NormalsRequest(own_ids, stats, known, recent, now))
    learned = await _read_learned(session, [id_ for id_ in own_ids if id_ not in covered], now) if at is None else {}
    past = {} if at is None else await read_past_streams(session, window.end)
    parts = FleetParts(
        hosts=[
            HostPart(
                ids[info.name],
                info,
                groups.get(ids[info.name], ()),
                chosen.get(ids[info.name], ()),
                any(name in known for name in info.stats),
                past.get(ids[info.name], NO_STREAMS),
            )
            for info in infos
            if info.name in ids
        ],
        covered=covered,
        minutes={
            read.stat.name: StatMinutes({field.key: at for at, field in enumerate(read.fields)}, own)
            for read, own in zip(reads, found, strict=True)
        },
        first_minute=minutes.start,
        n_minutes=len(minutes),
        n_read=n_read,
        at=None if at is None else window.end,
        learned_s=learned,
        said=await _read_said(session, now if at is None else window.end),
    )
    return await anyio.to_thread.run_sync(make_fleet, parts)


async def _read_said(session: AsyncSession, at: datetime) -> dict[int, str]:
    """Return the sentence of the most unusual finding of the continuous comparison at a moment, by the host's id."""
    said: dict[int, tuple[int, str]] = {}
    for row in await read_episodes_at(session, CONTINUOUS, at):
        if row.host_id is not None:
            found = (row.colour == WORST, row.sentence)
            said[row.host_id] = max(said.get(row.host_id, found), found, key=lambda one: one[0])
    return {host_id: sentence.removesuffix(".") for host_id, (_, sentence) in said.items()}


async def _read_learned(session: AsyncSession, host_ids: Sequence[int], now: datetime) -> dict[int, float]:
    """Return the seconds that hosts without a baseline recorded in the last days, of those that send now."""
    recorded = await read_recorded(session, host_ids, Window(now - LENGTH, now))
    return {host_id: own.seconds for host_id, own in recorded.items() if own.last_at >= now - SENDING}


Series = tuple[str, KeyField, str, int]


def _choose_series(
    stats: Sequence[StatRef], known: Mapping[str, Sequence[KeyField]], instances: Sequence[PresentInstance]
) -> dict[int, list[Series]]:  # fmt: skip
    """Return the key series of each host, by its id."""
    names = {stat.id: stat.name for stat in stats}
    present: dict[int, dict[str, list[PresentInstance]]] = {}
    for own in instances:
        present.setdefault(own.host_id, {}).setdefault(names[own.stat_id], []).append(own)
    series: dict[int, list[Series]] = {}
    # Most hosts of a fleet are alike: the choice for one applies to the others.
    choices: dict[tuple[tuple[str, tuple[str, ...]], ...], dict[str, tuple[KeyField, ...]]] = {}
    taking: dict[tuple[int, str, str], bool] = {}
    for host_id, by_stat in present.items():
        shape = tuple((stat, tuple(own.name for own in some)) for stat, some in by_stat.items())
        fields = choices.get(shape)
        if fields is None:
            fields = choices[shape] = choose_fields(known, dict(shape))
        for stat, keys in fields.items():
            for key in keys:
                taken = []
                for own in by_stat[stat]:
                    place = (id(key), stat, own.name)
                    if place not in taking:
                        taking[place] = key.takes(stat, own.name)
                    if taking[place]:
                        taken.append(own)
                if len(taken) > MAX_INSTANCES:
                    taken = sorted(taken, key=lambda own: natural_key(own.name))[:MAX_INSTANCES]
                series.setdefault(host_id, []).extend((stat, key, own.name, own.id) for own in taken)
    return series


def _plan(
    stats: Sequence[StatRef],
    known: Mapping[str, Sequence[KeyField]],
    chosen: Mapping[int, Sequence[Series]],
    host_ids: Sequence[int],
) -> list[StatRead]:
    """Return which samples to read: all key fields of each stat that some host is judged by."""
    ids: dict[str, set[int]] = {}
    for own in chosen.values():
        for stat, _, _, instance_id in own:
            ids.setdefault(stat, set()).add(instance_id)
    return [
        StatRead(
            stat, tuple({key.field.key: key.field for key in known[stat.name]}.values()), tuple(host_ids), sorted(ids[stat.name])
        )
        for stat in stats
        if stat.name in ids
    ]
