"""CSV: what the tool printed comes back digit for digit, in order, in constant memory."""

import asyncio
import csv
import io
import math
import tracemalloc
from datetime import UTC, datetime, timedelta

import numpy as np
import psycopg
import pytest
from hypothesis import given, strategies
from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.db.schema.models import Host, Rollup, RollupMark, StatTable
from normstat.errors import NotFound
from normstat.query import sample_counts
from normstat.query.export import csv_export
from normstat.query.export.chosen_lines import ExportedLine
from normstat.query.export.csv_encoding import join, time_cells, value_cells
from normstat.query.export.csv_export import ExportRequest, stream_csv, to_cell
from normstat.samples.rollups.rollup_job import roll_up
from normstat.samples.sample_pages import NO_SHORT, PageQuery, to_floats
from normstat.stats.spec import Field, Kind, Storage, Worse
from normstat.window import Window, to_us
from tests.database_access import Database
from tests.databases import Sessions, on_either_database
from tests.lock_waits import until_waiting
from tests.query.filling import fill_capture, fill_stat, fill_values

DAY = Window(datetime(2026, 11, 21, tzinfo=UTC), datetime(2026, 11, 22, tzinfo=UTC))
START = datetime(2026, 11, 21, 12, tzinfo=UTC)

VMSTAT = b"""\
procs -----------memory---------- ---swap-- -----io---- -system-- -------cpu------- -----timestamp-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st gu                 UTC
 1  0      0 402200 267968 846360    0    0    44     0  381  615  2  2 96  0  0  0 2026-11-21 12:00:01
 0  0      0 402200 267968 846360    0    0     0    36  371  601  1  1 98  0  0  0 2026-11-21 12:00:02
12  1      0 9007199254740993 267968 846364    0    0     0 99999 1081 1023 50 2 48  0  0  0 2026-11-21 12:00:03
"""
MPSTAT = b"""\
Linux 6.1.0 (web1) \t2026-11-21 \t_x86_64_\t(2 CPU)

12:00:01     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
12:00:02     all    1.01    0.00    0.51    0.00    0.00    0.00    0.00    0.00    0.00   98.48
12:00:02       0    0.10    0.00   07.00    0.00    0.00    0.00    0.00    0.00    0.00   92.90
12:00:02       1    2.00    0.00    1.00    0.00    0.00    0.00    0.00    0.00    0.00  97.000
"""


async def read_lines(engine: AsyncEngine, request: ExportRequest) -> list[list[str]]:
    body = b"".join([piece async for piece in await stream_csv(engine, request)])
    assert body.endswith(b"\r\n")
    assert body.count(b"\n") == body.count(b"\r\n")
    return list(csv.reader(io.StringIO(body.decode(), newline="")))


async def test_a_capture_comes_back_digit_for_digit(db: Database) -> None:
    await fill_capture(db.sessions, "web1", "vmstat_linux", VMSTAT)
    header, *lines = await read_lines(db.engine, ExportRequest("web1", DAY, "vmstat_linux"))
    assert header[:6] == ["time", "epoch", "instance", "procs_r[processes]", "procs_b[processes]", "memory_swpd[KiB]"]
    # The first report says what was since boot, so it is no sample.
    printed = [line.split()[:18] for line in VMSTAT.decode().splitlines()[3:]]
    columns = [header.index(next(name for name in header if name.startswith(f"{key}["))) for key in PRINTED_ORDER]
    assert [[line[column] for column in columns] for line in lines] == printed
    assert [line[:3] for line in lines] == [
        ["2026-11-21T12:00:02Z", "1795262402", ""],
        ["2026-11-21T12:00:03Z", "1795262403", ""],
    ]


PRINTED_ORDER = (
    "procs_r", "procs_b", "memory_swpd", "memory_free", "memory_buff", "memory_cache", "swap_si", "swap_so", "io_bi", "io_bo",
    "system_in", "system_cs", "cpu_us", "cpu_sy", "cpu_id", "cpu_wa", "cpu_st", "cpu_gu",
)  # fmt: skip


