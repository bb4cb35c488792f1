"""Checks that the database has the schema of this program. Without Alembic and SQLAlchemy: each start asks this."""

import re
from pathlib import Path
from typing import Final

import psycopg
from psycopg.conninfo import make_conninfo

from normstat.db.connecting import IS_DISTRIBUTED, connect_arguments, is_citus
from normstat.errors import DatabaseAway, HalfRestored, MigrationError
from normstat.runtime.installed_files import migration_places
from normstat.settings import load_settings

# Where a restore keeps its state until it is complete.
RESTORE_SCHEMA: Final = "normstat_restore"
REVISION: Final = re.compile(r'^revision = "(\w+)"$', re.MULTILINE)
DOWN_REVISION: Final = re.compile(r'^down_revision = (?:None|"(\w+)")$', re.MULTILINE)
HAS_VERSION: Final = f"SELECT to_regclass('alembic_version') IS NOT NULL, to_regnamespace(%s) IS NOT NULL, {IS_DISTRIBUTED}"
VERSION: Final = "SELECT version_num FROM alembic_version"


def find_migrations_dir() -> Path:
    """Return the folder `migrations/`: the setting's, else the wheel's or the checkout's, else the working folder's.

    Raises: MigrationError when there is none
    """
    places = migration_places(load_settings().migrations_dir)
    for place in places:
        if (place / "env.py").is_file():
            return place
    tried = ", ".join(str(place) for place in places)
    raise MigrationError(f"Found no folder with migrations (looked in {tried}); set NORMSTAT_MIGRATIONS_DIR")


def read_newest_version() -> str:
    """Return the version that the migrations lead to: the one that none of them comes after.

    Raises: MigrationError when there is no such one, or more than one
    """
    found: dict[str, str | None] = {}
    for path in (find_migrations_dir() / "versions").glob("*.py"):
        source = path.read_text(encoding="utf-8")
        revision, before = REVISION.search(source), DOWN_REVISION.search(source)
        if revision is None or before is None:
            raise MigrationError(f"{path} does not say which migration it is; restore the file")
        found[revision[1]] = before[1]
    newest = found.keys() - set(found.values())
    if len(newest) != 1:
        raise MigrationError(f"Expected one newest migration, found {', '.join(sorted(newest)) or 'none'}; restore the folder")
    return newest.pop()


def half_restored() -> HalfRestored:
    """Return the error of a database into which a restore was interrupted."""
    return HalfRestored(
        "A restore into this database was interrupted. Continue it with the same backup: normstat restore DIR, or"
        " normstat up --restore DIR for a database of normstat up. To give it up, use an empty database"
    )


def require_current_schema(database_url: str, *, may_be_undistributed: bool = False) -> None:
    """Check that the database has the schema version of this program, and is one database or a cluster, as the settings say.

    Raises: MigrationError when it has another one, or is not what they say; DatabaseAway when it is unavailable
    """
    expected = read_newest_version()
    found = None
    try:
        with psycopg.connect(make_conninfo("", **connect_arguments(database_url)), autocommit=True) as connection:
            row = connection.execute(HAS_VERSION, [RESTORE_SCHEMA]).fetchone()
            has_version, is_half_restored, is_distributed = row or (False, False, False)
            if has_version and (row := connection.execute(VERSION).fetchone()) is not None:
                found = str(row[0])
    except psycopg.OperationalError as error:
        cause = (str(error).strip().splitlines() or [""])[0]
        raise DatabaseAway(
            f"The database is unavailable ({cause}); check that it is running and that NORMSTAT_DATABASE_URL is right"
        ) from error
    if is_half_restored:
        raise half_restored()
    if found != expected:
        raise MigrationError(
            f"The database has schema version {found or 'none'}, but this program needs {expected}; run `normstat migrate` first"
        )
    if is_distributed and not is_citus():
        raise MigrationError("This database is the coordinator of a Citus cluster; set NORMSTAT_DISTRIBUTED=citus")
    if is_citus() and not is_distributed and not may_be_undistributed:
        raise MigrationError(
            "NORMSTAT_DISTRIBUTED is citus, but the tables of this database are not distributed; run `normstat cluster init` first"
        )
