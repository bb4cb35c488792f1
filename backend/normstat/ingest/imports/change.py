"""Change an import afterwards: its title, its host and its times.

Samples move by reading the kept bytes of each stream again into their new place (ingest/reparse), one transaction a stream: a
reader sees all of a stream at its old place or all of it at its new one. The same change again completes one that was stopped.
"""

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.db.connecting import is_citus
from normstat.db.schema.job_models import ImportRow, Job, JobState
from normstat.db.schema.models import BUNDLE_KEY, IMPORT_KEY, Stream
from normstat.db.session import WriteSession, driver_of, open_write_session
from normstat.errors import BadRequest, Conflict, NormstatError
from normstat.ingest import import_rows
from normstat.ingest.import_rows import Import, ImportPlace
from normstat.ingest.imports.undo import refusal_of
from normstat.ingest.reparse.reparse_stream import StreamOutcome, StreamPlace, StreamReparse
from normstat.jobs.claims import Claim
from normstat.records import artefact_rows
from normstat.runtime.readable import count_of
from normstat.samples.ingest_rows import add_hosts
from normstat.samples.lookup import require_host
from normstat.samples.spec_refresh import refresh_catalogue
from normstat.stats.catalogue import load_catalogue
from normstat.window import EPOCH, LATEST

log = structlog.get_logger()

MAX_EARLIER: Final = 50
MICRO: Final = 1_000_000


async def change_import(
    session: AsyncSession,
    import_id: int,
    *,
    label: str | None = None,
    host: str | None = None,
    shift_s: float | None = None,
    start: datetime | None = None,
) -> Import:
    """Change what is given of an ended import, and queue the work if samples have to move.

    `start` is the new instant of its first sample, in place of `shift_s`, the seconds added to the times in its files.
    Raises: NotFound; BadRequest for times outside the years 1970 to 2199, and for a start without samples; Conflict where it
        cannot move
    """
    row = await import_rows.find_ended(session, import_id)
    streams = await _list_streams(session, row)
    if start is not None:
        firsts = [stream.first_sample_at for stream in streams if stream.first_sample_at is not None]
        if not firsts:
            raise BadRequest("The import has no samples to date")
        shift_s = row.shift_s + (start - min(firsts)).total_seconds()
    old = ImportPlace(row.label, row.host, row.shift_s)
    new = ImportPlace(
        old.label if label is None else " ".join(label.split()), host or old.host, old.shift_s if shift_s is None else shift_s
    )
    if new == old:
        is_unfinished = row.is_change and not row.is_undo and row.job.state != JobState.DONE
        return await (import_rows.queue_change(session, row) if is_unfinished else import_rows.read_import(session, import_id))
    row.earlier = [*row.earlier, asdict(old)][-MAX_EARLIER:]
    return await _put(session, row, streams, new)


async def undo_change(session: AsyncSession, import_id: int) -> Import:
    """Take back the last change of an ended import.

    Raises: NotFound; Conflict for an import that was not changed, and where it cannot move back
    """
    row = await import_rows.find_ended(session, import_id)
    if not row.earlier:
        raise Conflict("The import was not changed; there is nothing to undo")
    *earlier, last = row.earlier
    row.earlier = earlier
    return await _put(session, row, await _list_streams(session, row), import_rows.PLACE_ADAPTER.validate_python(last))


async def _put(session: AsyncSession, row: ImportRow, streams: list[Stream], new: ImportPlace) -> Import:
    moves = (row.host, row.shift_s) != (new.host, new.shift_s)
    if moves:
        await _require_movable(session, row, streams, new)
    row.label, row.host, row.shift_s = new.label, new.host, new.shift_s
    if moves:
        await add_hosts(await driver_of(session), [new.host])
        return await import_rows.queue_change(session, row)
    await session.flush()
    return await import_rows.read_import(session, row.id)


async def _list_streams(session: AsyncSession, row: ImportRow) -> list[Stream]:
    """Return the streams that the import alone loaded."""
    found = []
    for file in await import_rows.list_file_rows(session, row.id):
        stream = await session.get(Stream, id_) if isinstance(id_ := file.result.get("stream_id"), int) else None
        if stream is not None and await refusal_of(session, stream.id, row.job.queued_at) is None:
            found.append(stream)
    return found


async def _require_movable(session: AsyncSession, row: ImportRow, streams: list[Stream], new: ImportPlace) -> None:
    """Raise when the import cannot move to that host and shift as a whole."""
    if row.is_undo:
        raise Conflict("The import was undone; import its files again")
    if any(stream.key.startswith((BUNDLE_KEY, IMPORT_KEY + BUNDLE_KEY)) for stream in streams):
        raise Conflict(
            "The import is a bundle, whose events and baselines would stay behind; undo it and import it under another name"
        )
    if (stream_id := await import_rows.find_cut_stream(session, [stream.id for stream in streams])) is not None:
        raise Conflict(
            f"Retention removed raw bytes of stream {stream_id}; its samples cannot be derived again and stay as they are"
        )
    if new.host != row.host:
        await _require_other_host(session, row, streams, new.host)
    for stream in streams:
        shift = timedelta(seconds=new.shift_s - stream.shift_s)
        if stream.first_sample_at is None or stream.last_sample_at is None:
            continue
        if not EPOCH - stream.first_sample_at <= shift < LATEST - stream.last_sample_at:
            raise BadRequest(f"Shifted by {shift}, samples would leave the years 1970 to 2199", {"stream_id": stream.id})


