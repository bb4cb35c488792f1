"""Tools that are called again and again: `@10 mpstat 5 2` of the agent, and the `zzz` lines of OSWatcher."""

import re
from collections import Counter
from dataclasses import replace

import pytest

from normstat.stats.catalogue import require_spec
from normstat.stats.engine.times.calls import OWN_EPOCH, interval_in_command
from normstat.stats.readers import read
from normstat.stats.readers.tabular.patterns import PatternsLayout
from normstat.stats.records import NO_TIME, ReadResult
from tests.golden_captures import Capture, captures, first_of_each_spec
from tests.stats.reading import Row, read_pieces, rows_of_result

FIRST_S, SECOND_S = 1795305600, 1795305660
MICRO = 1_000_000


def read_calls(spec: str, command: str, *outputs: str) -> ReadResult:
    """What is read of calls 60 s apart."""
    text = "".join(f"{FIRST_S + 60 * number}\n{output}" for number, output in enumerate(outputs))
    return read(require_spec(spec), text.encode(), state={}, offset=0, is_final=True, command=command)


def seconds_after(rows: list[Row]) -> list[float]:
    """When the samples are, in seconds after the first call."""
    return [row.time_us / MICRO - FIRST_S for row in rows if not row.is_since_boot]


@pytest.mark.parametrize(
    ("command", "tool", "seconds"),
    [
        ("@10 mpstat 5 2", "mpstat", 5.0),
        ("@10 /usr/bin/mpstat 5 2", "mpstat", 5.0),
        ("@60 mpstat -P 0 5 2", "mpstat", 5.0),
        ("@60 mpstat -P 0", "mpstat", None),
        ("@60 iostat -xn 5 2", "iostat", 5.0),
        ("@60 iostat -xn -l 3 5 2", "iostat", 5.0),
        ("@60 iostat -xn", "iostat", None),
        ("@60 pidstat -p 4711 1 3", "pidstat", 1.0),
        ("@60 pidstat -p 4711", "pidstat", None),
        ("@60 prstat -m -n 5 2 3", "prstat", 2.0),
        ("@60 prstat -m -n 5", "prstat", None),
        ("@60 zpool iostat -v 0.5 2", "zpool", 0.5),
        ("@60 top -b -n 2 -d 5", "top", 5.0),
        ("@60 top -b -n 2 -d0.5", "top", 0.5),
        ("@60 top -b -n 2", "top", None),
        ("@60 timeout 20 vmstat 5", "vmstat", 5.0),
        ("@60 sh -c 'vmstat 5 2'", "vmstat", 5.0),
        ("@60 sh -c 'vmstat 5 2; df 1'", "vmstat", 5.0),
        ("@60 vmstat 5 2 2>/dev/null", "vmstat", 5.0),
        ("@60 plockstat -e 5 -p 4711", "plockstat", None),
        ("@60 time sleep 5", "time", None),
        ("@60 vmstat 0 2", "vmstat", None),
        ("@60 app 5 2", "vmstat", None),
    ],
)
def test_the_interval_is_known_from_the_command(command: str, tool: str, seconds: float | None) -> None:
    assert interval_in_command(command, tool) == seconds


MPSTAT = "CPU minf mjf xcal  intr ithr  csw icsw migr smtx  srw syscl  usr sys  wt idl\n"
MPSTAT_ROW = "  0 {minf:4d}   0  141   526  310  612   14   31    9    0  1512    4   2   0  94\n"


def mpstat(*minf: int) -> str:
    return "".join(MPSTAT + MPSTAT_ROW.format(minf=number) for number in minf)


VMSTAT = (
    "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n"
    " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
)
VMSTAT_ROW = " {r}  0      0 402312 267968 846360    0    0  1444  4554  647 1297 34  8 57  1  0\n"
IOSTAT = (
    "                    extended device statistics              \n"
    "    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device\n"
    "{r:7.1f}    0.0    3.0    0.0  0.0  0.0    0.0    1.2   0   0 c0t0d0\n"
)


def vmstat(*runnable: int) -> str:
    return VMSTAT + "".join(VMSTAT_ROW.format(r=number) for number in runnable)


def iostat(*reads: float) -> str:
    return "".join(IOSTAT.format(r=number) for number in reads)


@pytest.mark.parametrize(
    ("spec", "command", "calls", "seconds"),
    [
        ("mpstat_solaris", "@60 mpstat 5 3", [mpstat(999, 1, 2), mpstat(998, 3, 4)], [5, 10, 65, 70]),
        ("vmstat_linux", "@60 vmstat 2 3", [vmstat(9, 1, 2), vmstat(9, 3, 4)], [2, 4, 62, 64]),
        # Without the report since boot it prints after its first interval.
        ("vmstat_linux", "@60 vmstat -y 2 2", [vmstat(1, 2), vmstat(3, 4)], [2, 4, 62, 64]),
        ("iostat_solaris", "@60 iostat -xn 5 3", [iostat(999, 1, 2), iostat(999, 3, 4)], [5, 10, 65, 70]),
    ],
)
def test_every_call_begins_with_the_report_since_boot(spec: str, command: str, calls: list[str], seconds: list[float]) -> None:
    result = read_calls(spec, command, *calls)
    rows = rows_of_result(result)
    assert [row.values[0] for row in rows if not row.is_since_boot] == [1, 2, 3, 4]
    assert sum(row.is_since_boot for row in rows) == (0 if " -y " in command else 2)
    assert seconds_after(rows) == seconds
    assert not result.rejected