async def test_words_that_are_not_canonical_come_back_too(db: Database) -> None:
    await fill_capture(db.sessions, "web1", "mpstat_linux", MPSTAT)
    header, *lines = await read_lines(db.engine, ExportRequest("web1", DAY, "mpstat_linux"))
    # Columns that this release does not print (CORE, intr/s) are not there.
    assert header == [
        "time", "epoch", "instance", "usr_pct[%]", "nice_pct[%]", "sys_pct[%]", "iowait_pct[%]", "irq_pct[%]", "soft_pct[%]",
        "steal_pct[%]", "guest_pct[%]", "gnice_pct[%]", "idle_pct[%]",
    ]  # fmt: skip
    assert [line[2:] for line in lines] == [line.split()[1:] for line in MPSTAT.decode().splitlines()[3:]]


@on_either_database
async def test_chosen_lines_come_alone_and_no_other_value_with_them(db: Database) -> None:
    await fill_capture(db.sessions, "web1", "mpstat_linux", MPSTAT)

    async def read(*lines: tuple[str, str], fields: tuple[str, ...] = ()) -> list[list[str]]:
        chosen = [ExportedLine(field, instance) for field, instance in lines]
        return [
            line[2:]
            for line in await read_lines(db.engine, ExportRequest("web1", DAY, "mpstat_linux", fields=fields, lines=chosen))
        ]

    # The columns have the order of the stat; of CPU 0 only sys was chosen, printed as the tool did.
    assert await read(("sys_pct", "0"), ("usr_pct", "1"), ("sys_pct", "1")) == [
        ["instance", "usr_pct[%]", "sys_pct[%]"], ["0", "", "07.00"], ["1", "2.00", "1.00"],
    ]  # fmt: skip
    assert await read(fields=("idle_pct",)) == [["instance", "idle_pct[%]"], ["all", "98.48"], ["0", "92.90"], ["1", "97.000"]]
    # An instance that the host never had has no row.
    assert await read(("usr_pct", "9")) == [["instance", "usr_pct[%]"]]
    with pytest.raises(NotFound, match="mpstat_linux has no field 'us'; it has"):
        await read(("us", "0"))


async def test_all_stats_come_long(db: Database) -> None:
    await fill_capture(db.sessions, "web1", "mpstat_linux", MPSTAT)
    await fill_capture(db.sessions, "web1", "vmstat_linux", VMSTAT)
    header, *lines = await read_lines(db.engine, ExportRequest("web1", DAY))
    assert header == ["time", "epoch", "stat", "instance", "field", "value", "unit"]
    assert len(lines) == 3 * 10 + 2 * 18
    assert lines[0] == ["2026-11-21T12:00:02Z", "1795262402", "mpstat_linux", "all", "usr_pct", "1.01", "%"]
    assert ["2026-11-21T12:00:02Z", "1795262402", "mpstat_linux", "0", "sys_pct", "07.00", "%"] in lines
    assert ["2026-11-21T12:00:03Z", "1795262403", "vmstat_linux", "", "memory_free", "9007199254740993", "KiB"] in lines


