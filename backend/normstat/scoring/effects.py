"""How far each series moved and in which direction, in one signed number: what signatures of incidents are made of."""

from typing import Final

import numpy as np

from normstat.scoring.change_scale import VALUE
from normstat.scoring.host_profile import HostProfile, WindowScores
from normstat.scoring.summary import Float32Array

HALF: Final = 0.5


def signed_effects(profile: HostProfile, scores: WindowScores) -> Float32Array:
    """Return how far the level of each series moved: positive for up, in logarithms of its change ratio.

    The logarithm of sqrt(1 + ratio²): next to nothing for what a series does by itself (0.04 at a ratio of 0.3), and of a large
    change only its decade. Where the median stays, the mean says the direction.

    Shape: -> (n_series,). Missing: 0 without enough data on both sides
    """
    baseline, window = profile.baseline, scores.window
    moved = window.median - baseline.median
    direction = np.sign(np.where(np.nan_to_num(moved) == 0, window.mean - baseline.mean, moved))
    ratio = np.nan_to_num(scores.change_ratios[VALUE]).astype(np.float64)
    effects = np.nan_to_num(direction) * HALF * np.log1p(np.square(ratio))
    return np.asarray(np.where(scores.has_enough_data, effects, 0), np.float32)
