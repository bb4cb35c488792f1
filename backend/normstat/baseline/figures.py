"""The lines of a finding's small graph: lowest and highest of equal columns of time."""

from typing import Final

import numpy as np

from normstat.baseline.records import Columns, Figure
from normstat.baseline.samples import StatSide
from normstat.baseline.summary import FloatArray
from normstat.baseline.windows import Windows
from normstat.window import Window

N_COLUMNS: Final = 160


def figure_of(now: StatSide, before: StatSide | None, instance: str, field: str, incident: Window, baseline: Windows) -> Figure:
    """The incident of a series, and the baseline by elapsed time where it is one window and was read."""
    low, high = _columns(now, instance, field, incident)
    beside = None
    if before is not None and len(baseline) == 1:
        beside = Columns(*_columns(before, instance, field, baseline[0]))
    return Figure(round(1000 * incident.start.timestamp()), round(1000 * incident.end.timestamp()), low, high, beside)


def _columns(side: StatSide, instance: str, field: str, window: Window) -> tuple[list[float | None], list[float | None]]:
    times, values = _samples(side, instance, field)
    start, length = window.start.timestamp(), window.length_s
    # No more columns than reports, or a line would be all gaps.
    n_columns = int(np.clip(len(side.times_s), 1, N_COLUMNS))
    place = np.clip(((times - start) / length * n_columns).astype(np.intp), 0, n_columns - 1)
    low, high = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
    np.minimum.at(low, place, values)
    np.maximum.at(high, place, values)
    return _to_list(low), _to_list(high)


def _samples(side: StatSide, instance: str, field: str) -> tuple[FloatArray, FloatArray]:
    column = side.values.get(field)
    if column is None or instance not in side.names:
        return np.empty(0), np.empty(0)
    own = side.instance == list(side.names).index(instance)
    values = column[own]
    known = ~np.isnan(values)
    return side.times_s[side.report[own]][known], values[known]


def _to_list(values: FloatArray) -> list[float | None]:
    return [float(f"{value:.7g}") if np.isfinite(value) else None for value in values.tolist()]
