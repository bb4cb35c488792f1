"""The routes that read: what came in by ingest comes out in the documented bodies, and wrong questions get clear answers."""

import csv
import io
from datetime import timedelta

import httpx
import numpy as np
import pytest
from pydantic import TypeAdapter

from normstat.api.http.state import AppState
from normstat.api.routes import schemas
from normstat.api.routes.schemas import HostList
from normstat.auth.roles import Role
from normstat.query.busy_cpus import CpuBalance
from normstat.query.context import StreamContext
from normstat.query.host_lists import HostDetail, RejectedLineList
from normstat.query.line_accounts import HostAccounts
from normstat.query.report_coverage import Coverage
from normstat.samples.rollups.rollup_job import roll_up
from normstat.window import to_us
from tests.api.people import People, body_of
from tests.api.samples import HOST, N_SAMPLES, START, VMSTAT, deliver, frames_of
from tests.api.test_access import assert_envelope
from tests.query.filling import fill_stat

WINDOW = {"start": "2026-11-21T10:00:00Z", "end": "2026-11-21T10:01:00Z"}
STAT = f"/api/v1/hosts/{HOST}/stats/vmstat_linux"
GARBAGE = b" 1  2 garbage\n"
OF_STAT = {"host": HOST, "stat": "vmstat_linux"}

CPUS = ("all", "0", "10", "2")
N = 240

ACCOUNTS = f"/api/v1/hosts/{HOST}/accounts"


@pytest.fixture
async def reader(people: People, agent: httpx.AsyncClient) -> httpx.AsyncClient:
    """An operator, where one host has sent a minute of vmstat and ten unreadable lines."""
    await deliver(agent, frames_of(VMSTAT + GARBAGE * 10), **{"Normstat-Os": "Linux 6.1 x86_64"})
    return await people.enter(Role.OPERATOR)


async def test_the_catalogue_of_a_host_is_sent_once(reader: httpx.AsyncClient) -> None:
    whole = await reader.get("/api/v1/stats")
    own = await reader.get("/api/v1/stats", params={"host": HOST})
    stats = schemas.StatList.model_validate(own.json()).stats
    assert [stat.name for stat in stats] == ["vmstat_linux"]
    assert {field.key: field.meanings for field in stats[0].fields}["cpu_sy"] == ["cpu.sys"]
    assert stats[0] in schemas.StatList.model_validate(whole.json()).stats
    assert len(own.content) < len(whole.content) / 20
    assert own.headers["Cache-Control"] == "private, no-cache"
    again = await reader.get("/api/v1/stats", params={"host": HOST}, headers={"If-None-Match": f'"other", W/{own.headers["ETag"]}'})
    assert (again.status_code, again.content) == (304, b"")
    assert (await reader.get("/api/v1/stats", headers={"If-None-Match": own.headers["ETag"]})).status_code == 200
    assert_envelope(await reader.get("/api/v1/stats", params={"host": "web9"}), 404, "not_found")


async def test_hosts(reader: httpx.AsyncClient) -> None:
    hosts = schemas.HostList.model_validate((await reader.get("/api/v1/hosts")).json()).hosts
    assert [(host.name, host.os, host.n_streams, host.n_rejected, host.stats) for host in hosts] == [
        (HOST, "Linux 6.1 x86_64", 1, 10, ["vmstat_linux"])
    ]
    detail = TypeAdapter(HostDetail).validate_python((await reader.get(f"/api/v1/hosts/{HOST}")).json())
    assert detail.host == hosts[0]
    stream = detail.streams[0]
    assert (stream.spec, stream.command, stream.n_lines.sample, stream.n_lines.since_boot) == ("vmstat_linux", "vmstat -t 1", 60, 1)
    rejected = TypeAdapter(RejectedLineList).validate_python((await reader.get(f"/api/v1/hosts/{HOST}/rejected")).json())
    assert rejected.n_total == 10
    assert rejected.rejected_lines[0].text == " 1  2 garbage"
    instances = schemas.InstanceList.model_validate((await reader.get(f"{STAT}/instances", params=WINDOW)).json())
    assert [instance.name for instance in instances.instances] == [""]


