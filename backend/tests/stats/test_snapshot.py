"""Rules of snapshots (files of /proc, top and others that print the present state), each with the smallest text that shows it."""

import datetime as dt

import pytest

from normstat.stats.catalogue import require_spec
from normstat.stats.engine.snapshot import MAX_GATHERED, named_file
from normstat.stats.readers import read
from normstat.stats.records import NO_TIME, ReadResult, Timing
from tests.stats.reading import guessed, read_pieces, rows_of_result

SECOND_US = 1_000_000
PRESSURE = b"some avg10=0.00 avg60=0.00 avg300=0.00 total=%d\n"
TOP = b"top - %s up 2 min,  2 users,  load average: 0.55, 0.24, 0.09\n%%Cpu(s):  3.1 us,  3.1 sy\n"


def us(text: str) -> int:
    return round(dt.datetime.fromisoformat(text).timestamp() * SECOND_US)


def read_spec(name: str, data: bytes, timing: Timing | None = None) -> ReadResult:
    return read(require_spec(name), data, state={}, offset=0, is_final=True, timing=timing or Timing())


def times(result: ReadResult, stat: str) -> list[int]:
    return [row.time_us for row in rows_of_result(result) if row.stat == stat]


def test_the_clock_of_top_is_of_the_day_that_is_known_and_passes_midnight() -> None:
    data = TOP % b"23:59:58" + TOP % b"00:00:03"
    result = read_spec("top_linux", data, Timing(date=dt.date(2026, 11, 21)))
    assert times(result, "top_linux_tasks") == [us("2026-11-21T23:59:58+00:00"), us("2026-11-22T00:00:03+00:00")]
    assert set(times(read_spec("top_linux", data), "top_linux_tasks")) == {NO_TIME}


@pytest.mark.parametrize(
    "stamp", [b"1795262401", b"Sat Nov 21 12:00:01 UTC 2026", b"zzz ***Sat Nov 21 13:00:01 CET 2026"], ids=["epoch", "date", "zzz"]
)
def test_a_stamp_before_top_holds_and_its_clock_only_counts_on(stamp: bytes) -> None:
    """The epoch is in UTC and top's clock in the zone of the host: five seconds later is five seconds later."""
    data = stamp + b"\n" + TOP % b"13:00:02" + TOP % b"13:00:07"
    noon = us("2026-11-21T12:00:01+00:00")
    assert times(read_spec("top_linux", data), "top_linux_tasks") == [noon, noon + 5 * SECOND_US]


def test_an_instant_from_elsewhere_is_that_of_the_first_report_of_top() -> None:
    start = us("2026-11-21T12:00:00+00:00")
    data = TOP % b"07:00:00" + TOP % b"07:00:10"
    assert times(read_spec("top_linux", data, Timing(start_us=start)), "top_linux_tasks") == [start, start + 10 * SECOND_US]


def test_the_first_report_of_each_call_of_top_has_no_cpu_time_of_now() -> None:
    data = b"1795262401\n" + TOP % b"12:00:01" + TOP % b"12:00:06" + b"1795262431\n" + TOP % b"12:00:31" + TOP % b"12:00:36"
    rows = [row for row in rows_of_result(read_spec("top_linux", data)) if row.stat == "top_linux_cpu"]
    assert [row.is_since_boot for row in rows] == [True, False, True, False]


def test_what_a_process_has_is_a_sample_in_the_first_report_too_but_for_its_cpu_time() -> None:
    data = (
        TOP % b"12:00:01" + b"\n  PID USER PR NI VIRT RES SHR S %CPU %MEM TIME+ COMMAND\n 7 root 20 0 9 5 1 S 50.0 0.1 0:01.00 sh\n"
    )
    rows = [row for row in rows_of_result(read_spec("top_linux", data)) if row.stat == "top_linux_process"]
    assert [(row.is_since_boot, "cpu_pct" in dict(row.columns)) for row in rows] == [(False, False), (True, True)]


def test_a_number_that_top_cut_is_missing() -> None:
    data = b"KiB Mem : 13180787+total,  1206840 free\n"
    row = rows_of_result(read_spec("top_linux", data))[0]
    assert [(key, missing) for (key, _), missing in zip(row.columns, row.missing, strict=True)] == [
        ("mem_total_kib", True),
        ("mem_free_kib", False),
    ]


def test_an_instance_that_comes_again_begins_the_next_report() -> None:
    timing = Timing(start_us=us("2026-11-21T12:00:00+00:00"), interval_us=5 * SECOND_US)
    result = read_spec("psi_linux", PRESSURE % 1 + PRESSURE % 2 + PRESSURE % 3, timing)
    first = timing.start_us or 0
    assert times(result, "psi_linux") == [first, first + 5 * SECOND_US, first + 10 * SECOND_US]


