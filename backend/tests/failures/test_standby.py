"""A real standby: large reads go to it; when the primary is killed it takes over, and no acknowledged sample is lost."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from psycopg import sql

from tests.e2e.product import Server, wait_until
from tests.failures.postgres import CopyOfPostgres, FragilePostgres
from tests.failures.sender import Agent, Fleet, log_in, make_agent_token
from tests.failures.test_workers import events
from tests.generated import START, vmstat_text, vmstat_times

# Two databases and a server start here, on a machine that may be busy.
pytestmark = pytest.mark.timeout(120)

METRICS_TOKEN = "a token of the test"


class Pair:
    """A primary, its standby, and a server that knows both."""

    def __init__(self, primary: FragilePostgres, standby: CopyOfPostgres, server: Server) -> None:
        self.primary = primary
        self.standby = standby
        self.server = server


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    primary, standby = FragilePostgres(max_wal_senders="5"), CopyOfPostgres(hot_standby_feedback="on")
    with ExitStack() as stack:
        stack.callback(primary.stop)
        stack.callback(standby.stop)
        primary.start()
        standby.follow(primary)
        # After the copy, so that the standby does not wait for one of its own once it is promoted.
        primary.admin(sql.SQL("ALTER SYSTEM SET synchronous_standby_names = '*'"))
        primary.admin(sql.SQL("SELECT pg_reload_conf()"))
        hosts = f"127.0.0.1:{primary.port},127.0.0.1:{standby.port}"
        url = f"postgresql://normstat:{primary.password}@{hosts}/normstat?target_session_attrs=read-write"
        settings = {"NORMSTAT_DATABASE_READ_URL": standby.url_of_tests, "NORMSTAT_METRICS_TOKEN": METRICS_TOKEN}
        yield Pair(primary, standby, stack.enter_context(Server(url, tmp_path / "log", settings=settings)))


def standby_of(client: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/storage").json()["standby"]
    return found


def n_reads(server: Server, database: str) -> float:
    answer = httpx.get(f"{server.url}/metrics", headers={"Authorization": f"Bearer {METRICS_TOKEN}"})
    assert "\nnormstat_standby_used 1.0\n" in answer.text
    assert "\nnormstat_standby_lag_seconds " in answer.text
    name = f'normstat_large_reads_total{{database="{database}"}} '
    return next((float(line.removeprefix(name)) for line in answer.text.splitlines() if line.startswith(name)), 0.0)


@pytest.mark.matrix
def test_a_standby_serves_reads_and_takes_over_from_a_killed_primary(pair: Pair) -> None:
    primary, standby, server = pair.primary, pair.standby, pair.server
    token = make_agent_token(primary.url_of_tests)
    with log_in(server, primary.url_of_tests) as client:
        wait_until(lambda: standby_of(client)["state"] == "used", "the standby is used")
        agent = Agent(server.port, token, "web1", vmstat_text(vmstat_times(600), seed=1), 1 << 20)
        assert agent._post(agent.data)[0] == 200
        window = {"start": START.isoformat(), "end": "2027-01-01T00:00:00Z"}
        wanted = {"host": "web1", "stat": "vmstat_linux"} | window

        def export() -> bytes:
            answer = client.get("/export.csv", params=wanted)
            assert answer.status_code == 200, answer.text
            return answer.content

        wait_until(lambda: export().count(b"\r\n") > 590 and n_reads(server, "standby") >= 1, "read from the standby")

        # What a person changed is found at once, by whoever asks, also while the standby stands still.
        with psycopg.connect(standby.admin_url("normstat"), autocommit=True) as connection:
            connection.execute("SELECT pg_wal_replay_pause()")
            body = {"name": "calm", "hosts": ["web1"], "windows": [window]}
            before = n_reads(server, "primary")
            made = client.post("/baselines", json=body)
            assert made.status_code == 201, made.text
            band = client.get("/bands", params=wanted | {"baseline": made.json()["id"], "field": "cpu_us", "width": 200})
            assert band.status_code == 200, band.text
            assert n_reads(server, "primary") > before
            connection.execute("SELECT pg_wal_replay_resume()")

        whole = export()
        with Fleet(server.port, token, n_agents=4, n_rows=1200, n_pieces=12) as fleet:
            fleet.wait_until(0.3)
            primary.crash()
            standby.promote()
            fleet.wait_until(1.0)
        assert set(fleet.answers) <= {200, 503}, fleet.answers
        fleet.assert_stored_once(standby.url_of_tests)
        wait_until(lambda: standby_of(client)["state"] == "not_a_standby", "the page says that there is no standby any more")
        assert export() == whole, "every digit of what was sent before"
        assert {"used", "not_a_standby"} <= {event["state"] for event in events(server, "standby_changed")}
        wait_until(lambda: len(events(server, "schedule_started")) == 2, "jobs go on")
