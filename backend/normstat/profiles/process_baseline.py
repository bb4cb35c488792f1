"""The processes of a host at an instant beside their normal ranges: the bands of their commands in a baseline's profile."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

import anyio.to_thread
import numpy as np
import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.window_sets import length_s
from normstat.codecs.array_codec import BrokenBytes
from normstat.profiles import profile_rows
from normstat.profiles.profile_codec import BAND, Band, unpack_band
from normstat.profiles.profile_job import MIN_S, clip_at
from normstat.profiles.profile_rows import WHOLE_SLOT
from normstat.profiles.seasonality import slot_of
from normstat.profiles.sketch_builder import MAX_SERIES
from normstat.profiles.stored_profile import find_wanted, is_current
from normstat.query.process_report import (
    NormalValues,
    ProcessReport,
    ReportBaseline,
    ReportRequest,
    ValueBand,
    find_summary,
    read_report,
)
from normstat.runtime.arrays import distinct_values
from normstat.samples.lookup import find_stat, read_instance_names, require_host
from normstat.samples.sample_pages import Page, PageQuery, read_pages, to_floats
from normstat.stats.engine.report_sums import split_process
from normstat.window import Window

log = structlog.get_logger()

MINUTE: Final = timedelta(minutes=1)
DIGITS: Final = 9
NO_WINDOWS: Final = "The baseline has no windows for this host yet"
NOT_BUILT: Final = "The profile of the baseline is still being built"
NO_SAMPLES: Final = "The baseline has no samples of this tool"
TOO_MANY: Final = "The baseline has more series than a profile holds: which commands are new is not known"


@dataclass(frozen=True, slots=True)
class CommandBands:
    """The data of a profile about the instances of one stat.

    `bands`: by instance and key of the field, in the wanted hours; `commands`: those with a sample at any hour
    """

    bands: Mapping[tuple[str, str], ValueBand]
    commands: frozenset[str]
    is_complete: bool


async def read_process_report(session: AsyncSession, request: ReportRequest, baseline_id: int | None) -> ProcessReport:
    """Return the processes of the last report before an instant, beside a baseline if one is given.

    Raises: NotFound for an unknown host or baseline, and for a stat that lists no processes
    """
    report = await read_report(session, request)
    if baseline_id is None or report.stat is None:
        return report
    wanted = await find_wanted(session, baseline_id, None, await require_host(session, request.host))
    effective = clip_at(wanted.effective, datetime.now(UTC))
    stat = find_summary(report.stat) or report.stat
    names = {normal.name for normal in report.normals}

    def without(note: str) -> ProcessReport:
        return replace(report, baseline=ReportBaseline(baseline_id, is_seasonal=False, note=note))

    if not effective:
        return without(NO_WINDOWS)
    if length_s(effective) < MIN_S:
        known = await _read_samples(session, wanted.key.host_id, stat, [field.key for field in report.fields], effective)
        return _set_beside(report, ReportBaseline(baseline_id, is_seasonal=False, note=""), known)
    rows = {slot: row for slot, row in (await profile_rows.list_slots(session, wanted.key)).items() if is_current(row, wanted)}
    if WHOLE_SLOT not in rows:
        return without(NOT_BUILT)
    slot = slot_of(Window(request.at, request.at + MINUTE), wanted.zone, rows.keys() - {WHOLE_SLOT})
    packed = await profile_rows.read_bands(session, wanted.key, [WHOLE_SLOT] if slot is None else [WHOLE_SLOT, slot])
    try:
        known = await anyio.to_thread.run_sync(
            _find_bands, packed[WHOLE_SLOT][1], packed[WHOLE_SLOT if slot is None else slot][1], stat, names
        )
    except (BrokenBytes, KeyError) as error:
        # The profile was replaced between two statements, or is damaged.
        log.warning("band_broken", baseline=baseline_id, error=str(error))
        return without(NOT_BUILT)
    note = "" if known.is_complete else TOO_MANY
    return _set_beside(report, ReportBaseline(baseline_id, is_seasonal=slot is not None, note=note), known)


def _set_beside(report: ProcessReport, baseline: ReportBaseline, known: CommandBands) -> ProcessReport:
    if not known.commands:
        return replace(report, baseline=replace(baseline, note=NO_SAMPLES))
    keys = [field.key for field in report.fields]
    return replace(report, normals=[_beside(normal, known, keys) for normal in report.normals], baseline=baseline)


def _beside(normal: NormalValues, known: CommandBands, keys: list[str]) -> NormalValues:
    process = split_process(normal.name)
    command = normal.name if process is None else process[1]
    is_known = normal.name in known.commands or command in known.commands
    return replace(
        normal,
        bands=[known.bands.get((normal.name, key)) for key in keys],
        is_new=False if is_known else True if known.is_complete else None,
    )


async def _read_samples(
    session: AsyncSession, host_id: int, stat: str, keys: Collection[str], effective: Sequence[Window]
) -> CommandBands:
    """Return the bands from the samples of a baseline that is too short for a profile."""
    ref = await find_stat(session, stat)
    fields = [field for field in ref.fields if field.key in keys] if ref is not None else []
    pages: list[Page] = []
    for window in effective if fields else ():
        async with aclosing(read_pages(session, PageQuery(stat, host_id, window, fields))) as coming:
            pages += [page async for page in coming]
    if not pages:
        return CommandBands({}, frozenset(), is_complete=True)
    ids = np.concatenate([page.instance_id for page in pages])
    names = await read_instance_names(session, distinct_values(ids).tolist())

    def find() -> CommandBands:
        columns = [np.concatenate([to_floats(field, page.values[at]) for page in pages]) for at, field in enumerate(fields)]
        bands: dict[tuple[str, str], ValueBand] = {}
        for id_, name in names.items():
            rows = np.flatnonzero(ids == id_)
            for field, column in zip(fields, columns, strict=True):
                values = column[rows][~np.isnan(column[rows])]
                if len(values):
                    bands[name, field.key] = ValueBand(*np.quantile(values, BAND).tolist())
        commands = {name if (process := split_process(name)) is None else process[1] for name in names.values()}
        return CommandBands(bands, frozenset(commands), is_complete=True)

    return await anyio.to_thread.run_sync(find)


def _find_bands(whole: bytes, own: bytes, stat: str, names: Collection[str]) -> CommandBands:
    """Return the bands of a stat from the packed bands of all hours, and of the wanted ones.

    Raises: BrokenBytes
    """
    everything = unpack_band(whole)
    commands = {
        name if (process := split_process(name)) is None else process[1] for name in find_present(everything, stat)
    }  # fmt: skip
    n_series = sum(len(series.instance) for series in everything.stats)
    bands = find_bands(everything if own is whole else unpack_band(own), stat, names)
    return CommandBands(bands, frozenset(commands), n_series < MAX_SERIES)


def find_present(band: Band, stat: str) -> set[str]:
    """Return the instances of a stat that have a sample."""
    offset = 0
    found: set[str] = set()
    for series in band.stats:
        n = len(series.instance)
        if series.stat == stat:
            own = distinct_values(series.instance[band.n[offset : offset + n] > 0])
            found |= {series.instances[place] for place in own.tolist()}
        offset += n
    return found


def find_bands(band: Band, stat: str, names: Collection[str]) -> dict[tuple[str, str], ValueBand]:
    """Return the bands of these instances of a stat, by instance and key of the field."""
    offset = 0
    found: dict[tuple[str, str], ValueBand] = {}
    for series in band.stats:
        n = len(series.instance)
        if series.stat == stat:
            places = [place for place, name in enumerate(series.instances) if name in names]
            rows = np.flatnonzero(np.isin(series.instance, places) & (band.n[offset : offset + n] > 0))
            for row in rows.tolist():
                p5, p50, p95 = (float(f"{value:.{DIGITS}g}") for value in band.quantiles[offset + row].tolist())
                key = (series.instances[int(series.instance[row])], series.fields[int(series.field[row])])
                found[key] = ValueBand(p5, p50, p95)
        offset += n
    return found
