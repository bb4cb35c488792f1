"""The method that this product's method began with, as a peer: how many times larger is the change than the usual one?

The baseline is cut into windows as long as the incident; each is compared with the whole baseline as the incident is. What changes
of a kind these show is the yardstick for the incident's change of that kind.
"""

import warnings
from dataclasses import dataclass
from typing import Final

import numpy as np

from bench.compare_cases import Case
from bench.compare_host import FloatArray
from bench.compare_peers import MIDDLES, Ranking, judged, ordered, quantiles

MAX_WINDOWS: Final = 32
MIN_DISJOINT: Final = 8
UNUSUAL: Final = 4.0
PULL: Final = 8.0
END_SHARE: Final = 0.02


@dataclass(frozen=True, slots=True)
class Look:
    """What is looked at of a piece of all series. Shape: (..., 32) for quantiles, (...,) else."""

    values: FloatArray
    steps: FloatArray
    top: FloatArray
    bottom: FloatArray
    still: FloatArray
    missing: FloatArray


def look(values: FloatArray) -> Look:
    """Shape: values (..., n)."""
    in_order, counts = ordered(values)
    moves = np.abs(np.diff(values, axis=-1))
    moves_in_order, n_moves = ordered(moves)
    n = np.maximum(1, np.round(END_SHARE * counts)).astype(np.intp)
    place = np.arange(values.shape[-1])
    is_bottom, is_top = place < n[..., None], (place >= (counts - n)[..., None]) & (place < counts[..., None])
    filled = np.nan_to_num(in_order)
    return Look(
        quantiles(in_order, counts, MIDDLES),
        quantiles(moves_in_order, n_moves, MIDDLES),
        (filled * is_top).sum(axis=-1) / n,
        (filled * is_bottom).sum(axis=-1) / n,
        np.sum(moves == 0, axis=-1) / np.maximum(n_moves, 1),
        np.mean(np.isnan(values), axis=-1),
    )


def cut(values: FloatArray, m: int) -> tuple[FloatArray, int]:
    """Windows of the incident's length and how many of them would not overlap. Shape: (k, n) -> (k, n_windows, length)."""
    n = values.shape[1]
    length = max(2, min(m, n // MIN_DISJOINT))
    n_disjoint = max(1, n // length)
    n_windows = min(MAX_WINDOWS, n_disjoint if n_disjoint >= MAX_WINDOWS else 2 * n_disjoint - 1)
    starts = np.linspace(0, n - length, n_windows).astype(np.intp)
    return values[:, starts[:, None] + np.arange(length)], n_disjoint


def apart(left: FloatArray, right: FloatArray) -> FloatArray:
    distance: FloatArray = np.abs(left - right).mean(axis=-1)
    return distance


def centred(found: FloatArray) -> FloatArray:
    return found - np.median(found, axis=-1, keepdims=True)


def changes(incident: Look, windows: Look, whole: Look) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Kind -> the incident's change (k,), the windows' changes (k, n_windows)."""
    tops, bottoms = (np.nanmedian(ends, axis=1) for ends in (windows.top, windows.bottom))
    return {
        "value": (apart(incident.values, whole.values), apart(windows.values, whole.values[:, None])),
        "shape": (
            apart(centred(incident.values), centred(whole.values)),
            apart(centred(windows.values), centred(whole.values)[:, None]),
        ),
        "top": (np.abs(incident.top - tops), np.abs(windows.top - tops[:, None])),
        "bottom": (np.abs(incident.bottom - bottoms), np.abs(windows.bottom - bottoms[:, None])),
        "step": (apart(incident.steps, whole.steps), apart(windows.steps, whole.steps[:, None])),
        "still": (np.abs(incident.still - whole.still), np.abs(windows.still - whole.still[:, None])),
        "missing": (np.abs(incident.missing - whole.missing), np.abs(windows.missing - whole.missing[:, None])),
    }


def floors(case: Case, n: int) -> dict[str, FloatArray]:
    """The smallest usual change of each kind; n samples in a window."""
    in_order, counts = ordered(case.baseline)
    gaps = np.diff(in_order, axis=1)
    step = np.min(np.where(gaps > 0, gaps, np.inf), axis=1)
    # A series that never moved printed no step: the incident tells it, or else it is one.
    sizes = np.abs(np.where(case.incident == 0, np.nan, case.incident))
    step = np.where(np.isfinite(step), step, np.fmin.reduce(sizes, axis=1))
    step = np.where(np.isfinite(step), step, 1.0)
    with_size = np.abs(np.where(case.baseline == 0, np.nan, case.baseline))
    size = quantiles(*ordered(with_size), np.array([0.5]))[:, 0]
    low, high = in_order[:, 0], np.fmax.reduce(case.baseline, axis=1)
    is_percentage = (low >= 0) & (high <= 100) & (high > 50)
    level = np.where(is_percentage, np.maximum(np.minimum(size, 100 - size), 1.0), size)
    is_zero_mostly = np.sum(case.baseline == 0, axis=1) > 0.9 * counts
    level_floor = np.nan_to_num(np.where(is_zero_mostly, size, 0.01 * level))
    share = np.full(len(step), max(0.05, 1 / n))
    small, whole = np.maximum(level_floor, step / n), np.maximum(level_floor, step)
    return {
        **dict.fromkeys(("value", "shape", "step"), small),
        **dict.fromkeys(("top", "bottom"), whole),
        **dict.fromkeys(("still", "missing"), share),
    }


def compare_md(case: Case) -> Ranking:
    """The largest over the kinds of change / usual change; unusual from 4 on."""
    with np.errstate(invalid="ignore", divide="ignore"), warnings.catch_warnings():
        # A series without any number has no median: it is not judged.
        warnings.simplefilter("ignore", RuntimeWarning)
        pieces, n_disjoint = cut(case.baseline, case.incident.shape[1])
        whole, incident = look(case.baseline), look(case.incident)
        in_order, counts = ordered(case.baseline)
        low, high = quantiles(in_order, counts, np.array([0.25, 0.75])).T
        scale = np.fmax((high - low) / 1.349, np.nanstd(case.baseline, axis=1))
        least = floors(case, pieces.shape[-1])
        score = np.zeros(len(scale))
        for kind, (change, usual_changes) in changes(incident, look(pieces), whole).items():
            known = np.where(np.isnan(usual_changes), 0.0, usual_changes)
            usual = (np.quantile(known, 0.9, axis=1) + known.max(axis=1)) / 2
            size = scale if kind not in {"still", "missing"} else np.ones(len(scale))
            rho = np.median((usual / size)[size > 0]) if (size > 0).any() else 0.0
            usual = (n_disjoint * usual + PULL * rho * size) / (n_disjoint + PULL)
            score = np.fmax(score, change / np.fmax(usual, least[kind]))
    return judged(score, UNUSUAL, case)
