"""What other programs put before every line is found once, taken off, and read as the time if it is one."""

from collections.abc import Callable

import pytest

from normstat.stats.catalogue import require_spec
from normstat.stats.readers import read
from normstat.stats.records import NO_TIME, Timing
from tests.stats.reading import guessed, read_pieces, rows_of_result

VMSTAT = """\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 1  0      0 2427120 1011084 22658204    0    0     4     6    3    5  3  1 96  0  0
 2  0      0 2427100 1011084 22658204    0    0     0    12  300  500  4  1 95  0  0
 3  0      0 2427090 1011084 22658204    0    0     0    13  301  501  5  1 94  0  0
"""
IOSTAT = """\
Linux 5.15.0 (web1) \t09/29/25 \t_x86_64_\t(16 CPU)

Device            r/s     rkB/s  %util
dm-0             9.00      8.00   0.01

Device            r/s     rkB/s  %util
dm-0             2.00      8.00   0.01
"""
MPSTAT = """\
Linux 5.15.0 (web1) \t09/29/25 \t_x86_64_\t(2 CPU)

15:22:10     CPU    %usr    %sys   %idle
15:22:11     all    2.00    0.50   94.50
15:22:12     all    3.00    0.50   93.50
"""
FREE = """\
              total        used        free      shared  buff/cache   available
Mem:       16265120           2     9876543       12345     5154010    14700000

              total        used        free      shared  buff/cache   available
Mem:       16265120           3     9876543       12345     5154010    14700000
"""
SAMPLES = {"vmstat_linux": VMSTAT, "iostat_linux": IOSTAT, "mpstat_linux": MPSTAT, "free_linux": FREE}
TIMES = {
    "date in brackets, glued": "[2025-09-29 15:22:{:02}]",
    "date in brackets": "[2025-09-29 15:22:{:02}] ",
    "ISO date": "2025-09-29 15:22:{:02} ",
    "fraction": "2025-09-29 15:22:{:02}.000000 ",
    "slashes": "09/29/2025 15:22:{:02} ",
    "date": "Mon Sep 29 17:22:{:02} CEST 2025 ",
    "date and colon": "Mon 29 Sep 2025 15:22:{:02} UTC: ",
    "epoch": "17591593{:02} ",
    "epoch with fraction": "17591593{:02}.000000 ",
    "journal": "2025-09-29T15:22:{:02}+0000 web1 mon.sh[1234]: ",
    "short-unix": "17591593{:02}.000000 web1 mon.sh[1234]: ",
    "Kubernetes": "[pod/mon-a/mon] 2025-09-29T15:22:{:02}.000000000Z ",
    "epoch in milliseconds": "17591593{:02}000 ",
    "level": "2025-09-29 15:22:{:02},000 [INFO] ",
    "GitLab": "2025-09-29T15:22:{:02}.000000Z 00O ",
    "Heroku": "2025-09-29T15:22:{:02}.000000+00:00 app[web.1]: ",
    "RFC 5424": "<13>1 2025-09-29T15:22:{:02}.000Z web1 mon 12 - - ",
    "basic": "20250929T1522{:02}Z ",
    "basic day": "20250929 15:22:{:02} ",
    "Apache": "[29/Sep/2025:15:22:{:02} +0000] ",
    "bar": "Mon Sep 29 15:22:{:02} 2025 | ",
    "compose": "mon-1  | 2025-09-29T15:22:{:02}.000000000Z ",
}
YEARLESS = {"ts": "Sep 29 15:22:{:02} ", "syslog": "<13>Sep 29 15:22:{:02} web1 mon[12]: ", "clock in brackets": "[15:22:{:02}]"}
NAMES = {
    "compose without times": "mon-1  | ",
    "pdsh": "web1: ",
    "logger": "mon[12]: ",
    "fabric": "[web1] out: ",
    "parallel": "web1\t",
    "seconds since boot": "[ 123.4567{:02}] ",
}
# The first sample is on the fourth line, the epoch 1759159310 at 15:21:50.
FIRST_S = 1759159333


def before(prefix: str, text: str) -> bytes:
    is_epoch = prefix.startswith("17591593")
    return "".join(f"{prefix.format(at + (30 if is_epoch else 10))}{line}\n" for at, line in enumerate(text.splitlines())).encode()


def values_of(spec: str, data: bytes, timing: Timing) -> list[tuple[object, ...]]:
    result = read(require_spec(spec), data, state={}, offset=0, is_final=True, timing=timing)
    assert not result.rejected
    return [(row.stat, row.is_since_boot, row.instance, row.columns, row.values) for row in rows_of_result(result)]


