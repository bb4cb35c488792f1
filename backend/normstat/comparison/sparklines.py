"""Sparklines of findings: lowest and highest value in equal columns of time."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.baselines.window_sets import Windows
from normstat.comparison.read_side import StatSide
from normstat.comparison.side_values import Sparkline, SparklineColumns
from normstat.scoring.summary import FloatArray
from normstat.window import Window

N_COLUMNS: Final = 160


@dataclass(frozen=True, slots=True)
class DrawnSides:
    """Both sides of a stat with their windows. Missing: baseline None where a stored profile was used instead."""

    incident: StatSide
    baseline: StatSide | None
    incident_window: Window
    baseline_windows: Windows


def sparkline_of(sides: DrawnSides, instance: str, field: str) -> Sparkline:
    """Return a series in the incident, and in the baseline where that is one window and was read."""
    window = sides.incident_window
    baseline = None
    if sides.baseline is not None and len(sides.baseline_windows) == 1:
        baseline = _columns(sides.baseline, instance, field, sides.baseline_windows[0])
    return make_sparkline(window, _columns(sides.incident, instance, field, window), baseline)


def make_sparkline(window: Window, incident: SparklineColumns, baseline: SparklineColumns | None) -> Sparkline:
    """Return the sparkline of an incident in this window."""
    start_ms, end_ms = (round(1000 * instant.timestamp()) for instant in (window.start, window.end))
    return Sparkline(low=incident.low, high=incident.high, start_ms=start_ms, end_ms=end_ms, baseline=baseline)


def _columns(side: StatSide, instance: str, field: str, window: Window) -> SparklineColumns:
    return draw_columns(*samples_of(side, instance, field), window, len(side.times_s))


def draw_columns(times: FloatArray, values: FloatArray, window: Window, n_reports: int) -> SparklineColumns:
    """Return the lowest and the highest value of each column of a window. `times`: of the values, seconds since the epoch"""
    start, length = window.start.timestamp(), window.length_s
    # More columns than reports would draw a line that is all gaps.
    n_columns = int(np.clip(n_reports, 1, N_COLUMNS))
    place = np.clip(((times - start) / length * n_columns).astype(np.intp), 0, n_columns - 1)
    low, high = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
    np.minimum.at(low, place, values)
    np.maximum.at(high, place, values)
    return SparklineColumns(_to_list(low), _to_list(high))


def samples_of(side: StatSide, instance: str, field: str) -> tuple[FloatArray, FloatArray]:
    """Return times and values of a series, without missing ones."""
    own = side.span(instance)
    if own is None or field not in side.values:
        return np.empty(0), np.empty(0)
    values = side.part(field, own)
    is_known = ~np.isnan(values)
    return side.times_s[side.report[own]][is_known], values[is_known]


def _to_list(values: FloatArray) -> list[float | None]:
    return [float(f"{value:.7g}") if np.isfinite(value) else None for value in values.tolist()]
