"""The file system of the spool runs full while tools run, and has room again later."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.agent.conftest import under_every_shell
from tests.agent.host import CUT_OFF, Host
from tests.debian_root import DatabaseUnavailable
from tests.unavailable import skip_without

# $1 is the folder, the rest a command, whose pid is that of the shell.
ON_SMALL_DISK = 'mount -t tmpfs -o size=2m,mode=700 tmpfs "$1" && shift && exec "$@"'


def run_on_small_disk(host: Host) -> Path:
    """Start the agent in a mount namespace with a spool of 2 MiB; the spool as it is seen from outside."""
    host.spool.mkdir(mode=0o700)
    probe = ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", str(host.spool)]
    if shutil.which("unshare") is None or subprocess.run(probe, capture_output=True, check=False).returncode:
        skip_without(DatabaseUnavailable("no file system can be mounted here"))
    host.wrapper = ("unshare", "--mount", "sh", "-c", ON_SMALL_DISK, "sh", str(host.spool))
    host.run()
    assert host.agent is not None
    return Path(f"/proc/{host.agent.pid}/root{host.spool}")


def fill(path: Path) -> None:
    with path.open("ab", buffering=0) as file:
        for size in (65536, 4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue


@pytest.mark.slow
@pytest.mark.timeout(120)
@under_every_shell
def test_tools_end_before_they_lose_lines_and_the_gap_is_told_when_there_is_room(host: Host) -> None:
    host.stats("emit_linux emit 0.2 20", "slow_linux @1 echo hello")
    spool = run_on_small_disk(host)
    host.wait_for_bytes("emit_linux", 5000)
    fill(spool / "filler")
    host.wait_for(lambda: "is full: no tool runs until there is room" in host.log, "the agent's notice")
    host.wait_for(lambda: not host.tool_processes("emit"), "the end of the tools")
    assert host.agent is not None
    command = ("nsenter", "-t", str(host.agent.pid), "-m", *host.arguments("status", ()))
    host.wait_for(lambda: "trouble  the file system of" in host.execute(*command).stdout, "the trouble in the status")
    status = host.execute(*command)
    assert (status.returncode, "the file system of the spool is full" in status.stdout) == (1, True), status.stdout
    n_streams = len(host.server.data("emit_linux"))
    (spool / "filler").unlink()
    host.wait_for(lambda: "no tool ran" in host.log, "word of the room")
    host.wait_for(lambda: len(host.server.data("emit_linux")) > n_streams, "a new stream")
    host.wait_for(lambda: any(stream.gaps for stream in host.server.streams.values()), "word of the loss")
    assert host.stop() == 0
    truths = [path.read_bytes() for path in host.truth.iterdir()]
    for key, stream in host.server.streams.items():
        if stream.spec == "emit_linux":
            end = min((begin for begin, _, _ in stream.gaps), default=len(stream.data))
            whole = bytes(stream.data[:end]).removesuffix(CUT_OFF)
            assert any(truth.startswith(whole) for truth in truths), f"{key} is not what a tool printed"
    gaps = {
        (key.partition(".")[0], end - begin, reason) for key, one in host.server.streams.items() for begin, end, reason in one.gaps
    }
    reason = "the file system of the spool was full: how much was lost is unknown"
    assert gaps == {("emit_linux", 1, reason), ("slow_linux", 1, reason)}
