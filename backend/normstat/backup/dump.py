"""Copies a database into a folder, from one snapshot, and only what the folder does not have yet.

A transaction holds the snapshot open; each piece is read in a short transaction that shares it, so that no lock is held for long
and only vacuum waits. Dropping and compressing chunks of a hypertable does not wait for snapshots: after each piece the chunks are
checked for changes, and if there are any, the backup restarts under a new snapshot, with the finished pieces.

A snapshot that is exported is one node's. Of a Citus cluster one transaction reads everything: it begins on all nodes at once, at a
moment without writes, and sees each of them as of that moment.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import psycopg
import structlog
from psycopg import IsolationLevel, sql

from normstat import __version__
from normstat.backup.backup_files import SUFFIX, Connection, ReadRows, read_copy, write_copy
from normstat.backup.backup_plan import BackupPlan, PieceRequest, read_fingerprint
from normstat.backup.damage import NO_CHECKS, CheckSource, RowChecks, RowInspector, note_damage
from normstat.backup.journal import Journal, locked_folder
from normstat.backup.manifest import FORMAT, BackupPiece, Manifest, write_manifest
from normstat.backup.salvage import Salvage
from normstat.db.connecting import connect_arguments, is_citus
from normstat.db.hypertables import TableFile, read_edition, read_files
from normstat.db.unreadable import UNREADABLE
from normstat.errors import Conflict
from normstat.samples.stat_tables import SCHEMA

log = structlog.get_logger()

MAX_SNAPSHOTS: Final = 20
# At most this much work is lost when the process dies, or when chunks change.
CHECK_S: Final = 5.0
# Posts wait no longer than this for a backup that cannot begin.
LOCK_WAIT: Final = "SET LOCAL lock_timeout = '3s'"
LOCK_HOSTS: Final = "LOCK TABLE hosts IN EXCLUSIVE MODE"
ONE_CONNECTION: Final = "SET LOCAL citus.max_adaptive_executor_pool_size = 1"
ON_ALL_WORKERS: Final = "SELECT count(*) FROM rollup_marks"
SEQUENCES: Final = """
    SELECT c.relname, coalesce(pg_sequence_last_value(pg_get_serial_sequence(quote_ident(c.relname), 'id')::regclass), 0)
    FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attname = 'id' AND a.attidentity <> ''
    ORDER BY c.relname
"""


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a backup or a restore. `n_kept` of the finished pieces existed already."""

    n_pieces: int = 0
    n_done: int = 0
    n_kept: int = 0
    n_rows: int = 0
    n_bytes: int = 0


Watch = Callable[[Progress], None]


class ChunksChanged(Exception):
    """The rows of a table are in other files than under the snapshot, which may not see them any more."""


def back_up(database_url: str, folder: Path, watch: Watch, checks: RowChecks = NO_CHECKS) -> Manifest:
    """Update the backup in the folder to the present state of the database.

    Damaged data is copied as it is, rows that PostgreSQL cannot read are left out; the manifest names both. Pieces with damage
    are copied again each time.

    Raises: BadRequest or Conflict when the folder cannot be used; Conflict when chunks keep changing
    """
    with locked_folder(folder):
        for _ in range(MAX_SNAPSHOTS):
            with _Dump(database_url, folder, watch, checks) as dump, contextlib.suppress(ChunksChanged):
                return dump.run()
            log.info("backup_begins_again", reason="chunks were compressed or dropped meanwhile")
    raise Conflict("Chunks kept being compressed or dropped; finished pieces are kept; run the backup again later")


