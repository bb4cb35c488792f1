"""`normstat up` from nothing: samples within seconds, a clean end, a second run that goes on with the data, and faults."""

import contextlib
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import psycopg
import pytest

from normstat.cli import up_command as up_module
from normstat.cli.agent_tools import AgentTools, tools_of
from normstat.local.binaries import ROOT_STATE_DIR
from tests.certificates import make_self_signed
from tests.databases import on_either_database
from tests.e2e.product import CHECKOUT, Up, free_port, have, log_in, processes_naming, wait_until
from tests.failures.sender import Fleet, make_agent_token
from tests.vanishing import files_below

# A hang guard, no promise: on a busy machine the agent and its tools start late.
FIRST_SAMPLES_WITHIN_S = 50.0
# A database, a server and an agent start, some of them twice, on a machine that may be busy.
pytestmark = pytest.mark.timeout(120)


def n_samples(client: httpx.Client) -> int:
    hosts = client.get("/hosts").json()["hosts"]
    return sum(s["n_lines"]["sample"] for host in hosts for s in client.get(f"/hosts/{host['name']}").json()["streams"])


def uid_of(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("Uid:")).split()[1])


def command_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()


def may_more(pid: int) -> bool:
    """Whether a process that is not root's has a capability."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        return uid_of(pid) != 0 and int(status["CapPrm"], 16) != 0
    return False


def descendants(pid: int) -> set[int]:
    parents = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def find_privileged(up: Up) -> list[str]:
    """The commands of processes with a capability that are neither the sampler nor started by it."""
    pids = descendants(up.process.pid)
    of_sampler: set[int] = set()
    commands = {}
    for pid in pids:
        # One that has ended meanwhile has no command.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            commands[pid] = command_of(pid)
            if {"normstat-sampler", "/proc/self/fd/7"} & set(commands[pid].split()):
                of_sampler |= {pid} | descendants(pid)
    return [command for pid, command in commands.items() if command and pid not in of_sampler and may_more(pid)]


def assert_nothing_is_roots(up: Up) -> None:
    """What works for others has no privileges: neither the processes nor the role in the database."""
    # Only this command and the writer of its log files keep the account that it was started with.
    commands = []
    for pid in descendants(up.process.pid):
        # One that has ended meanwhile has no files, or no command line, any more.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if uid_of(pid) == 0:
                commands.append(command_of(pid))
    assert all("local/log_writer.py" in command for command in commands if command), commands
    # The agent's sampler of processes sees everybody's I/O; nothing else has a capability.
    if have("setpriv"):
        assert any(may_more(pid) for pid in descendants(up.process.pid))
    # The agent has them until it has started the sampler.
    wait_until(lambda: not find_privileged(up), "only the sampler has capabilities")
    server, database = uid_of(up.server), uid_of(up.postmaster)
    nobody = pwd.getpwnam("nobody").pw_uid
    assert len({0, nobody, server, database}) == 4, "the server cannot read the files of the database"
    assert {status.st_uid for _, status in files_below(up.home / "postgres")} == {database}


def assert_files_are_private(up: Up) -> None:
    for path, status in files_below(up.data_dir, up.home):
        if stat.S_ISSOCK(status.st_mode) or stat.S_ISLNK(status.st_mode):
            continue
        mode = stat.S_IMODE(status.st_mode)
        # The server passes through to the socket; nobody but its owner reads or lists anything.
        allowed = 0o710 if path.name == "run" else 0o700
        assert mode & ~allowed == 0, f"{path} has mode {mode:o}"
    assert stat.S_IMODE((up.data_dir / "log").stat().st_mode) == 0o700
    # Accounts of ours get through; a folder that was there is left as it is.
    assert stat.S_IMODE(up.home.stat().st_mode) in ({0o711, 0o755} if os.geteuid() == 0 else {0o700, 0o755})


def assert_role_is_no_superuser(up: Up) -> None:
    with psycopg.connect(up.database_url) as connection:
        query = (
            "SELECT rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls FROM pg_roles WHERE rolname = current_user"
        )
        assert connection.execute(query).fetchall() == [(False,) * 5]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("COPY (SELECT 1) TO PROGRAM 'true'")


def assert_commands_find_the_database(up: Up) -> None:
    """Without a URL: by the folder's name, and from the folder that it is."""
    for place, settings in (("/", {"NORMSTAT_DATA": str(up.data_dir)}), (str(up.data_dir), {})):
        done = subprocess.run(
            [sys.executable, "-m", "normstat", "storage"],
            cwd=place,
            env=up.environment() | settings,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


@pytest.fixture
def data_dir(tmp_path: Path) -> Iterator[Path]:
    """A folder to be made, which other accounts reach."""
    base = Path(tempfile.mkdtemp(prefix="normstat-up-"))
    base.chmod(0o711)
    yield base / "data of normstat"
    shutil.rmtree(base)


@pytest.fixture
def closed_data_dir(tmp_path: Path) -> Iterator[Path]:
    """A folder to be made below one that is closed to other accounts, as /root is."""
    data_dir = tmp_path / "data of normstat"
    yield data_dir
    shutil.rmtree(ROOT_STATE_DIR / quote(str(data_dir).strip("/"), safe=""), ignore_errors=True)


@pytest.mark.slow
@pytest.mark.skipif(not have("vmstat"), reason="vmstat is not installed")
def test_up_shows_samples_stops_cleanly_and_goes_on(closed_data_dir: Path) -> None:
    data_dir = closed_data_dir
    port = free_port()
    with Up(data_dir, port) as up, log_in(up.link) as client:
        wait_until(lambda: n_samples(client) > 0, "first samples", FIRST_SAMPLES_WITHIN_S)
        host = client.get("/hosts").json()["hosts"][0]
        assert host["state"] == "live"
        assert client.get("/storage").json()["disk"]["free_bytes"] > 0, "the role may ask where the database lies"
        assert_role_is_no_superuser(up)
        assert_commands_find_the_database(up)
        assert_files_are_private(up)
        wait_until(lambda: records_its_database(data_dir), "a report of its own database")
        if os.geteuid() == 0:
            assert_nothing_is_roots(up)
        n_first = n_samples(client)
        wait_until(lambda: n_samples(client) >= n_first + 3, "samples of a running server", FIRST_SAMPLES_WITHIN_S)
    before_stop = up.out_path.read_text()
    assert up.process.returncode == 0, before_stop
    assert "stopped" in before_stop
    assert "Traceback" not in before_stop
    assert processes_naming(str(data_dir)) == []
    assert [path for path in data_dir.rglob("*") if path.is_socket()] == []

    with Up(data_dir, port) as again, log_in(again.link) as client:
        answer = client.get(f"/hosts/{host['name']}").json()
        assert answer["host"]["first_sample_at"] == host["first_sample_at"]
        n_before = n_samples(client)
        assert n_before > 0
        assert_files_are_private(again)
        wait_until(lambda: n_samples(client) > n_before, "more samples after the restart", FIRST_SAMPLES_WITHIN_S)
    assert again.process.returncode == 0
    assert processes_naming(str(data_dir)) == []


def records_its_database(data_dir: Path) -> bool:
    return any("\nnormstat\t" in path.read_text() for path in (data_dir / "agent/spool").glob("postgresql.*.raw"))


@pytest.mark.matrix
@on_either_database
def test_a_backup_is_restored_into_a_new_installation_and_never_over_data(database_url: str, data_dir: Path) -> None:
    backup = data_dir.parent / "backup"
    command = [sys.executable, "-m", "normstat"]
    environment = os.environ | {"NORMSTAT_DATABASE_URL": database_url}
    make_agent_token(database_url)
    subprocess.run([*command, "event", "add", "disk replaced"], env=environment, check=True)
    subprocess.run([*command, "backup", str(backup)], env=environment, check=True)
    options = ("--no-agent", "--restore", str(backup))
    # What a first start writes gives way.
    with Up(data_dir, free_port(), options=("--no-agent",)):
        pass
    with Up(data_dir, free_port(), options=options) as up, log_in(up.link) as client:
        assert [event["text"] for event in client.get("/events").json()["events"]] == ["disk replaced"]
        link = subprocess.run(
            [*command, "login-link"],
            env=up.environment() | {"NORMSTAT_DATA": str(data_dir)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert link.startswith(f"http://127.0.0.1:{up.port}/login#token=")
        with psycopg.connect(up.database_url) as connection:
            assert connection.execute("SHOW data_checksums").fetchone() == ("on",)
    with pytest.raises(AssertionError, match="The database is not empty"):
        Up(data_dir, free_port(), options=options).__enter__()


@pytest.mark.matrix
def test_whatever_is_killed_is_started_again_and_all_is_stored_once(data_dir: Path) -> None:
    # So little that the logs rotate here.
    with Up(data_dir, free_port(), {"NORMSTAT_LOG_MAX_BYTES": "4096"}) as up:
        url = up.database_url
        with Fleet(up.port, make_agent_token(url), n_agents=3, n_rows=2000, n_pieces=60) as fleet:
            fleet.wait_until(0.2)
            os.kill(up.postmaster, signal.SIGKILL)
            wait_until(lambda: "the database is running again" in up.said(), "the database is back")
            fleet.wait_until(0.5)
            os.kill(up.server, signal.SIGKILL)
            wait_until(lambda: "the server is running again" in up.said(), "the server is back")
            os.kill(up.process_of(str(data_dir / "agent/token"), "normstat-agent run"), signal.SIGKILL)
            wait_until(lambda: "the agent is running again" in up.said(), "the agent is back")
            fleet.wait_until(1.0)
        assert set(fleet.answers) <= {200, 503, 0}, fleet.answers
        fleet.assert_stored_once(url)
        for name in ("database", "server", "agent"):
            assert up.said().count(f"the {name} ended (killed by SIGKILL); restarting it") == 1, up.said()
        logs = {path.name: status.st_size for path, status in files_below(data_dir / "log")}
        assert "server.log.1" in logs
        assert max(logs.values()) < 3 * 4096
        # What was said on the terminal stands in a log, too.
        assert "the server is running again" in (data_dir / "log/up.log").read_text()
        up.process.kill()
        up.process.wait()
        wait_until(lambda: processes_naming(str(data_dir)) == [], "everything ends with `up`, however it ends")


@pytest.mark.matrix
@on_either_database
def test_by_tls_its_agent_delivers_too(database_url: str, data_dir: Path) -> None:
    """A certificate that is its own authority: the agent is told to trust it, and the server's account reads both files."""
    certificate, key = data_dir.parent / "server.pem", data_dir.parent / "server.key"
    make_self_signed(certificate, key)
    for path in (certificate, key):
        path.chmod(0o644)
    options = ("--tls-cert", str(certificate), "--tls-key", str(key))
    with Up(data_dir, free_port(), {"NORMSTAT_DATABASE_URL": database_url}, options=options) as up:
        assert up.link.startswith(f"https://127.0.0.1:{up.port}/login#token=")
        with psycopg.connect(database_url, autocommit=True) as connection:
            seen = "SELECT count(*) FROM hosts WHERE last_seen_at IS NOT NULL"
            wait_until(lambda: connection.execute(seen).fetchone() == (1,), f"a delivery; {up.said()}", FIRST_SAMPLES_WITHIN_S)


def test_a_server_that_never_gets_ready_is_said_at_once(data_dir: Path) -> None:
    up = Up(data_dir, free_port(), {"NORMSTAT_AUDIT_SYSLOG": "nonsense"})
    done = subprocess.run(up.command(), env=os.environ | up.environment(), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert "the server did not start" in done.stderr
    assert "nonsense" in done.stderr, "the end of the log says why"
    assert processes_naming(str(data_dir)) == []


def test_the_tools_of_an_agent_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("vmstat", "mpstat", "df"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    # As the agent: it has its own PATH.
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("NORMSTAT_PATH", str(tmp_path))
    stats = tmp_path / "stats.conf"
    stats.write_text(
        "# x\nproc_linux\tsample 1 auto\nproc_pid_linux\tsample 5\nvmstat_linux\t?vmstat -t 1\nmpstat_linux\tmpstat 1\n"
        "vmstat_2\tvmstat 5\npidstat_linux\t?pidstat 1\niostat_linux\tiostat -x 1\ndf_linux\t@60 df\n"
    )
    script = CHECKOUT / "agents/normstat-agent"
    tools = tools_of(stats, up_module._agent_path(script))
    assert tools.recorders == ["the counters of /proc", "processes", "vmstat", "mpstat", "df"]
    assert tools.missing == ["iostat"]
    monkeypatch.delenv("NORMSTAT_PATH")
    assert up_module._agent_path(script).startswith("/usr/xpg4/bin:/usr/bin:/bin:")


def test_a_host_without_tools_lacks_nothing(tmp_path: Path) -> None:
    tools = tools_of(CHECKOUT / "agents/stats.conf.linux", str(tmp_path))
    assert tools.missing == []
    assert tools.recorders == [
        "the counters of /proc",
        "processes",
        "facts about the host",
        "jumps of the clock and tools that end",
    ]


def test_watched_log_files_are_no_programs(tmp_path: Path) -> None:
    stats = tmp_path / "stats.conf"
    stats.write_text("event\t/var/log/app.log ERROR|FATAL\nevent\t/var/log/other.log panic\n")
    assert tools_of(stats, str(tmp_path)) == AgentTools(["events from log files"], [])
