"""The database into which a backup is restored: whether it is empty or partly restored, and from which backup.

During a restore its schema `normstat_restore` names the backup and the restored pieces; no server starts on such a database. The
schema is dropped when everything is restored.
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
from normstat.storage.backup.manifest import BackupPiece, Manifest
from normstat.storage.cluster_layout import is_laid_out, lay_out
from normstat.storage.distribution import is_citus
from normstat.storage.schema.migrations import make_config, upgrade
from normstat.storage.schema.schema_version import RESTORE_SCHEMA
from normstat.storage.session import make_sync_engine
from normstat.storage.stat_tables import SCHEMA

# Any number that no other advisory lock uses.
RESTORE_LOCK: Final = 0x6E6F726D_00000013
HAS_SCHEMA: Final = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = %s)"
HAS_SAMPLES: Final = "SELECT EXISTS (SELECT FROM pg_class WHERE relnamespace = %s::text::regnamespace AND relkind IN ('r', 'p'))"


class RestoreTarget:
    """The database, locked against other restores while the connection lasts."""

    def __init__(self, database_url: str, connection: Connection, manifest: Manifest) -> None:
        self._database_url = database_url
        self._connection = connection
        self._manifest = manifest
        self._done: set[str] = set()

    def check(self) -> bool:
        """Return whether a restore of the same backup was interrupted here; changes nothing.

        Raises: Conflict when the database is neither that nor empty, or another restore is running
        """
        row = self._connection.execute("SELECT pg_try_advisory_lock(%s)", [RESTORE_LOCK]).fetchone()
        if row != (True,):
            raise Conflict("Another restore is running on this database")
        if self._is(HAS_SCHEMA, RESTORE_SCHEMA):
            found = self._connection.execute(self._sql("SELECT manifest FROM {schema}.source")).fetchone()
            if found != (self._named(),):
                raise Conflict(
                    "This database is partly restored from another backup, or from an older state of this one; empty it first"
                )
            return True
        revision = self._read_revision()
        if revision is not None:
            if revision != self._manifest.revision:
                raise Conflict(
                    f"The database has schema {revision} and the backup {self._manifest.revision}; use a database without tables"
                )
            self._require_empty()
        return False

    def open(self) -> None:
        """Prepare the empty database, or continue an interrupted restore of the same backup.

        Raises: Conflict
        """
        if self.check():
            rows = self._connection.execute(self._sql("SELECT key FROM {schema}.pieces")).fetchall()
            self._done = {str(key) for (key,) in rows}
            return
        upgrade(self._database_url, self._manifest.revision)
        self._require_empty()
        if is_citus() and not is_laid_out(self._connection):
            lay_out(self._connection)
        with self._connection.transaction():
            self._connection.execute(self._sql("CREATE SCHEMA {schema}"))
            self._connection.execute(self._sql("CREATE TABLE {schema}.source (manifest text NOT NULL)"))
            self._connection.execute(self._sql("CREATE TABLE {schema}.pieces (key text PRIMARY KEY)"))
            self._connection.execute(self._sql("INSERT INTO {schema}.source VALUES (%s)"), [self._named()])

    def has(self, piece: BackupPiece) -> bool:
        """Return whether the piece is restored."""
        return piece.key in self._done

    def note(self, piece: BackupPiece) -> None:
        """Record the piece as restored, in the same transaction."""
        self._connection.execute(self._sql("INSERT INTO {schema}.pieces VALUES (%s)"), [piece.key])

    def close(self) -> None:
        """Finish: turn it into an ordinary database with the newest schema of this program."""
        self._connection.execute(self._sql("DROP SCHEMA {schema} CASCADE"))
        upgrade(self._database_url)

    def _read_revision(self) -> str | None:
        """Return the schema version of the database. Missing: None without any tables."""
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
                raise Conflict(f"The database is not empty: {name} has rows; restore into an empty database")
        if self._is(HAS_SAMPLES, SCHEMA):
            raise Conflict("The database is not empty: it has sample tables; restore into an empty database")

    def _is(self, query: str, name: str) -> bool:
        return self._connection.execute(query, [name]).fetchone() == (True,)

    def _sql(self, statement: str) -> sql.Composed:
        return sql.SQL(statement).format(schema=sql.Identifier(RESTORE_SCHEMA))