class _Dump:
    """One snapshot of the database, and the pieces copied from it."""

    def __init__(self, database_url: str, folder: Path, watch: Watch, checks: RowChecks) -> None:
        self._folder = folder
        self._watch = watch
        self._stack = contextlib.ExitStack()
        # One holds the snapshot, one reads from it, one sees what has changed since.
        self._holder, self._reader, self._looker = (self._stack.enter_context(connect(database_url)) for _ in range(3))
        self._looker.autocommit = True
        for connection in (self._holder, self._reader):
            connection.isolation_level = IsolationLevel.REPEATABLE_READ
            connection.read_only = True
        self._inspector = RowInspector(self._looker, checks)
        self._snapshot = ""
        # The table whose pieces are being copied, the files that the snapshot knows of it, those of them that pieces need, and the
        # pieces that are recorded when these files turn out to be unchanged.
        self._table = ""
        self._files: frozenset[TableFile] = frozenset()
        self._needed: set[TableFile] = set()
        self._unchecked: list[BackupPiece] = []
        self._checked_s = time.monotonic()

    def __enter__(self) -> "_Dump":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def run(self) -> Manifest:
        """Copy everything.

        Raises: Moved
        """
        if is_citus():
            self._begin_on_all_nodes()
        with self._holder.transaction():
            row = self._holder.execute("SELECT pg_export_snapshot(), id FROM store_identity").fetchone()
            assert row is not None
            # On a cluster it is not used.
            self._snapshot, store = str(row[0]), str(row[1])
            taken_at = datetime.now(UTC)
            journal = Journal(self._folder, store)
            self._stack.callback(journal.close)
            with self._sees_snapshot():
                plan = BackupPlan(self._reader)
                requests = list(plan.pieces())
                numbers = {str(name): int(str(number)) for name, number in self._reader.execute(SEQUENCES).fetchall()}
                revision = self._reader.execute("SELECT version_num FROM alembic_version").fetchone()
            pieces = self._copy_all(requests, journal)
        assert revision is not None
        manifest = Manifest(
            format=FORMAT,
            program=__version__,
            revision=str(revision[0]),
            store=store,
            kind=read_edition(self._looker),
            taken_at=taken_at.isoformat(),
            tables=plan.tables,
            sequences=numbers,
            stats=plan.stats,
            pieces=pieces,
            damaged=[damage.describe() for damage in self._inspector.found],
        )
        write_manifest(self._folder, manifest)
        journal.remove()
        _remove_others(self._folder, {piece.file for piece in pieces})
        note_damage(self._looker, CheckSource.BACKUP, self._inspector)
        return manifest

    def _copy_all(self, requests: list[PieceRequest], journal: Journal) -> list[BackupPiece]:
        pieces = []
        progress = Progress(n_pieces=len(requests))
        self._watch(progress)
        for request in requests:
            if request.table != self._table or time.monotonic() - self._checked_s > CHECK_S:
                self._check(journal)
            known = journal.known.get(request.key)
            if known is not None and not self._is_there(known):
                known = None
            piece = self._take(request, known)
            progress = replace(progress, n_done=progress.n_done + 1)
            if piece is not None:
                is_kept = known is not None and piece.file == known.file
                if piece != known:
                    self._unchecked.append(piece)
                pieces.append(piece)
                progress = replace(
                    progress,
                    n_kept=progress.n_kept + is_kept,
                    n_rows=progress.n_rows + piece.n_rows,
                    n_bytes=progress.n_bytes + (0 if is_kept else piece.n_bytes),
                )
            self._watch(progress)
        self._check(journal)
        return pieces

    def _check(self, journal: Journal) -> None:
        """Record the copied pieces, if the files that they come from still exist.

        Raises: Moved
        """
        if self._needed:
            if not self._needed <= read_files(self._looker, SCHEMA, self._table):
                raise ChunksChanged
            self._needed.clear()
        for piece in self._unchecked:
            journal.add(piece)
        self._unchecked.clear()
        self._checked_s = time.monotonic()

    def _take(self, request: PieceRequest, known: BackupPiece | None) -> BackupPiece | None:
        """Return the piece as of the snapshot, or what of it can be read. Missing: None when that has no rows."""
        n_found = len(self._inspector.found)
        try:
            return self._take_whole(request, known)
        except UNREADABLE as error:
            # It is read once more, from its beginning.
            del self._inspector.found[n_found:]
            salvage = Salvage(self._reader, self._sees_snapshot, self._inspector)
            query = salvage.find_readable(request, error)
            if query is None:
                return None
            return self._copy(request, partial(salvage.read, query), fingerprint="", is_damaged=True)

    def _take_whole(self, request: PieceRequest, known: BackupPiece | None) -> BackupPiece | None:
        if known is not None and request.mark and known.mark == request.mark:
            return known
        if request.start is None or request.end is None:
            with self._sees_snapshot():
                return self._copy(request, partial(read_copy, self._reader, request.query), fingerprint="")
        with self._sees_snapshot():
            if request.table != self._table:
                self._table, self._files = request.table, read_files(self._reader, SCHEMA, request.table)
            self._needed |= {file for file in self._files if file.reaches(request.start, request.end)}
            n_rows, fingerprint = read_fingerprint(self._reader, request)
            piece: BackupPiece | None = None
            if known is not None and known.fingerprint == fingerprint:
                piece = replace(known, mark=request.mark)
            elif n_rows:
                piece = self._copy(request, partial(read_copy, self._reader, request.query), fingerprint=fingerprint)
        if piece is not None and piece.n_rows != n_rows:
            raise ChunksChanged
        return piece

    def _copy(self, request: PieceRequest, read: ReadRows, *, fingerprint: str, is_damaged: bool = False) -> BackupPiece:
        look = self._inspector.inspector_of(request.table, request.columns)
        n_found = len(self._inspector.found)
        written = write_copy(partial(read, look=look), self._folder, request.key)
        is_whole = not is_damaged and len(self._inspector.found) == n_found
        return BackupPiece(
            key=request.key,
            schema=request.schema,
            table=request.table,
            columns=request.columns,
            file=written.name,
            n_rows=written.n_rows,
            n_bytes=written.n_bytes,
            sha256=written.sha256,
            # The next backup copies it again, and reports the damage again.
            mark=request.mark if is_whole else "",
            fingerprint=fingerprint if is_whole else "",
        )

    def _is_there(self, piece: BackupPiece) -> bool:
        path = self._folder / piece.file
        return path.is_file() and path.stat().st_size == piece.n_bytes

    def _begin_on_all_nodes(self) -> None:
        """Begin the transaction that reads, on the coordinator and each worker, while no transaction that writes is under way.

        Transactions that write samples, raw bytes or blocks of a host hold the host's row, or commit on one node.
        Raises: Conflict when some hosts are being written all the time
        """
        for _ in range(MAX_SNAPSHOTS):
            try:
                with self._looker.transaction():
                    self._looker.execute(LOCK_WAIT)
                    self._looker.execute(LOCK_HOSTS)
                    self._stack.enter_context(self._reader.transaction())
                    # All later statements use the one connection to each worker that this one opens.
                    self._reader.execute(ONE_CONNECTION)
                    self._reader.execute(ON_ALL_WORKERS)
            except psycopg.errors.LockNotAvailable:
                continue
            return
        raise Conflict("Hosts were being written throughout; run the backup again later")

    @contextlib.contextmanager
    def _sees_snapshot(self) -> Iterator[None]:
        if is_citus():
            yield
            return
        with self._reader.transaction():
            self._reader.execute(sql.SQL("SET TRANSACTION SNAPSHOT {}").format(self._snapshot))
            yield


def connect(database_url: str) -> Connection:
    """Return a connection without time limits."""
    arguments = connect_arguments(database_url)
    unlimited = "-c statement_timeout=0 -c idle_in_transaction_session_timeout=0 -c lock_timeout=0"
    return psycopg.connect(**{**arguments, "options": f"{arguments['options']} {unlimited}"})  # type: ignore[arg-type]


def _remove_others(folder: Path, names: set[str]) -> None:
    """Delete files of pieces that the manifest no longer names, and partial files."""
    for path in [*folder.rglob(f"*{SUFFIX}"), *folder.glob("*.part")]:
        if str(path.relative_to(folder)) not in names:
            path.unlink()
