"""Facts of a host, from the agent's text to the answer."""

from pathlib import Path

import httpx
from pydantic import TypeAdapter

from normstat.api.http.state import AppState
from normstat.auth.roles import Role
from normstat.query.fact_history import HostFacts
from normstat.query.host_events import HostEvents
from normstat.stats import readers
from normstat.stats.fact_words import EventKind
from tests.api.people import People, body_of
from tests.api.samples import HOST, deliver_text
from tests.compaction.raw_view import pack_all

CAPTURE = Path(readers.__file__).parent / "host_facts/synthetic/host_facts/0.1--two-boots.txt"


async def read(client: httpx.AsyncClient) -> HostFacts:
    return TypeAdapter(HostFacts).validate_python(body_of(await client.get(f"/api/v1/hosts/{HOST}/facts")))


async def send_facts(agent: httpx.AsyncClient, text: bytes, key: str) -> None:
    await deliver_text(agent, "host_facts", text, key, command="facts 3600")


async def test_facts_and_changes_of_several_streams(people: People, agent: httpx.AsyncClient) -> None:
    first, second = CAPTURE.read_bytes().split(b"what is this\n")
    # The agent was started again at the second boot; what it printed then arrives first.
    await send_facts(agent, second, "2")
    await send_facts(agent, first, "1")
    found = await read(await people.enter(Role.VIEWER))
    assert {(fact.key, fact.item): fact.value for fact in found.facts} == {
        ("boot_time", ""): "1795309011",
        ("cpu_mhz", ""): "2449; 1800",
        ("cpu_model", ""): "AMD EPYC 7B13",
        ("cpus", ""): "2",
        ("kernel_release", ""): "6.1.0-18-amd64",
        ("memory_kb", ""): "16393232",
        ("mount", "/"): "ext4 /dev/vda1",
        ("os", ""): "Linux",
        ("system", ""): "Debian GNU/Linux 12 (bookworm)",
    }
    assert [(change.key, change.item, change.before, change.after) for change in found.changes] == [
        ("boot_time", "", "1795300011", "1795309011"),
        ("kernel_release", "", "6.1.0-13-amd64", "6.1.0-18-amd64"),
        ("cpus", "", "4", "2"),
        ("cpu_mhz", "", "2449", "2449; 1800"),
        ("mount", "/home", "xfs /dev/vdb1", None),
    ]
    assert {change.at.isoformat() for change in found.changes} == {"2026-11-22T01:00:00+00:00"}
    assert found.read_at is not None
    assert found.read_at.isoformat() == "2026-11-22T01:00:00+00:00"


async def test_a_host_without_facts(agent: httpx.AsyncClient, viewer: httpx.AsyncClient) -> None:
    await send_facts(agent, b"1795305600\nnothing here\n", "1")
    assert await read(viewer) == HostFacts([], [], 0, None, None)
    assert await read_events(viewer, "2026-11-22T00:00:00Z", "2026-11-23T00:00:00Z") == HostEvents([], 0, None)


async def read_events(client: httpx.AsyncClient, start: str, end: str) -> HostEvents:
    response = body_of(await client.get(f"/api/v1/hosts/{HOST}/events", params={"start": start, "end": end}))
    return TypeAdapter(HostEvents).validate_python(response)


MPSTAT = """1795305660
CPU minf mjf xcal  intr ithr  csw icsw migr smtx  srw syscl  usr sys  wt idl
  0    1   0   10   300  100  200    5   10    2    0   500   10   5   0  85
  1    1   0   10   300  100  200    5   10    2    0   500   10   5   0  85
  2    1   0   10   300  100  200    5   10    2    0   500   10   5   0  85
"""


async def test_events_of_a_window_and_the_processor_sets_of_cpus(agent: httpx.AsyncClient, viewer: httpx.AsyncClient) -> None:
    text = (
        "1795305600\ncpus\t3\nboot_time\t1795300000\nprocessor_set 1\t1 2\n"
        "1795305900\ncpus\t3\nboot_time\t1795300000\nprocessor_set 1\t1\n"
    )
    reports = MPSTAT + "".join(MPSTAT.replace("1795305660", str(at)) for at in range(1795305661, 1795305700))
    await send_facts(agent, text.encode(), "1")
    await deliver_text(agent, "mpstat_solaris", reports, "2", command="mpstat -T u 1")
    found = await read_events(viewer, "2026-11-22T00:00:00Z", "2026-11-22T01:00:00Z")
    assert [
        (event.at.isoformat(), event.not_before and event.not_before.isoformat(), event.kind, event.text) for event in found.events
    ] == [("2026-11-22T00:05:00+00:00", "2026-11-22T00:00:00+00:00", EventKind.SETTING, "Processor set 1: 1 2 → 1")]
    assert (found.n_left_out, found.known_since and found.known_since.isoformat()) == (0, "2026-11-22T00:00:00+00:00")
    # The boot before the first report is known too; the end of a window is no part of it.
    before = await read_events(viewer, "2026-11-21T00:00:00Z", "2026-11-22T00:05:00Z")
    assert [(event.text, event.at.isoformat()) for event in before.events] == [("Booted", "2026-11-21T22:26:40+00:00")]

    async def labels(start: str, end: str) -> dict[str, str]:
        response = body_of(
            await viewer.get(f"/api/v1/hosts/{HOST}/stats/mpstat_solaris/instances", params={"start": start, "end": end})
        )
        return {instance["name"]: instance["label"] for instance in response["instances"]}

    assert await labels("2026-11-22T00:01:00Z", "2026-11-22T00:02:00Z") == {"0": "", "1": "set 1", "2": "set 1"}
    assert await labels("2026-11-22T00:01:00Z", "2026-11-22T00:10:00Z") == {"0": "", "1": "set 1", "2": "set 1, then none"}


async def test_the_time_zones_of_hosts(agent: httpx.AsyncClient, viewer: httpx.AsyncClient, state: AppState) -> None:
    old, new = "1795305600\nos\tLinux\ntime_zone\tEurope/Berlin\nagent\t0.1.0\n", "1795309200\nos\tLinux\n"
    sent = {
        "web1": [old],
        # The newest stream has not told everything yet.
        "web10": [old.replace("Europe/Berlin", "+0530"), new],
        # The newest agent tells none.
        "web2": [old, f"{new}agent\t0.0.9\n"],
        "db": ["1795305600\nos\tSunOS\n"],
    }
    for host, texts in sent.items():
        for n, text in enumerate(texts):
            await deliver_text(agent, "host_facts", text, str(n), command="facts 3600", host=host)

    async def zones(**query: str | list[str]) -> list[tuple[str, str | None]]:
        return [
            (host["host"], host["time_zone"]) for host in body_of(await viewer.get("/api/v1/host-zones", params=query))["hosts"]
        ]

    assert await zones() == [("db", None), ("web1", "Europe/Berlin"), ("web2", None), ("web10", "+0530")]
    assert await zones(host=["web10", "gone", "web1"]) == [("web1", "Europe/Berlin"), ("web10", "+0530")]
    assert (await viewer.get("/api/v1/host-zones", params={"tag": "gone"})).status_code == 404
    # As of hosts that have been silent for days.
    assert (await pack_all(state.sessions)).n_bytes > 100
    assert await zones() == [("db", None), ("web1", "Europe/Berlin"), ("web2", None), ("web10", "+0530")]
