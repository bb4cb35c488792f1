"""The tools and the agent's own life: started, watched, ended; nothing left behind and nothing silent."""

import os
import signal
import stat
import subprocess
from pathlib import Path

from tests.agent.conftest import under_every_shell
from tests.agent.host import AGENT, CUT_OFF, PATIENCE_S, Host, send_signal


@under_every_shell
def test_tools_are_watched_and_trouble_is_shown(host: Host) -> None:
    host.tool("brief", "#!/bin/sh\necho a line\necho something is wrong >&2\nexit 7\n")
    host.tool("stubborn", "#!/bin/sh\ntrap '' TERM\nwhile :; do echo still here; sleep 1; done\n")
    host.tool(
        "noisy", "#!/bin/sh\nwhile :; do echo x; dd if=/dev/zero bs=50000 count=1 2>/dev/null | tr '\\0' e >&2; sleep 1; done\n"
    )
    host.stats(
        "# a comment",
        "",
        "brief_linux brief",
        "stubborn_linux stubborn",
        "noisy_linux noisy",
        "missing_linux no-such-tool 1",
        "quoted_linux @2 sh -c 'echo \"$1 and * stay\"' sh 'two  blanks'",
        "Bad-Name echo x",
    )
    started = host.command("start")
    assert started.returncode == 1, started  # something is missing and lines are bad: status says so
    assert host.command("start").returncode == 4
    assert host.command("run").returncode == 4
    host.wait_for(lambda: len(host.server.data("brief_linux")) >= 3, "a tool that is started again")
    host.wait_for_bytes("quoted_linux", 40)
    # In the background, where TZ is UTC, the agent still knows the zone of its host.
    pid = (host.spool / "lock/pid").read_text().strip()
    assert b"NORMSTAT_TZ=Pacific/Chatham" in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    status = host.command("status")
    assert status.returncode == 1
    for words in (
        "agent    runs, pid ",
        "ended with status 7: something is wrong",
        "missing",
        "no program no-such-tool in",
        "1 lines of",
        "stubborn_linux     running",
    ):
        assert words in status.stdout, (words, status.stdout)
    log = (host.spool / "agent.log").read_text()
    for words in (
        "missing_linux: program no-such-tool not found",
        "brief_linux: the tool ended with status 7: something is wrong; restarting in 1 s",
    ):
        assert words in log, (words, log)
    # A loop prints the epoch before each call, and the command keeps its quotes.
    lines = next(iter(host.server.data("quoted_linux").values())).decode().splitlines()
    assert lines[1] == "two  blanks and * stay"
    assert 1_700_000_000 < int(lines[0]) < int(lines[2]) < 3_000_000_000
    host.wait_for(lambda: "dropped" in (host.spool / "agent.log").read_text(), "the end of a long standard error")
    stopped = host.command("stop")
    assert stopped.returncode == 0
    assert "stopped" in stopped.stdout
    host.assert_nothing_left_behind()
    assert host.command("status").returncode == 3
    assert host.command("stop").returncode == 0
    assert not (host.spool / "lock").exists()


@under_every_shell
def test_tools_of_a_killed_agent_end_by_themselves(host: Host) -> None:
    """kill -9, and nobody starts the agent again: the tools end by themselves."""
    host.stats("emit_linux emit 0.2 5", "loop_linux @1 sleep 100")
    host.run()
    host.wait_for_bytes("emit_linux", 1)
    host.wait_for(lambda: len(host.processes()) >= 5, "all processes")
    host.kill()
    assert host.tool_processes("emit")
    host.wait_for(lambda: not host.processes(), "the end of all processes")


@under_every_shell
def test_stop_ends_the_tools_of_a_killed_agent_and_cuts_off_no_whole_line(host: Host) -> None:
    host.stats("emit_linux emit 0.2 5")
    host.run()
    host.wait_for_bytes("emit_linux", 1)
    assert host.agent is not None
    # The agent, and the second process that would end the tools, with its sleep.
    for pid, line in host.processes().items():
        if "normstat-agent run" in line or line.startswith("sleep "):
            send_signal(pid, signal.SIGKILL)
    host.agent.wait()
    stopped = host.command("stop")
    assert (stopped.returncode, "does not run" in stopped.stdout) == (0, True), stopped
    assert "parameter not set" not in stopped.stderr
    host.assert_nothing_left_behind()
    assert [path for path in host.raw_files() if CUT_OFF in path.read_bytes()] == []


@under_every_shell
def test_a_stale_lock_is_taken_over_and_old_files_are_sent_to_the_end(host: Host) -> None:
    """A stale lock is taken over, whoever has its pid now; a stranger's process is not touched."""
    host.stats("emit_linux emit 0.2 5")
    stranger = os.getpid()
    (host.spool / "lock").mkdir(parents=True)
    (host.spool / "lock" / "pid").write_text(f"{stranger}\n")
    (host.spool / "tool").mkdir()
    (host.spool / "tool" / "emit_linux").write_text(f"running {stranger} emit_linux.1.1-1 0 1 0 \n")
    (host.spool / "emit_linux.1.1-1.raw").write_bytes(b"an old line\nand a cut one")
    (host.spool / "emit_linux.1.1-1.cmd").write_text("emit 0.2 5\n")
    (host.spool / "emit_linux.1.1-1.ack").write_text("  1x")
    host.run()
    host.wait_for(lambda: not (host.spool / "emit_linux.1.1-1.raw").exists(), "the end of the old file")
    assert host.server.data("emit_linux")["emit_linux.1.1-1"] == b"an old line\nand a cut one <normstat-agent: line cut off here>\n"
    assert host.stop() == 0
    host.assert_nothing_left_behind()
    del host.server.streams["emit_linux.1.1-1"]
    host.assert_exact()


