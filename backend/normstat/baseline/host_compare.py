"""Compares one host: reads what is needed, judges all series off the event loop, makes findings and groups of them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import anyio.to_thread
import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baseline.bins import fill_bins
from normstat.baseline.direct import Block, compare_blocks, event_size_of, relative
from normstat.baseline.divisor import Divisor, divide
from normstat.baseline.figures import figure_of
from normstat.baseline.findings import Series, make_finding, to_values, totals_of
from normstat.baseline.follow import to_log
from normstat.baseline.grouping import group_findings
from normstat.baseline.host_profile import HostProfile, Judged, judge
from normstat.baseline.piece_reading import is_profiled
from normstat.baseline.records import Finding, Group, HostComparison, Muted, OneSided, SideAccount, SideName, Thin
from normstat.baseline.samples import SPARSE_SHARE, StatSide, read_side
from normstat.baseline.sentences import describe_one_sided, describe_thin
from normstat.baseline.series_compare import UNUSUAL
from normstat.baseline.stored_profile import LoadedProfile
from normstat.baseline.summary import Float32Array, FloatArray, IntArray, Summary, concatenate, summarise
from normstat.baseline.windows import Windows, length_s
from normstat.query.tables import StatRef, list_host_stats
from normstat.stats.spec import Field, Kind
from normstat.window import Window

# With fewer samples on a side a series is listed apart and not judged.
LEAST_BASELINE: Final = 10
LEAST_INCIDENT: Final = 3
# Groups that have graphs, and members of each.
MOST_DRAWN: Final = 80
MEMBERS_DRAWN: Final = 3

# What was done, and what is next: (done, total, what).
Progress = Callable[[int, int, str], Awaitable[None]]
# (stat, field, instance; None: all) of what nobody wants to see.
Mutes = Sequence[tuple[str, str, str | None]]


@dataclass(frozen=True, slots=True)
class Task:
    """What to compare of a host with what: the baseline's samples may be of another host, and a profile spares reading them."""

    host: str
    host_id: int
    incident: Window
    baseline_host_id: int
    baseline: Windows
    profile: LoadedProfile | None = None
    version: int | None = None
    divisor: Divisor | None = None
    mutes: Mutes = ()


@dataclass(frozen=True, slots=True)
class StatPair:
    """Both sides of a stat; `before` is None where a profile speaks for it."""

    fields: Mapping[str, Field]
    before: StatSide | None
    now: StatSide


@dataclass(frozen=True, slots=True)
class _Known:
    """All series that both sides have, judged."""

    series: Sequence[Series]
    profile: HostProfile
    judged: Judged


async def compare_host(session: AsyncSession, task: Task, progress: Progress, *, max_rows: int) -> HostComparison:
    """All series of a host, each in just one of the lists of the answer."""
    stats: list[StatPair] = []
    spec_versions: dict[str, int] = {} if task.profile is None else dict(task.profile.spec_versions)
    found = await list_host_stats(session, task.host_id)
    other = {stat.name for stat in found}
    if task.baseline_host_id != task.host_id:
        found += [stat for stat in await list_host_stats(session, task.baseline_host_id) if stat.name not in other]
    for number, stat in enumerate(found):
        await progress(number, len(found) + 1, f"{stat.name} of {task.host}")
        sides = await _read_stat(session, task, stat, max_rows)
        if sides.now.n_rows or (sides.before is not None and sides.before.n_rows):
            spec_versions[stat.spec] = stat.spec_version
        stats.append(sides)
    await progress(len(found), len(found) + 1, f"judging {task.host}")
    return await anyio.to_thread.run_sync(compare_sides, task, stats, spec_versions)


async def _read_stat(session: AsyncSession, task: Task, stat: StatRef, max_rows: int) -> StatPair:
    fields = [field for field in stat.fields if is_profiled(field)]
    now = await read_side(session, task.host_id, stat, (task.incident,), fields=fields, max_rows=max_rows)
    before = None
    if task.profile is None:
        before = await read_side(session, task.baseline_host_id, stat, task.baseline, fields=fields, max_rows=max_rows)
    if task.divisor is not None:
        now = divide(now, task.divisor.incident)
        before = None if before is None else divide(before, task.divisor.baseline)
    return StatPair({field.key: field for field in fields}, before, now)


