"""OTLP over HTTP: both encodings, partial success, hostile bodies."""

import asyncio
import gzip
import json
import struct
import threading
import time
from typing import Any

import httpx
from hypothesis import given
from hypothesis import strategies as st

from normstat.api.http.state import AppState
from normstat.api.routes import senders
from normstat.errors import NormstatError
from normstat.ingest.receivers.host_texts import HostTexts, write_texts
from normstat.ingest.receivers.otlp import read_metrics, read_metrics_json
from tests.api.people import run_sql
from tests.api.test_access import assert_envelope
from tests.ingest.remote_writes import double, sub

PATH = "/api/v1/otlp/v1/metrics"
PROTOBUF = {"Content-Type": "application/x-protobuf"}
BEGIN_S = int(time.time()) - 60


def attribute(number: int, key: str, value: str) -> bytes:
    return sub(number, sub(1, key.encode()) + sub(2, sub(1, value.encode())))


def fixed(number: int, value: int) -> bytes:
    return bytes([number << 3 | 1]) + struct.pack("<Q", value)


def point(value: float, at_s: int, *attributes: bytes) -> bytes:
    return sub(1, b"".join([fixed(2, BEGIN_S * 10**9), fixed(3, at_s * 10**9), double(4, value), *attributes]))


def request_of(*metrics: bytes, host: str = "otel1") -> bytes:
    resource = sub(1, attribute(1, "host.name", host) + attribute(1, "service.name", "shop"))
    return sub(1, resource + sub(2, b"".join(sub(2, metric) for metric in metrics)))


def example() -> bytes:
    idle = [attribute(7, "cpu", "cpu0"), attribute(7, "state", "idle")]
    times = point(10, BEGIN_S, *idle) + point(15, BEGIN_S + 10, *idle)
    cpu = sub(1, b"system.cpu.time") + sub(3, b"s") + sub(7, times + b"\x10\x02\x18\x01")
    queue = sub(1, b"queue.size") + sub(3, b"{job}") + sub(5, point(3, BEGIN_S) + point(4, BEGIN_S + 10))
    jobs = sub(1, b"jobs") + sub(7, point(30, BEGIN_S + 10) + b"\x10\x01\x18\x01")
    counts, bounds = struct.pack("<3Q", 1, 2, 3), struct.pack("<2d", 0.1, 1)
    waits = b""
    for n in range(2):
        times = fixed(2, BEGIN_S * 10**9) + fixed(3, (BEGIN_S + 10 * n) * 10**9)
        waits += sub(1, times + fixed(4, 6 * n) + double(5, 3.0 * n) + sub(6, counts) + sub(7, bounds))
    histogram = sub(1, b"wait.time") + sub(3, b"s") + sub(9, waits + b"\x10\x02")
    return request_of(cpu, queue, jobs, histogram)


def json_example() -> dict[str, Any]:
    def attributes_of(**values: str) -> list[dict[str, Any]]:
        return [{"key": key.replace("_", "."), "value": {"stringValue": value}} for key, value in values.items()]

    def times(at: int) -> dict[str, str]:
        return {"startTimeUnixNano": str(BEGIN_S * 10**9), "timeUnixNano": str((BEGIN_S + at) * 10**9)}

    def points(*pairs: tuple[float, int], **attributes: str) -> list[dict[str, Any]]:
        return [{"attributes": attributes_of(**attributes), **times(at), "asDouble": value} for value, at in pairs]

    counts = {"bucketCounts": ["1", "2", "3"], "explicitBounds": [0.1, 1]}
    waits = [{**times(10 * n), "count": str(6 * n), "sum": 3.0 * n, **counts} for n in range(2)]
    idle = {"dataPoints": points((10, 0), (15, 10), cpu="cpu0", state="idle"), "aggregationTemporality": 2, "isMonotonic": True}
    jobs = {"dataPoints": points((30, 10)), "aggregationTemporality": "AGGREGATION_TEMPORALITY_DELTA", "isMonotonic": True}
    metrics = [
        {"name": "system.cpu.time", "unit": "s", "sum": idle},
        {"name": "queue.size", "unit": "{job}", "gauge": {"dataPoints": points((3, 0), (4, 10))}},
        {"name": "jobs", "sum": jobs},
        {"name": "wait.time", "unit": "s", "histogram": {"dataPoints": waits, "aggregationTemporality": 2}},
    ]
    resource = {"attributes": attributes_of(host_name="otel1", service_name="shop")}
    return {"resourceMetrics": [{"resource": resource, "scopeMetrics": [{"metrics": metrics}]}]}


def test_both_encodings_say_the_same() -> None:
    packed, plain = read_metrics(example()), read_metrics_json(json.dumps(json_example()).encode())
    assert packed.series == plain.series
    types = {"system_cpu_time_seconds_total": "counter", "queue_size": "gauge", "jobs_total": "counter"}
    assert packed.types == plain.types == {**types, "wait_time_seconds": "histogram"}


@given(
    body=st.one_of(
        st.binary(max_size=200),
        st.sampled_from(range(len(example()))).flatmap(
            lambda at: st.binary(min_size=1, max_size=3).map(lambda noise: example()[:at] + noise + example()[at + 1 :])
        ),
    )
)
def test_any_bytes_are_a_request_or_an_error(body: bytes) -> None:
    for read in (read_metrics, read_metrics_json):
        try:
            write_texts(read(body), host_labels=["host.name"], bound_host=None, known_types={}, now_ms=0, max_bytes=1 << 20)
        except NormstatError as error:
            code = error.status
        else:
            code = 200
        assert code in (200, 400, 413)


