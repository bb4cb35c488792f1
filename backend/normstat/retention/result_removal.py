"""Remove old results of watching: scores, states, episodes that have ended, and backtests; a rule of retention names each.

Nothing is thinned: what is kept is kept whole. Rows go some thousand at a time, each piece in a short transaction that counts it.
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Final

from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.db.session import open_write_session
from normstat.db.turns import Failures
from normstat.retention.retention_rules import RESULTS, Removed, Rules, note_removed

Sessions = async_sessionmaker[AsyncSession]
ROWS_AT_ONCE: Final = 20_000
# By ctid: a DELETE has no LIMIT. The keys begin with the host, so rows are found host by host.
HOSTS: Final = text("SELECT id FROM hosts ORDER BY id")
DELETE_SCORES: Final = text("""
    DELETE FROM host_scores WHERE host_id = :host_id AND ctid = ANY(ARRAY(
        SELECT ctid FROM host_scores WHERE host_id = :host_id AND minute_at < :before LIMIT :n))
""")
# A state holds until the next one: the one that held at that time stays.
DELETE_STATES: Final = text("""
    DELETE FROM watched_states WHERE host_id = :host_id AND ctid = ANY(ARRAY(
        SELECT old.ctid FROM watched_states AS old
        WHERE old.host_id = :host_id AND old.from_at < :before AND EXISTS (
            SELECT FROM watched_states AS later
            WHERE later.host_id = old.host_id AND later.source = old.source
              AND later.from_at > old.from_at AND later.from_at <= :before)
        LIMIT :n))
""")
DELETE_EPISODES: Final = text("""
    DELETE FROM episodes WHERE ctid = ANY(ARRAY(SELECT ctid FROM episodes WHERE ended_at < :before LIMIT :n))
""")
# A backtest goes with its job.
DELETE_BACKTESTS: Final = text("""
    DELETE FROM jobs WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM jobs WHERE kind = 'backtest' AND finished_at < :before AND state NOT IN ('queued', 'running') LIMIT :n))
""")
Remove = Callable[["_ResultRemoval"], Awaitable[None]]


async def remove_results(sessions: Sessions, run_id: int, rules: Rules, failures: Failures) -> None:
    """Remove the results that the rules do not keep any longer. One kind that fails stops none of the others."""
    for name in RESULTS:
        before = rules.results_from(name)
        if before is None:
            continue
        with failures.keep(name):
            await REMOVALS[name](_ResultRemoval(sessions, run_id, before))


class _ResultRemoval:
    """Removes rows that are older than an instant."""

    def __init__(self, sessions: Sessions, run_id: int, before: datetime) -> None:
        self._sessions = sessions
        self._run_id = run_id
        self._before = before

    async def of_each_host(self, statement: TextClause) -> None:
        async with self._sessions() as session:
            host_ids = list(await session.scalars(HOSTS))
        for host_id in host_ids:
            await self.of_all(statement, host_id=host_id)

    async def of_all(self, statement: TextClause, **more: int) -> None:
        n = ROWS_AT_ONCE
        while n == ROWS_AT_ONCE:
            async with open_write_session(self._sessions) as session:
                done = await session.execute(statement, {"before": self._before, "n": ROWS_AT_ONCE, **more})
                n = int(getattr(done, "rowcount", 0))
                if n:
                    await note_removed(session, self._run_id, Removed(n_results=n))


REMOVALS: Final[Mapping[str, Remove]] = {
    "@scores": lambda own: own.of_each_host(DELETE_SCORES),
    "@states": lambda own: own.of_each_host(DELETE_STATES),
    "@episodes": lambda own: own.of_all(DELETE_EPISODES),
    "@backtests": lambda own: own.of_all(DELETE_BACKTESTS),
}
