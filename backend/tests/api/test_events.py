"""Events over HTTP: noted, changed, deleted, restored, searched, exported; by people, scripts and agents' tokens."""

import csv
import io
from datetime import UTC, datetime

import httpx
import pytest
from pydantic import TypeAdapter

from normstat.auth.roles import Role
from normstat.query.host_events import EventPage, HostEvent, HostEvents
from normstat.records.event_rows import EventSource
from normstat.stats.fact_words import EventKind
from tests.api.people import People, body_of
from tests.api.samples import HOST, deliver_text
from tests.api.test_access import assert_envelope
from tests.api.test_host_facts import read_events, send_facts

EVENTS = "/api/v1/events"
FACTS = "1795305600\ncpus\t4\nboot_time\t1795300000\n1795305900\ncpus\t2\nboot_time\t1795300000\n"


@pytest.fixture
async def operator(people: People, agent: httpx.AsyncClient) -> httpx.AsyncClient:
    """An operator, where two hosts have facts; those of the first one changed."""
    await send_facts(agent, FACTS.encode(), "1")
    async with await people.agent("web2"):
        pass
    return await people.enter(Role.OPERATOR)


async def note(client: httpx.AsyncClient, **body: object) -> HostEvent:
    response = body_of(await client.post(EVENTS, json={"text": "deployed 1.4", "at": "2026-11-22T00:03:00Z"} | body), 201)
    return TypeAdapter(HostEvent).validate_python(response)


async def search(client: httpx.AsyncClient, **params: str | int | list[str]) -> EventPage:
    return TypeAdapter(EventPage).validate_python(body_of(await client.get(EVENTS, params=params)))


async def texts(client: httpx.AsyncClient, **params: str | int | list[str]) -> list[str]:
    return [event.text for event in (await search(client, **params)).events]


async def shown(client: httpx.AsyncClient) -> HostEvents:
    return await read_events(client, "2026-11-22T00:00:00Z", "2026-11-22T01:00:00Z")


async def test_noted_changed_deleted_and_restored(operator: httpx.AsyncClient) -> None:
    made = await note(operator, hosts=[HOST], tags=["web", "web", "release"], kind="deployment")
    assert made.id is not None
    assert (made.hosts, made.tags, made.source, made.author, made.end) == ([HOST], ["web", "release"], "user", "operator", None)
    found = await shown(operator)
    assert [(event.text, event.source) for event in found.events] == [
        ("deployed 1.4", EventSource.USER),
        ("CPUs online: 4 → 2", EventSource.FACTS),
    ]
    path = f"{EVENTS}/{made.id}"
    later = {"text": "deployed 1.5", "at": "2026-11-22T00:06:00Z", "end": "2026-11-22T00:07:00Z", "kind": "note", "tags": []}
    changed = TypeAdapter(HostEvent).validate_python((await operator.put(path, json=later)).json())
    assert (changed.id, changed.text, changed.hosts, changed.tags, changed.kind) == (made.id, "deployed 1.5", None, [], "note")
    assert [event.text for event in (await shown(operator)).events] == ["CPUs online: 4 → 2", "deployed 1.5"]
    assert (await operator.delete(path)).status_code == 200
    assert [event.text for event in (await shown(operator)).events] == ["CPUs online: 4 → 2"]
    assert_envelope(await operator.delete(path), 404, "not_found")
    assert_envelope(await operator.put(path, json=later), 404, "not_found")
    assert (await operator.post(f"{path}/restore")).json()["text"] == "deployed 1.5"
    assert len((await shown(operator)).events) == 2
    assert_envelope(await operator.post(f"{EVENTS}/999999/restore"), 404, "not_found")


async def test_searched_by_host_time_kind_tag_and_words(operator: httpx.AsyncClient) -> None:
    await note(operator, text="one 100%", hosts=[HOST], tags=["a", "b"])
    await note(operator, text="Two", hosts=["web2"], tags=["b"], at="2026-11-22T00:04:00Z", kind="incident")
    await note(operator, text="all", at="2026-11-22T00:02:00Z", end="2026-11-22T00:10:00Z")
    assert await texts(operator) == ["Two", "one 100%", "all"]
    assert await texts(operator, tag="b") == ["Two", "one 100%"]
    assert await texts(operator, tag=["a", "b"]) == ["one 100%"]
    assert await texts(operator, kind="incident") == ["Two"]
    # Words in any case, in texts, tags and authors; the signs of LIKE mean themselves.
    assert await texts(operator, search="TWO oper") == ["Two"]
    assert await texts(operator, search="0%") == ["one 100%"]
    # A period belongs to each window that it touches; the start of a window is in it, the end is not.
    assert await texts(operator, start="2026-11-22T00:09:59Z") == ["all"]
    assert await texts(operator, start="2026-11-22T00:10:00Z") == []
    assert await texts(operator, start="2026-11-22T00:03:00Z", end="2026-11-22T00:04:00Z") == ["one 100%", "all"]
    # With hosts, what their facts tell is there too.
    assert await texts(operator, host=HOST) == ["CPUs online: 4 → 2", "one 100%", "all", "Booted"]
    assert await texts(operator, host="web2") == ["Two", "all"]
    assert await texts(operator, host=[HOST, "web2"], search="cpus") == ["CPUs online: 4 → 2"]
    assert await texts(operator, host=HOST, kind="reboot") == ["Booted"]
    assert await texts(operator, host=HOST, tag="a") == ["one 100%"]
    moment = {"start": "2026-11-22T00:05:00Z", "end": "2026-11-22T00:05:01Z"}
    assert await texts(operator, host=HOST, **moment) == ["CPUs online: 4 → 2", "all"]
    pages = [await search(operator, host=HOST, limit=2, offset=offset) for offset in (0, 2, 4)]
    assert [[event.text for event in page.events] for page in pages] == [["CPUs online: 4 → 2", "one 100%"], ["all", "Booted"], []]
    assert {page.n_total for page in pages} == {4}


