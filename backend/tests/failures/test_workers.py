"""Several processes on one port: one that is killed is replaced, and neither bytes nor jobs are lost or done twice."""

import contextlib
import itertools
import json
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest

from normstat.samples.stat_tables import table_of
from normstat.server import server_process, workers
from normstat.server.workers import Workers, bind
from tests.e2e.product import Server, free_port, wait_until
from tests.failures.sender import Fleet, log_in, make_agent_token
from tests.generated import vmstat_text, vmstat_times

# Processes with all modules of their own start here, on a machine that may be busy.
pytestmark = pytest.mark.timeout(120)

N_IMPORTED = 30_000


def events(server: Server, name: str) -> list[dict[str, object]]:
    lines = server.log_path.read_text().splitlines()
    return [event for line in lines if line.startswith("{") and (event := json.loads(line))["event"] == name]


@pytest.mark.matrix
def test_a_worker_that_is_killed_is_replaced_and_the_other_goes_on(database_url: str, tmp_path: Path) -> None:
    # The report since boot, and N_IMPORTED others.
    (tmp_path / "vmstat.txt").write_bytes(vmstat_text(vmstat_times(N_IMPORTED + 1)))
    settings = {"NORMSTAT_IMPORT_DIR": str(tmp_path / "imports")}
    with Server(database_url, tmp_path / "log", workers=2, settings=settings) as server:
        wait_until(lambda: bool(events(server, "workers_started")), "both workers")
        token = make_agent_token(database_url)
        with log_in(server, database_url) as client, Fleet(server.port, token, n_agents=6, n_rows=2000, n_pieces=20) as fleet:
            parameters = {"host": "imported", "name": "vmstat.txt"}
            with (tmp_path / "vmstat.txt").open("rb") as file:
                started = client.post("/imports", params=parameters, content=file)
            assert started.status_code == 202, started.text
            wait_until(lambda: bool(events(server, "import_started")), "the import runs")
            fleet.wait_until(0.3)
            # The one that loads the file, in the middle of that and of requests.
            victim = events(server, "import_started")[0]["pid"]
            assert isinstance(victim, int)
            os.kill(victim, signal.SIGKILL)
            fleet.wait_until(1.0)
            wait_until(lambda: client.get(f"/imports/{started.json()['id']}").json()["state"] == "done", "the import ends")
        answers = fleet.answers
        assert set(answers) <= {200, 0, 503}, "only connections of the one that was killed are cut"
        wait_until(lambda: len(events(server, "worker_ready")) == 3, "the worker is replaced")
        [ended] = events(server, "worker_ended")
        assert (ended["pid"], ended["status"]) == (victim, -signal.SIGKILL)
        assert len({event["pid"] for event in events(server, "import_started")}) == 2, "another worker goes on with the import"
    assert server.process is not None
    assert server.process.returncode == 0
    fleet.assert_stored_once(database_url)
    with psycopg.connect(database_url) as connection:
        query = "SELECT sum(n_sample), sum(n_rejected) FROM streams JOIN hosts ON hosts.id = host_id WHERE hosts.name = 'imported'"
        assert connection.execute(query).fetchall() == [(N_IMPORTED, 0)]
        query = (
            "SELECT count(*), count(DISTINCT line_offset) FROM {} JOIN hosts ON hosts.id = host_id WHERE hosts.name = 'imported'"
        )
        rows = connection.execute(psycopg.sql.SQL(query).format(table_of("vmstat_linux"))).fetchall()
        assert rows == [(N_IMPORTED, N_IMPORTED)], "every row of the file once"


@pytest.mark.slow
def test_each_worker_takes_its_part_and_all_stop_together(database_url: str, tmp_path: Path) -> None:
    with Server(database_url, tmp_path / "log", workers=2) as server:
        wait_until(lambda: bool(events(server, "workers_started")), "both workers")
        with contextlib.ExitStack() as stack, log_in(server, database_url) as client:
            pids = [int(str(event["pid"])) for event in events(server, "worker_ready")]
            # Open live streams are ended, not waited for. On a busy machine one worker may take the first ones alone.
            follower = stack.enter_context(httpx.Client(base_url=client.base_url, headers=client.headers, timeout=120))
            for n_open in range(64):
                if n_open >= 8 and all(n_connections(pid, server.port) > 0 for pid in pids):
                    break
                stream = stack.enter_context(follower.stream("GET", "/live"))
                assert stream.status_code == 200
            assert all(n_connections(pid, server.port) > 0 for pid in pids), "one worker has them all"
            assert server.process is not None
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(60) == 0
    assert len(events(server, "server_stopped")) == 3
    assert not events(server, "worker_killed")
    assert not any(Path("/proc", str(pid)).exists() for pid in pids)


