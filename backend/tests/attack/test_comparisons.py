"""Comparisons that are too large, too many, or not wanted any more."""

import asyncio
import json
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode

import httpx
import numpy as np
import psycopg
import pytest

from normstat.auth.roles import Role
from normstat.samples.rollups.rollup_job import roll_up
from normstat.window import to_us
from tests.api.samples import START
from tests.api.server import serving
from tests.attack.clients import cpu_seconds, peak_bytes
from tests.attack.readers import CPU_FIELDS, PAGE, SilentReader, enter, fill_cpus
from tests.database_access import Database
from tests.databases import Sessions, on_one_database
from tests.lock_waits import until_waiting
from tests.query.filling import fill_values

pytestmark = on_one_database

API = "/api/v1"
ASKED = {
    "host": "web1", "start": "2026-11-21T10:10:00Z", "end": "2026-11-21T10:20:00Z",
    "baseline_start": "2026-11-21T10:00:00Z", "baseline_end": "2026-11-21T10:10:00Z",
}  # fmt: skip
# A comparison of their own for each of three people: who asks for the same waits for the same work.
OWN = [ASKED | {"limit": limit} for limit in ("100", "101", "102")]
PATHS = ("/comparison", "/comparison/stream", "/comparison/report.html", "/comparison/report.csv")
GIB = 1 << 30


async def fill_crowd(sessions: Sessions, n_instances: int) -> None:
    """Store a stat with very many instances: one sample of each in the baseline, and one in the incident."""
    rng = np.random.default_rng(1)
    for offset_s in (0, 600):
        await fill_values(
            sessions,
            "web1",
            "mpstat_linux",
            time_us=to_us(START) + (offset_s + np.sort(np.arange(n_instances) % 500)) * 1_000_000,
            instances=tuple(f"cpu{number}" for number in range(n_instances)),
            values={key: np.round(rng.uniform(0, 100, n_instances), 2) for key in CPU_FIELDS},
            key=str(offset_s),
        )


async def watch_health(address: str, answers: list[int]) -> None:
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        while True:
            answers.append((await client.get(f"{API}/health")).status_code)
            await asyncio.sleep(0.05)


@pytest.fixture
async def people(sessions: Sessions) -> list[dict[str, str]]:
    return [await enter(sessions, Role.OPERATOR, name) for name in ("mallory", "trudy", "eve")]


@pytest.mark.heavy
async def test_a_stat_with_very_many_instances_costs_an_error_and_no_memory(
    db: Database, people: list[dict[str, str]], tmp_path: Path
) -> None:
    await fill_crowd(db.sessions, 222_000)
    # The rollups of that many take 400 MB, at whatever moment the server makes them.
    await roll_up(db.sessions, now=datetime.now(UTC), budget_s=600)
    with serving(db.url, tmp_path / "log") as (address, process):
        health: list[int] = []
        watching = asyncio.create_task(watch_health(address, health))
        async with AsyncExitStack() as stack:
            clients = [
                await stack.enter_async_context(httpx.AsyncClient(base_url=address, cookies=own, headers=PAGE, timeout=100))
                for own in people
            ]
            for path in PATHS:
                for answer in await asyncio.gather(
                    *(client.get(API + path, params=own) for client, own in zip(clients, OWN, strict=True))
                ):
                    body = json.loads(answer.text.splitlines()[-1])
                    assert body["error"]["code"] == "too_large", answer.text
                    message = body["error"]["message"]
                    assert "222,000 instances, 222,000 rows" in message
                    assert "NORMSTAT_COMPARE_MAX_BYTES" in message
                    assert "shorter windows" in message
            # What lists or draws the instances goes on.
            graph = {"host": "web1", "stat": "mpstat_linux", "field": "usr_pct", "width": "800"}
            graph |= {"start": ASKED["start"], "end": ASKED["end"]}
            for choice in ({}, {"instances": "top:5"}):
                answer = await clients[0].get(f"{API}/series", params=graph | choice)
                assert answer.status_code == 200
                assert answer.json()["n_instances_left_out"] >= 221_000
            span = {"start": ASKED["start"], "end": ASKED["end"]}
            answer = await clients[0].get(f"{API}/hosts/web1/stats/mpstat_linux/instances", params=span)
            assert (len(answer.json()["instances"]), answer.json()["n_left_out"]) == (10_000, 212_000)
            answer = await clients[0].get(f"{API}/export.csv", params=span | {"host": "web1", "stat": "mpstat_linux"})
            assert answer.text.count("\n") == 1 + 222_000
        watching.cancel()
        assert set(health) == {200}
        assert peak_bytes(process.pid) < GIB


