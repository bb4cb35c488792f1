"""The scheduled tasks, run by the one server process that holds the lock. Each task is a function of the package it belongs to."""

import asyncio
import functools
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final, ParamSpec, TypeVar

import psycopg
import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker

from normstat.alerts.alert_router import AlertRouter, forget_alerts
from normstat.auth.audit_forwarding import forget_audit_entries, forward_audit_log
from normstat.auth.login import delete_expired_logins
from normstat.baselines.lifecycle import update_baselines
from normstat.baselines.rolling_baseline import update_rolling_baselines
from normstat.continuous.host_scoring import ScoreMemory
from normstat.continuous.score_job import ContinuousComparison
from normstat.fleet.minute_store import MinuteStore
from normstat.jobs.background import keep_running
from normstat.packing.packing_run import run_packing
from normstat.profiles.profile_job import run_profiles
from normstat.retention.deletion_worker import queue_nightly_retention
from normstat.rollups.rollup_job import run_rollups
from normstat.sealing.seal_job import Sealing
from normstat.settings import Settings
from normstat.storage.hypertables import keep_columnstores
from normstat.storage.leader import try_lead
from normstat.storage.stat_tables import SCHEMA
from normstat.storage.storage_sizes import note_sizes
from normstat.storage.turns import Turns, describe, is_database_away
from normstat.watch.watcher import Watcher

log = structlog.get_logger()

P = ParamSpec("P")
T = TypeVar("T")

# How often a process tries to become the leader: so long nobody watches rules after the leader was killed.
CHECK_S: Final = 10.0
# A leader that hears nothing from the database for so long stops: the database may have given the lock to another one.
ANSWER_S: Final = 20.0
# Work left after this time waits for the next run.
ROLLUPS_S: Final = 30.0
SEALING_S: Final = 150.0
SEALING_EVERY_S: Final = 300
PROFILES_S: Final = 25.0
PACKING_S: Final = 50.0
# Half an hour of the means of 500 hosts with 800 series each takes half of it.
SCORES_MAX_BYTES: Final = 128 << 20
# Rules see what arrived within so many seconds, and an alarm is that late at most.
WATCH_S: Final = 10
ALERTS_S: Final = 5
AUDIT_S: Final = 10
# Seconds from the start to the first run of what recurs: all at once they would take a connection each, and the CPU from agents.
FIRST_WATCH_S: Final = 3
# Soon after each second round of the rules.
FIRST_ALERTS_S: Final = 5
FIRST_ROLLUPS_S: Final = 7
FIRST_PACKING_S: Final = 17
FIRST_BASELINES_S: Final = 27
FIRST_ROLLING_S: Final = 37
FIRST_PROFILES_S: Final = 12
FIRST_SEALING_S: Final = 47
FIRST_AUDIT_S: Final = 9


def wait_for_database(task: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T | None]]:
    """Return the task as one that ends quietly while the database is away: its next run does the work. Missing: None then."""

    @functools.wraps(task)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T | None:
        try:
            return await task(*args, **kwargs)
        except asyncio.CancelledError:
            # Another process leads, or this one ends. The scheduler would log it as an error.
            log.info("scheduled_task_stopped", task=getattr(task, "__qualname__", ""))
            return None
        except (SQLAlchemyError, psycopg.Error) as error:
            if not is_database_away(error):
                raise
            log.warning("scheduled_task_waits", task=getattr(task, "__qualname__", ""), cause=describe(error))
            return None

    return run


