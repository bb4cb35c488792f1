"""Reads all stored data, as a backup does but without files, and reports damage; also in tables that a backup leaves out.

Each piece is read in a transaction of its own: nothing waits, and vacuum goes on.
"""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from psycopg import sql

from normstat.backup.backup_files import Connection, read_copy, skip
from normstat.backup.backup_plan import PUBLIC, BackupPlan, PieceRequest
from normstat.backup.damage import CheckSource, Damage, RowChecks, RowInspector, note_damage
from normstat.backup.dump import Progress, Watch, connect
from normstat.backup.salvage import Salvage
from normstat.db.schema.all_models import Base
from normstat.db.schema.baseline_models import Profile, ProfilePiece
from normstat.db.schema.models import Rollup
from normstat.db.unreadable import UNREADABLE

# Derived from samples, and so not in a backup.
DERIVED: Final = tuple(model.__tablename__ for model in (Rollup, ProfilePiece, Profile))


@dataclass(frozen=True, slots=True)
class Inspection:
    """The result: rows, bytes of packed values, and the damage."""

    n_rows: int
    n_packed_bytes: int
    damage: Sequence[Damage]


def inspect_store(database_url: str, checks: RowChecks, watch: Watch) -> Inspection:
    """Read and check everything that is stored, and note the result for `normstat doctor`."""
    with connect(database_url) as connection, connect(database_url) as looker:
        connection.autocommit = looker.autocommit = True
        # While one connection reads rows, the other looks up names.
        inspector = RowInspector(looker, checks)
        with connection.transaction():
            plan = BackupPlan(connection)
            requests = [*plan.pieces(), *_derived(connection)]
        progress = Progress(n_pieces=len(requests))
        watch(progress)
        for request in requests:
            n_rows = _read(connection, inspector, request)
            progress = replace(
                progress, n_done=progress.n_done + 1, n_rows=progress.n_rows + n_rows, n_bytes=inspector.n_packed_bytes
            )
            watch(progress)
        note_damage(looker, CheckSource.STORAGE_CHECK, inspector)
        return Inspection(progress.n_rows, inspector.n_packed_bytes, inspector.found)


def _read(connection: Connection, inspector: RowInspector, request: PieceRequest) -> int:
    look = inspector.inspector_of(request.table, request.columns)
    n_found = len(inspector.found)
    try:
        with connection.transaction():
            return read_copy(connection, request.query, skip, look)
    except UNREADABLE as error:
        # It is read once more, from its beginning.
        del inspector.found[n_found:]
        salvage = Salvage(connection, partial(_reading, connection), inspector)
        query = salvage.find_readable(request, error)
        return 0 if query is None else salvage.read(query, look=look)


@contextlib.contextmanager
def _reading(connection: Connection) -> Iterator[None]:
    with connection.transaction():
        yield


def _derived(connection: Connection) -> Iterator[PieceRequest]:
    hosts = [int(str(number)) for (number,) in connection.execute("SELECT id FROM hosts ORDER BY id").fetchall()]
    for name in DERIVED:
        columns = [column.name for column in Base.metadata.tables[name].columns]
        for host in hosts:
            query = sql.SQL("SELECT {} FROM {} WHERE host_id = {}").format(
                sql.SQL(", ").join(map(sql.Identifier, columns)), sql.Identifier(PUBLIC, name), sql.Literal(host)
            )
            yield PieceRequest(f"{name}/{host}", PUBLIC, name, columns, query, mark="")
