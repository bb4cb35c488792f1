"""Remote-write: hosts, samples, retries, limits; and the newest values in the text format, read by the official parser."""

import time

import httpx
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_families
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import text

from normstat.api.http.state import AppState
from normstat.db.session import open_read_session
from tests.api.people import People, run_sql
from tests.api.test_access import assert_envelope
from tests.ingest.remote_writes import Series, pack, plain_request, write_request, write_request_2

PATH = "/api/v1/prometheus/write"
# A minute ago, on a whole second.
BEGIN_MS = int(time.time() - 60) * 1000
PROTO_2 = "application/x-protobuf;proto=io.prometheus.write.v2.Request"
HEADERS = {"Content-Encoding": "snappy", "Content-Type": "application/x-protobuf"}

FEDERATE = "/api/v1/federate"
EVIL = 'a"b\\c\n<script>{},'


def disk(host: str, values: list[float], *, begin_ms: int = BEGIN_MS) -> Series:
    labels = {"__name__": "node_disk_read_bytes_total", "device": "sda", "instance": f"{host}:9100", "job": "node"}
    return labels, [(value, begin_ms + 15_000 * number) for number, value in enumerate(values)]


async def post(agent: httpx.AsyncClient, body: bytes, **params: str) -> httpx.Response:
    return await agent.post(PATH, content=body, headers=HEADERS, params=params)


async def rows(state: AppState, stat: str = "node_disk", field: str = "read_bytes_per_s") -> list[tuple[str, str, float]]:
    async with open_read_session(state.sessions) as session:
        found = await session.execute(text(f'SELECT host, instance, "{field}" FROM stat."{stat}" ORDER BY host, instance, time'))
        return [(host, instance, value) for host, instance, value in found]


async def test_series_become_hosts_with_rates_and_a_retry_changes_nothing(agent: httpx.AsyncClient, state: AppState) -> None:
    body = write_request([disk("web1", [1000, 16_000, 46_000]), disk("web2", [0, 15])])
    response = await post(agent, body)
    assert response.status_code == 204, response.text
    assert response.headers["X-Prometheus-Remote-Write-Samples-Written"] == "5"
    expected = [("web1", "sda", 1000.0), ("web1", "sda", 2000.0), ("web2", "sda", 1.0)]
    assert await rows(state) == expected
    assert (await post(agent, body)).status_code == 204
    assert await rows(state) == expected
    # The next request goes on where the last one ended.
    assert (await post(agent, write_request([disk("web2", [30], begin_ms=BEGIN_MS + 30_000)]))).status_code == 204
    assert await rows(state) == [*expected, ("web2", "sda", 1.0)]
    [(n_streams,)] = await run_sql(state, "SELECT count(*) FROM streams")
    assert n_streams == 2


async def test_the_token_may_be_the_password(people: People, state: AppState) -> None:
    async with await people.agent("db1") as agent:
        token = agent.headers.pop("authorization").removeprefix("Bearer ")
        series = [({"__name__": "node_load1"}, [(0.5, BEGIN_MS), (0.25, BEGIN_MS + 15_000)])]
        body = write_request_2(series, 2)
        headers = {**HEADERS, "Content-Type": PROTO_2}
        assert (await agent.post(PATH, auth=("anybody", token), content=body, headers=headers)).status_code == 204
        assert_envelope(await agent.post(PATH, auth=("anybody", "wrong"), content=body, headers=headers), 401, "not_authenticated")
        assert_envelope(await agent.post(PATH, headers={**HEADERS, "Authorization": "Basic %%%"}), 401, "not_authenticated")
    # Of the host that the token is bound to, without any label; the second row waits for what the first one had.
    assert await rows(state, "node_system", "load1") == [("db1", "", 0.5), ("db1", "", 0.25)]


async def test_the_host_is_the_label_that_the_sender_chooses(agent: httpx.AsyncClient, state: AppState) -> None:
    labels, samples = disk("10.0.0.7", [0, 15])
    both = write_request([({**labels, "nodename": "web9"}, samples)])
    assert (await post(agent, both, host_label="nodename")).status_code == 204
    assert [host for host, _, _ in await rows(state)] == ["web9"]
    assert_envelope(await post(agent, both, host_label="no such\nlabel"), 422, "invalid_request")


async def test_samples_of_no_host_are_said_and_the_others_stored(agent: httpx.AsyncClient, state: AppState) -> None:
    labels, samples = disk("x", [0, 15])
    nameless = {name: value for name, value in labels.items() if name != "instance"}
    url = {**labels, "instance": "https://example.com/<script>"}
    response = await post(agent, write_request([(nameless, samples), (url, samples), disk("web1", [0, 15])]))
    assert_envelope(response, 400, "bad_request")
    assert "4 samples were not stored" in response.text
    assert await rows(state) == [("web1", "sda", 1.0)]


