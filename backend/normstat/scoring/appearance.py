"""How surprising a series is that the baseline does not have."""

from typing import Final

import numpy as np

from normstat.scoring.summary import FloatArray, IntArray

# All families together count as much as this many windows.
POOL_WEIGHT: Final = 10.0
# Fewer windows than this do not show how often something new appears.
MIN_WINDOWS: Final = 1.0


def appearance_significance(n_with_new: FloatArray, n_windows: float, families: IntArray) -> FloatArray:
    """Return minus the decimal logarithm of the chance that a normal window has a new series of the same family.

    What comes and goes all the time is not surprising. The share of a family's windows is pulled towards that of all families,
    which also stands for families that the baseline does not have.

    Shape: n_with_new (n_families,), windows of the baseline in which a series of the family appeared; families (n_series,), codes
    of the new series, -1 for a family that the baseline does not have -> (n_series,). `n_windows`: disjoint windows of the
    baseline
    """
    windows = max(n_windows, MIN_WINDOWS)
    of_all = (n_with_new.sum() + 1) / (windows * max(len(n_with_new), 1) + 2)
    known = np.append(np.minimum(n_with_new, windows), 0.0)
    # For an unknown family, only the share of all families is known.
    seen = np.append(np.full(len(n_with_new), windows), 0.0)
    chance = (known[families] + POOL_WEIGHT * of_all) / (seen[families] + POOL_WEIGHT)
    return np.asarray(-np.log10(np.minimum(chance, 1.0)), np.float64)
