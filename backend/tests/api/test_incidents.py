"""The list of incidents: everything about them by time, filtered, in pages."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest
from sqlalchemy import text

from normstat.auth.roles import Role
from normstat.db.schema.baseline_models import SavedComparisonRow
from normstat.db.schema.models import Host
from normstat.db.schema.watch_models import EpisodeRow
from tests.api.people import People, body_of
from tests.databases import Sessions

API = "/api/v1/incidents"
START = datetime(2026, 11, 21, 10, tzinfo=UTC)


def at(minutes: int) -> datetime:
    return START + timedelta(minutes=minutes)


def episode(host_id: int, source: str, start: datetime, *, is_open: bool = False) -> EpisodeRow:
    return EpisodeRow(
        source=source,
        source_version=1,
        host_id=host_id,
        instance="sda",
        start_at=start,
        last_at=start + timedelta(minutes=1),
        ended_at=None if is_open else start + timedelta(minutes=2),
        ended_by=None if is_open else "fine",
        colour="red",
        worst_at=start,
        title="Disk",
        sentence="sda was busy.",
        action="Look.",
        saw=[],
    )


@pytest.fixture
async def operator(people: People, sessions: Sessions) -> httpx.AsyncClient:
    """Two hosts with an entry of each kind, in the order of time."""
    async with sessions() as session, session.begin():
        hosts = [Host(name="db1"), Host(name="web1")]
        session.add_all(hosts)
        await session.flush()
        session.add_all([episode(hosts[0].id, "disk", at(0)), episode(hosts[1].id, "comparison", at(2), is_open=True)])
        session.add(
            SavedComparisonRow(name="Slow", note="", inputs={"host": ["db1"]}, result=b"", created_by="kim", created_at=at(3))
        )
    client = await people.enter(Role.OPERATOR, "kim")
    for minutes, hosts_of in ((1, ["db1"]), (4, None)):
        event = {"text": f"event {minutes}", "at": at(minutes).isoformat(), "hosts": hosts_of}
        body_of(await client.post("/api/v1/events", json=event), 201)
    body_of(await client.post("/api/v1/reports", json={"title": "What happened", "hosts": ["web1"]}), 201)
    async with sessions() as session, session.begin():
        await session.execute(text("UPDATE reports SET updated_at = :at"), {"at": at(5)})
        # A line of a log that an agent sent.
        insert = "INSERT INTO events (start_at, kind, text, source, is_for_all_hosts) VALUES (:at, 'log', 'noise', 'agent', true)"
        await session.execute(text(insert), {"at": at(6)})
    return client


async def kinds(client: httpx.AsyncClient, **asked: object) -> list[str]:
    page = body_of(await client.get(API, params=asked))  # type: ignore[arg-type]
    return [entry["kind"] for entry in page["incidents"]]


async def test_all_kinds_are_one_list_by_time(operator: httpx.AsyncClient) -> None:
    page = body_of(await operator.get(API))
    assert page["n_total"] == 6
    assert [(entry["kind"], entry["at"]) for entry in page["incidents"]] == [
        (kind, f"{at(minutes):%Y-%m-%dT%H:%M:%SZ}")
        for kind, minutes in (("report", 5), ("event", 4), ("comparison", 3), ("unusual", 2), ("event", 1), ("alert", 0))
    ]
    report, event, comparison, unusual, _, alert = page["incidents"]
    assert (report["report"]["title"], report["event"]) == ("What happened", None)
    assert (event["event"]["text"], event["event"]["hosts"]) == ("event 4", None)
    assert (comparison["comparison"]["name"], comparison["comparison"]["created_by"]) == ("Slow", "kim")
    assert (unusual["episode"]["host"], unusual["episode"]["ended_at"]) == ("web1", None)
    assert (alert["episode"]["source"], alert["episode"]["sentence"]) == ("disk", "sda was busy.")


async def test_it_is_filtered_by_kind_host_and_rule(operator: httpx.AsyncClient) -> None:
    assert await kinds(operator, kind=["alert", "report"]) == ["report", "alert"]
    assert await kinds(operator, kind="unusual") == ["unusual"]
    # An event of all hosts is one of each.
    assert await kinds(operator, host="db1") == ["event", "comparison", "event", "alert"]
    assert await kinds(operator, host="web1") == ["report", "event", "unusual"]
    assert await kinds(operator, rule="disk") == ["alert"]
    assert await kinds(operator, host="nobody", kind="alert") == []
    assert await kinds(operator, lasting="false") == ["report", "event", "comparison", "event", "alert"]


async def test_pages_follow_each_other_across_kinds(operator: httpx.AsyncClient) -> None:
    whole = body_of(await operator.get(API))["incidents"]
    pages = [body_of(await operator.get(API, params={"limit": 2, "offset": offset})) for offset in (0, 2, 4, 6)]
    assert [entry for page in pages for entry in page["incidents"]] == whole
    assert {page["n_total"] for page in pages} == {6}


async def test_an_account_of_one_group_sees_the_entries_of_its_hosts(operator: httpx.AsyncClient, people: People) -> None:
    root = await people.enter(Role.ADMINISTRATOR, "root")
    body_of(await root.post("/api/v1/host-groups", json={"name": "web", "hosts": ["web1"]}), 201)
    guest = await people.enter(Role.VIEWER, "guest")
    body_of(await root.patch("/api/v1/users/guest", json={"host_groups": ["web"]}))
    assert await kinds(guest) == ["report", "event", "unusual"]
    del operator