async def test_csv(operator: httpx.AsyncClient) -> None:
    await note(operator, text='<b>"quoted", and\nmore</b>', hosts=[HOST, "web2"], tags=["a", "b"])
    await note(operator, text="=HYPERLINK(A1)", at="2026-11-22T00:02:00.5Z", end="2026-11-22T00:10:00Z", kind="maintenance")
    response = await operator.get(f"{EVENTS}.csv")
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    by = ["user", "operator"]
    assert list(csv.reader(io.StringIO(response.text, newline=""))) == [
        ["time", "end", "not_before", "hosts", "kind", "text", "tags", "source", "author"],
        ["2026-11-22T00:02:00.500000Z", "2026-11-22T00:10:00Z", "", "all", "maintenance", "'=HYPERLINK(A1)", "", *by],
        ["2026-11-22T00:03:00Z", "", "", f"{HOST} web2", "note", '<b>"quoted", and\nmore</b>', "a b", *by],
    ]


BAD: tuple[tuple[dict[str, object], int, str, str], ...] = (
    ({"at": "9999-01-01T00:00:00Z"}, 422, "invalid_request", "1970..2199"),
    ({"end": "2026-11-22T00:02:00Z"}, 400, "bad_request", "not after its start"),
    ({"end": "2026-11-22T00:03:00Z"}, 400, "bad_request", "not after its start"),
    ({"text": "   "}, 422, "invalid_request", "text"),
    ({"text": "a\0b"}, 422, "invalid_request", "text"),
    ({"hosts": ["nowhere"]}, 404, "not_found", "nowhere"),
)


async def test_bad_events_and_lists_are_refused(operator: httpx.AsyncClient) -> None:
    for body, status, code, word in BAD:
        response = await operator.post(EVENTS, json={"text": "x", "at": "2026-11-22T00:03:00Z"} | body)
        assert_envelope(response, status, code)
        assert word in response.text
    assert await texts(operator) == []
    assert_envelope(await operator.get(EVENTS, params={"host": "nowhere"}), 404, "not_found")
    assert_envelope(await operator.get(EVENTS, params={"host": [HOST] * 21}), 400, "bad_request")
    window = {"start": "2026-11-22T01:00:00Z", "end": "2026-11-22T00:00:00Z"}
    assert_envelope(await operator.get(EVENTS, params=window), 400, "bad_request")
    assert_envelope(await operator.get(EVENTS, params={"start": "9999-01-01T00:00:00Z"}), 422, "invalid_request")


async def test_events_of_a_deleted_host(admin: httpx.AsyncClient, operator: httpx.AsyncClient) -> None:
    await note(operator, text="own", hosts=["web2"])
    await note(operator, text="shared", hosts=[HOST, "web2"])
    await note(operator, text="all")
    assert (await admin.delete("/api/v1/hosts/web2")).status_code == 202
    assert [(event.text, event.hosts) for event in (await search(operator)).events] == [("all", None), ("shared", [HOST])]
    assert_envelope(await operator.post(EVENTS, json={"text": "x", "hosts": ["web2"]}), 404, "not_found")


async def test_reported_with_the_token_of_an_agent(people: People, agent: httpx.AsyncClient, operator: httpx.AsyncClient) -> None:
    path = "/api/v1/ingest/events"
    async with await people.agent("web2") as bound:
        made = (await agent.post(path, json={"text": "deployed", "host": HOST, "kind": EventKind.DEPLOYMENT})).json()
        assert (made["hosts"], made["source"], made["author"], made["kind"]) == ([HOST], "api", "test", "deployment")
        assert_envelope(await agent.post(path, json={"text": "deployed"}), 400, "bad_request")
        assert_envelope(await agent.post(path, json={"text": "deployed", "host": "nowhere"}), 404, "not_found")
        assert (await bound.post(path, json={"text": "x"})).json()["hosts"] == ["web2"]
        assert_envelope(await bound.post(path, json={"text": "x", "host": HOST}), 403, "not_allowed")
        # The page's route is for accounts.
        assert_envelope(await agent.post(EVENTS, json={"text": "x"}), 401, "not_authenticated")
    assert sorted(await texts(operator)) == ["deployed", "x"]


