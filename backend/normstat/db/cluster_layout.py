"""The tables of a Citus cluster: `lay_out` distributes those of an empty database that has all migrations.

    by host_id   samples.*, rollups, rollup_marks, sealed_blocks, profile_pieces, chunks, packed_chunks: colocated
    everywhere   stats, which statements about samples join
    coordinator  all others

Constraints that Citus refuses are dropped: foreign keys from and to distributed tables, unique keys without host_id. So chunks have
a column host_id here, which one database does not need.
"""

import re
from dataclasses import dataclass
from typing import Final

import psycopg
from psycopg import sql

from normstat.db.connecting import IS_DISTRIBUTED
from normstat.db.distribution import DISTRIBUTE, FIRST_TABLE, HOST_ID, ONE_BY_ONE
from normstat.errors import Conflict

Connection = psycopg.Connection[tuple[object, ...]]

OF_HOSTS: Final = ("rollups", "rollup_marks", "sealed_blocks", "profile_pieces", "chunks", "packed_chunks")
EVERYWHERE: Final = "stats"
# Their key begins with the stream, and gets the host before it.
OF_STREAMS: Final = ("chunks", "packed_chunks")
# Colocated tables have a column of one type.
WIDER_HOST_ID: Final = "profile_pieces"
OLDEST_VERSION: Final = (13, 0)
OLDEST_POSTGRESQL: Final = 15

HAS_CITUS: Final = "SELECT to_regproc('citus_version') IS NOT NULL"
VERSION: Final = "SELECT citus_version()"
READ_VERSION: Final = re.compile(r"^Citus (\d+)\.(\d+)")
N_WORKERS: Final = "SELECT count(*) FROM pg_dist_node WHERE noderole = 'primary' AND groupid <> 0 AND isactive"
HAS_COORDINATOR: Final = "SELECT EXISTS (SELECT FROM pg_dist_node WHERE groupid = 0)"
HAS_TIMESCALEDB: Final = "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'timescaledb')"
HAS_LAYOUT: Final = f"SELECT {IS_DISTRIBUTED}"
PRESENT: Final = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname = ANY(%s)"
SAMPLE_TABLES: Final = "SELECT EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace('samples') AND relkind = 'r')"
FOREIGN_KEYS: Final = """
    SELECT conrelid::regclass::text, conname FROM pg_constraint
    WHERE contype = 'f' AND (conrelid = ANY(%(names)s::regclass[]) OR confrelid = ANY(%(names)s::regclass[]))
    ORDER BY 1, 2
"""


@dataclass(frozen=True, slots=True)
class ClusterVersion:
    """Citus as the database has it."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


def require_citus(connection: Connection) -> ClusterVersion:
    """Return the version of Citus.

    Raises: Conflict without it, or with one that is too old
    """
    if connection.info.server_version // 10_000 < OLDEST_POSTGRESQL:
        raise Conflict(
            f"The server is PostgreSQL {connection.info.server_version // 10_000}; a cluster needs {OLDEST_POSTGRESQL} or newer"
        )
    if _ask(connection, HAS_CITUS) is not True:
        raise Conflict(
            f"The database {connection.info.dbname} has no extension citus; as a superuser, run CREATE EXTENSION citus in it, and"
            " in the database of the same name on each worker"
        )
    found = _ask(connection, VERSION)
    parsed = READ_VERSION.match(str(found))
    version = ClusterVersion(int(parsed[1]), int(parsed[2])) if parsed else ClusterVersion(0, 0)
    if (version.major, version.minor) < OLDEST_VERSION:
        oldest = ".".join(map(str, OLDEST_VERSION))
        raise Conflict(f"The coordinator has {str(found).split(' on ')[0]}, but normstat needs Citus {oldest} or newer")
    return version


def is_laid_out(connection: Connection) -> bool:
    """Return whether the tables are distributed."""
    return _ask(connection, HAS_LAYOUT) is True


def lay_out(connection: Connection) -> list[str]:
    """Distribute the tables of an empty database in one transaction; return the names of those that are.

    Raises: Conflict when Citus is missing or too old, there is no worker, or the database has data
    """
    require_citus(connection)
    if _ask(connection, HAS_TIMESCALEDB) is True:
        raise Conflict("The database has the extension timescaledb, which Citus cannot distribute; use a database without it")
    if is_laid_out(connection):
        raise Conflict("The tables of this database are distributed already; `normstat cluster status` shows where they are")
    if _ask(connection, HAS_COORDINATOR) is not True or not _ask(connection, N_WORKERS):
        raise Conflict("The cluster has no worker; run `normstat cluster add-worker HOST` first")
    present = {str(name) for (name,) in connection.execute(PRESENT, [[*OF_HOSTS, EVERYWHERE, "hosts"]]).fetchall()}
    _require_empty(connection, sorted(present))
    names = [name for name in OF_HOSTS if name in present]
    with connection.transaction():
        connection.execute(ONE_BY_ONE)
        distributed = [f"public.{name}" for name in (*names, EVERYWHERE)]
        for table, key in connection.execute(FOREIGN_KEYS, {"names": distributed}).fetchall():
            # Names of regclass are quoted where they must be.
            connection.execute(f"ALTER TABLE {table} DROP CONSTRAINT {sql.Identifier(str(key)).as_string()}".encode())
        for name in names:
            _fit(connection, name)
        connection.execute("SELECT create_reference_table(%s)", [f"public.{EVERYWHERE}"])
        for name in names:
            with_table = "none" if f"public.{name}" == FIRST_TABLE else FIRST_TABLE
            statement = sql.SQL(DISTRIBUTE).format(table=sql.Literal(f"public.{name}"), with_table=sql.Literal(with_table))
            connection.execute(statement)
    return [*names, EVERYWHERE]


def _require_empty(connection: Connection, names: list[str]) -> None:
    full = [name for name in names if _has_rows(connection, name)]
    if full or _ask(connection, SAMPLE_TABLES) is True:
        raise Conflict(
            f"The database has data ({', '.join(full) or 'tables of samples'}); `cluster init` needs an empty one: back this one up"
            " with `normstat backup`, and restore it into the new cluster"
        )


def _has_rows(connection: Connection, name: str) -> bool:
    statement = sql.SQL("SELECT EXISTS (SELECT FROM {})").format(sql.Identifier("public", name))
    return connection.execute(statement).fetchone() == (True,)


def _fit(connection: Connection, name: str) -> None:
    """Change the table as Citus needs it."""
    table = sql.Identifier("public", name)
    if name == WIDER_HOST_ID:
        connection.execute(sql.SQL("ALTER TABLE {} ALTER COLUMN host_id TYPE int4").format(table))
    if name in OF_STREAMS:
        statement = (
            "ALTER TABLE {table} DROP CONSTRAINT {key}, ADD COLUMN {host_id} int4 NOT NULL,"
            " ADD CONSTRAINT {key} PRIMARY KEY ({all})"
        )
        parts = [sql.Identifier(column) for column in (HOST_ID, "stream_id", "start_offset")]
        connection.execute(
            sql.SQL(statement).format(
                table=table, key=sql.Identifier(f"pk_{name}"), host_id=sql.Identifier(HOST_ID), all=sql.SQL(", ").join(parts)
            )
        )


def _ask(connection: Connection, query: str) -> object:
    row = connection.execute(query.encode()).fetchone()
    return None if row is None else row[0]
