"""Evaluate the rules on new samples every few seconds, the host that has waited longest first."""

import asyncio
import time
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np
import structlog
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.db.schema.watch_models import EpisodeRow
from normstat.db.session import WriteSession, open_read_session, open_write_session
from normstat.db.turns import Turns, is_database_away
from normstat.records.episode_rows import (
    FoundEpisode,
    FoundStates,
    HostProgress,
    StoredStates,
    end_episodes,
    has_not_ended,
    read_episodes_of_hosts,
    read_open_episodes,
    read_states,
    replace_episodes,
    replace_states,
    save_progress,
)
from normstat.runtime import metrics
from normstat.samples.lookup import StatRef, find_stats, read_stats_mark
from normstat.stats.catalogue import Catalogue, load_catalogue
from normstat.watch import live_judge
from normstat.watch.kept_samples import KeptSamples
from normstat.watch.live_judge import (
    NOT_AHEAD,
    OLDEST,
    HostJudge,
    HostStats,
    InputPlans,
    JudgedTogether,
    RuleOutcome,
    to_found,
    to_tracked,
)
from normstat.watch.own_figures import (
    OwnFigures,
    SeenHost,
    StreamFigures,
    find_hosts_behind,
    list_seen_hosts,
    read_server_figures,
    read_stream_figures,
)
from normstat.watch.rule_book import WatchBook, read_watch_book, with_limits
from normstat.watch.rules.episode_tracker import EpisodeEnd, EpisodeTracker
from normstat.watch.rules.expression import Samples
from normstat.watch.rules.rolling import Timeline
from normstat.watch.rules.rule_file import OWN_INPUTS, STREAM, RuleLimit, WatchRule
from normstat.watch.rules.rule_frame import WHOLE_HOST, RuleFrame
from normstat.watch.rules.rule_run import FIRST_BAD, RuleRun, run_rule
from normstat.watch.watch_rule_rows import stop_rule
from normstat.watch.watchable_hosts import WatchableHost, read_watchable
from normstat.watch.watched_stream_rows import NO_STREAMS, HostStreams, read_streams
from normstat.window import to_us


def judge_own(
    rule: WatchRule, figures: Mapping[str, OwnFigures], known: Sequence[EpisodeRow], now: datetime
) -> list[FoundEpisode]:  # fmt: skip
    """Return the episodes of a rule that last or have just ended. `figures`: by instance, of a rule for the whole host or server
    under WHOLE_HOST; `known`: those that lasted until now.
    """
    now_s = to_us(now) / 1e6
    run = _run(rule, figures, now_s)
    # Hosts were not judged while the server was down; this does not end an open episode.
    tracker = EpisodeTracker(rule, [to_tracked(row, now) for row in known if row.ended_at is None], now_s)
    episodes = [*tracker.feed(run), *tracker.open_ones]
    return [to_found(rule, episode) for episode in episodes]


def find_bad(rule: WatchRule, figures: Sequence[OwnFigures]) -> list[bool]:
    """Return which of these figures, of many hosts and instances, a rule calls amber or worse: nearly all are fine."""
    if not figures:
        return []
    # As if they were instances of one host.
    together = rule if rule.of else replace(rule, of=STREAM)
    run = _run(together, {str(place): own for place, own in enumerate(figures)}, 0.0)
    found: list[bool] = (run.colours()[0] >= FIRST_BAD).tolist()
    return found


def _run(rule: WatchRule, figures: Mapping[str, OwnFigures], now_s: float) -> RuleRun:
    instances = tuple(figures) if rule.of else (WHOLE_HOST,)
    values = {each.name: np.array([[figures.get(own, {}).get(each.own, np.nan) for own in instances]]) for each in rule.inputs}
    return run_rule(rule, RuleFrame(Samples(Timeline(np.array([now_s])), values), instances))


log = structlog.get_logger()

# Hosts not reached within this time come first in the next run.
BUDGET_S: Final = 6.0
# A run takes no longer than this, a quarter of the time between two, once it has judged one host in N_RUNS: of more hosts than that
# is enough for, each is judged in one of N_RUNS runs, which is within a minute.
QUICK_S: Final = 2.5
N_RUNS: Final = 5
# Hosts that are read, and whose results are written, with one statement of each kind.
HOSTS_AT_ONCE: Final = 32
# Also without samples: an episode ends when they stop.
LOOK_AGAIN: Final = timedelta(seconds=60)
# A fleet has tens of thousands of streams.
LOOK_AT_STREAMS: Final = timedelta(seconds=60)
# Inputs that need no streams are read each time.
STREAM_INPUTS: Final = OWN_INPUTS.keys() - {"host.silence", "server.job_wait", "server.disk_free"}
NO_STREAM_FIGURES: Final = StreamFigures({}, {})


