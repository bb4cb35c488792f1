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

# How often a process tries to become the leader.
CHECK_S: Final = 30.0
# Work left after this time waits for the next run.
ROLLUPS_S: Final = 30.0
SEALING_S: Final = 150.0
SEALING_EVERY_MIN: Final = 5
PROFILES_S: Final = 25.0
PACKING_S: Final = 50.0
# Half an hour of the means of 500 hosts with 800 series each takes half of it.
SCORES_MAX_BYTES: Final = 128 << 20
# Rules see what arrived within so many seconds, and an alarm is that late at most.
WATCH_S: Final = 10
ALERTS_S: Final = 5
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


def wait_for_database(task: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T | None]]:
    """Return the task as one that ends quietly while the database is away: its next run does the work. Missing: None then."""

    @functools.wraps(task)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T | None:
        try:
            return await task(*args, **kwargs)
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

    def after(seconds: float) -> datetime:
        return began + timedelta(seconds=seconds)

    scheduler = AsyncIOScheduler(timezone=UTC, job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": 60})
    scheduler.add_job(wait_for_database(delete_expired_logins), "interval", args=[sessions], minutes=15, id="delete_expired_logins")
    scheduler.add_job(wait_for_database(queue_nightly_retention), "cron", args=[sessions], hour=1, minute=23, id="retention")
    options: dict[str, object] = {"budget_s": ROLLUPS_S, "turns": rollup_turns}
    scheduler.add_job(
        wait_for_database(run_rollups),
        "interval",
        args=[sessions],
        kwargs=options,
        minutes=1,
        start_date=after(FIRST_ROLLUPS_S),
        id="rollups",
    )
    if settings.seal_after_days != 0:
        sealing = Sealing(sessions, settings.seal_after_days)
        scheduler.add_job(
            wait_for_database(sealing.run),
            "interval",
            kwargs={"budget_s": SEALING_S},
            minutes=SEALING_EVERY_MIN,
            start_date=after(FIRST_SEALING_S),
            id="sealing",
        )
    if settings.pack_after_days:
        options = {"after_days": settings.pack_after_days, "budget_s": PACKING_S, "turns": packing_turns}
        scheduler.add_job(
            wait_for_database(run_packing),
            "interval",
            args=[sessions],
            kwargs=options,
            minutes=1,
            start_date=after(FIRST_PACKING_S),
            id="packing",
        )
    options = {"turns": baseline_turns}
    scheduler.add_job(
        wait_for_database(update_baselines),
        "interval",
        args=[sessions],
        kwargs=options,
        minutes=1,
        start_date=after(FIRST_BASELINES_S),
        id="update_baselines",
    )
    options = {"turns": rolling_turns}
    scheduler.add_job(
        wait_for_database(update_rolling_baselines),
        "interval",
        args=[sessions],
        kwargs=options,
        minutes=1,
        start_date=after(FIRST_ROLLING_S),
        id="rolling_baselines",
    )
    scheduler.add_job(
        wait_for_database(run_profiles),
        "interval",
        args=[sessions],
        kwargs={"budget_s": PROFILES_S},
        seconds=30,
        start_date=after(FIRST_PROFILES_S),
        id="profiles",
    )
    continuous = ContinuousComparison(ScoreMemory(MinuteStore(SCORES_MAX_BYTES, time.monotonic)))
    # When the minute has settled.
    scheduler.add_job(wait_for_database(continuous.run), "cron", args=[sessions], second=20, id="scores")
    watcher = Watcher(sessions, database_url=settings.database_url, database_dir=settings.database_dir)
    scheduler.add_job(wait_for_database(watcher.run), "interval", seconds=WATCH_S, start_date=after(FIRST_WATCH_S), id="watch")
    router = AlertRouter(sessions, settings.public_url)
    scheduler.add_job(wait_for_database(router.run), "interval", seconds=ALERTS_S, start_date=after(FIRST_ALERTS_S), id="alerts")
    if settings.alert_days:
        scheduler.add_job(
            wait_for_database(forget_alerts), "cron", args=[sessions, settings.alert_days], hour=1, minute=43, id="forget_alerts"
        )
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
                await leadership.check()
        finally:
            scheduler.shutdown(wait=False)
            log.info("schedule_stopped")
