"""Tags of hosts: given by people and by agents, neither of which changes the other's; what finds hosts by them."""

from typing import Any

import httpx
import pytest

from normstat.storage.host_tag_rows import MAX_TAGS, read_tags
from tests.api.people import People, body_of
from tests.api.samples import VMSTAT, deliver, frames_of
from tests.api.test_access import assert_envelope

TAGS = "/api/v1/host-tags"


async def report(people: People, host: str, **headers: str) -> None:
    """Send as the agent of the host does."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with await people.agent() as agent:
        await deliver(agent, frames_of(VMSTAT), **{"Normstat-Host": host} | named)


async def tags_of(browser: httpx.AsyncClient, host: str) -> tuple[list[str], list[str]]:
    own = next(each for each in (await browser.get("/api/v1/hosts")).json()["hosts"] if each["name"] == host)
    return own["tags"], own["agent_tags"]


async def change(browser: httpx.AsyncClient, hosts: list[str], **what: list[str]) -> list[dict[str, Any]]:
    answer = body_of(await browser.post(TAGS, json={"hosts": hosts, **what}))
    found: list[dict[str, Any]] = answer["hosts"]
    return found


async def test_people_and_agents_tag_hosts_and_neither_removes_the_others(people: People, anna: httpx.AsyncClient) -> None:
    await report(people, "web1", Normstat_Agent="1", Normstat_Tags="prod, web,a b")
    await report(people, "web2", Normstat_Agent="1")
    assert await tags_of(anna, "web1") == (["prod", "web"], ["prod", "web"])

    [web1, web2] = await change(anna, ["web2", "web1"], add=["prod", "rack-7"])
    assert (web1["name"], web1["tags"], web1["agent_tags"]) == ("web1", ["prod", "rack-7", "web"], ["prod", "web"])
    assert (web2["tags"], web2["agent_tags"]) == (["prod", "rack-7"], [])
    # What does not name its version is no agent that knows tags: an old one, or a person with curl.
    await report(people, "web1")
    assert (await tags_of(anna, "web1"))[1] == ["prod", "web"]
    # The agent's configuration has no tags any more: what people gave stays.
    await report(people, "web1", Normstat_Agent="1", Normstat_Tags="-")
    assert await tags_of(anna, "web1") == (["prod", "rack-7"], [])
    await report(people, "web1", Normstat_Agent="1", Normstat_Tags="web")
    [web1] = await change(anna, ["web1"], remove=["prod", "web"])
    assert web1["tags"] == ["rack-7", "web"], "a tag that the agent sets is removed only in its configuration"

    fleet = {host["name"]: host for host in (await anna.get("/api/v1/fleet")).json()["hosts"]}
    assert (fleet["web1"]["tags"], fleet["web1"]["agent_tags"]) == (["rack-7", "web"], ["web"])

    found = (await anna.get("/api/v1/search", params={"q": "RACK-7", "kind": "host"})).json()["hits"]
    assert [(hit["name"], hit["detail"]) for hit in found] == [("web1", "rack-7 · web"), ("web2", "prod · rack-7")]
    metrics = await anna.get("/api/v1/host-metrics", params={"tag": "rack-7", "host": "web2"})
    assert metrics.json()["hosts"] == ["web2", "web1"]
    assert_envelope(await anna.get("/api/v1/host-metrics", params={"tag": "nobody"}), 404, "not_found")


async def test_what_cannot_be_tagged_is_refused_as_a_whole(people: People, anna: httpx.AsyncClient) -> None:
    await report(people, "web1")
    unknown = await anna.post(TAGS, json={"hosts": ["web1", "web9"], "add": ["prod"]})
    assert_envelope(unknown, 404, "not_found")
    assert await tags_of(anna, "web1") == ([], [])
    await change(anna, ["web1"], add=[f"t{n}" for n in range(MAX_TAGS)])
    assert_envelope(await anna.post(TAGS, json={"hosts": ["web1"], "add": ["more"]}), 400, "bad_request")


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("", []),
        ("-", []),
        ("b,a,b", ["a", "b"]),
        (" a , ,b c,", ["a"]),
        ("x" * 51 + ",-", ["-"]),
        ("web10,web9", ["web9", "web10"]),
    ],
)
def test_tags_of_an_agent(text: str, tags: list[str]) -> None:
    assert read_tags(text) == tags
