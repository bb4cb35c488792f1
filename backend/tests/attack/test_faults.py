"""What runs in the background, and all of `normstat up`, when the database dies, the disk is full, or processes are killed."""

import contextlib
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest
from psycopg import sql

from normstat.samples.stat_tables import table_of
from tests.attack.clients import cpu_seconds
from tests.e2e.product import Server, SmallDiskUp, Up, free_port, health_status, processes_naming, wait_until
from tests.failures.postgres import FragilePostgres, running_postgres
from tests.failures.sender import Agent, Fleet, make_agent_token
from tests.failures.sender import log_in as log_in_operator
from tests.failures.test_workers import events
from tests.generated import vmstat_text, vmstat_times
from tests.vanishing import is_running

# Servers and databases start several times here, on a machine that may be busy.
pytestmark = [pytest.mark.heavy, pytest.mark.timeout(120)]

N_ROWS = 60_000
N_REREAD = 20_000


@pytest.fixture
def postgres() -> Iterator[FragilePostgres]:
    with running_postgres(max_connections="40") as postgres:
        yield postgres


def n_samples(database_url: str, host: str) -> tuple[int, int]:
    """How many rows the host has, and how many different ones."""
    query = sql.SQL("SELECT count(*), count(DISTINCT line_offset) FROM {} JOIN hosts ON hosts.id = host_id WHERE hosts.name = %s")
    with psycopg.connect(database_url) as connection:
        [(n, n_different)] = connection.execute(query.format(table_of("vmstat_linux")), [host]).fetchall()
    return n, n_different


def hear(server: Server, client: httpx.Client, heard: list[str], stop: threading.Event) -> None:
    """Follows the live stream as a browser does: one that ends is opened again."""
    while not stop.is_set():
        with (
            contextlib.suppress(httpx.HTTPError),
            httpx.Client(base_url=client.base_url, headers=client.headers, timeout=5) as follower,
            follower.stream("GET", "/live") as stream,
        ):
            for line in stream.iter_lines():
                heard.append(line)
                if stop.is_set():
                    return


@pytest.fixture
def base() -> Iterator[Path]:
    """A folder that other accounts reach."""
    base = Path(tempfile.mkdtemp(prefix="normstat-faults-"))
    base.chmod(0o711)
    yield base
    shutil.rmtree(base)


def start_work(client: httpx.Client, server: Server) -> tuple[str, str]:
    """An import, a reparse and a deletion that are under way; the paths of the first two."""
    loading = client.post(
        "/imports", params={"host": "imported", "name": "vmstat.txt"}, content=vmstat_text(vmstat_times(N_ROWS), seed=1)
    )
    assert loading.status_code == 202, loading.text
    reading = client.post("/reparses", json={"host": "reread"})
    assert reading.status_code == 202, reading.text
    wait_until(lambda: bool(events(server, "import_started")), "the import runs")
    wait_until(lambda: bool(events(server, "reparse_started")), "the reparse runs")
    assert client.delete("/hosts/doomed").status_code == 202
    return f"/imports/{loading.json()['id']}", f"/reparses/{reading.json()['id']}"


def wait_for_work(client: httpx.Client, paths: tuple[str, str]) -> None:
    def states(path: str) -> list[str]:
        answer = client.get(path)
        body = answer.json() if answer.status_code == 200 else {}
        return [str(one["state"]) for one in body.get("deletions", [body]) if one]

    for path in (*paths, "/host-deletions"):
        wait_until(lambda path=path: states(path) == ["done"], f"{path} ends", 120)  # type: ignore[misc]