def n_connections(pid: int, port: int) -> int:
    """How many connections to the port the process has open."""
    established = set()
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        if words[1].endswith(f":{port:04X}") and words[3] == "01":
            established.add(f"socket:[{words[9]}]")
    files = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            files.append(str(entry.readlink()))
    return len(established & set(files))


@pytest.mark.matrix
def test_workers_end_with_a_parent_that_was_killed(database_url: str, tmp_path: Path) -> None:
    with Server(database_url, tmp_path / "log", workers=2) as server:
        wait_until(lambda: bool(events(server, "workers_started")), "both workers")
        pids = [event["pid"] for event in events(server, "worker_ready")]
        server.kill()
        wait_until(lambda: not any(Path("/proc", str(pid)).exists() for pid in pids), "the workers end")
        # The port is free again.
        bind("127.0.0.1", server.port).close()


def test_a_port_that_is_taken_is_said(database_url: str, tmp_path: Path) -> None:
    with bind("127.0.0.1", 0) as taken:
        server = Server(database_url, tmp_path / "log", taken.getsockname()[1], workers=2)
        # Whoever asked for its health would wait for the one that has the port and does not answer.
        server.launch()
        assert server.process is not None
        assert server.process.wait(60) == 1
        assert "cannot listen on" in server.log_path.read_text()


def test_a_process_may_open_as_many_files_as_it_is_allowed_to() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (512, before[1]))
        server_process._allow_files()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert hard == before[1]
    assert soft == (server_process.MAX_FILES if hard == resource.RLIM_INFINITY else min(server_process.MAX_FILES, hard))


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    handlers = {number: signal.getsignal(number) for number in workers.STOP_SIGNALS}
    with bind("127.0.0.1", free_port()) as listener:
        yield listener
    for number, handler in handlers.items():
        signal.signal(number, handler)


def test_workers_that_never_get_ready_are_not_tried_for_ever(listener: socket.socket) -> None:
    hopeless = Workers(2, listener, lambda *_: [sys.executable, "-c", "raise SystemExit(3)"], grace_s=5)
    assert hopeless.run() == 3


def test_a_worker_that_ends_again_and_again_is_started_later_and_later(
    listener: socket.socket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "FIRST_PAUSE_S", 0.1)
    starts = tmp_path / "starts"
    # Writes down when it began, says that it is ready, and falls over once that was read; the fifth asks the parent to stop.
    code = (
        "import fcntl, os, signal, socket, sys, termios, time\n"
        f"open({str(starts)!r}, 'a').write(f'{{time.monotonic()}}\\n')\n"
        "control = socket.socket(fileno=int(sys.argv[1]))\n"
        "control.send(b'r')\n"
        "while any(fcntl.ioctl(control, termios.TIOCOUTQ, bytes(4))): time.sleep(0.01)\n"
        f"if len(open({str(starts)!r}).readlines()) == 5:\n"
        "    os.kill(os.getppid(), signal.SIGTERM)\n"
        "    signal.pause()\n"
        "os._exit(1)\n"
    )
    began = time.monotonic()
    supervised = Workers(1, listener, lambda _, control: [sys.executable, "-c", code, str(control)], grace_s=5)
    supervised._workers = []
    assert supervised.run() == 0
    times = [float(line) for line in starts.read_text().splitlines()]
    gaps = [after - before for before, after in itertools.pairwise(times)]
    assert len(times) == 5
    assert times[0] > began
    # Pauses of at least 0.1 (that of the first is set when it is made), 0.2, 0.4, ... s: never sooner, however busy the machine is.
    assert all(gap > pause for gap, pause in zip(gaps[1:], (0.2, 0.4, 0.8), strict=False))
