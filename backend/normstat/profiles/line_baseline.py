"""The values of a panel's lines in a baseline: from its stored profile, or from its samples where there is none."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

import anyio.to_thread
import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.profiles.profile_job import clip_at
from normstat.profiles.stored_profile import LoadedProfile, Wanted, find_wanted, load_wanted
from normstat.query.line_statistics import UPPER, LineKey, LinesInWindows, LineValues, StatisticsSource, read_lines, read_windows
from normstat.query.series_points import SeriesQuery, SeriesRequest
from normstat.runtime.field_docs import Documented
from normstat.samples.lookup import InstanceRef
from normstat.scoring.summary import PROBABILITIES
from normstat.window import Window

FROM_PROFILE: Final = "p95 is approximate: the profile holds 33 quantiles of each hour"
NO_WINDOWS: Final = "The baseline has no windows for this host yet"
NO_SAMPLES: Final = "The baseline has no samples of these lines"
BEFORE_NO_SAMPLES: Final = "The window it is compared with has no samples of these lines"
# A profile holds distances in four bytes.
DIGITS: Final = 7


@dataclass(frozen=True, slots=True)
class LineStatistics(Documented):
    """One line of a panel: its values in the window, and in the baseline."""

    instance: str
    field: str
    unit: str
    window: LineValues
    baseline: LineValues | None
    """Null without a baseline, and for a line that has no sample in it."""


@dataclass(frozen=True, slots=True)
class PanelBaseline(Documented):
    """What the baseline's values were read from."""

    source: StatisticsSource
    seasonal_note: str
    """Which hours of the baseline, and why. Empty: all of them."""
    note: str
    """What is missing or approximate, and why. Empty: all values are exact."""


@dataclass(frozen=True, slots=True)
class PanelStatistics(Documented):
    """The statistics of a panel's lines over all samples of a window."""

    host: str
    stat: str
    start: datetime
    end: datetime
    source: StatisticsSource
    note: str
    """What is missing, and why. Empty: all values are exact."""
    n_instances_left_out: int
    baseline: PanelBaseline | None
    """Null where no baseline was asked for."""
    lines: list[LineStatistics]


@dataclass(frozen=True, slots=True)
class BaselineLines:
    """The values of lines in a baseline."""

    lines: Mapping[LineKey, LineValues]
    about: PanelBaseline

    def find(self, instance: str, field: str) -> LineValues | None:
        """Return the values of a line. Missing: None where it has no sample."""
        return self.lines.get((instance, field))


async def read_statistics(
    session: AsyncSession, request: SeriesRequest, *, baseline_id: int | None = None, baseline_window: Window | None = None
) -> PanelStatistics:
    """Return the statistics of the lines that a graph of this request draws, beside those of a baseline or another window.

    Raises: NotFound for an unknown host, stat, field, instance or baseline
    """
    found = await read_lines(session, request)
    baseline = None
    if found.query is not None and baseline_window is not None:
        baseline = _to_baseline(await read_windows(found.query, found.instances, [baseline_window]), "", BEFORE_NO_SAMPLES)
    elif found.query is not None and baseline_id is not None:
        wanted = await find_wanted(session, baseline_id, None, found.query.place.host_id)
        baseline = await _read_saved(found.query, found.instances, wanted)
    values, fields = found.values, () if found.query is None else found.query.fields
    pairs = [(instance.name, field) for instance in found.instances for field in fields]
    lines = [
        LineStatistics(
            name, field.key, field.unit, values.lines[name, field.key], None if baseline is None else baseline.find(name, field.key)
        )
        for name, field in pairs
    ]
    return PanelStatistics(
        host=request.host,
        stat=request.stat,
        start=request.window.start,
        end=request.window.end,
        source=values.source,
        note=values.note,
        n_instances_left_out=found.n_left_out,
        baseline=None if baseline is None else baseline.about,
        lines=lines if request.instances else [line for line in lines if line.window.n],
    )


async def _read_saved(query: SeriesQuery, instances: Sequence[InstanceRef], wanted: Wanted) -> BaselineLines:
    """Return the values in a saved baseline: those of its profile where that is current."""
    effective = clip_at(wanted.effective, datetime.now(UTC))
    if not effective:
        return BaselineLines({}, PanelBaseline("samples", "", NO_WINDOWS))
    loaded = await load_wanted(query.session, wanted, at=query.request.window)
    if loaded is None:
        return _to_baseline(await read_windows(query, instances, effective), "", NO_SAMPLES)
    names = {instance.name for instance in instances}
    lines = await anyio.to_thread.run_sync(_find_lines, loaded, query.stat.name, names, [field.key for field in query.fields])
    return BaselineLines(lines, PanelBaseline("profile", loaded.seasonal_note, FROM_PROFILE if lines else NO_SAMPLES))


def _find_lines(loaded: LoadedProfile, stat: str, names: Collection[str], keys: Collection[str]) -> dict[LineKey, LineValues]:
    """Return the lines of a profile that have samples in it."""
    summary, level = loaded.profile.baseline, loaded.profile.series_stats.level
    lines = {}
    for row, series in enumerate(loaded.series):
        if series.stat != stat or series.instance not in names or series.field not in keys or summary.n[row] == 0:
            continue
        distances = summary.quantiles[row].astype(np.float64)
        p95 = float(np.interp(UPPER, PROBABILITIES, distances))
        lowest, mean, upper, highest = (
            float(f"{level[row] + distance:.{DIGITS}g}")
            for distance in (distances[0], float(summary.mean[row]), p95, distances[-1])
        )
        lines[series.instance, series.field] = LineValues(int(summary.n[row]), lowest, mean, upper, highest, None)
    return lines


def _to_baseline(read: LinesInWindows, seasonal_note: str, if_empty: str) -> BaselineLines:
    lines = {key: replace(values, last=None) for key, values in read.lines.items() if values.n}
    return BaselineLines(lines, PanelBaseline(read.source, seasonal_note, read.note if lines else if_empty))
