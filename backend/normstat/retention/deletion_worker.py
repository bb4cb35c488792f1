"""Remove data in the background: deletions of hosts, and retention. One process at a time does it."""

import asyncio
from datetime import UTC, datetime
from functools import partial
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.db.schema.job_models import JobKind
from normstat.db.session import open_read_session, open_write_session
from normstat.db.turns import describe, is_database_away
from normstat.errors import NormstatError
from normstat.jobs.background import keep_running
from normstat.jobs.claims import REMOVALS, Claim, JobStopped, list_due, open_claims
from normstat.jobs.due_work import REMOVALS_S
from normstat.jobs.job_list import forget_old_runs
from normstat.retention import host_deletion, retention_rules, retention_run
from normstat.samples.spec_refresh import refresh_catalogue

log = structlog.get_logger()

NIGHTLY: Final = "every night"
Sessions = async_sessionmaker[AsyncSession]


async def run_removals(
    database_url: str, sessions: Sessions, *, wake: asyncio.Event | None = None, poll_s: float = REMOVALS_S
) -> None:
    """Run queued deletions and retention, until cancelled: every `poll_s`, and whenever `wake` is set."""
    await keep_running("removals", partial(_run_queued, database_url, sessions), every_s=poll_s, wake=wake)


async def _run_queued(database_url: str, sessions: Sessions) -> None:
    async with open_read_session(sessions) as session:
        is_wanted = bool(await list_due(session, REMOVALS.kinds))
    if is_wanted:
        await work_off_removals(database_url)


async def work_off_removals(database_url: str) -> bool:
    """Run all deletions and retention runs that are due; return False when another process runs them.

    A job that fails stops none of the others; its row says why, and when it is tried again.
    """
    async with open_claims(database_url, REMOVALS) as claims:
        if claims is None:
            return False
        while (claim := await claims.next()) is not None:
            async with open_write_session(claims.sessions) as session:
                await refresh_catalogue(session)
            await _work(claims.sessions, claim)
        return True


async def _work(sessions: Sessions, claim: Claim) -> None:
    try:
        if claim.kind is JobKind.DELETION:
            await host_deletion.delete_host(sessions, claim)
        else:
            await retention_run.apply_rules(sessions, claim, now=datetime.now(UTC))
    except JobStopped:
        log.info("removal_stopped", job=claim.id, kind=claim.kind)
    except Exception as error:
        if is_database_away(error):
            raise
        text = describe(error)
        log.warning(
            "removal_failed",
            job=claim.id,
            kind=claim.kind,
            error=text,
            exc_info=None if isinstance(error, NormstatError) else error,
        )
        async with open_write_session(sessions) as session:
            await claim.fail(session, text)


async def queue_nightly_retention(sessions: Sessions) -> None:
    """Queue a run of retention when there are rules, and forget the oldest runs."""
    async with open_write_session(sessions) as session:
        if await retention_rules.read_rules(session):
            await retention_rules.add_run(session, created_by=NIGHTLY)
        await forget_old_runs(session)
