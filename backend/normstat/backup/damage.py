"""Damage in stored rows, found while they are read: packed bytes that cannot be unpacked, and rows that PostgreSQL cannot read.

A row of COPY BINARY is the number of its cells, and of each cell its length (-1: NULL) and its bytes. A damaged row is
identified by the columns of such tables: host, stat or stream, artefact, time.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cached_property
from typing import Final

import psycopg
import structlog
import zstandard
from psycopg.types.json import Jsonb

from normstat.backup.backup_files import Connection
from normstat.errors import NormstatError
from normstat.runtime.readable import count_of, to_iso

log = structlog.get_logger()

# Raises where the packed columns of a row are not those that were written.
RowCheck = Callable[[Mapping[str, bytes]], None]
# By table. Tables without one have nothing packed.
RowChecks = Mapping[str, RowCheck]

NO_CHECKS: Final[RowChecks] = {}

SIGNATURE: Final = b"PGCOPY\n\xff\r\n\x00"
HEADER_BYTES: Final = 19
POSTGRES_EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)
# Errors of unpacking.
DAMAGED_BYTES: Final = (NormstatError, ValueError, LookupError, TypeError, RuntimeError, OverflowError, zstandard.ZstdError)
# The most informative ones first.
STARTS: Final = ("start_at", "block_at", "hour_at", "time", "received_at", "last_received_at", "created_at")
# Maximum number of items named for a damaged disk; the rest is counted.
MAX_NOTED: Final = 100
NOTE: Final = """
    INSERT INTO data_checks (source, checked_at, n_bytes, n_damaged, damaged) VALUES (%s, clock_timestamp(), %s, %s, %s)
    ON CONFLICT (source) DO UPDATE SET checked_at = excluded.checked_at, n_bytes = excluded.n_bytes,
        n_damaged = excluded.n_damaged, damaged = excluded.damaged
