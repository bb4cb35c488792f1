"""Compares one host: reads what is needed, judges all series off the event loop, makes findings and groups of them."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat import work_budget
from normstat.baselines.window_sets import Windows
from normstat.comparison.divisor import Divisor, divide, divide_field
from normstat.comparison.findings.classify import Series, make_findings
from normstat.comparison.findings.grouping import group_findings
from normstat.comparison.model import Finding, Group, HostComparison, Muted, SideAccount
from normstat.comparison.one_sided import Apart
from normstat.comparison.read_side import read_side
from normstat.comparison.score import StatPair, judge_raw, judge_stored
from normstat.comparison.series_comparison import UNUSUAL
from normstat.comparison.sparklines import Sides, figure_of
from normstat.profiles.sketch_reader import is_profiled
from normstat.profiles.stored_profile import LoadedProfile
from normstat.storage.lookup import StatRef, list_host_stats
from normstat.window import Window

# Groups that have graphs, and members of each.
MAX_DRAWN: Final = 80
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


async def compare_host(session: AsyncSession, task: Task, progress: Progress, *, max_rows: int) -> HostComparison:
    """Return all series of a host, each in just one of the lists of the answer."""
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
    return await work_budget.run_in_thread(compare_sides, task, stats, spec_versions)


async def _read_stat(session: AsyncSession, task: Task, stat: StatRef, max_rows: int) -> StatPair:
    fields = [field for field in stat.fields if is_profiled(field)]
    now = await read_side(session, task.host_id, stat, (task.incident,), fields=fields, max_rows=max_rows)
    before = None
    if task.profile is None:
        before = await read_side(session, task.baseline_host_id, stat, task.baseline, fields=fields, max_rows=max_rows)
    if task.divisor is not None:
        now = divide(now, task.divisor.incident)
        before = None if before is None else divide(before, task.divisor.baseline)
        fields = [divide_field(field, task.divisor) for field in fields]
    return StatPair({field.key: field for field in fields}, before, now)


def compare_sides(task: Task, stats: Sequence[StatPair], spec_versions: dict[str, int]) -> HostComparison:
    """Return all series of a host, each in just one of the lists of the answer, from their samples alone."""
    by_name = {stat.now.stat.name: stat for stat in stats}
    known = judge_raw(stats) if task.profile is None else judge_stored(task.profile, task.incident, by_name)
    apart, muted = Apart(task.host, by_name, task.profile), []
    rows: list[int] = []
    n_unchanged = 0
    groups: list[Group] = []
    if known is not None:
        for row, series in enumerate(known.series):
            if apart.take(known, row):
                continue
            if known.judged.score[row] < UNUSUAL:
                n_unchanged += 1
            elif _is_muted(series, task.mutes):
                score = float(known.judged.score[row])
                muted.append(Muted(task.host, series.stat, series.field.key, series.instance, score))
            else:
                rows.append(row)
        found = make_findings(rows, known.series, known.profile, known.judged)
        n_instances = Counter((series.stat, series.field.key) for series in known.series)
        groups = group_findings(task.host, [(known.series[row], item) for row, item in zip(rows, found, strict=True)], n_instances)
    apart.take_newcomers(known)
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
        n_findings=len(rows),
        groups=_draw(task, groups, by_name),
        one_sided=sorted(
            apart.one_sided, key=lambda item: (item.side != "incident", -item.n, item.stat, item.instance, item.field)
        ),
        thin=apart.thin,
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


def _is_muted(series: Series, mutes: Mutes) -> bool:
    return any(
        stat == series.stat and field == series.field.key and (instance is None or instance == series.instance)
        for stat, field, instance in mutes
    )


def _draw(task: Task, groups: list[Group], stats: Mapping[str, StatPair]) -> list[Group]:
    """Return the strongest members of the first groups get the lines of their graphs."""
    sides_of = {name: Sides(stat.now, stat.before, task.incident, task.baseline) for name, stat in stats.items()}
    drawn = []
    for number, group in enumerate(groups):
        if number >= MAX_DRAWN:
            drawn.append(group)
            continue
        members: list[Finding] = [
            replace(
                member,
                figure=figure_of(sides_of[group.stat], member.instance, group.field),
            )
            if place < MEMBERS_DRAWN
            else member
            for place, member in enumerate(group.members)
        ]
        drawn.append(replace(group, members=members))
    return drawn
