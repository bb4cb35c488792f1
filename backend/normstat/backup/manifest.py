"""The manifest of a backup: the file `manifest.json` in its folder.

    {"format": 1, "id": ..., "schema": "0006", "store": ..., "taken_at": ..., "tables": [...], "sequences": {...},
     "pieces": [{"key": "samples/vmstat_linux/2026-11-21-0", "file": ..., "n_rows": ..., "sha256": ..., ...}, ...]}

A folder with a manifest is a complete backup, also while a newer one is being written to it: files are never overwritten, and those
that no manifest names are deleted only when the newer manifest is in place.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO, Final, Literal

from normstat.errors import BadRequest

FORMAT: Final = 1
NAME: Final = "manifest.json"


@dataclass(frozen=True, slots=True)
class BackupPiece:
    """Some rows of a table, in a file.

    `mark` shows without reading the rows that they did not change, `fingerprint` by reading them; both are empty for what is copied
    every time. `sha256` is that of the file, `n_bytes` its size.
    """

    key: str
    schema: str
    table: str
    columns: list[str]
    file: str
    n_rows: int
    n_bytes: int
    sha256: str
    mark: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """A complete backup. `revision` is the schema version, `store` the identity of the database, `kind` its kind of storage.

    `tables` are in the order in which they can be filled; `sequences` are the last numbers of their columns `id`; `stats` has for
    each wide table its columns and their types. `damaged`: what was damaged in the database, or could not be read, a line each;
    pieces with such rows have no mark.
    """

    format: int
    program: str
    revision: str
    store: str
    kind: str
    taken_at: str
    tables: list[str]
    sequences: dict[str, int]
    stats: dict[str, dict[str, str]]
    pieces: list[BackupPiece]
    damaged: list[str]

    @property
    def n_rows(self) -> int:
        """The number of rows in all pieces."""
        return sum(piece.n_rows for piece in self.pieces)


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a complete backup.

    Raises: BadRequest when there is none, or none that this program can read
    """
    path = folder / NAME
    try:
        body = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise BadRequest(f"{folder} has no {NAME}: it is not a backup, or its first backup was never finished") from None
    except (OSError, ValueError) as error:
        raise BadRequest(f"Cannot read {path}: {error}") from error
    found = body.get("format") if isinstance(body, dict) else None
    if found != FORMAT:
        raise BadRequest(
            f"{path} has the format {found!r}, but this program reads {FORMAT}; use the normstat version that wrote it"
        )
    try:
        return Manifest(**{**body, "pieces": [piece_of(piece) for piece in body["pieces"]]})
    except (TypeError, KeyError) as error:
        raise BadRequest(f"{path} is damaged: {error}") from error


def piece_of(body: Mapping[str, object]) -> BackupPiece:
    """Return the piece of a JSON object.

    Raises: TypeError when it is not a piece
    """
    return BackupPiece(**body)  # type: ignore[arg-type]


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest, once everything that it names is on disk."""
    write_whole(folder / NAME, json.dumps(asdict(manifest), indent=1, sort_keys=True).encode())


def open_private(path: Path, mode: Literal["wb", "ab"]) -> BinaryIO:
    """Open a file that only its owner may read, whatever the folder: backups have hashes of passwords, and secrets."""
    return open(path, mode, opener=lambda name, flags: os.open(name, flags, 0o600))


def write_whole(path: Path, data: bytes) -> None:
    """Write the file atomically: it exists completely or not at all."""
    scratch = path.with_name(path.name + ".new")
    with open_private(scratch, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    scratch.rename(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Wait until the names of files in the folder are on disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def key_of(pieces: Sequence[BackupPiece]) -> dict[str, BackupPiece]:
    """Return the pieces by their keys."""
    return {piece.key: piece for piece in pieces}
