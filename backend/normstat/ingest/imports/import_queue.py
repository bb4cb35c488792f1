"""Load uploaded files in the background.

Files wait in a folder, which several server processes of one machine may share; each loads one import at a time. An import whose
worker died goes on in the next one; an import whose file no process has any more fails.
"""

import asyncio
import contextlib
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Protocol

import psycopg
import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker

from normstat.db.schema.job_models import ImportRow
from normstat.db.session import make_sessions, open_read_session, open_write_session
from normstat.errors import Conflict, DatabaseAway, NormstatError, NoSpace
from normstat.ingest import import_rows
from normstat.ingest.import_rows import ImportedFile
from normstat.jobs.background import keep_running
from normstat.jobs.claims import IMPORTS, Claim, Claims, JobStopped, open_claims
from normstat.jobs.due_work import IMPORTS_S
from normstat.runtime.readable import format_bytes
from normstat.window import from_us, to_us

if TYPE_CHECKING:
    from normstat.ingest.imports.import_options import ImportOptions
    from normstat.ingest.imports.import_run import Watch
    from normstat.ingest.imports.look_ahead import FileLook
    from normstat.records.artefact_keeper import ArtefactKeeper

log = structlog.get_logger()

PROGRESS_S: Final = 1.0
# The process that has the file of an import reports it every IMPORTS_S.
ABANDONED_AFTER: Final = timedelta(minutes=2)
# The database and everything else on that disk needs room too.
MIN_FREE_BYTES: Final = 512 << 20
# An upload that lacks an option is kept this long, to be tried again.
KEPT_FOR: Final = timedelta(days=1)
WRITE_BYTES: Final = 1 << 20
OLD_S: Final = 86400.0
PART: Final = ".part"
FILE_IS_GONE: Final = "The server ended, and the uploaded file is gone; upload it again"


class OtherLoader(Protocol):
    """Loads files of another kind than recorded output of tools: bundles of another server."""

    def takes(self, path: Path) -> bool:
        """Return whether the file is of that kind. It blocks."""
        ...

    async def load(self, path: Path, host: str, asked_by: str, first_position: int, watch: "Watch") -> None:
        """Load it into a host, and report its results from that position on."""
        ...


