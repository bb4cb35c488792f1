"""The database that a backup is restored into: is it empty, is it half restored, and from what.

While a restore is under way its schema `normstat_restore` names the backup and the pieces that are in; no server starts on such a
database. It goes when everything is in.
"""

import hashlib
import json
from dataclasses import asdict
from typing import Final

from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from psycopg import sql

from normstat.errors import Conflict
from normstat.storage.backup.backup_files import Connection
from normstat.storage.backup.backup_plan import PUBLIC
from normstat.storage.backup.manifest import Manifest, Piece
from normstat.storage.schema.migrations import make_config, upgrade
from normstat.storage.schema.schema_version import RESTORE_SCHEMA
from normstat.storage.session import make_sync_engine
from normstat.storage.stat_tables import SCHEMA

# Any number that no other advisory lock has.
RESTORE_LOCK: Final = 0x6E6F726D_00000013
HAS_SCHEMA: Final = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = %s)"
HAS_SAMPLES: Final = "SELECT EXISTS (SELECT FROM pg_class WHERE relnamespace = %s::text::regnamespace AND relkind IN ('r', 'p'))"


class Target:
    """The database, locked against another restore for as long as the connection lasts."""

    def __init__(self, database_url: str, connection: Connection, manifest: Manifest) -> None:
        self._database_url = database_url
        self._connection = connection
        self._manifest = manifest
        self._done: set[str] = set()

    def look(self) -> bool:
        """Return whether a restore of the same backup was interrupted here; changes nothing.

        Raises: Conflict when the database is neither that nor empty, or when somebody restores into it
        """
        row = self._connection.execute("SELECT pg_try_advisory_lock(%s)", [RESTORE_LOCK]).fetchone()
        if row != (True,):
            raise Conflict("Another restore works on this database")
        if self._is(HAS_SCHEMA, RESTORE_SCHEMA):
            found = self._connection.execute(self._sql("SELECT manifest FROM {schema}.source")).fetchone()
            if found != (self._named(),):
                raise Conflict(
                    "This database is half restored from another backup, or from an older state of this one; empty it first"
                )
            return True
        revision = self._read_revision()
        if revision is not None:
            if revision != self._manifest.revision:
                raise Conflict(
                    f"The database has the schema {revision} and the backup {self._manifest.revision}; take one without tables"
                )
            self._require_empty()
        return False

    def open(self) -> None:
        """Make the empty database ready, or go on where a restore of the same backup was interrupted.

        Raises: Conflict
        """
        if self.look():
            rows = self._connection.execute(self._sql("SELECT key FROM {schema}.pieces")).fetchall()
            self._done = {str(key) for (key,) in rows}
            return
        upgrade(self._database_url, self._manifest.revision)
        self._require_empty()
        with self._connection.transaction():
            self._connection.execute(self._sql("CREATE SCHEMA {schema}"))
            self._connection.execute(self._sql("CREATE TABLE {schema}.source (manifest text NOT NULL)"))
            self._connection.execute(self._sql("CREATE TABLE {schema}.pieces (key text PRIMARY KEY)"))
            self._connection.execute(self._sql("INSERT INTO {schema}.source VALUES (%s)"), [self._named()])

    def has(self, piece: Piece) -> bool:
        """Return whether the piece is in."""
        return piece.key in self._done

    def note(self, piece: Piece) -> None:
        """Note that the piece is in, in the transaction that brought it."""
        self._connection.execute(self._sql("INSERT INTO {schema}.pieces VALUES (%s)"), [piece.key])

    def close(self) -> None:
        """Everything is in: an ordinary database from now on, with the newest schema of this program."""
        self._connection.execute(self._sql("DROP SCHEMA {schema} CASCADE"))
        upgrade(self._database_url)

    def _read_revision(self) -> str | None:
        """Return the version of the database's schema. Missing: None without any tables."""
        wanted = self._manifest.revision
        scripts = ScriptDirectory.from_config(make_config(self._database_url))
        if wanted not in {script.revision for script in scripts.walk_revisions()}:
            raise Conflict(f"The backup has the schema {wanted}, which this program does not know; use a newer normstat")
        engine = make_sync_engine(self._database_url)
        try:
            with engine.connect() as connection:
                return MigrationContext.configure(connection).get_current_revision()
        finally:
            engine.dispose()

    def _named(self) -> str:
        return hashlib.sha256(json.dumps(asdict(self._manifest), sort_keys=True).encode()).hexdigest()

    def _require_empty(self) -> None:
        for name in self._manifest.tables:
            row = self._connection.execute(
                sql.SQL("SELECT EXISTS (SELECT FROM {})").format(sql.Identifier(PUBLIC, name))
            ).fetchone()
            if row != (False,):
                raise Conflict(f"The database is not empty: there are rows in {name}; a backup is restored into an empty one")
        if self._is(HAS_SAMPLES, SCHEMA):
            raise Conflict("The database is not empty: there are tables of samples; a backup is restored into an empty one")

    def _is(self, query: str, name: str) -> bool:
        return self._connection.execute(query, [name]).fetchone() == (True,)

    def _sql(self, statement: str) -> sql.Composed:
        return sql.SQL(statement).format(schema=sql.Identifier(RESTORE_SCHEMA))
