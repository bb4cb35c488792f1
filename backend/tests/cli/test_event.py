"""`normstat event`: noted, listed, deleted and restored; what is wrong is said in one line."""

import pytest
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from tests.cli.test_baseline import run_command
from tests.databases import on_either_database
from tests.query.filling import fill_capture
from tests.query.test_export import VMSTAT

pytestmark = on_either_database

Sessions = async_sessionmaker[AsyncSession]


@pytest.fixture
async def _filled(sessions: Sessions) -> None:
    await fill_capture(sessions, "web1", "vmstat_linux", VMSTAT)


async def do(database_url: str, *arguments: str) -> str:
    code, out, err = await run_command(database_url, "event", *arguments)
    assert (code, err) == (0, ""), out
    return out


async def fail(database_url: str, *arguments: str) -> str:
    code, _, err = await run_command(database_url, "event", *arguments)
    assert code != 0
    return err


@pytest.mark.usefixtures("_filled")
async def test_from_beginning_to_end(database_url: str) -> None:
    assert "No events." in await do(database_url, "list")
    times = ("--at", "2026-11-22T10:00:00Z", "--end", "2026-11-22T10:05:00Z")
    made = await do(database_url, "add", "deployed 1.4", "--host", "web1", *times, "--tag", "web", "--kind", "deployment")
    assert "Noted event 1 at 2026-11-22 10:00:00Z for web1" in made
    assert "for all hosts" in await do(database_url, "add", "power cut", "--at", "2026-11-22T09:00:00Z")
    listed = (await do(database_url, "list")).splitlines()
    assert " ".join(listed[1].split()) == (
        "1 2026-11-22 10:00:00Z - 2026-11-22 10:05:00Z web1 deployment deployed 1.4 web command line"
    )
    assert " ".join(listed[2].split()) == "2 2026-11-22 09:00:00Z all hosts note power cut command line"
    assert "power cut" not in await do(database_url, "list", "--tag", "web", "--host", "web1", "--search", "DEPLOYED")
    assert "1 older event not listed" in await do(database_url, "list", "-n", "1")
    await do(database_url, "delete", "1")
    assert "deployed" not in await do(database_url, "list")
    assert "Restored event 1: deployed 1.4" in await do(database_url, "restore", "1")
    assert "There is no event 9" in await fail(database_url, "delete", "9")


@pytest.mark.usefixtures("_filled")
async def test_a_host_gets_tags_and_loses_them(database_url: str) -> None:
    async def tag(*arguments: str) -> tuple[int, str, str]:
        return await run_command(database_url, "host", *arguments)

    assert "No host has tags." in (await tag("tags"))[1]
    assert (await tag("tag", "web1", "prod", "db"))[:2] == (0, "web1: db prod\n")
    assert [line.split() for line in (await tag("tags"))[1].splitlines()[1:]] == [["web1", "db", "prod"]]
    assert (await tag("tag", "web1", "prod", "--remove"))[:2] == (0, "web1: db\n")
    code, _, problem = await tag("tag", "web9", "db")
    assert (code, "There is no host" in problem) == (1, True)
    assert (await tag("tag", "web1", "a,b"))[0] == 2
