"""The one line that adds a host, run as a new user would: piped into sh."""

import os
import stat
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.agent.conftest import require_program, under_every_shell
from tests.agent.host import AGENTS, PATIENCE_S, Host
from tests.agent.test_process_io import BITS, capabilities_of, idle_account, owners_of_processes


def offer_files(host: Host) -> None:
    host.server.files = {
        "normstat-agent": AGENTS / "normstat-agent",
        "install.sh": AGENTS / "install" / "install.sh",
        "stats.conf.linux": host.root / "stats.conf",
    }


def pipe_install(host: Host, *options: str, folder: Path | None = None, **more: str) -> subprocess.CompletedProcess[bytes]:
    """Pipes the installer into sh, with `more` in its environment."""
    script = (AGENTS / "install" / "install.sh").read_bytes()
    to_there = ("--server", host.server.url + "/", "--dir", str(folder or host.root / "here"))
    words = [str(host.shell.program), "-s", "--", *to_there, *options]
    environment = {**host.environment(), **more}
    return subprocess.run(words, input=script, env=environment, cwd=host.root, capture_output=True, timeout=PATIENCE_S, check=False)


@under_every_shell
def test_one_line_installs_and_renews_the_agent(host: Host) -> None:
    offer_files(host)
    done = pipe_install(host, "--token", host.server.token, "--host", "web7")
    assert done.returncode == 0, done
    assert b"agent    runs, pid " in done.stdout
    host.wait_for_bytes("emit_linux", 1000)
    here = host.root / "here"
    assert stat.S_IMODE((here / "token").stat().st_mode) == 0o600
    assert not any(host.server.token in line for line in host.processes().values())
    assert host.server.requests[-1].headers["normstat-host"] == "web7"
    # Again, to renew it: a stats.conf that its owner has changed is kept, the token and the spool too.
    (here / "stats.conf").write_text("emit_linux\temit 0.3 10\n")
    n_streams = len(host.server.streams)
    # The second -- stands for an old shell that hands the first one on.
    again = pipe_install(host, "--", "--token-file", "here/token", "--host", "web7")
    assert again.returncode == 0, again
    assert b"kept your stats.conf" in again.stdout
    host.wait_for(lambda: len(host.server.streams) > n_streams, "a stream of the renewed agent")
    stopped = host.execute(here / "normstat-agent", "stop")
    assert stopped.returncode == 0
    host.assert_nothing_left_behind()
    host.assert_exact()


@pytest.fixture
def offered(host: Host) -> Host:
    offer_files(host)
    return host


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming another user needs root")
def test_installed_by_root_it_runs_as_another_user(offered: Host) -> None:
    """Only the sampler keeps the two capabilities; token and spool are the user's, program and settings are not."""
    require_program("setpriv")
    account = idle_account()
    (offered.root / "stats.conf").write_text("proc_pid_linux\tsample 1\n")
    with tempfile.TemporaryDirectory(prefix="normstat-install-") as folder:
        Path(folder).chmod(0o755)
        here = Path(folder, "here")
        # What the other user cannot read is of no use: the folders of this test.
        plain = {"TMPDIR": "/tmp", "NORMSTAT_PATH": os.defpath, "PATH": os.defpath, "NORMSTAT_SHELL": require_program("dash")}
        done = pipe_install(offered, "--user", account.pw_name, "--token", offered.server.token, folder=here, **plain)
        assert done.returncode == 0, done
        try:
            offered.wait_for_bytes("proc_pid_linux", 1000)
            # The tests themselves are root's.
            mine = f"==> /proc/{os.getpid()}/io <==".encode()
            offered.wait_for(lambda: mine in b"".join(offered.server.data("proc_pid_linux").values()), "the I/O of root's process")
            capabilities = {capabilities_of(pid, "Prm") for pid, uid in owners_of_processes().items() if uid == account.pw_uid}
            assert capabilities == {0, BITS}
        finally:
            stopped = offered.execute(here / "normstat-agent", "stop")
        assert stopped.returncode == 0
        assert {path.name: path.stat().st_uid for path in here.iterdir()} == {
            "normstat-agent": 0, "stats.conf": 0, "stats.conf.orig": 0, "agent.conf": 0, "state": account.pw_uid,
        }  # fmt: skip
        assert stat.S_IMODE((here / "state" / "token").stat().st_mode) == 0o600
        again = pipe_install(offered, "--no-start", folder=here, **plain)
        assert again.returncode == 0, again
        assert f"user={account.pw_name}\n" in (here / "agent.conf").read_text()


def test_a_server_without_the_files_leaves_nothing_half_done(offered: Host) -> None:
    del offered.server.files["stats.conf.linux"]
    done = pipe_install(offered, "--token", "x")
    assert done.returncode == 1
    assert b"cannot fetch" in done.stderr
    assert not (offered.root / "here" / "normstat-agent").exists()


def test_wrong_usage_is_said(offered: Host) -> None:
    assert pipe_install(offered, "--tokn", "x").returncode == 2
    assert pipe_install(offered, "--token").returncode == 2
    assert b"no token" in pipe_install(offered, "--no-start").stderr
    assert not offered.processes()