@pytest.mark.parametrize("spec", SAMPLES)
@pytest.mark.parametrize("prefix", [*TIMES.values(), *YEARLESS.values(), *NAMES.values()], ids=[*TIMES, *YEARLESS, *NAMES])
def test_lines_with_a_prefix_are_read_like_those_without(spec: str, prefix: str) -> None:
    data = before(prefix, SAMPLES[spec])
    assert guessed(data) == spec
    assert values_of(spec, data, Timing()) == values_of(spec, SAMPLES[spec].encode(), Timing())
    lines = data.splitlines(keepends=True)
    assert read_pieces(require_spec(spec), lines) == read_pieces(require_spec(spec), [data])


@pytest.mark.parametrize("prefix", TIMES.values(), ids=TIMES)
def test_the_time_before_a_row_is_its_time(prefix: str) -> None:
    result = read(require_spec("vmstat_linux"), before(prefix, VMSTAT), state={}, offset=0, is_final=True)
    assert [row.time_us // 1_000_000 for row in rows_of_result(result)] == [FIRST_S - 1, FIRST_S, FIRST_S + 1]


@pytest.mark.parametrize("prefix", YEARLESS.values(), ids=YEARLESS)
def test_a_time_without_a_year_needs_a_day(prefix: str) -> None:
    """The banner of iostat names one; vmstat has none."""
    data = before(prefix, VMSTAT)
    result = read(require_spec("vmstat_linux"), data, state={}, offset=0, is_final=True)
    assert {row.time_us for row in rows_of_result(result)} == {NO_TIME}
    result = read(require_spec("iostat_linux"), before(prefix, IOSTAT), state={}, offset=0, is_final=True)
    assert [row.time_us // 1_000_000 for row in rows_of_result(result)] == [FIRST_S, FIRST_S + 3]


def test_december_before_a_banner_of_january_is_of_the_year_before() -> None:
    text = IOSTAT.replace("09/29/25", "01/01/26").replace("Device", "Device", 1)
    result = read(require_spec("iostat_linux"), before("Dec 31 23:59:{:02} ", text), state={}, offset=0, is_final=True)
    assert [row.time_us // 1_000_000 for row in rows_of_result(result)] == [1767225553, 1767225556]


@pytest.mark.parametrize(
    "change",
    [lambda text: before("15:22:{:02} ", text), lambda text: before("17591593{:02} ", text)],
    ids=["clock", "epoch"],
)
def test_a_plain_clock_is_told_from_that_of_the_tool(change: Callable[[str], bytes]) -> None:
    own = values_of("mpstat_linux", MPSTAT.encode(), Timing())
    assert values_of("mpstat_linux", change(MPSTAT), Timing()) == own


def test_a_header_that_begins_with_a_word_of_no_column_is_not_accepted() -> None:
    """An agent's lines have no prefix: all disks would become one."""
    text = before("<18:01:{:02}>", IOSTAT.partition("\n\n")[2])
    result = read(require_spec("iostat_linux"), text, state={}, offset=0, is_final=True, timing=Timing(is_live=True))
    assert not result.blocks
    assert not result.since_boot


def test_stress_ng_prints_no_report_since_boot() -> None:
    text = "stress-ng: info:  [30142] dispatching hogs: 1440 cpu\n" + "".join(
        f"stress-ng: info:  [30142] vmstat: {line}\n" for line in VMSTAT.splitlines()[1:]
    )
    assert guessed(text.encode()) == "vmstat_linux"
    result = read(require_spec("vmstat_linux"), text.encode(), state={}, offset=0, is_final=True)
    assert [row.values[0] for row in rows_of_result(result) if not row.is_since_boot] == [1, 2, 3]


def test_lines_before_the_first_one_with_a_prefix_are_read_as_they_are() -> None:
    """A time alone on its line has the form of a prefix."""
    row = "sda 1.00 2.00 3.00 4.00 5.00 6.00\n"
    stamped = "".join(f"2026-11-21 10:00:00\t{line}\n" for line in ("a", "b", "c"))
    text = f"2026-11-21T12:00:01Z\nDevice r/s w/s rkB/s wkB/s aqu-sz %util\n{row}{stamped}".encode()
    reading = read_pieces(require_spec("iostat_linux"), [text])
    assert [row.time_us for row in reading.rows] == [1795262401000000]
    assert reading == read_pieces(require_spec("iostat_linux"), text.splitlines(keepends=True))