async def test_series(reader: httpx.AsyncClient) -> None:
    keys = [field.key for field in await fields_of(reader)][:2]
    params = httpx.QueryParams(WINDOW | {"width": 1000}).add("field", keys[0]).add("field", keys[1])
    params = params.merge(OF_STAT)
    answer = await reader.get("/api/v1/series", params=params)
    block = schemas.SeriesBlock.model_validate(answer.json())
    lines = await reader.get("/api/v1/series.csv", params=params)
    rows = list(csv.DictReader(io.StringIO(lines.text)))
    for own in block.series:
        values = [None if row["value"] == "" else float(row["value"]) for row in rows if row["field"] == own.field]
        assert values == own.values, "the same points as CSV"
    # Nothing is left out, nothing is in it that the document does not have.
    assert block.model_dump(mode="json") == answer.json()
    assert (block.resolution, block.source, len(block.axes)) == ("raw", "raw", 1)
    assert (block.host, block.stat, block.start) == (HOST, "vmstat_linux", START)
    assert [series.field for series in block.series] == keys
    for series in block.series:
        assert len([value for value in series.values if value is not None]) == series.n_raw == N_SAMPLES
        axis = block.axes[series.axis]
        assert isinstance(axis, schemas.SteppedAxis)
        assert (axis.step_ms, axis.n, axis.jumps) == (1000, N_SAMPLES, [])
    top = await reader.get("/api/v1/series", params=params.add("instances", "top:5"))
    assert len(top.json()["series"]) == 2


async def fields_of(reader: httpx.AsyncClient) -> list[schemas.FieldInfo]:
    stats = schemas.StatList.model_validate((await reader.get("/api/v1/stats")).json()).stats
    stat = next(stat for stat in stats if stat.name == "vmstat_linux")
    assert stat.panels
    return stat.fields


async def test_panels_that_show_nothing(reader: httpx.AsyncClient) -> None:
    path = f"/api/v1/hosts/{HOST}/quiet-stats"
    before = {"start": "2026-11-20T10:00:00Z", "end": "2026-11-20T11:00:00Z"}
    assert body_of(await reader.get(path, params=before)) == {
        "stats": [{"stat": "vmstat_linux", "has_samples": False, "zero_fields": []}]
    }
    for stat in body_of(await reader.get(path, params=WINDOW))["stats"]:
        assert stat["has_samples"]
        assert stat["zero_fields"]


async def test_bands_are_of_as_many_instances_as_fields(reader: httpx.AsyncClient) -> None:
    asked = {**WINDOW, "baseline": 1, "host": HOST, "stat": "vmstat_linux", "field": ["cpu_us", "cpu_sy"], "instance": "all"}
    answer = await reader.get("/api/v1/bands", params=asked)
    assert answer.status_code == 400
    assert "2 fields and 1 instances" in answer.json()["error"]["message"]


async def test_coverage(reader: httpx.AsyncClient) -> None:
    path = f"/api/v1/hosts/{HOST}/coverage"
    coverage = TypeAdapter(Coverage).validate_python((await reader.get(path, params=WINDOW)).json())
    assert coverage.first_sample_at == START
    assert [(stat.stat, stat.n_samples, stat.interval_s) for stat in coverage.stats] == [("vmstat_linux", N_SAMPLES, 1.0)]
    # The same window in the other forms that instants may have.
    for start, end in [("1795255200000", "1795255260000"), ("2026-11-21T11:00:00+01:00", "2026-11-21T11:01:00+01:00")]:
        assert (await reader.get(path, params={"start": start, "end": end})).json() == TypeAdapter(Coverage).dump_python(
            coverage, mode="json"
        )


async def test_windows_that_are_none(viewer: httpx.AsyncClient) -> None:
    for start, end, status, code in (
        ("2026-11-21T10:00:00", "2026-11-21T10:01:00Z", 422, "invalid_request"),
        ("yesterday", "2026-11-21T10:01:00Z", 422, "invalid_request"),
        ("9" * 30, "2026-11-21T10:01:00Z", 422, "invalid_request"),
        ("0001-01-01T00:00:00+14:00", "2026-11-21T10:01:00Z", 422, "invalid_request"),
        ("9999-12-31T23:59:59-14:00", "9999-12-31T23:59:59-14:00", 422, "invalid_request"),
        ("2026-11-21T10:01:00Z", "2026-11-21T10:01:00Z", 400, "bad_request"),
        ("2026-11-21T10:02:00Z", "2026-11-21T10:01:00Z", 400, "bad_request"),
    ):
        response = await viewer.get(f"/api/v1/hosts/{HOST}/coverage", params={"start": start, "end": end})
        assert_envelope(response, status, code)


