"""One test that stands for all others of this folder under the shells that `make test` does not run them under."""

import stat

import pytest

from tests.agent.conftest import always_under_every_shell
from tests.agent.host import Host
from tests.agent.test_install import offer_files, pipe_install

# Some fifteen turns of an agent, one a second, on a machine that may be busy.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


@always_under_every_shell
def test_the_whole_life_of_an_agent(host: Host) -> None:
    """It enrols, delivers, takes a new token, is killed and started again, and reports what fell out of a full spool."""
    host.stats("emit_linux emit 0.1 150", "loop_linux @1 sh -c 'echo \"$1\"' sh 'two  words'", "host_facts facts 60")
    host.calm()
    offer_files(host)
    host.extra["NORMSTAT_JOIN_TOKEN"] = host.server.join_token
    installed = pipe_install(host, "--host", "web1", "--no-start")
    assert b"host web1 is enrolled" in installed.stdout, installed
    del host.extra["NORMSTAT_JOIN_TOKEN"]
    host.token_file = host.root / "here" / "token"
    first = host.server.token
    assert host.token_file.read_text() == f"{first}\n"

    options = ("--max-file", "30K", "--spool-limit", "100K")
    host.run(*options)
    for spec in ("emit_linux", "loop_linux", "host_facts"):
        host.wait_for_bytes(spec, 10)
    host.server.wants_rotation = True
    host.wait_for(lambda: host.server.token != first, "the first use of a new token")
    assert host.token_file.read_text() == f"{host.server.token}\n"

    host.kill()
    n_streams = len(host.server.data("emit_linux"))
    host.run(*options)
    host.wait_for(lambda: len(host.server.data("emit_linux")) > n_streams, "a new stream")
    assert "left behind" in host.log

    host.server.stop()
    host.hurry()
    host.wait_for(lambda: "gave up" in host.log, "a file that is given up")
    host.calm()
    host.server.start()
    host.wait_for(lambda: any(stream.gaps for stream in host.server.streams.values()), "word of the loss")
    host.wait_for(lambda: not list(host.spool.glob("*.gap")), "all words of loss")
    assert "/artefacts/1\n" in host.command("put", "--title", "T", "stats.conf").stderr
    status = host.command("status")
    assert status.returncode == 0, status
    assert "agent    runs, pid " in status.stdout
    assert host.command("run").returncode == 4

    host.end_exactly()
    assert any(b"two  words" in data for data in host.server.data("loop_linux").values())
    assert all(stat.S_IMODE(path.lstat().st_mode) & 0o077 == 0 for path in host.spool.rglob("*"))
