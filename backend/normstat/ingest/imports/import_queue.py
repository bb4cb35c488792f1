"""Files that were handed to the server: kept in a folder until they are loaded, one after the other, in the background.

A file is held locked by the process that loads it, so that several server processes of one machine can share the folder. What was
running when a process ended goes on in the next one; the row of a file that is nowhere any more is marked as failed.
"""

import asyncio
import contextlib
import fcntl
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import IO, Final

import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.errors import NormstatError, NoSpace
from normstat.ingest.imports.import_options import ImportedFile, ImportOptions
from normstat.ingest.imports.import_run import Job, run_import
from normstat.ingest.imports.unpacking import Stopped
from normstat.storage import import_rows
from normstat.storage.schema.models import Import
from normstat.storage.session import make_sessions, open_read_session, open_write_session
from normstat.window import to_us

log = structlog.get_logger()

CHECK_S: Final = 5.0
PROGRESS_S: Final = 1.0
# Whoever looks after an import says so more often than this.
ABANDONED_AFTER: Final = timedelta(minutes=2)
# The database and everything else on that disk needs room too.
MIN_FREE_BYTES: Final = 512 << 20
WRITE_BYTES: Final = 1 << 20
OLD_S: Final = 86400.0
PART: Final = ".part"


class ImportQueue:
    """The imports of this process. `folder` is where files wait, None for a temporary one."""

    def __init__(self, engine: AsyncEngine, folder: Path | None, most_bytes: int) -> None:
        self._engine = engine
        self._sessions = make_sessions(engine)
        self._folder = folder if folder is not None else Path(tempfile.gettempdir()) / "normstat-imports"
        self._most_bytes = most_bytes
        self._has_news = asyncio.Event()

    def wake(self) -> None:
        """There is a new import."""
        self._has_news.set()

    async def run(self) -> None:
        """Load what waits; until cancelled."""
        await asyncio.to_thread(self._remove_leftovers)
        while True:
            self._has_news.clear()
            try:
                while await self._run_next():
                    pass
            except (DBAPIError, PoolTimeout) as error:
                log.warning("imports_lost_database", error=type(error).__name__)
            except Exception:
                # A defect, which must not end all imports until somebody restarts the server.
                log.exception("imports_broken", next_try_in_s=CHECK_S)
            # Not wait_for: that of Python 3.11 loses a cancellation which comes together with the news.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CHECK_S):
                    await self._has_news.wait()

    async def _run_next(self) -> bool:
        """Load the oldest import whose file is here and not in other hands; False when there is none."""
        async with open_read_session(self._sessions) as session:
            rows = await import_rows.list_unfinished(session)
        here = await asyncio.to_thread(_find_here, rows)
        async with open_write_session(self._sessions) as session:
            await import_rows.touch_imports(session, sorted(here))
            for row in rows:
                if row.id not in here and import_rows.is_abandoned(row, ABANDONED_AFTER):
                    message = "The server ended, and the file that was handed over is gone; hand it over again"
                    await import_rows.set_state(session, row.id, import_rows.FAILED, message)
        for row in rows:
            if row.id in here:
                with _locked(Path(row.file_path)) as is_ours:
                    if is_ours:
                        return await self._load(row)
        return False

    async def _load(self, row: Import) -> bool:
        """Load one import, and say how it ended; False when it is to be tried again later."""
        async with open_write_session(self._sessions) as session:
            if not await import_rows.set_state(session, row.id, import_rows.RUNNING):
                return True
            done = await import_rows.list_done(session, row.id)
        log.info("import_started", id=row.id, host=row.host, n_bytes=row.n_bytes, n_files_done=len(done))
        job = Job(
            row.host,
            [Path(row.file_path)],
            options_of(row),
            self._most_bytes,
            shown_as=row.name,
            since=row.created_at,
            skipped=done,
        )
        watch = _Progress(self, row.id)
        task = asyncio.create_task(run_import(self._engine, job, watch))
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        return await self._end(row, watch, None if task.cancelled() else task.exception())

    async def _end(self, row: Import, watch: "_Progress", error: BaseException | None) -> bool:
        if isinstance(error, Stopped):
            log.info("import_stopped", id=row.id, host=row.host)
            return True
        if isinstance(error, DBAPIError | PoolTimeout) or (isinstance(error, NormstatError) and error.status == 503):
            log.warning("import_waits_for_database", id=row.id, host=row.host)
            return False
        if error is None:
            await watch.flush()
            state, message = import_rows.DONE, ""
        elif isinstance(error, NormstatError):
            state, message = import_rows.FAILED, error.message
        else:
            # A defect; it must not be met again and again.
            state, message = import_rows.FAILED, "Internal server error; the server's log has the details"
            log.error("import_failed", id=row.id, host=row.host, exc_info=error)
        async with open_write_session(self._sessions) as session:
            await import_rows.set_state(session, row.id, state, message)
        remove_file(row.file_path)
        log.info("import_ended", id=row.id, host=row.host, state=state)
        return True

    async def note_progress(
        self, import_id: int, n_bytes: int | None, n_bytes_done: int, files: Mapping[int, Mapping[str, object]]
    ) -> None:
        """Write down how far an import is.

        Raises: Stopped when somebody has removed it
        """
        async with open_write_session(self._sessions) as session:
            known = await import_rows.set_progress(session, import_id, n_bytes=n_bytes, n_bytes_done=n_bytes_done, files=files)
        if not known:
            raise Stopped

    def new_file(self, n_bytes: int | None) -> "NewFile":
        """Return a file in the folder, to be filled; `n_bytes` is its size where the sender said so.

        Raises: NoSpace
        """
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._folder.stat().st_uid != os.geteuid():
            raise NormstatError(f"The folder {self._folder} belongs to somebody else; set NORMSTAT_IMPORT_DIR")
        require_space(self._folder, n_bytes or 0)
        return NewFile(self._folder)

    def _remove_leftovers(self) -> None:
        """Remove what was half handed over, or loaded, when a server ended long ago."""
        with contextlib.suppress(OSError):
            for path in self._folder.glob(f"*{PART}"):
                if time.time() - path.stat().st_mtime > OLD_S:
                    remove_file(str(path))


