"""When the scheduled tasks run: in the one server process that holds the lock."""

import asyncio
import functools
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final, ParamSpec, TypeVar

import psycopg
import structlog
from apscheduler.events import EVENT_SCHEDULER_SHUTDOWN
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker

from normstat.db.leader import try_lead
from normstat.db.turns import describe, is_database_away
from normstat.jobs.background import keep_running
from normstat.scheduled_tasks import ScheduledTasks
from normstat.settings import Settings

log = structlog.get_logger()

P = ParamSpec("P")
T = TypeVar("T")

# How often a process tries to become the leader: upper bound of the gap in rule evaluation after the leader dies.
CHECK_S: Final = 10.0
SEALING_EVERY_S: Final = 300
# It is of days that have passed.
PACKING_EVERY_S: Final = 300
# Rules see new samples within this many seconds, and an alarm is at most that late.
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
FIRST_NORMAL_S: Final = 57
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


def build_scheduler(
    sessions: async_sessionmaker[AsyncSession], settings: Settings, *, may_route: Callable[[], bool]
) -> AsyncIOScheduler:  # fmt: skip
    """Return the scheduler with all tasks and their times; not started."""
    began = datetime.now(UTC)
    tasks = ScheduledTasks(sessions, settings, may_route=may_route)
    scheduler = AsyncIOScheduler(timezone=UTC, job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": 60})
    scheduler.add_listener(lambda _: tasks.end(), EVENT_SCHEDULER_SHUTDOWN)

    def add(task_id: str, task: Callable[[], Awaitable[object]], trigger: str, **times: object) -> None:
        scheduler.add_job(wait_for_database(task), trigger, id=task_id, **times)

    def repeat(task_id: str, task: Callable[[], Awaitable[object]], *, first_s: float, every_s: int) -> None:
        add(task_id, task, "interval", seconds=every_s, start_date=began + timedelta(seconds=first_s))

    add("delete_expired_logins", tasks.delete_expired_logins, "interval", minutes=15)
    add("retention", tasks.queue_nightly_retention, "cron", hour=1, minute=23)
    repeat("rollups", tasks.run_rollups, first_s=FIRST_ROLLUPS_S, every_s=60)
    if settings.seal_after_days != 0:
        repeat("sealing", tasks.run_sealing, first_s=FIRST_SEALING_S, every_s=SEALING_EVERY_S)
    if settings.pack_after_days:
        repeat("packing", tasks.run_packing, first_s=FIRST_PACKING_S, every_s=PACKING_EVERY_S)
    repeat("update_baselines", tasks.update_baselines, first_s=FIRST_BASELINES_S, every_s=60)
    repeat("rolling_baselines", tasks.update_rolling_baselines, first_s=FIRST_ROLLING_S, every_s=60)
    repeat("profiles", tasks.run_profiles, first_s=FIRST_PROFILES_S, every_s=30)
    # Each host is due at midnight; some hosts a minute.
    repeat("normal_changes", tasks.search_normal_changes, first_s=FIRST_NORMAL_S, every_s=60)
    # When the minute has settled.
    add("scores", tasks.run_scores, "cron", second=20)
    repeat("watch", tasks.run_watch, first_s=FIRST_WATCH_S, every_s=WATCH_S)
    repeat("alerts", tasks.route_alerts, first_s=FIRST_ALERTS_S, every_s=ALERTS_S)
    if settings.alert_days:
        add("forget_alerts", tasks.forget_alerts, "cron", hour=1, minute=43)
    if settings.audit_syslog:
        repeat("audit_forwarding", partial(tasks.forward_audit_log, settings.audit_syslog), first_s=FIRST_AUDIT_S, every_s=AUDIT_S)
    if settings.audit_days:
        add("forget_audit_entries", tasks.forget_audit_entries, "cron", hour=1, minute=53)
    add("note_sizes", tasks.note_sizes, "cron", minute=7)
    add("keep_columnstores", tasks.keep_columnstores, "cron", minute=37)
    return scheduler


async def run_schedule(
    engine: AsyncEngine, settings: Settings, *, may_route: Callable[[], bool] = lambda: True, check_s: float = CHECK_S
) -> None:  # fmt: skip
    """Run the scheduler whenever this process holds the lock, until cancelled. `may_route`: whether alerts are worth a look."""
    build = partial(build_scheduler, settings=settings, may_route=may_route)
    await keep_running("schedule", partial(_lead, engine, build, check_s), every_s=check_s, max_pause_s=check_s)


async def _lead(engine: AsyncEngine, build: Callable[[async_sessionmaker[AsyncSession]], AsyncIOScheduler], check_s: float) -> None:
    """Run the scheduler until the lock is lost; return at once when another process holds it."""
    async with try_lead(engine) as leadership:
        if leadership is None:
            return
        scheduler = build(leadership.make_sessions(engine))
        scheduler.start()
        log.info("schedule_started")
        try:
            while True:
                await asyncio.sleep(check_s)
                await leadership.check()
        finally:
            scheduler.shutdown(wait=False)
            log.info("schedule_stopped")
