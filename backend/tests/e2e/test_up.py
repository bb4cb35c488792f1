"""`normstat up` from nothing: samples within seconds, a clean end, and a second run that goes on with the data."""

import time
from pathlib import Path

import httpx
import pytest

from tests.e2e.product import Up, free_port, have, log_in, processes_naming, wait_until

FIRST_SAMPLES_WITHIN_S = 15.0


def n_samples(client: httpx.Client) -> int:
    hosts = client.get("/hosts").json()["hosts"]
    return sum(s["n_lines"]["sample"] for host in hosts for s in client.get(f"/hosts/{host['name']}").json()["streams"])


@pytest.mark.slow
@pytest.mark.skipif(not have("vmstat"), reason="vmstat is not installed")
def test_up_shows_samples_stops_cleanly_and_goes_on(tmp_path: Path) -> None:
    data_dir = tmp_path / "data of normstat"
    port = free_port()
    with Up(data_dir, port) as up, log_in(up.link) as client:
        wait_until(lambda: n_samples(client) > 0, "first samples", FIRST_SAMPLES_WITHIN_S)
        host = client.get("/hosts").json()["hosts"][0]
        assert host["state"] == "live"
        time.sleep(3)
    before_stop = up.out_path.read_text()
    assert up.process.returncode == 0, before_stop
    assert "stopped" in before_stop
    assert processes_naming(str(data_dir)) == []
    assert [path for path in data_dir.rglob("*") if path.is_socket()] == []

    with Up(data_dir, port) as again, log_in(again.link) as client:
        answer = client.get(f"/hosts/{host['name']}").json()
        assert answer["host"]["first_sample_at"] == host["first_sample_at"]
        n_before = n_samples(client)
        assert n_before > 0
        wait_until(lambda: n_samples(client) > n_before, "more samples after the restart", FIRST_SAMPLES_WITHIN_S)
    assert again.process.returncode == 0
    assert processes_naming(str(data_dir)) == []
