"""Facts of a host, from the agent's text to the answer."""

from pathlib import Path

import httpx
from pydantic import TypeAdapter

from normstat.auth.roles import Role
from normstat.ingest.protocol import Frame, FrameKind, format_frames
from normstat.query.fact_history import HostFacts
from normstat.stats import readers
from tests.api.people import People
from tests.api.samples import HOST, send

CAPTURE = Path(readers.__file__).parent / "host_facts/synthetic/host_facts/0.1--two-boots.txt"


async def read(client: httpx.AsyncClient) -> HostFacts:
    response = await client.get(f"/api/v1/hosts/{HOST}/facts")
    assert response.status_code == 200, response.text
    return TypeAdapter(HostFacts).validate_python(response.json())


async def send_facts(agent: httpx.AsyncClient, text: bytes, key: str) -> None:
    frame = Frame(FrameKind.STREAM, "host_facts", key, 0, len(text), "facts 3600", text)
    response = await send(agent, format_frames([frame]))
    assert response.status_code == 200, response.text


async def test_facts_and_changes_of_several_streams(people: People) -> None:
    first, second = CAPTURE.read_bytes().split(b"what is this\n")
    async with await people.agent() as agent:
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
    assert {fact.key for fact in found.facts if fact.since.hour == 1} == {"boot_time", "cpu_mhz", "cpus", "kernel_release"}
    assert [(change.key, change.item, change.before, change.after) for change in found.changes] == [
        ("boot_time", "", "1795300011", "1795309011"),
        ("cpu_mhz", "", "2449", "2449; 1800"),
        ("cpus", "", "4", "2"),
        ("kernel_release", "", "6.1.0-13-amd64", "6.1.0-18-amd64"),
        ("mount", "/home", "xfs /dev/vdb1", None),
    ]
    assert {change.at.isoformat() for change in found.changes} == {"2026-11-22T01:00:00+00:00"}
    assert found.read_at is not None
    assert found.read_at.isoformat() == "2026-11-22T01:00:00+00:00"


async def test_a_host_without_facts(people: People) -> None:
    async with await people.agent() as agent:
        await send_facts(agent, b"1795305600\nnothing here\n", "1")
    assert await read(await people.enter(Role.VIEWER)) == HostFacts([], [], None)
