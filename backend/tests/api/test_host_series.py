"""The routes for a graph of several hosts: bodies as documented, and every host that is not drawn has a reason."""

import httpx
import pytest

from normstat.api import schemas
from normstat.api.state import AppState
from tests.api.people import body_of, run_sql
from tests.api.samples import N_SAMPLES, START, VMSTAT, deliver, frames_of
from tests.api.test_access import assert_envelope
from tests.query.filling import seal_all

Params = dict[str, str | int | list[str]]
WINDOW: Params = {"start": "2026-11-21T10:00:00Z", "end": "2026-11-21T10:01:00Z", "width": 1000}


@pytest.fixture
async def reader(agent: httpx.AsyncClient, operator: httpx.AsyncClient) -> httpx.AsyncClient:
    """An operator, where two hosts have sent a minute of vmstat, and belong to a group."""
    for host in ("db1", "db2"):
        await deliver(agent, frames_of(VMSTAT), **{"Normstat-Host": host})
    body_of(await operator.post("/api/v1/host-groups", json={"name": "db", "note": "", "hosts": ["db1", "db2"]}), 201)
    return operator


async def read(reader: httpx.AsyncClient, **params: str | int | list[str]) -> schemas.HostSeriesBlock:
    answer = body_of(await reader.get("/api/v1/series/hosts", params=WINDOW | params))
    block = schemas.HostSeriesBlock.model_validate(answer)
    assert block.model_dump(mode="json") == answer
    return block


async def test_the_metrics_that_hosts_really_have(reader: httpx.AsyncClient) -> None:
    answer = await reader.get("/api/v1/host-metrics", params={"host": ["db1", "db9"]})
    found = schemas.HostMetrics.model_validate(answer.json())
    assert (found.hosts, found.unknown_hosts) == (["db1", "db9"], ["db9"])
    by_key = {metric.key: metric for metric in found.metrics}
    assert (by_key["cpu.usr"].fields, by_key["cpu.usr"].unit, by_key["cpu.usr"].n_hosts) == (["vmstat_linux.cpu_us"], "%", 1)
    assert by_key["vmstat_linux.memory_free"].unit == "KiB"
    assert not [key for key in by_key if key.startswith("iostat")]


async def test_lines_of_a_group_and_of_hosts_that_have_none(reader: httpx.AsyncClient) -> None:
    block = await read(reader, group="db", host=["gone"], metric="cpu.usr")
    assert sorted(line.host for line in block.lines) == ["db1", "db2"]
    assert [(own.host, own.reason) for own in block.left_out] == [
        ("gone", "There is no host 'gone': it was deleted, renamed, or never sent data")
    ]
    assert (block.n_asked, block.n_hosts, block.n_raw, block.start) == (3, 2, 2 * N_SAMPLES, START)
    nobody = await read(reader, host=["gone"], metric="cpu.usr")
    assert (nobody.metric, nobody.lines, nobody.n_hosts) == (None, [], 0)


async def test_runs_of_one_host(reader: httpx.AsyncClient) -> None:
    runs = ["db1@2026-11-21T10:00:00Z", "db1@2026-11-21T10:00:30Z"]
    block = await read(reader, run=runs, metric="cpu.usr", start=0, end=30_000)
    assert sorted((line.start or START).second for line in block.lines) == [0, 30]
    assert {axis.start_ms for axis in block.axes} == {0}


@pytest.mark.parametrize(
    ("params", "status", "code"),
    [
        ({"metric": "cpu.usr"}, 400, "bad_request"),
        ({"metric": "cpu.usr", "group": "nobody"}, 404, "not_found"),
        ({"metric": "cpu.rubbish", "host": "db1"}, 404, "not_found"),
        ({"metric": "cpu.usr", "run": "db1@yesterday"}, 400, "bad_request"),
        ({"metric": "cpu.usr", "run": "@2026-11-21T10:00:00Z"}, 400, "bad_request"),
    ],
)
async def test_wrong_questions(reader: httpx.AsyncClient, params: Params, status: int, code: str) -> None:
    assert_envelope(await reader.get("/api/v1/series/hosts", params=WINDOW | params), status, code)


@pytest.mark.parametrize("over", [{}, {"over": "sum"}])
async def test_a_host_whose_samples_are_damaged_is_left_out(
    reader: httpx.AsyncClient, state: AppState, over: dict[str, str]
) -> None:
    await seal_all(state.sessions, "db1")
    await run_sql(state, "UPDATE sealed_blocks SET body = substring(body FOR 3)")
    block = await read(reader, host=["db1", "db2"], metric="cpu.usr", **over)
    [left_out] = block.left_out
    assert left_out.host == "db1"
    assert "sealed samples of db1, vmstat_linux" in left_out.reason
    assert (block.n_hosts, block.n_raw) == (1, N_SAMPLES)
