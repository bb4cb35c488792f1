"""Common bins of time for series of different intervals, and the mean of each series in them."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from normstat.scoring.summary import Float32Array, FloatArray

MAX_BINS: Final = 384
# An incident has several bins, for robust medians; a baseline enough to learn the load model from.
BINS_OF_INCIDENT: Final = 8
BINS_OF_BASELINE: Final = 64

# Start of the first bin and length of each, in seconds, and their number.
Edges = tuple[float, float, int]


def choose_edges(baseline: Sequence[FloatArray], incident: Sequence[FloatArray]) -> tuple[Edges, Edges]:
    """Return bins of equal length for both sides, from the instants of their series."""
    interval = max(float(np.median(np.diff(times))) for times in baseline)
    sides = [(min(float(times[0]) for times in side), max(float(times[-1]) for times in side)) for side in (baseline, incident)]
    spans = [end - start + interval for start, end in sides]
    length = max(interval, spans[0] / MAX_BINS, min(spans[1] / BINS_OF_INCIDENT, spans[0] / BINS_OF_BASELINE))
    one, other = (
        (start, length, max(1, int(np.ceil(span / length - 1e-6)))) for (start, _), span in zip(sides, spans, strict=True)
    )
    return one, other


def fill_bins(distances: Float32Array, times: FloatArray, edges: Edges) -> Float32Array:
    """Return the mean of each series in each bin. Missing: NaN.

    Shape: distances (n_series, n), times (n,) ascending -> (n_series, n_bins)
    """
    start, length, n_bins = edges
    result = np.full((len(distances), n_bins), np.nan, np.float32)
    if len(times) == 0:
        return result
    places = np.clip(((times - start) / length).astype(np.intp), 0, n_bins - 1)
    filled, firsts = np.unique(places, return_index=True)
    known = ~np.isnan(distances)
    sums = np.add.reduceat(np.where(known, distances, 0), firsts, axis=1, dtype=np.float64)
    counts = np.add.reduceat(known, firsts, axis=1, dtype=np.int64)
    with np.errstate(invalid="ignore"):
        result[:, filled] = sums / np.where(counts > 0, counts, np.nan)
    return result