"""
REMEDIES: Final[Mapping[str, str]] = {
    "sealed_blocks": "normstat reparse --host HOST makes the samples again from the raw text",
    "artefact_parts": "normstat artefact reparse reads the raw text again",
    "rollups": "normstat rollup rebuild --host HOST",
    "profiles": "normstat profile build, for the baseline",
    "profile_pieces": "normstat profile build, for the baseline",
}


@dataclass(frozen=True, slots=True)
class Damage:
    """Stored data that cannot be read. Missing: `host`, `stat` and `period` are "" where the table has none; `n_bytes` is None
    where PostgreSQL does not know.
    """

    table: str
    host: str
    stat: str
    period: str
    n_bytes: int | None
    cause: str
    is_unreadable: bool
    """PostgreSQL itself cannot read it."""

    def describe(self) -> str:
        """Return one line: what is damaged, where, how much, why, and how to repair it."""
        of_what = ", ".join(part for part in (self.host, self.stat, self.period) if part)
        size = "unreadable" if self.n_bytes is None else count_of(self.n_bytes, "byte")
        remedy = REMEDIES.get(self.table, "restore a backup").replace("HOST", self.host)
        if self.is_unreadable:
            # PostgreSQL cannot even delete such a row, since it would have to read it.
            again = f", then: {remedy}" if self.table in REMEDIES else ""
            remedy = f"a backup leaves it out: restore one into an empty database{again}"
        return f"{self.table}: {of_what}: {size}: {self.cause}; {remedy}"


class CheckSource(StrEnum):
    """The source of a check for damage."""

    STORAGE_CHECK = "storage_check"
    BACKUP = "backup"


class RowInspector:
    """Checks the rows of tables as they come, and names the damaged ones. Lives as long as its connection."""

    def __init__(self, connection: Connection, checks: RowChecks) -> None:
        self._connection = connection
        self._checks = checks
        self.found: list[Damage] = []
        self.n_packed_bytes = 0

    def inspector_of(self, table: str, columns: Sequence[str]) -> Callable[[bytes], None] | None:
        """Return what to call with each row of COPY BINARY of these columns. Missing: None where nothing of the table is packed."""
        check = self._checks.get(table)
        if check is None:
            return None

        def look(data: bytes) -> None:
            for cells in read_rows(data):
                row = {name: cell for name, cell in zip(columns, cells, strict=True) if cell is not None}
                n_bytes = sum(len(row.get(name, b"")) for name in ("head", "directory", "body", "result", "frozen", "band"))
                self.n_packed_bytes += n_bytes
                try:
                    check(row)
                except DAMAGED_BYTES as error:
                    self.found.append(self._damage(table, {name: _value(name, cell) for name, cell in row.items()}, n_bytes, error))

        return look

    def note_unreadable(self, table: str, keys: Mapping[str, object], n_bytes: int | None, error: psycopg.Error) -> None:
        """Record rows that PostgreSQL cannot read, with the facts known about them."""
        self.found.append(self._damage(table, keys, n_bytes, error))

    def _damage(self, table: str, row: Mapping[str, object], n_bytes: int | None, error: Exception) -> Damage:
        host, stat, period = self._name(row)
        cause = (str(error).strip().splitlines() or [type(error).__name__])[0]
        return Damage(table, host, stat, period, n_bytes, cause, isinstance(error, psycopg.Error))

    def _name(self, row: Mapping[str, object]) -> tuple[str, str, str]:
        host = self._hosts.get(row.get("host_id"), "") if "host_id" in row else ""
        stat = self._stats.get(row.get("stat_id"), "") if "stat_id" in row else str(row.get("stat", ""))
        period = ""
        if "stream_id" in row:
            host, stat = self._streams.get(row["stream_id"], (host, stat))
        if "artefact_id" in row:
            host, stat, period = self._artefacts.get(row["artefact_id"], (host, stat, period))
            stat = f"{stat} (artefact {row['artefact_id']}, piece {row.get('position', '?')})"
        start = next((row[name] for name in STARTS if isinstance(row.get(name), datetime)), None)
        if isinstance(start, datetime):
            end = row.get("end_at")
            period = (
                f"{to_iso(start, 'seconds')} to {to_iso(end, 'seconds')}"
                if isinstance(end, datetime)
                else f"from {to_iso(start, 'seconds')}"
            )
        if "start_offset" in row:
            arrived = f", received {period}" if period else ""
            period = f"bytes {row['start_offset']} to {row.get('end_offset', '?')} of stream {row['stream_id']}{arrived}"
        if not (host or stat) and "id" in row:
            stat = str(row.get("name") or f"number {row['id']}")
        return host, stat, period

    @cached_property
    def _hosts(self) -> dict[object, str]:
        return {number: str(name) for number, name in self._connection.execute("SELECT id, name FROM hosts").fetchall()}

    @cached_property
    def _stats(self) -> dict[object, str]:
        return {number: str(name) for number, name in self._connection.execute("SELECT id, name FROM stats").fetchall()}

    @cached_property
    def _streams(self) -> dict[object, tuple[str, str]]:
        rows = self._connection.execute("SELECT id, host_id, spec FROM streams").fetchall()
        return {number: (self._hosts.get(host_id, ""), str(spec)) for number, host_id, spec in rows}

    @cached_property
    def _artefacts(self) -> dict[object, tuple[str, str, str]]:
        rows = self._connection.execute("SELECT id, host_id, tool, start_at FROM artefacts").fetchall()
        return {
            number: (
                self._hosts.get(host_id, ""),
                str(tool),
                f"from {to_iso(start, 'seconds')}" if isinstance(start, datetime) else "",
            )
            for number, host_id, tool, start in rows
        }


def note_damage(connection: Connection, source: CheckSource, inspector: RowInspector) -> None:
    """Store the findings, replacing earlier ones of the same source. A read-only role stores nothing."""
    lines = [one.describe() for one in inspector.found[:MAX_NOTED]]
    try:
        connection.execute(NOTE, [source, inspector.n_packed_bytes, len(inspector.found), Jsonb(lines)])
    except psycopg.Error as error:
        log.warning("data_check_not_noted", source=source, cause=str(error).splitlines()[0])


def read_rows(data: bytes) -> list[list[bytes | None]]:
    """Return the cells of the rows in a message of COPY BINARY: the first one begins with the header, the last one is an end mark.

    >>> read_rows(bytes([0, 2, 0, 0, 0, 1, 7, 255, 255, 255, 255]))
    [[b'\\x07', None]]
    """
    at = HEADER_BYTES if data.startswith(SIGNATURE) else 0
    rows = []
    while at < len(data):
        n_cells = int.from_bytes(data[at : at + 2], "big", signed=True)
        at += 2
        if n_cells < 0:
            break
        cells: list[bytes | None] = []
        for _ in range(n_cells):
            length = int.from_bytes(data[at : at + 4], "big", signed=True)
            at += 4
            cells.append(None if length < 0 else data[at : at + length])
            at += max(length, 0)
        rows.append(cells)
    return rows


def _value(name: str, cell: bytes) -> object:
    """Return a cell of a column that names a row: an instant, a number or a text."""
    if name.endswith("_at") and len(cell) == 8:
        return POSTGRES_EPOCH + timedelta(microseconds=int.from_bytes(cell, "big", signed=True))
    if name.endswith(("id", "_offset", "position", "level", "version")):
        return int.from_bytes(cell, "big", signed=True)
    return cell.decode(errors="replace") if name in {"stat", "field_key", "name"} else None
