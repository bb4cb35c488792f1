"""The bands of the lines of a graph in a baseline: p5, median and p95, step by step in time, drawn behind them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

import anyio.to_thread
import numpy as np
import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.window_sets import length_s
from normstat.codecs.array_codec import BrokenBytes
from normstat.errors import NotFound, shorten
from normstat.profiles import profile_rows
from normstat.profiles.profile_codec import BAND, BandQuantiles, find_in_band, unpack_band
from normstat.profiles.profile_job import clip_at
from normstat.profiles.profile_rows import WHOLE_SLOT
from normstat.profiles.seasonality import slot_of
from normstat.profiles.stored_profile import Wanted, find_wanted
from normstat.runtime.field_docs import Documented
from normstat.samples.lookup import StatRef, find_instances, find_stat, require_host
from normstat.samples.sample_pages import PageQuery, read_pages, to_floats
from normstat.stats.spec import Field
from normstat.window import Window

log = structlog.get_logger()

HOUR: Final = timedelta(hours=1)
# In a longer window hours are too narrow to see.
MAX_STEPS: Final = 2000
DIGITS: Final = 9
US_PER_MS: Final = 1000
# Without a profile, samples of at most this much time are read.
MAX_READ_S: Final = 2 * 3600


@dataclass(frozen=True, slots=True)
class BandRequest:
    """Series of a stat, each its field and instance; a baseline, and the window of the graph. `version` None: the newest."""

    baseline_id: int
    version: int | None
    host: str
    stat: str
    series: Sequence[tuple[str, str]]
    window: Window


@dataclass(frozen=True, slots=True)
class BandStep(Documented):
    """The band in [start, end), in the unit of the field."""

    start_ms: int
    end_ms: int
    p5: float
    p50: float
    p95: float
    n: int
    """Number of samples."""


@dataclass(frozen=True, slots=True)
class BandInfo(Documented):
    """The band of a series, step by step."""

    baseline: int
    version: int
    is_seasonal: bool
    steps: list[BandStep]
    unit: str
    reason: str | None
    """Why there is no band, or none by the hour."""


@dataclass(frozen=True, slots=True)
class BandList(Documented):
    """The bands of some series, in the order in which they were asked for."""

    bands: list[BandInfo]


async def read_bands(session: AsyncSession, request: BandRequest) -> BandList:
    """Return the band of each series: hour by hour where the baseline has seasonal slots, else in one step.

    Raises: NotFound for an unknown host, baseline, version, stat or field
    """
    host_id = await require_host(session, request.host)
    wanted = await find_wanted(session, request.baseline_id, request.version, host_id)
    stat = await find_stat(session, request.stat)
    known = {} if stat is None else {field.key: field for field in stat.fields}
    missing = next((key for key, _ in request.series if key not in known), None)
    if stat is None or missing is not None:
        raise NotFound(
            f"{shorten(request.stat)} has no field {shorten(missing or '')}; GET /api/v1/stats lists them",
            {"stat": request.stat, "field": missing},
        )
    by_slot = await _read_slots(session, wanted, request)
    bands = []
    for place, (key, instance) in enumerate(request.series):
        if by_slot is None:
            bands.append(await _read_samples(session, wanted, request.window, stat=stat, field=known[key], instance=instance))
        else:
            own = {slot: found[place] for slot, found in by_slot.items()}
            name = f"{request.stat} {key} of {instance or request.host}"
            bands.append(_make_band(wanted, request.window, known[key], own, name))
    return BandList(bands)


def _make_band(
    wanted: Wanted, window: Window, field: Field, by_slot: Mapping[int, BandQuantiles | None], name: str
) -> BandInfo:  # fmt: skip
    slots = [slot for slot in by_slot if slot != WHOLE_SLOT]
    whole = by_slot[WHOLE_SLOT]
    n_steps = window.length_s / HOUR.total_seconds()
    if not slots or n_steps > MAX_STEPS:
        reason = "The window is too long for an hourly band." if slots else None
        if whole is None:
            reason = f"The baseline has no samples of {name}."
        steps = [] if whole is None else [_to_step(window, whole)]
        return _to_info(wanted, field, steps, reason, is_seasonal=False)
    steps = []
    for hour in _hours(window, wanted.zone):
        slot = slot_of(hour, wanted.zone, slots)
        quantiles = None if slot is None else by_slot[slot]
        if quantiles is not None:
            steps.append(_to_step(hour, quantiles))
    reason = None if steps else "The baseline has no samples of the series at these hours."
    return _to_info(wanted, field, steps, reason, is_seasonal=True)


async def _read_slots(
    session: AsyncSession, wanted: Wanted, request: BandRequest
) -> Mapping[int, Sequence[BandQuantiles | None]] | None:  # fmt: skip
    """Return the bands of the series in each slot. Missing: None without a profile of these windows; a slot without a sample of a
    series has None.
    """
    rows = await profile_rows.read_bands(session, wanted.key)
    bands = {slot: band for slot, (row, band) in rows.items() if row.effective == clip_at(wanted.effective, row.until)}
    if WHOLE_SLOT not in bands:
        return None

    def find() -> dict[int, list[BandQuantiles | None]]:
        unpacked = {slot: unpack_band(band) for slot, band in bands.items()}
        return {
            slot: [find_in_band(band, request.stat, instance, key) for key, instance in request.series]
            for slot, band in unpacked.items()
        }

    try:
        return await anyio.to_thread.run_sync(find)
    except BrokenBytes as error:
        log.warning("band_broken", baseline=request.baseline_id, error=str(error))
        return None


async def _read_samples(
    session: AsyncSession, wanted: Wanted, shown: Window, *, stat: StatRef, field: Field, instance: str
) -> BandInfo:  # fmt: skip
    """Return the band from the samples, if they are few: the profile may not be built yet."""
    effective = clip_at(wanted.effective, datetime.now(UTC))
    if not effective:
        return _to_info(wanted, field, [], "The baseline has no windows for this host yet.", is_seasonal=False)
    if length_s(effective) > MAX_READ_S:
        return _to_info(wanted, field, [], "The profile of the baseline is still being built.", is_seasonal=False)
    found = await find_instances(session, wanted.key.host_id, stat.id, [instance])
    values: list[np.ndarray] = []
    for window in effective if found else ():
        query = PageQuery(stat.name, wanted.key.host_id, window, [field], [item.id for item in found])
        async with aclosing(read_pages(session, query)) as coming:
            values += [to_floats(field, page.values[0]) for page in [page async for page in coming]]
    numbers = np.concatenate(values) if values else np.empty(0)
    numbers = numbers[~np.isnan(numbers)]
    if len(numbers) == 0:
        return _to_info(wanted, field, [], "The baseline has no samples of this series.", is_seasonal=False)
    p5, p50, p95 = np.quantile(numbers, BAND).tolist()
    step = _to_step(shown, BandQuantiles(p5, p50, p95, len(numbers)))
    return _to_info(wanted, field, [step], None, is_seasonal=False)


def _hours(window: Window, zone: tzinfo) -> Iterator[Window]:
    """Yield the clock hours of the window in that zone, cut at its ends."""
    start = window.start
    while start < window.end:
        local = start.astimezone(zone)
        into = timedelta(minutes=local.minute, seconds=local.second, microseconds=local.microsecond)
        end = min(start - into + HOUR, window.end)
        yield Window(start, end)
        start = end


def _to_step(window: Window, quantiles: BandQuantiles) -> BandStep:
    p5, p50, p95 = (float(f"{value:.{DIGITS}g}") for value in (quantiles.p5, quantiles.p50, quantiles.p95))
    return BandStep(window.start_us // US_PER_MS, window.end_us // US_PER_MS, p5, p50, p95, quantiles.n)


def _to_info(wanted: Wanted, field: Field, steps: Sequence[BandStep], reason: str | None, *, is_seasonal: bool) -> BandInfo:
    return BandInfo(wanted.key.baseline_id, wanted.key.version, is_seasonal, list(steps), field.unit, reason)
