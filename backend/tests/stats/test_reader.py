"""Single rules of the reader, each with the smallest text that shows it."""

import datetime as dt

import pytest

from normstat.errors import BadRequest
from normstat.stats.catalogue import require_spec
from normstat.stats.engine import reader_state, shared_text
from normstat.stats.engine.line_engine import LINE_LIMIT
from normstat.stats.readers import read
from normstat.stats.readers.tabular import columns
from normstat.stats.records import NO_TIME, ReadResult, Timing
from tests.stats.reading import read_pieces, rows_of_result

VMSTAT = (
    b"procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n"
    b" r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
)
VMSTAT_T = (
    b"procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----\n"
    b" r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st %19s\n"
)
ROW = b" 1  0      0 402312 267968 846360    0    0  1444  4554  647 1297 34  8 57  1  1"
MPSTAT = b"CPU minf mjf xcal  intr ithr  csw icsw migr smtx  srw syscl  usr sys  wt idl\n"
CPU = b"  0    0   0    0   329  121  169    6    0    0    0   406    0   1   0  98\n"


def us(text: str) -> int:
    return round(dt.datetime.fromisoformat(text).timestamp() * 1_000_000)


def vmstat(data: bytes, command: str = "vmstat 1", zone: str | None = None) -> ReadResult:
    return read(require_spec("vmstat_linux"), data, state={}, offset=0, command=command, timing=Timing(zone=zone))


def times(result: ReadResult) -> list[int]:
    return [row.time_us for row in rows_of_result(result)]


def test_first_report_is_since_boot_unless_the_command_leaves_it_out() -> None:
    data = VMSTAT + ROW + b"\n" + ROW + b"\n"
    assert [row.is_since_boot for row in rows_of_result(vmstat(data))] == [True, False]
    assert [row.is_since_boot for row in rows_of_result(vmstat(data, command="vmstat -n -yt 1"))] == [False, False]


def test_a_value_that_does_not_convert_rejects_the_row() -> None:
    result = vmstat(VMSTAT + ROW + b"\n" + ROW.replace(b"402312", b"402312x") + b"\n")
    assert sum(map(len, result.blocks)) == 0
    assert [(line.line_no, line.reason) for line in result.rejected] == [
        (4, "column free: '402312x' is not a number that it can hold")
    ]


def test_a_row_of_too_few_values_is_not_shifted() -> None:
    result = vmstat(VMSTAT + ROW + b"\n" + ROW[:-3] + b"\n")
    assert [line.reason for line in result.rejected] == ["16 values for 17 columns"]


def test_unfinished_line_is_left() -> None:
    data = VMSTAT + ROW
    result = vmstat(data)
    assert result.n_taken == len(VMSTAT)
    assert not result.rejected


@pytest.mark.parametrize("piece", [1 << 20, 700_000, 3_000_000])
def test_endless_line_is_taken_in_bounded_pieces(piece: int) -> None:
    spec = require_spec("vmstat_linux")
    junk = b"x" * (5 << 20)
    data = VMSTAT + junk + b"\n" + ROW + b"\n"
    reading = read_pieces(spec, [data[at : at + piece] for at in range(0, len(data), piece)])
    assert len(reading.rows) == 1
    assert [line.reason for line in reading.rejected] == ["line longer than 1 MiB"]
    assert len(reading.rejected[0].text) <= 2000
    assert reading.n_lines["rejected"] == 1
    assert reading.n_bytes["rejected"] == len(junk) + 1


def test_offset_advances_within_an_endless_line() -> None:
    spec = require_spec("vmstat_linux")
    first = read(spec, b"y" * (LINE_LIMIT + 1), state={}, offset=0)
    assert first.n_taken == LINE_LIMIT + 1
    second = read(spec, b"y" * 10, state=first.state, offset=first.n_taken)
    assert second.n_taken == 10
    third = read(spec, b"\n" + VMSTAT + ROW + b"\n", state=second.state, offset=first.n_taken + 10, is_final=True)
    assert len(rows_of_result(third)) == 1
    assert first.rejected
    assert not third.rejected


def test_unknown_column_becomes_an_undocumented_field() -> None:
    header = VMSTAT.replace(b" wa st\n", b" wa st %new\n")
    rows = b"".join(ROW + tail + b"\n" for tail in (b" 1.5", b" 2.5", b" 10.25"))
    result = vmstat(header + rows)
    (block,) = result.blocks
    field = block.fields[-1]
    assert (field.key, field.decimals, field.is_documented) == ("new_pct", 1, False)
    assert block.values[-1].tolist() == [2.5, 10.25]
    assert list(block.printed) == [1]
    assert block.printed[1].endswith(" 10.25")


def test_zone_of_a_header_is_used_and_never_guessed() -> None:
    def one(zone_name: bytes, zone: str | None = None) -> int:
        data = VMSTAT_T % zone_name + (ROW + b" 2026-07-01 12:00:00\n") * 2
        return times(vmstat(data, zone=zone))[1]

    assert one(b"UTC") == us("2026-07-01T12:00:00+00:00")
    assert one(b"PDT") == us("2026-07-01T19:00:00+00:00")
    assert one(b"+0530") == us("2026-07-01T06:30:00+00:00")
    assert one(b"IST") == NO_TIME
    assert one(b"IST", zone="Asia/Kolkata") == us("2026-07-01T06:30:00+00:00")


def test_unknown_zone_is_refused() -> None:
    with pytest.raises(BadRequest, match="Mars/Olympus"):
        vmstat(b"", zone="Mars/Olympus")