@dataclass(frozen=True, slots=True)
class DueHost:
    """A host to judge, with the rules for it."""

    host: WatchableHost
    rules: tuple[WatchRule, ...]


class Watcher:
    """Judges hosts in turns. All its state is in the database: another process may take over at any time.

    `n_hosts`: how many had recent samples in the last run. Missing: None before the first.
    """

    def __init__(
        self,
        sessions: async_sessionmaker[AsyncSession],
        *,
        database_url: str = "",
        database_dir: Path | None = None,
        budget_s: float = BUDGET_S,
    ) -> None:
        self._sessions = sessions
        self._place = (database_url, database_dir)
        self._budget_s = budget_s
        self.n_hosts: int | None = None
        self._turns: Turns[int] = Turns("watch_failed")
        self._plans = InputPlans()
        self._seen: dict[int, tuple[object, datetime]] = {}
        self._streams_at: datetime | None = None
        self._stats: dict[str, StatRef] = {}
        self._kept = KeptSamples()
        self._stats_mark: tuple[Catalogue, tuple[int, ...]] | None = None

    async def run(self, now: datetime | None = None) -> int:
        """Judge the hosts whose samples or rules changed; return how many."""
        now = now or datetime.now(UTC)
        began = time.monotonic()
        async with open_read_session(self._sessions) as session:
            book = await read_watch_book(session)
            hosts = {host.id: host for host in await read_watchable(session, now - OLDEST)}
            await self._kept.keep_only(session, hosts)
            mark = (load_catalogue(), await read_stats_mark(session))
            if self._stats_mark != mark:
                self._stats, self._stats_mark = {}, mark
        self.n_hosts = len(hosts)
        await self._judge_own(book, now)
        self._seen = {host_id: seen for host_id, seen in self._seen.items() if host_id in hosts}
        rules = {host_id: tuple(book.rules_for(host.name, host.tags)) for host_id, host in hosts.items()}
        due = [DueHost(host, rules[host_id]) for host_id, host in hosts.items() if self._is_due(host, rules[host_id], now)]
        by_id = {own.host.id: own for own in due}
        order = [by_id[host_id] for host_id in self._turns.order(list(by_id))]
        n_judged = 0
        for begin in range(0, len(order), HOSTS_AT_ONCE):
            n_judged += await self._take_turns(order[begin : begin + HOSTS_AT_ONCE], book, now)
            spent_s = time.monotonic() - began
            if spent_s > self._budget_s or (spent_s > QUICK_S and n_judged * N_RUNS >= len(hosts)):
                break
        metrics.RULES_JUDGED.set_to_current_time()
        return n_judged

    async def _find_stats(self, session: AsyncSession, names: Set[str]) -> Mapping[str, StatRef]:
        """Return these stats; their hundreds of fields are read again when they have changed."""
        if missing := names - self._stats.keys():
            self._stats.update({ref.name: ref for ref in await find_stats(session, sorted(missing))})
        return self._stats

    async def _take_turns(self, some: Sequence["DueHost"], book: WatchBook, now: datetime) -> int:
        """Judge hosts together, and where that fails each on its own; return how many were judged."""
        n_judged = 0
        try:
            await self._judge(some, book, now)
        except Exception as error:
            if is_database_away(error):
                raise
            for own in some:
                with self._turns.turn(own.host.id, host=own.host.name):
                    await self._judge([own], book, now)
                    n_judged += self._see(own, now)
        else:
            for own in some:
                with self._turns.turn(own.host.id):
                    n_judged += self._see(own, now)
        return n_judged

    def _see(self, own: "DueHost", now: datetime) -> int:
        """Note that a host was judged."""
        self._seen[own.host.id] = ((own.host.mark, own.rules), now)
        return 1

    async def _judge_own(self, book: WatchBook, now: datetime) -> None:
        """Judge data that needs no samples: silent hosts and tools, and this server."""
        async with open_write_session(self._sessions) as session:
            rules = book.own_rules()
            known: dict[tuple[int | None, str], list[EpisodeRow]] = {}
            for row in await read_open_episodes(session, [rule.name for rule in rules]):
                known.setdefault((row.host_id, row.source), []).append(row)
            hosts = await list_seen_hosts(session)
            streams: dict[int, StreamFigures] = {}
            server = await read_server_figures(session, *self._place, now)
            if self._streams_at is None or now - self._streams_at >= LOOK_AT_STREAMS:
                self._streams_at = now
                streams = await read_stream_figures(session, hosts, now)
                server |= find_hosts_behind(streams)
            inputs = _OwnInputs(server, streams)
            for rule in rules:
                if not streams and any(each.own in STREAM_INPUTS for each in rule.inputs):
                    continue
                for place in _list_places(rule, book, hosts, inputs, now):
                    before = known.get((place.host_id, rule.name), [])
                    if not place.is_bad and not before:
                        continue
                    found = judge_own(place.rule, place.figures, before, now)
                    if found or before:
                        await replace_episodes(session, place.host_id, rule.name, found, after=now, now=now)

    def _is_due(self, host: WatchableHost, rules: tuple[WatchRule, ...], now: datetime) -> bool:
        seen = self._seen.get(host.id)
        return seen is None or host.late_from is not None or seen[0] != (host.mark, rules) or now - seen[1] >= LOOK_AGAIN

    async def _judge(self, some: Sequence["DueHost"], book: WatchBook, now: datetime) -> None:
        found: list[tuple[WatchableHost, list[RuleOutcome]]] = []
        async with open_read_session(self._sessions) as session:
            # Before samples are: what comes meanwhile is looked for again.
            streams = await read_streams(session, [own.host.id for own in some], now - OLDEST)
            refs = await self._find_stats(session, {name for own in streams.values() for name in own.stats})
            judges = [
                HostJudge(session, own.host, _stats_of(streams.get(own.host.id, NO_STREAMS), refs), self._plans, now)
                for own in some
            ]
            plans = [await judge.plan(own.rules) for judge, own in zip(judges, some, strict=True)]
            # Nearly always the rules of a host are judged together.
            firsts = [groups[0] if groups else None for groups, _ in plans]
            ahead = await self._kept.read(
                session,
                [one for judge, first in zip(judges, firsts, strict=True) if first is not None for one in judge.list_sides(first)],
                streams,
                self._plans.names,
                max_rows=live_judge.MAX_ROWS_AHEAD,
            )
            begins = {
                own.host.id: min(task.judge_from for group in groups for task in group.tasks)
                for own, (groups, _) in zip(some, plans, strict=True)
                if groups
            }
            episodes = await read_episodes_of_hosts(session, begins)
            together = JudgedTogether()
            judged = []
            for own, judge, (groups, _) in zip(some, judges, plans, strict=True):
                known = by_source(episodes.get(own.host.id, ()))
                parts = []
                for number, group in enumerate(groups):
                    sides = NOT_AHEAD if number else ahead.pop(own.host.id, NOT_AHEAD)
                    parts.append(await judge.judge(group, known, sides, together))
                judged.append(parts)
                if together.is_full:
                    await together.run()
                # What waits for the event loop comes first.
                await asyncio.sleep(0)
            await together.run()
            for own, (_, lacking), parts in zip(some, plans, judged, strict=True):
                found.append((own.host, [*lacking, *(outcome for part in parts for outcome in part.outcomes())]))
        async with open_write_session(self._sessions) as session:
            stored = await _read_stored(session, found)
            for host, outcomes in found:
                for outcome in outcomes:
                    await self._store(session, host, outcome, book=book, stored=stored.episodes[host.id], now=now)
            await replace_states(session, _list_states(found), stored.states)
            await save_progress(session, [_to_progress(host, outcomes, book) for host, outcomes in found], now=now)

    async def _store(
        self,
        session: WriteSession,
        host: WatchableHost,
        outcome: RuleOutcome,
        *,
        book: WatchBook,
        stored: Mapping[str, Sequence[EpisodeRow]],
        now: datetime,
    ) -> None:
        source = outcome.rule.name
        if outcome.stopped is not None:
            booked = book.rules[source]
            toml = None if booked.is_builtin else booked.toml
            await stop_rule(session, source, toml, booked.version, why=f"on {host.name}, {outcome.stopped}")
            await end_episodes(session, source, by=EpisodeEnd.RULE_OFF, now=now)
            log.warning("rule_stopped", rule=source, host=host.name, why=outcome.stopped)
            return
        if outcome.lacks is not None:
            return
        known = [row for row in stored.get(source, ()) if has_not_ended(row, outcome.after)]
        if outcome.episodes or known:
            await replace_episodes(session, host.id, source, outcome.episodes, after=outcome.after, now=now, known=known)


