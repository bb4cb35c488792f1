"""Lines are moved to the rejected ones once, whatever hangs on them."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from normstat.ingest import stream_samples
from normstat.ingest.stream_samples import (
    NO_TIME_REASON,
    READER_FAILED_REASON,
    TOO_MANY_INSTANCES_REASON,
    Refused,
    StreamReader,
    StreamResult,
    fill_unseen_text,
)
from normstat.samples.chunks import unpack_body
from normstat.samples.table_plan import TablePlan
from normstat.stats.catalogue import require_spec
from normstat.stats.readers import read
from normstat.stats.records import NO_TIMING, LineKind, ReadResult, State
from tests.golden_captures import captures
from tests.stats.proc_snapshots import pids, stat_line

DISTRIBUTION = "      nsec ---- Time Distribution ---- count Stack\n"
LINE = "{} (sh) S 1 1 1 0 -1 0 0 0 0 0 {} 0 0 0 20 0 1 0 100 4096 10 0 0\n"


def read_pids(text: str, refused: Refused | None = None) -> StreamResult:
    spec = require_spec("proc_pid_linux")
    plan = TablePlan([spec], {})
    reader = StreamReader(
        spec,
        plan,
        host_id=1,
        command="",
        timing=NO_TIMING,
        start=0,
        state={},
        n_lines_before=0,
        refused={} if refused is None else refused,
    )
    return reader.read(text.encode(), is_final=True)


def read_in_pieces(spec_name: str, pieces: Sequence[bytes]) -> tuple[Counter[LineKind], Counter[LineKind], list[int]]:
    """Each piece as a request: lines and bytes by kind, and the offsets of rejected lines. The state goes through JSON."""
    spec = require_spec(spec_name)
    n_lines, n_bytes, rejected = Counter[LineKind](), Counter[LineKind](), []
    state: State = {}
    behind = rest = b""
    for number, piece in enumerate(pieces):
        data = rest + piece
        start = len(behind)
        reader = StreamReader(
            spec,
            TablePlan([spec], {}),
            host_id=1,
            command="",
            timing=NO_TIMING,
            start=start,
            state=state,
            n_lines_before=n_lines.total(),
        )
        result = reader.read(data, is_final=number + 1 == len(pieces))
        fill_unseen_text(result, 0, behind)
        behind += data[: result.end - start]
        rest = data[result.end - start :]
        state = json.loads(json.dumps(result.state))
        n_lines.update(result.n_lines)
        n_bytes.update(result.n_bytes)
        rejected += [line.offset for line in result.rejected]
    return +n_lines, +n_bytes, sorted(rejected)


@pytest.mark.parametrize("spec", ["plockstat", "lockstat", "livetest_solaris"])
def test_a_line_whose_later_rows_come_in_another_request_is_rejected_once(spec: str) -> None:
    """The stack below a lock, or the text below a state, names the line above it. Without a time neither has a sample."""
    for capture in captures():
        if capture.spec == spec:
            data = re.sub(
                rb"(?m)^Overall current state is (\w+) at:.*$",
                rb"Overall current state is \1 at: Wed Jul 99 00:12:32 1998",
                capture.data,
            )
            whole = read_in_pieces(spec, [data])
            assert read_in_pieces(spec, data.splitlines(keepends=True)) == whole
            assert len(set(whole[2])) == len(whole[2])


def test_a_line_that_its_reader_rejects_after_a_row_is_rejected_once() -> None:
    """A bucket with a frame too many."""
    frames = "".join(f"                                        frame{number}\n" for number in range(256))
    bucket = "      1024 |@@@@                           1         one_more\n"
    text = f"Count     nsec Lock                         Caller\n   78    69427 a_lock   a_caller\n{DISTRIBUTION}{frames}{bucket}"
    n_lines, n_bytes, rejected = read_in_pieces("plockstat", [text.encode()])
    assert n_bytes.total() == len(text)
    assert n_lines[LineKind.SAMPLE] == 256
    assert len(rejected) == len(set(rejected)) == n_lines[LineKind.REJECTED] == 2


def snapshots(*times: str) -> str:
    return "".join(
        f"{time}==> /proc/uptime <==\n{100 + 5 * at}.00 0.00\n==> /proc/7/stat <==\n{LINE.format(7, at)}"
        for at, time in enumerate(times)
    )


def test_a_line_with_rows_of_two_stats_is_rejected_once() -> None:
    """Without a time neither the process nor its command has a sample."""
    text = snapshots("", "")
    result = read_pids(text)
    assert sorted((line.line_no, line.reason) for line in result.rejected) == [(4, NO_TIME_REASON), (8, NO_TIME_REASON)]
    assert (result.n_lines[LineKind.SAMPLE], result.n_lines[LineKind.REJECTED]) == (0, 2)
    assert result.n_bytes.total() == len(text)
    assert result.blocks == []


def test_a_sum_that_is_refused_leaves_the_lines_of_its_processes() -> None:
    text = snapshots("1795305600\n", "1795305605\n")
    result = read_pids(text, {"linux_command": frozenset({"sh"})})
    assert {block.stat.name for block in result.blocks} == {"linux_process"}
    assert (result.rejected, result.n_lines[LineKind.REJECTED]) == ([], 0)
    refused = read_pids(text, {"linux_process": frozenset({"7/sh"})})
    assert {block.stat.name for block in refused.blocks} == {"linux_command"}
    assert [line.reason for line in refused.rejected] == [TOO_MANY_INSTANCES_REASON] * 2


def test_a_reader_that_fails_rejects_its_lines_and_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    states: list[State] = []

    def fail_once(*given: Any, **named: Any) -> ReadResult:
        states.append(named["state"])
        if len(states) == 1:
            raise KeyError("1")
        return read(*given, **named)

    monkeypatch.setattr(stream_samples, "read", fail_once)
    spec = require_spec("proc_pid_linux")
    state: State = {"owed": "what it failed on"}
    reader = StreamReader(
        spec, TablePlan([spec], {}), host_id=1, command="", timing=NO_TIMING, start=100, state=state, n_lines_before=7
    )  # fmt: skip
    text = f"1790000000\n{LINE.format(1, 0)}{LINE.format(2, 0)}".encode()
    result = reader.read(text + b"17900")
    assert (result.end, result.n_lines[LineKind.REJECTED], result.n_bytes[LineKind.REJECTED]) == (100 + len(text), 3, len(text))
    assert [(line.offset, line.line_no, line.reason) for line in result.rejected][:2] == [
        (100, 8, READER_FAILED_REASON), (111, 9, READER_FAILED_REASON),
    ]  # fmt: skip
    assert b"".join(unpack_body(chunk.body) for chunk in result.chunks) == text
    result = reader.read(pids(5, stat_line(1, "init")).encode() + pids(10, stat_line(1, "init")).encode())
    assert (states[:2], sum(map(len, result.blocks)) > 0, result.n_lines[LineKind.REJECTED]) == ([state, {}], True, 3)
