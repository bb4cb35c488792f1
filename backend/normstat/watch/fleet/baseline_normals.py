"""Find the normals of each host of the fleet: in the stored profile of the baseline that covers it, else in its samples."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

import anyio.to_thread
import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.covering_rows import CoveringBaseline, read_covering_baselines
from normstat.baselines.rolling_baseline import MIN_PROFILED_S
from normstat.baselines.window_sets import length_s
from normstat.codecs.array_codec import BrokenBytes
from normstat.profiles.profile_codec import METHOD
from normstat.profiles.profile_job import clip_at
from normstat.profiles.profile_rows import WHOLE_SLOT, ProfileKey, ProfileRow, read_band_bodies, read_profile_heads
from normstat.profiles.seasonality import possible_slots, slot_of
from normstat.query.fleet_rows import read_instances
from normstat.query.minute_means import read_span_samples
from normstat.samples.lookup import StatRef
from normstat.stats.engine.times.timeline import require_zone
from normstat.watch.fleet.key_metrics import KeyField
from normstat.watch.fleet.normals import HostNormals, SeriesName, SeriesNormal, normals_of_band, normals_of_samples
from normstat.window import Window

log = structlog.get_logger()

# Maximum number of hosts whose normals are cached.
MAX_KEPT: Final = 5000
# Maximum length of a baseline without a profile whose samples are read.
MAX_READ_S: Final = 2 * 3600
# Hosts whose normals are read per request; the others wait for the next one.
MAX_READ_HOSTS: Final = 100
# Samples that arrive late change the normals of a short baseline.
REREAD_AFTER: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class CoveredHost:
    """A host's baseline, and its normals. Missing: None while the profile is being built"""

    baseline: CoveringBaseline
    normals: HostNormals | None


@dataclass(frozen=True, slots=True)
class _Kept:
    made_at: datetime
    normals: HostNormals


