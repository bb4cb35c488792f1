"""The fleet over HTTP: hosts that are unusual, normal, silent, without a baseline, at another moment; and the list of all hosts."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import httpx
import numpy as np
import orjson
import pytest

from normstat.api.http.host_list_answers import FRESH_S, HostListAnswers
from normstat.api.http.state import AppState
from normstat.baselines.baseline_rows import BaselineDraft, create_baseline
from normstat.baselines.rolling_baseline import update_rolling_baselines
from normstat.db.session import open_read_session, open_write_session
from normstat.profiles.profile_job import run_profiles
from normstat.watch.fleet.baseline_normals import NormalsCache
from normstat.watch.fleet.fleet_model import Fleet
from normstat.watch.fleet.fleet_service import FleetMemory, read_fleet
from normstat.watch.fleet.minute_store import MinuteStore
from normstat.window import Window, to_us
from tests.api.people import body_of, run_sql
from tests.auth.test_throttle import Clock
from tests.query.filling import fill_stat

NOW: Final = datetime(2026, 11, 20, 12, 0, 30, tzinfo=UTC)
HOUR: Final = timedelta(hours=1)
QUIET: Final = Window(NOW - 3 * HOUR, NOW - 2 * HOUR)

SEEN = "2026-11-21T12:00:00Z"


async def fill(state: AppState, host: str, start: datetime, end: datetime, *, busy: float = 4.0, key: str = "1") -> None:
    """Disks of a host, every 10 s; the first is so busy in the last five minutes."""
    seconds = np.arange(0, (end - start).total_seconds(), 10)
    rng = np.random.default_rng(1)
    values = rng.uniform(1, 6, len(seconds)).round(2)
    values[seconds >= (NOW - start).total_seconds() - 300] = busy
    both = np.stack([values, rng.uniform(1, 6, len(seconds)).round(2)], axis=1).ravel()
    await fill_stat(state.sessions, "iostat_linux", start, seconds, ("vda", "vdb"), host=host, key=key, util_pct=both)


async def mark(state: AppState, name: str, *hosts: str, window: Window = QUIET) -> None:
    async with open_write_session(state.sessions) as session:
        await create_baseline(session, BaselineDraft(name, "", hosts, (window,), "ann"))


async def fleet_of(state: AppState, at: datetime | None = None, memory: FleetMemory | None = None) -> Fleet:
    memory = memory or state.fleet_memory
    async with open_read_session(state.sessions) as session:
        return await read_fleet(session, memory, at, now=NOW, budget_s=600)


async def hosts_of(state: AppState, at: datetime | None = None) -> Mapping[str, Any]:
    return {host.name: host for host in (await fleet_of(state, at)).hosts}


async def test_a_busy_disk_is_said_in_human_units_beside_what_is_normal(state: AppState) -> None:
    for host, busy in (("calm", 4.0), ("full", 98.0)):
        await fill(state, host, NOW - 3 * HOUR, NOW, busy=busy)
    await mark(state, "quiet", "calm", "full")
    assert await run_profiles(state.sessions, budget_s=600, now=datetime.now(UTC) + HOUR) == 2
    fleet = await fleet_of(state)
    assert (fleet.n_minutes, fleet.n_minutes_read) == (60, 60)
    found = {host.name: host for host in fleet.hosts}
    full, calm = found["full"], found["calm"]
    assert full.verdict == calm.verdict == "judged"
    assert full.sentence.startswith("disk vda busy 98 %, normally 1.")
    assert full.change_ratio is not None
    assert (full.level, full.change_ratio > 10) == (3, True)
    assert full.ribbon.endswith("333333")
    assert set(full.ribbon[:50]) <= {"0", "1"}
    assert calm.level == 0
    assert "quiet" in calm.sentence
    [line] = full.lines
    assert (line.resource, line.label, line.now, line.level) == ("disk", "vda busy", 98.0, 3)
    assert len(line.heights) == 60


async def test_a_short_baseline_is_judged_by_its_samples(state: AppState) -> None:
    await fill(state, "web1", NOW - HOUR, NOW, busy=70.0)
    await mark(state, "few minutes", "web1", window=Window(NOW - timedelta(minutes=20), NOW - timedelta(minutes=16)))
    host = (await hosts_of(state))["web1"]
    assert (host.verdict, host.level) == ("judged", 3)
    assert host.sentence.startswith("disk vda busy 70 %, normally 1")


async def test_without_a_baseline_or_samples_no_host_counts_as_normal(state: AppState) -> None:
    await fill(state, "alone", NOW - HOUR, NOW)
    await fill(state, "gone", NOW - 3 * HOUR, NOW - timedelta(minutes=20))
    await mark(state, "quiet", "gone")
    found = await hosts_of(state)
    alone, gone = found["alone"], found["gone"]
    assert (alone.verdict, alone.change_ratio, alone.baseline_id) == ("learning", None, None)
    assert alone.sentence == "learning what is normal: 1 h of 24 h recorded"
    assert set(alone.ribbon) == {"?"}
    assert (gone.verdict, gone.change_ratio) == ("no_samples", None)
    assert gone.ribbon.endswith("-" * 20)


async def test_a_host_that_nobody_marked_is_judged_by_its_last_days(state: AppState) -> None:
    await fill(state, "web1", NOW - 26 * HOUR, NOW, busy=98.0)
    assert await update_rolling_baselines(state.sessions, NOW) == 1
    building = (await hosts_of(state))["web1"]
    assert (building.verdict, building.sentence) == ("building", "the profile of the last day is being built")
    assert await run_profiles(state.sessions, budget_s=600, now=datetime.now(UTC) + HOUR) == 1
    host = (await hosts_of(state))["web1"]
    assert (host.verdict, host.level, host.is_rolling, host.baseline_name) == ("judged", 3, True, "last 7 days of web1")
    assert host.sentence.startswith("disk vda busy 98 %, normally 1")
    assert host.sentence.endswith(" in the last day")


async def test_a_long_baseline_without_a_profile_yet_is_said(state: AppState) -> None:
    await fill(state, "web1", NOW - 4 * HOUR, NOW)
    await mark(state, "long", "web1", window=Window(NOW - 4 * HOUR, NOW - HOUR))
    host = (await hosts_of(state))["web1"]
    assert (host.verdict, host.sentence) == ("building", "the profile of long is being built")


async def test_the_fleet_of_another_moment(state: AppState) -> None:
    await fill(state, "web1", NOW - 3 * HOUR, NOW, busy=98.0)
    await mark(state, "quiet", "web1", window=Window(NOW - 3 * HOUR, NOW - 3 * HOUR + timedelta(minutes=10)))
    at = (NOW - timedelta(minutes=10)).replace(second=0)
    fleet = await fleet_of(state, at)
    assert fleet.end_ms == to_us(at) // 1000
    assert fleet.hosts[0].level == 0
    assert "3" not in fleet.hosts[0].ribbon
    assert (await fleet_of(state)).hosts[0].level == 3


async def test_the_state_is_that_of_the_moment(state: AppState) -> None:
    await fill(state, "gone", NOW - 3 * HOUR, NOW - 2 * HOUR)
    await fill(state, "on", NOW - 3 * HOUR, NOW)
    await fill(state, "new", NOW - HOUR, NOW)
    at = (NOW - 2 * HOUR - timedelta(minutes=20)).replace(second=0)
    found = await hosts_of(state, at)
    # All three are silent now: their samples came through no agent.
    assert {name: host.state for name, host in found.items()} == {"gone": "live", "on": "live", "new": "silent"}
    later = await hosts_of(state, (NOW - HOUR).replace(second=0))
    assert {name: host.state for name, host in later.items()} == {"gone": "silent", "on": "live", "new": "silent"}
    assert later["gone"].last_sample_ms == to_us(NOW - 2 * HOUR) // 1000 - 10_000
    assert later["on"].last_sample_ms is None


async def test_late_samples_show_when_the_age_of_a_minute_has_doubled(state: AppState) -> None:
    memory = FleetMemory(MinuteStore(1 << 20, lambda: 0.0), NormalsCache())
    await fill(state, "web1", NOW - 2 * HOUR, NOW - timedelta(minutes=10))

    async def ribbon(now: datetime) -> str:
        async with open_read_session(state.sessions) as session:
            return (await read_fleet(session, memory, NOW, now=now, budget_s=600)).hosts[0].ribbon

    assert (await ribbon(NOW)).endswith("?" * 5 + "-" * 10)
    await fill(state, "web1", NOW - timedelta(minutes=10), NOW, key="2")
    # Minutes that ended ten minutes ago are read again when they are twenty minutes old.
    assert (await ribbon(NOW + timedelta(minutes=4))).endswith("-" * 5 + "?" * 5)
    assert set(await ribbon(NOW + 2 * HOUR)) == {"?"}


async def test_what_a_budget_leaves_unread_is_read_by_the_next_requests(state: AppState) -> None:
    await fill(state, "web1", NOW - 2 * HOUR, NOW)
    ticks = iter(range(10_000))
    memory = FleetMemory(MinuteStore(1 << 20, lambda: float(next(ticks))), NormalsCache())
    seen = []
    for _ in range(9):
        async with open_read_session(state.sessions) as session:
            fleet = await read_fleet(session, memory, NOW - HOUR, now=NOW, budget_s=0)
        seen.append(fleet.n_minutes_read)
        ribbon = fleet.hosts[0].ribbon
        assert ribbon == "." * (60 - fleet.n_minutes_read) + "?" * fleet.n_minutes_read
    assert seen == [10, 20, 30, 40, 50, 60, 60, 60, 60]


async def test_over_http_it_is_kept_for_seconds_and_packed(
    viewer: httpx.AsyncClient, state: AppState, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However long a busy machine takes for the minutes of a host: an answer without some of them is not kept.
    defaults = read_fleet.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "budget_s", 3600.0)
    await fill(state, "web1", NOW - HOUR, NOW)
    answer = await viewer.get("/api/v1/fleet", params={"at": NOW.isoformat()}, headers={"Accept-Encoding": "gzip"})
    assert answer.status_code == 200
    assert answer.headers["content-encoding"] == "gzip"
    body = answer.json()
    assert [host["name"] for host in body["hosts"]] == ["web1"]
    for accepted, encoding in (("gzip, zstd", "zstd"), ("identity", None)):
        again = await viewer.get("/api/v1/fleet", params={"at": NOW.isoformat()}, headers={"Accept-Encoding": accepted})
        assert (again.headers.get("content-encoding"), again.json()) == (encoding, body)
    assert (await viewer.get("/api/v1/fleet")).json()["hosts"][0]["verdict"] == "no_baseline"


async def test_who_has_an_answer_is_not_sent_it_again(viewer: httpx.AsyncClient, state: AppState) -> None:
    await fill(state, "web1", NOW - HOUR, NOW)
    # On a busy machine the host may become late between two requests: then it is another answer, and right to be sent.
    for _ in range(3):
        first: httpx.Response = await viewer.get("/api/v1/fleet", params={"at": NOW.isoformat()})
        etag = first.headers["ETag"]
        again: httpx.Response = await viewer.get(
            "/api/v1/fleet", params={"at": NOW.isoformat()}, headers={"If-None-Match": f"W/{etag}"}
        )
        if again.status_code == 304:
            break
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", etag)
    other: httpx.Response = await viewer.get("/api/v1/fleet", params={"at": NOW.isoformat()}, headers={"If-None-Match": '"other"'})
    assert other.json() == first.json()


async def test_an_empty_server_has_an_empty_fleet_and_no_future(viewer: httpx.AsyncClient) -> None:
    assert body_of(await viewer.get("/api/v1/fleet"))["hosts"] == []
    body_of(await viewer.get("/api/v1/fleet", params={"at": "2199-01-01T00:00:00Z"}), 400)


async def test_the_use_matrices_of_all_hosts_are_answered_at_once_and_not_sent_again(
    viewer: httpx.AsyncClient, state: AppState
) -> None:
    for host, idle in (("web1", 50), ("web2", 1)):
        seconds = np.arange(-60, 0, 10)
        await fill_stat(state.sessions, "mpstat_linux", NOW, seconds, ("all",), host=host, idle_pct=idle)
    first: httpx.Response = await viewer.get("/api/v1/use", params={"at": NOW.isoformat()})
    assert [(row["host"], row["state"], row["cells"][0]["text"]) for row in first.json()["hosts"]] == [
        ("web2", "critical", "99 %"), ("web1", "fine", "50 %"),
    ]  # fmt: skip
    etag = first.headers["ETag"]
    again: httpx.Response = await viewer.get("/api/v1/use", params={"at": NOW.isoformat()}, headers={"If-None-Match": etag})
    assert (again.status_code, again.content) == (304, b"")
    own: httpx.Response = await viewer.get("/api/v1/hosts/web2/use", params={"at": NOW.isoformat()})
    cpu = own.json()["rows"][0]["cells"][0]
    assert (cpu["state"], cpu["text"], cpu["warning_from"], cpu["critical_from"]) == ("critical", "99 %", "80 %", "95 %")


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
