"""A database of the last release, filled by that release, is migrated by the present program, and has what it had."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from normstat.db import migrations
from tests.e2e.product import CHECKOUT

# The packages of the release are installed, and a day of three hosts is loaded: a minute or two.
pytestmark = [pytest.mark.matrix, pytest.mark.timeout(900)]

ALL_TIMES = ("--from", "2000-01-01T00:00:00Z", "--to", "2100-01-01T00:00:00Z")


def git(*words: str) -> str:
    return subprocess.run(["git", "-C", str(CHECKOUT), *words], capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources of the last release before this commit, with a virtual environment of its own."""
    tags = [tag for tag in git("tag", "--merged", "HEAD", "--sort=-v:refname").split() if re.fullmatch(r"v\d+\.\d+\.\d+", tag)]
    if not tags:
        pytest.skip("no release is tagged vX.Y.Z yet")
    folder = tmp_path_factory.mktemp(tags[0])
    archive = subprocess.run(["git", "-C", str(CHECKOUT), "archive", tags[0]], capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)
    done = subprocess.run(["make", "-C", str(folder), ".venv/.run"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def make_runner(program: Path, url: str, folder: Path) -> Callable[..., str]:
    """A function that runs a command on the database and returns what it printed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("NORMSTAT_", "PYTHON"))}
    environment |= {"NORMSTAT_DATABASE_URL": url}

    def run(*words: str) -> str:
        done = subprocess.run([program, *words], env=environment, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{words}: {done.stdout[-1000:]}{done.stderr[-1000:]}"
        return done.stdout

    return run


def count_rows(url: str) -> dict[str, int]:
    """The number of rows of each table that has some."""
    with psycopg.connect(url) as connection:
        names = connection.execute(
            "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname IN ('public', 'samples') AND c.relkind IN ('r', 'p')"
        ).fetchall()
        counts = {}
        for name in names:
            [[n]] = connection.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(*name))).fetchall()
            counts[".".join(name)] = n
    return {name: n for name, n in counts.items() if n and name != "public.alembic_version"}


def test_a_database_of_the_last_release_keeps_what_it_has(release: Path, empty_database_url: str, tmp_path: Path) -> None:
    before = make_runner(release / ".venv/bin/normstat", empty_database_url, tmp_path)
    before("migrate")
    hosts = ["web1"]
    if "demo" in before("--help"):
        # Baselines, events, artefacts, reports, scores: whatever people and the server make.
        before("demo", "--fill")
        hosts += ["shop-web1", "shop-app1", "shop-db1"]
    captures = sorted((release / "backend/tests/golden/recorded").glob("*_linux/*.txt"))
    before("import", "--host", "web1", "--start", "2026-01-01T00:00:00Z", "--interval", "1", *map(str, captures))
    before("event", "add", "the release before", "--host", "web1", "--at", "2026-01-01T00:00:00Z")
    exports = {host: before("export", "--host", host, *ALL_TIMES) for host in hosts}
    rows = count_rows(empty_database_url)

    migrations.upgrade(empty_database_url)

    migrations.check(empty_database_url)
    after = count_rows(empty_database_url)
    # A table may be dropped or given another name by a migration; one that is still there has lost nothing.
    lost = {name: (n, after[name]) for name, n in rows.items() if name in after and after[name] < n}
    assert not lost, f"rows before and after: {lost}"
    now = make_runner(CHECKOUT / ".venv/bin/normstat", empty_database_url, tmp_path)
    for host, text in exports.items():
        assert text.count("\n") > 1000, host
        assert now("export", "--host", host, *ALL_TIMES) == text, host
    assert "the release before" in now("event", "list", "--host", "web1")
