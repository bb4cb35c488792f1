"""Compare one host: read both sides, score all series off the event loop, group the findings."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.window_sets import Windows
from normstat.comparison.baseline_check import CheckedBaseline, check_baseline
from normstat.comparison.compared_group import join_sides
from normstat.comparison.divisor import Divisor, LeftOut, describe_left_out, divide_pair
from normstat.comparison.findings.classify import SeriesIdentity, make_findings, strongest_ratios
from normstat.comparison.findings.coming_and_going import Surroundings, describe_small, find_unmatched, is_process_stat
from normstat.comparison.findings.grouping import group_findings
from normstat.comparison.findings.stalls import describe_bouts, describe_rhythm, find_stalls
from normstat.comparison.host_ledger import ask_baseline, ask_facts, installed_kib, some_windows
from normstat.comparison.ledger.book import draw_lines, open_book
from normstat.comparison.ledger.candidates import find_candidates
from normstat.comparison.ledger.readings import PairedSides, Reading
from normstat.comparison.ledger.sources import INSTALLED
from normstat.comparison.ledger.sources import STATS as LEDGER_STATS
from normstat.comparison.ledger_model import LedgerLine
from normstat.comparison.missing_data import Silence, find_silences
from normstat.comparison.model import Finding, FindingGroup, InsufficientData, MutedFinding, SideCoverage, UnmatchedSeries
from normstat.comparison.observers import Observer, find_observers
from normstat.comparison.read_side import StatSide, before_window
from normstat.comparison.score import ScoredSeries, StatPair, score_samples, score_with_profile
from normstat.comparison.series_comparison import likely_of, unusual_of
from normstat.comparison.series_rows import SeriesRows, make_rows
from normstat.comparison.side_reader import SideRequest, read_sides
from normstat.comparison.sparklines import DrawnSides, samples_of, sparkline_of
from normstat.comparison.steady_processes import find_repeated, keep_steady
from normstat.comparison.stories.actors import find_pids
from normstat.comparison.stories.build import HostStory, build_stories, is_noticeable, rank_groups
from normstat.comparison.stories.ledger_stories import lead_with_ledger
from normstat.comparison.surroundings import find_surroundings
from normstat.comparison.unscored_series import UnscoredSeries
from normstat.profiles.sketch_reader import is_profiled
from normstat.profiles.stored_profile import LoadedProfile
from normstat.records.expected_value_rows import ExpectedValue
from normstat.runtime import work_budget
from normstat.runtime.readable import format_human
from normstat.samples.lookup import StatRef, list_host_stats
from normstat.stats.catalogue import load_catalogue
from normstat.stats.summaries import is_summary
from normstat.window import Window

# The first groups have sparklines, for this many members each.
MAX_DRAWN: Final = 80
MEMBERS_DRAWN: Final = 3

# Called with (done, total, next step).
Progress = Callable[[int, int, str], Awaitable[None]]
# Muted series: (stat, field, instance; None: all instances).
Mutes = Sequence[tuple[str, str, str | None]]


@dataclass(frozen=True, slots=True)
class Task:
    """What to compare for one host. The baseline may be one or more other hosts; with a profile its samples are not read."""

    host: str
    host_id: int
    incident: Window
    baseline_host_ids: Sequence[int]
    baseline: Windows
    profile: LoadedProfile | None = None
    version: int | None = None
    divisor: Divisor | None = None
    mutes: Mutes = ()
    expected: Sequence[ExpectedValue] = ()
    looks_before: bool = True


@dataclass(frozen=True, slots=True)
class HostComparison:
    """The result for one host. Each series is in a group, unchanged, or in one of the lists. `windows`: of the baseline"""

    host: str
    windows: Windows
    version: int | None
    baseline: SideCoverage
    incident: SideCoverage
    is_seasonal: bool
    seasonal_note: str
    n_unchanged: int
    n_findings: int
    groups: list[FindingGroup]
    stories: list[HostStory]
    ledger: list[LedgerLine]
    small_processes: str
    appeared: list[UnmatchedSeries]
    disappeared: list[UnmatchedSeries]
    insufficient_data: list[InsufficientData]
    muted: list[MutedFinding]
    spec_versions: dict[str, int]
    rows: SeriesRows
    observers: list[Observer]
    silences: list[Silence]
    divisor_note: str = ""
    baseline_notes: tuple[str, ...] = ()

    @property
    def n_listed(self) -> int:
        """Series outside the findings that are listed."""
        return len(self.appeared) + len(self.disappeared) + len(self.insufficient_data) + len(self.muted)

    @property
    def n_series(self) -> int:
        """All series of the host."""
        return self.n_unchanged + self.n_findings + self.n_listed


async def compare_host(session: AsyncSession, task: Task, progress: Progress, *, max_rows: int) -> HostComparison:
    """Return the result for one host, against its baseline without ends that are not normal."""
    with ExitStack() as memory:
        memory.enter_context(work_budget.host_memory())
        read = await _read_host(session, task, progress, max_rows=max_rows)
        checked = CheckedBaseline(task.baseline, ())
        if task.profile is None and task.divisor is None and len(task.baseline_host_ids) == 1:
            checked = await work_budget.run_in_thread(check_baseline, task.baseline, task.incident, read.stats)
        if checked.notes:
            del read
        else:
            # The samples stay.
            memory.pop_all()
    if checked.notes:
        task = replace(task, baseline=checked.windows)
        read = await _read_host(session, task, progress, max_rows=max_rows)
    await progress(len(read.found), len(read.found) + 1, f"scoring {task.host}")
    scored = await work_budget.run_in_thread(score_sides, task, read.stats)
    # The time before the incident has been judged: it goes before the ledger's samples, which may be as many, are read.
    read.stats.clear()
    of_ledger = await _read_ledger(session, task, read.found, max_rows=max_rows)
    found = await work_budget.run_in_thread(compare_sides, task, scored, read.spec_versions, read.left_out, of_ledger)
    return replace(found, baseline_notes=checked.notes)


@dataclass(frozen=True, slots=True)
class _ReadHost:
    """The samples of both sides of a host. `found`: its stats"""

    found: list[StatRef]
    stats: list[StatPair]
    spec_versions: dict[str, int]
    left_out: list[LeftOut]


async def _read_host(session: AsyncSession, task: Task, progress: Progress, *, max_rows: int) -> _ReadHost:
    stats: list[StatPair] = []
    left_out: list[LeftOut] = []
    spec_versions: dict[str, int] = {} if task.profile is None else dict(task.profile.spec_versions)
    found = await list_host_stats(session, task.host_id)
    for other_id in task.baseline_host_ids:
        names = {stat.name for stat in found}
        if other_id != task.host_id:
            found += [stat for stat in await list_host_stats(session, other_id) if stat.name not in names]
    requests = {stat.name: _to_requests(task, stat, max_rows) for stat in found}
    begun: set[str] = set()

    async def tell(asked: SideRequest) -> None:
        if asked.stat.name not in begun:
            await progress(len(begun), len(found) + 1, f"{asked.stat.name} of {task.host}")
            begun.add(asked.stat.name)

    read = iter(await read_sides(session, [one for own in requests.values() for one in own.all], tell))
    for stat in found:
        own = requests[stat.name]
        incident = next(read)
        baseline = [next(read) for _ in own.baseline]
        before = next(read, None) if own.before else None
        sides = StatPair(
            {field.key: field for field in own.incident.fields},
            join_sides(baseline, task.incident.length_s) if baseline else None,
            incident,
            before,
        )
        if sides.incident.n_rows or (sides.baseline is not None and sides.baseline.n_rows):
            spec_versions[stat.spec] = stat.spec_version
        if task.divisor is not None:
            sides, by_divisor = divide_pair(sides, task.divisor)
            left_out.append(by_divisor)
        stats.append(sides)
    return _ReadHost(found, stats, spec_versions, left_out)


async def _read_ledger(session: AsyncSession, task: Task, stats: Sequence[StatRef], *, max_rows: int) -> dict[str, StatSide]:
    """Return what the ledger alone needs, by stat: facts, and samples of a baseline that has a profile."""
    requests = [one for stat in stats for one in _ledger_requests(task, stat, max_rows)]
    return {side.stat.name: side for side in await read_sides(session, requests)}


@dataclass(frozen=True, slots=True)
class _StatRequests:
    """The sides of a stat to read: `baseline` of each host, or none where a profile replaces it."""

    incident: SideRequest
    baseline: list[SideRequest]
    before: list[SideRequest]

    @property
    def all(self) -> list[SideRequest]:
        return [self.incident, *self.baseline, *self.before]


def _to_requests(task: Task, stat: StatRef, max_rows: int) -> _StatRequests:
    fields = [field for field in stat.fields if is_profiled(field)]
    of_each = max(1, max_rows // len(task.baseline_host_ids))
    is_asked = task.divisor is None and task.looks_before
    right_before = before_window(task.incident, task.baseline) if is_asked else None
    return _StatRequests(
        SideRequest(task.host_id, stat, (task.incident,), fields, max_rows),
        []
        if task.profile is not None
        else [SideRequest(id_, stat, task.baseline, fields, of_each) for id_ in task.baseline_host_ids],
        [] if right_before is None else [SideRequest(task.host_id, stat, (right_before,), fields, max_rows)],
    )


def _ledger_requests(task: Task, stat: StatRef, max_rows: int) -> list[SideRequest]:
    """Return what is read of a stat for the ledger alone."""
    if task.divisor is not None:
        return []
    if stat.name == INSTALLED[0]:
        return [ask_facts(task.host_id, stat, task.incident, max_rows)]
    is_needed = task.profile is not None and stat.name in LEDGER_STATS
    return [ask_baseline(task.host_id, stat, _ledger_windows(task), max_rows)] if is_needed else []


def _ledger_windows(task: Task) -> Windows:
    """Return the windows of the baseline that the ledger looks at: all, or where it has a profile some of the incident's length."""
    return task.baseline if task.profile is None else some_windows(task.baseline, task.incident)