def test_a_row_of_many_lines_is_of_the_stamp_before_it_however_it_comes() -> None:
    data = b"1795262401\nnr_dirty 1\nnr_mapped 2\n1795262411\nnr_dirty 3\n"
    expected = [(1795262401 * SECOND_US, 11), (1795262411 * SECOND_US, 45)]
    for pieces in ([data], [data[:25], data[25:]], data.splitlines(keepends=True)):
        rows = read_pieces(require_spec("proc_vmstat"), pieces).rows
        assert [(row.time_us, row.offset) for row in rows] == expected


def test_a_snapshot_has_an_end_however_many_names_come() -> None:
    data = b"".join(b"name_%d 1\n" % number for number in range(MAX_GATHERED + 10))
    result = read_spec("proc_vmstat", data)
    assert len(result.rejected) == 10
    assert [len(block.fields) for block in result.blocks] == [MAX_GATHERED]


def test_a_counter_beyond_63_bits_is_missing_and_its_line_is_not_lost() -> None:
    data = b"TcpExt: TCPTimeouts ListenDrops\nTcpExt: 18446744073709551615 7\n"
    row = rows_of_result(read_spec("proc_net_netstat", data))[0]
    assert (row.values[1], row.missing, row.printed) == (7, (True, False), "18446744073709551615 7")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("==> /proc/pressure/cpu <==", "/proc/pressure/cpu"),
        ("[root@db1 ~]# cat /proc/meminfo", "/proc/meminfo"),
        ("user@host:~$ head -3 /sys/fs/cgroup/a.slice/cpu.pressure", "/sys/fs/cgroup/a.slice/cpu.pressure"),
        ("# psi", ""),
        ("# something else", None),
        ("some text", None),
        ("12.5% of it", None),
    ],
)
def test_files_and_prompts_are_known(text: str, name: str | None) -> None:
    assert named_file(text, "psi") == name


@pytest.mark.parametrize(
    ("spec", "data"),
    [
        ("ps_linux", b"PID USER COMMAND\n1 root init\n"),
        ("top_linux", b"PID USER S COMMAND\n1 root S init\n"),
        ("top_linux", b"PID USER %CPU COMMAND\n1 root x init\n"),
        ("proc_net_sockstat", b"TCP:\n"),
    ],
)
def test_a_row_without_numbers_is_refused(spec: str, data: bytes) -> None:
    result = read_spec(spec, data)
    assert not result.blocks
    assert len(result.rejected) == 1


def test_a_table_of_nothing_but_shares_has_no_sample_in_the_first_report() -> None:
    result = read_spec("top_linux", b"PID USER %CPU COMMAND\n1 root 5.0 init\n")
    assert (result.blocks, len(result.since_boot)) == ((), 1)


def test_the_screens_of_top_in_a_recorded_session() -> None:
    """Without -b it goes home for each screen, on the line on which the one before ended, and leaves out lines that stay."""
    end = "\x1b(B\x1b[m\x1b[39;49m\x1b[K"
    head = "top - 10:00:0{0} up 1 day,  1:00,  1 user,  load average: 0.10, 0.20, 0.30"
    row = "   1000 app       20   0 2000000 100000   8000 S  {0}.0   1.0  62:03.00 java"
    columns = "    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND"
    first = "\x1b[?1h\x1b=\x1b[H\x1b[2J" + f"{end}\r\n".join([head.format(1), "", f"\x1b[7m{columns}", row.format(11)])
    second = "\x1b[J\x1b[H" + f"{end}\r\n".join([head.format(4), "", "", row.format(22)])
    text = f"Script started on 2026-11-28\n[root@web1 ~]# top\r\n{first}{second}{end}\x1b[?25h\r\n[root@web1 ~]# exit\r\n".encode()
    spec = require_spec("top_linux")
    assert guessed(text) == spec.name
    result = read(spec, text, state={}, offset=0, is_final=True, timing=Timing(date=dt.date(2026, 11, 28)))
    assert not result.rejected
    assert sum(result.accounts.n_bytes.values()) == len(text)
    rows = [row for row in rows_of_result(result) if row.stat == "top_linux_process" and not row.is_since_boot]
    cpu = [dict(zip([key for key, _ in row.columns], row.values, strict=True)).get("cpu_pct") for row in rows]
    assert (len(rows), cpu[-1]) == (2, 22.0)
    assert rows[1].time_us - rows[0].time_us == 3_000_000