OTLP_NAMES = [
    "resourceMetrics", "resource", "scopeMetrics", "metrics", "sum", "gauge", "histogram", "dataPoints", "attributes", "key",
    "value", "name", "asDouble", "timeUnixNano", "bucketCounts", "explicitBounds", "count", "flags",
]  # fmt: skip
JUNK: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(OTLP_NAMES), inner, max_size=5)),
    max_leaves=20,
)


@given(junk=JUNK)
def test_any_json_is_a_request_or_an_error(junk: Any) -> None:
    try:
        read_metrics_json(json.dumps({"resourceMetrics": junk}).encode())
    except NormstatError as error:
        assert error.status in (400, 413)  # noqa: PT017 (either is right, nothing raised is, too)


async def post(agent: httpx.AsyncClient, body: bytes, **headers: str) -> httpx.Response:
    return await agent.post(PATH, content=body, headers={**PROTOBUF, **headers})


async def test_points_become_samples_and_a_retry_changes_nothing(agent: httpx.AsyncClient, state: AppState) -> None:
    response = await post(agent, gzip.compress(example()), **{"Content-Encoding": "gzip"})
    assert (response.status_code, response.content) == (200, b""), response.text
    assert response.headers["Content-Type"] == "application/x-protobuf"
    again = await post(agent, json.dumps(json_example()).encode(), **{"Content-Type": "application/json"})
    assert (again.status_code, again.json()) == (200, {})
    rows = await run_sql(state, "SELECT host, instance, idle_pct FROM stat.system_cpu ORDER BY instance")
    assert rows == [("otel1", "all", 50.0), ("otel1", "cpu0", 50.0)]
    assert await run_sql(state, "SELECT instance, value FROM stat.prom_gauges ORDER BY time") == [
        ('queue_size{job="shop"}', 3.0),
        ('queue_size{job="shop"}', 4.0),
    ]
    # An increase counts since its begin, so that its first sample has a rate.
    assert await run_sql(state, "SELECT per_s FROM stat.prom_counters") == [(3.0,)]
    assert await run_sql(state, "SELECT count_per_s, mean FROM stat.prom_distributions") == [(0.6, 0.5)]
    assert await run_sql(state, "SELECT count(*) FROM stat.prom_buckets") == [(3,)]


async def test_points_that_cannot_be_stored_are_a_partial_success(agent: httpx.AsyncClient, state: AppState) -> None:
    ahead = sub(1, b"x") + sub(5, point(1, BEGIN_S + 86_400))
    response = await post(agent, request_of(ahead))
    assert response.status_code == 200
    assert response.content.startswith(b"\n")
    assert b"page of their host" in response.content
    nobody = json_example()
    nobody["resourceMetrics"][0]["resource"] = {}
    response = await post(agent, json.dumps(nobody).encode(), **{"Content-Type": "application/json"})
    partial = response.json()["partialSuccess"]
    assert partial["rejectedDataPoints"] == "15"
    assert "host.name" in partial["errorMessage"]
    assert await run_sql(state, "SELECT name FROM hosts") == [("otel1",)]


async def test_garbage_is_400_and_bombs_413(agent: httpx.AsyncClient) -> None:
    for body in (b"\x0b\x00", b"\x0a\xff\xff", b"\x0a\x03\x12\x05\x00"):
        assert_envelope(await post(agent, body), 400, "bad_request")
    assert_envelope(await post(agent, b"[]", **{"Content-Type": "application/json"}), 400, "bad_request")
    assert_envelope(await post(agent, b"[" * 100_000, **{"Content-Type": "application/json"}), 400, "bad_request")
    assert_envelope(await post(agent, gzip.compress(b"\x00" * (17 << 20)), **{"Content-Encoding": "gzip"}), 413, "too_large")
    # A resource is sent once, and stands in every line.
    large = sub(1, attribute(1, "host.name", "otel1") + attribute(1, "service.name", "s" * 8000))
    points = b"".join(point(n, BEGIN_S + n) for n in range(1000))
    body = sub(1, large + sub(2, sub(2, sub(1, b"queue.size") + sub(5, points))))
    assert_envelope(await post(agent, body), 413, "too_large")
    assert_envelope(await post(agent, b"", **{"Content-Type": "text/plain"}), 415, "unsupported_media_type")
    assert_envelope(await agent.post(PATH, headers={"Authorization": "Bearer no"}), 401, "not_authenticated")


async def test_large_requests_of_tokens_are_read_in_turn() -> None:
    may_end = threading.Event()
    order: list[str] = []

    def make(name: str) -> HostTexts:
        order.append(name)
        may_end.wait(30)
        return HostTexts({}, 0, 0, 0, "")

    first = asyncio.create_task(senders._decoding.run("agent token 1", lambda: make("first")))
    while not order:  # noqa: ASYNC110 (a thread appends)
        await asyncio.sleep(0.001)
    behind = [asyncio.create_task(senders._decoding.run("agent token 1", lambda: make("behind"))) for _ in range(3)]
    await asyncio.sleep(0)
    other = asyncio.create_task(senders._decoding.run("agent token 2", lambda: make("other")))
    await asyncio.sleep(0)
    may_end.set()
    await asyncio.gather(first, other, *behind)
    assert order == ["first", "other", "behind", "behind", "behind"]
