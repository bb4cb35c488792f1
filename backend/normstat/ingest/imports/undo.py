"""Undo an import: remove the streams that it made, with their samples."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.db.hypertables import allow_large_changes
from normstat.db.schema.job_models import ImportRow, Job
from normstat.db.schema.models import Stream
from normstat.db.session import WriteSession, driver_of, open_write_session
from normstat.ingest import import_rows
from normstat.ingest.reparse.staging import Replaced, Staging
from normstat.jobs.claims import Claim
from normstat.records import artefact_rows
from normstat.runtime.readable import count_of
from normstat.samples import stream_rows
from normstat.samples.sealed.sealed_rows import wait_seal_lock
from normstat.samples.stat_tables import read_stored_stats

log = structlog.get_logger()

LOCK_TIMEOUT_S: Final = 60
# Removing ten million rows takes some minutes.
STATEMENT_TIMEOUT_S: Final = 6 * 3600
NOT_MADE_HERE: Final = "an earlier import loaded it"
SHARED: Final = "another import continued it"


async def undo_import(sessions: async_sessionmaker[AsyncSession], row: ImportRow, claim: Claim) -> str:
    """Remove what the import loaded, stream by stream, each in a transaction; return what was done, in words.

    Raises: JobStopped
    """
    n_samples = n_left = 0
    async with open_write_session(sessions) as session:
        files = [(file.position, dict(file.result)) for file in await import_rows.list_file_rows(session, row.id)]
    for position, result in files:
        stream_id, made = result.get("stream_id"), result.get("artefact")
        if stream_id is None and isinstance(made, int):
            # An artefact alone.
            async with open_write_session(sessions) as session:
                await artefact_rows.delete_imported(session, made, claim.queued_at)
                await _note(session, row.id, position, None)
            continue
        if not isinstance(stream_id, int) or result.get("is_undone") is True:
            continue
        async with open_write_session(sessions) as session:
            refusal = await refusal_of(session, stream_id, claim.queued_at)
            if refusal is None:
                removed = await remove_stream(session, stream_id)
                n_samples += removed
                await claim.report(session, n_done=Job.n_done + removed)
            if refusal is None and isinstance(made, int):
                await artefact_rows.delete_imported(session, made, claim.queued_at)
            n_left += refusal is not None
            await _note(session, row.id, position, refusal)
    log.info("import_undone", id=row.id, host=row.host, n_samples=n_samples, n_left=n_left)
    message = f"undone: {count_of(n_samples, 'sample')} removed"
    return f"{message}; {_files_left(n_left)}" if n_left else message


def _files_left(n: int) -> str:
    if n == 1:
        return "1 of the files was loaded by another import too, and stays"
    return f"{n} of the files were loaded by other imports too, and stay"


async def refusal_of(session: AsyncSession, stream_id: int, since: datetime) -> str | None:
    """Return why an import of that instant leaves the stream alone. Missing: None when it is the import's alone, or gone."""
    stream = await session.get(Stream, stream_id, populate_existing=True)
    if stream is None:
        return None
    if stream.created_at < since:
        return NOT_MADE_HERE
    return SHARED if await import_rows.count_contents(session, stream_id) > 1 else None


async def remove_stream(session: WriteSession, stream_id: int) -> int:
    """Remove a stream; return how many samples it had."""
    await stream_rows.set_time_limits(session, lock_s=LOCK_TIMEOUT_S, statement_s=STATEMENT_TIMEOUT_S)
    await allow_large_changes(session)
    stream = await session.get(Stream, stream_id)
    if stream is None:
        return 0
    await wait_seal_lock(await driver_of(session), stream.host_id)
    if await stream_rows.lock_host_by_id(session, stream.host_id) is None:
        return 0
    await session.refresh(stream)
    # Without staging: the old samples are removed, and instances, rollups and profiles are updated.
    staging = Staging(host_id=stream.host_id, stream_id=stream_id)
    span = None
    if stream.first_sample_at is not None and stream.last_sample_at is not None:
        span = (stream.first_sample_at, stream.last_sample_at)
    replaced: Replaced = await staging.replace(session, list(await read_stored_stats(session, stream.stat_names)), span)
    await staging.settle(session)
    await import_rows.delete_stream(session, stream_id)
    return replaced.n_before


async def _note(session: WriteSession, import_id: int, position: int, refusal: str | None) -> None:
    """Record the result of a file."""
    file = await import_rows.read_file(session, import_id, position)
    result: Mapping[str, object] = file.result
    if refusal is not None:
        file.result = {**result, "note": f"not undone: {refusal}"}
        return
    nothing = {"n_reports": 0, "n_samples": 0, "n_samples_new": 0, "n_rejected": 0, "n_since_boot": 0, "reasons": [], "missing": []}
    spans = {"first_sample_at": None, "last_sample_at": None, "stream_id": None, "artefact": None}
    file.result = {**result, **nothing, **spans, "note": "undone", "is_undone": True}
