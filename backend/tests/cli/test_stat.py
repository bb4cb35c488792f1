"""`normstat stat` as an administrator would use it, with dim_STAT's two worked examples as files."""

import asyncio
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine
from typer.testing import CliRunner, Result

from normstat.cli import app
from normstat.settings import load_settings
from normstat.stats.catalogue import built_in_catalogue
from tests.addons import APP_USER, app_time_spec, app_user_text
from tests.databases import on_either_database
from tests.ingest.sending import Agent
from tests.ingest.test_intake import query

pytestmark = on_either_database
# vmstat with two columns that nobody knows.
MADE_UP = (
    (
        b"procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----\n"
        b" r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st zz zy                 UTC\n"
    ),
    *(
        b" 1  0      0 100000   2000 300000    0    0     5     6  100  200  1  2 97  0  0  %d  8 2026-11-21 12:00:0%d\n"
        % (at + 8, at)
        for at in range(3)
    ),
)


@pytest.fixture(autouse=True)
def _database(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NORMSTAT_DATABASE_URL", database_url)
    load_settings.cache_clear()


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["stat", *words])


def test_a_spec_is_added_changed_shown_listed_and_removed(tmp_path: Path) -> None:
    file = tmp_path / "any name.toml"
    file.write_text(app_time_spec())
    assert (added := run("add", str(file))).exit_code == 0, added.stderr
    assert added.stdout == "Added app_time, version 1: app_time\n"
    file.write_text(app_time_spec().replace("Response times", "Times"))
    assert run("add", str(file)).stdout == "Added app_time, version 2: app_time\n"
    assert run("show", "app_time").stdout == app_time_spec().replace("Response times", "Times")
    listed = run("list").stdout.splitlines()
    assert listed[0].split() == ["spec", "version", "streams", "outdated", "title", "stats"]
    assert [line.split() for line in listed[1:]] == [["app_time", "2", "0", "0", "Times", "app_time"]]
    assert len(run("list", "--all").stdout.splitlines()) == 2 + len(built_in_catalogue().specs)
    assert run("remove", "app_time").stdout == "Deleted spec app_time\n"


def test_mistakes_are_said_and_nothing_is_added(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    for text, words in (
        (APP_USER.replace('kind = "gauge"', 'kind = "speed"', 1), "kind: 'speed' is none of"),
        (APP_USER.replace("app_user", "mpstat_linux"), "built-in"),
        ("x = [", "no TOML"),
    ):
        file.write_text(text)
        failed = run("add", str(file))
        assert (failed.exit_code, failed.stdout) == (1, "")
        assert words in failed.stderr
    file.write_bytes(b"\xff\xfe")
    assert "UTF-8" in run("add", str(file)).stderr
    assert "No such file" in run("add", str(tmp_path / "none")).stderr
    assert run("list").stdout.splitlines()[1:] == []


async def test_streams_that_came_before_are_outdated(tmp_path: Path, engine: AsyncEngine, database_url: str) -> None:
    await Agent(engine).send_file(app_user_text(4), "app_user")
    file = tmp_path / "app_user.toml"
    file.write_text(APP_USER)
    added = await _in_thread("add", str(file))
    assert added.stdout.splitlines() == [
        "Added app_user, version 1: app_user",
        "1 stream was read with another version; `normstat reparse --spec app_user` reads it again",
    ]
    assert "needs" not in (await _in_thread("list")).stdout
    refused = await _in_thread("remove", "app_user")
    assert (refused.exit_code, "1 stream has bytes" in refused.stderr) == (1, True)
    assert query(database_url, "SELECT name, version, created_by FROM user_specs") == [("app_user", 1, "command line")]


async def test_a_column_that_no_spec_describes_is_listed_and_removed(engine: AsyncEngine, database_url: str) -> None:
    head, *rows = MADE_UP
    await Agent(engine).send_file(head + rows[0] + rows[1], "vmstat_linux")
    listed = await _in_thread("columns", "vmstat_linux")
    assert [line.split()[:3] for line in listed.stdout.splitlines()[1:]] == [
        ["vmstat_linux", "zz", "alpha"],
        ["vmstat_linux", "zy", "alpha"],
    ]
    removed = await _in_thread("columns", "vmstat_linux", "--remove", "zz")
    assert removed.stdout == "Removed zz of vmstat_linux. If a host sends it again, it comes back\n"
    assert [line.split()[1] for line in (await _in_thread("columns")).stdout.splitlines()[1:]] == ["zy"]
    assert query(database_url, "SELECT cpu_id, zy FROM stat.vmstat_linux") == [(97, 8)]
    assert [row[0] for row in query(database_url, "SELECT action FROM audit_entries")] == ["run_command"]
    for key, words in (("cpu_us", "The spec describes cpu_us"), ("zz", "has no column zz")):
        refused = await _in_thread("columns", "vmstat_linux", "--remove", key)
        assert (refused.exit_code, words in refused.stderr) == (1, True), refused.stderr
    assert (await _in_thread("columns", "--remove", "zy")).exit_code == 2


async def test_a_removed_column_comes_back_when_a_host_sends_it(engine: AsyncEngine, database_url: str) -> None:
    agent = Agent(engine)
    head, *rows = MADE_UP
    n_bytes = await agent.send_file(head + rows[0] + rows[1])
    assert (await _in_thread("columns", "vmstat_linux", "--remove", "zz")).exit_code == 0
    await agent.send_file(rows[2], offset=n_bytes)
    assert query(database_url, "SELECT zz, zy FROM stat.vmstat_linux ORDER BY time") == [(None, 8), (10, 8)]


async def _in_thread(*words: str) -> Result:
    """The command has an event loop of its own."""
    return await asyncio.to_thread(run, *words)
