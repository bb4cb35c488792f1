"""Bins of a baseline that are not normal: they look as the incident does, or as nothing else does (a start, a pause).

A person marks a baseline by eye: its last seconds may already show the incident, its first ones a program that starts. A few such
samples make windows that moved as far as the incident, and hide it. All series are looked at together, so that one noisy series
leaves nothing out.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from normstat.scoring.summary import BoolArray, Float32Array, FloatArray

# Fewer bins, or series, do not show what is typical.
MIN_BINS: Final = 16
MIN_SERIES: Final = 10
# In deviations of the series: larger deviations count as this, so that one series does not dominate.
FAR: Final = 8.0
# A bin is as the incident is when it leans towards it with this cosine and went this part of the way, if the way is this many times
# as long as the deviation of a typical bin.
MIN_COSINE: Final = 0.35
MIN_WAY: Final = 0.35
MIN_REACH: Final = 1.0
# A bin this many times as far out as a typical one is like nothing else.
STRANGE: Final = 4.0
# At most this part of an unbroken time is left out at each end; of two normal bins within it the run goes on.
MAX_PART: Final = 0.25
MAX_HOLE: Final = 2
# A baseline shorter than this many incidents cannot show what is rare: moments in it that are as the incident, each at most this
# part of the incident long and together this part of the baseline, are left out too.
N_SHORT: Final = 8
MOMENT: Final = 1 / 8
MAX_MOMENTS: Final = 0.1
SD_PER_MAD: Final = 1.4826


# What a bin is.
NORMAL, LIKE_INCIDENT, LIKE_NOTHING = range(3)
Codes = npt.NDArray[np.int8]


def find_contaminated(baseline: FloatArray | Float32Array, incident: FloatArray | Float32Array) -> Codes:
    """Return which bins of the baseline are LIKE_INCIDENT, or LIKE_NOTHING else.

    Shape: baseline (n_series, n_bins), incident (n_series, m) means of bins -> (n_bins,). Missing: NaN
    """
    n_series, n_bins = baseline.shape
    nothing = np.zeros(n_bins, np.int8)
    if n_bins < MIN_BINS or n_series < MIN_SERIES or not incident.shape[1]:
        return nothing
    known = np.isfinite(baseline).any(axis=1) & np.isfinite(incident).any(axis=1)
    if known.sum() < MIN_SERIES:
        return nothing
    values = baseline[known].astype(np.float64)
    middle = np.nanmedian(values, axis=1)
    away = values - middle[:, None]
    scale = SD_PER_MAD * np.nanmedian(np.abs(away), axis=1)
    deviation = np.nanstd(values, axis=1)
    shift = np.nanmedian(incident[known].astype(np.float64), axis=1) - middle
    # A series that moves in few bins has their size; one that never moves says whether a bin is as the incident is.
    scale = np.where(scale > 0, scale, np.where(deviation > 0, deviation, np.where(shift != 0, np.abs(shift), 1.0)))
    places = np.nan_to_num(np.clip(away / scale[:, None], -FAR, FAR))
    towards = np.clip(shift / scale, -FAR, FAR)
    lengths, reach = np.linalg.norm(places, axis=0), float(np.linalg.norm(towards))
    typical = max(float(np.median(lengths)), 1e-9)
    way = towards @ places / max(reach, 1e-9)
    is_like_it = (way > MIN_WAY * reach) & (way > MIN_COSINE * lengths) & (reach > MIN_REACH * typical)
    is_strange = lengths > STRANGE * typical
    return np.where(is_like_it, LIKE_INCIDENT, np.where(is_strange, LIKE_NOTHING, NORMAL)).astype(np.int8)


def find_ends(codes: Codes) -> tuple[int, int]:
    """Return how many bins of an unbroken time are left out at its beginning, and at its end.

    In the middle a baseline may have its own incidents. Shape: codes (n_bins,) of that time
    """
    runs = [_length_of_run(order != NORMAL) for order in (codes, codes[::-1])]
    first, last = (n if n <= MAX_PART * len(codes) else 0 for n in runs)
    return first, last


def find_moments(codes: Codes, n_incident: int) -> BoolArray:
    """Return which bins of a short baseline are moments like the incident: far shorter than it, so they are no earlier incidents.

    `n_incident`: its length in bins. Shape: -> (n_bins,)
    """
    found = codes == LIKE_INCIDENT
    none = np.zeros(len(codes), np.bool_)
    if not found.any() or len(codes) >= N_SHORT * n_incident:
        return none
    # Bins between two changes have one number.
    runs = np.cumsum(np.concatenate([[False], found[1:] != found[:-1]]))
    moments = found & (np.bincount(runs)[runs] <= max(1.0, MOMENT * n_incident))
    return moments if moments.mean() <= MAX_MOMENTS else none


def _length_of_run(found: BoolArray) -> int:
    """Return how many bins from the first one on are found, with holes."""
    n = n_missed = 0
    for place, is_found in enumerate(found.tolist()):
        if is_found:
            n, n_missed = place + 1, 0
        else:
            n_missed += 1
            if n_missed > MAX_HOLE:
                break
    return n