def _stats_of(streams: HostStreams, refs: Mapping[str, StatRef]) -> HostStats:
    return {name: (refs[name], last_at) for name, last_at in streams.stats.items() if name in refs}


@dataclass(frozen=True, slots=True)
class _Stored:
    """The stored states of hosts, and by host and rule the episodes that had not ended where the first of its rules judges."""

    episodes: Mapping[int, Mapping[str, Sequence[EpisodeRow]]]
    states: Mapping[tuple[int, str], StoredStates]


async def _read_stored(session: AsyncSession, found: Sequence[tuple[WatchableHost, Sequence[RuleOutcome]]]) -> _Stored:
    """Return the stored state of hosts, with one statement of each kind: on most hosts it does not change."""
    begins: dict[int, datetime] = {}
    firsts: dict[tuple[int, str], datetime] = {}
    for host, outcomes in found:
        for outcome in outcomes:
            if outcome.lacks is None:
                begins[host.id] = min(begins.get(host.id, outcome.after), outcome.after)
                if outcome.states_after is not None:
                    firsts[host.id, outcome.rule.name] = outcome.states_after
    episodes = await read_episodes_of_hosts(session, begins)
    states = await read_states(session, firsts)
    return _Stored({host.id: by_source(episodes.get(host.id, ())) for host, _ in found}, states)


