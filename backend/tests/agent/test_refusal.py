"""What a server will not take: set aside, counted, told as a gap, and never in the way of the rest."""

import signal

from tests.agent.conftest import under_every_shell
from tests.agent.fake_server import Frame
from tests.agent.host import Host, send_signal


@under_every_shell
def test_refused_bytes_are_set_aside_and_the_rest_goes_on(host: Host) -> None:
    host.stats("emit_linux emit 0.2 20", "odd_linux @1 echo odd")
    n_refused = 0

    def refuse_first_odd(frames: list[Frame], n_plain: int) -> int | None:
        nonlocal n_refused
        if n_refused < 3 and any(frame.spec == "odd_linux" and frame.kind == "stream" for frame in frames):
            n_refused += 1
            return 400
        return None

    host.server.rule = refuse_first_odd
    host.run()
    # Refused together with the others, refused alone: then it is that stream's bytes that are meant. The third is a second try.
    host.wait_for(lambda: list(host.spool.glob("refused/odd_linux.*")), "bytes set aside")
    host.wait_for_bytes("emit_linux", 20_000)
    host.wait_for(lambda: any(stream.spec == "odd_linux" and stream.gaps for stream in host.server.streams.values()), "the gap")
    host.wait_for(lambda: n_refused == 3 and any(b"odd" in data for data in host.server.data("odd_linux").values()), "later bytes")
    status = host.command("status")
    assert status.returncode == 1
    assert "refused  " in status.stdout
    host.end_exactly()
    # What was set aside and what the server has are together what the tool wrote, at the offsets that the gap names.
    for key, stream in host.server.streams.items():
        if stream.spec == "odd_linux":
            whole = bytearray(stream.data)
            for begin, end, reason in stream.gaps:
                assert reason == "refused by the server: 400"
                whole[begin:end] = (host.spool / "refused" / f"{key}.{begin}").read_bytes()
            assert bytes(whole) == (host.spool / f"{key}.raw").read_bytes()


@under_every_shell
def test_the_counts_of_loss_can_be_read_at_any_moment(host: Host) -> None:
    """They are written again with every answer: nobody who looks meanwhile may see half of them, or none."""
    host.stats("emit_linux emit 0.05 60", "odd_linux @1 echo odd")
    host.server.rule = lambda frames, n_plain: 400 if any(frame.spec == "odd_linux" for frame in frames) else None
    host.run()
    host.wait_for(lambda: list(host.spool.glob("refused/odd_linux.*")), "bytes set aside")
    host.wait_for(lambda: "refused_chunks=0" not in state(host), "the count")
    seen = {state(host) for _ in range(20_000)}
    assert all(text.endswith("bad_lines=0\npace=1\nio_note=\n") for text in seen), seen
    host.stop()


def state(host: Host) -> str:
    return (host.spool / "agent.state").read_text()


@under_every_shell
def test_a_stream_that_is_refused_altogether_stays_on_the_host_and_is_left_alone(host: Host) -> None:
    host.stats("emit_linux emit 0.2 20", "odd_linux @1 echo odd")
    host.server.rule = lambda frames, n_plain: 422 if any(frame.spec == "odd_linux" for frame in frames) else None
    host.run()
    host.wait_for(lambda: list(host.spool.glob("*.refused")), "a stream that is not sent any more")
    n_requests = len(host.server.requests)
    host.wait_for_bytes("emit_linux", 10_000 + host.received("emit_linux"))
    assert "refused even the gap report" in host.log
    assert not any(frame.spec == "odd_linux" for request in host.server.requests[n_requests + 1 :] for frame in request.frames)
    assert "no longer sent" in host.command("status").stdout
    host.end_exactly()


@under_every_shell
def test_too_large_halves_the_request(host: Host) -> None:
    host.stats("emit_linux emit 30 2000")
    host.server.rule = lambda frames, n_plain: 413 if n_plain > 20_000 else None
    host.run("--max-body", "128K")
    host.wait_for_bytes("emit_linux", 100_000)
    assert "wants smaller requests: 16384 bytes" in host.log
    host.end_exactly()
    assert not (host.spool / "refused").exists()


@under_every_shell
def test_a_server_that_disagrees_about_offsets_stops_nothing(host: Host) -> None:
    """The server claims more than there is; then it never takes the end of a file."""
    host.stats("emit_linux emit 0.5 5")
    host.run()
    host.wait_for_bytes("emit_linux", 1)
    first = next(iter(host.server.streams))
    host.server.acknowledge = lambda key, offset: 99_999_999_999_999 if key == first else offset
    host.wait_for((host.spool / "refused" / f"{first}.raw").exists, "the file aside")
    host.wait_for(lambda: len(host.server.streams) >= 2, "a new stream")
    assert f"{first}: the server has 99999999999999 bytes of it" in host.log
    # An old stream whose end the server does not take: after five answers it is set aside and the host is rid of the file.
    second = next(key for key in host.server.streams if key != first)
    host.server.hold[second] = 0
    raw = host.spool / f"{second}.raw"
    host.wait_for(lambda: raw.stat().st_size > len(host.server.streams[second].data) + 500, "bytes that are not taken")
    for pid in host.tool_processes("emit"):
        send_signal(pid, signal.SIGTERM)
    host.wait_for(lambda: "ended by signal TERM" in host.log, "word of the tool's end")
    host.wait_for(lambda: host.server.streams[second].gaps, "the gap")
    host.wait_for(lambda: not raw.exists(), "the end of the file")
    assert list(host.spool.glob(f"refused/{second}.*"))
    assert host.stop() == 0
