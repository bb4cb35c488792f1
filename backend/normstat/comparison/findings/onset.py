"""Find when a series left its normal range."""

import numpy as np

from normstat.scoring.summary import FloatArray


def find_onset(values: FloatArray, normal: tuple[float, float, float] | None) -> int | None:
    """Return the index of the first report of a change. Missing: NaN in `values`; None where no report is outside the normal range.

    `values`: the series in the incident, shape (n_reports,). `normal`: lowest, median and highest sample of the baseline; None: the
    baseline has none, so any sample is a change.

    A baseline with one high sample has a wide range, and the first report outside it can be late. So the onset is earlier if the
    series had already moved for good: the onset is where the cumulative sum of reports on the side of the change, less those that
    are not, is lowest (CUSUM). A report is on that side if it is nearer to the samples outside the range than to the median.
    """
    if normal is None:
        outside = np.flatnonzero(~np.isnan(values))
        return int(outside[0]) if len(outside) else None
    lowest, median, highest = normal
    outside = np.flatnonzero((values < lowest) | (values > highest))
    if not len(outside):
        return None
    first = int(outside[0])
    reached = float(np.median(values[outside]))
    middle = (median + reached) / 2
    sides = np.nan_to_num(np.sign((values[:first] - middle) * (reached - median)))
    # Summed from the end: the lowest sum before a report is the highest one after it.
    after = np.cumsum(sides[::-1])[::-1]
    if not len(after) or after.max() <= 0:
        return first
    return int(np.flatnonzero(after == after.max())[-1])
