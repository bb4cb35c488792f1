"""The migrations on both databases: up, clean, down and up again."""

import concurrent.futures
from pathlib import Path

import psycopg
import pytest
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from typer.testing import CliRunner

from normstat.cli import app
from normstat.db import migrations, schema_version
from normstat.db.schema_version import read_newest_version, require_current_schema
from normstat.errors import BadRequest, DatabaseAway, MigrationError
from normstat.settings import load_settings
from tests.databases import TestServer, on_either_database

TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"


def differences(url: str) -> str:
    """Return how the tables differ from the models; empty when they do not."""
    try:
        migrations.check(url)
    except CommandError as error:
        return str(error)
    return ""


def version(url: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT version_num FROM alembic_version").fetchall()


def test_migrated_database_equals_the_models(database_url: str) -> None:
    assert differences(database_url) == ""


def test_check_sees_a_difference(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("ALTER TABLE hosts ADD COLUMN forgotten text")
    assert "forgotten" in differences(database_url)


def test_down_leaves_nothing_and_up_again_works(database_url: str) -> None:
    migrations.downgrade(database_url, "base")
    with psycopg.connect(database_url) as connection:
        assert connection.execute(TABLES).fetchall() == [("alembic_version",)]
        assert connection.execute("SELECT FROM pg_namespace WHERE nspname = 'stat'").fetchall() == []
    migrations.upgrade(database_url)
    assert differences(database_url) == ""


def test_two_servers_may_migrate_at_once(empty_database_url: str) -> None:
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(migrations.upgrade, [empty_database_url] * 2))
    assert version(empty_database_url) == [
        (ScriptDirectory.from_config(migrations.make_config(empty_database_url)).get_current_head(),)
    ]
    assert differences(empty_database_url) == ""


def test_database_of_a_newer_program_is_refused(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(MigrationError, match="newer normstat"):
        migrations.upgrade(database_url)


def test_the_newest_version_is_that_of_alembic() -> None:
    assert read_newest_version() == ScriptDirectory.from_config(migrations.make_config("postgresql://")).get_current_head()


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "found none"),
        ({"0001": None, "0002": "0001", "0003": "0001"}, "found 0002, 0003"),
        ({"0001": "0002", "0002": "0001"}, "found none"),
    ],
)
def test_migrations_without_one_end_are_refused(
    files: dict[str, str | None], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "versions").mkdir()
    (tmp_path / "env.py").touch()
    for revision, before in files.items():
        down = "None" if before is None else f'"{before}"'
        (tmp_path / "versions" / f"{revision}.py").write_text(f'"""x."""\n\nrevision = "{revision}"\ndown_revision = {down}\n')
    monkeypatch.setattr(schema_version, "find_migrations_dir", lambda: tmp_path)
    with pytest.raises(MigrationError, match=said):
        read_newest_version()
    (tmp_path / "versions" / "odd.py").write_text("# cut off")
    with pytest.raises(MigrationError, match="does not say which migration it is"):
        read_newest_version()


@on_either_database
def test_only_the_current_schema_is_served(empty_database_url: str) -> None:
    with pytest.raises(MigrationError, match="schema version none, but"):
        require_current_schema(empty_database_url)
    migrations.upgrade(empty_database_url)
    require_current_schema(empty_database_url)
    with psycopg.connect(empty_database_url) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0001'")
    with pytest.raises(MigrationError, match="schema version 0001, but"):
        require_current_schema(empty_database_url)
    with pytest.raises(MigrationError, match="from before the first release"):
        migrations.upgrade(empty_database_url)
    with pytest.raises(DatabaseAway, match="unavailable"):
        require_current_schema(empty_database_url.rpartition("/")[0] + "/no_such_database")


def test_extension_is_there_only_on_timescaledb(database_url: str, server: TestServer) -> None:
    with psycopg.connect(database_url) as connection:
        found = connection.execute("SELECT FROM pg_extension WHERE extname = 'timescaledb'").fetchall()
    assert len(found) == (0 if server.name == "postgresql" else 1)


def test_url_that_libpq_does_not_understand_is_named() -> None:
    with pytest.raises(BadRequest, match="libpq"):
        migrations.upgrade("mysql://x/y")


@on_either_database
def test_command_migrates_from_any_folder_and_says_what_is_wrong(
    empty_database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NORMSTAT_DATABASE_URL", empty_database_url)
    load_settings.cache_clear()
    done = CliRunner().invoke(app, ["migrate"])
    assert (done.exit_code, done.stderr) == (0, "")
    migrations.check(empty_database_url)
    with psycopg.connect(empty_database_url) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    refused = CliRunner().invoke(app, ["migrate"])
    load_settings.cache_clear()
    assert refused.exit_code == 1
    assert refused.stderr.startswith("normstat: The database has schema version '9999'")
