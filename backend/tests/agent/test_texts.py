"""ask and put: what a host allows, what is sent, and what waits, under every shell and by every transport."""

import os
import random
import re
import signal
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.agent.conftest import require_program, under_every_shell
from tests.agent.fake_server import FakeServer
from tests.agent.host import CUT_OFF, Host
from tests.agent.test_transports import FEW_TOOLS, certificate, tls_server, use_only

__all__ = ["certificate", "tls_server"]  # fixtures


QUESTION: Final = "Who holds the lock?\n100 % of \N{LATIN SMALL LETTER U WITH DIAERESIS} & 'x' \\ +/=~_.-`id`$(id)"
DTRACE: Final = "dtrace -n 'syscall:::entry { @[execname] = count(); } tick-10s { exit(0); }'"


def put(host: Host, text: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        host.arguments("put", options), input=text, env=host.environment(), cwd=host.root, capture_output=True, check=False
    )


def waiting(host: Host) -> list[str]:
    return sorted(path.name for path in (host.spool / "artefacts").glob("*.out"))


@under_every_shell
def test_a_pipe_becomes_an_artefact_byte_for_byte(host: Host) -> None:
    text = random.Random(1).randbytes(100_000) + b"\n\x00no newline at the end"
    done = put(host, text, "--question", QUESTION, "--title", "T", "--command", DTRACE, "--spec", "dtrace_aggregations")
    assert done.returncode == 0, done
    assert done.stderr.endswith(b"/artefacts/1\n")
    [sent] = host.server.texts
    assert sent.body == text
    assert {name: sent.query[name] for name in ("host", "question", "title", "command", "spec")} == {
        "host": "web1", "question": QUESTION, "title": "T", "command": DTRACE, "spec": "dtrace_aggregations",
    }  # fmt: skip
    for name in ("start", "end", "taken"):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", sent.query[name])
    assert not list((host.spool / "artefacts").iterdir())
    host.assert_nothing_left_behind()


@under_every_shell
def test_a_command_runs_only_if_the_host_allows_it(host: Host) -> None:
    host.tool("truss", '#!/bin/sh\necho "out of $*"\necho "calls of $*" >&2\nexit 3\n')
    host.tool("lockstat", '#!/bin/sh\necho "locks of $*"\n')
    host.stats("x emit 1 1", f"ask {DTRACE}", "ask truss -c -p *", "ask lockstat -o - sleep *", "ask * -x", "ask lockstat 'a  b'")
    host.tool("dtrace", '#!/bin/sh\nprintf "%s|" "$@"\n')
    done = host.command("ask", "--question", "why", "truss -c -p 4711")
    assert (done.returncode, done.stdout) == (0, "out of -c -p 4711\n"), done
    assert "the command ended with status 3" in done.stderr
    # Several words are quoted as the line of stats.conf has them.
    done = host.command("ask", "dtrace", "-n", DTRACE.split("'")[1])
    assert done.returncode == 0, done
    assert host.command("ask", "lockstat", "-o", "-", "sleep", "10").returncode == 0
    assert [(sent.body, sent.query["exit_status"]) for sent in host.server.texts] == [
        (b"calls of -c -p 4711\n", "3"), (b"-n|" + DTRACE.split("'")[1].encode() + b"|", "0"), (b"locks of -o - sleep 10\n", "0"),
    ]  # fmt: skip
    assert host.server.texts[0].query["command"] == "truss -c -p 4711"
    # What a pattern allows: agents/tests/functions.sh.
    for denied in ("truss -c -p 1;id", "truss -c -p $(id)", "truss -c -p 1\nid", "id -x", "emit 1 1"):
        done = host.command("ask", denied)
        assert (done.returncode, "does not allow" in done.stderr) == (1, True), (denied, done)
    assert len(host.server.texts) == 3
    assert host.command("ask").stdout.splitlines()[1:] == [
        f"    {DTRACE}", "    truss -c -p *", "    lockstat -o - sleep *", "    * -x", "    lockstat 'a  b'",
    ]  # fmt: skip
    host.stats("x emit 1 1", "ask timeout * truss -p *")
    host.tool("timeout", '#!/bin/sh\nshift\n"$@"\nexit 124\n')
    assert host.command("ask", "timeout 10 truss -p 1").returncode == 0
    assert (host.server.texts[-1].body, host.server.texts[-1].query["exit_status"]) == (b"calls of -p 1\n", "124")
    host.assert_nothing_left_behind()


