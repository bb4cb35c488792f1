"""Judge the samples that arrived from one host: each rule from where it stopped, re-evaluating a little of the past.

The result of a rule depends on samples only. So anything can be judged again: a server that was killed continues
where the database says it had stopped, and samples that come late are judged from the first of them on.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.comparison.read_side import StatSide, read_side
from normstat.db.schema.watch_models import EpisodeRow
from normstat.errors import TooLarge
from normstat.records.episode_rows import WITHDRAWN, FoundEpisode
from normstat.runtime import work_budget
from normstat.runtime.readable import format_human
from normstat.samples.lookup import InstanceNames, StatRef
from normstat.stats.catalogue import Catalogue, load_catalogue
from normstat.stats.spec import Field
from normstat.watch.kept_samples import SideRequest
from normstat.watch.rule_budget import RuleStopped, counting_own_time, describe_memory, rule_budget
from normstat.watch.rules.episode_tracker import Episode, EpisodeTracker
from normstat.watch.rules.past import read_counts, read_inputs
from normstat.watch.rules.rolling import MAX_DISTANCES, usual_distance
from normstat.watch.rules.rule_file import Colour, RuleState, WatchInput, WatchRule
from normstat.watch.rules.rule_frame import NO_COUNTS, ChosenInput, RuleFrame, build_frame, choose_inputs
from normstat.watch.rules.rule_run import UNKNOWN, RuleRun, run_rule, without_reports_before
from normstat.watch.rules.rules_together import Timelines, run_together
from normstat.watch.rules.time_to import ForecastCache, read_forecasts
from normstat.watch.watchable_hosts import WatchableHost
from normstat.window import Window, from_us, to_us

# Samples older than this raise no alerts: they are for backtests.
OLDEST: Final = timedelta(hours=24)
# A rule that has not judged a host yet starts this far back.
FIRST: Final = timedelta(hours=1)
PIECE: Final = timedelta(hours=1)
# The span judged again each time: tools print at different moments, and agents send at others.
OVERLAP: Final = timedelta(seconds=60)
# Reports that are further ahead of the host's clock are judged when their time comes: rows that are dated years ahead are years of
# empty pieces, for which all other hosts would wait.
MAX_AHEAD: Final = timedelta(seconds=60)
# Read before the first report that is judged, so that the usual distance of reports is known.
LEAD: Final = timedelta(seconds=120)
# Rules that look back further are read separately.
MAX_SHARED_SPAN_S: Final = 900.0
MAX_APART: Final = timedelta(minutes=10)
# A stat with more rows in the time that rules look back on is read alone, and its rules are evaluated in a thread: twenty minutes
# of 32 CPUs each second. Beside an event loop that stores samples, a thread waits longer for the interpreter's lock than rules take
# for fewer rows.
MAX_ROWS_AHEAD: Final = 40_000
# Numbers of samples that are judged together, 32 MB.
MAX_CELLS_TOGETHER: Final = 1 << 22
# Facts of a host, such as its number of CPUs, come once an hour.
COUNTS_KEPT: Final = timedelta(minutes=10)
MINUTE_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """The result of a rule on a host; it replaces all results from `after` on.

    `states`: (instant, colour) where the worst colour changed; `until`: the last judged report; `passed_until`: without one, up to
    when reports have no values of its inputs; `lacks`: the input that the host does not send; `stopped`: why the rule was stopped.
    Missing: None for each of them
    """

    rule: WatchRule
    after: datetime
    episodes: Sequence[FoundEpisode] = ()
    states: Sequence[tuple[datetime, int]] = ()
    states_after: datetime | None = None
    until: datetime | None = None
    passed_until: datetime | None = None
    colour: int = UNKNOWN
    lacks: str | None = None
    stopped: str | None = None

    @property
    def progress(self) -> dict[str, object]:
        """The progress to store for the rule on this host."""
        until = None if self.until is None else self.until.isoformat()
        found: dict[str, object] = {"version": self.rule.version, "until": until, "colour": self.colour, "lacks": self.lacks}
        return found if self.passed_until is None else found | {"passed_until": self.passed_until.isoformat()}


@dataclass(frozen=True, slots=True)
class RuleTask:
    """A rule, and the first report that it judges."""

    rule: WatchRule
    judge_from: datetime


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """Rules that read together, up to `end`."""

    tasks: Sequence[RuleTask]
    end: datetime

    def windows(self) -> list[Window]:
        """Return the windows to judge one after the other."""
        begin = min(task.judge_from for task in self.tasks)
        starts = [begin + n * PIECE for n in range(-(-(self.end - begin) // PIECE))]
        return [Window(start, min(start + PIECE, self.end)) for start in starts]


class InputPlans:
    """Where hosts have the inputs of rules: the same for all hosts with the same stats, until the catalogue changes.

    `forecasts`: those that conditions with `time_to` needed in this hour; `names`: those of instances that were read; `counts`: by
    host what its facts say, and since when that is kept
    """

    def __init__(self) -> None:
        self._catalogue: Catalogue | None = None
        self.names = InstanceNames()
        self.forecasts = ForecastCache()
        self.counts: dict[int, tuple[datetime, Mapping[str, int]]] = {}
        # By the identity of inputs, which are kept with what is known of them: to hash them takes longer than to judge.
        self._plans: dict[object, tuple[object, list[ChosenInput], list[WatchInput]]] = {}

    def choose(
        self, rule: WatchRule, stats: Sequence[str], counts: Mapping[str, int]
    ) -> tuple[list[ChosenInput], list[WatchInput]]:
        """Return where the inputs of a rule are, and those that are missing."""
        catalogue = load_catalogue()
        if self._catalogue is not catalogue:
            self._catalogue, self._plans = catalogue, {}
        key = (id(rule.inputs), tuple(stats), frozenset(counts))
        if key not in self._plans:
            self._plans[key] = (rule.inputs, *choose_inputs(rule, stats, counts))
        return self._plans[key][1:]


Sides = Mapping[str, StatSide]
NOT_AHEAD: Final[Sides] = {}


# The stats that a host sends, by name, and the last sample of each.
HostStats = Mapping[str, tuple[StatRef, datetime]]


@dataclass(frozen=True, slots=True)
class _StatNeed:
    """What rules that are read together need of a stat: fields, the first report that is judged, and how far it looks back."""

    keys: frozenset[str]
    judge_from: datetime
    lookback: timedelta


def _read_from(window: Window, need: _StatNeed) -> Window:
    """Return the window with what rules look back on."""
    return Window(max(window.start, need.judge_from) - need.lookback, window.end)


class HostJudge:
    """Judges one host by some rules; what several of them read is read once."""

    def __init__(self, session: AsyncSession, host: WatchableHost, stats: HostStats, plans: InputPlans, now: datetime) -> None:
        self._session = session
        self._host = host
        self._stats = {name: stat for name, (stat, _) in stats.items()}
        self._last_at = {name: last_at for name, (_, last_at) in stats.items()}
        self._plans = plans
        # By the host's own clock, which its samples were stamped by.
        self._now = now + timedelta(seconds=host.clock_offset_s)
        self._sides: dict[str, StatSide] = {}
        self._needs: dict[str, _StatNeed] = {}
        # The number of instances by the host's facts, by fact; None until a rule needs it.
        self._counts: Mapping[str, int] | None = None

    async def plan(self, rules: Sequence[WatchRule]) -> tuple[list[TaskGroup], list[RuleOutcome]]:
        """Return what to judge, and the outcomes of rules that the host does not send the inputs of."""
        lacking, starts, usable = [], {}, []
        for rule in rules:
            starts[rule.name] = self._start_of(rule)
            missing = self._plans.choose(rule, list(self._stats), NO_COUNTS)[1]
            if any(each.fact for each in missing):
                missing = self._plans.choose(rule, list(self._stats), await self._read_counts())[1]
            if missing:
                lacking.append(RuleOutcome(rule, starts[rule.name], lacks=missing[0].name))
            else:
                usable.append(rule)
        newest = max((starts[rule.name] for rule in usable), default=self._now)
        near = [rule for rule in usable if starts[rule.name] >= newest - MAX_APART and rule.span_s <= MAX_SHARED_SPAN_S]
        sets = [near] if near else []
        names = {rule.name for rule in near}
        sets += [[rule] for rule in usable if rule.name not in names]
        groups = []
        for own in sets:
            # A tool that ended hours ago has nothing to read since.
            ends = [self._last_at[stat] for rule in own for stat in self._stats_of(rule)]
            last_at = max(ends, default=self._host.last_sample_at)
            end = min(last_at, self._now + MAX_AHEAD) + OVERLAP
            tasks = [RuleTask(rule, min(starts[rule.name], end - OVERLAP)) for rule in own]
            groups.append(TaskGroup(tasks, end))
        return groups, lacking

    def list_sides(self, group: TaskGroup) -> list[SideRequest]:
        """Return the samples that the rules of a group look at, where one window has them all."""
        windows = group.windows()
        if len(windows) != 1:
            return []
        return [
            SideRequest(self._stats[stat], self._host.id, _read_from(windows[0], need), self._fields_of(stat, need.keys))
            for stat, need in self._list_needs(group.tasks).items()
        ]

    def _fields_of(self, stat: str, keys: frozenset[str]) -> tuple[Field, ...]:
        return tuple(field for field in self._stats[stat].fields if field.key in keys)

    async def judge(
        self, group: TaskGroup, known: Mapping[str, Sequence[EpisodeRow]], ahead: Sides, together: "JudgedTogether"
    ) -> "JudgedGroup":
        """Judge the samples of a group of rules, or have that done in `together` where all were read ahead.

        `known`: by rule its stored episodes that had not ended when the first judged report came; `ahead`: of what `list_sides`
        named, the samples that were read
        """
        self._needs = self._list_needs(group.tasks)
        is_small = bool(ahead) and ahead.keys() == self._needs.keys()
        running = [(task, self._begin(task, known.get(task.rule.name, ()))) for task in group.tasks]
        for window in group.windows():
            self._sides = dict(ahead)
            for task, findings in running:
                if findings.stopped is None:
                    await self._judge_window(task, findings, window, together if is_small else None)
        self._sides = {}
        return JudgedGroup([findings for _, findings in running], self._now.timestamp())

    def _begin(self, task: RuleTask, known: Sequence[EpisodeRow]) -> "_Findings":
        # Rules that read together begin at different times.
        lasting = [row for row in known if row.ended_at is None or row.ended_at > task.judge_from]
        carried = [
            to_tracked(row, task.judge_from) for row in lasting if row.start_at < task.judge_from and row.ended_by != WITHDRAWN
        ]
        tracker = EpisodeTracker(task.rule, carried, task.judge_from.timestamp())
        return _Findings(task.rule, tracker, task.judge_from)

    async def _judge_window(self, task: RuleTask, findings: "_Findings", window: Window, together: "JudgedTogether | None") -> None:
        """Judge the samples of a window, in `together` where all were read ahead."""
        with findings.stopping(), rule_budget():
            chosen, sides = await self._read(task.rule, window)
            if chosen:
                start_s = max(window.start, task.judge_from).timestamp()
                forecasts = await read_forecasts(
                    self._session,
                    self._host.id,
                    task.rule,
                    chosen,
                    stats=self._stats,
                    window=window,
                    cache=self._plans.forecasts,
                )
                build = partial(build_frame, task.rule, chosen, sides, self._counts or NO_COUNTS, forecasts)
                if together is None:
                    await work_budget.run_in_thread(lambda: findings.take(run_rule(task.rule, build()), start_s))
                else:
                    with counting_own_time():
                        together.add(findings, build(), start_s)
            else:
                findings.pass_over(self._last_read(task.rule))

    def _last_read(self, rule: WatchRule) -> float | None:
        """Return up to when all stats that were read for a rule have reports. Missing: None where one has none"""
        sides = [self._sides[stat] for stat in self._stats_of(rule) if stat in self._sides]
        if not sides or any(len(side.times_s) == 0 for side in sides):
            return None
        return min(float(side.times_s[-1]) for side in sides)

    def _stats_of(self, rule: WatchRule) -> list[str]:
        """Return the stats that have inputs of a rule."""
        return [stat for stat in self._stats if self._plans.choose(rule, [stat], NO_COUNTS)[0]]

    def _start_of(self, rule: WatchRule) -> datetime:
        """Return the first report to judge. Results of another version stay as they are."""
        oldest = self._now - OLDEST
        quiet = timedelta(seconds=rule.ends_after_s)
        progress = self._host.progress.get(rule.name, {})
        until = progress.get("until")
        if not isinstance(until, str):
            start = self._now - FIRST
            passed = progress.get("passed_until")
            if isinstance(passed, str) and progress.get("version") == rule.version:
                start = max(start, datetime.fromisoformat(passed) - OVERLAP - quiet)
        elif progress.get("version") != rule.version:
            return max(datetime.fromisoformat(until), oldest)
        else:
            start = datetime.fromisoformat(until) - OVERLAP - quiet
        if self._host.late_from is not None:
            start = min(start, self._host.late_from - quiet)
        return max(start, oldest)

    def _list_needs(self, tasks: Sequence[RuleTask]) -> dict[str, _StatNeed]:
        """Return the needs of rules that are read together, by stat, whichever tool supplies it.

        One rule that looks back a quarter of an hour is no reason to read as much of every stat.
        """
        needs: dict[str, _StatNeed] = {}
        for task in tasks:
            own = _StatNeed(frozenset(), task.judge_from, _lookback(task.rule))
            for stat in self._stats:
                for each in self._plans.choose(task.rule, [stat], NO_COUNTS)[0]:
                    known = needs.get(stat, own)
                    needs[stat] = _StatNeed(
                        known.keys | {field.key for field in each.fields},
                        min(known.judge_from, own.judge_from),
                        max(known.lookback, own.lookback),
                    )
        return needs

    async def _read(self, rule: WatchRule, window: Window) -> tuple[list[ChosenInput], dict[str, StatSide]]:
        async def read(stat: str, keys: frozenset[str]) -> StatSide:
            side = self._sides.get(stat)
            if side is None:
                need = self._needs[stat]
                fields = self._fields_of(stat, keys | need.keys)
                longer = _read_from(window, need)
                side = await read_side(
                    self._session,
                    self._host.id,
                    self._stats[stat],
                    (longer,),
                    fields=fields,
                    max_rows=None,
                    names=self._plans.names,
                )
                self._sides[stat] = side
            return side

        stats = list(self._stats)
        found = await read_inputs(rule, stats, read, self._counts or NO_COUNTS, choose=self._plans.choose)
        if found[0] or self._counts is not None or not any(each.fact for each in rule.inputs):
            return found
        # A tool that could tell the number of instances has the sum of them only.
        return await read_inputs(rule, stats, read, await self._read_counts(), choose=self._plans.choose)

    async def _read_counts(self) -> Mapping[str, int]:
        if self._counts is None:
            kept_at, counts = self._plans.counts.get(self._host.id, (None, NO_COUNTS))
            if kept_at is None or not timedelta(0) <= self._now - kept_at < COUNTS_KEPT:
                counts = await read_counts(self._session, self._host.id, self._now)
                self._plans.counts[self._host.id] = self._now, counts
            self._counts = counts
        return self._counts


class _Findings:
    """Collects what a rule finds in the pieces of a host's samples."""

    def __init__(self, rule: WatchRule, tracker: EpisodeTracker, after: datetime) -> None:
        self._rule = rule
        self._tracker = tracker
        self._after = after
        self._ended: list[Episode] = []
        self._minutes: dict[int, int] = {}
        self._last_s: float | None = None
        self._passed_s: float | None = None
        self._limit_s = rule.ends_after_s
        # Why the rule must not watch any more.
        self.stopped: str | None = None

    @property
    def rule(self) -> WatchRule:
        """The rule."""
        return self._rule

    @contextmanager
    def stopping(self) -> Iterator[None]:
        """Note where the rule exceeds a limit in the block."""
        try:
            yield
        except RuleStopped as error:
            self.stopped = str(error)
        except TooLarge:
            self.stopped = describe_memory()

    def take(self, run: RuleRun, start_s: float) -> None:
        """Take the reports of a piece from that time on."""
        run = without_reports_before(run, start_s)
        if len(run.times_s) == 0:
            return
        self._ended += self._tracker.feed(run)
        self._last_s = float(run.times_s[-1])
        self._limit_s = max(MAX_DISTANCES * usual_distance(run.times_s), MINUTE_S)
        _add_minutes(self._minutes, run.times_s, run.host_colours())

    def pass_over(self, until_s: float | None) -> None:
        """Note that the reports up to a time have no values of the rule's inputs.

        Units without a limit have none of what is counted at it: such a rule would read its first hour again each time.
        """
        if until_s is not None:
            self._passed_s = max(self._passed_s or 0.0, until_s)

    def see_silence(self, now_s: float) -> None:
        """End open episodes if there was no report for too long."""
        self._ended += self._tracker.see_silence(now_s)
        if self._last_s is not None and now_s - self._last_s > max(self._limit_s, self._rule.ends_after_s):
            self._minutes[int((self._last_s + self._limit_s) // MINUTE_S) + 1] = UNKNOWN

    def outcome(self) -> RuleOutcome:
        """Return what was found."""
        if self.stopped is not None:
            return RuleOutcome(self._rule, self._after, stopped=self.stopped)
        episodes = [*self._ended, *self._tracker.open_ones]
        states = _changes(self._minutes, self._limit_s)
        return RuleOutcome(
            rule=self._rule,
            after=self._after,
            episodes=[to_found(self._rule, episode) for episode in sorted(episodes, key=lambda each: each.start_s)],
            states=states,
            states_after=states[0][0] if states else None,
            until=None if self._last_s is None else _at(self._last_s),
            passed_until=None if self._passed_s is None or self._last_s is not None else _at(self._passed_s),
            colour=states[-1][1] if states else UNKNOWN,
        )


class JudgedGroup:
    """What rules that read together find on a host."""

    def __init__(self, findings: Sequence[_Findings], now_s: float) -> None:
        self._findings = findings
        self._now_s = now_s

    def outcomes(self) -> list[RuleOutcome]:
        """Return what was found, once all has been judged."""
        for findings in self._findings:
            findings.see_silence(self._now_s)
        return [findings.outcome() for findings in self._findings]


class JudgedTogether:
    """Samples of many hosts, on which each rule is evaluated at once."""

    def __init__(self) -> None:
        # By the identity of rules: most hosts have the same limits.
        self._waiting: dict[int, list[tuple[_Findings, RuleFrame, float]]] = {}
        self._n_cells = 0

    def add(self, findings: _Findings, frame: RuleFrame, start_s: float) -> None:
        """Add the samples of a host for a rule; its reports from that time on are judged."""
        self._waiting.setdefault(id(findings.rule), []).append((findings, frame, start_s))
        self._n_cells += sum(column.size for column in frame.samples.values.values())

    @property
    def is_full(self) -> bool:
        """Whether the samples take so much memory that they should be judged before others are read."""
        return self._n_cells > MAX_CELLS_TOGETHER

    async def run(self) -> None:
        """Judge what was added."""
        waiting, self._waiting, self._n_cells = self._waiting, {}, 0
        timelines = Timelines()
        for items in waiting.values():
            try:
                self._run(items, timelines)
            except (RuleStopped, TooLarge):
                # Judged alone, each host shows whether it is the one that exceeds the limit.
                for item in items:
                    with item[0].stopping():
                        self._run([item], timelines)
            # What waits for the event loop comes first.
            await asyncio.sleep(0)

    def _run(self, items: Sequence[tuple[_Findings, RuleFrame, float]], timelines: Timelines) -> None:
        with rule_budget(), counting_own_time():
            runs = run_together(items[0][0].rule, [frame for _, frame, _ in items], timelines)
        for (findings, _, start_s), run in zip(items, runs, strict=True):
            findings.take(run, start_s)


def to_found(rule: WatchRule, episode: Episode) -> FoundEpisode:
    """Return an episode as it is stored: with its values, their units and their time."""
    return FoundEpisode(
        source=rule.name,
        source_version=rule.version,
        instance=episode.instance,
        start_at=_at(episode.start_s),
        last_at=_at(episode.end_s),
        ended_at=None if episode.ended_s is None else _at(episode.ended_s),
        ended_by=episode.ended_by,
        colour=episode.state.colour,
        worst_at=_at(episode.worst_s),
        title=rule.title,
        sentence=episode.state.explanation,
        action=episode.state.action,
        saw=to_seen_values(rule, episode),
    )


def to_seen_values(rule: WatchRule, episode: Episode) -> list[dict[str, object]]:
    """Return the values of an episode's worst report, as they are stored."""
    units = {each.name: each.unit for each in rule.inputs}
    at = _at(episode.worst_s).isoformat()
    return [
        {
            "name": name,
            "value": value,
            "unit": units[name],
            "text": format_human(value, units[name] if units[name] != "1" else ""),
            "at": at,
        }
        for name, value in episode.values.items()
    ]


def to_tracked(row: EpisodeRow, at: datetime) -> Episode:
    """Return a stored episode as it was at an instant."""
    saw = {str(item["name"]): float(str(item["value"])) for item in row.saw}
    return Episode(
        instance=row.instance,
        start_s=to_us(row.start_at) / 1e6,
        end_s=to_us(min(row.last_at, at)) / 1e6,
        n_reports=0,
        state=RuleState(Colour(row.colour), None, row.action, row.sentence),
        worst_s=to_us(row.worst_at) / 1e6,
        values=saw,
    )


def _lookback(rule: WatchRule) -> timedelta:
    return timedelta(seconds=rule.span_s) + LEAD


def _add_minutes(minutes: dict[int, int], times_s: npt.NDArray[np.float64], colours: npt.NDArray[np.int64]) -> None:
    """Add the worst colour of each minute with a report."""
    own = (times_s // MINUTE_S).astype(np.int64)
    firsts = np.flatnonzero(np.diff(own, prepend=own[0] - 1))
    for minute, worst in zip(own[firsts].tolist(), np.maximum.reduceat(colours, firsts).tolist(), strict=True):
        minutes[minute] = max(minutes.get(minute, UNKNOWN), worst)


def _changes(minutes: Mapping[int, int], limit_s: float) -> list[tuple[datetime, int]]:
    """Return where the colour changed; after a silence it is unknown."""
    changes: list[tuple[datetime, int]] = []
    most = max(1, int(limit_s // MINUTE_S) + 1)
    previous: int | None = None
    for minute in sorted(minutes):
        if previous is not None and minute - previous > most and changes[-1][1] != UNKNOWN:
            changes.append((_at((previous + most) * MINUTE_S), UNKNOWN))
        if not changes or changes[-1][1] != minutes[minute]:
            changes.append((_at(minute * MINUTE_S), minutes[minute]))
        previous = minute
    return changes


def _at(time_s: float) -> datetime:
    return from_us(round(time_s * 1e6))