async def _require_other_host(session: AsyncSession, row: ImportRow, streams: list[Stream], host: str) -> None:
    if is_citus():
        raise Conflict("On a cluster each host has its own machine; undo the import and load its files for the other host")
    if row.is_each_host:
        raise Conflict("The import was loaded into each host that its files name; undo it and load its files for one host")
    if (spec := await import_rows.find_same_spec(session, host, streams)) is not None:
        raise Conflict(f"The host {host} has the same {spec} output already; undo one of the imports")


async def apply_change(sessions: async_sessionmaker[AsyncSession], row: ImportRow, claim: Claim) -> str:
    """Move what the import loaded to its host and shift; return what was done, in words.

    The sessions share one connection, which has the temporary tables.
    Raises: JobStopped; NotFound when the host was deleted; DatabaseAway when others would not let the hosts or their tables go
    """
    async with open_write_session(sessions) as session:
        await refresh_catalogue(session)
        files = [(file.position, dict(file.result)) for file in await import_rows.list_file_rows(session, row.id)]
        host_id = await require_host(session, row.host)
    work = _Change(sessions, row, claim, host_id)
    for position, result in files:
        await work.move_file(position, result)
    log.info("import_changed", id=row.id, host=row.host, shift_s=row.shift_s, n_samples=work.n_samples, n_left=work.n_left)
    message = f"changed: {count_of(work.n_samples, 'sample')} moved"
    return f"{message}; {count_of(work.n_left, 'file')} not moved" if work.n_left else message


class _Change:
    """The move of one import. It counts the samples that were moved, and the files that stayed."""

    def __init__(self, sessions: async_sessionmaker[AsyncSession], row: ImportRow, claim: Claim, host_id: int) -> None:
        self._sessions = sessions
        self._row = row
        self._claim = claim
        self._host_id = host_id
        self._shift_us = round(row.shift_s * MICRO)
        self.n_samples = self.n_left = 0

    async def move_file(self, position: int, result: dict[str, object]) -> None:
        """Move the samples and the artefact of one file, unless they are at their new place already."""
        stream_id = result.get("stream_id")
        async with open_write_session(self._sessions) as session:
            stream = await session.get(Stream, stream_id, populate_existing=True) if isinstance(stream_id, int) else None
            refusal = None if stream is None else await refusal_of(session, stream.id, self._claim.queued_at)
            if stream is None and isinstance(stream_id, int):
                return
            if refusal is None and stream is None:
                await self._finish(session, position, None)
        if stream is None:
            return
        place = StreamPlace(stream.host_id if self._row.is_each_host else self._host_id, self._shift_us)
        spec = load_catalogue().specs.get(stream.spec)
        if refusal is None and spec is None:
            refusal = f"there is no spec {stream.spec} any more"
        if refusal is not None or spec is None:
            await self._leave(position, refusal or "")
            return
        if place == StreamPlace(stream.host_id, stream.timing.shift_us):
            return

        async def note(session: WriteSession, outcome: StreamOutcome) -> None:
            self.n_samples += outcome.n_after
            await self._claim.report(session, n_done=Job.n_done + outcome.n_after)
            await self._finish(session, position, await session.get_one(Stream, stream.id))

        try:
            await StreamReparse(self._sessions, stream, spec, watch=self._watch, note=note, place=place).run()
        except NormstatError as error:
            if error.status == 503:
                raise
            await self._leave(position, error.message)

    async def _watch(self, n_bytes: int) -> None:
        del n_bytes
        async with open_write_session(self._sessions) as session:
            await self._claim.report(session)

    async def _finish(self, session: WriteSession, position: int, stream: Stream | None) -> None:
        """Record the new times of a file whose samples have moved, if it has any, and move its artefact."""
        file = await import_rows.read_file(session, self._row.id, position)
        old_s = float(str(file.result.get("shift_s", 0.0)))
        changed: dict[str, object] = {"shift_s": self._row.shift_s}
        if stream is not None:
            times = (("first_sample_at", stream.first_sample_at), ("last_sample_at", stream.last_sample_at))
            changed |= {key: None if at is None else at.isoformat() for key, at in times}
        made = file.result.get("artefact")
        if isinstance(made, int):
            host_id = stream.host_id if stream is not None else None if self._row.is_each_host else self._host_id
            shift = timedelta(seconds=self._row.shift_s - old_s)
            await artefact_rows.move_imported(session, made, self._claim.queued_at, host_id, shift)
        file.result = {**file.result, **changed}

    async def _leave(self, position: int, reason: str) -> None:
        self.n_left += 1
        async with open_write_session(self._sessions) as session:
            file = await import_rows.read_file(session, self._row.id, position)
            file.result = {**file.result, "note": f"not moved: {reason}"}
