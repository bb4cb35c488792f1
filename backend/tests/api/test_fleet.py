"""The fleet over HTTP: what is said of hosts that are unusual, normal, silent, without a baseline, and at another moment."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import httpx
import numpy as np
import pytest

from normstat.api.state import AppState
from normstat.baselines.rolling_baseline import update_rolling_baselines
from normstat.fleet.baseline_normals import NormalsCache
from normstat.fleet.fleet_model import Fleet
from normstat.fleet.fleet_service import FleetMemory, read_fleet
from normstat.fleet.minute_store import MinuteStore
from normstat.profiles.profile_job import run_profiles
from normstat.storage.baseline_rows import BaselineDraft, create_baseline
from normstat.storage.session import open_read_session, open_write_session
from normstat.window import Window, to_us
from tests.query.filling import fill_values

NOW: Final = datetime(2026, 11, 20, 12, 0, 30, tzinfo=UTC)
HOUR: Final = timedelta(hours=1)
QUIET: Final = Window(NOW - 3 * HOUR, NOW - 2 * HOUR)


async def fill(state: AppState, host: str, start: datetime, end: datetime, *, busy: float = 4.0, key: str = "1") -> None:
    """Disks of a host, every 10 s; the first is so busy in the last five minutes."""
    times = np.arange(to_us(start), to_us(end), 10_000_000)
    rng = np.random.default_rng(1)
    values = rng.uniform(1, 6, len(times)).round(2)
    values[times >= to_us(NOW) - 300_000_000] = busy
    both = np.stack([values, rng.uniform(1, 6, len(times)).round(2)], axis=1).ravel()
    await fill_values(
        state.sessions,
        host,
        "iostat_linux",
        time_us=np.repeat(times, 2),
        instances=("vda", "vdb") * len(times),
        values={"util_pct": both},
        key=key,
    )


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
    assert full.change_ratio > 10
    assert full.level == 3
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
    smaller = await viewer.get("/api/v1/fleet", params={"at": NOW.isoformat()}, headers={"Accept-Encoding": "gzip, zstd"})
    assert (smaller.headers["content-encoding"], smaller.json()) == ("zstd", body)
    assert [host["name"] for host in body["hosts"]] == ["web1"]
    assert (
        await viewer.get("/api/v1/fleet", params={"at": NOW.isoformat()}, headers={"Accept-Encoding": "identity"})
    ).json() == body
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


async def test_a_moment_to_come_is_refused(viewer: httpx.AsyncClient) -> None:
    answer: httpx.Response = await viewer.get("/api/v1/fleet", params={"at": "2199-01-01T00:00:00Z"})
    assert answer.status_code == 400


async def test_an_empty_server_has_an_empty_fleet(state: AppState) -> None:
    assert (await fleet_of(state)).hosts == []
