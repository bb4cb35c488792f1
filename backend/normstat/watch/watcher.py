"""Evaluate the rules on new samples every few seconds, the host that has waited longest first."""

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
from normstat.db.turns import Turns
from normstat.records.episode_rows import (
    FoundEpisode,
    StoredStates,
    end_episodes,
    read_episodes_after,
    read_open_episodes,
    read_states,
    replace_episodes,
    replace_states,
    save_progress,
)
from normstat.runtime import metrics
from normstat.samples.lookup import StatRef, find_stats, read_stats_mark
from normstat.stats.catalogue import Catalogue, load_catalogue
from normstat.watch.live_judge import OLDEST, HostJudge, HostStats, InputPlans, RuleOutcome, to_found, to_tracked
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
from normstat.watch.rules.rule_file import OWN_INPUTS, STREAM, RuleLimit, WatchRule
from normstat.watch.rules.rule_frame import WHOLE_HOST, RuleFrame
from normstat.watch.rules.rule_run import FIRST_BAD, RuleRun, run_rule
from normstat.watch.watch_rule_rows import stop_rule
from normstat.watch.watchable_hosts import WatchableHost, read_recent_stats, read_watchable
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
    return run_rule(rule, RuleFrame(Samples(np.array([now_s]), values), instances))


log = structlog.get_logger()

# Hosts not reached within this time come first in the next round.
BUDGET_S: Final = 6.0
# Also without samples: an episode ends when they stop.
LOOK_AGAIN: Final = timedelta(seconds=60)
# A fleet has tens of thousands of streams.
LOOK_AT_STREAMS: Final = timedelta(seconds=60)
# Inputs that need no streams are read each time.
STREAM_INPUTS: Final = OWN_INPUTS.keys() - {"host.silence", "server.job_wait", "server.disk_free"}
NO_STREAM_FIGURES: Final = StreamFigures({}, {})


class Watcher:
    """Judges hosts in turns. All its state is in the database: another process may take over at any time."""

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
        self._turns: Turns[int] = Turns("watch_failed")
        self._plans = InputPlans()
        self._seen: dict[int, tuple[object, datetime]] = {}
        self._streams_at: datetime | None = None
        self._stats: Mapping[str, StatRef] = {}
        self._stats_mark: tuple[Catalogue, tuple[int, ...]] | None = None

    async def run(self, now: datetime | None = None) -> int:
        """Judge the hosts whose samples or rules changed; return how many."""
        now = now or datetime.now(UTC)
        began = time.monotonic()
        async with open_read_session(self._sessions) as session:
            book = await read_watch_book(session)
            hosts = {host.id: host for host in await read_watchable(session, now - OLDEST)}
            stats = await read_recent_stats(session, list(hosts), now - OLDEST)
            refs = await self._find_stats(session, {name for own in stats.values() for name in own})
        await self._judge_own(book, now)
        self._seen = {host_id: seen for host_id, seen in self._seen.items() if host_id in hosts}
        n_judged = 0
        due = [host_id for host_id, host in hosts.items() if self._is_due(host, book, now)]
        for host_id in self._turns.order(due):
            host = hosts[host_id]
            with self._turns.turn(host_id, host=host.name):
                own = {name: (refs[name], last_at) for name, last_at in stats.get(host_id, {}).items() if name in refs}
                await self._judge(host, book, own, now)
                self._seen[host_id] = (self._mark(host, book), now)
                n_judged += 1
            if time.monotonic() - began > self._budget_s:
                break
        metrics.RULES_JUDGED.set_to_current_time()
        return n_judged

    async def _find_stats(self, session: AsyncSession, names: Set[str]) -> Mapping[str, StatRef]:
        """Return these stats; their hundreds of fields are read again when they have changed."""
        mark = (load_catalogue(), await read_stats_mark(session))
        if self._stats_mark != mark or names - self._stats.keys():
            self._stats = {ref.name: ref for ref in await find_stats(session, sorted(names))}
            self._stats_mark = mark
        return self._stats

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

    def _is_due(self, host: WatchableHost, book: WatchBook, now: datetime) -> bool:
        seen = self._seen.get(host.id)
        return seen is None or host.late_from is not None or seen[0] != self._mark(host, book) or now - seen[1] >= LOOK_AGAIN

    def _mark(self, host: WatchableHost, book: WatchBook) -> object:
        return host.mark, tuple(book.rules_for(host.name, host.tags))

    async def _judge(self, host: WatchableHost, book: WatchBook, stats: HostStats, now: datetime) -> None:
        rules = book.rules_for(host.name, host.tags)
        async with open_read_session(self._sessions) as session:
            judge = HostJudge(session, host, stats, self._plans, now)
            groups, outcomes = await judge.plan(rules)
            for group in groups:
                begin = min(task.judge_from for task in group.tasks)
                names = [task.rule.name for task in group.tasks]
                known = by_source(await read_episodes_after(session, host.id, names, begin))
                outcomes += await judge.judge(group, known)
        async with open_write_session(self._sessions) as session:
            stored = await _read_stored(session, host.id, [each for each in outcomes if each.lacks is None])
            for outcome in outcomes:
                await self._store(session, host, outcome, book=book, stored=stored, now=now)
            progress = dict(host.progress)
            for outcome in outcomes:
                # Without a new report a rule stands where it stood.
                has_judged = bool(progress.get(outcome.rule.name, {}).get("until"))
                has_passed = outcome.passed_until is not None and not has_judged
                if outcome.until is not None or outcome.lacks is not None or has_passed or outcome.rule.name not in progress:
                    progress[outcome.rule.name] = outcome.progress
            progress = {name: own for name, own in progress.items() if name in book.rules and book.rules[name].is_watching}
            await save_progress(session, host.id, progress, late=host.late, now=now)

    async def _store(
        self,
        session: WriteSession,
        host: WatchableHost,
        outcome: RuleOutcome,
        *,
        book: WatchBook,
        stored: "_Stored",
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
        if outcome.episodes or source in stored.with_episodes:
            await replace_episodes(session, host.id, source, outcome.episodes, after=outcome.after, now=now)
        if outcome.states_after is not None:
            states = stored.states[source]
            await replace_states(session, host.id, source, outcome.states, after=outcome.states_after, stored=states)


@dataclass(frozen=True, slots=True)
class _Stored:
    """The stored state of a host: the rules with episodes that had not ended where they judge, and the states of each."""

    with_episodes: frozenset[str]
    states: Mapping[str, StoredStates]


async def _read_stored(session: AsyncSession, host_id: int, outcomes: Sequence[RuleOutcome]) -> _Stored:
    """Store the state of the rules, with one statement of each kind for all of them: on most hosts it does not change."""
    if not outcomes:
        return _Stored(frozenset(), {})
    begin = min(outcome.after for outcome in outcomes)
    episodes = await read_episodes_after(session, host_id, [outcome.rule.name for outcome in outcomes], begin)
    firsts = {outcome.rule.name: outcome.states_after for outcome in outcomes if outcome.states_after is not None}
    return _Stored(frozenset(row.source for row in episodes), await read_states(session, host_id, firsts))


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