@under_every_shell
def test_collect_keeps_the_same_files_without_a_network(host: Host) -> None:
    host.stats("emit_linux emit 0.2 5", "loop_linux @1 echo hello")
    folder = host.root / "collected"
    assert collect(host, str(folder), "4") == 0
    host.assert_nothing_left_behind()
    assert not host.server.requests
    raw = {path.name.partition(".")[0]: path for path in folder.glob("*.raw")}
    assert set(raw) == {"emit_linux", "loop_linux"}
    assert raw["emit_linux"].read_bytes() == next(host.truth.iterdir()).read_bytes()
    assert raw["emit_linux"].with_suffix(".cmd").read_text() == "emit 0.2 5\n"
    facts = dict(line.split("=", 1) for line in (folder / "collect.info").read_text().splitlines())
    assert facts["host"] == "web1"
    assert 3 <= int(facts["ended"]) - int(facts["started"]) <= 30
    assert not (folder / "lock").exists()


def collect(host: Host, *arguments: str) -> int:
    words = [str(host.shell.program), str(AGENT), "collect", *arguments, "--stats", str(host.root / "stats.conf")]
    words += ["--host", "web1", "--interval", "1"]
    with (host.root / "log").open("ab") as log:
        return subprocess.run(words, env=host.environment(), cwd=host.root, stderr=log, timeout=PATIENCE_S, check=False).returncode


@under_every_shell
def test_the_token_is_guarded(host: Host) -> None:
    host.stats("emit_linux emit 0.2 5")
    host.token_file.chmod(0o644)
    refused = host.command("run")
    assert refused.returncode == 1
    assert "chmod 600" in refused.stderr
    host.token_file.chmod(0o600)
    host.write_token("")
    assert "is empty" in host.command("run").stderr
    host.write_token("wrong-token")
    checked = host.command("check")
    assert checked.returncode == 1
    assert "REFUSES THE TOKEN for host web1: 401 unknown token" in checked.stdout
    host.run()
    host.wait_for(lambda: "does not know this token: unknown token" in host.log, "a clear word")
    # A token file that is away for a moment does not end the agent.
    host.token_file.rename(host.root / "elsewhere")
    host.wait_for(lambda: "cannot ship: cannot read the token file" in host.log, "word of the missing file")
    # A new token is taken up without a restart, and nothing of either is ever in an argument list. A slow answer makes sure that
    # a transfer is seen.
    host.server.fail_next("slow")
    host.write_token(host.server.token)
    seen: set[str] = set()

    def look() -> bool:
        seen.update(host.processes().values())
        # On a busy machine the slow answer may pass unseen; the requests after it are looked at, too.
        return host.received("emit_linux") > 20_000 and any("request.pl" in line for line in seen)

    host.wait_for(look, "bytes with the new token, and a transfer")
    assert not any(host.server.token in line or "wrong-token" in line for line in seen)
    assert host.command("check").returncode == 0
    assert host.stop(signal.SIGTERM) == 0
    host.assert_exact()
    for path in host.spool.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


@under_every_shell
def test_the_client_of_a_database_gets_our_statements_and_ends_with_us(host: Host) -> None:
    # The words are the options of psql; the file is the value of -f.
    client = '#!/bin/sh\nprintf \'%s|\' "$@"\necho\nwhile [ "$1" != -f ]; do shift; done\ntail -n 1 "$2"\n'
    host.tool("psql", client + "trap '' HUP\nwhile :; do sleep 1; done\n")
    host.tool("mysql", "#!/bin/sh\nprintf '%s|' \"$@\"\necho\nsed -n 's/^select unix/read unix/p'\n")
    host.stats(
        "postgresql query 10 psql 'service=orders passfile=/etc/with blank' -p 5433",
        "mysql query 2 mysql --defaults-file=my.cnf",
        "oracle query 60 sqlplus -S me/secret@db",
    )
    host.command("start")
    host.wait_for_bytes("postgresql", 100)
    host.wait_for_bytes("mysql", 200)
    printed = next(iter(host.server.data("postgresql").values())).decode().splitlines()
    options, last = printed[:2]
    assert options.startswith("-X|-q|-A|-t|-v|ON_ERROR_STOP=1|-v|every=10|-f|")
    assert options.endswith("/query.postgresql.sql|service=orders passfile=/etc/with blank|-p|5433|")
    assert last == "\\watch :every"
    lines = next(iter(host.server.data("mysql").values())).decode().splitlines()
    assert lines[0].isdigit()
    assert lines[1:3] == ["--defaults-file=my.cnf|-B|-N|-f|", "read unix_timestamp(now(6));"]
    assert lines[3].isdigit()
    log = (host.spool / "agent.log").read_text()
    assert "line 3: no password here: it belongs to the file of the client" in log
    assert host.command("stop").returncode == 0
    host.assert_nothing_left_behind()