class ImportQueue:
    """The imports of this process. `folder` is where files wait, None for a temporary one; `other` loads other files than outputs
    of tools.
    """

    def __init__(
        self,
        engine: AsyncEngine,
        database_url: str,
        folder: Path | None,
        max_bytes: int,
        other: OtherLoader | None = None,
        *,
        keeper: "ArtefactKeeper | None" = None,
    ) -> None:
        self._other = other
        self._keeper = keeper
        self._engine = engine
        self._database_url = database_url
        self._sessions = make_sessions(engine)
        self._folder = folder if folder is not None else Path(tempfile.gettempdir()) / "normstat-imports"
        self._max_bytes = max_bytes
        self._has_removed_leftovers = False
        self.has_news = asyncio.Event()

    def wake(self) -> None:
        """Notify the queue of a new import."""
        self.has_news.set()

    async def run(self, *, check_s: float = IMPORTS_S) -> None:
        """Load queued imports, until cancelled: every `check_s`, and whenever notified."""
        await keep_running("imports", self.run_all, every_s=check_s, wake=self.has_news)

    async def run_all(self) -> None:
        """Load what is queued now."""
        if not self._has_removed_leftovers:
            self._has_removed_leftovers = True
            await asyncio.to_thread(self._remove_leftovers)
        while await self.run_next():
            pass

    async def run_next(self) -> bool:
        """Load the oldest import whose file is on this machine and that no other process loads; return False when there is none."""
        async with open_read_session(self._sessions) as session:
            rows = await import_rows.list_unfinished(session)
            stopped = await import_rows.list_stopped_files(session)
            stopped |= await import_rows.list_old_files(session, KEPT_FOR)
        here = await asyncio.to_thread(_find_here, [*(row.file_path for row in rows), *stopped.values()])
        # To undo or to change an import takes no file.
        by_job = {row.job_id: row for row in rows if row.is_undo or row.is_change or row.file_path in here}
        for path in here & set(stopped.values()):
            remove_file(path)
        async with open_write_session(self._sessions) as session:
            await import_rows.note_removed_files(session, [import_id for import_id, path in stopped.items() if path in here])
            await import_rows.touch_imports(session, sorted(by_job))
            for row in rows:
                if row.job_id not in by_job:
                    await import_rows.fail_abandoned(session, row.job_id, ABANDONED_AFTER, FILE_IS_GONE)
        if not by_job:
            return False
        async with open_claims(self._database_url, IMPORTS) as claims:
            claim = await claims.next(of=by_job) if claims is not None else None
            if claims is None or claim is None:
                return False
            row = by_job[claim.id]
            if row.is_undo or row.is_change:
                return await work_on_loaded(self._sessions, claims, claim, row)
            return await self._load(claim, row)

    async def _load(self, claim: Claim, row: ImportRow) -> bool:
        """Load one import and record how it ended; return False when it is to be tried again later."""
        # Every server has a queue, and few import.
        from normstat.ingest.imports.import_run import ImportSource, run_import  # noqa: PLC0415

        async with open_read_session(self._sessions) as session:
            done = await import_rows.list_done(session, row.id)
        log.info("import_started", id=row.id, host=row.host, n_bytes=claim.n_total, n_files_done=len(done))
        path = Path(row.file_path)
        is_other = self._other is not None and await asyncio.to_thread(self._other.takes, path)
        source = ImportSource(
            row.host,
            [path],
            options_of(row),
            self._max_bytes,
            shown_as=row.name,
            since=claim.queued_at,
            skipped=done,
            only=row.only_position,
        )
        watch = _Progress(self._sessions, claim, row.id)
        if self._other is not None and is_other:
            work = self._other.load(path, row.host, row.job.asked_by, max(done, default=-1) + 1, watch)
        else:
            work = run_import(self._engine, source, watch, self._keeper)
        task = asyncio.create_task(work)
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        return await self._end(claim, row, watch, None if task.cancelled() else task.exception())

    async def _end(self, claim: Claim, row: ImportRow, watch: "_Progress", error: BaseException | None) -> bool:
        if isinstance(error, JobStopped):
            log.info("import_stopped", id=row.id, host=row.host)
            return True
        if isinstance(error, DBAPIError | PoolTimeout) or (isinstance(error, NormstatError) and error.status == 503):
            # It still says `running`, and the next claim goes on from here.
            log.warning("import_waits_for_database", id=row.id, host=row.host)
            return False
        message = None
        if isinstance(error, NormstatError):
            message = error.message
        elif error is not None:
            # A defect, which the next try would meet again.
            message = "Internal server error; the server's log has the details"
            log.error("import_failed", id=row.id, host=row.host, exc_info=error)
        else:
            await watch.flush()
        async with open_write_session(self._sessions) as session:
            is_kept = message is None and await import_rows.has_missing(session, row.id)
            await (claim.finish(session) if message is None else claim.fail(session, message))
            if not is_kept:
                await import_rows.note_removed_files(session, [row.id])
        if not is_kept:
            remove_file(row.file_path)
        log.info("import_ended", id=row.id, host=row.host, message=message)
        return True

    def look_ahead(self, head: bytes, name: str, options: "ImportOptions") -> "FileLook":
        """Return what the beginning of a file of that name tells. It blocks."""
        from normstat.ingest.imports.look_ahead import look_ahead  # noqa: PLC0415

        with tempfile.NamedTemporaryFile(prefix="normstat-look-") as file:
            file.write(head)
            file.flush()
            os.utime(file.name, (time.time(), 0.0))
            path = Path(file.name)
            is_bundle = self._other is not None and self._other.takes(path)
            return look_ahead(path, name, options, self._keeper, is_bundle=is_bundle)

    def copy_file(self, path: str) -> Path:
        """Return another file with the content of an upload that was kept, for another try.

        Raises: Conflict when it is not there any more
        """
        copy = self._folder / (secrets.token_hex(16) + ".file")
        try:
            os.link(path, copy)
        except OSError:
            raise Conflict("The server does not have the upload any more; choose the file again") from None
        return copy

    def new_file(self, n_bytes: int | None) -> "NewFile":
        """Return a new file in the folder; `n_bytes` is its size where the client announced it.

        Raises: NoSpace
        """
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._folder.stat().st_uid != os.geteuid():
            raise NormstatError(f"The folder {self._folder} belongs to another user; set NORMSTAT_IMPORT_DIR to another one")
        require_space(self._folder, n_bytes or 0)
        return NewFile(self._folder)

    def _remove_leftovers(self) -> None:
        """Remove files whose upload was never finished because the server ended, long ago."""
        with contextlib.suppress(OSError):
            for path in self._folder.glob(f"*{PART}"):
                if time.time() - path.stat().st_mtime > OLD_S:
                    remove_file(str(path))


async def work_on_loaded(sessions: async_sessionmaker[AsyncSession], claims: Claims, claim: Claim, row: ImportRow) -> bool:
    """Remove or move what an import loaded, and record how that ended; return False when it is to be tried again later."""
    from normstat.ingest.imports.change import apply_change  # noqa: PLC0415
    from normstat.ingest.imports.undo import undo_import  # noqa: PLC0415

    try:
        if row.is_undo:
            message = await undo_import(sessions, row, claim)
        else:
            message = await apply_change(claims.sessions, row, claim)
    except JobStopped:
        return True
    except (DBAPIError, PoolTimeout, psycopg.Error, DatabaseAway) as error:
        log.warning("undo_waits_for_database", id=row.id, host=row.host, error=str(error)[:200])
        return False
    except NormstatError as error:
        async with open_write_session(sessions) as session:
            await claim.fail(session, error.message)
        return True
    async with open_write_session(sessions) as session:
        if row.is_undo:
            await import_rows.note_removed_files(session, [row.id])
        await claim.finish(session, message)
    if row.is_undo:
        remove_file(row.file_path)
    return True


