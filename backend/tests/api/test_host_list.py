"""The list of all hosts, kept for some seconds where they are many."""

import asyncio

import orjson
import pytest

from normstat.api.host_list_answers import FRESH_S, HostListAnswers
from normstat.api.state import AppState
from tests.api.people import run_sql
from tests.auth.test_throttle import Clock

SEEN = "2026-11-21T12:00:00Z"


async def listed(answers: HostListAnswers) -> list[tuple[str, list[str], bool]]:
    hosts = orjson.loads((await answers.find()).plain)["hosts"]
    return [(host["name"], host["tags"], host["last_seen_at"] is not None) for host in hosts]


@pytest.fixture
async def two_hosts(state: AppState) -> None:
    await run_sql(state, "INSERT INTO hosts (name) VALUES ('web1'), ('web2')")


@pytest.mark.usefixtures("two_hosts")
async def test_what_agents_sent_is_seconds_old_and_what_people_changed_is_not(state: AppState) -> None:
    clock = Clock()
    # Two servers, each with a list of its own.
    servers = [HostListAnswers(state.sessions, clock, many=2) for _ in range(2)]
    before: list[tuple[str, list[str], bool]] = [("web1", [], False), ("web2", [], False)]
    assert [await listed(server) for server in servers] == [before] * 2
    await run_sql(state, f"UPDATE hosts SET last_seen_at = '{SEEN}' WHERE name = 'web1'")
    assert [await listed(server) for server in servers] == [before] * 2
    await run_sql(state, "UPDATE hosts SET tags = ARRAY['prod'] WHERE name = 'web2'")
    tagged = [("web1", [], True), ("web2", ["prod"], False)]
    assert [await listed(server) for server in servers] == [tagged] * 2
    await run_sql(state, "INSERT INTO hosts (name) VALUES ('web3')")
    assert [await listed(server) for server in servers] == [[*tagged, ("web3", [], False)]] * 2
    await run_sql(state, "DELETE FROM hosts WHERE name = 'web3'")
    assert [await listed(server) for server in servers] == [tagged] * 2


@pytest.mark.usefixtures("two_hosts")
async def test_few_hosts_are_listed_as_they_are_now(state: AppState) -> None:
    answers = HostListAnswers(state.sessions, Clock(), many=3)
    assert not (await listed(answers))[0][2]
    await run_sql(state, f"UPDATE hosts SET last_seen_at = '{SEEN}'")
    assert (await listed(answers))[0][2]


@pytest.mark.usefixtures("two_hosts")
async def test_a_list_that_is_looked_at_is_made_again_and_one_that_is_not_is_left(state: AppState) -> None:
    clock = Clock()
    answers = HostListAnswers(state.sessions, clock, many=2)
    waits: list[float] = []
    slept = asyncio.Event()
    go_on = asyncio.Event()

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        slept.set()
        await go_on.wait()
        go_on.clear()
        clock.now += seconds

    async def next_sleep() -> None:
        slept.clear()
        go_on.set()
        await slept.wait()

    first = await answers.find()
    await run_sql(state, f"UPDATE hosts SET last_seen_at = '{SEEN}'")
    task = asyncio.create_task(answers.run(sleep=sleep))
    try:
        await slept.wait()
        await next_sleep()
        # Made again by the background, after one pause; a request does not wait for it.
        again = await answers.find()
        assert again.plain != first.plain
        while not task.done() and clock.now < 2000 and answers._asked.is_set():
            go_on.set()
            await asyncio.sleep(0)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert waits[0] == FRESH_S
    assert clock.now < 2000, "nobody asks any more, and it goes on"