@dataclass(frozen=True, slots=True)
class ScoredSides:
    """The samples of both sides of a host, without the time before the incident, with what they are judged as.

    `left_out`: stats of which both sides have a summary; `steady`: processes of these that are always there
    """

    stats: Sequence[StatPair]
    left_out: AbstractSet[str]
    steady: Mapping[str, StatPair]
    scored: ScoredSeries | None


def score_sides(task: Task, stats: Sequence[StatPair]) -> ScoredSides:
    """Return the scores of one host's series, from the samples of both sides.

    Stats of which both sides have a summary are left out, but for processes that are always there.
    """
    left_out = _summarised(stats, task.profile)
    steady = keep_steady(stats, left_out, task.profile)
    by_name = {stat.incident.stat.name: stat for stat in stats if stat.incident.stat.name not in left_out} | steady
    scored = (
        score_samples(list(by_name.values())) if task.profile is None else score_with_profile(task.profile, task.incident, by_name)
    )
    return ScoredSides(
        [replace(stat, before=None) for stat in stats],
        left_out,
        {name: replace(stat, before=None) for name, stat in steady.items()},
        scored,
    )


def compare_sides(
    task: Task,
    sides: ScoredSides,
    spec_versions: dict[str, int],
    without_load: Sequence[LeftOut] = (),
    of_ledger: Mapping[str, StatSide] = MappingProxyType({}),
) -> HostComparison:
    """Return the result for one host, from its scored series.

    `without_load`: reports of each stat that the divisor left out; `of_ledger`: facts, and samples of a baseline that has a profile
    """
    all_stats, left_out, steady, scored = sides.stats, sides.left_out, sides.steady, sides.scored
    # Processes behind the commands: their ids and when they began.
    all_sides = {stat.incident.stat.name: stat.incident for stat in all_stats}
    stats = [stat for stat in all_stats if stat.incident.stat.name not in left_out]
    by_name = {stat.incident.stat.name: stat for stat in stats} | dict(steady)
    repeated = find_repeated(all_stats, steady, task.profile)

    def is_left_out(series: SeriesIdentity) -> bool:
        own = steady.get(series.stat)
        if own is None:
            return series.stat in left_out or (series.stat, series.instance, series.field.key) in repeated
        return series.instance not in own.incident.names or series.field.key not in own.fields

    unscored = UnscoredSeries(task.host, by_name, task.profile)
    rows: list[int] = []
    likely_rows: list[int] = []
    muted_rows: list[int] = []
    n_unchanged = 0
    if scored is not None:
        is_unusual, is_likely = unusual_of(scored.scores), likely_of(scored.scores)
        for row, series in enumerate(scored.series):
            if is_left_out(series) or unscored.take(scored, row):
                continue
            if not is_unusual[row]:
                n_unchanged += 1
                if is_likely[row] and not _is_muted(series, task.mutes):
                    likely_rows.append(row)
            elif _is_muted(series, task.mutes):
                muted_rows.append(row)
            else:
                rows.append(row)
    unscored.take_unmatched(scored)
    unscored.sort()
    around = find_surroundings(stats, scored)
    unmatched = [one for one in unscored.unmatched if not _is_muted(one.series, task.mutes)]
    new_and_gone = find_unmatched(task.host, unmatched, around)
    changed = [] if scored is None else _to_groups(task.host, scored, rows, around)
    # Likely changes are reported only if they matter.
    likely = [] if scored is None else [one for one in _to_groups(task.host, scored, likely_rows, around) if is_noticeable(one)]
    ranked = [_expect(group, task.expected) for group in rank_groups([*changed, *likely, *new_and_gone])]
    groups = _draw(task, ranked, by_name)
    reading = _to_reading(task, all_stats, of_ledger)
    ledger = [] if reading is None else draw_lines(open_book(task.host, reading, around.n_cpus), reading, around.n_cpus)
    candidates = [] if reading is None else find_candidates(reading)
    # Once for all callers: a host may have had thousands.
    pids = find_pids(all_sides)
    return HostComparison(
        host=task.host,
        windows=task.baseline,
        version=task.version,
        baseline=_baseline_coverage(task, stats),
        incident=SideCoverage(
            max((stat.incident.covered_s for stat in stats), default=0.0),
            sum(stat.incident.n_rows for stat in stats),
            sum(stat.incident.n_rows_skipped for stat in stats),
        ),
        is_seasonal=task.profile is not None and task.profile.is_seasonal,
        seasonal_note="" if task.profile is None else task.profile.seasonal_note,
        n_unchanged=n_unchanged,
        n_findings=len(rows),
        groups=groups,
        stories=lead_with_ledger(build_stories(task.host, groups, all_sides, task.incident, pids), groups, ledger, candidates),
        ledger=ledger,
        small_processes=describe_small(unmatched, new_and_gone),
        appeared=unscored.appeared,
        disappeared=unscored.disappeared,
        insufficient_data=unscored.insufficient_data,
        muted=[] if scored is None else _to_muted(task.host, scored, muted_rows),
        spec_versions=spec_versions,
        rows=replace(
            make_rows(
                task.host,
                scored,
                by_name,
                task.profile,
                is_left_out=is_left_out,
                is_muted=lambda series: _is_muted(series, task.mutes),
            ),
            commands={str(pid): command for command, of_command in pids.items() for pid in of_command},
        ),
        observers=find_observers(all_stats, scored),
        # Without load there is no quotient, which does not count as a silent tool.
        silences=find_silences(all_stats) if task.divisor is None else [],
        divisor_note="" if task.divisor is None else describe_left_out(task.divisor.name, without_load),
    )