def build_scheduler(sessions: async_sessionmaker[AsyncSession], settings: Settings) -> AsyncIOScheduler:
    """Return the scheduler with all tasks and their times; not started."""
    rollup_turns: Turns[int] = Turns("rollup_failed")
    packing_turns: Turns[int] = Turns("packing_failed")
    rolling_turns: Turns[int] = Turns("rolling_baseline_failed")
    baseline_turns: Turns[int] = Turns("baseline_update_failed")
    began = datetime.now(UTC)

    scheduler = AsyncIOScheduler(timezone=UTC, job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": 60})

    def repeat(
        task_id: str, task: Callable[..., Awaitable[object]], *args: object, first_s: float, every_s: int, **options: object
    ) -> None:
        start = began + timedelta(seconds=first_s)
        scheduler.add_job(
            wait_for_database(task), "interval", args=args, kwargs=options, seconds=every_s, start_date=start, id=task_id
        )

    scheduler.add_job(wait_for_database(delete_expired_logins), "interval", args=[sessions], minutes=15, id="delete_expired_logins")
    scheduler.add_job(wait_for_database(queue_nightly_retention), "cron", args=[sessions], hour=1, minute=23, id="retention")
    repeat("rollups", run_rollups, sessions, first_s=FIRST_ROLLUPS_S, every_s=60, budget_s=ROLLUPS_S, turns=rollup_turns)
    if settings.seal_after_days != 0:
        sealing = Sealing(sessions, settings.seal_after_days)
        repeat("sealing", sealing.run, first_s=FIRST_SEALING_S, every_s=SEALING_EVERY_S, budget_s=SEALING_S)
    if settings.pack_after_days:
        options: dict[str, object] = {"after_days": settings.pack_after_days, "budget_s": PACKING_S, "turns": packing_turns}
        repeat("packing", run_packing, sessions, first_s=FIRST_PACKING_S, every_s=60, **options)
    repeat("update_baselines", update_baselines, sessions, first_s=FIRST_BASELINES_S, every_s=60, turns=baseline_turns)
    repeat("rolling_baselines", update_rolling_baselines, sessions, first_s=FIRST_ROLLING_S, every_s=60, turns=rolling_turns)
    repeat("profiles", run_profiles, sessions, first_s=FIRST_PROFILES_S, every_s=30, budget_s=PROFILES_S)
    continuous = ContinuousComparison(ScoreMemory(MinuteStore(SCORES_MAX_BYTES, time.monotonic)))
    # When the minute has settled.
    scheduler.add_job(wait_for_database(continuous.run), "cron", args=[sessions], second=20, id="scores")
    watcher = Watcher(sessions, database_url=settings.database_url, database_dir=settings.database_dir)
    repeat("watch", watcher.run, first_s=FIRST_WATCH_S, every_s=WATCH_S)
    router = AlertRouter(sessions, settings.public_url)
    repeat("alerts", router.run, first_s=FIRST_ALERTS_S, every_s=ALERTS_S)
    if settings.alert_days:
        scheduler.add_job(
            wait_for_database(forget_alerts), "cron", args=[sessions, settings.alert_days], hour=1, minute=43, id="forget_alerts"
        )
    if settings.audit_syslog:
        repeat("audit_forwarding", forward_audit_log, sessions, settings.audit_syslog, first_s=FIRST_AUDIT_S, every_s=AUDIT_S)
    if settings.audit_days:
        forget = wait_for_database(forget_audit_entries)
        scheduler.add_job(forget, "cron", args=[sessions, settings.audit_days], hour=1, minute=53, id="forget_audit_entries")
    scheduler.add_job(wait_for_database(note_sizes), "cron", args=[sessions], minute=7, id="note_sizes")
    scheduler.add_job(wait_for_database(keep_columnstores), "cron", args=[sessions, SCHEMA], minute=37, id="keep_columnstores")
    return scheduler


async def run_schedule(
    engine: AsyncEngine, sessions: async_sessionmaker[AsyncSession], settings: Settings, *, check_s: float = CHECK_S
) -> None:
    """Run the scheduler whenever this process holds the lock, until cancelled."""
    await keep_running("schedule", partial(_lead, engine, sessions, settings, check_s), every_s=check_s, max_pause_s=check_s)


async def _lead(engine: AsyncEngine, sessions: async_sessionmaker[AsyncSession], settings: Settings, check_s: float) -> None:
    """Run the scheduler until the lock is lost; return at once when another process holds it."""
    async with try_lead(engine) as leadership:
        if leadership is None:
            return
        scheduler = build_scheduler(sessions, settings)
        scheduler.start()
        log.info("schedule_started")
        try:
            while True:
                await asyncio.sleep(check_s)
                async with asyncio.timeout(ANSWER_S):
                    await leadership.check()
        finally:
            scheduler.shutdown(wait=False)
            log.info("schedule_stopped")
