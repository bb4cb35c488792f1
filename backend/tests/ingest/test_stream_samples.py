"""Lines are moved to the rejected ones once, whatever hangs on them."""

from normstat.ingest.stream_samples import NO_TIME_REASON, TOO_MANY_INSTANCES_REASON, Refused, StreamReader, StreamResult
from normstat.samples.table_plan import TablePlan
from normstat.stats.catalogue import require_spec
from normstat.stats.records import NO_TIMING, LineKind

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