def _to_reading(task: Task, stats: Sequence[StatPair], of_ledger: Mapping[str, StatSide]) -> Reading | None:
    """Return what the ledger reads. Missing: None without samples of a baseline of one host, or where they are quotients"""
    if task.divisor is not None or len(task.baseline_host_ids) > 1:
        return None
    sides = {}
    for stat in stats:
        name = stat.incident.stat.name
        baseline = stat.baseline or of_ledger.get(name)
        if baseline is not None:
            sides[name] = PairedSides(baseline, stat.incident)
    facts = of_ledger.get(INSTALLED[0])
    return Reading(sides, _ledger_windows(task), task.incident, 0.0 if facts is None else installed_kib(facts))


def _summarised(stats: Sequence[StatPair], profile: LoadedProfile | None) -> set[str]:
    """Return the stats whose rows are also summed, by command, on both sides: short processes would be thousands of series."""
    in_profile = set() if profile is None else {key.stat for key in profile.series}
    known = load_catalogue().stats
    found = set()
    for stat in stats:
        name = stat.incident.stat.name
        has_baseline = name in in_profile if stat.baseline is None else stat.baseline.n_rows > 0
        if name in known and has_baseline and stat.incident.n_rows:
            found.add(known[name][1].summary_of)
    return found - {""}


