"""A profile built from samples for one comparison: for windows without a stored profile, and for files."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat import work_budget
from normstat.scoring.bins import Edges, choose_edges, fill_bins
from normstat.scoring.host_profile import Before, HostProfile, WindowScores, learn_window_model, score_window
from normstat.scoring.load_model import learn, log_scale_of, to_log, window_middles
from normstat.scoring.series_stats import BoolArray, digits_of, levels_of, looks_like_percent, series_stats_of
from normstat.scoring.summary import Float32Array, FloatArray, IntArray, Summary, concatenate, summarise

MAX_WINDOWS: Final = 32
# A window is at most this part of the baseline, of a short one a quarter.
MAX_PART: Final = 8
MIN_WINDOW: Final = 4
MIN_WINDOWS: Final = 4


@dataclass(frozen=True, slots=True)
class Block:
    """Series that share their instants. Missing: NaN; `digit` and `is_percent` None where unknown, then they are guessed.

    `before`: the time right before the incident, None where it is not known.
    Shape: times_baseline (n,), times_incident (m,), times_before (k,), seconds, ascending; baseline (n_series, n), incident
    (n_series, m), before (n_series, k), the rest (n_series,)
    """

    times_baseline: FloatArray
    baseline: FloatArray
    times_incident: FloatArray
    incident: FloatArray
    digit: FloatArray | None = None
    is_percent: BoolArray | None = None
    times_before: FloatArray | None = None
    before: FloatArray | None = None


@dataclass(frozen=True, slots=True)
class _Distances:
    """A block as distances from the levels of its series; half the size of the block itself."""

    times_baseline: FloatArray
    baseline: Float32Array
    times_incident: FloatArray
    incident: Float32Array
    level: FloatArray
    digit: FloatArray
    is_percent: BoolArray
    times_before: FloatArray
    before: Float32Array


def compare_blocks(given: Iterable[Block], families: IntArray) -> tuple[HostProfile, WindowScores]:
    """Return the profile of all series and the scores of the incident. Blocks are consumed one at a time.

    Shape: families (n_series,), codes, over the series of all blocks in their order
    """
    blocks = [_measure(block) for block in given]
    baseline, incident = [block.baseline for block in blocks], [block.incident for block in blocks]
    baseline_summary = concatenate([_summarise(distances, rhythm_values=distances[:, :0]) for distances in baseline])
    series_stats = series_stats_of(
        baseline_summary,
        np.concatenate([block.level for block in blocks]),
        np.concatenate([block.digit for block in blocks]),
        np.concatenate([block.is_percent for block in blocks]),
    )
    # Windows of all blocks at the same share of the baseline, so that one window is one window of the host.
    cuts = [cut(block.baseline.shape[1], block.incident.shape[1]) for block in blocks]
    lengths = [block.incident.shape[1] for block in blocks]
    # A stat with few reports repeats its windows.
    n_windows = max(map(len, cuts))
    windows = [
        concatenate(
            [
                _summarise(
                    distances[:, pieces[_spread(number, n_windows, len(pieces))]],
                    rhythm_values=distances[:, _rhythm_window(distances.shape[1], n_incident, number, n_windows)],
                )
                for distances, pieces, n_incident in zip(baseline, cuts, lengths, strict=True)
            ]
        )
        for number in range(n_windows)
    ]
    edges = _edges(blocks)
    load_model, left, added, incident_bins = None, None, np.full(len(baseline_summary), np.nan, np.float32), None
    if edges is not None:
        bins = np.concatenate(
            [fill_bins(item, block.times_baseline, edges[0]) for item, block in zip(baseline, blocks, strict=True)]
        )
        incident_bins = np.concatenate(
            [fill_bins(item, block.times_incident, edges[1]) for item, block in zip(incident, blocks, strict=True)]
        )
        bins, incident_bins = bins[:, ~np.isnan(bins).all(axis=0)], incident_bins[:, ~np.isnan(incident_bins).all(axis=0)]
        # A baseline without any value has no bins.
        added = log_scale_of(bins, series_stats) if bins.shape[1] else added
        learned = learn(to_log(bins, added))
        incident_bins = to_log(incident_bins, added)
        if learned is not None and incident_bins.shape[1]:
            load_model = learned[0]
            left = window_middles(learned[1], incident_bins.shape[1])
    disjoint = float(
        np.mean([distances.shape[1] / (pieces[0].stop - pieces[0].start) for distances, pieces in zip(baseline, cuts, strict=True)])
    )
    window_model = learn_window_model(
        windows, baseline_summary, series_stats, families, length_s=1.0, n_disjoint=disjoint, left=left
    )
    profile = HostProfile(
        series_stats, baseline_summary, families, [window_model], load_model, added, edges[0][1] if edges else 0.0
    )
    event_size = np.concatenate([event_size_of(distances) for distances in incident])
    # The change scale is that of windows of this length.
    window = concatenate(
        [
            _summarise(
                distances, piece=pieces[0].stop - pieces[0].start, rhythm_piece=_rhythm_length(whole.shape[1], distances.shape[1])
            )
            for distances, pieces, whole in zip(incident, cuts, baseline, strict=True)
        ]
    )
    bin_s = edges[0][1] if edges else 0.0
    before = before_of([(block.before, block.times_before, block.incident.shape[1]) for block in blocks], added, bin_s)
    return profile, score_window(profile, window, event_size, incident_bins, 1.0, before=before)


def before_of(blocks: Sequence[tuple[Float32Array, FloatArray, int]], added: Float32Array, bin_s: float) -> Before | None:
    """Return the time right before an incident. Missing: None where no block has a report of it.

    `blocks`: distances from the level, their instants, and the reports of the incident. `bin_s`: length of the load model's bins,
    0 without one. Shape: added (n_series,)
    """
    seen = [times for _, times, _ in blocks if len(times)]
    if not seen:
        return None
    pieces = [_equal_pieces(distances.shape[1], n_incident) for distances, _, n_incident in blocks]
    n_pieces = max(map(len, pieces))
    bins = None
    if bin_s:
        start, end = min(float(times[0]) for times in seen), max(float(times[-1]) for times in seen)
        edges: Edges = (start, bin_s, max(1, int(np.ceil((end - start) / bin_s))))
        filled = np.concatenate([fill_bins(distances, times, edges) for distances, times, _ in blocks])
        bins = to_log(filled[:, ~np.isnan(filled).all(axis=0)], added)
    sides = list(zip(blocks, pieces, strict=True))
    whole = concatenate(
        [_summarise(distances, piece=max(1, own[0].stop), rhythm_values=distances[:, :0]) for (distances, _, _), own in sides]
    )
    windows = [
        concatenate([_summarise(distances[:, own[_spread(number, n_pieces, len(own))]]) for (distances, _, _), own in sides])
        for number in range(n_pieces)
    ]
    return Before(whole, windows, bins)


def _equal_pieces(n: int, n_wanted: int) -> list[slice]:
    """Return n reports cut into pieces of about the wanted number, one at least."""
    n_pieces = min(MAX_WINDOWS, max(1, n // max(n_wanted, 1)))
    bounds = np.linspace(0, n, n_pieces + 1).astype(np.intp).tolist()
    return [slice(begin, end) for begin, end in itertools.pairwise(bounds)]


def _measure(block: Block) -> _Distances:
    level = levels_of(block.baseline)
    n_before = 0 if block.before is None else block.before.size
    work_budget.keep(4 * (block.baseline.size + block.incident.size + n_before))
    return _Distances(
        block.times_baseline,
        relative(block.baseline, level),
        block.times_incident,
        relative(block.incident, level),
        level,
        np.minimum(digits_of(block.baseline), digits_of(block.incident)) if block.digit is None else block.digit,
        looks_like_percent(block.baseline) if block.is_percent is None else block.is_percent,
        np.empty(0) if block.times_before is None else block.times_before,
        np.empty((len(level), 0), np.float32) if block.before is None else relative(block.before, level),
    )


def _summarise(
    distances: Float32Array,
    piece: int | None = None,
    *,
    rhythm_values: Float32Array | None = None,
    rhythm_piece: int | None = None,
) -> Summary:
    """Return `summarise`, within the work budget."""
    work_budget.use(work_budget.CELL_BYTES * distances.size)
    return summarise(distances, piece=piece, rhythm_values=rhythm_values, rhythm_piece=rhythm_piece)


def _rhythm_length(n: int, n_wanted: int) -> int:
    """Return the reports in which a baseline of n shows its rhythm: as many as the incident has, at most a quarter of it.

    Other kinds need many windows; a rhythm is sure in one, but needs several periods.
    """
    return max(1, min(n_wanted, n // MIN_WINDOWS))


def _rhythm_window(n: int, n_wanted: int, number: int, n_windows: int) -> slice:
    """Return the reports in which a window of the baseline shows its rhythm. Missing: none where an earlier one shows them."""
    length = _rhythm_length(n, n_wanted)
    # Every report once, and at most half as often as there are windows, because a spectrum takes as long as all else of a window.
    n_shown = min(max(1, n // length), (n_windows + 1) // 2)
    places = [round(place * (n_windows - 1) / max(n_shown - 1, 1)) for place in range(n_shown)]
    if number not in places:
        return slice(0, 0)
    start = round(places.index(number) * (n - length) / max(n_shown - 1, 1))
    return slice(start, start + length)


def cut(n: int, n_wanted: int) -> list[slice]:
    """Return the windows of a baseline of n reports: as long as the incident, at most an eighth of it, overlapping by half."""
    length = max(1, min(n_wanted, max(n // MAX_PART, min(MIN_WINDOW, n // MIN_WINDOWS))))
    n_windows = int(np.clip(2 * n // length - 1, 1, MAX_WINDOWS))
    starts = np.unique(np.linspace(0, n - length, n_windows).astype(np.intp))
    return [slice(int(start), int(start) + length) for start in starts]


def relative(values: FloatArray, level: FloatArray) -> Float32Array:
    """Return distances from the level, in four bytes. Shape: values (n_series, n), level (n_series,)"""
    return np.asarray(values - level[:, None], np.float32)


def event_size_of(distances: Float32Array) -> FloatArray:
    """Return the mean distance of the samples that are not at the level; 0 where all are. Shape: (n_series, n) -> (n_series,)"""
    sizes = np.abs(np.nan_to_num(distances))
    return np.asarray(sizes.sum(axis=1, dtype=np.float64) / np.maximum(np.count_nonzero(sizes, axis=1), 1), np.float64)


def _spread(number: int, n_windows: int, n_pieces: int) -> int:
    return round(number * (n_pieces - 1) / max(n_windows - 1, 1))


def _edges(blocks: Sequence[_Distances]) -> tuple[Edges, Edges] | None:
    baseline = [block.times_baseline for block in blocks if len(block.times_baseline) > 1]
    incident = [block.times_incident for block in blocks if len(block.times_incident)]
    return choose_edges(baseline, incident) if baseline and incident else None