def compare_sides(task: Task, stats: Sequence[StatPair], spec_versions: dict[str, int]) -> HostComparison:
    by_name = {stat.now.stat.name: stat for stat in stats}
    known = _judge_raw(stats) if task.profile is None else _judge_stored(task, by_name)
    one_sided, thin, findings, muted = _Apart(task, by_name), [], [], []
    n_unchanged = 0
    totals = totals_of(known.profile, known.judged.window) if known is not None else None
    n_instances: dict[tuple[str, str], int] = {}
    for row, series in enumerate(known.series if known is not None else ()):
        assert known is not None
        assert totals is not None
        key = (series.stat, series.field.key)
        n_instances[key] = n_instances.get(key, 0) + 1
        n_baseline, n_incident = int(known.profile.whole.n[row]), int(known.judged.window.n[row])
        if one_sided.add(series, known, row, n_baseline, n_incident):
            continue
        if n_baseline < LEAST_BASELINE or n_incident < LEAST_INCIDENT:
            reason = describe_thin(series.stat, n_baseline, n_incident, LEAST_BASELINE, LEAST_INCIDENT)
            thin.append(Thin(task.host, *_named(series), n_baseline, n_incident, reason))
        elif known.judged.score[row] < UNUSUAL:
            n_unchanged += 1
        elif _is_muted(series, task.mutes):
            muted.append(Muted(task.host, *_named(series), float(known.judged.score[row])))
        else:
            findings.append((series, make_finding(row, series, known.profile, known.judged, totals)))
    one_sided.add_newcomers(known)
    groups = group_findings(task.host, findings, n_instances)
    return HostComparison(
        host=task.host,
        windows=task.baseline,
        version=task.version,
        baseline=_account_before(task, stats),
        incident=SideAccount(
            max((stat.now.covered_s for stat in stats), default=0.0),
            sum(stat.now.n_rows for stat in stats),
            sum(stat.now.n_rows_skipped for stat in stats),
        ),
        is_seasonal=task.profile is not None and task.profile.is_seasonal,
        seasonal_note="" if task.profile is None else task.profile.seasonal_note,
        n_unchanged=n_unchanged,
        n_findings=len(findings),
        groups=_draw(task, groups, by_name),
        one_sided=sorted(
            one_sided.found, key=lambda item: (item.side != "incident", -item.n, item.stat, item.instance, item.field)
        ),
        thin=[*thin, *one_sided.thin],
        muted=muted,
        spec_versions=spec_versions,
    )


def _account_before(task: Task, stats: Sequence[StatPair]) -> SideAccount:
    if task.profile is not None:
        return SideAccount(task.profile.covered_s, task.profile.n_samples)
    sides = [stat.before for stat in stats if stat.before is not None]
    return SideAccount(
        max((side.covered_s for side in sides), default=0.0),
        sum(side.n_rows for side in sides),
        sum(side.n_rows_skipped for side in sides),
    )


# --- judging ---


def _judge_raw(stats: Sequence[StatPair]) -> _Known | None:
    """Series of which samples of both sides were read."""
    blocks: list[Block] = []
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
            blocks.append(_to_block(stat.before, stat.now, rows, stat.fields, sparse=sparse))
            series += [Series(stat.now.stat.name, name, stat.fields[key]) for name, key in rows]
            families += [codes.setdefault((stat.now.stat.name, key), len(codes)) for _, key in rows]
    if not blocks:
        return None
    profile, judged = compare_blocks(blocks, np.array(families, np.int64))
    return _Known(series, profile, judged)


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


def _judge_stored(task: Task, stats: Mapping[str, StatPair]) -> _Known | None:
    """Series of which the profile knows what is normal."""
    assert task.profile is not None
    profile, keys = task.profile.profile, task.profile.series
    chosen = [row for row, key in enumerate(keys) if key.stat in stats and key.field in stats[key.stat].fields]
    if not chosen:
        return None
    rows_of: dict[str, list[int]] = {}
    for row in range(len(keys)):
        rows_of.setdefault(keys[row].stat, []).append(row)
    windows, sizes, bins, order = [], [], [], []
    n_bins = max(1, round(length_s((task.incident,)) / profile.bin_s)) if profile.bin_s else 0
    edges = (task.incident.start.timestamp(), profile.bin_s or 1.0, max(n_bins, 1))
    for name, rows in rows_of.items():
        now = stats[name].now if name in stats else None
        for some, distances, n_reports, times in _distances(
            now, [(keys[row].instance, keys[row].field) for row in rows], profile, rows
        ):
            order += some
            windows.append(summarise(distances, n_reports))
            sizes.append(event_size_of(distances))
            dense = times is not None
            bins.append(
                fill_bins(distances, times, edges)
                if dense and times is not None
                else np.full((len(some), edges[2]), np.nan, np.float32)
            )
    back = np.argsort(np.array(order, np.intp))
    window, size, binned = concatenate(windows).take(back), np.concatenate(sizes)[back], np.concatenate(bins)[back]
    binned = binned[:, ~np.isnan(binned).all(axis=0)]
    judged = judge(profile, window, size, to_log(binned, profile.added) if binned.shape[1] else None, length_s((task.incident,)))
    series = [Series(key.stat, key.instance, _field_of(stats, key.stat, key.field)) for key in keys]
    return _Known(series, profile, judged)