class NewFile:
    """A file on its way from a person: `write` what comes, then `keep`; what is not kept is removed by `close`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / (secrets.token_hex(16) + PART)
        self._file: IO[bytes] = os.fdopen(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
        self._waiting = bytearray()
        self.n_bytes = 0

    async def write(self, data: bytes) -> None:
        """Take the next bytes.

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

    async def keep(self) -> Path:
        """Return the path under which it stays.

        Raises: NoSpace
        """
        await asyncio.to_thread(self._flush)
        self._file.close()
        return self._path.rename(self._path.with_suffix(".file"))

    def close(self) -> None:
        """Remove it, unless it was kept."""
        self._file.close()
        remove_file(str(self._path))


class _Progress:
    """Follows an import and writes down now and then how far it is."""

    def __init__(self, queue: ImportQueue, import_id: int) -> None:
        self._queue = queue
        self._import_id = import_id
        self._files: dict[int, Mapping[str, object]] = {}
        self._n_bytes: int | None = None
        self._n_bytes_done = 0
        self._noted_at = 0.0

    async def surveying(self, n_bytes: int, path: str) -> None:
        """Only that it is still looked after."""
        del n_bytes, path
        await self._note()

    async def loading(self, n_bytes: int, n_bytes_done: int, path: str) -> None:
        """How much is loaded."""
        del path
        self._n_bytes, self._n_bytes_done = n_bytes, n_bytes_done
        await self._note()

    async def done(self, position: int, file: ImportedFile) -> None:
        """A file is done."""
        self._files[position] = to_json(file)
        await self._note()

    async def _note(self) -> None:
        if time.monotonic() - self._noted_at >= PROGRESS_S:
            await self.flush()

    async def flush(self) -> None:
        """Write down what is not yet."""
        files, self._files = self._files, {}
        await self._queue.note_progress(self._import_id, self._n_bytes, self._n_bytes_done, files)
        self._noted_at = time.monotonic()


def to_json(file: ImportedFile) -> dict[str, object]:
    """Return the result as the body that the API shows."""
    plain = asdict(file)
    for key in ("first_sample_at", "last_sample_at"):
        plain[key] = plain[key].isoformat() if plain[key] is not None else None
    plain["reasons"] = [{"reason": reason, "n": n} for reason, n in file.reasons]
    return plain


def _find_here(rows: Sequence[Import]) -> set[int]:
    """Return the ids of those whose file is on this machine."""
    return {row.id for row in rows if Path(row.file_path).exists()}


def options_of(row: Import) -> ImportOptions:
    """Return what the person said of the file."""
    return ImportOptions(
        zone=row.time_zone,
        date=row.first_day,
        start_us=None if row.start_at is None else to_us(row.start_at),
        interval_us=None if row.interval_s is None else round(row.interval_s * 1_000_000),
        spec=row.spec,
    )


def require_space(folder: Path, n_bytes: int) -> None:
    """Raise: NoSpace when so many bytes would fill the folder's disk."""
    free = shutil.disk_usage(folder).free
    if free < n_bytes + MIN_FREE_BYTES:
        raise NoSpace(
            f"The server's disk has {free / 1e6:.0f} MB left for a file of {n_bytes / 1e6:.0f} MB; use normstat import there, or "
            "make room",
            {"free_bytes": free},
        )


def remove_file(path: str) -> None:
    """Remove the file, if it is there."""
    with contextlib.suppress(OSError):
        Path(path).unlink()


@contextmanager
def _locked(path: Path) -> Iterator[bool]:
    """Hold the file for this process alone; give False when another one does, or when it is gone."""
    try:
        file = path.open("rb")
    except OSError:
        yield False
        return
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            # Another process may have loaded and removed it between our look and our lock: then it is nobody's any more.
            yield os.fstat(file.fileno()).st_nlink > 0
