"""A comparison that is asked for again: made once for all who ask, the same without work, and never one that is outdated."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import httpx
import numpy as np
import pytest
from sqlalchemy import text

from normstat.api.http.comparison_cache import ComparisonCache, ComparisonResult
from normstat.api.http.state import AppState
from normstat.api.routes import comparison_answer
from normstat.auth.roles import Role
from normstat.compaction.unseal import unseal
from normstat.comparison import circumstance_reader
from normstat.comparison.host_comparison import Progress
from normstat.comparison.series_rows import SeriesRows
from normstat.comparison.service import run_whole_comparison
from normstat.db.session import open_read_session, open_write_session
from normstat.errors import NoData, Overloaded
from normstat.ingest.protocol import Frame, FrameKind, format_frames
from normstat.query.host_events import read_host_events
from normstat.retention.retention_rules import Removed, note_removed
from normstat.samples.lookup import require_host
from normstat.window import LATEST, to_us
from tests.api.people import People, body_of
from tests.api.samples import HOST, START, deliver_text, send
from tests.cli.connection_rig import settle
from tests.databases import Sessions
from tests.generated import VMSTAT_HEADER
from tests.ingest.rereading import reparse
from tests.query.filling import fill_values, seal_all

API = "/api/v1"
N_NORMAL, N_INCIDENT = 120, 30
END = N_NORMAL + N_INCIDENT


def at(seconds: int) -> str:
    return f"{START + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}"


ASKED = {"host": HOST, "start": at(N_NORMAL), "end": at(END)}
WINDOW = {"baseline_start": at(0), "baseline_end": at(N_NORMAL)}


def line(number: int) -> bytes:
    busy = 90 if number >= N_NORMAL else 3 + number % 3
    moment = START + timedelta(seconds=number)
    counts = f"1 0 0 {812000 + number} 10244 409600 0 0 5 12 250 400"
    return f" {counts} {busy} 2 {98 - busy} 0 0 {moment:%Y-%m-%d %H:%M:%S}\n".encode()


class Agent:
    """Sends streams of vmstat, each as far as it is told."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client
        self._sent: dict[str, bytes] = {}

    async def send(self, seconds: Sequence[int], key: str = "vmstat_linux.1795255200.1-1") -> None:
        start = self._sent.get(key, b"")
        data = (b"" if start else VMSTAT_HEADER.encode() + line(-1)) + b"".join(map(line, seconds))
        frame = Frame(FrameKind.STREAM, "vmstat_linux", key, len(start), len(data), "vmstat -t 1", data)
        answer = await send(self._client, format_frames([frame]))
        assert answer.text == f"{key} {len(start) + len(data)}\n"
        self._sent[key] = start + data