class NormalsCache:
    """Cached normals of hosts, by profile or baseline and what invalidates them."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[object, ...], _Kept] = OrderedDict()

    def find(self, key: tuple[object, ...]) -> _Kept | None:
        """Return what is kept by this key."""
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def keep(self, key: tuple[object, ...], made_at: datetime, normals: HostNormals) -> None:
        """Cache normals made at that time."""
        self._kept[key] = _Kept(made_at, normals)
        while len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)


@dataclass(frozen=True, slots=True)
class NormalsRequest:
    """The hosts and stats to find normals for.

    `known`: the key fields of each stat; `at`: the last minutes, which choose the seasonal slot
    """

    host_ids: Sequence[int]
    stats: Sequence[StatRef]
    known: Mapping[str, Sequence[KeyField]]
    at: Window
    now: datetime

    @property
    def fields_key(self) -> int:
        """The key of normals besides their profile."""
        return hash(tuple((stat, key.field.key) for stat, keys in sorted(self.known.items()) for key in keys))


async def find_normals(session: AsyncSession, cache: NormalsCache, request: NormalsRequest) -> dict[int, CoveredHost]:
    """Return the baseline and the normals of each host that a baseline covers, by its id."""
    hosts = set(request.host_ids)
    covering = {host_id: own for host_id, own in (await read_covering_baselines(session)).items() if host_id in hosts}
    profiles = await choose_profiles(session, covering, request.at)
    stored = await _read_stored(session, cache, profiles, request)
    left = {host_id: own for host_id, own in covering.items() if host_id not in stored}
    sampled = await _read_sampled(session, cache, left, request)
    unbuilt = [host_id for host_id in left if host_id not in sampled]
    if unbuilt:
        # Until the profile of a new baseline is built the one before serves, as for the continuous comparison.
        earlier = await read_covering_baselines(session, min_s=MIN_PROFILED_S, now=request.now)
        covering |= {host_id: earlier[host_id] for host_id in unbuilt if host_id in earlier}
        profiles = await choose_profiles(session, {host_id: covering[host_id] for host_id in unbuilt}, request.at)
        stored |= await _read_stored(session, cache, profiles, request)
    return {host_id: CoveredHost(own, stored.get(host_id, sampled.get(host_id))) for host_id, own in covering.items()}


async def choose_profiles(
    session: AsyncSession, covering: Mapping[int, CoveringBaseline], at: Window
) -> dict[int, ProfileRow]:  # fmt: skip
    """Return the profile to judge each host by in a window: that of the seasonal slot, else of all hours.

    For a rolling baseline, the profile of the previous version until that of the new day is built.
    """
    chosen = await _choose_current(session, covering, at)
    before = {
        host_id: replace(own, version=own.version - 1)
        for host_id, own in covering.items()
        if own.is_rolling and own.version > 1 and host_id not in chosen
    }
    return chosen | await _choose_current(session, before, at, is_current=False) if before else chosen


async def _choose_current(
    session: AsyncSession, covering: Mapping[int, CoveringBaseline], at: Window, *, is_current: bool = True
) -> dict[int, ProfileRow]:  # fmt: skip
    zones = {own.time_zone: require_zone(own.time_zone) for own in covering.values()}
    wanted = [
        (ProfileKey(own.id, own.version, host_id, WHOLE_SLOT, METHOD), *possible_slots(at, zones[own.time_zone]))
        for host_id, own in covering.items()
    ]
    heads = await read_profile_heads(session, wanted)
    chosen = {}
    for host_id, own in covering.items():
        rows = {
            slot: row
            for slot, row in heads.get((own.id, host_id), {}).items()
            if row.effective and (not is_current or row.effective == clip_at(own.windows, row.until))
        }
        slot = slot_of(at, zones[own.time_zone], rows.keys() - {WHOLE_SLOT})
        row = rows.get(WHOLE_SLOT if slot is None else slot)
        if row is not None:
            chosen[host_id] = row
    return chosen


async def _read_stored(
    session: AsyncSession, cache: NormalsCache, profiles: Mapping[int, ProfileRow], request: NormalsRequest
) -> dict[int, HostNormals]:  # fmt: skip
    found: dict[int, HostNormals] = {}
    missing: dict[ProfileKey, ProfileRow] = {}
    fields_key = request.fields_key
    for host_id, row in profiles.items():
        kept = cache.find((row.key, fields_key))
        if kept is not None and kept.made_at == row.made_at:
            found[host_id] = kept.normals
        else:
            missing[row.key] = row
    bodies = await read_band_bodies(session, list(missing))
    made, broken = await anyio.to_thread.run_sync(_unpack_all, bodies, request.known)
    for key in broken:
        log.warning("profile_broken", baseline=key.baseline_id, host_id=key.host_id)
    for key, normals in made.items():
        cache.keep((key, fields_key), missing[key].made_at, normals)
        found[key.host_id] = normals
    return found


def _unpack_all(
    bodies: Mapping[ProfileKey, bytes], known: Mapping[str, Sequence[KeyField]]
) -> tuple[dict[ProfileKey, HostNormals], list[ProfileKey]]:
    made: dict[ProfileKey, HostNormals] = {}
    broken = []
    for key, body in bodies.items():
        try:
            made[key] = normals_of_band(body, known)
        except BrokenBytes:
            broken.append(key)
    return made, broken


async def _read_sampled(
    session: AsyncSession, cache: NormalsCache, left: Mapping[int, CoveringBaseline], request: NormalsRequest
) -> dict[int, HostNormals]:  # fmt: skip
    """Return the normals of short baselines without a profile, from their samples."""
    found: dict[int, HostNormals] = {}
    spans: list[tuple[int, Window]] = []
    keys: dict[int, tuple[object, ...]] = {}
    for host_id, own in left.items():
        windows = clip_at(own.windows, request.now)
        if not windows or length_s(windows) > MAX_READ_S:
            continue
        key: tuple[object, ...] = (own.id, own.version, host_id, own.windows, request.fields_key)
        kept = cache.find(key)
        if kept is not None:
            found[host_id] = kept.normals
        if (kept is None or request.now - kept.made_at > REREAD_AFTER) and len(keys) < MAX_READ_HOSTS:
            keys[host_id] = key
            spans += [(host_id, window) for window in windows]
    made = await _sample(session, spans, request) if spans else {}
    for host_id, key in keys.items():
        found[host_id] = made.get(host_id, {})
        cache.keep(key, request.now, found[host_id])
    return found


async def _sample(
    session: AsyncSession, spans: Sequence[tuple[int, Window]], request: NormalsRequest
) -> dict[int, dict[SeriesName, SeriesNormal]]:  # fmt: skip
    whole = Window(min(window.start for _, window in spans), max(window.end for _, window in spans))
    host_ids = sorted({host_id for host_id, _ in spans})
    instances = await read_instances(session, host_ids, [stat.id for stat in request.stats], whole)
    made: dict[int, dict[SeriesName, SeriesNormal]] = {}
    for stat in request.stats:
        keys = request.known[stat.name]
        names = {
            own.id: (own.host_id, own.name)
            for own in instances
            if own.stat_id == stat.id and any(key.takes(stat.name, own.name) for key in keys)
        }
        if not names:
            continue
        samples = await read_span_samples(session, stat, [key.field for key in keys], spans=spans, instance_ids=list(names))
        for host_id, normals in (await anyio.to_thread.run_sync(normals_of_samples, stat.name, keys, samples, names)).items():
            made.setdefault(host_id, {}).update(normals)
    return made
