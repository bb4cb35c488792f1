"""Watched log files, jumps of the clock and ended tools: what the agent prints as events."""

import re
import subprocess
from typing import Final

from tests.agent.host import AGENT, Host
from tests.agent.test_sampler import all_of

# Functions for scripts: `look` is one look at app.log, and prints the texts of its events.
LOOKS: Final = f"""NORMSTAT_SOURCED=1; . {AGENT}; set_defaults; work=$PWD/work; mkdir -p work; probe_clock; probe_reader
my_uid=1000
find_matcher; rw_seen=- rw_trouble='' log=$PWD/app.log
look() {{ set_now; watch_file "$log" 'ERROR|FATAL' work/watch.1 | cut -f5-; echo .; }}
"""


def run_script(host: Host, commands: str) -> list[str]:
    done = subprocess.run(
        [str(host.shell.program), "-c", LOOKS + commands],
        env=host.environment(), cwd=host.root, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_a_flood_is_counted(host: Host) -> None:
    flood = r"""
: >$log; look
n=0; while [ $n -lt 25 ]; do echo "ERROR $n"; n=$((n + 1)); done >$log; look
dd if=/dev/zero bs=1048576 count=17 2>/dev/null | tr '\000' '\012' >>$log; echo 'ERROR end' >>$log; look
"""
    root = host.root
    assert run_script(host, flood) == [
        *(".", *(f"ERROR {number}" for number in range(20)), f"5 more lines of {root}/app.log match", "."),
        *(f"{root}/app.log grew too fast: {16 * 1048576 + 10} bytes were not searched", "ERROR end", "."),
    ]


def test_root_follows_no_link(host: Host) -> None:
    """A link may lead to what only root can read. Others follow it with their own rights."""
    found = run_script(
        host,
        "echo ERROR >secret; ln -s secret $log; look 2>/dev/null; my_uid=0; echo ERROR 2 >>secret; look 2>/dev/null;"
        " my_uid=1000; look",
    )
    assert found == [".", ".", "ERROR 2", "."]


def test_events_are_sent(host: Host) -> None:
    """From stats.conf to the server: a line of a log, the agent's start, and a tool that ended."""
    log = host.root / "app.log"
    log.write_text("ERROR before the start\n")
    host.tool("fails", "#!/bin/sh\necho broken >&2\nexit 3\n")
    host.stats("fails_linux fails", "gone_linux no-such-tool 1", "host_events watch 1", f"event {log} ERROR|FATAL")
    host.run()
    host.wait_for(lambda: "fails_linux ended with status 3" in all_of(host, "host_events"), "the end of the tool")
    with log.open("a") as file:
        file.write("FATAL out of memory\n")
    host.wait_for(lambda: "FATAL" in all_of(host, "host_events"), "the line of the log")
    text = all_of(host, "host_events")
    assert "ERROR" not in text
    assert re.search(r"(?m)^\d{10}\t-\ttool\tagent\tThe agent [0-9.]+ started$", text)
    assert re.search(r"(?m)^\d{10}\t-\ttool\tfails_linux\tfails_linux ended with status 3: broken; restarting in 1 s$", text)
    # Once, although it is looked for again.
    gone = r"(?m)^\d{10}\t-\ttool\tgone_linux\tgone_linux: program no-such-tool not found in \S+; checked again every minute$"
    assert len(re.findall(gone, text)) == 1
    assert re.search(rf"(?m)^\d{{10}}\t\d{{10}}\tlog\t{re.escape(str(log))}\tFATAL out of memory$", text)
    assert host.stop() == 0
    host.assert_nothing_left_behind()
