"""The total of a ledger line over time, for its graph."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.comparison.findings.classify import round_value
from normstat.comparison.findings.onset import find_onset
from normstat.comparison.ledger.readings import Reading
from normstat.comparison.ledger.windows import Spans
from normstat.comparison.ledger_model import DrawnTotal
from normstat.comparison.side_values import SideValues
from normstat.comparison.sparklines import draw_columns, make_sparkline
from normstat.scoring.summary import PROBABILITIES, FloatArray
from normstat.window import Window

# A baseline of a week is drawn more coarsely than by each of its reports.
MAX_SPANS: Final = 5000


@dataclass(frozen=True, slots=True)
class TotalOverTime:
    """Times of reports, seconds since the epoch, and the total at each. Shape: (n,) each. Nothing is missing"""

    times_s: FloatArray
    values: FloatArray


def fine_spans(times_s: FloatArray, windows: Sequence[Window]) -> Spans:
    """Return spans of the windows that have a report each, where they are not too many. `times_s`: of the reports"""
    total_s = sum(window.length_s for window in windows)
    distance_s = float(np.median(np.diff(times_s))) if len(times_s) > 1 else total_s
    length_s = max(distance_s, total_s / MAX_SPANS)
    bounds = [(window.start.timestamp(), window.end.timestamp()) for window in windows]
    starts = np.concatenate([np.arange(start, max(end - 0.5 * length_s, start + 1e-3), length_s) for start, end in bounds])
    return Spans(np.sort(starts), length_s)


def draw_total(baseline: TotalOverTime, incident: TotalOverTime, reading: Reading) -> DrawnTotal | None:
    """Return the graph of a total. Missing: None where a side has no value"""
    if not len(baseline.values) or not len(incident.values):
        return None
    normal = (float(baseline.values.min()), float(np.median(baseline.values)), float(baseline.values.max()))
    onset = find_onset(incident.values, normal)
    windows = reading.baseline
    return DrawnTotal(
        baseline=_values_of(baseline.values),
        incident=_values_of(incident.values),
        sparkline=make_sparkline(
            reading.incident,
            draw_columns(incident.times_s, incident.values, reading.incident, len(incident.values)),
            draw_columns(baseline.times_s, baseline.values, windows[0], len(baseline.values)) if len(windows) == 1 else None,
        ),
        onset_ms=None if onset is None else round(1000 * _time_of(onset, incident, reading.incident)),
    )


def _time_of(report: int, incident: TotalOverTime, window: Window) -> float:
    """Return the time of a report; the first one of the incident covers the time from its beginning."""
    return float(incident.times_s[report]) if report else window.start.timestamp()


def _values_of(values: FloatArray) -> SideValues:
    quantiles = [round_value(value) for value in np.quantile(values, PROBABILITIES).tolist()]
    p5, median, p95, p99 = (round_value(value) for value in np.quantile(values, (0.05, 0.5, 0.95, 0.99)).tolist())
    return SideValues(
        n=len(values),
        mean=round_value(float(values.mean())),
        median=median,
        p5=p5,
        p95=p95,
        p99=p99,
        lowest=quantiles[0],
        highest=quantiles[-1],
        quantiles=quantiles,
    )
