"""The journal of pieces copied so far, from which an interrupted backup continues.

One JSON line per piece, after a line that identifies the database. A partial line at the end is from a process that died.
"""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO, Final

from normstat.backup.manifest import NAME as MANIFEST_NAME
from normstat.backup.manifest import BackupPiece, key_of, open_private, piece_of, read_manifest
from normstat.errors import BadRequest, Conflict

NAME: Final = "unfinished.jsonl"
LOCK_NAME: Final = "lock"


class Journal:
    """All known pieces in a folder: those of its manifest, and those copied since."""

    def __init__(self, folder: Path, store: str) -> None:
        self._path = folder / NAME
        self._file: BinaryIO | None = None
        self._store = store
        self.known: dict[str, BackupPiece] = {}
        self.n_of_manifest = 0
        if (folder / MANIFEST_NAME).exists():
            manifest = read_manifest(folder)
            if manifest.store != store:
                raise Conflict(
                    f"{folder} holds a backup of another database (or of this one before it was restored); choose another folder"
                )
            self.known = key_of(manifest.pieces)
            self.n_of_manifest = len(self.known)
        lines = self._read_lines()
        if lines and lines[0] == {"store": store}:
            self.known |= key_of([piece_of(line) for line in lines[1:]])
        elif lines:
            raise Conflict(f"{folder} holds an unfinished backup of another database; choose another folder, or remove it")

    def add(self, piece: BackupPiece) -> None:
        """Record a piece whose file is on disk."""
        if self._file is None:
            is_new = not self._path.exists()
            self._file = open_private(self._path, "ab")
            # After a partial line of a process that died.
            self._file.write(json.dumps({"store": self._store}).encode() + b"\n" if is_new else b"\n")
        self._file.write(json.dumps(asdict(piece)).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self.known[piece.key] = piece

    def close(self) -> None:
        """Stop writing; recorded pieces stay."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def remove(self) -> None:
        """Delete the journal: the manifest names everything."""
        self.close()
        self._path.unlink(missing_ok=True)

    def _read_lines(self) -> list[dict[str, object]]:
        try:
            text = self._path.read_bytes()
        except FileNotFoundError:
            return []
        lines = []
        for line in text.split(b"\n"):
            with contextlib.suppress(ValueError):
                lines.append(json.loads(line))
        return lines


@contextlib.contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Provide the folder, created if needed, locked for this process.

    Raises: Conflict when another backup writes there; BadRequest when it is not writable or holds something else
    """
    try:
        is_new = not folder.exists() or not any(folder.iterdir())
        if not is_new and not any((folder / name).exists() for name in (MANIFEST_NAME, NAME, LOCK_NAME)):
            raise BadRequest(f"{folder} is not empty and is not a backup; choose another folder")
        # It contains hashes of passwords and tokens.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = open_private(folder / LOCK_NAME, "ab")
    except OSError as error:
        raise BadRequest(f"Cannot write to {folder}: {error.strerror}") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Conflict(f"Another backup is writing to {folder}") from None
        yield
