"""Answers with series: their bytes fit the schema; a graph of several hosts gives a reason for every host that is not drawn."""

import gzip

import httpx
import numpy as np
import orjson
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from normstat.api.http.state import AppState
from normstat.api.routes import schemas
from normstat.api.routes.series_body import encode, make_response, to_axis
from normstat.query.line_points import GraphLine
from normstat.query.series_points import SeriesResult
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


async def test_wrong_questions(reader: httpx.AsyncClient) -> None:
    for params, status, code in (
        ({"metric": "cpu.usr"}, 400, "bad_request"),
        ({"metric": "cpu.usr", "group": "nobody"}, 404, "not_found"),
        ({"metric": "cpu.rubbish", "host": "db1"}, 404, "not_found"),
        ({"metric": "cpu.usr", "run": "db1@yesterday"}, 400, "bad_request"),
        ({"metric": "cpu.usr", "run": "@2026-11-21T10:00:00Z"}, 400, "bad_request"),
    ):
        assert_envelope(await reader.get("/api/v1/series/hosts", params={**WINDOW, **params}), status, code)


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


def times_of(axis: object) -> list[int]:
    """The times of an axis, by the words of docs/api.md."""
    block = orjson.loads(orjson.dumps(axis, option=orjson.OPT_SERIALIZE_NUMPY))
    if "deltas" in block:
        return [block["start_ms"] + sum(block["deltas"][:place]) for place in range(len(block["deltas"]) + 1)]
    return [
        block["start_ms"] + place * block["step_ms"] + sum(ms for at, ms in block["jumps"] if at <= place)
        for place in range(block["n"])
    ]


@given(st.lists(st.one_of(st.just(1000), st.integers(1, 10**10)), max_size=40), st.integers(-(10**13), 10**13))
def test_times_come_back_from_an_axis(deltas: list[int], start: int) -> None:
    times = np.cumsum([start, *deltas])
    assert times_of(to_axis(times)) == times.tolist()


def test_no_times_are_an_axis_too() -> None:
    assert times_of(to_axis(np.empty(0, np.int64))) == []


def block_of(*series: GraphLine) -> SeriesResult:
    return SeriesResult("web1", "vmstat_linux", START, START, "envelope", "mixed", 60_000, 7, 5, 0, list(series))


def test_an_answer_fits_the_schema_and_series_share_their_times() -> None:
    times = np.arange(4) * 1000
    result = block_of(
        GraphLine("", "r", "", times, np.array([1.0, 2.0, -3.0, 2.0**40]), 4, 1.0),
        GraphLine("", "us", "%", times.copy(), np.array([0.1, np.nan, 1e300, 3.0]), 3, 1.0),
        GraphLine("", "sy", "%", np.array([5, 6, 90]), np.array([0.0, 2.0**60, 5.0]), 3, 1.0),
    )
    body = encode(result)
    block = schemas.SeriesBlock.model_validate_json(body)
    assert [series.axis for series in block.series] == [0, 0, 1]
    assert [series.values for series in block.series] == [[1.0, 2.0, -3.0, 2.0**40], [0.1, None, 1e300, 3.0], [0.0, 2.0**60, 5.0]]
    assert block.model_dump(mode="json") == orjson.loads(body)


def test_large_answers_are_compressed_for_those_who_take_that() -> None:
    rng = np.random.default_rng(1)
    result = block_of(GraphLine("", "r", "", np.arange(5000), rng.normal(size=5000), 5000, 1.0))
    packed = make_response(result, "gzip, deflate, br")
    assert packed.headers["content-encoding"] == "gzip"
    smaller = make_response(result, "gzip, deflate, br, zstd")
    assert smaller.headers["content-encoding"] == "zstd"
    plain = make_response(result, "br")
    assert "content-encoding" not in plain.headers
    assert gzip.decompress(packed.body) == zstandard.decompress(smaller.body) == plain.body == encode(result)
    assert len(smaller.body) < len(packed.body) < len(plain.body)


async def test_an_expected_value_is_a_reference_line_of_its_host(reader: httpx.AsyncClient) -> None:
    body = {"host": "db1", "stat": "vmstat_linux", "field": "system_in", "value": 4000, "note": "as on the v440"}
    made = body_of(await reader.put("/api/v1/references", json=body), 200)["references"]
    [expected] = [one for one in made if one["is_expected"]]
    assert (expected["label"], expected["source"], expected["unit"]) == (
        "expected 4,000 /s", "as on the v440 (operator)", "1/s",
    )  # fmt: skip
    assert body_of(await reader.get("/api/v1/references", params={"host": "db1"}), 200)["references"] == made
    known = [one for one in made if not one["is_expected"]]
    assert body_of(await reader.get("/api/v1/references"), 200)["references"] == known
    assert body_of(await reader.put("/api/v1/references", json=body | {"value": None}), 200)["references"] == known
    assert_envelope(await reader.put("/api/v1/references", json=body | {"stat": "nothing"}), 404, "not_found")
