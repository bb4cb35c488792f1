"""Judges all series of a host at once: by the samples of its baseline, or by what a stored profile knows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from normstat.comparison.findings.classify import Series
from normstat.comparison.read_side import StatSide
from normstat.profiles.adhoc_profile import Block, compare_blocks, event_size_of, relative
from normstat.profiles.sketch_builder import SPARSE_SHARE
from normstat.profiles.stored_profile import LoadedProfile, SeriesKey
from normstat.scoring.bins import Edges, fill_bins
from normstat.scoring.host_profile import HostProfile, Judged, judge
from normstat.scoring.load_model import to_log
from normstat.scoring.summary import Float32Array, FloatArray, concatenate, summarise
from normstat.stats.spec import Field, Kind, Storage, Worse
from normstat.window import Window


@dataclass(frozen=True, slots=True)
class StatPair:
    """Both sides of a stat; `before` is None where a profile speaks for it."""

    fields: Mapping[str, Field]
    before: StatSide | None
    now: StatSide


@dataclass(frozen=True, slots=True)
class Known:
    """All series that were judged. Shape: series (n_series,) as in `profile` and `judged`"""

    series: Sequence[Series]
    profile: HostProfile
    judged: Judged


def judge_raw(stats: Sequence[StatPair]) -> Known | None:
    """Series of which samples of both sides were read."""
    parts: list[tuple[StatPair, StatSide, list[tuple[str, str]], bool]] = []
    series: list[Series] = []
    families: list[int] = []
    codes: dict[tuple[str, str], int] = {}
    for stat in stats:
        if stat.before is None or not stat.before.n_rows or not stat.now.n_rows:
            continue
        counts = [dict(zip(side.names, side.counts().tolist(), strict=True)) for side in (stat.before, stat.now)]
        both = [name for name in stat.before.names if name in counts[1]]
        n_reports = [len(side.times_s) for side in (stat.before, stat.now)]
        for sparse in (False, True):
            some = [
                name
                for name in both
                if all(count[name] < SPARSE_SHARE * n for count, n in zip(counts, n_reports, strict=True)) == sparse
            ]
            keys = [key for key in stat.fields if key in stat.before.values and key in stat.now.values]
            rows = [(name, key) for key in keys for name in some]
            if not rows:
                continue
            parts.append((stat, stat.before, rows, sparse))
            series += [Series(stat.now.stat.name, name, stat.fields[key]) for name, key in rows]
            families += [codes.setdefault((stat.now.stat.name, key), len(codes)) for _, key in rows]
    if not parts:
        return None
    # One after the other: each is needed only until its distances are known.
    blocks = (_to_block(before, stat.now, rows, stat.fields, sparse=sparse) for stat, before, rows, sparse in parts)
    profile, judged = compare_blocks(blocks, np.array(families, np.int64))
    return Known(series, profile, judged)


def _to_block(
    before: StatSide, now: StatSide, rows: Sequence[tuple[str, str]], fields: Mapping[str, Field], *, sparse: bool
) -> Block:
    sides = [side.packed(rows) if sparse else side.grid(rows) for side in (before, now)]
    # Samples side by side have instants of their own; the first and the last say where they are.
    times = [
        np.linspace(side.times_s[0], side.times_s[-1], values.shape[1]) if sparse else side.times_s
        for side, values in zip((before, now), sides, strict=True)
    ]
    digit = np.array([10.0 ** -fields[key].decimals for _, key in rows])
    is_percent = np.array([fields[key].kind is Kind.PERCENT for _, key in rows], np.bool_)
    return Block(times[0], sides[0], times[1], sides[1], digit, is_percent)


def judge_stored(loaded: LoadedProfile, incident: Window, stats: Mapping[str, StatPair]) -> Known | None:
    """Series of which the profile knows what is normal."""
    profile, keys = loaded.profile, loaded.series
    if not keys:
        return None
    rows_of: dict[str, list[int]] = {}
    for row, key in enumerate(keys):
        rows_of.setdefault(key.stat, []).append(row)
    windows, sizes, bins, order = [], [], [], []
    longest_s = max(known.usual.length_s for known in profile.lengths)
    n_bins = max(1, round(incident.length_s / profile.bin_s)) if profile.bin_s else 1
    edges: Edges = (incident.start.timestamp(), profile.bin_s or 1.0, n_bins)
    for name, rows in rows_of.items():
        now = stats[name].now if name in stats else None
        pairs = [(keys[row].instance, keys[row].field) for row in rows]
        for some, distances, n_reports, times in _distances(now, pairs, profile, rows):
            order += some
            # An incident longer than all windows of the profile is as wide as its pieces of their length.
            piece = round(n_reports * longest_s / incident.length_s) if times is not None else 0
            windows.append(summarise(distances, n_reports, piece or None))
            sizes.append(event_size_of(distances))
            nothing = np.full((len(some), n_bins), np.nan, np.float32)
            bins.append(nothing if times is None else fill_bins(distances, times, edges))
    back = np.argsort(np.array(order, np.intp))
    window, size, binned = concatenate(windows).take(back), np.concatenate(sizes)[back], np.concatenate(bins)[back]
    binned = binned[:, ~np.isnan(binned).all(axis=0)]
    judged = judge(profile, window, size, to_log(binned, profile.added) if binned.shape[1] else None, incident.length_s)
    series = [Series(key.stat, key.instance, _field_of(stats, key)) for key in keys]
    return Known(series, profile, judged)


def _field_of(stats: Mapping[str, StatPair], key: SeriesKey) -> Field:
    """Return the column; for one that the host no longer has a stand-in, of which it has no samples either."""
    known = stats[key.stat].fields.get(key.field) if key.stat in stats else None
    if known is not None:
        return known
    return Field(key.field, key.field, key.field, "", "", Kind.GAUGE, Worse.NEITHER, 2, Storage.FLOAT8, "", "")


def _distances(
    now: StatSide | None, pairs: Sequence[tuple[str, str]], profile: HostProfile, rows: Sequence[int]
) -> list[tuple[list[int], Float32Array, int, FloatArray | None]]:
    """Return rows of the profile with the incident's samples as distances from their levels: those in most reports, and those
    in few.
    """
    level = profile.traits.level
    if now is None or now.n_rows == 0:
        return [(list(rows), np.full((len(rows), 1), np.nan, np.float32), 0, None)]
    n_reports = len(now.times_s)
    counts = dict(zip(now.names, now.counts().tolist(), strict=True))
    result: list[tuple[list[int], Float32Array, int, FloatArray | None]] = []
    for sparse in (False, True):
        places = [at for at, (name, _) in enumerate(pairs) if (counts.get(name, 0) < SPARSE_SHARE * n_reports) == sparse]
        if not places:
            continue
        some = [pairs[at] for at in places]
        values = now.packed(some) if sparse else now.grid(some)
        if values.shape[1] == 0:
            values = np.full((len(some), 1), np.nan)
        own = [rows[at] for at in places]
        result.append((own, relative(values, level[own]), n_reports, None if sparse else now.times_s))
    return result
