"""Userlands that are not today's Linux: Solaris 10 as stand-ins, busybox for real; and the real tools of this host."""

import os
import re
import subprocess
import time
from pathlib import Path
from typing import Final

import pytest

from tests.agent.conftest import make_shell, require_program, under_every_shell
from tests.agent.host import AGENT, AGENTS, Host
from tests.agent.test_tools import collect
from tests.agent.test_transports import use_only

SUNOS: Final = AGENTS / "tests" / "fakebin" / "sunos"
# What Solaris 10 has of what the agent and the stand-ins use; not there: curl, wget, head, tail -c, stat, mktemp, timeout.
SOLARIS_TOOLS: Final = (
    "cat", "cmp", "cp", "gzip", "id", "ls", "mkdir", "mv", "od", "perl", "printf", "rm", "sed", "sh", "sort", "tail", "tr",
)  # fmt: skip


# Six tools print one report a second.
@pytest.mark.slow
@pytest.mark.timeout(120)
@under_every_shell
def test_solaris_10_userland_with_replayed_captures(host: Host) -> None:
    use_only(host, *SOLARIS_TOOLS)
    host.path = f"{SUNOS}:{host.path}"
    host.extra = {"REPLAY_CAPTURES": str(AGENTS / "tests" / "captures"), "REPLAY_TRUTH": str(host.root)}
    host.stats("emit_linux emit 0.2 20")
    with (host.root / "stats.conf").open("a") as conf:
        conf.write((AGENTS / "stats.conf.sunos").read_text())
    host.run("--max-file", "60K")
    for tool in ("vmstat", "mpstat", "iostat", "prstat", "kstat", "netstat"):
        host.wait_for(lambda tool=tool: host.received(f"{tool}_solaris") > 300, f"{tool}'s reports")  # type: ignore[misc]
    host.wait_for(lambda: len(host.server.data("emit_linux")) >= 2, "a second stream")
    assert "by perl; epoch by fields, cutting by iseek" in host.log
    assert host.command("status").returncode == 0
    # kill -9 and again, on this userland too.
    host.kill()
    host.run()
    host.wait_for(lambda: "left behind" in host.log, "the orphans' end")
    host.wait_for(lambda: len(host.server.data("vmstat_solaris")) >= 2, "a new stream")
    host.end_exactly()
    # Each call of netstat has the epoch before it.
    assert re.match(rb"\d{10}\nName  Mtu  Net/Dest ", next(iter(host.server.data("netstat_solaris").values())))
    for tool in ("vmstat", "mpstat", "iostat", "prstat", "kstat"):
        # The runs one after another are what the stand-in printed, but for a line in which it was ended.
        streams = sorted(
            host.server.data(f"{tool}_solaris").items(), key=lambda item: [int(n) for n in re.findall(r"\d+", item[0])]
        )
        truth = (host.root / tool).read_bytes()
        for key, data in streams:
            assert data
            assert data in truth, key
        assert streams[0][1].startswith(truth[:10])
    last = host.server.requests[-1].headers
    assert last["normstat-os"] == "SunOS 5.10 sun4v"
    assert abs(int(last["normstat-time"]) - time.time()) < 3600


def test_busybox_userland(host: Host, tmp_path: Path) -> None:
    busybox = require_program("busybox")
    shell = make_shell("busybox", tmp_path / "busybox")
    assert shell is not None
    host.shell = shell
    tools = host.root / "usr-bin"
    tools.mkdir()
    for applet in subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split():
        (tools / applet).symlink_to(busybox)
    # Its wget takes headers in argv only, where all could read the token.
    host.path = f"{host.bin}:{tools}"
    host.stats("emit_linux emit 0.2 20")
    assert "nothing can send data" in host.command("run").stderr
    (tools / "curl").symlink_to(require_program("curl"))
    host.run("--max-file", "30K")
    host.wait_for(lambda: len(host.server.data("emit_linux")) >= 2, "a second stream")
    host.kill()
    host.run()
    host.wait_for(lambda: "left behind" in host.log, "the orphan's end")
    host.wait_for(lambda: len(host.server.data("emit_linux")) >= 3, "a third stream")
    assert host.command("run").returncode == 4
    host.end_exactly()


@pytest.mark.parametrize("reader", ["bytes", "iseek", "skip"])
def test_bytes_are_cut_exactly_at_every_kind_of_offset(host: Host, reader: str) -> None:
    data = os.urandom(300_000)
    (host.root / "data").write_bytes(data)
    if reader != "bytes":
        host.path = f"{SUNOS}:/usr/bin:/bin"
    offsets = [0, 1, 4095, 4096, 4097, 8192, 123_457, 299_999]
    pieces = [(at, n) for at in offsets for n in sorted({1, 4096, 5000, len(data) - at}) if at + n <= len(data)]
    reads = "".join(f"read_bytes data {at} {n} >{at}.{n}\n" for at, n in pieces)
    script = f"NORMSTAT_SOURCED=1; . {AGENT}; reader={reader}\n{reads}"
    words = [str(host.shell.program), "-c", script]
    subprocess.run(words, env=host.environment(), cwd=host.root, stdin=subprocess.DEVNULL, check=True)
    for at, n in pieces:
        assert (host.root / f"{at}.{n}").read_bytes() == data[at : at + n], (at, n)


def test_the_real_tools_write_every_report_at_once(host: Host, tmp_path: Path) -> None:
    """Nothing of what stats.conf.linux starts keeps its reports back in a buffer: four seconds show at least two of them."""
    for tool in ("vmstat", "mpstat", "iostat"):
        require_program(tool)
    # Two snapshots five seconds apart would not fit.
    lines = (AGENTS / "stats.conf.linux").read_text()
    assert "proc_pid_linux\tsample 5\n" in lines
    (host.root / "stats.conf").write_text(lines.replace("proc_pid_linux\tsample 5\n", "proc_pid_linux\tsample 1\n"))
    folder = tmp_path / "collected"
    assert collect(host, str(folder), "4") == 0
    text = {path.name.partition(".")[0]: path.read_text() for path in folder.glob("*.raw")}
    assert set(text) == {
        "vmstat_linux", "mpstat_linux", "iostat_linux", "df_linux", "proc_linux", "proc_pid_linux", "host_facts", "host_events",
    }  # fmt: skip
    reports = {
        "vmstat_linux": r"(?m)^ *\d.* UTC$|^ *\d+ +\d+ .*:\d\d$",
        "mpstat_linux": r"(?m) all ",
        "iostat_linux": r"(?m)^avg-cpu",
        "proc_linux": r"(?m)^==> /proc/net/dev <==",
        "proc_pid_linux": r"(?m)^==> /proc/uptime <==",
    }
    for name, pattern in reports.items():
        assert len(re.findall(pattern, text[name])) >= 2, (name, text[name])
    # The date is printed the ISO way, whatever the host's locale.
    assert re.search(r"\d{4}-\d\d-\d\d", text["mpstat_linux"].splitlines()[0])