async def test_lines_are_ordered_by_time_instance_stream_and_line(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    second = to_us(START) + np.array([2, 2, 1, 1, 1]) * 1_000_000
    for key in ("a", "b"):
        await fill_values(
            db.sessions,
            "web1",
            "mpstat_linux",
            time_us=second,
            instances=("10", "9", "9", "all", "9"),
            values={"usr_pct": np.array([1.0, 2.0, 3.0, 4.0, 5.0]) + (10.0 if key == "b" else 0.0)},
            key=key,
        )
    expected = [
        ("all", "4.00"), ("all", "14.00"), ("9", "3.00"), ("9", "5.00"), ("9", "13.00"), ("9", "15.00"),
        ("9", "2.00"), ("9", "12.00"), ("10", "1.00"), ("10", "11.00"),
    ]  # fmt: skip
    for n_rows in (1000, 7, 2, 1):
        monkeypatch.setattr(PageQuery, "n_rows_per_page", n_rows)
        _, *lines = await read_lines(db.engine, ExportRequest("web1", DAY, "mpstat_linux"))
        assert [(line[2], line[3]) for line in lines] == expected


async def test_a_missing_value_is_an_empty_cell_and_no_line(db: Database) -> None:
    await fill_stat(
        db.sessions, "iostat_linux", START, [0], ("sda", "=1+1,x"), util_pct=[np.nan, 0.0], r_per_s=[1.5, np.nan], w_per_s=np.nan
    )
    header, *lines = await read_lines(db.engine, ExportRequest("web1", DAY, "iostat_linux"))
    assert header[3:] == ["r_per_s[1/s]", "util_pct[%]"]
    assert [line[2:] for line in lines] == [["=1+1,x", "", "0.00"], ["sda", "1.50", ""]]
    _, *lines = await read_lines(db.engine, ExportRequest("web1", DAY))
    assert [line[3:] for line in lines] == [["=1+1,x", "util_pct", "0.00", "%"], ["sda", "r_per_s", "1.50", "1/s"]]


async def fill_seconds(sessions: Sessions, first_s: int, n: int, *, has_writes: bool = False) -> None:
    """One sample a second of sda, as a request of its own would store them; the row of sda keeps its first last sample."""
    writes = {"w_per_s": 2.5} if has_writes else {}
    await fill_stat(sessions, "iostat_linux", START, first_s + np.arange(n), ("sda",), key=str(first_s), r_per_s=1.5, values=writes)


@pytest.mark.parametrize(("first_s", "n_expected"), [(0, 20), (15, 10), (100, 10), (109, 1), (110, 0)])
async def test_a_last_sample_that_is_recorded_late_takes_nothing_from_an_export(
    db: Database, first_s: int, n_expected: int
) -> None:
    await fill_seconds(db.sessions, 0, 10)
    await fill_seconds(db.sessions, 100, 10, has_writes=True)
    window = Window(START + timedelta(seconds=first_s), START + timedelta(hours=1))
    header, *lines = await read_lines(db.engine, ExportRequest("web1", window, "iostat_linux"))
    assert len(lines) == n_expected
    if n_expected:
        # A field that only the last samples have is a column too.
        assert header[3:] == ["r_per_s[1/s]", "w_per_s[1/s]"]
        assert lines[-1][3:] == ["1.50", "2.50"]
    _, *lines = await read_lines(db.engine, ExportRequest("web1", window))
    assert len(lines) == n_expected + min(10, n_expected)


async def test_an_empty_window_is_a_header(db: Database) -> None:
    await fill_capture(db.sessions, "web1", "vmstat_linux", VMSTAT)
    later = Window(DAY.end, DAY.end + timedelta(hours=1))
    [header] = await read_lines(db.engine, ExportRequest("web1", later, "vmstat_linux"))
    assert header[:4] == ["time", "epoch", "instance", "procs_r[processes]"]
    assert await read_lines(db.engine, ExportRequest("web1", later)) == [
        ["time", "epoch", "stat", "instance", "field", "value", "unit"]
    ]
    assert await read_lines(db.engine, ExportRequest("web1", DAY, "iostat_linux")) == [["time", "epoch", "instance"]]


async def test_columns_of_much_come_from_the_rollups(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    n = 20
    intr = np.where(np.arange(n) == n - 1, 5.0, np.nan)
    await fill_stat(db.sessions, "mpstat_linux", DAY.start, 1800 * np.arange(n), ("all",), usr_pct=1.0, intr_per_s=intr)
    request = ExportRequest("web1", DAY, "mpstat_linux")
    exactly = ["usr_pct[%]", "intr_per_s[1/s]"]
    assert (await read_lines(db.engine, request))[0][3:] == exactly
    # Too much to look through, and nothing is rolled up: no column is left out, whatever stands in it.
    monkeypatch.setattr(sample_counts, "ROWS_LOOKED_AT", 5)
    everything = (await read_lines(db.engine, request))[0][3:]
    assert len(everything) > 10
    await roll_up(db.sessions, now=DAY.end + timedelta(days=2), budget_s=60)
    assert (await read_lines(db.engine, request))[0][3:] == exactly
    # What changed after it was rolled up is looked for among the samples.
    async with db.sessions() as session, session.begin():
        stat_id = await session.scalar(select(StatTable.id).where(StatTable.name == "mpstat_linux"))
        host_id = await session.scalar(select(Host.id))
        await session.execute(delete(Rollup).where(Rollup.field_key == "intr_per_s"))
        last = DAY.start + timedelta(hours=9)
        session.add(RollupMark(host_id=host_id, stat_id=stat_id, hour_at=last))
    assert (await read_lines(db.engine, request))[0][3:] == exactly


async def test_closing_it_cancels_its_statement(db: Database) -> None:
    await fill_capture(db.sessions, "web1", "mpstat_linux", MPSTAT)
    pieces = await stream_csv(db.engine, ExportRequest("web1", DAY))
    async with await psycopg.AsyncConnection.connect(db.url) as other:
        # The statement waits as long as this transaction lasts.
        await other.execute('LOCK TABLE samples."mpstat_linux" IN ACCESS EXCLUSIVE MODE')
        coming = asyncio.ensure_future(anext(pieces))
        await until_waiting(other, 1)
        coming.cancel()
        with pytest.raises(asyncio.CancelledError):
            await coming
        await pieces.aclose()
        await until_waiting(other, 0)
    assert len(await read_lines(db.engine, ExportRequest("web1", DAY))) == 1 + 3 * 10


async def test_unknown_names_are_said_before_the_first_byte(db: Database) -> None:
    await fill_capture(db.sessions, "web1", "vmstat_linux", VMSTAT)
    with pytest.raises(NotFound, match="no host 'web9'"):
        await stream_csv(db.engine, ExportRequest("web9", DAY))
    with pytest.raises(NotFound, match="no stat 'no_stat'"):
        await stream_csv(db.engine, ExportRequest("web1", DAY, "no_stat"))


async def test_an_export_that_fails_is_not_ended(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    await fill_stat(db.sessions, "mpstat_linux", START, np.arange(50), ("all",), usr_pct=0.0)
    monkeypatch.setattr(PageQuery, "n_rows_per_page", 10)
    pieces = await stream_csv(db.engine, ExportRequest("web1", DAY, "mpstat_linux"))
    assert (await anext(pieces)).startswith(b"time,")
    await anext(pieces)
    monkeypatch.setattr(csv_export, "sort_lines", lambda page, names: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        await anext(pieces)


@on_either_database
@pytest.mark.parametrize("stat", ["mpstat_linux", None])
async def test_memory_stays_constant(db: Database, stat: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    n_seconds, names = 10_000, ("all", "0", "1", "2")
    monkeypatch.setattr(PageQuery, "n_rows_per_page", 2500)
    await fill_stat(
        db.sessions, "mpstat_linux", DAY.start, np.arange(n_seconds), names, usr_pct=12.34, sys_pct=12.34, idle_pct=12.34
    )
    # What the first export of a process loads is not counted.
    await read_lines(db.engine, ExportRequest("web1", Window(DAY.start, DAY.start + timedelta(seconds=9)), stat))
    tracemalloc.start()
    try:
        n_bytes = sum([len(piece) async for piece in await stream_csv(db.engine, ExportRequest("web1", DAY, stat))])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert n_bytes > 2_000_000
    # A page of 2,500 rows with their texts; the whole export would be five to ten times as much.
    assert peak < 5_000_000, f"{peak} bytes at once for {n_bytes} bytes of CSV"


def test_times_have_a_fraction_only_where_there_is_one() -> None:
    times = np.array([1_795_262_401_000_000, 1_795_262_401_250_000, 1_795_262_401_000_001, 1_795_349_999_999_000])
    for at, text in zip(
        times,
        (
            "2026-11-21T12:00:01Z,1795262401",
            "2026-11-21T12:00:01.25Z,1795262401.25",
            "2026-11-21T12:00:01.000001Z,1795262401.000001",
            "2026-11-22T12:19:59.999Z,1795349999.999",
        ),
        strict=True,
    ):
        assert join(time_cells(np.array([at])), 1).decode() == text
    together = join([*time_cells(times), b"\n"], len(times)).decode().splitlines()
    assert together == [join(time_cells(np.array([at])), 1).decode() for at in times]


def field_of(storage: Storage, decimals: int) -> Field:
    return Field("x", "x", "x", "", "", Kind.GAUGE, Worse.NEITHER, decimals, storage, "", "")


@given(
    decimals=strategies.integers(0, 4),
    numbers=strategies.lists(strategies.integers(-(2**31) + 1, 2**31 - 1) | strategies.integers(-20_000, 20_000), min_size=1),
    lacks=strategies.booleans(),
)
def test_digits_are_those_of_printf(decimals: int, numbers: list[int], lacks: bool) -> None:
    stored = np.array(numbers, dtype=np.int32)
    texts = [f"{number / 10**decimals:.{decimals}f}" for number in numbers]
    if lacks:
        stored[0], texts[0] = NO_SHORT, ""
    for storage in (Storage.DEC4, Storage.FLOAT8) if decimals else (Storage.DEC4, Storage.FLOAT8, Storage.INT4):
        field = field_of(storage, decimals)
        column = to_floats(field_of(Storage.DEC4, decimals), stored) if storage is Storage.FLOAT8 else stored
        cells, _ = value_cells(field, column, {})
        assert join([cells, b"\n"], len(numbers)).decode().split("\n")[:-1] == texts


def test_the_word_of_a_missing_value_is_not_its_cell() -> None:
    cells, missing = value_cells(field_of(Storage.FLOAT8, 1), np.array([1.5, np.nan]), {0: b"1.50", 1: b"-"})
    assert [bytes(row).rstrip(b"\0") for row in cells] == [b"1.50", b""]
    assert missing is not None
    assert missing.tolist() == [False, True]


@given(numbers=strategies.lists(strategies.integers(-(2**63) + 1, 2**63 - 1), min_size=1))
def test_whole_numbers_of_any_size_are_written(numbers: list[int]) -> None:
    cells, _ = value_cells(field_of(Storage.INT8, 0), np.array(numbers, dtype=np.int64), {})
    assert join([cells, b"\n"], len(numbers)).decode().split("\n")[:-1] == list(map(str, numbers))


@given(numbers=strategies.lists(strategies.floats(), min_size=1), decimals=strategies.integers(0, 6))
def test_doubles_of_any_kind_are_written_as_printf_does(numbers: list[float], decimals: int) -> None:
    cells, _ = value_cells(field_of(Storage.FLOAT8, decimals), np.array(numbers), {})
    written = join([cells, b"\n"], len(numbers)).decode().split("\n")[:-1]
    assert written == ["" if math.isnan(number) else f"{number:.{decimals}f}" for number in numbers]


@pytest.mark.parametrize(
    ("text", "cell"),
    [("sda", "sda"), ("a,b", '"a,b"'), ('say "x"', '"say ""x"""'), ("two\nlines", '"two\nlines"'), ("-c", "-c"), ("", "")],
)
def test_texts_are_quoted_where_they_must_be(text: str, cell: str) -> None:
    assert to_cell(text) == cell
