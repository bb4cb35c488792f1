"""The database into which a backup is restored: whether it is empty or partly restored, and from which backup.

During a restore its schema `normstat_restore` names the backup and the restored pieces; no server starts on such a database. The
schema is dropped when everything is restored.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Final

from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from psycopg import sql

from normstat.backup.backup_files import Connection
from normstat.backup.backup_plan import LEFT_OUT, PUBLIC
from normstat.backup.manifest import BackupPiece, Manifest
from normstat.db.cluster_layout import is_laid_out, lay_out
from normstat.db.connecting import is_citus
from normstat.db.leader import LEADER_LOCK_HALVES
from normstat.db.migrations import downgrade, make_config, upgrade
from normstat.db.schema.all_models import Base
from normstat.db.schema.job_models import ASKED_BY_CLOCK
from normstat.db.schema_version import RESTORE_SCHEMA
from normstat.db.session import make_sync_engine
from normstat.errors import Conflict
from normstat.samples.stat_tables import SCHEMA

ELSEWHERE: Final = "Restore into an empty database; with normstat up --restore, choose a data folder without data (--data)"
# Any number that no other advisory lock uses.
RESTORE_LOCK: Final = 0x6E6F726D_00000013
HAS_SCHEMA: Final = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = %s)"
# By table, the condition for rows that the first start of a server does not write.
OF_FIRST_START: Final[Mapping[str, str]] = {
    "audit_entries": "false",
    "storage_days": "false",
    "jobs": f"asked_by <> '{ASKED_BY_CLOCK}'",
    "users": "password_hash IS NOT NULL OR provider_issuer IS NOT NULL OR role <> 'administrator'"
    " OR id <> (SELECT min(id) FROM users)",
    "agent_tokens": "last_used_at IS NOT NULL OR created_by <> 'command line'",
    # Those that such a token is for.
    "hosts": "NOT EXISTS (SELECT FROM agent_tokens AS t WHERE t.host_id = hosts.id AND t.last_used_at IS NULL)",
}
TABLES: Final = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'alembic_version' ORDER BY tablename"
IS_LED: Final = """
    SELECT EXISTS (
        SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND classid = %(high)s AND objid = %(low)s
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    )
"""
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
                    "This database is partly restored from another backup, or from an older state of this one. Continue with that"
                    " one, or restore into an empty database"
                )
            return True
        if self._read_revision() is not None:
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
        found = self._read_revision()
        if found is not None and not is_citus() and (self._require_empty() or found != self._manifest.revision):
            # Rows of a first start, or tables of another version.
            downgrade(self._database_url, "base")
        upgrade(self._database_url, self._manifest.revision)
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
        known = {script.revision for script in scripts.walk_revisions()}
        if wanted not in known:
            raise Conflict(f"The backup has the schema {wanted}, which this program does not know; use a newer normstat")
        engine = make_sync_engine(self._database_url)
        try:
            with engine.connect() as connection:
                found = MigrationContext.configure(connection).get_current_revision()
        finally:
            engine.dispose()
        if found is not None and found not in known:
            raise Conflict(f"The database has the schema {found}, which this program does not know; use a newer normstat")
        return found

    def _named(self) -> str:
        return hashlib.sha256(json.dumps(asdict(self._manifest), sort_keys=True).encode()).hexdigest()

    def _require_empty(self) -> bool:
        """Return whether the database has what a first start of a server writes; it must have nothing else, and no server.

        Raises: Conflict
        """
        has_rows = False
        # Extensions and others may have tables beside ours.
        ours = {*self._manifest.tables, *Base.metadata.tables} - set(LEFT_OUT)
        for (name,) in self._connection.execute(TABLES).fetchall():
            if name not in ours:
                continue
            rows = sql.SQL("SELECT EXISTS (SELECT FROM {}), EXISTS (SELECT FROM {} WHERE {})").format(
                sql.Identifier(PUBLIC, str(name)), sql.Identifier(PUBLIC, str(name)), sql.SQL(OF_FIRST_START.get(str(name), "true"))
            )
            row = self._connection.execute(rows).fetchone()
            assert row is not None
            has_rows |= row[0] is True
            if row[1] is True or (row[0] is True and is_citus()):
                raise Conflict(f"The database is not empty: {name} has rows. {ELSEWHERE}")
        if self._is(HAS_SAMPLES, SCHEMA):
            raise Conflict(f"The database is not empty: it has sample tables. {ELSEWHERE}")
        if has_rows and self._connection.execute(IS_LED, LEADER_LOCK_HALVES).fetchone() == (True,):
            raise Conflict(
                "A server is running on this database; stop it first, or use normstat up --restore, which starts one after it"
            )
        return has_rows

    def _is(self, query: str, name: str) -> bool:
        return self._connection.execute(query, [name]).fetchone() == (True,)

    def _sql(self, statement: str) -> sql.Composed:
        return sql.SQL(statement).format(schema=sql.Identifier(RESTORE_SCHEMA))
