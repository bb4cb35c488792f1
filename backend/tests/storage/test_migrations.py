"""The migrations on both databases: up, clean, down and up again."""

import concurrent.futures
import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from alembic.script import ScriptDirectory
from alembic.util import CommandError

from normstat.errors import BadRequest, DatabaseAway, MigrationError
from normstat.storage.schema import migrations, schema_version
from normstat.storage.schema.schema_version import read_newest_version, require_current_schema
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
    migrations.upgrade(empty_database_url, "0001")
    with pytest.raises(MigrationError, match="schema version 0001, but"):
        require_current_schema(empty_database_url)
    migrations.upgrade(empty_database_url)
    require_current_schema(empty_database_url)
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
    assert said.startswith("normstat: The database has schema version '9999'")


def test_tables_of_before_go_on_with_their_columns(empty_database_url: str, server: TestServer) -> None:
    """0005 moves the wide tables, takes their second index away and puts views for people in their place."""
    migrations.upgrade(empty_database_url, "0004")
    with psycopg.connect(empty_database_url) as connection:
        connection.execute("INSERT INTO hosts (name) VALUES ('web1')")
        connection.execute("INSERT INTO stats (name, spec, spec_version) VALUES ('old_stat', 'old_stat', 1)")
        connection.execute(
            "INSERT INTO stat_fields (stat_id, key, position, definition, is_documented)"
            ' VALUES (1, \'share_pct\', 0, \'{"storage": "float4", "decimals": 2}\', true)'
        )
        connection.execute(
            "INSERT INTO instances (host_id, stat_id, name, first_sample_at, last_sample_at) VALUES (1, 1, 'a', now(), now())"
        )
        connection.execute(
            "CREATE TABLE stat.old_stat (time timestamptz NOT NULL, host_id int4 NOT NULL, instance_id int4 NOT NULL,"
            " stream_id int4 NOT NULL, line_offset int8 NOT NULL, printed text, share_pct real)"
        )
        if server.name == "timescaledb":
            connection.execute("SELECT create_hypertable('stat.old_stat', 'time', create_default_indexes => false)")
        connection.execute("CREATE INDEX ix_old_stat__host_instance_time ON stat.old_stat (host_id, instance_id, time)")
        connection.execute("CREATE INDEX ix_old_stat__host_time ON stat.old_stat (host_id, time)")
        connection.execute("CREATE VIEW stat.old_stat_named AS SELECT time, share_pct FROM stat.old_stat")
        connection.execute("INSERT INTO stat.old_stat VALUES ('2026-11-21 12:00Z', 1, 1, 1, 0, NULL, 12.34)")
    migrations.upgrade(empty_database_url)
    with psycopg.connect(empty_database_url, options="-c timezone=UTC") as connection:
        row = connection.execute("SELECT time::text, host, instance, printed, share_pct::text FROM stat.old_stat").fetchall()
        assert row == [("2026-11-21 12:00:00+00", "web1", "a", None, "12.34")]
        indexes = "SELECT indexname FROM pg_indexes WHERE schemaname = 'samples' ORDER BY 1"
        assert connection.execute(indexes).fetchall() == [("ix_old_stat__host_time",)]
    migrations.downgrade(empty_database_url, "0004")
    with psycopg.connect(empty_database_url) as connection:
        assert connection.execute("SELECT share_pct::text FROM stat.old_stat_named").fetchall() == [("12.34",)]
    migrations.upgrade(empty_database_url)
    with psycopg.connect(empty_database_url) as connection:
        connection.execute('UPDATE stat_fields SET definition = \'{"storage": "dec4", "decimals": 2}\'')
    with pytest.raises(Exception, match="restore a backup instead"):
        migrations.downgrade(empty_database_url, "0004")