@under_every_shell
def test_what_the_server_cannot_take_now_waits_for_the_agent(host: Host) -> None:
    host.stats("emit_linux emit 1 1")
    host.server.stop()
    for text in (b"one\n", b"two\n"):
        done = put(host, text)
        assert (done.returncode, b"the text is kept in" in done.stderr) == (0, True), done
    assert len(waiting(host)) == 2
    assert "texts    2 of ask and put wait for the server" in host.command("status").stdout
    host.server.start()
    host.server.text_failures.extend([503])
    # The next put sends its own first: it is told to wait, and so they all do.
    assert b"the server answered 503" in put(host, b"three\n").stderr
    host.run()
    host.wait_for(lambda: len(host.server.texts) == 3, "the texts")
    host.wait_for(lambda: not waiting(host), "the end of waiting")
    assert sorted(sent.body for sent in host.server.texts) == [b"one\n", b"three\n", b"two\n"]
    assert put(host, b"four\n").returncode == 0
    assert host.stop() == 0
    host.assert_nothing_left_behind()
    assert not list((host.spool / "artefacts").iterdir())


@under_every_shell
def test_evidence_is_taken_once_as_an_episode_begins(host: Host) -> None:
    """The server names the episodes; the host's own lines decide what runs."""
    host.tool("lockstat", '#!/bin/sh\necho "locks: $*"\necho run >>"$HOME/runs"\n')
    host.tool("truss", '#!/bin/sh\necho out\necho "calls: $*" >&2\nexit 3\n')
    host.stats(
        "emit_linux emit 1 1", "when disk-slow,mutex lockstat sleep 10", "when * truss -c ls", "when swap lockstat never", "ask ls"
    )
    assert "when     disk-slow,mutex: lockstat sleep 10 (" in host.command("check").stdout
    host.server.begun = "17/mutex 18/$(touch pwned) 19/never-heard-of"
    host.run()
    host.wait_for(lambda: bool(host.server.requests), "a request")
    assert not host.server.texts
    host.server.begun = "17/mutex"
    host.wait_for(lambda: len(host.server.texts) == 2, "the evidence")
    # Named again, it is the same; another that begins at once gets nothing of a line that has just run.
    host.server.begun = "20/mutex 17/mutex"
    n_requests = len(host.server.requests)
    host.wait_for(lambda: len(host.server.requests) > n_requests + 3, "more requests")
    assert [(sent.body, sent.query["exit_status"]) for sent in host.server.texts] == [
        (b"locks: sleep 10\n", "0"), (b"calls: -c ls\n", "3"),
    ]  # fmt: skip
    for sent, command in zip(host.server.texts, ("lockstat sleep 10", "truss -c ls"), strict=True):
        asked = {name: sent.query[name] for name in ("host", "command", "title", "episode")}
        assert asked == {"host": "web1", "command": command, "title": "When mutex began", "episode": "17"}
        assert sent.query["start"] <= sent.query["end"]
    assert host.stop() == 0
    assert (host.root / "runs").read_text() == "run\n"
    assert not (host.root / "pwned").exists()
    # After a restart the episodes are still known.
    host.run()
    n_requests = len(host.server.requests)
    host.wait_for(lambda: len(host.server.requests) > n_requests + 2, "requests of the next agent")
    assert host.stop() == 0
    assert len(host.server.texts) == 2
    host.assert_nothing_left_behind()


def test_evidence_that_does_not_end_is_cut_off_with_the_agent(host: Host) -> None:
    host.tool("lockstat", "#!/bin/sh\necho begun\nexec sleep 600\n")
    host.stats("emit_linux emit 1 1", "when mutex lockstat sleep 10")
    host.server.begun = "17/mutex"
    host.run()
    parts = host.spool / "artefacts"
    host.wait_for(lambda: any(path.stat().st_size for path in parts.glob("*.part")), "the command")
    assert host.stop() == 0
    host.assert_nothing_left_behind()
    host.server.begun = ""
    host.run()
    host.wait_for(lambda: bool(host.server.texts), "what it had printed")
    assert host.server.texts[0].body == b"begun\n" + CUT_OFF
    assert host.server.texts[0].query["episode"] == "17"
    assert host.stop() == 0


def test_without_an_agent_the_next_put_sends_what_waits(host: Host) -> None:
    host.server.text_failures.extend([401])
    assert b"does not know this token" in put(host, b"one\n").stderr
    assert put(host, b"two\n").returncode == 0
    assert [sent.body for sent in host.server.texts] == [b"two\n", b"one\n"]


@under_every_shell
def test_a_final_refusal_is_set_aside_and_shown(host: Host) -> None:
    host.server.text_failures.extend([400, 413])
    for text in (b"one\n", b"two\n"):
        done = put(host, text)
        assert (done.returncode, b"the server refused the text" in done.stderr) == (1, True), done
    assert not waiting(host)
    shown = host.command("status").stdout
    assert "texts    2 refused by the server; kept in" in shown
    refused = host.spool / "artefacts" / "refused"
    kept = [path.read_bytes() for path in refused.iterdir() if path.suffix not in {".why", ".query"}]
    assert sorted(kept) == [b"one\n", b"two\n"]
    assert {path.read_text() for path in refused.glob("*.why")} == {
        "the server answered 400: as asked\n",
        "the server answered 413: as asked\n",
    }


