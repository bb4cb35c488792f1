"""When a change began: the first report outside the normal range, or earlier where the series had moved for good before."""

import numpy as np
import pytest

from normstat.comparison.findings.onset import find_onset

QUIET = (0.0, 2.0, 10.0)
# One high sample makes the range of this baseline wide.
SPIKED = (0.0, 2.0, 95.0)


@pytest.mark.parametrize(
    ("values", "normal", "onset"),
    [
        ([2, 3, 1, 90, 92, 91], QUIET, 3),
        ([2, 3, 1, 4, 2, 3], QUIET, None),
        # Moved for good at the fourth report; only the seventh is above the spike of the baseline.
        ([2, 3, 1, 90, 92, 91, 96, 93], SPIKED, 3),
        ([90, 92, 91, 96, 93], SPIKED, 0),
        # One report in between that is as normal does not end it.
        ([2, 3, 90, 92, 2, 91, 96, 93], SPIKED, 2),
        # A single high report long before is not the beginning.
        ([2, 90, 2, 3, 1, 2, 90, 92, 96], SPIKED, 6),
        # Bursts: the first one outside the range.
        ([2, 2, 96, 2, 2, 2, 96, 2, 2], SPIKED, 2),
        # Downwards.
        ([50, 51, 0, 0, 50, 0], (10.0, 50.0, 60.0), 2),
        ([np.nan, 2, np.nan, 90, 96], SPIKED, 3),
        ([np.nan, np.nan, 5], None, 2),
        ([np.nan, np.nan], None, None),
        ([], QUIET, None),
    ],
)
def test_onset(values: list[float], normal: tuple[float, float, float] | None, onset: int | None) -> None:
    assert find_onset(np.array(values, float), normal) == onset
