"""Restores a backup into an empty database of any kind of storage.

All files are checked before anything is written. Each piece is restored in a transaction that also records it, so that an
interrupted restore continues after the last one. Rollups are not part of a backup: the server rebuilds them from the samples.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from psycopg import sql

from normstat.backup.backup_files import Connection, check_file, read_blocks
from normstat.backup.backup_plan import PUBLIC
from normstat.backup.dump import Progress, Watch, connect
from normstat.backup.manifest import BackupPiece, Manifest, read_manifest
from normstat.backup.target import RestoreTarget
from normstat.db.cluster_layout import OF_STREAMS
from normstat.db.connecting import is_citus
from normstat.db.session import make_engine, make_sessions, open_write_session
from normstat.errors import BadRequest
from normstat.samples.stat_tables import SCHEMA, make_missing_tables

MAX_NAMED: Final = 10
# A backup names the stream of a chunk; on a cluster its rows have the host, too.
STAGED: Final = "restored_chunks"
STAGE: Final = "CREATE TEMPORARY TABLE {staged} ON COMMIT DROP AS SELECT {columns} FROM {table} WHERE false"
UNSTAGE: Final = """
    INSERT INTO {table} (host_id, {columns})
    SELECT s.host_id::int4, {shown} FROM {staged} AS c JOIN streams AS s ON s.id = c.stream_id
"""


def check_backup(folder: Path, watch: Watch) -> Manifest:
    """Return the manifest of the backup after checking that all of its files are unchanged.

    Raises: BadRequest, naming the damaged ones
    """
    manifest = read_manifest(folder)
    progress = Progress(n_pieces=len(manifest.pieces))
    wrong = []
    for piece in manifest.pieces:
        found = check_file(folder, piece, lambda _: None)
        if found is not None:
            wrong.append(found)
        progress = replace(
            progress, n_done=progress.n_done + 1, n_rows=progress.n_rows + piece.n_rows, n_bytes=progress.n_bytes + piece.n_bytes
        )
        watch(progress)
    if wrong:
        more = f" (and {len(wrong) - MAX_NAMED} more)" if len(wrong) > MAX_NAMED else ""
        raise BadRequest(f"The backup in {folder} is damaged: {'; '.join(wrong[:MAX_NAMED])}{more}")
    return manifest


def check_target(database_url: str, folder: Path) -> None:
    """Check that the backup can be restored into the database, before all files are read.

    Raises: BadRequest for a folder without a backup; Conflict when the database is not empty
    """
    with connect(database_url) as connection:
        connection.autocommit = True
        RestoreTarget(database_url, connection, read_manifest(folder)).check()


def restore(database_url: str, folder: Path, manifest: Manifest, watch: Watch) -> None:
    """Restore the checked backup into the database, and verify that every row is there.

    Raises: Conflict when the database is not empty; BadRequest when a file changed since it was checked
    """
    with connect(database_url) as connection:
        connection.autocommit = True
        target = RestoreTarget(database_url, connection, manifest)
        target.open()
        progress = Progress(n_pieces=len(manifest.pieces))
        has_tables = False
        for piece in _in_order(manifest):
            if piece.schema == SCHEMA and not has_tables:
                asyncio.run(_make_tables(database_url))
                has_tables = True
            if target.has(piece):
                progress = replace(progress, n_kept=progress.n_kept + 1)
            else:
                _load(connection, folder, piece, target)
                progress = replace(progress, n_bytes=progress.n_bytes + piece.n_bytes)
            progress = replace(progress, n_done=progress.n_done + 1, n_rows=progress.n_rows + piece.n_rows)
            watch(progress)
        if not has_tables:
            asyncio.run(_make_tables(database_url))
        _set_sequences(connection, manifest)
        _verify(connection, manifest)
        target.close()


def _in_order(manifest: Manifest) -> Iterator[BackupPiece]:
    """Yield tables before those that refer to them, samples last."""
    places = {name: place for place, name in enumerate(manifest.tables)}
    yield from sorted(
        manifest.pieces, key=lambda piece: (piece.schema != PUBLIC, places.get(piece.table, 0), piece.table, piece.key)
    )


def _load(connection: Connection, folder: Path, piece: BackupPiece, target: RestoreTarget) -> None:
    is_staged = is_citus() and piece.schema == PUBLIC and piece.table in OF_STREAMS
    table = sql.Identifier(piece.schema, piece.table)
    columns = sql.SQL(", ").join(map(sql.Identifier, piece.columns))
    statement = sql.SQL("COPY {table} ({columns}) FROM STDIN (FORMAT BINARY)").format(
        table=sql.Identifier(STAGED) if is_staged else table, columns=columns
    )
    with connection.transaction():
        if is_staged:
            connection.execute(sql.SQL(STAGE).format(staged=sql.Identifier(STAGED), columns=columns, table=table))
        # A lost piece is restored again.
        connection.execute("SET LOCAL synchronous_commit = off")
        with connection.cursor() as cursor:
            with cursor.copy(statement) as copy:
                for block in read_blocks(folder, piece, lambda _: None):
                    copy.write(block)
            n_rows = cursor.rowcount
        if n_rows != piece.n_rows:
            raise BadRequest(f"{piece.file} has {n_rows} rows, but the manifest says {piece.n_rows}")
        if is_staged:
            shown = sql.SQL(", ").join(sql.Identifier("c", name) for name in piece.columns)
            connection.execute(sql.SQL(UNSTAGE).format(table=table, columns=columns, shown=shown, staged=sql.Identifier(STAGED)))
        target.note(piece)


async def _make_tables(database_url: str) -> None:
    """Create the wide tables from `stats` and `stat_fields`."""
    engine = make_engine(database_url, pool_size=1)
    try:
        async with open_write_session(make_sessions(engine)) as session:
            await make_missing_tables(session)
    finally:
        await engine.dispose()


def _set_sequences(connection: Connection, manifest: Manifest) -> None:
    """Continue the sequences of the backed-up database, including numbers of rows that were deleted there."""
    for name, last in manifest.sequences.items():
        table = sql.Identifier(PUBLIC, name)
        connection.execute(
            sql.SQL(
                "SELECT setval(pg_get_serial_sequence({name}, 'id'), greatest({last}, (SELECT max(id) FROM {table}), 1),"
                " greatest({last}, (SELECT max(id) FROM {table})) > 0)"
            ).format(name=sql.Literal(table.as_string(connection)), last=last, table=table)
        )


def _verify(connection: Connection, manifest: Manifest) -> None:
    """Count the rows of all tables, and analyze them, so that the database plans well from the start.

    Raises: BadRequest
    """
    wanted: dict[tuple[str, str], int] = {(PUBLIC, name): 0 for name in manifest.tables}
    for piece in manifest.pieces:
        wanted[piece.schema, piece.table] = wanted.get((piece.schema, piece.table), 0) + piece.n_rows
    for (schema, name), n_rows in wanted.items():
        table = sql.Identifier(schema, name)
        row = connection.execute(sql.SQL("SELECT count(*) FROM {}").format(table)).fetchone()
        if row != (n_rows,):
            raise BadRequest(f"{schema}.{name} has {row and row[0]} rows after the restore, but the backup has {n_rows}")
        connection.execute(sql.SQL("ANALYZE {}").format(table))
