"""The role that owns the database: normstat does everything as this role, never as a superuser.

`normstat up` and `normstat own-database` create it, as the superuser, before the first migration. A cluster of an earlier version
has one role, which is both: it is renamed and can no longer log in, and a new role of its name gets what it owned, but not its
privileges.
"""

from dataclasses import dataclass
from typing import ClassVar, Final, LiteralString

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from normstat.errors import NormstatError
from normstat.local.running_database import ADMIN_ROLE

# The superuser that initdb created keeps its privileges (PostgreSQL insists on it), but nobody can log in as it.
RETIRED_ROLE: Final = "normstat_bootstrap"
BOOTSTRAP_OID: Final = 10
MAINTENANCE_DATABASE: Final = "postgres"

ROLE: Final = """
    SELECT oid::int8, rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls
    FROM pg_roles WHERE rolname = %s
"""
# As in the first migration: without the library loaded, CREATE EXTENSION ends the connection.
HAS_TIMESCALEDB: Final = """
    SELECT current_setting('timescaledb.disable_load', true) IS NOT NULL
        AND EXISTS (SELECT FROM pg_available_extensions WHERE name = 'timescaledb')
"""
# Statements that transfer what the old role owns in this database, except what belongs to extensions or follows a table.
# TimescaleDB transfers the chunks with their hypertable.
TRANSFERS: Final = """
    WITH mine AS (
        SELECT oid, nspname FROM pg_namespace
        WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' AND nspname !~ '^_?timescaledb_'
    ), held AS (
        SELECT classid, objid FROM pg_depend
        WHERE deptype = 'e' OR (classid = 'pg_class'::regclass AND objsubid = 0 AND refclassid = 'pg_class'::regclass
            AND refobjsubid > 0 AND deptype IN ('a', 'i'))
    )
    SELECT format('ALTER SCHEMA %%I OWNER TO %%I', nspname, %(owner)s::text) AS statement
    FROM pg_namespace JOIN mine USING (oid, nspname)
    WHERE nspowner = %(old)s::oid AND NOT EXISTS (
        SELECT FROM held WHERE classid = 'pg_namespace'::regclass AND objid = pg_namespace.oid)
    UNION ALL
    SELECT format(
        'ALTER %%s %%I.%%I OWNER TO %%I',
        CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END,
        nspname, relname, %(owner)s::text)
    FROM pg_class JOIN mine ON mine.oid = relnamespace
    WHERE relowner = %(old)s::oid AND relkind IN ('r', 'p', 'v', 'm', 'S') AND NOT EXISTS (
        SELECT FROM held WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid)
    UNION ALL
    SELECT format('ALTER ROUTINE %%s OWNER TO %%I', pg_proc.oid::regprocedure, %(owner)s::text)
    FROM pg_proc JOIN mine ON mine.oid = pronamespace
    WHERE proowner = %(old)s::oid AND NOT EXISTS (
        SELECT FROM held WHERE classid = 'pg_proc'::regclass AND objid = pg_proc.oid)
    UNION ALL
    SELECT format('ALTER TYPE %%I.%%I OWNER TO %%I', nspname, typname, %(owner)s::text)
    FROM pg_type JOIN mine ON mine.oid = typnamespace
    WHERE typowner = %(old)s::oid AND typtype IN ('d', 'e', 'r') AND NOT EXISTS (
        SELECT FROM held WHERE classid = 'pg_type'::regclass AND objid = pg_type.oid)
"""
# The jobs that fill the columnstore (TimescaleDB's community edition) run as their owner.
JOBS: Final = """
    UPDATE _timescaledb_config.bgw_job SET owner = %(owner)s::regrole WHERE owner = %(old)s::oid AND hypertable_id IS NOT NULL
"""
HAS_EXTENSION: Final = "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'timescaledb')"


class OwnerError(NormstatError):
    """The owner of the database cannot be created; the message says why."""

    code: ClassVar[str] = "database_owner"


@dataclass(frozen=True, slots=True)
class _Owner:
    """The parts of the owner's URL."""

    name: str
    password: str
    database: str


