"""Find how a series stalls or bursts, for how long and how often, and with which period it goes up and down.

Shares of samples do not say it.
"""

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from normstat.scoring.rhythm import find_period
from normstat.scoring.summary import FloatArray

# A stall is below this part of the series' own median.
LOW_PART: Final = 0.25
MIN_BOUTS: Final = 2
# Intervals that differ more are not a period, and a run that is shorter by more than this is a low sample by chance, not a stall.
MAX_SPREAD: Final = 0.5


# A burst exceeds the usual high by a quarter of the distance to the highest sample; at most half of the samples do.
HIGH_PART: Final = 0.25
MAX_HIGH: Final = 0.5


@dataclass(frozen=True, slots=True)
class Bouts:
    """The stalls or bursts of a series in a window: the median length, the time from one to the next, and when they begin.

    Missing: None if irregular. Units: seconds, of `begins_s` since the epoch
    """

    n: int
    length_s: float
    period_s: float | None
    begins_s: tuple[float, ...] = field(default=(), compare=False)


def find_stalls(times_s: FloatArray, values: FloatArray) -> Bouts | None:
    """Return the stalls: runs of samples far below the median. Missing: None where there are fewer than two.

    Shape: times_s, values (n,), ascending times, without missing values. A sample covers the time since the one before.
    """
    # The median of nonzero values: the series may be zero most of the time.
    working = values[values > 0]
    if len(working) == 0:
        return None
    return _find_bouts(times_s, values <= LOW_PART * float(np.median(working)))


def find_bursts(times_s: FloatArray, values: FloatArray, usual: float) -> Bouts | None:
    """Return the bursts: runs of samples far above `usual`, which few samples of the baseline are. Missing: as of `find_stalls`."""
    highest = float(values.max(initial=usual))
    is_high = values > usual + HIGH_PART * (highest - usual)
    return None if highest <= usual or is_high.mean() > MAX_HIGH else _find_bouts(times_s, is_high)


def _find_bouts(times_s: FloatArray, is_out: npt.NDArray[np.bool_]) -> Bouts | None:
    """Return the runs of samples that are out. Shape: both (n,)"""
    if len(is_out) < MIN_BOUTS * 2:
        return None
    interval = float(np.median(np.diff(times_s)))
    edges = np.diff(np.concatenate([[0], is_out.astype(np.int8), [0]]))
    begins, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    if len(begins) < MIN_BOUTS:
        return None
    lengths = times_s[ends - 1] - times_s[begins] + interval
    # The run that such a sample typically is in: single ones between long runs do not count.
    typical = float(np.median(np.repeat(lengths, ends - begins)))
    is_long = lengths >= (1 - MAX_SPREAD) * typical
    begins, lengths = begins[is_long], lengths[is_long]
    if len(begins) < MIN_BOUTS:
        return None
    periods = np.diff(times_s[begins])
    period = float(np.median(periods))
    is_regular = float(np.max(np.abs(periods - period))) <= MAX_SPREAD * period
    return Bouts(len(begins), float(np.median(lengths)), period if is_regular else None, tuple(times_s[begins].tolist()))


def describe_bouts(bouts: Bouts) -> str:
    """Return stalls or bursts in words: `for 5 s every 38 s`.

    >>> describe_bouts(Bouts(4, 5.0, 38.2)), describe_bouts(Bouts(3, 2.5, None))
    ('for 5 s every 38 s', '3 times, for 2.5 s each')
    """
    length = f"{bouts.length_s:.1f}".removesuffix(".0")
    if bouts.period_s is not None:
        return f"for {length} s every {bouts.period_s:.0f} s"
    return f"{bouts.n:,} times, for {length} s each"


def describe_rhythm(times_s: FloatArray, values: FloatArray) -> str:
    """Return what a series does in its rhythm, as a sentence. Missing: "" where its samples show no period.

    Shape: times_s, values (n,), ascending times, without missing values
    """
    stalls = find_stalls(times_s, values)
    if stalls is not None and stalls.period_s is not None:
        return f"It stops {describe_bouts(stalls)}."
    period = find_period(values)
    if period is None:
        return ""
    seconds = f"{period * float(np.median(np.diff(times_s))):.3g}"
    return f"It repeats every {seconds} s."