def test_everything_in_the_background_goes_on_after_the_database_died(postgres: FragilePostgres, tmp_path: Path) -> None:
    url = postgres.url_of_tests
    token = make_agent_token(url)
    settings = {"NORMSTAT_IMPORT_DIR": str(tmp_path / "imports")}
    with (
        Server(url, tmp_path / "log", settings=settings) as server,
        log_in_operator(server, url) as client,
        Fleet(server.port, token, n_agents=2, n_rows=4000, n_pieces=40) as fleet,
    ):
        fleet.wait_until(0.3)
        for name in ("reread", "doomed"):
            Agent(server.port, token, name, vmstat_text(vmstat_times(N_REREAD), seed=2), 1 << 20).run(threading.Event())
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("UPDATE users SET role = 'administrator'")
            connection.execute("UPDATE api_tokens SET role = 'administrator'")
        heard: list[str] = []
        stop = threading.Event()
        listener = threading.Thread(target=hear, args=[server, client, heard, stop], daemon=True)
        listener.start()
        wait_until(lambda: bool(events(server, "schedule_started")), "the jobs start")
        paths = start_work(client, server)
        for _ in range(3):
            postgres.crash()
            time.sleep(0.5)
            postgres.start_again()
            time.sleep(2.5)
        fleet.wait_until(1.0)
        wait_for_work(client, paths)
        wait_until(lambda: len(events(server, "schedule_started")) > 1, "the jobs start again", 120)
        heard.clear()
        late = Agent(server.port, token, "late", vmstat_text(vmstat_times(20), seed=3), 1 << 20)
        late.run(threading.Event())
        wait_until(lambda: any('"late"' in line for line in heard), "the news of a host that came later")
        stop.set()
        listener.join(120)
    # All but the report since boot, which begins each file.
    assert n_samples(url, "imported") == (N_ROWS - 1, N_ROWS - 1)
    assert n_samples(url, "reread") == (N_REREAD - 1, N_REREAD - 1)
    fleet.assert_stored_once(url)
    late.assert_stored_once(url)
    log = server.log_path.read_text()
    assert "task_ended" not in log, log[log.index("task_ended") - 500 :][:3000]


def test_a_full_disk_is_said_once_and_everything_goes_on_when_there_is_room(base: Path) -> None:
    up = SmallDiskUp(base / "disk", free_port(), "220m")
    if not up.is_possible():
        pytest.skip("no file system can be mounted here")
    with up:
        url = up.database_url
        with Fleet(up.port, make_agent_token(url), n_agents=4, n_rows=60_000, n_pieces=300) as fleet:
            for number in (1, 2):
                fleet.wait_until(0.2 * number)
                before = fleet.answers[503]
                stop = threading.Event()
                # Whatever is given back is taken at once: nothing can be written, so that PostgreSQL ends, too.
                filler = threading.Thread(target=keep_full, args=[up, stop], daemon=True)
                filler.start()
                wait_until(lambda: up.said().count("is full: ") == number, "the full disk is said")  # noqa: B023
                wait_until(lambda: fleet.answers[503] + fleet.answers[0] > before + 8, "the agents are told to wait")  # noqa: B023
                if number == 2:
                    # More than the files take that PostgreSQL keeps for its log, and there is no room for another: it panics.
                    with contextlib.suppress(psycopg.Error), psycopg.connect(url, autocommit=True) as connection:
                        for _ in range(20):
                            connection.execute("SELECT pg_logical_emit_message(false, 'test', repeat('x', 20000000))")
                    wait_until(lambda: "the database ended (exit status 1: " in up.said(), "the end of the database is said")
                time.sleep(8)
                stop.set()
                filler.join()
                assert up.said().count("is full: ") == number, "said once"
                n_acked = fleet.n_acked
                up.make_room()
                wait_until(lambda: up.said().count("has room again: ") == number, "the room is said")  # noqa: B023
                wait_until(lambda: fleet.n_acked > n_acked, "bytes are taken again")  # noqa: B023
            fleet.wait_until(1.0, 120)
        assert set(fleet.answers) <= {200, 503, 0}, fleet.answers
        fleet.assert_stored_once(url)
        assert up.said().count("the database ended") == up.said().count("the database is running again")
        assert "No space left on device" in up.said().partition("the database ended (")[2].partition("\n")[0], up.said()
        log = (up.seen_data_dir / "log/server.log").read_text()
        assert "task_ended" not in log
        assert "request_failed" not in log
        print(up.said())
    assert processes_naming(str(up.disk)) == []


def keep_full(up: SmallDiskUp, stop: threading.Event) -> None:
    while not stop.is_set():
        up.fill()
        stop.wait(0.05)


def test_a_query_that_outlives_the_postmaster_is_ended_before_the_next_one_starts(base: Path) -> None:
    with Up(base / "data", free_port()) as up, contextlib.closing(psycopg.connect(up.database_url, autocommit=True)) as connection:
        # Without a look at its latch: it does not notice that the postmaster is gone.
        query = "SELECT count(*) FROM generate_series(1, 100000) AS a, generate_series(1, 100000) AS b"
        connection.pgconn.send_query(query.encode())
        backend = connection.info.backend_pid
        wait_until(lambda: cpu_seconds(backend) > 0.2, "the query computes")
        os.kill(up.postmaster, signal.SIGKILL)
        wait_until(lambda: "the database is running again" in up.said(), "the database is back")
        assert not is_running(backend)
        wait_until(lambda: health_status(up.port) == 200, "health")
