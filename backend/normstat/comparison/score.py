"""Score all series of a host at once: against samples of the baseline, or against a stored profile."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from normstat.comparison.findings.classify import SeriesIdentity
from normstat.comparison.read_side import StatSide
from normstat.profiles.adhoc_profile import Block, before_of, compare_blocks, event_size_of, relative
from normstat.profiles.sketch_builder import SPARSE_SHARE
from normstat.profiles.stored_profile import LoadedProfile, SeriesKey
from normstat.scoring.bins import Edges, fill_bins
from normstat.scoring.host_profile import Before, HostProfile, WindowScores, score_window
from normstat.scoring.load_model import to_log
from normstat.scoring.summary import Float32Array, FloatArray, concatenate, summarise
from normstat.stats.spec import Field, Kind, Storage, Worse
from normstat.window import Window


@dataclass(frozen=True, slots=True)
class StatPair:
    """Both sides of a stat; `baseline` is None where a profile replaces it.

    `before`: the time right before the incident, None where it is not looked at
    """

    fields: Mapping[str, Field]
    baseline: StatSide | None
    incident: StatSide
    before: StatSide | None = None


@dataclass(frozen=True, slots=True)
class ScoredSeries:
    """The series with their scores. Shape: series (n_series,) in the order of `profile` and `scores`"""

    series: Sequence[SeriesIdentity]
    profile: HostProfile
    scores: WindowScores


def score_samples(stats: Sequence[StatPair]) -> ScoredSeries | None:
    """Score the series with samples on both sides. Missing: None if there are none."""
    parts: list[tuple[StatPair, StatSide, list[tuple[str, str]], bool]] = []
    series: list[SeriesIdentity] = []
    families: list[int] = []
    codes: dict[tuple[str, str], int] = {}
    for stat in stats:
        if stat.baseline is None or not stat.baseline.n_rows or not stat.incident.n_rows:
            continue
        counts = [dict(zip(side.names, side.counts().tolist(), strict=True)) for side in (stat.baseline, stat.incident)]
        both = [name for name in stat.baseline.names if name in counts[1]]
        n_reports = [len(side.times_s) for side in (stat.baseline, stat.incident)]
        for sparse in (False, True):
            some = [
                name
                for name in both
                if all(count[name] < SPARSE_SHARE * n for count, n in zip(counts, n_reports, strict=True)) == sparse
            ]
            keys = [key for key in stat.fields if key in stat.baseline.values and key in stat.incident.values]
            rows = [(name, key) for key in keys for name in some]
            if not rows:
                continue
            parts.append((stat, stat.baseline, rows, sparse))
            series += [SeriesIdentity(stat.incident.stat.name, name, stat.fields[key]) for name, key in rows]
            families += [codes.setdefault((stat.incident.stat.name, key), len(codes)) for _, key in rows]
    if not parts:
        return None
    # A generator: a block is needed only until its distances are computed.
    blocks = (_to_block(baseline, stat, rows, sparse=sparse) for stat, baseline, rows, sparse in parts)
    profile, scores = compare_blocks(blocks, np.array(families, np.int64))
    return ScoredSeries(series, profile, scores)


def _to_block(baseline: StatSide, stat: StatPair, rows: Sequence[tuple[str, str]], *, sparse: bool) -> Block:
    own = [side for side in (baseline, stat.incident, stat.before) if side is not None and side.n_rows]
    sides = [side.packed(rows) if sparse else side.grid(rows) for side in own]
    # Packed samples have no common instants: spread them evenly over the side.
    times = [
        np.linspace(side.times_s[0], side.times_s[-1], values.shape[1]) if sparse else side.times_s
        for side, values in zip(own, sides, strict=True)
    ]
    digit = np.array([10.0 ** -stat.fields[key].decimals for _, key in rows])
    is_percent = np.array([stat.fields[key].kind is Kind.PERCENT for _, key in rows], np.bool_)
    before = (times[2], sides[2]) if len(own) > 2 else (None, None)
    return Block(times[0], sides[0], times[1], sides[1], digit, is_percent, *before)


def score_with_profile(loaded: LoadedProfile, incident: Window, stats: Mapping[str, StatPair]) -> ScoredSeries | None:
    """Score the series of a stored profile. Missing: None where the profile has none."""
    profile, keys = loaded.profile, loaded.series
    if not keys:
        return None
    rows_of: dict[str, list[int]] = {}
    for row, key in enumerate(keys):
        rows_of.setdefault(key.stat, []).append(row)
    windows, sizes, bins, order = [], [], [], []
    longest_s = max(model.natural_change.length_s for model in profile.window_models)
    n_bins = max(1, round(incident.length_s / profile.bin_s)) if profile.bin_s else 1
    edges: Edges = (incident.start.timestamp(), profile.bin_s or 1.0, n_bins)
    for name, rows in rows_of.items():
        side = stats[name].incident if name in stats else None
        pairs = [(keys[row].instance, keys[row].field) for row in rows]
        for some, distances, n_reports, times in _distances(side, pairs, profile, rows):
            order += some
            # The width of an incident longer than the profile's windows is measured in pieces of their length.
            piece = round(n_reports * longest_s / incident.length_s) if times is not None else 0
            windows.append(summarise(distances, n_reports, piece or None))
            sizes.append(event_size_of(distances))
            nothing = np.full((len(some), n_bins), np.nan, np.float32)
            bins.append(nothing if times is None else fill_bins(distances, times, edges))
    back = np.argsort(np.array(order, np.intp))
    window, size, binned = concatenate(windows).take(back), np.concatenate(sizes)[back], np.concatenate(bins)[back]
    binned = binned[:, ~np.isnan(binned).all(axis=0)]
    bins_in_log = to_log(binned, profile.added) if binned.shape[1] else None
    before = _before(profile, keys, rows_of, stats)
    scores = score_window(profile, window, size, bins_in_log, incident.length_s, before=before)
    series = [SeriesIdentity(key.stat, key.instance, _field_of(stats, key)) for key in keys]
    return ScoredSeries(series, profile, scores)


def _before(
    profile: HostProfile, keys: Sequence[SeriesKey], rows_of: Mapping[str, Sequence[int]], stats: Mapping[str, StatPair]
) -> Before | None:
    """Return the time right before the incident in the order of the profile. Missing: None where it is not looked at."""
    blocks: list[tuple[Float32Array, FloatArray, int]] = []
    order: list[int] = []
    for name, rows in rows_of.items():
        pair = stats.get(name)
        n_incident = 0 if pair is None else len(pair.incident.times_s)
        pairs = [(keys[row].instance, keys[row].field) for row in rows]
        for some, distances, _, times in _distances(None if pair is None else pair.before, pairs, profile, rows):
            order += some
            blocks.append((distances, np.empty(0) if times is None else times, n_incident))
    found = before_of(blocks, profile.added[order], profile.bin_s)
    return None if found is None else found.take(np.argsort(np.array(order, np.intp)))


def _field_of(stats: Mapping[str, StatPair], key: SeriesKey) -> Field:
    """Return the field, or a stand-in for one that the host no longer has (and has no samples of)."""
    found = stats[key.stat].fields.get(key.field) if key.stat in stats else None
    if found is not None:
        return found
    return Field(key.field, key.field, key.field, "", "", Kind.GAUGE, Worse.NEITHER, 2, Storage.FLOAT8, "", "")


def _distances(
    incident: StatSide | None, pairs: Sequence[tuple[str, str]], profile: HostProfile, rows: Sequence[int]
) -> list[tuple[list[int], Float32Array, int, FloatArray | None]]:
    """Return rows of the profile with the incident's samples as distances from the level: dense series, then sparse ones."""
    level = profile.series_stats.level
    if incident is None or incident.n_rows == 0:
        return [(list(rows), np.full((len(rows), 1), np.nan, np.float32), 0, None)]
    n_reports = len(incident.times_s)
    counts = dict(zip(incident.names, incident.counts().tolist(), strict=True))
    result: list[tuple[list[int], Float32Array, int, FloatArray | None]] = []
    for sparse in (False, True):
        places = [at for at, (name, _) in enumerate(pairs) if (counts.get(name, 0) < SPARSE_SHARE * n_reports) == sparse]
        if not places:
            continue
        some = [pairs[at] for at in places]
        values = incident.packed(some) if sparse else incident.grid(some)
        if values.shape[1] == 0:
            values = np.full((len(some), 1), np.nan)
        own = [rows[at] for at in places]
        result.append((own, relative(values, level[own]), n_reports, None if sparse else incident.times_s))
    return result
