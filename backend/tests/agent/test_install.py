"""The one line that adds a host, run as a new user would: piped into sh."""

import stat
import subprocess
from pathlib import Path

import pytest

from tests.agent.conftest import under_every_shell
from tests.agent.host import AGENTS, PATIENCE_S, Host


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
