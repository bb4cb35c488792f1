"""Alerts and their messages as they are stored, on both kinds of database."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import event, text
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.alerts.alert_router import AlertRouter, forget_alerts
from normstat.db.session import open_write_session
from normstat.records.episode_rows import FoundEpisode, replace_episodes
from normstat.scheduled_tasks import ScheduledTasks
from normstat.settings import Settings
from normstat.watch.watch_mute_rows import WatchMuteCreate, create_watch_mute
from normstat.watch.watcher import Watcher
from tests.alerts.receivers import HttpReceiver, MailReceiver
from tests.alerts.stored import (
    URL,
    add_channel,
    add_episode,
    add_host,
    add_route,
    change_episode,
    email,
    read_alerts,
    read_messages,
    webhook,
)
from tests.databases import Sessions, on_either_database
from tests.dying import dying_at_statement
from tests.watch import live

pytestmark = on_either_database
NOW = datetime(2026, 11, 23, 3, 0, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


@pytest.fixture
async def channel(sessions: Sessions, http: HttpReceiver) -> int:
    return await add_channel(sessions, "hook", webhook(http))


async def test_an_episode_becomes_a_message_with_its_values_and_limits(sessions: Sessions, channel: int) -> None:
    route = await add_route(sessions, "all", [channel])
    host = await add_host(sessions, "sun1", ["prod"])
    await add_episode(sessions, host, after(-60))
    await add_episode(sessions, host, after(-50), instance="7")
    assert await AlertRouter(sessions, URL).run(NOW) == 1
    [alert], [message] = await read_alerts(sessions), await read_messages(sessions)
    assert (alert.route_id, alert.route, alert.host_id) == (route, "all", host)
    assert (alert.state, alert.told) == ("firing", [["sun1", "mutex"]])
    assert (message.kind, message.number, message.state) == ("fired", 1, "queued")
    assert (message.channel, message.channel_id) == ("hook", channel)
    content: Any = message.content
    assert content["subject"] == "[CRITICAL] sun1: Kernel mutexes (CPUs 1 and 7)"
    assert content["link"] == f"{URL}/hosts/sun1?v=1&from=2026-11-23T02:49:00Z&to=2026-11-23T03:09:30Z"
    [part] = content["parts"]
    assert (part["n_instances"], part["values"]) == (2, [{"name": "smtx", "text": "900 /s"}])
    assert {"name": "smtx", "text": "500 /s"} in part["limits"]
    assert content["questions"] == ["Kernel mutexes are contended: which lock, and who holds it?"]
    # Nothing changed: nothing is sent.
    assert await AlertRouter(sessions, URL).run(after(10)) == 0


async def test_steps_of_two_processes_at_once_make_one_alert(sessions: Sessions, channel: int) -> None:
    await add_route(sessions, "all", [channel])
    await add_episode(sessions, await add_host(sessions, "sun1"), after(-60))
    counts = await asyncio.gather(*(AlertRouter(sessions, URL).run(NOW) for _ in range(3)))
    assert sorted(counts) == [0, 0, 1]
    assert len(await read_alerts(sessions)) == 1


async def test_a_process_that_dies_at_any_statement_makes_one_message(
    sessions: Sessions, engine: AsyncEngine, channel: int, http: HttpReceiver
) -> None:
    other = await add_channel(sessions, "other", webhook(http))
    await add_route(sessions, "all", [channel, other])
    host = await add_host(sessions, "sun1")
    await add_episode(sessions, host, after(-60))
    deaths = []
    for number in range(1, 40):
        with dying_at_statement(engine, number, deaths):
            await AlertRouter(sessions, URL).run(after(number))
    assert len(deaths) > 10
    assert [(each.kind, each.number, each.channel) for each in await read_messages(sessions)] == [
        ("fired", 1, "hook"),
        ("fired", 1, "other"),
    ]


async def test_late_samples_that_rewrite_an_episode_fire_once(sessions: Sessions, channel: int) -> None:
    """The same through the function that rules store their findings with."""
    await add_route(sessions, "all", [channel])
    host = await add_host(sessions, "sun1")
    router = AlertRouter(sessions, URL)

    def found(start: float, last: float, ended: float | None) -> FoundEpisode:
        return FoundEpisode(
            "mutex", 1, "3", after(start), after(last), None if ended is None else after(ended), None if ended is None else "fine",
            "red", after(start), "Kernel mutexes", "The CPU spins.", "Find the lock.", (),
        )  # fmt: skip

    async def judge(seconds: float, *episodes: FoundEpisode) -> int:
        async with open_write_session(sessions) as session:
            await replace_episodes(session, host, "mutex", episodes, after=after(-1000), now=after(seconds))
        return await router.run(after(seconds))

    assert await judge(0, found(-60, 0, None)) == 1
    # It began earlier; it was two; it is one again.
    assert await judge(10, found(-300, 10, None)) == 0
    assert await judge(20, found(-300, -250, -130), found(-60, 20, None)) == 0
    assert await judge(30, found(-300, 30, None)) == 0
    assert [(each.kind, each.number) for each in await read_messages(sessions)] == [("fired", 1)]
    # All of it is disproved: the end is told, once.
    assert [await judge(seconds) for seconds in (40, 50, 60)] == [1, 0, 0]
    [alert] = await read_alerts(sessions)
    assert (alert.state, alert.n_messages) == ("resolved", 2)


async def test_mutes_hold_back_what_they_cover_and_their_end_lets_it_go(sessions: Sessions, channel: int) -> None:
    await add_route(sessions, "all", [channel])
    await add_episode(sessions, await add_host(sessions, "sun1", ["prod"]), after(-60))
    async with open_write_session(sessions) as session:
        body = WatchMuteCreate(tag="prod", start=after(-100), end=after(100), reason="work")
        await create_watch_mute(session, body, by="test")
    router = AlertRouter(sessions, URL)
    assert [await router.run(after(seconds)) for seconds in (0, 90, 100, 110)] == [0, 0, 1, 0]


async def test_an_alertmanager_hears_of_ends_and_renewals_that_people_do_not(
    sessions: Sessions, channel: int, http: HttpReceiver
) -> None:
    settings: dict[str, Any] = {"kind": "alertmanager", "url": http.url, "authorization": None, "labels": {}}
    keeper = await add_channel(sessions, "keeper", settings)
    await add_route(sessions, "all", [channel, keeper], sends_resolved=False)
    number = await add_episode(sessions, await add_host(sessions, "sun1"), after(-60))
    router = AlertRouter(sessions, URL)
    assert await router.run(NOW) == 2
    assert await router.run(after(13 * 3600)) == 1
    await change_episode(sessions, number, ended_at=after(50_000), ended_by="fine")
    assert await router.run(after(50_000)) == 1
    told = [(each.kind, each.channel) for each in await read_messages(sessions)]
    assert told == [("fired", "hook"), ("fired", "keeper"), ("renewed", "keeper"), ("resolved", "keeper")]


async def test_a_disabled_channel_gets_nothing_and_the_list_says_so(sessions: Sessions, channel: int) -> None:
    await add_route(sessions, "all", [channel])
    async with sessions() as session, session.begin():
        await session.execute(text("UPDATE alert_channels SET is_enabled = false"))
    await add_episode(sessions, await add_host(sessions, "sun1"), after(-60))
    await AlertRouter(sessions, URL).run(NOW)
    [message] = await read_messages(sessions)
    assert (message.state, message.answer) == ("dropped", "the channel is disabled")


async def test_groups_and_tags_of_hosts_choose_routes(sessions: Sessions, channel: int) -> None:
    await add_route(sessions, "by tag", [channel], {"tags": ["prod"]})
    await add_route(sessions, "by group", [channel], {"groups": ["db"]})
    sun1, sun2 = await add_host(sessions, "sun1", ["prod"]), await add_host(sessions, "sun2")
    async with sessions() as session, session.begin():
        await session.execute(text("INSERT INTO host_groups (name, note) VALUES ('db', '')"))
        await session.execute(
            text("INSERT INTO host_group_hosts (group_id, host_id) SELECT id, :host FROM host_groups"), {"host": sun2}
        )
    await add_episode(sessions, sun1, after(-60))
    await add_episode(sessions, sun2, after(-60))
    await AlertRouter(sessions, URL).run(NOW)
    assert [(each.route, each.host_id) for each in await read_alerts(sessions)] == [("by tag", sun1), ("by group", sun2)]


async def test_what_is_about_the_server_and_the_continuous_comparison_are_sources_like_others(
    sessions: Sessions, channel: int
) -> None:
    await add_route(sessions, "server", [channel], {"sources": ["server-*"]})
    await add_route(sessions, "unusual", [channel], {"sources": ["comparison"], "subsystems": ["disk"]})
    host = await add_host(sessions, "web1")
    await add_episode(sessions, None, after(-60), source="server-disk", title="normstat's disk fills up", instance="")
    saw = [{"name": "iostat_linux util_pct vda", "value": 86.0, "unit": "%", "text": "", "at": NOW.isoformat()}]
    await add_episode(sessions, host, after(-60), source="comparison", instance="disk", title="Unusual: disk I/O", saw=saw)
    await add_episode(sessions, host, after(-60), source="comparison", instance="cpu", title="Unusual: CPU", saw=saw)
    assert await AlertRouter(sessions, URL).run(NOW) == 2
    subjects = [str(each.content["subject"]) for each in await read_messages(sessions)]
    assert subjects == ["[CRITICAL] this normstat server: normstat's disk fills up", "[CRITICAL] web1: Unusual: disk I/O"]


async def test_what_rules_find_in_samples_becomes_a_message(sessions: Sessions, mail: MailReceiver) -> None:
    await add_route(sessions, "all", [await add_channel(sessions, "mail", email(mail))], wait_s=30)
    await live.send_mpstat(sessions, "sun1", range(70), range(60, 70))
    router = AlertRouter(sessions, URL)
    await Watcher(sessions).run(live.at(70))
    assert await router.run(live.at(70)) == 0
    assert await router.run(live.at(73)) == 1
    [message] = await read_messages(sessions)
    content: Any = message.content
    assert [value["name"] for value in content["parts"][0]["values"]] == ["smtx", "usr", "sys"]
    assert len(content["questions"]) > 0


async def test_without_routes_nothing_is_read(sessions: Sessions, engine: AsyncEngine) -> None:
    await add_episode(sessions, await add_host(sessions, "sun1"), after(-60))
    statements: list[str] = []
    event.listen(engine.sync_engine, "before_cursor_execute", lambda *args: statements.append(args[2]))
    await ScheduledTasks(sessions, Settings(), may_route=lambda: False).route_alerts()
    assert len(statements) == 0
    await ScheduledTasks(sessions, Settings()).route_alerts()
    assert len(statements) > 0
    assert not any("episodes" in statement for statement in statements)


async def test_a_route_that_cannot_be_read_stops_none_of_the_others(sessions: Sessions, channel: int) -> None:
    await add_route(sessions, "broken", [channel])
    await add_route(sessions, "whole", [channel])
    async with sessions() as session, session.begin():
        await session.execute(text("""UPDATE alert_routes SET settings = '{"of": "the future"}' WHERE name = 'broken'"""))
    await add_episode(sessions, await add_host(sessions, "sun1"), after(-60))
    assert await AlertRouter(sessions, URL).run(NOW) == 1


async def test_old_alerts_are_forgotten_and_open_ones_are_not(sessions: Sessions, channel: int) -> None:
    await add_route(sessions, "all", [channel])
    host = await add_host(sessions, "sun1")
    old = datetime.now(UTC) - timedelta(days=500)
    number = await add_episode(sessions, host, old)
    router = AlertRouter(sessions, URL)
    await router.run(old)
    await change_episode(sessions, number, ended_at=old, ended_by="fine")
    await router.run(old + timedelta(seconds=10))
    await add_episode(sessions, host, old + timedelta(days=1))
    await router.run(old + timedelta(days=1))
    await forget_alerts(sessions, 400)
    assert [each.state for each in await read_alerts(sessions)] == ["firing"]
    assert len(await read_messages(sessions)) == 1
