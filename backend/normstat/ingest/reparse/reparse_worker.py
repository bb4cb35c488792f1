"""Works reparses off: one process at a time, one stream after the other, in the server or on the command line."""

import asyncio
from typing import Final

import psycopg
import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.errors import NormstatError
from normstat.ingest.reparse.reparse_stream import Sessions, Stopped, StreamOutcome, StreamReparse
from normstat.ingest_limits import IngestLimits
from normstat.stats.catalogue import load_catalogue
from normstat.storage import reparse_rows
from normstat.storage.reparse_rows import REPARSE_LOCK, JobState
from normstat.storage.schema.models import Reparse, Stream
from normstat.storage.session import WriteSession, open_locked_sessions, open_read_session, open_write_session
from normstat.storage.turns import describe, is_database_away
from normstat.storage.user_specs import refresh_catalogue

log = structlog.get_logger()

POLL_S: Final = 2.0
DEFECT_WAIT_S: Final = 60.0


async def run_reparses(
    database_url: str, sessions: async_sessionmaker[AsyncSession], limits: IngestLimits | None = None, *, poll_s: float = POLL_S
) -> None:
    """Work off whatever is wished for, whenever no other process does; until cancelled, whatever happens."""
    while True:
        try:
            async with open_read_session(sessions) as session:
                is_wanted = await reparse_rows.has_open_reparses(session)
            if is_wanted:
                await work_off(database_url, limits)
        except (DBAPIError, PoolTimeout, psycopg.Error) as error:
            # What was running goes on behind the last stream that was done.
            log.warning("reparse_lost_database", error=type(error).__name__, cause=str(error).splitlines()[:1])
        except Exception:
            # A defect, which must not end all reparses until somebody restarts the server.
            log.exception("reparses_broken", next_try_in_s=DEFECT_WAIT_S)
            await asyncio.sleep(DEFECT_WAIT_S)
        await asyncio.sleep(poll_s)


async def work_off(database_url: str, limits: IngestLimits | None = None, *, until: int | None = None) -> bool:
    """Work off all open reparses (up to that one); False, and nothing done, when another process does."""
    async with open_locked_sessions(database_url, REPARSE_LOCK) as sessions:
        if sessions is None:
            return False
        while True:
            async with open_write_session(sessions) as session:
                reparse = await reparse_rows.next_reparse(session)
            if reparse is None or (until is not None and reparse.id > until):
                return True
            await _Run(sessions, reparse, limits or IngestLimits()).work()


class _Run:
    """One reparse."""

    def __init__(self, sessions: Sessions, reparse: Reparse, limits: IngestLimits) -> None:
        self._sessions = sessions
        self._limits = limits
        self._reparse = reparse
        self._n_bytes_before = 0

    async def work(self) -> None:
        """Read all of its streams, and note how it ended; nothing when somebody ended it."""
        async with open_write_session(self._sessions) as session:
            await refresh_catalogue(session)
            self._n_bytes_before = max(0, self._reparse.n_bytes - await reparse_rows.bytes_behind(session, self._reparse))
        log.info("reparse_started", reparse=self._reparse.id, n_streams=self._reparse.n_streams)
        try:
            while (stream := await self._next_stream()) is not None:
                await self._read(stream)
                self._n_bytes_before += stream.acked_offset - stream.n_gap_bytes
        except Stopped:
            log.info("reparse_stopped", reparse=self._reparse.id)
            return
        async with open_write_session(self._sessions) as session:
            state = await reparse_rows.finish_reparse(session, self._reparse.id)
        log.info("reparse_ended", reparse=self._reparse.id, state=state)

    async def _next_stream(self) -> Stream | None:
        async with open_write_session(self._sessions) as session:
            await refresh_catalogue(session)
            reparse = await session.get(Reparse, self._reparse.id, populate_existing=True)
            if reparse is None or reparse.state != JobState.RUNNING:
                raise Stopped
            self._reparse = reparse
            return await reparse_rows.next_stream(session, reparse)

    async def _read(self, stream: Stream) -> None:
        """Read the stream; one that cannot be read keeps its samples, is named in the message, and stop none of the others."""

        async def note(session: WriteSession, outcome: StreamOutcome) -> None:
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
        except Stopped:
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
                await reparse_rows.note_failure(session, self._reparse.id, stream, text)

    async def _watch(self, n_bytes: int) -> None:
        async with open_write_session(self._sessions) as session:
            if not await reparse_rows.note_progress(session, self._reparse.id, self._n_bytes_before + n_bytes):
                raise Stopped
