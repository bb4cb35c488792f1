"""Every byte of the spool reaches the server, once and in order, whatever fails in between."""

import signal

import pytest

from tests.agent.conftest import under_every_shell
from tests.agent.host import Host


# 9 failures and as many good answers between them, one a second; then two kills.
@pytest.mark.slow
@pytest.mark.timeout(120)
@under_every_shell
def test_every_byte_arrives_once_through_failures_kills_and_restarts(host: Host) -> None:
    host.stats("emit_linux emit 0.2 20")
    host.server.stop()
    host.run()
    host.wait_for(lambda: "cannot ship" in host.log, "a refused connection")
    # A good answer between two failures, or the pauses would grow to a minute.
    for failure in ("503", "hang up", "401", "lose the answer", "slow", "429 retry 1", "403", "408", "404"):
        host.server.fail_next(failure, "")
    host.server.start()
    host.wait_for(lambda: not host.server.failures, "the end of the failures")
    host.wait_for_bytes("emit_linux", 1)
    host.wait_for(lambda: "accepts data again" in host.log, "the good news")
    # kill -9, and again while an old stream waits: the rest of an old file is sent by the next agent.
    for _ in range(2):
        host.kill()
        n_before = len(host.server.data("emit_linux"))
        host.run()
        host.wait_for(lambda n=n_before: len(host.server.data("emit_linux")) > n, "a new stream")  # type: ignore[misc]
    assert "left behind" in host.log
    # A server that lost the end of what it had (restored from a backup) says so, and gets it again.
    newest = max(host.server.streams, key=lambda key: host.server.streams[key].command and key)
    with host.server._lock:
        data = host.server.streams[newest].data
        del data[data.rfind(b"\n", 0, len(data) // 2) + 1 :]
    host.wait_for(lambda: "going back" in host.log, "going back")
    host.end_exactly()
    assert all(path.stat().st_size == host.acknowledged()[path.stem] for path in host.raw_files())


def test_it_comes_back_no_sooner_than_the_server_says(host: Host) -> None:
    host.stats("emit_linux emit 0.2 20")
    host.run("--interval", "1")
    host.wait_for_bytes("emit_linux", 1)
    # An overloaded server: the second answer is behind a proxy that says nothing useful, and the agent's own pauses hold.
    host.server.fail_next("503 retry 3", "503 retry soon", "")
    host.wait_for(lambda: not host.server.failures, "the end of the failures")
    host.wait_for(lambda: "accepts data again" in host.log, "the good news")
    assert host.stop() == 0
    statuses = [request.status for request in host.server.requests]
    first = statuses.index(503)
    assert statuses[first + 1] == 503
    times = [request.at for request in host.server.requests]
    assert times[first + 1] - times[first] >= 3
    assert times[first + 2] - times[first + 1] >= 2
    host.assert_exact()


@under_every_shell
def test_a_long_file_is_followed_by_a_new_stream_and_deleted_when_the_server_has_it(host: Host) -> None:
    host.stats("emit_linux emit 0.2 60")
    host.run("--max-file", "20K")
    host.wait_for(lambda: len(host.server.data("emit_linux")) >= 4, "the fourth stream")
    host.calm()
    host.wait_for(lambda: len(host.raw_files()) <= 2, "the old files' end")
    assert host.stop(signal.SIGINT) == 0
    host.assert_exact()
    host.assert_nothing_left_behind()
    assert not any(stream.gaps for stream in host.server.streams.values())


# The pauses after failures grow while the spool fills.
@pytest.mark.slow
@pytest.mark.timeout(120)
@under_every_shell
def test_what_falls_out_of_a_full_spool_is_the_oldest_and_reported_to_the_byte(host: Host) -> None:
    host.stats("emit_linux emit 0.2 60")
    host.run("--max-file", "30K", "--spool-limit", "100K")
    # What the server has of the first file is not lost.
    host.wait_for_bytes("emit_linux", 1)
    host.server.stop()
    host.wait_for(lambda: host.log.count("gave up") >= 3, "files that are given up")
    assert sum(host.raw_sizes()) < 300_000
    host.calm()
    host.server.start()
    host.wait_for(lambda: any(stream.gaps for stream in host.server.streams.values()), "word of the loss")
    host.wait_for(lambda: not list(host.spool.glob("*.gap")), "all words of loss")
    host.wait_for(lambda: sum(1 for stream in host.server.streams.values() if not stream.gaps) >= 2, "whole streams")
    assert host.stop(signal.SIGHUP) == 0
    host.assert_nothing_left_behind()
    host.assert_exact()
    gaps = [gap for stream in host.server.streams.values() for gap in stream.gaps]
    assert all("spool limit of 100 KiB reached" in reason for _, _, reason in gaps)
    status = host.command("status")
    assert status.returncode == 3
    assert f"dropped  {sum(end - begin for begin, end, _ in gaps)} bytes" in status.stdout


@under_every_shell
def test_a_full_spool_is_freed_of_what_the_server_has_before_anything_unsent_is_given_up(host: Host) -> None:
    """The file that the tool writes to has more acknowledged bytes than the spool may hold."""
    host.stats("emit_linux emit 0.2 60")
    host.run("--max-file", "1M", "--spool-limit", "100K")
    host.wait_for(lambda: sum(host.acknowledged().values()) > 70_000, "most of a spool that the server has")
    host.server.stop()
    host.wait_for(lambda: "that the server has" in host.log, "freed bytes")
    host.calm()
    assert "gave up" not in host.log
    # A server that lost what it had acknowledged cannot get it again.
    key = next(path.stem for path in host.spool.glob("*.freed"))
    freed = int((host.spool / f"{key}.freed").read_text())
    with host.server._lock:
        del host.server.streams[key].data[freed // 2 :]
    host.server.start()
    host.wait_for(lambda: bool(host.server.streams[key].gaps), "word of the loss")
    host.wait_for(lambda: not list(host.spool.glob("*.freed")), "the end of the old file")
    assert host.stop() == 0
    host.assert_exact()
    assert [(begin, end) for begin, end, _ in host.server.streams[key].gaps] == [(freed // 2, freed)]


@under_every_shell
def test_a_line_cut_off_by_the_tools_end_is_sent_and_marked_so_that_no_reader_takes_it(host: Host) -> None:
    host.stats("emit_linux emit 1 3 cut")
    host.run()
    host.wait_for(lambda: len(host.server.data("emit_linux")) >= 2, "two runs of a tool that ends in the middle of a line")
    host.end_exactly()
    assert all(data.endswith(b"<normstat-agent: line cut off here>\n") for data in host.server.data("emit_linux").values())
    assert "ended with status 3" in host.log


@under_every_shell
def test_a_backlog_is_sent_without_pauses_in_requests_of_bounded_size_and_fairly(host: Host) -> None:
    # Half a megabyte waits and one request takes 64 KiB: they follow each other without a pause.
    host.stats("emit_linux emit 60 8000", "slow_linux @1 echo hello")
    host.server.stop()
    host.run("--max-body", "64K", "--interval", "5")
    host.wait_for(lambda: max(host.raw_sizes(), default=0) > 500_000, "a backlog")
    host.server.start()
    host.wait_for_bytes("emit_linux", 500_000)
    host.end_exactly()
    taken = [request for request in host.server.requests if request.status == 200]
    assert all(request.n_plain <= 64 * 1024 + 500 for request in taken)
    # Fair shares: the small stream did not have to wait for the end of the large one.
    first = next(n for n, request in enumerate(taken) if any(frame.spec == "slow_linux" for frame in request.frames))
    last = max(n for n, request in enumerate(taken) if any(frame.spec == "emit_linux" for frame in request.frames))
    assert first < last
