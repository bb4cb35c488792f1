"""A backup has all tables, whatever else its process imported."""

import subprocess
import sys

import psycopg

from tests.databases import on_either_database

PROGRAM = "from normstat.storage.backup import backup_plan; print(*backup_plan.Base.metadata.tables)"


@on_either_database
def test_the_command_alone_knows_every_table_of_the_database(database_url: str) -> None:
    known = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True).stdout.split()
    with psycopg.connect(database_url) as connection:
        there = {name for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")}
    assert set(known) == there - {"alembic_version"}
