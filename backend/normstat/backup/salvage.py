"""Finds the rows of a piece that can be read, where PostgreSQL cannot read all of them: everything else is still copied.

Rows are tried in halves, by their key, and samples by host and hour. Without sequential scans, so that what is left out is not
touched again: a damaged page then costs the rows on it, and a damaged long value the row that it belongs to.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import psycopg
from psycopg import sql
from sqlalchemy import LargeBinary

from normstat.backup.backup_files import Connection, read_copy, skip
from normstat.backup.backup_plan import PieceRequest
from normstat.backup.damage import RowInspector
from normstat.db.schema.all_models import Base
from normstat.db.unreadable import UNREADABLE
from normstat.samples.stat_tables import time_bound

BY_INDEX: Final = "SET LOCAL enable_seqscan = off"
HOUR: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Rows that are tried together: those of a key, or a host's samples of an hour. `facts` name them."""

    condition: sql.Composable
    facts: Mapping[str, object]


class Salvage:
    """Reads pieces in part. `reading` begins a transaction under the snapshot of the backup, if there is one."""

    def __init__(
        self, connection: Connection, reading: Callable[[], AbstractContextManager[None]], inspector: RowInspector
    ) -> None:
        self._connection = connection
        self._reading = reading
        self._inspector = inspector

    def find_readable(self, request: PieceRequest, error: psycopg.Error) -> sql.Composable | None:
        """Return the query of the rows that can be read, and note the others. Missing: None where none can be."""
        try:
            groups = list(_split_samples(request)) if request.start is not None else self._list_rows(request)
        except UNREADABLE:
            groups = []
        runs = list(self._try(request, groups))
        if not runs:
            if not groups:
                # Not even the keys can be read: report the whole piece by its name.
                self._inspector.note_unreadable(request.table, {"stat": request.key.partition("/")[2]}, None, error)
            return None
        return sql.SQL(" UNION ALL ").join(_select(request, run) for run in runs)

    def read(self, query: sql.Composable, put: Callable[[bytes], None] = skip, look: Callable[[bytes], None] | None = None) -> int:
        """Pass on the rows of a query as `read_copy` does, and return their number."""
        with self._reading():
            self._connection.execute(BY_INDEX)
            return read_copy(self._connection, query, put, look)

    def _list_rows(self, request: PieceRequest) -> list[RowGroup]:
        names = [column.name for column in Base.metadata.tables[request.table].primary_key.columns]
        columns = sql.SQL(", ").join(map(sql.Identifier, names))
        query = sql.SQL("SELECT {columns} FROM ({query}) AS q ORDER BY {columns}").format(columns=columns, query=request.query)
        with self._reading():
            self._connection.execute(BY_INDEX)
            rows = self._connection.execute(query).fetchall()
        return [
            RowGroup(
                sql.SQL("({}) = ({})").format(columns, sql.SQL(", ").join(map(sql.Literal, row))),
                dict(zip(names, row, strict=True)),
            )
            for row in rows
        ]

    def _try(self, request: PieceRequest, groups: Sequence[RowGroup]) -> Iterator[Sequence[RowGroup]]:
        if not groups:
            return
        try:
            self.read(_select(request, groups))
        except UNREADABLE as error:
            if len(groups) == 1:
                self._inspector.note_unreadable(request.table, groups[0].facts, self._measure(request, groups[0]), error)
                return
            middle = len(groups) // 2
            yield from self._try(request, groups[:middle])
            yield from self._try(request, groups[middle:])
        else:
            yield groups

    def _measure(self, request: PieceRequest, group: RowGroup) -> int | None:
        """Return the stored bytes of the long values of a row, from their pointers. Missing: None where these are lost, too"""
        names = [
            column.name
            for column in (Base.metadata.tables[request.table].columns if request.start is None else ())
            if isinstance(column.type, LargeBinary)
        ]
        if not names:
            return None
        sizes = sql.SQL(" + ").join(sql.SQL("coalesce(pg_column_size({}), 0)").format(sql.Identifier(name)) for name in names)
        query = sql.SQL("SELECT ({})::int8 FROM ({}) AS q WHERE {}").format(sizes, request.query, group.condition)
        try:
            with self._reading():
                self._connection.execute(BY_INDEX)
                row = self._connection.execute(query).fetchone()
        except UNREADABLE:
            return None
        return None if row is None else int(str(row[0]))


def _split_samples(request: PieceRequest) -> Iterator[RowGroup]:
    """Yield the hours of each host in a piece of samples; of the last day of time there is only one."""
    assert request.start is not None
    assert request.end is not None
    for host in request.hosts:
        start = request.start
        while start < request.end:
            end = request.end if request.end - start <= HOUR else start + HOUR
            condition = sql.SQL("host_id = {host} AND time >= {start} AND time < {end}").format(
                host=sql.Literal(host), start=sql.Literal(start), end=time_bound(end)
            )
            yield RowGroup(condition, {"host_id": host, "stat": request.table, "start_at": start, "end_at": end})
            start = end


def _select(request: PieceRequest, groups: Sequence[RowGroup]) -> sql.Composable:
    wanted = sql.SQL(" OR ").join(sql.SQL("({})").format(group.condition) for group in groups)
    return sql.SQL("SELECT * FROM ({query}) AS q WHERE {wanted}").format(query=request.query, wanted=wanted)
