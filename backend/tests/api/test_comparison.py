"""GET /comparison and its stream: what is asked, what comes back, and what is wrong with it."""

import asyncio
import contextlib
import json
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import httpx
import numpy as np
import pytest

from normstat.api.http.comparison_cache import ComparisonResult
from normstat.api.http.state import AppState
from normstat.api.routes import comparison as comparison_route
from normstat.api.routes.comparison_inputs import ComparisonInputs
from normstat.auth.roles import Role
from normstat.comparison.host_comparison import Progress
from normstat.comparison.model import Counts
from normstat.comparison.saved_format import read_json
from normstat.window import to_us
from tests.api.people import People
from tests.api.samples import START
from tests.databases import Sessions
from tests.query.filling import fill_values

API = "/api/v1"
N_NORMAL, N_INCIDENT = 300, 60
Answer = tuple[int, dict[str, object]]


def at(seconds: int) -> str:
    return f"{START + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}"


ASKED = {"host": "web1", "start": at(N_NORMAL), "end": at(N_NORMAL + N_INCIDENT)}
WINDOW = {"baseline_start": at(0), "baseline_end": at(N_NORMAL)}


@pytest.fixture
async def viewer(people: People, sessions: Sessions) -> httpx.AsyncClient:
    """Five quiet minutes of two hosts with two CPUs each, then one in which a CPU of web1 burns."""
    rng = np.random.default_rng(5)
    n = N_NORMAL + N_INCIDENT
    is_hot = np.repeat(np.arange(n) >= N_NORMAL, 2) & np.tile([False, True], n)
    for host, level in (("web1", 95.0), ("web2", 3.0)):
        usr = np.where(is_hot, level, 3.0) + np.round(rng.uniform(-1, 1, 2 * n), 2)
        time_us = np.repeat(to_us(START) + np.arange(n) * 1_000_000, 2)
        await fill_values(sessions, host, "mpstat_linux", time_us=time_us, instances=("0", "1") * n, values={"usr_pct": usr})
    return await people.enter(Role.VIEWER)


async def ask(client: httpx.AsyncClient, path: str = "", **wish: object) -> Answer:
    answer = await client.get(f"{API}/comparison{path}", params={**ASKED, **wish})  # type: ignore[dict-item]
    return answer.status_code, answer.json()


async def test_the_whole_answer(viewer: httpx.AsyncClient) -> None:
    status, body = await ask(viewer, **WINDOW)
    assert status == 200
    found = read_json(json.dumps(body).encode())
    assert (found.hosts, found.method_version, found.divisor) == (["web1"], 10, None)
    assert (found.against.kind, found.against.baseline_id) == ("window", None)
    assert (found.n_series, found.n_unchanged, found.n_findings, found.n_groups) == (2, 1, 1, 1)
    assert found.counts == Counts(0, 0, 0, 0)
    assert (found.sides.baseline.n_samples, found.sides.incident.n_samples) == (2 * N_NORMAL, 2 * N_INCIDENT)
    [group], [story] = found.groups, found.stories
    assert (group.host, group.stat, group.field, group.instances) == ("web1", "mpstat_linux", "usr_pct", ["1"])
    assert found.verdict.startswith("CPU 1 spent 95 % of the time in programs (normally ")
    assert story.ranks == [1]
    assert found.notes == ["The baseline has only 5 minutes of data; use at least 10."]
    [member] = group.members
    assert member.sparkline is not None
    assert member.incident.quantiles is not None
    status, again = await ask(viewer, **WINDOW)
    assert {**again, "elapsed_ms": 0} == {**body, "elapsed_ms": 0}


async def test_several_hosts_against_another_and_a_limit(viewer: httpx.AsyncClient) -> None:
    status, body = await ask(viewer, host=["web1", "web2"], limit=1, **WINDOW)
    assert (status, body["hosts"], body["n_series"]) == (200, ["web1", "web2"], 4)
    status, body = await ask(viewer, start=at(0), end=at(N_NORMAL), other_host="web2")
    assert (status, body["n_findings"], body["against"]["kind"]) == (200, 0, "host")  # type: ignore[index]
    assert "Nothing stands out: none of 2 series changed" in str(body["verdict"])