def test_a_call_with_one_report_has_no_sample() -> None:
    result = read_calls("mpstat_solaris", "@60 mpstat", mpstat(999), mpstat(998))
    assert (sum(map(len, result.blocks)), sum(map(len, result.since_boot))) == (0, 2)
    assert not result.rejected


def test_a_tool_that_prints_the_epoch_itself_is_called_only_where_the_agent_called_it() -> None:
    text = "".join(
        f"{start}\n" + "".join(f"{start + number}\n{mpstat(100 * number)}" for number in range(3)) for start in (FIRST_S, SECOND_S)
    )
    result = read(require_spec("mpstat_solaris"), text.encode(), state={}, offset=0, is_final=True, command="@60 mpstat -T u 1 3")
    rows = rows_of_result(result)
    assert [row.values[0] for row in rows] == [0, 100, 200, 0, 100, 200]
    assert [row.is_since_boot for row in rows] == [True, False, False] * 2
    assert seconds_after(rows) == [1, 2, 61, 62]


def test_a_call_that_takes_longer_than_its_interval_is_one_call() -> None:
    """`@2 mpstat -T u 5 3`: the tool's second epoch is more than 2 s after the agent's."""
    text = "".join(
        f"{start}\n" + "".join(f"{start + 5 * number}\n{mpstat(100 * number)}" for number in range(3))
        for start in (FIRST_S, FIRST_S + 11)
    )
    result = read(require_spec("mpstat_solaris"), text.encode(), state={}, offset=0, is_final=True, command="@2 mpstat -T u 5 3")
    assert seconds_after(rows_of_result(result)) == [5, 10, 16, 21]


def test_osw_calls_of_every_reader_begin_with_the_report_since_boot() -> None:
    """prstat, zpool iostat -w and others knew the agent's epochs but not the lines of OSWatcher."""
    capture = next(one for one in captures() if one.spec == "prstat_solaris" and rows_of_result(one.result())[0].is_since_boot)
    data = b"".join(b"zzz ***Sat Nov 21 12:0%d:00 UTC 2026\n" % number + capture.data for number in range(2))
    result = read(require_spec(capture.spec), data, state={}, offset=0, is_final=True)
    once = capture.result()
    assert sum(map(len, result.since_boot)) == 2 * sum(map(len, once.since_boot))


def test_a_counter_that_looks_like_an_epoch_is_data_where_the_spec_has_such_rows() -> None:
    spec = require_spec("proc_loadavg")
    assert isinstance(spec.layout, PatternsLayout)
    row = spec.layout.rows[0]
    odd = replace(spec, layout=replace(spec.layout, rows=(replace(row, pattern=re.compile(r"(?P<one>\d+)")),)))
    text = f"{FIRST_S}\n1234567890\n{SECOND_S}\n1234567891\n"
    result = read(odd, text.encode(), state={}, offset=0, is_final=True, command="@60 cat /sys/x")
    rows = rows_of_result(result)
    assert [row.values[0] for row in rows] == [1234567890, 1234567891]
    assert seconds_after(rows) == [0, 60]


@pytest.mark.parametrize(("spec", "command"), [("mpstat_solaris", "@60 mpstat 5 3"), ("mpstat_solaris", "@60 mpstat -T u 5 3")])
def test_calls_are_the_same_in_any_pieces(spec: str, command: str) -> None:
    """Large enough for the bulk path, and cut into pieces that are read line by line."""
    has_epochs = "-T u" in command
    lines: list[str] = []
    for begin in range(FIRST_S, FIRST_S + 60 * 20, 60):
        lines.append(f"{begin}\n")
        for number in range(3):
            lines += [f"{begin + 5 * number}\n"] if has_epochs else []
            lines += [MPSTAT, MPSTAT_ROW.format(minf=number), MPSTAT_ROW.format(minf=10 + number).replace("  0 ", "  1 ", 1)]
    text = "".join(lines).encode()
    whole = read_pieces(require_spec(spec), [text], command)
    cut = read_pieces(require_spec(spec), [line.encode() for line in lines], command)
    assert whole.rows == cut.rows
    assert (whole.rejected, whole.n_lines, whole.state) == (cut.rejected, cut.n_lines, cut.state)
    assert sum(not row.is_since_boot for row in whole.rows) == 20 * 2 * 2


