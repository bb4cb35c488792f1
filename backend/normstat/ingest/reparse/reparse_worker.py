"""Run reparses, in the server or on the command line: one process at a time, one stream after the other."""

import asyncio
from functools import partial

import psycopg
import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.db.schema.job_models import ReparseRow
from normstat.db.schema.models import Stream
from normstat.db.session import WriteSession, open_read_session, open_write_session
from normstat.db.turns import describe, is_database_away
from normstat.errors import NormstatError
from normstat.ingest.reparse.reparse_stream import Sessions, StreamOutcome, StreamReparse
from normstat.jobs.background import keep_running
from normstat.jobs.claims import REPARSES, Claim, JobStopped, list_due, open_claims
from normstat.jobs.due_work import REPARSES_S
from normstat.records import reparse_rows
from normstat.runtime.input_limits import IngestLimits
from normstat.samples.spec_refresh import refresh_catalogue
from normstat.stats.catalogue import load_catalogue

log = structlog.get_logger()


async def run_reparses(
    database_url: str,
    sessions: async_sessionmaker[AsyncSession],
    limits: IngestLimits | None = None,
    *,
    wake: asyncio.Event | None = None,
    poll_s: float = REPARSES_S,
) -> None:
    """Run queued reparses, until cancelled: every `poll_s`, and whenever `wake` is set."""
    await keep_running("reparses", partial(_run_queued, database_url, sessions, limits), every_s=poll_s, wake=wake)


async def _run_queued(database_url: str, sessions: async_sessionmaker[AsyncSession], limits: IngestLimits | None) -> None:
    async with open_read_session(sessions) as session:
        is_wanted = bool(await list_due(session, REPARSES.kinds))
    if is_wanted:
        await work_off(database_url, limits)


async def work_off(database_url: str, limits: IngestLimits | None = None, *, until: int | None = None) -> bool:
    """Run all queued reparses, up to that job; return False when another process runs them."""
    async with open_claims(database_url, REPARSES) as claims:
        if claims is None:
            return False
        while (claim := await claims.next()) is not None:
            # Not a session that only reads: it would change the isolation of the connection that all of these share.
            async with open_write_session(claims.sessions) as session:
                reparse = await reparse_rows.find_reparse(session, claim.id)
            if reparse is not None:
                await _Run(claims.sessions, claim, reparse, limits or IngestLimits()).work()
            if until is not None and claim.id >= until:
                return True
        return True


class _Run:
    """One reparse."""

    def __init__(self, sessions: Sessions, claim: Claim, reparse: ReparseRow, limits: IngestLimits) -> None:
        self._sessions = sessions
        self._claim = claim
        self._limits = limits
        self._reparse = reparse
        self._n_bytes_before = 0

    async def work(self) -> None:
        """Read all of its streams, and record how it ended unless it was stopped."""
        async with open_write_session(self._sessions) as session:
            await refresh_catalogue(session)
            self._n_bytes_before = max(0, self._claim.n_total - await reparse_rows.bytes_behind(session, self._reparse))
        log.info("reparse_started", reparse=self._reparse.id, n_streams=self._reparse.n_streams)
        try:
            while (stream := await self._next_stream()) is not None:
                await self._read(stream)
                self._n_bytes_before += stream.acked_offset - stream.n_gap_bytes
            async with open_write_session(self._sessions) as session:
                await self._finish(session)
        except JobStopped:
            log.info("reparse_stopped", reparse=self._reparse.id)

    async def _finish(self, session: WriteSession) -> None:
        await self._claim.report(session, n_done=self._claim.n_total)
        message = (await reparse_rows.read_reparse(session, self._reparse.id)).message
        await (self._claim.fail(session, message) if message else self._claim.finish(session))
        log.info("reparse_ended", reparse=self._reparse.id, message=message)

    async def _next_stream(self) -> Stream | None:
        async with open_write_session(self._sessions) as session:
            await refresh_catalogue(session)
            await self._claim.report(session)
            reparse = await reparse_rows.find_reparse(session, self._claim.id)
            if reparse is None:
                raise JobStopped
            self._reparse = reparse
            return await reparse_rows.next_stream(session, reparse)

    async def _read(self, stream: Stream) -> None:
        """Read the stream; one that cannot be read keeps its samples, is named in the message, and stops none of the others."""

        async def note(session: WriteSession, outcome: StreamOutcome) -> None:
            await self._claim.report(session)
            await reparse_rows.note_stream(
                session,
                self._reparse,
                stream.id,
                n_before=outcome.n_before,
                n_after=outcome.n_after,
                n_rejected=outcome.n_rejected,
            )

        try:
            spec = load_catalogue().specs[stream.spec]
            max_new = self._limits.new_instances
            await StreamReparse(self._sessions, stream, spec, watch=self._watch, note=note, max_new_instances=max_new).run()
        except JobStopped:
            raise
        except Exception as error:
            if is_database_away(error):
                raise
            text = describe(error)
            known = isinstance(error, NormstatError | DBAPIError | psycopg.Error)
            log.warning(
                "reparse_failed",
                reparse=self._reparse.id,
                stream=stream.id,
                spec=stream.spec,
                error=text,
                exc_info=None if known else error,
            )
            async with open_write_session(self._sessions) as session:
                await reparse_rows.note_failure(session, self._reparse, stream, text)

    async def _watch(self, n_bytes: int) -> None:
        # At most as many as were counted at the beginning: agents go on sending.
        n_done = min(self._claim.n_total, self._n_bytes_before + n_bytes)
        async with open_write_session(self._sessions) as session:
            await self._claim.report(session, n_done=n_done)
