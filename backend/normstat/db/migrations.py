"""Migrates a database to the schema of this program: finds the folder `migrations/` and runs Alembic."""

from typing import Final

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from normstat.db.schema_version import RESTORE_SCHEMA, find_migrations_dir, half_restored
from normstat.db.session import make_sync_engine
from normstat.errors import MigrationError

# Two servers that start at once must not both migrate. Any number does, as long as it never changes.
MIGRATION_LOCK: Final = 0x6E6F726D_00000001
LOCK_TIMEOUT: Final = "60s"


def make_config(database_url: str) -> Config:
    """Return Alembic's configuration for that database; migrations/env.py takes the URL from its attributes."""
    config = Config()
    # ConfigParser reads % as the start of a variable.
    config.set_main_option("script_location", str(find_migrations_dir()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["database_url"] = database_url
    return config


def upgrade(database_url: str, revision: str = "head") -> None:
    """Run all pending migrations; concurrent callers wait for each other.

    Raises: MigrationError when the database has a version that this program does not know, or is restored in part
    """
    config = make_config(database_url)
    engine = make_sync_engine(database_url)
    try:
        # The lock is on a connection of its own, and is released when that closes, whatever happened.
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text(f"SET lock_timeout = '{LOCK_TIMEOUT}'"))
            connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": MIGRATION_LOCK})
            _require_known(ScriptDirectory.from_config(config), MigrationContext.configure(connection).get_current_revision())
            if connection.scalar(text("SELECT to_regnamespace(:name) IS NOT NULL"), {"name": RESTORE_SCHEMA}):
                raise half_restored()
            command.upgrade(config, revision)
    finally:
        engine.dispose()


def _require_known(script: ScriptDirectory, current: str | None) -> None:
    if current is not None and current not in {known.revision for known in script.walk_revisions()}:
        raise MigrationError(
            f"The database has schema version {current!r}, which this program does not know: a newer normstat created it, or one "
            "from before the first release. Run that version, or restore the database from before its upgrade"
        )


def downgrade(database_url: str, revision: str) -> None:
    """Undo migrations down to that revision ("base": all, with every sample)."""
    command.downgrade(make_config(database_url), revision)


def check(database_url: str) -> None:
    """Raise alembic.util.CommandError when the models and the database differ."""
    command.check(make_config(database_url))