def _to_groups(host: str, scored: ScoredSeries, rows: Sequence[int], around: Surroundings) -> list[FindingGroup]:
    # The percentages of a process are of one CPU.
    parts = [1 / around.n_cpus if is_process_stat(series.stat) else 1.0 for series in scored.series]
    found = make_findings(rows, scored.series, scored.profile, scored.scores, parts)
    n_instances = Counter(
        (series.stat, series.field.key) for series in scored.series if not is_summary(series.stat, series.instance)
    )
    return group_findings(host, [(scored.series[row], item) for row, item in zip(rows, found, strict=True)], n_instances)


def _to_muted(host: str, scored: ScoredSeries, rows: Sequence[int]) -> list[MutedFinding]:
    muted = []
    for row, ratio in zip(rows, strongest_ratios(rows, scored.scores), strict=True):
        series = scored.series[row]
        significance = float(scored.scores.significance[row])
        muted.append(MutedFinding(host, series.stat, series.field.key, series.instance, ratio, significance))
    return muted


def _baseline_coverage(task: Task, stats: Sequence[StatPair]) -> SideCoverage:
    if task.profile is not None:
        return SideCoverage(task.profile.covered_s, task.profile.n_samples, 0)
    sides = [stat.baseline for stat in stats if stat.baseline is not None]
    return SideCoverage(
        max((side.covered_s for side in sides), default=0.0),
        sum(side.n_rows for side in sides),
        sum(side.n_rows_skipped for side in sides),
    )


