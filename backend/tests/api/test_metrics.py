"""`/metrics` of running servers: every documented name, summed over processes, and for this machine or a token only."""

import re
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from pydantic import SecretStr

from normstat.api.http.state import AppState
from normstat.runtime import metrics
from tests.api.samples import VMSTAT
from tests.api.server import serving
from tests.ingest.sending import Agent

DOCUMENT = Path(__file__).parents[3] / "docs/run.md"


# Of a server with a certificate only; tests/attack/test_tls.py looks at it.
BY_TLS = {"normstat_certificate_not_after_seconds"}
# Of a server with a standby only; tests/failures/test_standby.py looks at it.
BY_STANDBY = {"normstat_standby_used"}


def documented() -> list[str]:
    names = re.findall(r"^\| `(normstat_\w+)` \|", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(names) >= BY_TLS | BY_STANDBY
    return [name for name in names if name not in BY_TLS | BY_STANDBY]


def value_of(text: str, sample: str) -> float:
    found = re.search(rf"^{re.escape(sample)} (\S+)$", text, re.MULTILINE)
    assert found is not None, f"{sample} is not in\n{text}"
    return float(found.group(1))


def check_openmetrics(answer: httpx.Response) -> None:
    """The strictest parser reads the page, and what is in bytes or seconds says so."""
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    families = {family.name: family for family in text_string_to_metric_families(answer.text)}  # type: ignore[no-untyped-call]
    assert families["normstat_ingest_bytes"].type == "counter"
    assert families["normstat_ingest_bytes"].unit == "bytes"
    for name, family in families.items():
        assert family.unit == next((unit for unit in ("bytes", "seconds") if name.endswith(f"_{unit}")), "")


@pytest.mark.slow
def test_a_running_server_has_every_documented_name(database_url: str, tmp_path: Path) -> None:
    with serving(database_url, tmp_path / "log") as (address, _):
        answer = httpx.get(f"{address}/metrics")
        check_openmetrics(httpx.get(f"{address}/metrics", headers={"Accept": "application/openmetrics-text"}))
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    names = set(re.findall(r"^# TYPE (\S+)", answer.text, re.MULTILINE))
    assert len(documented()) >= 19
    # A counter is declared with its suffix, a histogram without.
    assert [name for name in documented() if name not in names] == []
    assert value_of(answer.text, 'normstat_jobs{kind="import",state="queued"}') == 0
    assert value_of(answer.text, "normstat_processes") == 1
    assert value_of(answer.text, "normstat_database_bytes") > 1e6
    assert value_of(answer.text, 'normstat_http_requests_total{method="GET",route="/api/v1/health",status="200"}') >= 1
    assert "process_resident_memory_bytes" in answer.text


@pytest.mark.matrix
def test_workers_are_summed(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NORMSTAT_WORKERS", "2")
    with serving(database_url, tmp_path / "log") as (address, _):
        for _ in range(20):
            # Connections of their own, so that both workers serve some.
            assert httpx.get(f"{address}/api/v1/health").status_code == 200
        check_openmetrics(httpx.get(f"{address}/metrics", headers={"Accept": "application/openmetrics-text"}))
        text = httpx.get(f"{address}/metrics").text
        while "normstat_processes 2.0" not in text:
            text = httpx.get(f"{address}/metrics").text
    assert value_of(text, 'normstat_http_requests_total{method="GET",route="/api/v1/health",status="200"}') >= 20
    assert [name for name in documented() if f"# TYPE {name}" not in text] == []


async def test_what_is_committed_is_counted(state: AppState) -> None:
    def count(name: str, labels: dict[str, str] | None = None) -> float:
        return metrics.REGISTRY.get_sample_value(name, labels or {}) or 0.0

    before = {name: count(name) for name in ("normstat_ingest_bytes_total", "normstat_ingest_rows_total")}
    rejected = count("normstat_ingest_rejected_lines_total", {"reason": "control_characters"})
    await Agent(state.engine, "web1").send_file(VMSTAT + b"\x01\x02\n")
    assert count("normstat_ingest_bytes_total") - before["normstat_ingest_bytes_total"] == len(VMSTAT) + 3
    assert count("normstat_ingest_rows_total") > before["normstat_ingest_rows_total"]
    assert count("normstat_ingest_rejected_lines_total", {"reason": "control_characters"}) == rejected + 1


def client_at(app: FastAPI, address: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app, client=(address, 1)), base_url="http://normstat.test")


async def test_strangers_get_nothing(app: FastAPI) -> None:
    async with client_at(app, "127.0.0.1") as local, client_at(app, "192.0.2.7") as stranger:
        assert (await local.get("/metrics")).status_code == 200
        assert (await local.get("/metrics", headers={"X-Forwarded-For": "192.0.2.7"})).status_code == 404
        assert (await stranger.get("/metrics")).status_code == 404


async def test_the_token_opens_it_from_elsewhere(app: FastAPI, state: AppState) -> None:
    settings = state.settings.model_copy(update={"metrics_token": SecretStr("secret")})
    app.state.normstat = replace(state, settings=settings)
    async with client_at(app, "192.0.2.7") as stranger:
        for authorization, status in ((None, 401), ("Bearer wrong", 401), ("Bearer secret", 200)):
            headers = {} if authorization is None else {"Authorization": authorization}
            assert (await stranger.get("/metrics", headers=headers)).status_code == status


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("line longer than 1 MiB", "too_long"),
        ("control characters: not the text of a tool", "control_characters"),
        ("cut off: the last line has no newline and may lack its end", "cut_off"),
        ("expected 17 columns, found 3", "columns"),
        ("something new", "other"),
    ],
)
def test_reasons_are_classified(reason: str, expected: str) -> None:
    assert metrics.classify_reason(reason) == expected


def test_labels_are_bounded() -> None:
    metrics.count_request(None, "BREW", 418, 0.1)
    labels = {"route": "other", "method": "other", "status": "418"}
    assert metrics.REGISTRY.get_sample_value("normstat_http_requests_total", labels) == 1
