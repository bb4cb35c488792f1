"""The lines of a finding's small graph: lowest and highest of equal columns of time."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.baselines.window_sets import Windows
from normstat.comparison.model import Columns, Figure
from normstat.comparison.read_side import StatSide
from normstat.scoring.summary import FloatArray
from normstat.window import Window

N_COLUMNS: Final = 160


@dataclass(frozen=True, slots=True)
class Sides:
    """What there is to draw of a stat, and the windows that it is of; `before` None where a profile was read instead."""

    now: StatSide
    before: StatSide | None
    incident: Window
    baseline: Windows


def figure_of(sides: Sides, instance: str, field: str) -> Figure:
    """Return the incident of a series, and the baseline by elapsed time where it is one window and was read."""
    incident = sides.incident
    low, high = _columns(sides.now, instance, field, incident)
    beside = None
    if sides.before is not None and len(sides.baseline) == 1:
        beside = Columns(*_columns(sides.before, instance, field, sides.baseline[0]))
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
    column, own = side.values.get(field), side.span(instance)
    if column is None or own is None:
        return np.empty(0), np.empty(0)
    values = column[own]
    known = ~np.isnan(values)
    return side.times_s[side.report[own]][known], values[known]


def _to_list(values: FloatArray) -> list[float | None]:
    return [float(f"{value:.7g}") if np.isfinite(value) else None for value in values.tolist()]