class NewFile:
    """A file that is being uploaded: `write` its bytes, then `keep` it; `close` removes a file that was not kept."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / (secrets.token_hex(16) + PART)
        self._file: IO[bytes] = os.fdopen(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
        self._waiting = bytearray()
        self.n_bytes = 0

    async def write(self, data: bytes) -> None:
        """Write the next bytes.

        Raises: NoSpace
        """
        self._waiting += data
        self.n_bytes += len(data)
        if len(self._waiting) >= WRITE_BYTES:
            await asyncio.to_thread(self._flush)

    def _flush(self) -> None:
        require_space(self._folder, len(self._waiting))
        try:
            self._file.write(self._waiting)
        except OSError as error:
            raise NoSpace(f"The file could not be kept: {error.strerror}; nothing was loaded") from None
        self._waiting.clear()

    async def keep(self, modified_at: datetime | None = None) -> Path:
        """Finish the file, which was last changed at that instant where it came from; return its path. Unknown is the instant 0.

        Raises: NoSpace
        """
        await asyncio.to_thread(self._flush)
        self._file.close()
        os.utime(self._path, (time.time(), 0.0 if modified_at is None else modified_at.timestamp()))
        return self._path.rename(self._path.with_suffix(".file"))

    def close(self) -> None:
        """Remove it, unless it was kept."""
        self._file.close()
        remove_file(str(self._path))


class _Progress:
    """Stores the progress of an import, once a second at most."""

    def __init__(self, sessions: async_sessionmaker[AsyncSession], claim: Claim, import_id: int) -> None:
        self._sessions = sessions
        self._claim = claim
        self._import_id = import_id
        self._files: dict[int, ImportedFile] = {}
        self._n_bytes_done = 0
        self._noted_at = 0.0

    async def surveying(self, n_bytes: int, path: str) -> None:
        """Report a sign of life."""
        del n_bytes, path
        await self._note()

    async def loading(self, n_bytes: int, n_bytes_done: int, path: str) -> None:
        """Report how much is loaded."""
        del path
        # The size of an import stays that of the upload, whatever it unpacks to.
        self._n_bytes_done = self._claim.n_total * n_bytes_done // n_bytes if n_bytes else self._claim.n_total
        await self._note()

    async def done(self, position: int, file: ImportedFile) -> None:
        """Report the outcome of a file."""
        self._files[position] = file
        await self._note()

    async def _note(self) -> None:
        if time.monotonic() - self._noted_at >= PROGRESS_S:
            await self.flush()

    async def flush(self) -> None:
        """Store what has not been stored yet.

        Raises: JobStopped
        """
        files, self._files = self._files, {}
        async with open_write_session(self._sessions) as session:
            await self._claim.report(session, n_done=self._n_bytes_done)
            await import_rows.add_files(session, self._import_id, files)
        self._noted_at = time.monotonic()


def _find_here(paths: Iterable[str]) -> set[str]:
    """Return the paths of files that are on this machine."""
    return {path for path in paths if Path(path).exists()}


def to_import_row(host: str, name: str, options: "ImportOptions") -> ImportRow:
    """Return the row of a file and the options that were given with it."""
    return ImportRow(
        host=host,
        name=name,
        time_zone=options.zone,
        first_day=options.date,
        start_at=None if options.start_us is None else from_us(options.start_us),
        interval_s=None if options.interval_us is None else options.interval_us / 1_000_000,
        spec=options.spec,
        title=options.title,
        is_first_real=options.is_first_real,
        is_each_host=options.is_each_host,
        file_path="",
    )


def options_of(row: ImportRow) -> "ImportOptions":
    """Return the options that were given with the file."""
    from normstat.ingest.imports.import_options import ImportOptions  # noqa: PLC0415

    return ImportOptions(
        zone=row.time_zone,
        date=row.first_day,
        start_us=None if row.start_at is None else to_us(row.start_at),
        interval_us=None if row.interval_s is None else round(row.interval_s * 1_000_000),
        spec=row.spec,
        title=row.title,
        is_first_real=row.is_first_real,
        is_each_host=row.is_each_host,
    )


def require_space(folder: Path, n_bytes: int) -> None:
    """Require room for this many bytes on the folder's disk.

    Raises: NoSpace
    """
    free = shutil.disk_usage(folder).free
    if free < n_bytes + MIN_FREE_BYTES:
        raise NoSpace(
            f"The server's disk has {format_bytes(free)} left, the file has {format_bytes(n_bytes)}; free some space, or run"
            " `normstat import` on the server",
            {"free_bytes": free},
        )


def remove_file(path: str) -> None:
    """Remove the file, if it exists."""
    with contextlib.suppress(OSError):
        Path(path).unlink()
