"""Server-sent events, from the database's announcement to the browser, by a real server process."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx
import psycopg
import pytest

from normstat.auth.roles import Role
from normstat.live import notify
from normstat.live.notify import LiveEvent, LiveHub, Subscription
from normstat.samples import ingest_rows
from tests.api.people import People
from tests.api.samples import HOST, VMSTAT, frames_of, send
from tests.api.server import serving
from tests.databases import TestServer
from tests.e2e.product import free_port
from tests.fork_server import start_forked

ODD = "n\N{LATIN SMALL LETTER O WITH DIAERESIS}"


def event(host: str = HOST, spec: str = "vmstat_linux", second: int = 0) -> LiveEvent:
    return LiveEvent.model_validate({"host": host, "spec": spec, "last_sample_at": f"2026-11-21T10:00:{second:02}Z"})


async def take(subscription: Subscription, n: int) -> list[LiveEvent]:
    taken = []
    async for found in subscription.events():
        taken.append(found)
        if len(taken) == n:
            break
    return taken


async def test_a_slow_reader_gets_the_newest_of_each_kind() -> None:
    hub = LiveHub("postgresql://unused")
    with hub.subscribe(None) as everything, hub.subscribe(frozenset({HOST})) as one_host:
        for second in range(10):
            for host in (HOST, "web2"):
                hub.publish(event(host, second=second))
        assert await take(everything, 2) == [event(HOST, second=9), event("web2", second=9)]
        hub.close()
        assert [found async for found in one_host.events()] == []


async def test_a_reader_that_takes_nothing_costs_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notify, "MAX_WAITING", 10)
    subscription = Subscription(None)
    for number in range(1000):
        subscription.offer(event(f"host{number}"))
    assert [found.host for found in await take(subscription, 10)] == [f"host{number}" for number in range(990, 1000)]


@asynccontextmanager
async def listening(hub: LiveHub) -> AsyncIterator[None]:
    task = asyncio.create_task(hub.run())
    try:
        await asyncio.wait_for(hub.is_listening.wait(), 60)
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_what_ingest_commits_is_announced(agent: httpx.AsyncClient, database_url: str) -> None:
    hub = LiveHub(database_url)
    async with listening(hub):
        with hub.subscribe(frozenset({HOST})) as subscription:
            assert (await send(agent, frames_of(VMSTAT))).status_code == 200
            [found] = await asyncio.wait_for(take(subscription, 1), 60)
    assert found == event(second=59)


async def test_every_process_knows_which_hosts_are_watched(database_url: str) -> None:
    here, now_s = LiveHub(database_url), [0.0]
    elsewhere = LiveHub(database_url, clock=lambda: now_s[0])
    # More than one notification holds.
    others = [f"{number:03d}-{'x' * 190}" for number in range(80)]
    async with listening(here), listening(elsewhere), AsyncExitStack() as readers:
        with here.subscribe(None), here.subscribe(frozenset({"web2"}), watched=HOST):
            for name in (*others, ODD):
                readers.enter_context(here.subscribe(frozenset({name}), watched=name))
            async with asyncio.timeout(60):
                while not all(map(elsewhere.is_watched, (HOST, *others))):  # noqa: ASYNC110 - nothing announces it
                    await asyncio.sleep(0.01)
            assert here.is_watched(HOST)
            assert not any(hub.is_watched(name) for hub in (here, elsewhere) for name in ("web2", ODD))
            with psycopg.connect(database_url, autocommit=True) as connection:
                connection.execute("SELECT pg_notify('normstat_watched', 'not JSON')")
        assert not here.is_watched(HOST)
        assert elsewhere.is_watched(HOST)
        now_s[0] = notify.WATCHED_FOR_S
        assert not elsewhere.is_watched(HOST)


async def test_it_listens_again_after_the_connection_was_lost(database_url: str) -> None:
    hub = LiveHub(database_url)
    async with listening(hub):
        with hub.subscribe(None) as subscription, psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
                " WHERE query LIKE 'LISTEN%' AND datname = current_database()"
            )
            while hub.is_listening.is_set():  # noqa: ASYNC110 - an Event cannot be awaited to be cleared
                await asyncio.sleep(0.01)
            await asyncio.wait_for(hub.is_listening.wait(), 60)
            connection.execute("SELECT pg_notify('normstat_live', 'not JSON')")
            connection.execute("SELECT pg_notify('normstat_live', %s)", [event().model_dump_json()])
            assert await asyncio.wait_for(take(subscription, 1), 60) == [event()]


async def test_a_batch_of_many_hosts_is_announced_in_a_few_notifications(database_url: str) -> None:
    """PostgreSQL takes less than 8000 bytes in each."""
    hub = LiveHub(database_url)
    at = datetime(2026, 11, 21, 12, 0, 2, tzinfo=UTC)
    hosts = [f"{number:03d}-{'x' * 190}" for number in range(100)]
    async with listening(hub):
        with hub.subscribe(None) as subscription:
            async with await psycopg.AsyncConnection.connect(database_url) as connection:
                await ingest_rows.announce_all(connection, {(host, "vmstat_linux"): at for host in hosts})
                await ingest_rows.announce_all(connection, {})
            found = await asyncio.wait_for(take(subscription, len(hosts)), 60)
    assert found == [LiveEvent(host=host, spec="vmstat_linux", last_sample_at=at) for host in hosts]


async def test_a_stopping_server_ends_its_streams(people: People, database_url: str, tmp_path: Path) -> None:
    cookies = (await people.enter(Role.VIEWER)).cookies
    log_path = tmp_path / "log"
    with serving(database_url, log_path) as (address, process):
        async with (
            httpx.AsyncClient(base_url=address, cookies=cookies, timeout=60) as client,
            client.stream("GET", "/api/v1/live") as stream,
        ):
            assert stream.headers["Content-Type"].startswith("text/event-stream")
            lines = stream.aiter_lines()
            assert await anext(lines) == ": connected"
            with psycopg.connect(database_url, autocommit=True) as connection:
                connection.execute("SELECT pg_notify('normstat_live', %s)", [event().model_dump_json()])
            found = []
            async for line in lines:
                found.append(line)
                if line.startswith("data:"):
                    break
            assert "event: data" in found
            assert LiveEvent.model_validate(json.loads(found[-1].removeprefix("data: "))) == event()
            process.send_signal(signal.SIGTERM)
            assert [line async for line in lines if line] == []
        assert process.wait(60) in {0, -signal.SIGTERM}
    log = log_path.read_text()
    # Ended by themselves, not cut off when patience ran out.
    assert '"server_stopped"' in log
    assert "timeout" not in log.lower()
    assert "Traceback" not in log


@pytest.fixture
def unmigrated_url(server: TestServer) -> Iterator[str]:
    with server.fresh_database(is_migrated=False) as url:
        yield url


def test_serve_refuses_a_database_that_is_not_migrated(unmigrated_url: str, tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as log:
        environment = os.environ | {"NORMSTAT_DATABASE_URL": unmigrated_url}
        process = start_forked(["serve", "--port", str(free_port())], environment, log)
    assert process.wait(60) == 1
    said = (tmp_path / "log").read_text()
    assert "run `normstat migrate` first" in said
    assert "Traceback" not in said