async def test_series_that_are_none(reader: httpx.AsyncClient) -> None:
    for params, status, code in (
        ({"field": "nothing"}, 404, "not_found"),
        ({"instance": "cpu9"}, 404, "not_found"),
        ({"instances": "all"}, 422, "invalid_request"),
        ({"instances": "top:0"}, 422, "invalid_request"),
        ({"instance": "", "instances": "top:5"}, 400, "bad_request"),
        ({"field": "a\0b"}, 422, "invalid_request"),
        ({"field": "r; DROP TABLE hosts"}, 404, "not_found"),
    ):
        asked = WINDOW | {"width": "100", "field": "r"} | params
        assert_envelope(await reader.get("/api/v1/series", params=OF_STAT | asked), status, code)


async def test_unknown_hosts_are_404(viewer: httpx.AsyncClient) -> None:
    for path in ("", "/rejected", "/stats/vmstat_linux/instances", "/coverage"):
        response = await viewer.get(f"/api/v1/hosts/nobody{path}", params=WINDOW | {"width": "100", "field": "r"})
        assert_envelope(response, 404, "not_found")


async def test_one_busy_cpu_of_three(viewer: httpx.AsyncClient, state: AppState) -> None:
    """CPU 10 does everything from the third minute on; before, nobody does anything. Rollups say the same as samples."""
    second = np.arange(N)
    is_busy = second >= 120
    idle = np.stack([np.where(is_busy, 70.0, 100.0), *([np.full(N, 100.0)] * 3)], axis=1)
    idle[is_busy, 2] = 4.0
    waits = np.where(idle == 4.0, 6.0, 0.0)
    await fill_stat(state.sessions, "mpstat_linux", START, second, CPUS, host=HOST, idle_pct=idle.ravel(), iowait_pct=waits.ravel())
    window = {"start": START.isoformat(), "end": (START + timedelta(seconds=N)).isoformat()}
    asked: dict[str, str | int] = {"stat": "mpstat_linux", "width": 4, **window}

    async def ask() -> CpuBalance:
        return TypeAdapter(CpuBalance).validate_python(body_of(await viewer.get(f"/api/v1/hosts/{HOST}/cpu-balance", params=asked)))

    balance = await ask()
    assert (balance.cpus, balance.step_ms, balance.is_wait_known) == (["0", "2", "10"], 60_000, True)
    assert balance.starts == [to_us(START) // 1000 + 60_000 * step for step in range(4)]
    assert balance.busy == [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 90, 90]], "the 6 % of waiting for a disk are not busy"
    assert (balance.mean, balance.imbalance) == ([0, 0, 30, 30], [None, None, 200, 200])
    await roll_up(state.sessions, now=START + timedelta(days=3), budget_s=60)
    assert await ask() == balance

    await fill_stat(state.sessions, "iostat_linux", START, [0], ("sda",), host=HOST, util_pct=1.0)
    for stat in ("iostat_linux", "nothing"):
        response = await viewer.get(f"/api/v1/hosts/{HOST}/cpu-balance", params=asked | {"stat": stat})
        assert response.status_code == 404, response.text
    asked |= {"start": "2026-11-20T00:00:00Z", "end": "2026-11-20T01:00:00Z"}
    assert (await ask()).cpus == []


async def test_the_account_of_a_stream_leads_to_the_lines_around_a_rejected_one(reader: httpx.AsyncClient) -> None:
    """What is counted and found is tested in tests/query; here it is whether the bodies have it."""
    accounts = TypeAdapter(HostAccounts).validate_python((await reader.get(ACCOUNTS)).json())
    assert (accounts.n_bytes, accounts.n_matching) == (len(VMSTAT) + 10 * len(GARBAGE), 1)
    (account,) = accounts.streams
    assert (account.stream.n_lines.sample, account.stream.n_lines.rejected) == (N_SAMPLES, 10)
    (host,) = HostList.model_validate((await reader.get("/api/v1/hosts")).json()).hosts
    assert (host.n_rejected_last_hour, host.has_reject_rise) == (10, True)
    asked: dict[str, str | int] = {"reason": account.reasons[0].reason, "limit": 500}
    listed = await reader.get(f"/api/v1/hosts/{HOST}/rejected", params=asked)
    line = TypeAdapter(RejectedLineList).validate_python(listed.json()).rejected_lines[-1]
    context = await reader.get(f"/api/v1/streams/{line.stream_id}/context", params={"offset": line.offset, "before": 3, "after": 1})
    found = TypeAdapter(StreamContext).validate_python(context.json())
    assert [text.is_target for text in found.lines] == [False, False, False, True, False]