@pytest.mark.heavy
async def test_comparisons_that_fit_run_side_by_side_within_the_budget(
    db: Database, people: list[dict[str, str]], tmp_path: Path
) -> None:
    await fill_crowd(db.sessions, 14_000)
    with serving(db.url, tmp_path / "log") as (address, process):

        async def ask(cookies: dict[str, str], asked: dict[str, str]) -> tuple[int, str]:
            async with httpx.AsyncClient(base_url=address, cookies=cookies, headers=PAGE, timeout=100) as client:
                answer = await client.get(f"{API}/comparison", params=asked)
            return answer.status_code, answer.text

        answers = await asyncio.gather(*map(ask, people, OWN))
        assert 200 in {status for status, _ in answers}
        for status, text in answers:
            assert status == 200 or (status == 503 and json.loads(text)["error"]["code"] == "overloaded"), text
        assert peak_bytes(process.pid) < GIB


@pytest.mark.heavy
async def test_the_arithmetic_stops_when_its_client_leaves(db: Database, people: list[dict[str, str]], tmp_path: Path) -> None:
    await fill_crowd(db.sessions, 14_000)
    with serving(db.url, tmp_path / "log") as (address, process):
        for path in PATHS:
            reader = SilentReader(address, f"{API}{path}?{urlencode(ASKED)}", people[0])
            before = cpu_seconds(process.pid)
            # It takes some ten seconds of processor time as a whole; after one it is well on its way.
            async with asyncio.timeout(60):
                while cpu_seconds(process.pid) < before + 1:  # noqa: ASYNC110 (another process)
                    await asyncio.sleep(0.02)
            reader.close()
            async with asyncio.timeout(60):
                while True:
                    used = cpu_seconds(process.pid)
                    await asyncio.sleep(1)
                    if cpu_seconds(process.pid) - used < 0.3:
                        break
            assert cpu_seconds(process.pid) - before < 6, path


@pytest.mark.slow
async def test_the_statement_stops_when_its_client_leaves(db: Database, people: list[dict[str, str]], tmp_path: Path) -> None:
    await fill_cpus(db.sessions, n_reports=1200, n_cpus=1)
    with serving(db.url, tmp_path / "log") as (address, _):
        for path in PATHS:
            async with await psycopg.AsyncConnection.connect(db.url) as other:
                # Any statement that reads samples waits as long as this transaction lasts: longer than the client.
                await other.execute('LOCK TABLE samples."mpstat_linux" IN ACCESS EXCLUSIVE MODE')
                reader = SilentReader(address, f"{API}{path}?{urlencode(ASKED)}", people[0])
                await until_waiting(other, 1)
                reader.close()
                await until_waiting(other, 0)
        async with httpx.AsyncClient(base_url=address, cookies=people[0], headers=PAGE, timeout=60) as client:
            # Neither a place nor a connection was lost by that.
            for _ in range(5):
                assert (await client.get(f"{API}/comparison", params=ASKED)).status_code == 200


@pytest.mark.matrix
async def test_comparisons_beyond_the_limit_wait_and_are_sent_away(
    db: Database, people: list[dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NORMSTAT_COMPARE_MAX_AT_ONCE", "2")
    monkeypatch.setenv("NORMSTAT_BUSY_MAX_WAIT_S", "0.2")
    await fill_cpus(db.sessions, n_reports=1200, n_cpus=1)
    with serving(db.url, tmp_path / "log") as (address, _):
        async with await psycopg.AsyncConnection.connect(db.url) as other:
            await other.execute('LOCK TABLE samples."mpstat_linux" IN ACCESS EXCLUSIVE MODE')
            readers = [
                SilentReader(address, f"{API}/comparison?{urlencode(asked)}", own)
                for own, asked in zip(people[:2], OWN[:2], strict=True)
            ]
            await until_waiting(other, 2)
            async with httpx.AsyncClient(base_url=address, cookies=people[2], headers=PAGE, timeout=60) as client:
                answer = await client.get(f"{API}/comparison", params=OWN[2])
                assert (answer.status_code, answer.json()["error"]["code"]) == (503, "overloaded")
                assert "Comparisons running: 2" in answer.json()["error"]["message"]
                assert int(answer.headers["Retry-After"]) >= 10
                streamed = await client.get(f"{API}/comparison/stream", params=OWN[2])
                assert json.loads(streamed.text)["error"]["code"] == "overloaded"
                assert (await client.get(f"{API}/hosts")).status_code == 200
                assert (await client.get(f"{API}/health")).status_code == 200
        for reader in readers:
            assert b"200 OK" in reader.read(64)
            reader.close()
