"""A backup has all tables, whatever else its process imported."""

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.databases import TestServer, on_either_database

PROGRAM = "from normstat.storage.backup import backup_plan; print(*backup_plan.Base.metadata.tables)"
NOTES = "INSERT INTO events (text, kind, source, author, start_at) VALUES ('disk full', 'note', 'user', 'ann', now())"


@on_either_database
def test_the_command_alone_knows_every_table_of_the_database(database_url: str) -> None:
    known = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True).stdout.split()
    with psycopg.connect(database_url) as connection:
        there = {name for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")}
    assert set(known) == there - {"alembic_version"}


@pytest.mark.slow
@on_either_database
def test_commands_of_their_own_bring_back_what_people_noted(server: TestServer, database_url: str, tmp_path: Path) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute(NOTES)
    with server.fresh_database(is_migrated=False) as restored_url:
        for command, url in (("backup", database_url), ("restore", restored_url)):
            environment = os.environ | {"NORMSTAT_DATABASE_URL": url}
            done = subprocess.run(
                [sys.executable, "-m", "normstat", command, str(tmp_path / "backup")],
                env=environment, capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stdout + done.stderr
        with psycopg.connect(restored_url) as connection:
            assert connection.execute("SELECT text, author FROM events").fetchall() == [("disk full", "ann")]
