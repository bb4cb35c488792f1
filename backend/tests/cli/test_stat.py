"""`normstat stat` as an administrator would use it, with dim_STAT's two worked examples as files."""

from pathlib import Path

from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.stats.catalogue import built_in_catalogue
from tests.addons import APP_USER, app_time_spec, app_user_text
from tests.cli.commands import Commands
from tests.database_access import query
from tests.databases import on_either_database
from tests.ingest.sending import Agent

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


async def test_a_spec_is_added_changed_shown_listed_and_removed(normstat: Commands, tmp_path: Path) -> None:
    file = tmp_path / "any name.toml"
    file.write_text(app_time_spec())
    assert await normstat.do("stat", "add", file) == "Added app_time, version 1: app_time\n"
    file.write_text(app_time_spec().replace("Response times", "Times"))
    assert await normstat.do("stat", "add", file) == "Added app_time, version 2: app_time\n"
    assert await normstat.do("stat", "show", "app_time") == file.read_text()
    listed = (await normstat.do("stat", "list")).splitlines()
    assert listed[0].split() == ["spec", "version", "streams", "outdated", "title", "stats"]
    assert [line.split() for line in listed[1:]] == [["app_time", "2", "0", "0", "Times", "app_time"]]
    assert len((await normstat.do("stat", "list", "--all")).splitlines()) == 2 + len(built_in_catalogue().specs)
    assert await normstat.do("stat", "remove", "app_time") == "Deleted spec app_time\n"


async def test_mistakes_are_said_and_nothing_is_added(normstat: Commands, tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    for text, words in (
        (APP_USER.replace('kind = "gauge"', 'kind = "speed"', 1), "kind: 'speed' is none of"),
        (APP_USER.replace("app_user", "mpstat_linux"), "built-in"),
        ("x = [", "not TOML"),
    ):
        file.write_text(text)
        code, out, err = await normstat("stat", "add", file)
        assert (code, out, words in err) == (1, "", True), err
    file.write_bytes(b"\xff\xfe")
    assert "UTF-8" in (await normstat("stat", "add", file))[2]
    assert "No such file" in (await normstat("stat", "add", tmp_path / "none"))[2]
    assert (await normstat.do("stat", "list")).splitlines()[1:] == []


async def test_streams_that_came_before_are_outdated(normstat: Commands, tmp_path: Path, engine: AsyncEngine) -> None:
    await Agent(engine).send_file(app_user_text(4), "app_user")
    file = tmp_path / "app_user.toml"
    file.write_text(APP_USER)
    assert (await normstat.do("stat", "add", file)).splitlines() == [
        "Added app_user, version 1: app_user",
        "1 stream was read with another version; `normstat reparse --spec app_user` reads it again",
    ]
    code, _, err = await normstat("stat", "remove", "app_user")
    assert (code, "1 stream has bytes" in err) == (1, True)
    assert query(normstat.database_url, "SELECT name, version, created_by FROM user_specs") == [("app_user", 1, "command line")]


async def test_a_column_that_no_spec_describes_is_listed_removed_and_comes_back(normstat: Commands, engine: AsyncEngine) -> None:
    head, *rows = MADE_UP
    agent = Agent(engine)
    n_bytes = await agent.send_file(head + rows[0] + rows[1], "vmstat_linux")
    listed = (await normstat.do("stat", "columns", "vmstat_linux")).splitlines()[1:]
    assert [line.split()[:3] for line in listed] == [["vmstat_linux", "zz", "alpha"], ["vmstat_linux", "zy", "alpha"]]
    removed = await normstat.do("stat", "columns", "vmstat_linux", "--remove", "zz")
    assert removed == "Removed zz of vmstat_linux. If a host sends it again, it comes back\n"
    assert [line.split()[1] for line in (await normstat.do("stat", "columns")).splitlines()[1:]] == ["zy"]
    assert query(normstat.database_url, "SELECT cpu_id, zy FROM stat.vmstat_linux") == [(97, 8)]
    assert query(normstat.database_url, "SELECT action FROM audit_entries") == [("run_command",)]
    for key, words in (("cpu_us", "The spec describes cpu_us"), ("zz", "has no column zz")):
        code, _, err = await normstat("stat", "columns", "vmstat_linux", "--remove", key)
        assert (code, words in err) == (1, True), err
    assert (await normstat("stat", "columns", "--remove", "zy"))[0] == 2
    # A host sends it again.
    await agent.send_file(rows[2], offset=n_bytes)
    assert query(normstat.database_url, "SELECT zz, zy FROM stat.vmstat_linux ORDER BY time") == [(None, 8), (10, 8)]
