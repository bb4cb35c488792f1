"""The role that owns the database: normstat does everything as this role, never as a superuser.

`normstat up` and `normstat own-database` create it, as the superuser, before the first migration.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, LiteralString

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from normstat.errors import NormstatError
from normstat.local.running_installation import ADMIN_ROLE

MAINTENANCE_DATABASE: Final = "postgres"

ROLE: Final = """
    SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls
    FROM pg_roles WHERE rolname = %s
"""
# As in the first migration: without the library loaded, CREATE EXTENSION ends the connection.
HAS_TIMESCALEDB: Final = """
    SELECT current_setting('timescaledb.disable_load', true) IS NOT NULL
        AND EXISTS (SELECT FROM pg_available_extensions WHERE name = 'timescaledb')
"""


class OwnerError(NormstatError):
    """The owner of the database cannot be created; the message says why."""

    code: ClassVar[str] = "database_owner"


@dataclass(frozen=True, slots=True)
class _Owner:
    """The parts of the owner's URL."""

    name: str
    password: str
    database: str


def make_owner(admin_url: str, owner_url: str, watcher_url: str = "") -> bool:
    """Create the role, the database and the extension that normstat needs; return whether the role had more privileges before.

    `admin_url` names the superuser, with its password if there is one; the database is that of `owner_url`; `watcher_url` the role
    that the agent records the database as, and its password. Empty: none. An interrupted call is completed by the next one.
    Raises: OwnerError
    """
    parsed = conninfo_to_dict(owner_url)
    owner = _Owner(str(parsed.get("user") or ""), str(parsed.get("password") or ""), str(parsed.get("dbname") or ""))
    if not owner.name or not owner.database:
        raise OwnerError("the database URL names no role or no database: postgresql://ROLE:PASSWORD@HOST/DATABASE")
    try:
        with _connect(admin_url, MAINTENANCE_DATABASE) as admin:
            _close_password(admin, admin_url)
            is_converted = _make_role(admin, owner)
            _make_database(admin, owner)
            if watcher_url:
                _make_watcher(admin, conninfo_to_dict(watcher_url))
        with _connect(admin_url, owner.database) as admin:
            if admin.execute(HAS_TIMESCALEDB).fetchone() == (True,):
                admin.execute("CREATE EXTENSION IF NOT EXISTS timescaledb")
    except psycopg.Error as error:
        raise OwnerError(f"the owner of the database could not be created: {str(error).strip()}") from error
    return is_converted


def _connect(url: str, database: str) -> psycopg.Connection:
    return psycopg.connect(make_conninfo(url, dbname=database), autocommit=True)


def _close_password(admin: psycopg.Connection, admin_url: str) -> None:
    """Remove the password of our superuser where the URL has none: it is reached by a socket, and others could guess a password."""
    parsed = conninfo_to_dict(admin_url)
    if parsed.get("user") == ADMIN_ROLE and not parsed.get("password"):
        admin.execute(sql.SQL("ALTER ROLE {} PASSWORD NULL").format(sql.Identifier(ADMIN_ROLE)))


def _make_role(admin: psycopg.Connection, owner: _Owner) -> bool:
    """Create the owner's role, or remove its privileges."""
    role = sql.Identifier(owner.name)
    found = admin.execute(ROLE, [owner.name]).fetchone()
    has_rights = found is not None and bool(found[0])
    with admin.transaction():
        if found is None:
            admin.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
        elif has_rights:
            admin.execute(sql.SQL("ALTER ROLE {} NOSUPERUSER NOCREATEROLE NOCREATEDB NOREPLICATION NOBYPASSRLS").format(role))
        if owner.password:
            admin.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(role, sql.Literal(owner.password)))
        # Lets it find the database's folder, to measure free disk space.
        admin.execute(sql.SQL("GRANT pg_read_all_settings TO {}").format(role))
    return has_rights


def _make_watcher(admin: psycopg.Connection, watcher: Mapping[str, object]) -> None:
    """Create the role that sees what the server does, and no table."""
    role = sql.Identifier(str(watcher["user"]))
    if admin.execute(ROLE, [watcher["user"]]).fetchone() is None:
        admin.execute(sql.SQL("CREATE ROLE {} LOGIN CONNECTION LIMIT 2").format(role))
    admin.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(role, sql.Literal(watcher["password"])))
    admin.execute(sql.SQL("GRANT pg_monitor TO {}").format(role))


def _make_database(admin: psycopg.Connection, owner: _Owner) -> None:
    names = {"database": sql.Identifier(owner.database), "owner": sql.Identifier(owner.name)}
    is_there = admin.execute("SELECT FROM pg_database WHERE datname = %s", [owner.database]).fetchone() is not None
    statement: LiteralString = (
        "ALTER DATABASE {database} OWNER TO {owner}" if is_there else "CREATE DATABASE {database} OWNER {owner}"
    )
    admin.execute(sql.SQL(statement).format(**names))
