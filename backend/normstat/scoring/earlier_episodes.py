"""Find earlier episodes that look like an incident and ended before it began.

A change that was there right before an incident is not the incident's own (host_profile.py). That holds only if it persists: the
second of two incidents must not be explained away by the first, when the series was normal between them.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from normstat.scoring.change_scale import ENDS_OF_BAND
from normstat.scoring.summary import BoolArray, Float32Array, Summary

# An episode is over after this many samples without it, and after this share of the incident's samples.
MIN_CALM: Final = 3
CALM_SHARE: Final = 0.25
# And after this many times its own longest pause: bursts that come every minute are still going on.
PAUSES: Final = 2


@dataclass(frozen=True, slots=True)
class Marks:
    """Half of the way from the baseline's ends to the incident's. Shape: both (n_series,), distances from the level.

    Missing: infinite on a side where the incident is within the baseline's ends, and NaN where it has no sample
    """

    low: Float32Array
    high: Float32Array

    def take(self, rows: npt.NDArray[np.intp]) -> "Marks":
        """Return those of some of the series."""
        return Marks(self.low[rows], self.high[rows])


def marks_of(baseline: Summary, incident: Summary) -> Marks:
    """Return how far a sample must be out to look like the incident."""
    low, high = (baseline.quantiles[:, place] for place in ENDS_OF_BAND)
    lowest, highest = incident.range
    return Marks(
        np.where(lowest < low, (lowest + low) / 2, -np.inf).astype(np.float32),
        np.where(highest > high, (highest + high) / 2, np.inf).astype(np.float32),
    )


def find_over(before: Float32Array, marks: Marks, n_incident: int) -> BoolArray:
    """Return which series had an episode that looks like the incident and is over.

    `n_incident`: samples of the incident; pauses as long as that separate episodes.
    Shape: before (n_series, n_samples), distances from the level in the order of time. Missing: NaN -> (n_series,)
    """
    width = before.shape[1]
    rows, columns = np.nonzero((before < marks.low[:, None]) | (before > marks.high[:, None]))
    # Rows come one after the other, columns in their order. Without an episode nothing is over.
    last = np.full(len(before), width, np.intp)
    last[rows] = columns
    pauses = np.where(rows[1:] == rows[:-1], np.diff(columns) - 1, 0)
    longest = np.zeros(len(before), np.intp)
    np.maximum.at(longest, rows[1:], np.where(pauses < n_incident, pauses, 0))
    needed = np.maximum(max(MIN_CALM, CALM_SHARE * n_incident), PAUSES * longest)
    return np.asarray(width - 1 - last >= needed, np.bool_)
