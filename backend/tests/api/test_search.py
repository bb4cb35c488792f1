"""The search of the palette: what it finds, in which order, and what it says of the rest."""

from datetime import UTC, datetime, timedelta

import httpx
import numpy as np
import pytest

from normstat.api.http.state import AppState
from normstat.auth.roles import Role
from normstat.baselines.baseline_rows import BaselineDraft, create_baseline
from normstat.comparison.saved_comparison_rows import SavedComparisonDraft, create_saved
from normstat.db.session import open_write_session
from normstat.query.search.search_answer import SearchAnswer, SearchHit
from normstat.window import Window, to_us
from tests.api.people import People, body_of
from tests.generated import PLOCKSTAT
from tests.query.filling import fill_values

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
async def viewer(people: People, state: AppState) -> httpx.AsyncClient:
    """Two hosts: web1 with CPUs, disks, processes and commands, db1 with other disks."""

    async def fill(host: str, stat: str, field: str, instances: tuple[str, ...], hours: int = 0) -> None:
        times = np.full(len(instances), to_us(NOW - timedelta(hours=hours)))
        await fill_values(state.sessions, host, stat, time_us=times, instances=instances, values={field: np.ones(len(instances))})

    await fill("web1", "mpstat_linux", "iowait_pct", ("all", "0", "1", "10"))
    await fill("web1", "vmstat_linux", "cpu_wa", ("",))
    await fill("web1", "iostat_linux", "util_pct", ("sda", "sdb"))
    await fill("web1", "pidstat_linux", "cpu_pct", ("4711/java", "47/init"))
    await fill("web1", "pidstat_linux_command", "cpu_pct", ("java", "init"))
    await fill("db1", "iostat_linux", "util_pct", ("sdc", "nvme0n1"), hours=1)
    async with open_write_session(state.sessions) as session:
        hour = Window(NOW - timedelta(hours=1), NOW)
        await create_baseline(session, BaselineDraft("quiet Sunday", "before the fair", ("web1",), (hour,), "test"))
        await create_saved(session, SavedComparisonDraft("slow shop", "", {"host": ["web1"]}, b"{}", "test"))
    return await people.enter(Role.VIEWER)


async def ask(client: httpx.AsyncClient, query: str, **params: str | int | list[str]) -> SearchAnswer:
    body = body_of(await client.get("/api/v1/search", params={"q": query, **params}))
    return SearchAnswer([SearchHit(**hit) for hit in body["hits"]], body["counts"])


def names(answer: SearchAnswer, kind: str) -> list[str]:
    return [hit.name for hit in answer.hits if hit.kind == kind]


async def test_the_metrics_of_the_host_come_first(viewer: httpx.AsyncClient) -> None:
    answer = await ask(viewer, "iowait", host="web1")
    own = [hit for hit in answer.hits if hit.kind == "metric"]
    assert [(hit.stat, hit.field, hit.host, hit.unit) for hit in own] == [
        ("mpstat_linux", "iowait_pct", "web1", "%"),
        ("vmstat_linux", "cpu_wa", "web1", "%"),
    ]
    others = [hit for hit in answer.hits if hit.kind == "other_metric"]
    assert len(others) == 12
    assert {hit.host for hit in others} == {None}, "no host sends them"
    counts = {each["kind"]: each["n_found"] for each in answer.counts}  # type: ignore[index]
    assert counts["metric"] == 2
    assert counts["other_metric"] > 12


async def test_without_a_host_metrics_say_who_sends_them(viewer: httpx.AsyncClient) -> None:
    answer = await ask(viewer, "%util")
    hit = next(hit for hit in answer.hits if hit.kind == "metric")
    assert (hit.stat, hit.n_hosts) == ("iostat_linux", 2)
    assert hit.host in {"web1", "db1"}
    elsewhere = await ask(viewer, "mpstat %usr", host="db1")
    other = next(hit for hit in elsewhere.hits if hit.stat == "mpstat_linux")
    assert (other.kind, other.host, other.n_hosts) == ("other_metric", "web1", 1)


async def test_a_disk_and_what_is_asked_of_it(viewer: httpx.AsyncClient) -> None:
    first = (await ask(viewer, "sda util", host="web1")).hits[0]
    assert (first.kind, first.stat, first.field, first.instance) == ("metric", "iostat_linux", "util_pct", "sda")
    assert names(await ask(viewer, "sd", host="web1"), "instance") == ["sda", "sdb"]
    assert [(hit.name, hit.host) for hit in (await ask(viewer, "sdc")).hits if hit.kind == "instance"] == [("sdc", "db1")]
    assert names(await ask(viewer, "cpu 1", host="web1"), "instance") == ["1", "10"], "the whole name first"
    assert names(await ask(viewer, "100%", host="web1"), "instance") == [], "a sign of LIKE is a sign"


async def test_hosts_processes_and_what_people_named(viewer: httpx.AsyncClient) -> None:
    assert names(await ask(viewer, "web"), "host") == ["web1"]
    java = await ask(viewer, "java", host="web1")
    assert [(hit.kind, hit.name, hit.pid) for hit in java.hits if hit.kind in {"command", "process"}] == [
        ("command", "java", None),
        ("process", "java", 4711),
    ]
    assert [hit.pid for hit in (await ask(viewer, "4711", host="web1")).hits if hit.kind == "process"] == [4711]
    assert names(await ask(viewer, "java"), "process") == [], "of all hosts there are too many"
    assert names(await ask(viewer, "fair"), "baseline") == ["quiet Sunday"]
    assert names(await ask(viewer, "shop slow"), "comparison") == ["slow shop"]


async def test_artefacts_are_found_by_what_was_asked_and_by_what_was_printed(
    operator: httpx.AsyncClient, viewer: httpx.AsyncClient
) -> None:
    asked = {"host": "web1", "question": "which lock do writers wait for?", "command": "plockstat -A -e 10 -p 4711"}
    made = (await operator.post("/api/v1/artefacts", content=PLOCKSTAT, params=asked)).json()
    for query in ("writers lock", "plockstat", "malloc_lock"):
        [hit] = [hit for hit in (await ask(viewer, query)).hits if hit.kind == "artefact"]
        assert (hit.id, hit.name, hit.detail, hit.host) == (made["id"], asked["question"], "plockstat", "web1")
    assert names(await ask(viewer, "writers", host="db1"), "artefact") == [], "of this host only"


async def test_kinds_and_limits(viewer: httpx.AsyncClient) -> None:
    few = await ask(viewer, "s", host="web1", kind=["metric"], limit=3)
    assert len(few.hits) == 3
    assert {hit.kind for hit in few.hits} == {"metric"}
    assert (await ask(viewer, " ")).hits == []
    assert (await viewer.get("/api/v1/search", params={"q": "x", "host": "web9"})).status_code == 404