def mpstat_linux(clocks: list[str], date: dt.date | None = None, banner: bytes = b"") -> list[int]:
    parts = [banner, b"\n%s     CPU    %%usr    %%sys   %%idle\n" % clocks[0].encode()]
    parts += [f"{clock}     all    1.00    2.00   97.00\n".encode() for clock in clocks[1:]]
    return times(read(require_spec("mpstat_linux"), b"".join(parts), state={}, offset=0, timing=Timing(date=date)))


def test_clock_passes_midnight() -> None:
    found = mpstat_linux(["23:59:58", "23:59:59", "00:00:00", "00:00:01"], dt.date(2026, 12, 31))
    assert found == [us(f"{text}+00:00") for text in ("2026-12-31T23:59:59", "2027-01-01T00:00:00", "2027-01-01T00:00:01")]


@pytest.mark.parametrize("back", ["12:59:57", "12:00:00", "11:00:01"])
def test_clock_that_is_set_back_is_not_midnight(back: str) -> None:
    found = mpstat_linux(["12:59:59", "13:00:00", back], dt.date(2026, 11, 21))
    assert found[1] == us(f"2026-11-21T{back}+00:00")


@pytest.mark.parametrize(
    "clocks", [["06:00:00", "06:00:01", "23:00:00"], ["00:00:01", "00:20:01", "19:10:01"], ["00:00:01", "23:59:59"]]
)
def test_long_pause_within_a_day_is_not_the_day_before(clocks: list[str]) -> None:
    found = mpstat_linux(clocks, dt.date(2026, 11, 21))
    assert found[-1] == us(f"2026-11-21T{clocks[-1]}+00:00")


def test_a_pause_until_an_earlier_clock_ends_on_the_next_day() -> None:
    found = mpstat_linux(["20:00:00", "20:00:01", "15:00:01"], dt.date(2026, 11, 21))
    assert found[1] == us("2026-11-22T15:00:01+00:00")


def test_clock_that_is_set_back_across_midnight_shows_the_day_before() -> None:
    found = mpstat_linux(["23:59:58", "23:59:59", "00:00:03", "23:59:58", "00:00:04"], dt.date(2026, 11, 21))
    days = ("2026-11-21T23:59:59", "2026-11-22T00:00:03", "2026-11-21T23:59:58", "2026-11-22T00:00:04")
    assert found == [us(f"{text}+00:00") for text in days]


def test_clock_without_any_date_is_no_time() -> None:
    assert mpstat_linux(["12:00:00", "12:00:01"]) == [NO_TIME]


def test_banner_names_the_day_before_the_option_does() -> None:
    banner = b"Linux 6.1.0 (host1) \t2026-11-21 \t_x86_64_\t(1 CPU)\n"
    assert mpstat_linux(["12:00:00", "12:00:01"], dt.date(1999, 1, 1), banner) == [us("2026-11-21T12:00:01+00:00")]


def test_stamp_dates_one_report_only() -> None:
    data = b"1795262400\n" + MPSTAT + CPU + b"1795262401\n" + MPSTAT + CPU + MPSTAT + CPU
    result = read(require_spec("mpstat_solaris"), data, state={}, offset=0)
    assert times(result) == [1795262400_000000, 1795262401_000000, NO_TIME]


def test_iostat_rows_behind_a_damaged_header_are_rejected() -> None:
    """Without the header of the CPU shares, their numbers must not become those of a device called 1.00."""
    device = b"Device             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn\n"
    report = b"avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n           1.00    0.00    1.00    0.00    0.00   98.00\n\n"
    damaged = report.replace(b"avg-cpu:", b"avg-c\xff:")
    row = b"sda               1.00         2.00         3.00          4          5\n\n"
    result = read(require_spec("iostat_linux"), (report + device + row) * 2 + damaged + device + row, state={}, offset=0)
    assert [block.stat.name for block in result.blocks] == ["iostat_linux", "iostat_linux_cpu"]
    assert {name for block in result.blocks for name in block.instances} == {"", "sda"}
    assert len(result.rejected) == 2


def test_command_with_blanks_is_one_name() -> None:
    text = (
        b"# Time        UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command\n"
        b"1795262401      0         7    0.00    0.33    0.00    0.00    0.33     4  my  worker (x) \n"
        b"1795262401      0         8    0.00    0.33    0.00    0.00    0.33     4  caf\xc3\xa9\xc2\xa0bar\n"
    )
    for least in (0, 1 << 60):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(columns, "MIN_BULK_BYTES", least)
            result = read(require_spec("pidstat_linux"), text, state={}, offset=0)
        assert [row.instance for row in rows_of_result(result)] == ["7/my  worker (x)", "8/café\u00a0bar"]


def test_state_stays_small_when_instances_never_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_state, "MAX_SEEN", 500)
    header = b"device    r/s    w/s   kr/s   kw/s wait actv  svc_t  %w  %b\n"
    rows = b"".join(b"sd%d 1.0 1.0 1.0 1.0 0.0 0.0 1.0 0 0\n" % number for number in range(2000))
    result = read(require_spec("iostat_solaris"), header + rows, state={}, offset=0)
    assert sum(result.accounts.n_bytes.values()) == len(header + rows)
    seen = result.state["seen"]
    assert isinstance(seen, list)
    assert max(map(len, seen)) <= 501


def test_more_kinds_of_headers_than_any_tool_has_are_read_all_the_same() -> None:
    """Each kind costs a pass in bulk, so that there must be an end to it; what is read does not depend on that."""
    header = MPSTAT.rstrip(b"\n")
    data = b"".join(header + b" c%d\n" % number + CPU.rstrip(b"\n") + b" 7\n" for number in range(3 * shared_text.MAX_HEADERS))
    result = read(require_spec("mpstat_solaris"), data, state={}, offset=0)
    assert [row.columns[-1] for row in rows_of_result(result)] == [
        (f"c{number}", 0) for number in range(3 * shared_text.MAX_HEADERS)
    ]
    assert not result.rejected
