"""Checks that the database has the schema of this program."""

from typing import Final

from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect
from sqlalchemy.exc import OperationalError

from normstat.errors import DatabaseAway, MigrationError
from normstat.storage.schema.migrations import make_config
from normstat.storage.session import make_sync_engine

# Where a restore keeps its state until it is complete.
RESTORE_SCHEMA: Final = "normstat_restore"


def require_current_schema(database_url: str) -> None:
    """Check that the database has the schema version of this program.

    Raises: MigrationError when it has another one; DatabaseAway when it is unavailable
    """
    expected = ScriptDirectory.from_config(make_config(database_url)).get_current_head()
    engine = make_sync_engine(database_url)
    try:
        with engine.connect() as connection:
            found = MigrationContext.configure(connection).get_current_revision()
            is_half_restored = inspect(connection).has_schema(RESTORE_SCHEMA)
    except OperationalError as error:
        cause = str(error.orig).strip().splitlines()[0]
        raise DatabaseAway(
            f"The database is unavailable ({cause}); check that it is running and that NORMSTAT_DATABASE_URL is right"
        ) from error
    finally:
        engine.dispose()
    if is_half_restored:
        raise MigrationError("A restore into this database is incomplete; run `normstat restore` with the same backup again")
    if found != expected:
        raise MigrationError(
            f"The database has schema version {found or 'none'}, but this program needs {expected}; run `normstat migrate` first"
        )
