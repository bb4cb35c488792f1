"""Hold the rules against what has arrived, every few seconds: the host that has waited longest first."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.query.own_figures import list_seen_hosts, read_server_figures
from normstat.query.watchable_hosts import WatchableHost, read_recent_stats, read_watchable
from normstat.rules.episode_tracker import EpisodeEnd
from normstat.rules.rule_file import WatchRule
from normstat.storage.episode_rows import (
    end_episodes,
    read_episodes_after,
    read_open_episodes,
    replace_episodes,
    replace_states,
    save_progress,
)
from normstat.storage.lookup import StatRef, find_stats
from normstat.storage.schema.watch_models import EpisodeRow
from normstat.storage.session import WriteSession, open_read_session, open_write_session
from normstat.storage.turns import Turns
from normstat.storage.watch_rule_rows import stop_rule
from normstat.watch.live_judge import OLDEST, HostJudge, InputPlans, RuleOutcome
from normstat.watch.own_judge import judge_own
from normstat.watch.rule_book import WatchBook, read_watch_book, with_limits

log = structlog.get_logger()

# Hosts that were not reached in this time are the first ones at the next round.
BUDGET_S: Final = 6.0
# Also without samples: an episode ends when they stop.
LOOK_AGAIN: Final = timedelta(seconds=60)


class Watcher:
    """Judges hosts in turns. It keeps nothing that the database does not: another process may go on at any time."""

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

    async def run(self, now: datetime | None = None) -> int:
        """Judge the hosts whose samples or rules changed; return how many."""
        now = now or datetime.now(UTC)
        began = time.monotonic()
        async with open_read_session(self._sessions) as session:
            book = await read_watch_book(session)
            hosts = {host.id: host for host in await read_watchable(session, now - OLDEST)}
            stats = await read_recent_stats(session, list(hosts), now - OLDEST)
            refs = {ref.name: ref for ref in await find_stats(session, sorted({name for own in stats.values() for name in own}))}
        await self._judge_own(book, now)
        self._seen = {host_id: seen for host_id, seen in self._seen.items() if host_id in hosts}
        n_judged = 0
        due = [host_id for host_id, host in hosts.items() if self._is_due(host, book, now)]
        for host_id in self._turns.order(due):
            host = hosts[host_id]
            with self._turns.turn(host_id, host=host.name):
                await self._judge(host, book, {name: refs[name] for name in stats.get(host_id, ()) if name in refs}, now)
                self._seen[host_id] = (self._mark(host, book), now)
                n_judged += 1
            if time.monotonic() - began > self._budget_s:
                break
        return n_judged

    async def _judge_own(self, book: WatchBook, now: datetime) -> None:
        """Judge what is known without samples: silent hosts, and this server."""
        rules = book.own_rules()
        async with open_write_session(self._sessions) as session:
            known: dict[tuple[int | None, str], list[EpisodeRow]] = {}
            for row in await read_open_episodes(session, [rule.name for rule in rules]):
                known.setdefault((row.host_id, row.source), []).append(row)
            hosts = await list_seen_hosts(session)
            figures = await read_server_figures(session, *self._place, now)
            for rule in rules:
                places: list[tuple[int | None, WatchRule, dict[str, float]]] = [(None, rule, figures)]
                if not rule.is_of_server:
                    places = [
                        (
                            host.id,
                            with_limits(rule, book.limits_of(rule.name, host.name, host.tags)),
                            {"host.silence": (now - host.last_seen_at).total_seconds()},
                        )
                        for host in hosts
                    ]
                for host_id, own, values in places:
                    before = known.get((host_id, rule.name), [])
                    found = judge_own(own, values, before, now)
                    if found or before:
                        await replace_episodes(session, host_id, rule.name, found, after=now, now=now)

    def _is_due(self, host: WatchableHost, book: WatchBook, now: datetime) -> bool:
        seen = self._seen.get(host.id)
        return seen is None or host.late_from is not None or seen[0] != self._mark(host, book) or now - seen[1] >= LOOK_AGAIN

    def _mark(self, host: WatchableHost, book: WatchBook) -> object:
        return host.mark, tuple(book.rules_for(host.name, host.tags))

    async def _judge(self, host: WatchableHost, book: WatchBook, stats: dict[str, StatRef], now: datetime) -> None:
        rules = book.rules_for(host.name, host.tags)
        async with open_read_session(self._sessions) as session:
            judge = HostJudge(session, host, stats, self._plans, now)
            groups, outcomes = judge.plan(rules)
            for group in groups:
                begin = min(task.judge_from for task in group.tasks)
                names = [task.rule.name for task in group.tasks]
                known = by_source(await read_episodes_after(session, host.id, names, begin))
                outcomes += await judge.judge(group, known)
        async with open_write_session(self._sessions) as session:
            for outcome in outcomes:
                await self._store(session, host, outcome, book=book, now=now)
            progress = dict(host.progress)
            for outcome in outcomes:
                # Without a new report a rule stands where it stood.
                if outcome.until is not None or outcome.lacks is not None or outcome.rule.name not in progress:
                    progress[outcome.rule.name] = outcome.progress
            progress = {name: own for name, own in progress.items() if name in book.rules and book.rules[name].is_watching}
            await save_progress(session, host.id, progress, late=host.late, now=now)

    async def _store(
        self, session: WriteSession, host: WatchableHost, outcome: RuleOutcome, book: WatchBook, now: datetime
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
        await replace_episodes(session, host.id, source, outcome.episodes, after=outcome.after, now=now)
        if outcome.states_after is not None:
            await replace_states(session, host.id, source, outcome.states, after=outcome.states_after)


def by_source(rows: Sequence[EpisodeRow]) -> dict[str, list[EpisodeRow]]:
    """Return episodes by what found them."""
    found: dict[str, list[EpisodeRow]] = {}
    for row in rows:
        found.setdefault(row.source, []).append(row)
    return found