def _field_of(stats: Mapping[str, StatPair], stat: str, key: str) -> Field:
    return stats[stat].fields[key]


def _distances(
    now: StatSide | None, pairs: Sequence[tuple[str, str]], profile: HostProfile, rows: Sequence[int]
) -> list[tuple[list[int], Float32Array, int, FloatArray | None]]:
    """Rows of the profile with the incident's samples as distances from their levels: those in most reports, and those in few."""
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


# --- what is apart ---


class _Apart:
    """Series that only one side has."""

    def __init__(self, task: Task, stats: Mapping[str, StatPair]) -> None:
        self._task = task
        self._stats = stats
        self.found: list[OneSided] = []
        self.thin: list[Thin] = []

    def add(self, series: Series, known: _Known, row: int, n_baseline: int, n_incident: int) -> bool:
        """Whether a series of the profile is on one side only; where the stat did not run at all on a side, it is thin instead."""
        if n_incident or not n_baseline:
            return False
        now = self._stats[series.stat].now
        if now.n_rows == 0 or series.field.key not in now.values:
            return False
        values = to_values(known.profile.whole, row, float(known.profile.traits.level[row]))
        self._add(series, "baseline", values.n, describe_one_sided(series.stat, series.instance, series.field, "baseline", values))
        return True

    def add_newcomers(self, known: _Known | None) -> None:
        """Series of the samples that were not judged, because only one side has them."""
        judged = {_named(series) for series in known.series} if known is not None else set()
        for name, stat in self._stats.items():
            for side, values in (("baseline", stat.before), ("incident", stat.now)):
                if values is not None and values.n_rows:
                    self._add_side(name, stat, "baseline" if side == "baseline" else "incident", values, judged)

    def _add_side(self, name: str, stat: StatPair, side: SideName, values: StatSide, judged: set[tuple[str, str, str]]) -> None:
        other = stat.now if side == "baseline" else stat.before
        profile = self._task.profile
        had_stat = (other is not None and other.n_rows > 0) or (
            other is None and profile is not None and any(key.stat == name for key in profile.series)
        )
        counts = values.counts()
        for key in values.values:
            rows = [(instance, key) for instance in values.names if (name, key, instance) not in judged]
            if not rows:
                continue
            matrix = values.packed(rows)
            summary = summarise(relative(matrix, np.zeros(len(rows))))
            for row, (instance, _) in enumerate(rows):
                series = Series(name, instance, stat.fields[key])
                n = int(summary.n[row])
                if n == 0:
                    continue
                if not had_stat:
                    sides = (n, 0) if side == "baseline" else (0, n)
                    reason = describe_thin(name, *sides, LEAST_BASELINE, LEAST_INCIDENT)
                    self.thin.append(Thin(self._task.host, *_named(series), *sides, reason))
                else:
                    sentence = describe_one_sided(name, instance, stat.fields[key], side, to_values(summary, row, 0.0))
                    self._add(series, side, n, sentence)
        del counts

    def _add(self, series: Series, side: SideName, n: int, sentence: str) -> None:
        self.found.append(OneSided(self._task.host, *_named(series), side, n, sentence))


def _named(series: Series) -> tuple[str, str, str]:
    return series.stat, series.field.key, series.instance


def _is_muted(series: Series, mutes: Mutes) -> bool:
    return any(
        stat == series.stat and field == series.field.key and (instance is None or instance == series.instance)
        for stat, field, instance in mutes
    )


def _draw(task: Task, groups: list[Group], stats: Mapping[str, StatPair]) -> list[Group]:
    """The strongest members of the first groups get the lines of their graphs."""
    drawn = []
    for number, group in enumerate(groups):
        if number >= MOST_DRAWN:
            drawn.append(group)
            continue
        members: list[Finding] = [
            replace(
                member,
                figure=figure_of(
                    stats[group.stat].now, stats[group.stat].before, member.instance, group.field, task.incident, task.baseline
                ),
            )
            if place < MEMBERS_DRAWN
            else member
            for place, member in enumerate(group.members)
        ]
        drawn.append(replace(group, members=members))
    return drawn


__all__ = ["LEAST_BASELINE", "LEAST_INCIDENT", "IntArray", "Mutes", "Progress", "Summary", "Task", "compare_host"]