def _list_states(found: Sequence[tuple[WatchableHost, Sequence[RuleOutcome]]]) -> list[FoundStates]:
    return [
        FoundStates(host.id, outcome.rule.name, outcome.states_after, outcome.states)
        for host, outcomes in found
        for outcome in outcomes
        if outcome.lacks is None and outcome.states_after is not None
    ]


def _to_progress(host: WatchableHost, outcomes: Sequence[RuleOutcome], book: WatchBook) -> HostProgress:
    """Return how far the rules that still watch have judged a host."""
    progress = dict(host.progress)
    for outcome in outcomes:
        # Without a new report a rule stands where it stood.
        has_judged = bool(progress.get(outcome.rule.name, {}).get("until"))
        has_passed = outcome.passed_until is not None and not has_judged
        if outcome.until is not None or outcome.lacks is not None or has_passed or outcome.rule.name not in progress:
            progress[outcome.rule.name] = outcome.progress
    kept = {name: own for name, own in progress.items() if name in book.rules and book.rules[name].is_watching}
    return HostProgress(host.id, kept, host.late)


@dataclass(frozen=True, slots=True)
class _OwnInputs:
    """Inputs that need no samples: of this server, and of the streams of hosts by id."""

    server: OwnFigures
    streams: Mapping[int, StreamFigures]


@dataclass(frozen=True, slots=True)
class _OwnPlace:
    """The subject of a rule that needs no samples: a host, or (None) this server. `figures`: by instance"""

    host_id: int | None
    rule: WatchRule
    figures: Mapping[str, OwnFigures]
    is_bad: bool


def _list_places(
    rule: WatchRule, book: WatchBook, hosts: Sequence[SeenHost], known: _OwnInputs, now: datetime
) -> list[_OwnPlace]:  # fmt: skip
    """Return the subjects of a rule, hosts with the same limits judged at once."""
    if rule.is_of_server:
        return [_OwnPlace(None, rule, {WHOLE_HOST: known.server}, is_bad=True)]
    by_limits: dict[tuple[RuleLimit, ...], tuple[WatchRule, list[tuple[int, Mapping[str, OwnFigures]]]]] = {}
    for host in hosts:
        of_host = known.streams.get(host.id, NO_STREAM_FIGURES)
        silence = {"host.silence": (now - host.last_seen_at).total_seconds()}
        own = of_host.by_stream if rule.of else {WHOLE_HOST: {**of_host.host, **silence}}
        limited = with_limits(rule, book.limits_of(rule.name, host.name, host.tags))
        by_limits.setdefault(limited.limits, (limited, []))[1].append((host.id, own))
    places = []
    for limited, held in by_limits.values():
        is_bad = iter(find_bad(limited, [each for _, own in held for each in own.values()]))
        places += [_OwnPlace(host_id, limited, own, is_bad=any(list(islice(is_bad, len(own))))) for host_id, own in held]
    return places


def by_source(rows: Sequence[EpisodeRow]) -> dict[str, list[EpisodeRow]]:
    """Return episodes by what found them."""
    found: dict[str, list[EpisodeRow]] = {}
    for row in rows:
        found.setdefault(row.source, []).append(row)
    return found
