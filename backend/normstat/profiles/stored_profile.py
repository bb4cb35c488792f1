"""Read stored profiles: whether one is current, and its series."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import chain
from typing import Final

import anyio.to_thread
import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.baseline_versions import effective_windows, read_version
from normstat.codecs.array_codec import BrokenBytes
from normstat.db.schema.baseline_models import Baseline
from normstat.errors import NotFound
from normstat.profiles import profile_rows
from normstat.profiles.profile_builder import StatSeries
from normstat.profiles.profile_codec import METHOD, ProfileBody, unpack_profile
from normstat.profiles.profile_job import clip_at
from normstat.profiles.profile_rows import WHOLE_SLOT, ProfileKey, ProfileRow
from normstat.profiles.seasonality import describe, describe_why_not, slot_of
from normstat.scoring.host_profile import HostProfile
from normstat.stats.engine.times.timeline import require_zone
from normstat.window import Window

log = structlog.get_logger()

# While its windows continue, a profile may lag this far: it is built again every ten minutes.
MAX_LAG: Final = timedelta(minutes=45)


@dataclass(frozen=True, slots=True)
class SeriesKey:
    """A series of a host; `instance` is empty for stats without instances."""

    stat: str
    instance: str
    field: str


@dataclass(frozen=True, slots=True)
class LoadedProfile:
    """A current profile. `series`: in the order of `profile`.

    `n_samples`: rows of all stats; `covered_s`: by the stat that covers most; `windows`: those that it was built from;
    `seasonal_note`: which hours it covers and why, empty without a window; `n_left_out`: series beyond the limit of a profile
    """

    series: Sequence[SeriesKey]
    profile: HostProfile
    n_samples: int
    covered_s: float
    spec_versions: Mapping[str, int]
    windows: tuple[Window, ...]
    is_seasonal: bool
    seasonal_note: str
    n_left_out: int
    made_at: datetime


@dataclass(frozen=True, slots=True)
class Wanted:
    """The key of a profile, its time zone, and the windows that count now."""

    key: ProfileKey
    zone: tzinfo
    effective: tuple[Window, ...]


async def load_profile(
    session: AsyncSession, baseline_id: int, version: int | None, host_id: int, *, at: Window | None = None
) -> LoadedProfile | None:
    """Return the profile of a version of a baseline (None: the newest) for a host: `load_wanted` of `find_wanted`.

    Raises: NotFound for an unknown baseline or version
    """
    return await load_wanted(session, await find_wanted(session, baseline_id, version, host_id), at=at)


async def load_wanted(session: AsyncSession, wanted: Wanted, *, at: Window | None = None) -> LoadedProfile | None:
    """Return a profile; with `at` that of the seasonal slot of this window, or of all hours where the baseline has no such slot.

    Missing: None if there is none, or if it was built from other windows or samples than the current ones; then read the samples.
    """
    rows = {slot: row for slot, row in (await profile_rows.list_slots(session, wanted.key)).items() if is_current(row, wanted)}
    if WHOLE_SLOT not in rows or await _is_of_other_specs(session, rows[WHOLE_SLOT]):
        return None
    slot = None if at is None else slot_of(at, wanted.zone, rows.keys() - {WHOLE_SLOT})
    row = await profile_rows.read_profile(session, with_slot(wanted.key, WHOLE_SLOT if slot is None else slot))
    if row is None:
        return None
    try:
        body, series = await anyio.to_thread.run_sync(_unpack, row.body)
    except BrokenBytes as error:
        log.warning("profile_broken", baseline=wanted.key.baseline_id, host_id=wanted.key.host_id, error=str(error))
        return None
    note = ""
    if at is not None:
        others = [number for number in rows if number != WHOLE_SLOT]
        note = describe_why_not(at, wanted.zone, others) if slot is None else describe(at, wanted.zone, slot, body.facts.days)
    return LoadedProfile(
        series=series,
        profile=body.profile,
        n_samples=body.facts.n_samples,
        covered_s=body.facts.covered_s,
        spec_versions=row.spec_versions,
        windows=row.effective,
        is_seasonal=slot is not None,
        seasonal_note=note,
        n_left_out=body.facts.n_left_out,
        made_at=row.made_at,
    )


async def find_wanted(session: AsyncSession, baseline_id: int, version: int | None, host_id: int) -> Wanted:
    """Return the key of a profile, with the windows that count now.

    Raises: NotFound for an unknown baseline or version
    """
    baseline = await session.get(Baseline, baseline_id, populate_existing=True)
    if baseline is None:
        raise NotFound(f"There is no baseline {baseline_id}; GET /api/v1/baselines lists them", {"baseline": baseline_id})
    number = baseline.version if version is None else version
    zone = (await read_version(session, baseline_id, number)).time_zone
    effective = await effective_windows(session, baseline_id, host_id, number)
    return to_wanted(baseline_id, number, host_id, zone, effective)


def to_wanted(baseline_id: int, version: int, host_id: int, time_zone: str, effective: tuple[Window, ...]) -> Wanted:
    """Return the key of a profile of all hours, with the windows that count now."""
    return Wanted(ProfileKey(baseline_id, version, host_id, WHOLE_SLOT, METHOD), require_zone(time_zone), effective)


def is_current(row: ProfileRow, wanted: Wanted) -> bool:
    """Return whether a profile was built from the windows that count now, or nearly all of them while they continue."""
    if row.is_stale or row.effective != clip_at(wanted.effective, row.until):
        return False
    now = datetime.now(UTC)
    has_more = any(window.end > row.until and window.start < now for window in wanted.effective)
    return not has_more or now - row.until < MAX_LAG


def with_slot(key: ProfileKey, slot: int) -> ProfileKey:
    """Return the key of another seasonal slot."""
    return ProfileKey(key.baseline_id, key.version, key.host_id, slot, key.method)


async def _is_of_other_specs(session: AsyncSession, row: ProfileRow) -> bool:
    return await profile_rows.read_spec_versions(session, row.spec_versions) != row.spec_versions


def _unpack(body: bytes) -> tuple[ProfileBody, list[SeriesKey]]:
    unpacked = unpack_profile(body)
    return unpacked, list(chain.from_iterable(map(_to_keys, unpacked.stats)))


def _to_keys(stat: StatSeries) -> list[SeriesKey]:
    pairs = zip(stat.instance.tolist(), stat.field.tolist(), strict=True)
    return [SeriesKey(stat.stat, stat.instances[instance], stat.fields[field]) for instance, field in pairs]
