"""What the schedule runs. The modules of a task are imported when it first runs: a server that starts needs none of them."""

# ruff: noqa: PLC0415

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Final

from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.db.session import open_read_session
from normstat.db.turns import Turns
from normstat.settings import Settings

if TYPE_CHECKING:
    from normstat.alerts.alert_router import AlertRouter
    from normstat.compaction.seal_job import Sealing
    from normstat.watch.scores.score_job import ContinuousComparison
    from normstat.watch.watch_process import WatchProcess
    from normstat.watch.watcher import Watcher

# Work left after this time waits for the next run.
ROLLUPS_S: Final = 30.0
SEALING_S: Final = 150.0
PROFILES_S: Final = 25.0
PACKING_S: Final = 250.0
NORMAL_S: Final = 20.0
# Half an hour of the means of 500 hosts with 800 series each takes half of it.
SCORES_MAX_BYTES: Final = 128 << 20


class ScheduledTasks:
    """The tasks of one leader, with what they keep from run to run."""

    def __init__(
        self, sessions: async_sessionmaker[AsyncSession], settings: Settings, *, may_route: Callable[[], bool] = lambda: True
    ) -> None:  # fmt: skip
        self._sessions = sessions
        self._settings = settings
        # False while there was nothing to route a moment ago: that ends when a person adds a route, not with an episode.
        self._may_route = may_route
        self._rollup_turns: Turns[int] = Turns("rollup_failed")
        self._packing_turns: Turns[int] = Turns("packing_failed")
        self._rolling_turns: Turns[int] = Turns("rolling_baseline_failed")
        self._baseline_turns: Turns[int] = Turns("baseline_update_failed")
        self._normal_turns: Turns[int] = Turns("normal_search_failed")
        # From the time on when it is worth it.
        self._watch_process: WatchProcess | None = None

    def end(self) -> None:
        """End what the tasks have started: another process leads, or this one ends."""
        if self._watch_process is not None:
            self._watch_process.end()

    async def delete_expired_logins(self) -> None:
        """Delete sessions and links that have expired."""
        from normstat.auth.login_expiry import delete_expired_logins

        await delete_expired_logins(self._sessions)

    async def queue_nightly_retention(self) -> None:
        """Queue what the retention rules ask for."""
        from normstat.retention.deletion_worker import queue_nightly_retention

        await queue_nightly_retention(self._sessions)

    async def run_rollups(self) -> None:
        """Compute rollups that are due."""
        from normstat.samples.rollups.rollup_job import run_rollups

        await run_rollups(self._sessions, budget_s=ROLLUPS_S, turns=self._rollup_turns)

    async def run_sealing(self) -> None:
        """Seal old samples."""
        await self._sealing.run(budget_s=SEALING_S)

    async def run_packing(self) -> None:
        """Pack old raw bytes."""
        from normstat.compaction.packing_run import run_packing

        after_days = self._settings.pack_after_days
        await run_packing(self._sessions, after_days=after_days, budget_s=PACKING_S, turns=self._packing_turns)

    async def update_baselines(self) -> None:
        """Let recurring baselines grow."""
        from normstat.baselines.lifecycle import update_baselines

        await update_baselines(self._sessions, turns=self._baseline_turns)

    async def update_rolling_baselines(self) -> None:
        """Move rolling baselines on."""
        from normstat.baselines.rolling_baseline import update_rolling_baselines

        await update_rolling_baselines(self._sessions, turns=self._rolling_turns)

    async def run_profiles(self) -> None:
        """Build profiles that are due."""
        from normstat.profiles.profile_job import run_profiles

        await run_profiles(self._sessions, budget_s=PROFILES_S)

    async def search_normal_changes(self) -> None:
        """Look for changes of normal until the last midnight."""
        from normstat.watch.normal_changes import search_normal_changes

        now = datetime.now(UTC)
        await search_normal_changes(self._sessions, now=now, budget_s=NORMAL_S, turns=self._normal_turns)

    async def run_scores(self) -> None:
        """Score the minute that has settled."""
        await self._continuous.run(self._sessions)

    async def run_watch(self) -> None:
        """Evaluate the rules on what has arrived: of a large fleet in a process of its own."""
        from normstat.records.judging_pace import read_pace
        from normstat.runtime.metrics import RULES_JUDGED
        from normstat.watch.watch_process import FROM_HOSTS, WatchProcess, WatchSettings

        if self._watch_process is None:
            # Not asked in each round of a few hosts.
            n_hosts = self._watcher.n_hosts
            if n_hosts is None or n_hosts >= FROM_HOSTS:
                async with open_read_session(self._sessions) as session:
                    n_hosts = (await read_pace(session, datetime.now(UTC))).n_hosts
            if n_hosts < FROM_HOSTS:
                await self._watcher.run()
                return
            own = self._settings
            self._watch_process = WatchProcess(
                WatchSettings.of(
                    self._sessions, database_url=own.database_url, database_dir=own.database_dir, log_level=own.log_level
                )
            )
        if await self._watch_process.run() is not None:
            RULES_JUDGED.set_to_current_time()

    async def route_alerts(self) -> None:
        """Route open alerts and queue their messages."""
        if not self._may_route():
            return
        from normstat.alerts.alert_rows import has_routing

        async with open_read_session(self._sessions) as session:
            is_due = await has_routing(session)
        if is_due:
            await self._router.run()

    async def forget_alerts(self) -> None:
        """Delete old alerts."""
        from normstat.alerts.alert_router import forget_alerts

        await forget_alerts(self._sessions, self._settings.alert_days)

    async def forward_audit_log(self, receiver: str) -> None:
        """Send new entries of the audit log to the receiver."""
        from normstat.auth.audit_forwarding import forward_audit_log

        await forward_audit_log(self._sessions, receiver)

    async def forget_audit_entries(self) -> None:
        """Delete old entries of the audit log."""
        from normstat.auth.audit_forwarding import forget_audit_entries

        await forget_audit_entries(self._sessions, self._settings.audit_days)

    async def note_sizes(self) -> None:
        """Note how much of the disk is used."""
        from normstat.query.storage_sizes import note_sizes

        await note_sizes(self._sessions)

    async def keep_columnstores(self) -> None:
        """Keep the compression of the tables of samples set."""
        from normstat.db.hypertables import keep_columnstores
        from normstat.samples.stat_tables import SCHEMA

        await keep_columnstores(self._sessions, SCHEMA)

    @cached_property
    def _sealing(self) -> "Sealing":
        from normstat.compaction.seal_job import Sealing

        return Sealing(self._sessions, self._settings.seal_after_days)

    @cached_property
    def _continuous(self) -> "ContinuousComparison":
        from normstat.watch.fleet.minute_store import MinuteStore
        from normstat.watch.scores.host_scoring import ScoreMemory
        from normstat.watch.scores.score_job import ContinuousComparison

        return ContinuousComparison(ScoreMemory(MinuteStore(SCORES_MAX_BYTES, time.monotonic)))

    @cached_property
    def _watcher(self) -> "Watcher":
        from normstat.watch.watcher import Watcher

        settings = self._settings
        return Watcher(self._sessions, database_url=settings.database_url, database_dir=settings.database_dir)

    @cached_property
    def _router(self) -> "AlertRouter":
        from normstat.alerts.alert_router import AlertRouter

        return AlertRouter(self._sessions, self._settings.public_url)