def _is_muted(series: SeriesIdentity, mutes: Mutes) -> bool:
    return any(
        stat == series.stat and field == series.field.key and (instance is None or instance == series.instance)
        for stat, field, instance in mutes
    )


def _expect(group: FindingGroup, expected: Sequence[ExpectedValue]) -> FindingGroup:
    """Return the group with what people expect of its series, in the sentences of the findings too."""
    of_field = [one for one in expected if (one.stat, one.field) == (group.stat, group.field)]
    if not of_field:
        return group
    members = []
    for member in group.members:
        found = next((one for one in of_field if one.instance in {None, member.instance}), None)
        if found is not None:
            sentence = f"{member.sentence} Expected: {format_human(found.value, group.unit)}."
            member = replace(member, expected=found.value, sentence=sentence)  # noqa: PLW2901
        members.append(member)
    return replace(group, members=members, sentence=members[0].sentence if len(members) == 1 else group.sentence)


def _draw(task: Task, groups: list[FindingGroup], stats: Mapping[str, StatPair]) -> list[FindingGroup]:
    """Return the groups with sparklines for the strongest members of the first ones."""
    # The samples of several hosts do not form one line.
    windows = task.baseline if len(task.baseline_host_ids) == 1 else ()
    sides = {name: DrawnSides(stat.incident, stat.baseline, task.incident, windows) for name, stat in stats.items()}
    drawn = []
    for group in groups[:MAX_DRAWN]:
        members = [_draw_member(member, group, sides[group.stat]) for member in group.members[:MEMBERS_DRAWN]]
        sentence = members[0].sentence if len(group.members) == 1 else group.sentence
        drawn.append(replace(group, members=[*members, *group.members[MEMBERS_DRAWN:]], sentence=sentence))
    return [*drawn, *groups[MAX_DRAWN:]]


def _draw_member(member: Finding, group: FindingGroup, sides: DrawnSides) -> Finding:
    """Return a member with its sparkline; a stall with how long and how often, a rhythm with its period."""
    sentence = member.sentence
    if member.kind == "stall":
        stalls = find_stalls(*samples_of(sides.incident, member.instance, group.field))
        if stalls is not None:
            sentence = f"{sentence.removesuffix('.')}. It stops {describe_bouts(stalls)}."
    elif member.kind == "rhythm":
        sentence = f"{sentence} {describe_rhythm(*samples_of(sides.incident, member.instance, group.field))}".rstrip()
    return replace(member, sentence=sentence, sparkline=sparkline_of(sides, member.instance, group.field))