class Asker:
    """Asks for the comparison; counts how often one is made, and how often events are read for it."""

    def __init__(self, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
        self._client = client
        self.n_made = self.n_events_read = 0

        async def read_events(*args: Any) -> Any:
            self.n_events_read += 1
            return await read_host_events(*args)

        async def run(*args: Any, **wish: Any) -> Any:
            self.n_made += 1
            return await run_whole_comparison(*args, **wish)

        monkeypatch.setattr(circumstance_reader, "read_host_events", read_events)
        monkeypatch.setattr(comparison_answer, "run_whole_comparison", run)

    async def ask(self, path: str = "", **wish: Any) -> dict[str, Any]:
        against = {} if {"baseline", "group"} & wish.keys() else WINDOW
        return body_of(await self._client.get(f"{API}/comparison{path}", params={**ASKED, **against, **wish}))

    async def is_made_anew(self, **wish: Any) -> bool:
        """Whether the comparison is made for this question, and not for the same one after it."""
        before = self.n_made
        first = await self.ask(**wish)
        after = self.n_made
        assert await self.ask(**wish) == first
        assert self.n_made == after
        return after > before


@pytest.fixture
async def agent(people: People) -> Agent:
    """A host whose stream has passed the incident."""
    agent = Agent(await people.agent())
    await agent.send(range(END + 10))
    return agent


@pytest.fixture
async def asker(people: People, agent: Agent, monkeypatch: pytest.MonkeyPatch) -> Asker:
    return Asker(await people.enter(Role.VIEWER), monkeypatch)


async def test_the_same_is_made_once_for_all_its_forms(asker: Asker) -> None:
    body = await asker.ask()
    assert body["n_findings"] > 0
    # All facts of the host are read for its events: once for the question, and not again for the answer.
    assert (asker.n_made, asker.n_events_read) == (1, 1)
    assert await asker.ask() == body
    series = await asker.ask("/series", search="cpu us")
    assert [one["verdict"] for one in series["series"]] == ["unusual"]
    assert (await asker.ask("/series", verdict="unchanged", limit=3))["n_series"] == body["n_series"]
    assert asker.n_made == 1
    assert (await asker.ask(limit=1))["n_groups"] == body["n_groups"]
    assert asker.n_made == 2


async def test_what_comes_behind_the_windows_changes_nothing(asker: Asker, agent: Agent) -> None:
    assert await asker.is_made_anew()
    await agent.send(range(END + 10, END + 40))
    assert not await asker.is_made_anew()
    # An agent that was started again has a new stream.
    await agent.send(range(END + 50, END + 60), key="vmstat_linux.1795255900.1-1")
    assert not await asker.is_made_anew()


async def test_sealing_and_unsealing_change_nothing(asker: Asker, state: AppState) -> None:
    from_rows = await asker.ask()
    async with open_read_session(state.sessions) as session:
        host_id = await require_host(session, HOST)
    assert await seal_all(state.sessions, HOST) > END
    assert not await asker.is_made_anew()
    # Another limit is another question: this one is answered from the blocks.
    from_blocks = await asker.ask(limit=150)
    assert asker.n_made == 2
    assert from_blocks | {"elapsed_ms": 0} == from_rows | {"elapsed_ms": 0}
    assert (await unseal(state.sessions, host_id, window=None, stats=None, until=LATEST)).n_rows > END
    assert not await asker.is_made_anew()


async def test_late_samples_are_seen(asker: Asker, agent: Agent, people: People) -> None:
    assert await asker.is_made_anew()
    other = "vmstat_linux.1795255300.1-1"
    await agent.send(range(END + 20, END + 25), key=other)
    assert not await asker.is_made_anew()
    n_samples = (await asker.ask())["sides"]["incident"]["n_samples"]
    # The clock of the host was set back: the stream continues in the incident.
    await agent.send(range(N_NORMAL + 5, N_NORMAL + 15), key=other)
    assert await asker.is_made_anew()
    assert (await asker.ask())["sides"]["incident"]["n_samples"] == n_samples + 10
    # A new stream with old samples, as an import brings it; then the same in the baseline only.
    await agent.send(range(N_NORMAL, N_NORMAL + 3), key="vmstat_linux.1795255400.1-1")
    assert await asker.is_made_anew()
    await agent.send(range(5), key="vmstat_linux.1795255500.1-1")
    assert await asker.is_made_anew()


async def test_a_window_that_is_not_over_is_read_again_when_it_has_more(asker: Asker, agent: Agent) -> None:
    later = {"end": at(END + 100)}
    assert await asker.is_made_anew(**later)
    await agent.send(range(END + 10, END + 20))
    assert await asker.is_made_anew(**later)
    await agent.send(range(END + 20, END + 120))
    assert await asker.is_made_anew(**later)
    await agent.send(range(END + 120, END + 130))
    assert not await asker.is_made_anew(**later)


async def test_mutes_and_baselines_count(asker: Asker, operator: httpx.AsyncClient) -> None:
    made = body_of(
        await operator.post(f"{API}/baselines", json={"name": "q", "hosts": [HOST], "windows": [{"start": at(0), "end": at(100)}]}),
        201,
    )
    number: int = made["id"]
    asked: dict[str, Any] = {"baseline": number}
    before = await asker.ask(**asked)
    assert not await asker.is_made_anew(**asked)
    muted = await operator.post(
        f"{API}/mutes", json={"stat": "vmstat_linux", "field": before["groups"][0]["field"], "reason": "known"}
    )
    assert muted.status_code == 201
    assert await asker.is_made_anew(**asked)
    assert (await asker.ask(**asked))["counts"]["muted"] == 1
    assert (await operator.delete(f"{API}/mutes/{muted.json()['id']}")).status_code == 200
    # As it was before: that answer is right again.
    assert not await asker.is_made_anew(**asked)
    assert (await asker.ask(**asked))["counts"]["muted"] == 0
    excluded = {"name": "boot", "start": at(0), "end": at(20)}
    assert (await operator.post(f"{API}/exclusions", json=excluded)).status_code == 201
    assert await asker.is_made_anew(**asked)
    assert (await asker.ask(**asked))["sides"]["baseline"]["n_samples"] == 80
    body_of(await operator.patch(f"{API}/baselines/{number}", json={"windows": [{"start": at(0), "end": at(90)}]}))
    assert await asker.is_made_anew(**asked)
    assert (await asker.ask(**asked))["against"]["version"] == 2


async def test_a_reparse_and_retention_count(asker: Asker, state: AppState) -> None:
    assert await asker.is_made_anew()
    await reparse(state.sessions, state.settings.database_url)
    assert await asker.is_made_anew()
    async with open_write_session(state.sessions) as session:
        job = "INSERT INTO jobs (kind, state) VALUES ('retention', 'running') RETURNING id"
        job_id = await session.scalar(text(job))
        run_id = await session.scalar(text("INSERT INTO retention_runs (job_id) VALUES (:id) RETURNING id"), {"id": job_id})
        await session.execute(text("DELETE FROM samples.vmstat_linux WHERE time < :end"), {"end": START + timedelta(seconds=30)})
        await note_removed(session, run_id, Removed(n_samples=30))
    assert await asker.is_made_anew()
    assert (await asker.ask())["sides"]["baseline"]["n_samples"] == N_NORMAL - 30


async def test_events_around_the_incident_count(asker: Asker, people: People) -> None:
    async def send_facts(*seconds: int) -> None:
        texts = [f"{int((START + timedelta(seconds=at_s)).timestamp())}\ncpus\t{at_s}\n" for at_s in seconds]
        text = "".join(texts).encode()
        async with await people.agent() as client:
            await deliver_text(client, "host_facts", text, f"f{seconds[0]}")

    await send_facts(80_000, 81_000)
    assert await asker.is_made_anew()
    # Long after the incident.
    await send_facts(90_000, 91_000)
    assert not await asker.is_made_anew()
    await send_facts(30, 60)
    assert await asker.is_made_anew()
    assert {one["kind"] for one in (await asker.ask())["circumstances"]} == {"event"}


async def test_the_hosts_of_a_group_count(asker: Asker, agent: Agent, operator: httpx.AsyncClient, sessions: Sessions) -> None:
    for host in ("web2", "web3"):
        await fill_vmstat(sessions, host, 3.0)
    made = body_of(await operator.post(f"{API}/host-groups", json={"name": "web", "hosts": [HOST, "web2"]}), 201)
    assert await asker.is_made_anew(group="web")
    assert not await asker.is_made_anew(group="web")
    body = await asker.ask(group="web")
    assert (body["against"]["kind"], body["against"]["group"], body["against"]["members"]) == ("group", "web", ["web2"])
    changed = await operator.patch(f"{API}/host-groups/{made['id']}", json={"hosts": [HOST, "web2", "web3"]})
    assert changed.status_code == 200
    assert await asker.is_made_anew(group="web")
    assert (await asker.ask(group="web"))["against"]["members"] == ["web2", "web3"]
    # Late samples of another host of the group.
    await fill_vmstat(sessions, "web3", 4.0, key="2")
    assert await asker.is_made_anew(group="web")


async def fill_vmstat(sessions: Sessions, host: str, busy: float, *, key: str = "1") -> None:
    moments = to_us(START) + np.arange(END) * 1_000_000
    values = {"cpu_us": busy + np.arange(END) % 3, "cpu_id": 95 - np.arange(END) % 3}
    await fill_values(sessions, host, "vmstat_linux", time_us=moments, instances=("",) * END, values=values, key=key)


def result(n_bytes: int) -> ComparisonResult:
    return ComparisonResult(b"x" * (n_bytes - 2000), [])


class Work:
    """Makes results when it is told to, and counts."""

    def __init__(self, n_bytes: int = 3000) -> None:
        self.n_made = 0
        self.n_stopped = 0
        self.go = asyncio.Event()
        self.n_bytes = n_bytes
        self.error: Exception | None = None

    async def __call__(self, tell: Progress) -> ComparisonResult:
        self.n_made += 1
        await tell(0, 1, "working")
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.n_stopped += 1
            raise
        if self.error is not None:
            raise self.error
        return result(self.n_bytes)


async def test_two_who_ask_at_once_share_the_work_and_its_progress() -> None:
    cache, work = ComparisonCache(10_000), Work()
    told: list[str] = []

    async def tell(_done: int, _total: int, what: str) -> None:
        told.append(what)

    tasks = [asyncio.create_task(cache.find("a", work, tell)) for _ in range(3)]
    await settle()
    work.go.set()
    found = await asyncio.gather(*tasks)
    assert work.n_made == 1
    assert found[0] is found[1] is found[2]
    assert told == ["working"] * 3
    assert await cache.find("a", work) is found[0]
    assert work.n_made == 1


async def test_what_one_gives_up_the_other_still_gets() -> None:
    cache, work = ComparisonCache(10_000), Work()
    first, second = (asyncio.create_task(cache.find("a", work)) for _ in range(2))
    await settle()
    first.cancel()
    await settle()
    assert (first.cancelled(), work.n_stopped) == (True, 0)
    work.go.set()
    assert (await second).n_bytes == 3000


async def test_when_nobody_waits_the_work_stops_and_who_comes_then_begins_anew() -> None:
    cache, work = ComparisonCache(10_000), Work()
    task = asyncio.create_task(cache.find("a", work))
    await settle()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert work.n_stopped == 1
    work.go.set()
    await cache.find("a", work)
    assert work.n_made == 2


async def test_errors_are_not_kept_and_who_did_not_wait_in_the_queue_tries_itself() -> None:
    cache, work = ComparisonCache(10_000), Work()
    work.error = NoData("nothing there")
    work.go.set()
    for _ in range(2):
        with pytest.raises(NoData):
            await cache.find("a", work)
    assert work.n_made == 2
    work.go.clear()
    work.error = Overloaded("others run")
    first, second = (asyncio.create_task(cache.find("b", work)) for _ in range(2))
    await settle()
    work.go.set()
    for task in (first, second):
        with pytest.raises(Overloaded):
            await task
    # Each was refused by its own turn.
    assert work.n_made == 4


async def test_the_bytes_are_bounded_and_the_oldest_goes_first() -> None:
    cache, work = ComparisonCache(10_000), Work()
    work.go.set()
    for key in ("a", "b", "c"):
        await cache.find(key, work)
    await cache.find("a", work)
    assert (work.n_made, cache.n_bytes) == (3, 9000)
    await cache.find("d", work)
    assert cache.n_bytes == 9000
    await cache.find("a", work)
    assert work.n_made == 4
    await cache.find("b", work)
    assert work.n_made == 5
    # What is larger than everything is given, and not kept.
    large = Work(20_000)
    large.go.set()
    await cache.find("e", large)
    assert cache.n_bytes == 9000
    nothing = ComparisonCache(0)
    for _ in range(2):
        await nothing.find("a", work)
    assert (work.n_made, nothing.n_bytes) == (7, 0)


def test_rows_count() -> None:
    n = 1000
    rows = SeriesRows(
        "web1", [], [], np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n, np.int8), np.zeros((2, n), np.int32),
        np.zeros((2, 3, n)), np.zeros(n, np.int8), *(np.zeros(n, np.float32) for _ in range(4)),
    )  # fmt: skip
    assert ComparisonResult(b"{}", [rows]).n_bytes == 2002 + n * 82
