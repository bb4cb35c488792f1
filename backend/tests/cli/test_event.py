"""`normstat event`: noted, listed, deleted and restored; what is wrong is said in one line."""

import pytest

from tests.cli.commands import Commands
from tests.databases import on_either_database

pytestmark = on_either_database


@pytest.mark.usefixtures("_filled")
async def test_from_beginning_to_end(normstat: Commands) -> None:
    assert "No events." in await normstat.do("event", "list")
    times = ("--at", "2026-11-22T10:00:00Z", "--end", "2026-11-22T10:05:00Z")
    made = await normstat.do("event", "add", "deployed 1.4", "--host", "web1", *times, "--tag", "web", "--kind", "deployment")
    assert "Noted event 1 at 2026-11-22 10:00:00Z for web1" in made
    assert "for all hosts" in await normstat.do("event", "add", "power cut", "--at", "2026-11-22T09:00:00Z")
    listed = (await normstat.do("event", "list")).splitlines()
    assert " ".join(listed[1].split()) == (
        "1 2026-11-22 10:00:00Z - 2026-11-22 10:05:00Z web1 deployment deployed 1.4 web command line"
    )
    assert " ".join(listed[2].split()) == "2 2026-11-22 09:00:00Z all hosts note power cut command line"
    assert "power cut" not in await normstat.do("event", "list", "--tag", "web", "--host", "web1", "--search", "DEPLOYED")
    assert "1 older event not listed" in await normstat.do("event", "list", "-n", "1")
    await normstat.do("event", "delete", "1")
    assert "deployed" not in await normstat.do("event", "list")
    assert "Restored event 1: deployed 1.4" in await normstat.do("event", "restore", "1")
    assert "There is no event 9" in (await normstat("event", "delete", "9"))[2]


@pytest.mark.usefixtures("_filled")
async def test_a_host_gets_tags_and_loses_them(normstat: Commands) -> None:
    async def tag(*arguments: str) -> tuple[int, str, str]:
        return await normstat("host", *arguments)

    assert "No host has tags." in (await tag("tags"))[1]
    assert (await tag("tag", "web1", "prod", "db"))[:2] == (0, "web1: db prod\n")
    assert [line.split() for line in (await tag("tags"))[1].splitlines()[1:]] == [["web1", "db", "prod"]]
    assert (await tag("tag", "web1", "prod", "--remove"))[:2] == (0, "web1: db\n")
    code, _, problem = await tag("tag", "web9", "db")
    assert (code, "There is no host" in problem) == (1, True)
    assert (await tag("tag", "web1", "a,b"))[0] == 2