async def test_bombs_are_413_and_other_encodings_415(agent: httpx.AsyncClient, state: AppState) -> None:
    assert_envelope(await post(agent, pack(b"\x00" * (17 << 20))), 413, "too_large")
    assert_envelope(await post(agent, b"\xff" * 20), 400, "bad_request")
    # 400,000 series of two bytes each, a million labels, and a text that grows with each sample.
    assert_envelope(await post(agent, pack(b"\x0a\x00" * 400_000)), 413, "too_large")
    labels = b"\x0a\x00" * 1_100_000
    size = len(labels)
    head = b"\x0a" + bytes([size & 0x7F | 0x80, size >> 7 & 0x7F | 0x80, size >> 14 & 0x7F | 0x80, size >> 21])
    assert_envelope(await post(agent, pack(head + labels)), 413, "too_large")
    wide = {"__name__": "up", "instance": "web1", "text": "x" * 8000}
    many = plain_request([(wide, [(1.0, BEGIN_MS + number) for number in range(10_000)])])
    assert_envelope(await post(agent, pack(many)), 413, "too_large")
    assert_envelope(await agent.post(PATH, content=b"", headers={"Content-Encoding": "zstd"}), 415, "unsupported_media_type")
    assert await run_sql(state, "SELECT count(*) FROM hosts") == [(0,)]


async def test_what_cannot_be_stored_is_kept_and_shown_with_its_reason(agent: httpx.AsyncClient, state: AppState) -> None:
    base = {"instance": "web1:9100"}
    year_9999 = 253_402_300_799_000
    series: list[Series] = [
        (
            {"__name__": "up", **base},
            [(1.0, BEGIN_MS), (1.0, -5), (1.0, year_9999), (float("inf"), BEGIN_MS + 1), (float("nan"), BEGIN_MS + 2)],
        ),
        ({"__name__": "evil<b>\n", **base, 'a"b\n': "<script>\x1b[31m\x00"}, [(7.0, BEGIN_MS)]),
        ({"__name__": "many", **base, **{f"l{number}": "v" for number in range(70)}}, [(1.0, BEGIN_MS)]),
        ({**base}, [(1.0, BEGIN_MS)]),
    ]
    response = await post(agent, write_request(series))
    assert response.status_code == 204, response.text
    assert response.headers["X-Prometheus-Remote-Write-Samples-Written"] == "5"
    async with open_read_session(state.sessions) as session:
        reasons = sorted((await session.execute(text("SELECT reason FROM rejected_lines"))).scalars())
    assert reasons == [
        "72 labels, more than 64",
        "more than an hour ahead of the server's clock",
        "no metric name (label __name__)",
        "the time is not between the years 1970 and 2199",
        "the value is infinite, which no column can hold",
    ]
    evil = '{"evil<b>\\n","a\\"b\\n"="<script>\\\\x1b[31m\\\\x00",port="9100"}'
    assert set(await rows(state, "prom_gauges", "value")) == {("web1", evil, 7.0), ("web1", 'up{port="9100"}', 1.0)}


async def test_the_official_parser_reads_the_newest_values(
    agent: httpx.AsyncClient, viewer: httpx.AsyncClient, state: AppState
) -> None:
    begin_ms = int(time.time() - 60) * 1000
    labels = {"__name__": "node_disk_read_bytes_total", "instance": "web1:9100"}
    series: list[Series] = [
        ({**labels, "device": device}, [(value * number, begin_ms + 15_000 * number) for number in range(3)])
        for device, value in (("sda", 15), (EVIL, 30))
    ]
    series += [({"__name__": "node_load1", "instance": "web2"}, [(0.5, begin_ms), (0.25, begin_ms + 15_000)])]
    body = write_request(series)
    response = await agent.post("/api/v1/prometheus/write", content=body, headers={"Content-Encoding": "snappy"})
    assert response.status_code == 204, response.text
    page = await viewer.get(FEDERATE, params={"host": ["web1", "web2"]})
    assert page.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    families = {family.name: family for family in text_string_to_metric_families(page.text)}
    assert set(families) == {"normstat_node_disk_read_bytes_per_s", "normstat_node_system_load1"}
    disks = families["normstat_node_disk_read_bytes_per_s"]
    assert (disks.type, disks.documentation) == ("gauge", "Data read. Unit: B/s.")
    assert {(sample.labels["host"], sample.labels["instance"], sample.value) for sample in disks.samples} == {
        ("web1", "sda", 1.0),
        ("web1", EVIL, 2.0),
    }
    (load,) = families["normstat_node_system_load1"].samples
    assert (load.labels, load.value) == ({"host": "web2"}, 0.25)
    assert load.timestamp is not None
    assert float(load.timestamp) == (begin_ms + 15_000) / 1000
    chosen = await viewer.get(FEDERATE, params={"host": "web1", "stat": "node_system"})
    assert (chosen.status_code, chosen.text) == (200, "")
    assert (await viewer.get(FEDERATE, params={"host": "web2", "max_age": 1})).text == ""
    renamed = await viewer.get(FEDERATE, params={"host": "web2", "names": "opentelemetry"})
    assert renamed.headers["Content-Type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    scraper = "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
    asked = await viewer.get(FEDERATE, params={"host": "web2"}, headers={"Accept": scraper})
    assert (asked.headers["Content-Type"], asked.text) == (renamed.headers["Content-Type"], renamed.text)
    # The conventions have no name for a load average: it keeps its own.
    assert [family.name for family in openmetrics_families(renamed.text)] == ["normstat_node_system_load1"]  # type: ignore[no-untyped-call]
    assert_envelope(await viewer.get(FEDERATE, params={"host": "web2", "names": "other"}), 422, "invalid_request")
    assert_envelope(await viewer.get(FEDERATE), 400, "bad_request")
    assert_envelope(await viewer.get(FEDERATE, params={"host": "nobody"}), 404, "not_found")