@pytest.mark.parametrize("kind", ["tracer", "artefact"])
async def test_what_follows_from_artefacts_cannot_be_noted(
    agent: httpx.AsyncClient, operator: httpx.AsyncClient, kind: str
) -> None:
    body = {"text": "truss ran", "kind": kind, "hosts": [HOST]}
    refused = await operator.post(EVENTS, json=body)
    assert_envelope(refused, 400, "bad_request")
    said = refused.json()["error"]["message"]
    assert said.startswith(f"Events of kind {kind} follow from artefacts and cannot be noted")
    assert ("deployment" in said, f": {kind}" in said, f", {kind}" in said) == (True, False, False)
    made = (await operator.post(EVENTS, json={**body, "kind": "note", "at": "2026-11-22T00:10:00Z"})).json()
    changed = {**body, "at": made["at"], "tags": []}
    assert_envelope(await operator.put(f"{EVENTS}/{made['id']}", json=changed), 400, "bad_request")
    report = {"text": "truss ran", "kind": kind, "host": HOST}
    assert_envelope(await agent.post("/api/v1/ingest/events", json=report), 400, "bad_request")
    line = f"1795305665\t1795305660\t{kind}\t/var/log/app.log\ttruss ran\n"
    await deliver_text(agent, "host_events", line.encode())
    assert [(event.kind, event.source) for event in (await search(operator)).events] == [("note", "user"), ("note", "agent")]


async def test_events_of_an_agent_are_stored_once(agent: httpx.AsyncClient, operator: httpx.AsyncClient) -> None:
    """Sent again, they are the same; one that was deleted stays so. They cannot be changed."""
    lines = [
        b"1795305665\t1795305660\tlog\t/var/log/app.log\t" + b"x" * 3000 + b"\n",
        b"1795305670\t-\tparty\t\tof a later agent\n",
    ]
    await deliver_text(agent, "host_events", lines[0])
    await deliver_text(agent, "host_events", b"".join(lines))
    await deliver_text(agent, "host_events", b"".join(lines))
    found = (await search(operator)).events
    assert [(event.kind, event.source, event.author, event.hosts) for event in found] == [
        ("note", "agent", "", [HOST]),
        ("log", "agent", "/var/log/app.log", [HOST]),
    ]
    at, not_before = datetime(2026, 11, 22, 0, 1, 5, tzinfo=UTC), datetime(2026, 11, 22, 0, 1, tzinfo=UTC)
    assert (found[1].at, found[1].not_before, len(found[1].text)) == (at, not_before, 2000)
    assert [event.id for event in (await shown(operator)).events if event.source == "agent"] == [found[1].id, found[0].id]
    path = f"{EVENTS}/{found[0].id}"
    body = {"text": "x", "at": "2026-11-22T00:03:00Z", "kind": "note", "tags": []}
    assert_envelope(await operator.put(path, json=body), 400, "bad_request")
    assert (await operator.delete(path)).status_code == 200
    assert [event.kind for event in (await search(operator)).events] == ["log"]


SAR = """Linux 6.1.0-40-amd64 (web1) \t2026-11-22 \t_x86_64_\t(2 CPU)

00:00:01        CPU     %user     %nice   %system   %iowait    %steal     %idle
00:01:01        all      4.52      0.00      1.01      0.00      0.00     94.47

00:03:10     LINUX RESTART\t(2 CPU)

00:04:01       proc/s   cswch/s
00:05:01        18.50    310.30
"""


async def test_a_restart_that_sar_tells_is_one_event(agent: httpx.AsyncClient, operator: httpx.AsyncClient) -> None:
    await deliver_text(agent, "sar_linux", SAR.encode())
    # Another table of the same file tells it again.
    again = SAR[SAR.index("\n00:03:10") :].encode()
    await deliver_text(agent, "sar_linux", again, offset=len(SAR))
    assert [(event.text, event.at.isoformat(), event.kind) for event in (await search(operator, kind="reboot")).events] == [
        ("Restarted", "2026-11-22T00:03:10+00:00", "reboot")
    ]


SYSLOG = """2026-11-22T00:03:10Z web1 kernel: Out of memory: Killed process 4711 (java)
2026-11-22T00:03:11Z web1 cron[9]: (root) CMD (true)
Nov 22 00:03:12 web1 kernel: nvme0n1: I/O error, dev nvme0n1, sector 2048
"""


async def test_a_system_log_tells_events_and_rejects_those_without_a_time(
    agent: httpx.AsyncClient, operator: httpx.AsyncClient
) -> None:
    await deliver_text(agent, "syslog", SYSLOG.encode())
    assert [(event.text, event.at.isoformat(), event.kind, event.author) for event in (await search(operator)).events] == [
        ("Out of memory: Killed process 4711 (java)", "2026-11-22T00:03:10+00:00", "kernel", "kernel")
    ]
    (line,) = (await operator.get(f"/api/v1/hosts/{HOST}/rejected")).json()["rejected_lines"]
    assert (line["line_no"], line["reason"]) == (3, "no time known: no date or time was printed before this line")
