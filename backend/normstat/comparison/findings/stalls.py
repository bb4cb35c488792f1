"""How a series stalls, for how long and how often, and with which period it goes up and down. Shares of samples do not say it."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.scoring.rhythm import find_period
from normstat.scoring.summary import FloatArray

# A stall is below this part of the series' own median.
LOW_PART: Final = 0.25
MIN_STALLS: Final = 2
# Periods that differ more are no period, and a run that is shorter by more than this is a low sample by chance, no stall.
MAX_SPREAD: Final = 0.5


@dataclass(frozen=True, slots=True)
class Stalls:
    """The stalls of a series in a window: the median length, and the time from one to the next. Missing: None if irregular"""

    n: int
    length_s: float
    period_s: float | None


def find_stalls(times_s: FloatArray, values: FloatArray) -> Stalls | None:
    """Return the stalls: runs of samples far below the median. Missing: None where there are fewer than two.

    Shape: times_s, values (n,), ascending times, without missing values. A sample covers the time since the one before.
    """
    if len(values) < MIN_STALLS * 2:
        return None
    interval = float(np.median(np.diff(times_s)))
    # The median of what is not nothing: it may be nothing most of the time.
    working = values[values > 0]
    if len(working) == 0:
        return None
    is_low = values <= LOW_PART * float(np.median(working))
    edges = np.diff(np.concatenate([[0], is_low.astype(np.int8), [0]]))
    begins, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    if len(begins) < MIN_STALLS:
        return None
    lengths = times_s[ends - 1] - times_s[begins] + interval
    # The stall that a low sample typically is in: single low samples between long stalls do not count.
    typical = float(np.median(np.repeat(lengths, ends - begins)))
    is_stall = lengths >= (1 - MAX_SPREAD) * typical
    begins, lengths = begins[is_stall], lengths[is_stall]
    if len(begins) < MIN_STALLS:
        return None
    periods = np.diff(times_s[begins])
    period = float(np.median(periods))
    is_regular = float(np.max(np.abs(periods - period))) <= MAX_SPREAD * period
    return Stalls(len(begins), float(np.median(lengths)), period if is_regular else None)


def describe_stalls(stalls: Stalls) -> str:
    """Return the stalls in words: `for 5 s every 38 s`.

    >>> describe_stalls(Stalls(4, 5.0, 38.2)), describe_stalls(Stalls(3, 2.5, None))
    ('for 5 s every 38 s', '3 times, for 2.5 s each')
    """
    length = f"{stalls.length_s:.1f}".removesuffix(".0")
    if stalls.period_s is not None:
        return f"for {length} s every {stalls.period_s:.0f} s"
    return f"{stalls.n:,} times, for {length} s each"


def describe_rhythm(times_s: FloatArray, values: FloatArray) -> str:
    """Return what a series does in its rhythm, as a sentence. Missing: "" where its samples show no period.

    Shape: times_s, values (n,), ascending times, without missing values
    """
    stalls = find_stalls(times_s, values)
    if stalls is not None and stalls.period_s is not None:
        return f"It stops {describe_stalls(stalls)}."
    period = find_period(values)
    if period is None:
        return ""
    seconds = f"{period * float(np.median(np.diff(times_s))):.3g}"
    return f"It repeats every {seconds} s."
