"""Run backtests: evaluate a rule on the past of hosts, an hour at a time, with progress, until it is stopped."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.db.schema.watch_models import BacktestRow
from normstat.db.session import open_read_session, open_write_session
from normstat.db.turns import Failures
from normstat.errors import NoData, NormstatError, TooLarge
from normstat.jobs.background import keep_running
from normstat.jobs.claims import BACKTESTS, Claim, JobStopped, list_due, open_claims
from normstat.jobs.due_work import BACKTESTS_S
from normstat.samples.lookup import find_hosts
from normstat.samples.spec_refresh import refresh_catalogue
from normstat.watch import backtest_rows
from normstat.watch.live_judge import to_seen_values
from normstat.watch.rule_budget import RuleStopped, describe_memory, rule_budget
from normstat.watch.rules.episode_tracker import Episode
from normstat.watch.rules.past import PastRun, run_over_past
from normstat.watch.rules.rule_file import BadRule, WatchRule, read_rule
from normstat.window import Window, from_us

log = structlog.get_logger()

# Maximum number of episodes per host in a result; all are counted.
MAX_EPISODES: Final = 1000
Sessions = async_sessionmaker[AsyncSession]


async def run_backtests(
    database_url: str, sessions: Sessions, *, wake: asyncio.Event | None = None, poll_s: float = BACKTESTS_S
) -> None:
    """Run queued backtests, until cancelled: every `poll_s`, and whenever `wake` is set."""
    await keep_running("backtests", partial(_run_queued, database_url, sessions), every_s=poll_s, wake=wake)


async def _run_queued(database_url: str, sessions: Sessions) -> None:
    async with open_read_session(sessions) as session:
        is_wanted = bool(await list_due(session, BACKTESTS.kinds))
    if is_wanted:
        await work_off_backtests(database_url, sessions)


async def work_off_backtests(database_url: str, sessions: Sessions) -> bool:
    """Run all queued backtests; return False when another process runs them."""
    async with open_claims(database_url, BACKTESTS) as claims:
        if claims is None:
            return False
        while (claim := await claims.next()) is not None:
            async with open_write_session(claims.sessions) as session:
                await refresh_catalogue(session)
                backtest = await backtest_rows.find_backtest_of_job(session, claim.id)
            if backtest is not None:
                await _Backtest(claims.sessions, sessions, claim, backtest).work()
        return True


class _Backtest:
    """One backtest. `jobs`: the sessions of the job's connection; `samples`: those that read what hosts sent."""

    def __init__(self, jobs: Sessions, samples: Sessions, claim: Claim, backtest: BacktestRow) -> None:
        self._jobs = jobs
        self._samples = samples
        self._claim = claim
        self._backtest = backtest
        self._n_done = 0

    async def work(self) -> None:
        """Evaluate the rule on each host, and record how it ended unless it was stopped."""
        failures = Failures("backtest_failed")
        hosts: list[dict[str, object]] = []
        is_stopped = False
        with failures.keep(self._backtest.rule):
            try:
                hosts = await self._run()
            except JobStopped:
                is_stopped = True
        if is_stopped:
            log.info("backtest_stopped", backtest=self._backtest.id)
            return
        async with open_write_session(self._jobs) as session:
            if failures.lines:
                await self._claim.fail(session, failures.lines[0])
            elif await self._claim.finish(session):
                await backtest_rows.save_result(session, self._backtest.id, {"hosts": hosts})

    async def _run(self) -> list[dict[str, object]]:
        try:
            rule = read_rule(self._backtest.toml, f"{self._backtest.rule}.toml")
        except BadRule as error:
            raise NormstatError(str(error)) from None
        n_pieces = self._claim.n_total // max(1, len(self._backtest.hosts))
        found = []
        for number, host in enumerate(self._backtest.hosts, start=1):
            found.append(await self._run_host(rule, host))
            # Also where a host could not be judged.
            self._n_done = number * n_pieces
        return found

    async def _run_host(self, rule: WatchRule, host: str) -> dict[str, object]:
        window = Window(self._backtest.start_at, self._backtest.end_at)
        async with open_read_session(self._samples) as session:
            host_id = (await find_hosts(session, [host])).get(host)
            if host_id is None:
                return {"host": host, "problem": f"there is no host {host} any more"}
            try:
                past = await run_over_past(session, (host_id, host), rule, window, around=self._around)
            except NoData as error:
                return {"host": host, "problem": error.message}
            except TooLarge:
                raise NormstatError(describe_memory()) from None
            except RuleStopped as error:
                raise NormstatError(str(error)) from None
        return describe_past(past)

    @asynccontextmanager
    async def _around(self) -> AsyncIterator[None]:
        with rule_budget():
            yield
        self._n_done += 1
        async with open_write_session(self._jobs) as session:
            await self._claim.report(session, n_done=min(self._n_done, self._claim.n_total))


def describe_past(past: PastRun) -> dict[str, object]:
    """Return what a rule found on a host, as it is stored."""
    return {
        "host": past.host,
        "problem": "",
        "n_reports": past.n_reports,
        "seconds": {colour.value: seconds for colour, seconds in past.seconds.items()},
        "unknown_s": past.unknown_s,
        "n_episodes": len(past.episodes),
        "n_a_week": past.n_a_week,
        "sources": past.sources,
        "episodes": [_describe_episode(past.rule, episode) for episode in past.episodes[:MAX_EPISODES]],
    }


def _describe_episode(rule: WatchRule, episode: Episode) -> dict[str, object]:
    return {
        "instance": episode.instance,
        "start": from_us(round(episode.start_s * 1e6)).isoformat(),
        "last": from_us(round(episode.end_s * 1e6)).isoformat(),
        "colour": episode.state.colour,
        "sentence": episode.state.explanation,
        "saw": to_seen_values(rule, episode),
    }