# Epochs of the tool's own are those of the recording, not of these calls; tests above are about them.
# What exporters sent, and archives, have their own times: a second time, it is known and skipped.
TIMED = {"prometheus", "pmdumplog", "collectd", "netdata"}
ALL = [capture for capture in captures() if OWN_EPOCH.search(capture.command()) is None and capture.spec not in TIMED]


TIME = re.compile(rb"\d:\d\d:\d\d")


@pytest.mark.parametrize("capture", first_of_each_spec(ALL))
def test_a_second_call_gives_what_the_first_one_gave(capture: Capture) -> None:
    """Every capture as the output of two calls: the same samples again, a minute later, and no other line is rejected.

    Sums by command are left out: processes without a time have none.
    """
    spec = require_spec(capture.spec)
    summaries = {stat.name for stat in spec.stats if stat.summary_of}
    command = capture.command()
    data = capture.data.removesuffix(b"\n") + b"\n"
    once = read(spec, data, state={}, offset=0, is_final=True, command=command)
    command = command if command.startswith("@") else f"@60 {command}"
    data = b"%d\n%s%d\n%s" % (FIRST_S, data, SECOND_S, data)
    result = read(spec, data, state={}, offset=0, is_final=True, command=command)
    epochs = {line.text for line in result.rejected} & {str(FIRST_S), str(SECOND_S)}
    assert not epochs
    rows = [row for row in rows_of_result(result) if row.stat not in summaries]
    assert not any(FIRST_S in row.values or SECOND_S in row.values for row in rows)
    middle = data.index(b"%d\n" % SECOND_S)
    first = [row for row in rows if row.offset < middle]
    second = [row for row in rows if row.offset > middle]
    names = [[(row.stat, row.instance, row.columns, row.values, row.is_since_boot) for row in some] for some in (first, second)]
    assert Counter(names[0]) == Counter(names[1])
    alone = [row for row in rows_of_result(once) if row.stat not in summaries]
    assert len(first) == len(alone)
    if not TIME.search(data) and all(row.time_us == NO_TIME for row in alone):
        # Rows without a time of their own are of their call; reports after the first one have no known time without an interval.
        assert not first or first[0].time_us >= FIRST_S * MICRO
        for before, after in zip(first, second, strict=True):
            assert after.time_us - before.time_us == (0 if before.time_us == NO_TIME else 60 * MICRO)
    assert Counter(line.reason for line in result.rejected) == Counter(line.reason for line in once.rejected for _ in range(2))


@pytest.mark.parametrize(
    "stamp",
    [
        "17952624{:02d}", "Sat Nov 21 13:00:{:02d} CET 2026", "--- Sa 21. Nov 13:00:{:02d} CET 2026 ---", "13:00:{:02d}",
        "Sat Nov 21 13:00:{:02d} IST 2026",
    ],
)  # fmt: skip
def test_times_before_calls_of_several_reports_begin_runs(stamp: str) -> None:
    """`while date; do iostat -xn 5 2; done`: the first report of each call covers the time since boot."""
    text = "".join(f"{stamp.format(at)}\n{iostat(999, at)}" for at in (10, 20, 30))
    result = read(require_spec("iostat_solaris"), text.encode(), state={}, offset=0, is_final=True)
    assert [block.values[0].tolist() for block in result.blocks] == [[10.0, 20.0, 30.0]]


def test_times_that_the_tool_prints_before_its_reports_begin_no_runs() -> None:
    text = "".join(f"17952624{at}\n{iostat(at)}" for at in (10, 20, 30))
    result = read(require_spec("iostat_solaris"), text.encode(), state={}, offset=0, is_final=True)
    assert [block.values[0].tolist() for block in result.blocks] == [[20.0, 30.0]]


def test_an_epoch_before_the_first_call_of_a_tracer_is_its_time_and_no_count() -> None:
    text = b"1141207200\n\n  amqrmppa      15918\n  java           7865\n\n1141207210\n\n  amqrmppa      15000\n"
    (block,) = read(require_spec("dtrace"), text, state={}, offset=0, is_final=True).blocks
    assert list(block.instances) == ["amqrmppa", "java", "amqrmppa"]
    assert [time_us // 1_000_000 for time_us in block.time_us.tolist()] == [1141207200, 1141207200, 1141207210]


def test_the_second_run_of_plockstat_has_its_own_time() -> None:
    run = "\nCount      nsec Lock      Caller\n-----\n78    69427 libc.so.1`libc_malloc_lock  libzip.so`deflateBytes+0x29c\n\n\n"
    text = f"1795305600\n{run}1795305660\n{run}".encode()
    result = read(require_spec("plockstat"), text, state={}, offset=0, is_final=True)
    assert not result.rejected
    assert [time_us // 1_000_000 for time_us in result.blocks[0].time_us.tolist()] == [1795305600, 1795305660]
