"""A piece as a file: rows in COPY BINARY format, compressed with zstd, identified by the hash of the file."""

import hashlib
import os
import queue
import secrets
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Protocol

import psycopg
import zstandard
from psycopg import sql
from psycopg.pq import DiagnosticField, ExecStatus
from psycopg.pq.abc import PGresult

from normstat.backup.manifest import BackupPiece, open_private, sync_folder
from normstat.errors import BadRequest

Connection = psycopg.Connection[tuple[object, ...]]
# Called with the number of bytes of a file read or written since the last call.
WatchBytes = Callable[[int], None]


class ReadRows(Protocol):
    """A way to read rows in COPY BINARY format: `put` takes them in large blocks, `look` each of them. Returns their number."""

    def __call__(self, put: Callable[[bytes], None], look: Callable[[bytes], None] | None = None) -> int:
        """Read the rows."""


# Rows of numbers shrink to a fifth to a tenth; higher levels take several times as long for a few percent.
LEVEL: Final = 3
BLOCK_BYTES: Final = 1 << 20
MAX_WAITING: Final = 8
SUFFIX: Final = ".copy.zst"


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file written to disk."""

    name: str
    n_rows: int
    n_bytes: int
    sha256: str


class _Writer(threading.Thread):
    """Compresses and writes in a thread of its own, while the next rows arrive."""

    def __init__(self, path: Path) -> None:
        super().__init__(name="backup-writer", daemon=True)
        self._path = path
        self._queue: queue.Queue[bytes | None] = queue.Queue(MAX_WAITING)
        self._hash = hashlib.sha256()
        self._error: OSError | None = None
        self.n_bytes = 0

    def run(self) -> None:
        """Write blocks until the end mark; after a failure, only drain the queue."""
        is_ended = False
        try:
            with open_private(self._path, "wb") as file:
                compressor = zstandard.ZstdCompressor(level=LEVEL).compressobj()
                while (block := self._queue.get()) is not None:
                    self._write(file, compressor.compress(block))
                is_ended = True
                self._write(file, compressor.flush())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            self._error = error
            while not is_ended:
                is_ended = self._queue.get() is None

    def _write(self, file: BinaryIO, data: bytes) -> None:
        file.write(data)
        self._hash.update(data)
        self.n_bytes += len(data)

    def put(self, block: bytes) -> None:
        """Queue the next bytes."""
        self._queue.put(block)

    def finish(self) -> str:
        """Wait until everything is on disk; return the hash.

        Raises: BadRequest when it could not be written
        """
        self._queue.put(None)
        self.join()
        if self._error is not None:
            raise BadRequest(f"Cannot write to {self._path.parent}: {self._error.strerror}") from self._error
        return self._hash.hexdigest()


def write_copy(read: Callable[[Callable[[bytes], None]], int], folder: Path, key: str) -> WrittenFile:
    """Write the rows that are read to a new file in the folder; its name has its hash, so that no file is ever overwritten.

    `read` passes on rows and returns their number.
    Raises: BadRequest when the file cannot be written
    """
    scratch = folder / f"{secrets.token_hex(8)}.part"
    writer = _Writer(scratch)
    writer.start()
    try:
        n_rows = read(writer.put)
    finally:
        hashed = writer.finish()
    name = f"{key}-{hashed[:16]}{SUFFIX}"
    path = folder / name
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    scratch.rename(path)
    sync_folder(path.parent)
    return WrittenFile(name, n_rows, writer.n_bytes, hashed)


def read_copy(
    connection: Connection, query: sql.Composable, put: Callable[[bytes], None], look: Callable[[bytes], None] | None = None
) -> int:
    """Pass on the output of COPY BINARY in large blocks, each row of it first to `look`; return the number of rows."""
    statement = sql.SQL("COPY ({query}) TO STDOUT (FORMAT BINARY)").format(query=query).as_string(connection)
    # psycopg's own Copy takes twice the time per row, and there are millions.
    raw = connection.pgconn
    started = raw.exec_(statement.encode())
    if started.status != ExecStatus.COPY_OUT:
        raise psycopg.errors.lookup(_state_of(started))(started.get_error_message())
    rows: list[bytes] = []
    n_bytes = 0
    while True:
        length, row = raw.get_copy_data(0)
        if length <= 0:
            break
        rows.append(bytes(row))
        if look is not None:
            look(rows[-1])
        n_bytes += length
        if n_bytes >= BLOCK_BYTES:
            put(b"".join(rows))
            rows.clear()
            n_bytes = 0
    put(b"".join(rows))
    ended = raw.get_result()
    while raw.get_result() is not None:
        pass
    if ended is None:
        raise psycopg.OperationalError("COPY ended early: the connection was lost")
    if ended.status != ExecStatus.COMMAND_OK:
        raise psycopg.errors.lookup(_state_of(ended))(ended.get_error_message())
    return ended.command_tuples or 0


def skip(_: bytes) -> None:
    """Discard rows that are only checked, or tried."""


def _state_of(result: PGresult) -> str:
    return (result.error_field(DiagnosticField.SQLSTATE) or b"XX000").decode()


def check_file(folder: Path, piece: BackupPiece, watch: WatchBytes) -> str | None:
    """Return what is wrong with the piece's file. Missing: None when it is unchanged."""
    hashed = hashlib.sha256()
    n_bytes = 0
    try:
        with (folder / piece.file).open("rb") as file:
            while block := file.read(BLOCK_BYTES):
                hashed.update(block)
                n_bytes += len(block)
                watch(len(block))
    except FileNotFoundError:
        return f"{piece.file} is missing"
    except OSError as error:
        return f"cannot read {piece.file}: {error.strerror}"
    if n_bytes != piece.n_bytes:
        return f"{piece.file} has {n_bytes} bytes, expected {piece.n_bytes}"
    return None if hashed.hexdigest() == piece.sha256 else f"{piece.file} is damaged: its content has changed since it was written"


def read_blocks(folder: Path, piece: BackupPiece, watch: WatchBytes) -> Iterator[bytes]:
    """Yield the rows of the piece in COPY BINARY format, in large blocks.

    Raises: BadRequest after the last block when the file has changed; discard everything then
    """
    hashed = hashlib.sha256()
    decompressor = zstandard.ZstdDecompressor().decompressobj()
    try:
        with (folder / piece.file).open("rb") as file:
            while block := file.read(BLOCK_BYTES):
                hashed.update(block)
                watch(len(block))
                yield decompressor.decompress(block)
    except (OSError, zstandard.ZstdError) as error:
        raise BadRequest(f"{piece.file} is damaged: {error}") from error
    if hashed.hexdigest() != piece.sha256:
        raise BadRequest(f"{piece.file} is damaged: its content has changed since it was written")
