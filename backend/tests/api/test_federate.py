"""The newest values in the Prometheus text format, read by the official parser."""

import time

import httpx
from prometheus_client.parser import text_string_to_metric_families

from normstat.api.state import AppState
from tests.api.test_access import assert_envelope
from tests.ingest.remote_writes import Series, write_request

PATH = "/api/v1/federate"
EVIL = 'a"b\\c\n<script>{},'


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
    page = await viewer.get(PATH, params={"host": ["web1", "web2"]})
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
    chosen = await viewer.get(PATH, params={"host": "web1", "stat": "node_system"})
    assert (chosen.status_code, chosen.text) == (200, "")
    assert (await viewer.get(PATH, params={"host": "web2", "max_age": 1})).text == ""
    assert_envelope(await viewer.get(PATH), 400, "bad_request")
    assert_envelope(await viewer.get(PATH, params={"host": "nobody"}), 404, "not_found")