def test_limits_are_told_before_anything_is_kept(host: Host) -> None:
    done = put(host, b"x" * 5000, "--max-text", "4K")
    assert (done.returncode, b"longer than 4 KiB (--max-text)" in done.stderr) == (1, True), done
    assert b"the text is empty" in put(host, b"").stderr
    assert b"too long: " in put(host, b"x\n", "--question", "%" * 3000).stderr
    host.server.stop()
    assert put(host, b"x" * 3000, "--spool-limit", "4K").returncode == 0
    assert b"more than half of --spool-limit" in put(host, b"y", "--spool-limit", "4K").stderr
    host.stats("x emit 1 1", "ask false", "ask nothing_here", "ask quiet")
    host.tool("quiet", "#!/bin/sh\necho trouble >&2\nexit 1\n")
    for command, said in {"quiet": "there is nothing to keep", "nothing_here": "no program nothing_here"}.items():
        asked = host.command("ask", command)
        assert (asked.returncode, said in asked.stderr) == (1, True), asked
    assert len(waiting(host)) == 1


@under_every_shell
def test_a_killed_ask_leaves_no_command_behind_and_its_text_is_sent(host: Host) -> None:
    host.tool("tracer", '#!/bin/sh\necho "first line"\nprintf half\nwhile :; do sleep 1; done\n')
    host.stats("x emit 1 1", "ask tracer")
    ask = subprocess.Popen(
        host.arguments("ask", ["tracer"]),
        env=host.environment(), cwd=host.root, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    host.wait_for(lambda: any(path.read_bytes().endswith(b"half") for path in host.spool.glob("artefacts/*.part")), "some output")
    ask.send_signal(signal.SIGKILL)
    ask.wait()
    host.assert_nothing_left_behind()
    assert put(host, b"next\n").returncode == 0
    assert [sent.body for sent in host.server.texts] == [b"next\n", b"first line\nhalf <normstat-agent: line cut off here>\n"]
    assert not list((host.spool / "artefacts").iterdir())


def test_an_interrupt_ends_the_command_and_keeps_what_it_says(host: Host) -> None:
    """As Ctrl-C does, which goes to all of a terminal's programs."""
    host.tool(
        "counter", "#!/bin/sh\ntrap 'echo 42 calls; exit 0' INT\necho >\"$NORMSTAT_TEST_HOST/ready\"\nwhile :; do sleep 0.1; done\n"
    )
    host.stats("x emit 1 1", "ask counter")
    ask = subprocess.Popen(
        host.arguments("ask", ["counter"]), env=host.environment(), cwd=host.root, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    host.wait_for((host.root / "ready").exists, "the command")
    os.killpg(ask.pid, signal.SIGINT)
    out, err = ask.communicate(timeout=60)
    assert (ask.returncode, out) == (0, b"42 calls\n"), err
    assert [sent.body for sent in host.server.texts] == [b"42 calls\n"]


@pytest.mark.parametrize("transport", ["curl", "wget", "perl", "openssl"])
def test_every_transport_sends_texts(host: Host, tls_server: FakeServer, certificate: Path, transport: str) -> None:
    require_program(transport)
    text = random.Random(2).randbytes(3_000_000)
    if transport == "openssl":
        host.server.stop()
        host.server = tls_server
    options = ("--transport", transport, *(("--ca-file", str(certificate)) if transport == "openssl" else ()))
    done = put(host, text, *options, "--question", QUESTION)
    assert done.returncode == 0, done
    [sent] = host.server.texts
    assert (sent.body, sent.query["question"], sent.headers["content-encoding"]) == (text, QUESTION, "identity")


def test_neither_text_nor_token_is_in_an_argument_list(host: Host) -> None:
    curl = require_program("curl")
    host.tool("curl", f'#!/bin/sh\necho "$0 $*" >>"$NORMSTAT_TEST_HOST/arguments"\nexec {curl} "$@"\n')
    use_only(host, *(tool for tool in FEW_TOOLS if tool != "curl"), "printf", "ps")
    assert put(host, b"secret text\n", "--transport", "curl").returncode == 0
    said = (host.root / "arguments").read_text()
    assert "secret" not in said
    assert host.server.token not in said
    assert {path.stat().st_mode & 0o077 for path in (host.spool / "artefacts").rglob("*")} <= {0}


def test_a_file_is_sent_with_its_name(host: Host) -> None:
    (host.root / "locks 1.txt").write_bytes(b"Adaptive mutex spin: 1\n")
    done = host.command("put", "--start", "2026-11-21T10:00:00Z", "locks 1.txt")
    assert done.returncode == 0, done
    [sent] = host.server.texts
    assert (sent.query["name"], sent.query["start"], "end" in sent.query) == ("locks 1.txt", "2026-11-21T10:00:00Z", False)
    assert host.command("put", "missing.txt").returncode == 1
    assert host.command("put", "a", "b").returncode == 2