def make_owner(admin_url: str, owner_url: str) -> bool:
    """Create the role, the database and the extension that normstat needs; return whether a role with more privileges was
    converted.

    `admin_url` names the superuser, with its password if there is one; the database is that of `owner_url`. If that superuser does
    not exist yet, the owner creates it: it is a superuser itself then. An interrupted call is completed by the next one.
    Raises: OwnerError
    """
    parsed = conninfo_to_dict(owner_url)
    owner = _Owner(str(parsed.get("user") or ""), str(parsed.get("password") or ""), str(parsed.get("dbname") or ""))
    if not owner.name or not owner.database:
        raise OwnerError("the database URL names no role or no database: postgresql://ROLE:PASSWORD@HOST/DATABASE")
    try:
        _require_admin(admin_url, owner)
        with _connect(admin_url, MAINTENANCE_DATABASE) as admin:
            is_converted = _make_role(admin, owner)
            _make_database(admin, owner)
        with _connect(admin_url, owner.database) as admin:
            _fill_database(admin, owner)
    except psycopg.Error as error:
        raise OwnerError(f"the owner of the database could not be created: {str(error).strip()}") from error
    return is_converted


def _connect(url: str, database: str, **changes: str) -> psycopg.Connection:
    return psycopg.connect(make_conninfo(url, dbname=database, **changes), autocommit=True)


def _require_admin(admin_url: str, owner: _Owner) -> None:
    """Create the superuser if it is missing: clusters of an earlier version have only the owner."""
    parsed = conninfo_to_dict(admin_url)
    name, password = str(parsed.get("user") or ADMIN_ROLE), str(parsed.get("password") or "")
    try:
        with _connect(admin_url, MAINTENANCE_DATABASE) as admin:
            if name == ADMIN_ROLE and not password:
                # Ours, and reached without a password through a socket: with a password, others could guess it.
                admin.execute(sql.SQL("ALTER ROLE {} PASSWORD NULL").format(sql.Identifier(name)))
    except psycopg.OperationalError as error:
        try:
            old = _connect(admin_url, MAINTENANCE_DATABASE, user=owner.name, password=owner.password)
        except psycopg.OperationalError:
            raise error from None
        with old:
            role = sql.Identifier(name)
            if old.execute(ROLE, [name]).fetchone() is None:
                old.execute(sql.SQL("CREATE ROLE {} SUPERUSER LOGIN").format(role))
            if password:
                old.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(role, sql.Literal(password)))


def _make_role(admin: psycopg.Connection, owner: _Owner) -> bool:
    """Create the owner's role, or remove its privileges."""
    role = sql.Identifier(owner.name)
    found = admin.execute(ROLE, [owner.name]).fetchone()
    has_rights = found is not None and bool(found[1])
    with admin.transaction():
        if found is not None and found[0] == BOOTSTRAP_OID:
            admin.execute(sql.SQL("ALTER ROLE {} RENAME TO {}").format(role, sql.Identifier(RETIRED_ROLE)))
            admin.execute(sql.SQL("ALTER ROLE {} NOLOGIN PASSWORD NULL").format(sql.Identifier(RETIRED_ROLE)))
            found = None
        if found is None:
            admin.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
        elif has_rights:
            admin.execute(sql.SQL("ALTER ROLE {} NOSUPERUSER NOCREATEROLE NOCREATEDB NOREPLICATION NOBYPASSRLS").format(role))
        if owner.password:
            admin.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(role, sql.Literal(owner.password)))
        # Lets it find the database's folder, to measure free disk space.
        admin.execute(sql.SQL("GRANT pg_read_all_settings TO {}").format(role))
    return has_rights


def _make_database(admin: psycopg.Connection, owner: _Owner) -> None:
    names = {"database": sql.Identifier(owner.database), "owner": sql.Identifier(owner.name)}
    is_there = admin.execute("SELECT FROM pg_database WHERE datname = %s", [owner.database]).fetchone() is not None
    statement: LiteralString = (
        "ALTER DATABASE {database} OWNER TO {owner}" if is_there else "CREATE DATABASE {database} OWNER {owner}"
    )
    admin.execute(sql.SQL(statement).format(**names))


def _fill_database(admin: psycopg.Connection, owner: _Owner) -> None:
    """Add the extension, and transfer what another role owns."""
    if admin.execute(HAS_TIMESCALEDB).fetchone() == (True,):
        admin.execute("CREATE EXTENSION IF NOT EXISTS timescaledb")
    retired = admin.execute("SELECT oid::int8 FROM pg_roles WHERE rolname = %s", [RETIRED_ROLE]).fetchone()
    if retired is None:
        return
    values = {"owner": owner.name, "old": retired[0]}
    for (statement,) in admin.execute(TRANSFERS, values).fetchall():
        # One at a time: a hypertable of years locks all of its chunks.
        admin.execute(sql.SQL(statement))
    if admin.execute(HAS_EXTENSION).fetchone() == (True,):
        admin.execute(JOBS, values)
