"""Watched log files, jumps of the clock and ended tools are sent as events; agents/tests/functions.sh has what is one."""

import re

from tests.agent.host import Host
from tests.agent.test_sampler import all_of


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
