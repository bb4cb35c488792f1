"""The migrations on both databases: up, clean, down and up again."""

import concurrent.futures
import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from normstat.errors import BadRequest, MigrationError
from normstat.store import migrations
from tests.databases import TestServer

TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"


def test_migrated_database_equals_the_models(database_url: str) -> None:
    migrations.check(database_url)


def test_check_sees_a_difference(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("ALTER TABLE hosts ADD COLUMN forgotten text")
    with pytest.raises(Exception, match="forgotten"):
        migrations.check(database_url)


def test_down_leaves_nothing_and_up_again_works(database_url: str) -> None:
    migrations.downgrade(database_url, "base")
    with psycopg.connect(database_url) as connection:
        assert connection.execute(TABLES).fetchall() == [("alembic_version",)]
        assert connection.execute("SELECT FROM pg_namespace WHERE nspname = 'stat'").fetchall() == []
    migrations.upgrade(database_url)
    migrations.check(database_url)


def test_two_servers_may_migrate_at_once(empty_database_url: str) -> None:
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(migrations.upgrade, empty_database_url) for _ in range(2)]:
            done.result()
    migrations.check(empty_database_url)


def test_database_of_a_newer_program_is_refused(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(MigrationError, match="newer normstat"):
        migrations.upgrade(database_url)


def test_extension_is_there_only_on_timescaledb(database_url: str, server: TestServer) -> None:
    with psycopg.connect(database_url) as connection:
        found = connection.execute("SELECT FROM pg_extension WHERE extname = 'timescaledb'").fetchall()
    assert len(found) == (0 if server.name == "postgresql" else 1)


def test_url_that_libpq_does_not_understand_is_named() -> None:
    with pytest.raises(BadRequest, match="libpq"):
        migrations.upgrade("mysql://x/y")


def test_command_migrates_from_any_folder_and_says_what_is_wrong(empty_database_url: str, tmp_path: Path) -> None:
    def run(url: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "normstat", "migrate"],
            env=os.environ | {"NORMSTAT_DATABASE_URL": url, "PYTHONPATH": str(Path(__file__).parents[2])},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stderr

    assert run(empty_database_url) == (0, "")
    migrations.check(empty_database_url)
    assert run(empty_database_url) == (0, "")
    with psycopg.connect(empty_database_url) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    status, said = run(empty_database_url)
    assert status == 1
    assert said.startswith("normstat: The database is at version '9999'")