async def test_what_is_wrong_with_a_question(viewer: httpx.AsyncClient, client: httpx.AsyncClient) -> None:
    for wish, status, code, message in (
        ({}, 400, "bad_request", "exactly one of"),
        ({**WINDOW, "ago": "day"}, 400, "bad_request", "exactly one of"),
        ({"baseline_start": at(0)}, 400, "bad_request", "exactly one of"),
        ({**WINDOW, "version": 1}, 400, "bad_request", "`version`"),
        ({"baseline": 99}, 404, "not_found", "no baseline 99"),
        ({**WINDOW, "host": "web9"}, 404, "not_found", "no host 'web9'"),
        ({"other_host": "web1"}, 400, "bad_request", "is the incident itself"),
        ({"group": "nobody"}, 404, "not_found", "no host group 'nobody'"),
        ({"group": "web", "ago": "day"}, 400, "bad_request", "exactly one of"),
        ({"ago": "day"}, 404, "no_data", "no samples in the baseline"),
        ({**WINDOW, "divisor": "no.such"}, 400, "bad_request", "no series no.such"),
        ({"baseline_start": at(9), "baseline_end": at(3)}, 400, "bad_request", ""),
        ({**WINDOW, "host": "a\x00b"}, 422, "invalid_request", ""),
        ({**WINDOW, "nonsense": 1}, 422, "invalid_request", ""),
    ):
        found, body = await ask(viewer, **wish)
        error = body["error"]
        assert (found, error["code"]) == (status, code), (wish, body)  # type: ignore[index]
        assert message in error["message"], (wish, body)  # type: ignore[index]
    assert (await ask(client, **WINDOW))[0] == 401
    assert (await ask(client, "/stream", **WINDOW))[0] == 401


async def read_lines(client: httpx.AsyncClient, **wish: object) -> list[dict[str, dict[str, object]]]:
    answer = await client.get(f"{API}/comparison/stream", params={**ASKED, **wish})  # type: ignore[dict-item]
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/x-ndjson"
    return [json.loads(line) for line in answer.text.splitlines()]


async def test_the_stream_tells_how_far_it_is_and_ends_with_the_answer(viewer: httpx.AsyncClient) -> None:
    *steps, last = await read_lines(viewer, **WINDOW)
    assert [step["progress"] for step in steps] == [
        {"done": 0, "total": 2, "what": "mpstat_linux of web1"},
        {"done": 1, "total": 2, "what": "scoring web1"},
    ]
    _, body = await ask(viewer, **WINDOW)
    assert {**last["result"], "elapsed_ms": 0} == {**body, "elapsed_ms": 0}


async def test_the_stream_ends_with_the_error(viewer: httpx.AsyncClient) -> None:
    [last] = await read_lines(viewer, baseline=99)
    error = last["error"]
    assert (error["code"], error["details"]) == ("not_found", {"baseline": 99})
    assert error["request_id"]
    # What can be told before anything is read, is no stream at all.
    answer = await viewer.get(f"{API}/comparison/stream", params=ASKED)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_request")


async def test_who_goes_away_stops_the_work(state: AppState, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def find_result(state: object, account: str, inputs: object, tell: Progress) -> ComparisonResult:
        await tell(0, 2, "the first")
        begun.set()
        try:
            await asyncio.sleep(3600)
        finally:
            ended.set()
        raise AssertionError

    monkeypatch.setattr(comparison_route, "find_result", find_result)
    lines = comparison_route._lines(state, "alice", None, "1")  # type: ignore[arg-type]
    assert json.loads(await anext(lines)) == {"progress": {"done": 0, "total": 2, "what": "the first"}}
    await begun.wait()
    with contextlib.suppress(StopAsyncIteration):
        await lines.aclose()
    assert ended.is_set()


async def test_a_metric_is_asked_for(viewer: httpx.AsyncClient) -> None:
    status, body = await ask(viewer, "/series", host=["web1", "web2"], search="usr", sort="series", **WINDOW)
    assert (status, body["n_series"], body["n_matched"]) == (200, 4, 4)
    rows: list[dict[str, object]] = body["series"]  # type: ignore[assignment]
    assert [(row["host"], row["instance"], row["verdict"]) for row in rows] == [
        ("web1", "0", "unchanged"), ("web1", "1", "unusual"), ("web2", "0", "unchanged"), ("web2", "1", "unchanged"),
    ]  # fmt: skip
    status, body = await ask(viewer, "/series", search="usr", verdict="unusual", offset=1, **WINDOW)
    assert (status, body["n_matched"], body["series"]) == (200, 1, [])
    assert body["counts"]["unchanged"] == 1  # type: ignore[index]


@pytest.mark.parametrize("against", [{"other_host": "web2"}, {"group": "web"}, {"ago": "day"}, {"baseline": 3, "version": 2}])
def test_the_link_of_a_report_names_what_the_page_reads(against: dict[str, object]) -> None:
    inputs = ComparisonInputs.model_validate({"host": ["web1"], "start": at(0), "end": at(60), **against})
    found = parse_qs(urlsplit(inputs.page_address("http://normstat/")).query)
    assert found == {"host": ["web1"], "incident": [f"{at(0)}/{at(60)}"]} | {key: [str(value)] for key, value in against.items()}
