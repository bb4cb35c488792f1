"""A profile built from samples for one comparison: for windows without a stored profile, and for files."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from normstat.runtime import work_budget
from normstat.runtime.arrays import distinct_values
from normstat.scoring.bins import Edges, choose_edges, fill_bins
from normstat.scoring.earlier_episodes import Marks, find_over, marks_of
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
class BlockSource:
    """A block that is made when it is needed, and dropped: only its instants are there before."""

    times_baseline: FloatArray
    times_incident: FloatArray
    times_before: FloatArray
    make: Callable[[], Block]


@dataclass(frozen=True, slots=True)
class BeforeSource:
    """Distances of some series in the time right before an incident, made when they are needed.

    `width`: columns of the distances; `n_incident`: those of the incident; `marks`: what looks like it. Shape: times (width,), or
    none for samples without common instants; make() (n_series, width)
    """

    times: FloatArray
    width: int
    n_incident: int
    marks: Marks
    make: Callable[[], Float32Array]


@dataclass(frozen=True, slots=True)
class _Measured:
    """The data kept of a block when its samples are dropped. Missing: bins None without edges."""

    level: FloatArray
    digit: FloatArray
    is_percent: BoolArray
    baseline: Summary
    windows: Sequence[Summary]
    incident: Summary
    event_size: FloatArray
    bins: Float32Array | None
    incident_bins: Float32Array | None
    before: "_BeforePart | None"


@dataclass(frozen=True, slots=True)
class _BeforePart:
    """The time before the incident of some series, and its pieces. Missing: bins None without edges."""

    whole: Summary
    pieces: Sequence[Summary]
    bins: Float32Array | None
    is_over: BoolArray


def compare_blocks(given: Iterable[Block], families: IntArray) -> tuple[HostProfile, WindowScores]:
    """Return the profile of all series and the scores of the incident.

    Shape: families (n_series,), codes, over the series of all blocks in their order
    """
    return compare_sources([_to_source(block) for block in given], families)


def _to_source(block: Block) -> BlockSource:
    before = np.empty(0) if block.times_before is None else block.times_before
    return BlockSource(block.times_baseline, block.times_incident, before, lambda: block)


def compare_sources(sources: Sequence[BlockSource], families: IntArray) -> tuple[HostProfile, WindowScores]:
    """Return the profile of all series and the scores of the incident. Blocks are made one at a time.

    Shape: families (n_series,), codes, over the series of all blocks in their order
    """
    edges = _edges(sources)
    # Windows of all blocks at the same share of the baseline, so that one window is one window of the host.
    cuts = [cut(len(source.times_baseline), len(source.times_incident)) for source in sources]
    # A stat with few reports repeats its windows.
    n_windows = max(map(len, cuts))
    sides = [(source.times_before, len(source.times_before), len(source.times_incident)) for source in sources]
    before = _BeforeCut.of(sides, edges[0][1] if edges else 0.0)
    parts = work_budget.in_threads(lambda item: _measure(*item, n_windows, edges, before), list(zip(sources, cuts, strict=True)))
    baseline = concatenate([part.baseline for part in parts])
    series_stats = series_stats_of(
        baseline,
        np.concatenate([part.level for part in parts]),
        np.concatenate([part.digit for part in parts]),
        np.concatenate([part.is_percent for part in parts]),
    )
    windows = [concatenate([part.windows[number] for part in parts]) for number in range(n_windows)]
    load_model, left, added, incident_bins = None, None, np.full(len(baseline), np.nan, np.float32), None
    if edges is not None:
        bins = _with_values([part.bins for part in parts])
        incident_bins = _with_values([part.incident_bins for part in parts])
        # A baseline without any value has no bins.
        added = log_scale_of(bins, series_stats) if bins.shape[1] else added
        learned = learn(to_log(bins, added))
        incident_bins = to_log(incident_bins, added)
        if learned is not None and incident_bins.shape[1]:
            load_model = learned[0]
            left = window_middles(learned[1], incident_bins.shape[1])
    disjoint = float(
        np.mean(
            [len(source.times_baseline) / (pieces[0].stop - pieces[0].start) for source, pieces in zip(sources, cuts, strict=True)]
        )
    )
    window_model = learn_window_model(windows, baseline, series_stats, families, length_s=1.0, n_disjoint=disjoint, left=left)
    profile = HostProfile(series_stats, baseline, families, [window_model], load_model, added, edges[0][1] if edges else 0.0)
    event_size = np.concatenate([part.event_size for part in parts])
    window = concatenate([part.incident for part in parts])
    found = None if before is None else before.join([part.before for part in parts if part.before is not None], added)
    return profile, score_window(profile, window, event_size, incident_bins, 1.0, before=found)


def _measure(
    source: BlockSource, pieces: Sequence[slice], n_windows: int, edges: tuple[Edges, Edges] | None, before: "_BeforeCut | None"
) -> _Measured:
    """Return the summaries of a block, which is made now."""
    block = source.make()
    level = levels_of(block.baseline)
    digit = np.minimum(digits_of(block.baseline), digits_of(block.incident)) if block.digit is None else block.digit
    is_percent = looks_like_percent(block.baseline) if block.is_percent is None else block.is_percent
    baseline, incident = relative(block.baseline, level), relative(block.incident, level)
    right_before = np.empty((len(level), 0), np.float32) if block.before is None else relative(block.before, level)
    del block
    n_incident = incident.shape[1]
    of_baseline = _summarise(baseline, rhythm_values=baseline[:, :0])
    of_incident = _summarise(incident, rhythm_piece=_rhythm_length(baseline.shape[1], n_incident))
    marks = marks_of(of_baseline, of_incident)
    return _Measured(
        level,
        digit,
        is_percent,
        of_baseline,
        [
            _summarise(
                baseline[:, pieces[_spread(number, n_windows, len(pieces))]],
                rhythm_values=baseline[:, _rhythm_window(baseline.shape[1], n_incident, number, n_windows)],
            )
            for number in range(n_windows)
        ],
        of_incident,
        event_size_of(incident),
        None if edges is None else fill_bins(baseline, source.times_baseline, edges[0]),
        None if edges is None else fill_bins(incident, source.times_incident, edges[1]),
        None if before is None else before.measure(right_before, source.times_before, n_incident, marks),
    )


def _with_values(bins: Sequence[Float32Array | None]) -> Float32Array:
    """Return the bins of all series in which one of them has a value."""
    joined = np.concatenate([own for own in bins if own is not None])
    return joined[:, ~np.isnan(joined).all(axis=0)]


def before_of(sources: Sequence[BeforeSource], added: Float32Array, bin_s: float) -> Before | None:
    """Return the time right before an incident. Missing: None where no source has a report of it.

    `bin_s`: length of the load model's bins, 0 without one. Shape: added (n_series,)
    """
    cut_before = _BeforeCut.of([(source.times, source.width, source.n_incident) for source in sources], bin_s)
    if cut_before is None:
        return None
    return cut_before.join(
        work_budget.in_threads(
            lambda source: cut_before.measure(source.make(), source.times, source.n_incident, source.marks), sources
        ),
        added,
    )


@dataclass(frozen=True, slots=True)
class _BeforeCut:
    """How the time right before an incident is cut: into bins, and into as many pieces for all series."""

    edges: Edges | None
    n_pieces: int

    @classmethod
    def of(cls, parts: Sequence[tuple[FloatArray, int, int]], bin_s: float) -> "_BeforeCut | None":
        """Return the cut for series with these instants, columns, and columns in the incident.

        Missing: None where no part has an instant
        """
        seen = [times for times, _, _ in parts if len(times)]
        if not seen:
            return None
        edges: Edges | None = None
        if bin_s:
            start, end = min(float(times[0]) for times in seen), max(float(times[-1]) for times in seen)
            edges = (start, bin_s, max(1, int(np.ceil((end - start) / bin_s))))
        return cls(edges, max(len(_equal_pieces(width, n_incident)) for _, width, n_incident in parts))

    def measure(self, distances: Float32Array, times: FloatArray, n_incident: int, marks: Marks) -> _BeforePart:
        """Return the time of some series."""
        own = _equal_pieces(distances.shape[1], n_incident)
        made = [_summarise(distances[:, piece]) for piece in own]
        # A single piece is all of it; only the rhythm is not that of a long time.
        whole = (
            replace(made[0], rhythm=np.full(len(distances), np.nan, np.float32))
            if len(own) == 1
            else _summarise(distances, rhythm_values=distances[:, :0])
        )
        pieces = [made[_spread(number, self.n_pieces, len(own))] for number in range(self.n_pieces)]
        bins = None if self.edges is None else fill_bins(distances, times, self.edges)
        return _BeforePart(whole, pieces, bins, find_over(distances, marks, n_incident))

    def join(self, parts: Sequence[_BeforePart], added: Float32Array) -> Before:
        """Return the time of all series."""
        bins = None if self.edges is None else to_log(_with_values([part.bins for part in parts]), added)
        pieces = [concatenate([part.pieces[number] for part in parts]) for number in range(self.n_pieces)]
        return Before(concatenate([part.whole for part in parts]), pieces, bins, np.concatenate([part.is_over for part in parts]))


def _equal_pieces(n: int, n_wanted: int) -> list[slice]:
    """Return n reports cut into pieces of about the wanted number, one at least."""
    n_pieces = min(MAX_WINDOWS, max(1, n // max(n_wanted, 1)))
    bounds = np.linspace(0, n, n_pieces + 1).astype(np.intp).tolist()
    return [slice(begin, end) for begin, end in itertools.pairwise(bounds)]


def _summarise(
    distances: Float32Array,
    *,
    rhythm_values: Float32Array | None = None,
    rhythm_piece: int | None = None,
) -> Summary:
    """Return `summarise`, within the work budget."""
    work_budget.use(work_budget.CELL_BYTES * distances.size)
    return summarise(distances, rhythm_values=rhythm_values, rhythm_piece=rhythm_piece)


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
    starts = distinct_values(np.linspace(0, n - length, n_windows).astype(np.intp))
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


def _edges(blocks: Sequence[BlockSource]) -> tuple[Edges, Edges] | None:
    baseline = [block.times_baseline for block in blocks if len(block.times_baseline) > 1]
    incident = [block.times_incident for block in blocks if len(block.times_incident)]
    return choose_edges(baseline, incident) if baseline and incident else None
