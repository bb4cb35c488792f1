"""The days of sar's rows: it prints a file table after table, and a run with an interval report after report."""

import datetime as dt
import itertools

import pytest

from normstat.stats.catalogue import require_spec
from normstat.stats.readers import read
from normstat.stats.records import NO_TIME, Timing
from tests.stats.reading import read_pieces, rows_of_result

SPEC = require_spec("sar_linux")
BANNER = "Linux 6.1.0 (web1) \t11/21/26 \t_x86_64_\t(1 CPU)\n"
TASKS = ("proc/s   cswch/s", "8.12    310.30")
SWAP = ("pswpin/s pswpout/s", "0.00      1.00")
PAGES = ("pgpgin/s pgpgout/s fault/s majflt/s", "1.00 2.00 3.00 4.00")


def table(section: tuple[str, str], *clocks: str) -> str:
    header, row = section
    return f"\n{clocks[0]} {header}\n" + "".join(f"{clock} {row}\n" for clock in clocks[1:])


def times(text: str) -> dict[str, list[str]]:
    """The times of each stat's rows, as day and clock; read whole, and in pieces of one line."""
    data = text.encode()
    rows = rows_of_result(read(SPEC, data, state={}, offset=0, is_final=True))
    assert read_pieces(SPEC, data.splitlines(keepends=True)).rows == rows
    found: dict[str, list[str]] = {}
    for row in rows:
        assert row.time_us != NO_TIME
        moment = dt.datetime.fromtimestamp(row.time_us / 1e6, dt.UTC)
        found.setdefault(row.stat.removeprefix("sar_linux_"), []).append(f"{moment:%d %H:%M}")
    return found


def test_each_table_of_a_file_begins_at_the_beginning() -> None:
    day = ("23:40:01", "23:50:01", "00:00:01", "00:10:01")
    expected = ["21 23:50", "22 00:00", "22 00:10"]
    text = BANNER + table(TASKS, *day) + table(SWAP, *day) + table(PAGES, *day)
    assert times(text) == {"task": expected, "swap": expected, "paging": expected}


def test_a_table_of_a_whole_day_does_not_move_the_next_one_by_a_day() -> None:
    day = ("00:00:01", "00:10:01", "12:00:01", "23:50:01")
    expected = ["21 00:10", "21 12:00", "21 23:50"]
    assert times(BANNER + table(TASKS, *day) + table(SWAP, *day)) == {"task": expected, "swap": expected}


def test_a_header_on_every_screen_is_no_new_table() -> None:
    text = (
        BANNER + table(TASKS, "00:00:01", "00:10:01") + table(TASKS, "00:10:01", "00:20:01") + table(SWAP, "00:00:01", "00:10:01")
    )
    assert times(text) == {"task": ["21 00:10", "21 00:20"], "swap": ["21 00:10"]}


def test_reports_with_all_tables_go_on_for_days() -> None:
    clocks = ["22:00:00", "04:00:00", "10:00:00", "16:00:00"] * 3
    text = BANNER
    for before, now in itertools.pairwise(clocks):
        text += table(TASKS, before, now) + table(SWAP, before, now)
    expected = [
        "22 04:00", "22 10:00", "22 16:00", "22 22:00", "23 04:00", "23 10:00", "23 16:00", "23 22:00",
        "24 04:00", "24 10:00", "24 16:00",
    ]  # fmt: skip
    assert times(text) == {"task": expected, "swap": expected}


def test_a_restart_begins_the_tables_anew_behind_it() -> None:
    text = BANNER + table(TASKS, "00:00:01", "10:00:01") + table(SWAP, "00:00:01", "10:00:01")
    text += "\n10:05:00       LINUX RESTART\t(1 CPU)\n"
    text += table(TASKS, "10:10:01", "20:10:01", "04:00:01") + table(SWAP, "10:10:01", "20:10:01", "04:00:01")
    expected = ["21 10:00", "21 20:10", "22 04:00"]
    assert times(text) == {"task": expected, "swap": expected}


def test_the_second_pass_of_an_hour_is_left_with_its_table() -> None:
    """Summer time ends: 02:30 comes twice in each table, and the second table begins in the first pass again."""
    zone_day = BANNER.replace("11/21/26", "10/25/26")
    clocks = ("01:30:00", "02:30:00", "02:10:00", "02:40:00", "03:10:00")
    data = (zone_day + table(TASKS, *clocks) + table(SWAP, *clocks)).encode()
    rows = rows_of_result(read(SPEC, data, state={}, offset=0, is_final=True, timing=Timing(zone="Europe/Berlin")))
    task = [row.time_us for row in rows if row.stat == "sar_linux_task"]
    assert task == sorted(task)
    assert task == [row.time_us for row in rows if row.stat == "sar_linux_swap"]


@pytest.mark.parametrize(
    ("day", "clock", "expected"),
    [
        ("03/04/2026", "12:00:01", "2026-04-03"),
        ("03/04/2026", "12:00:01 PM", "2026-03-04"),
        ("03/04/26", "12:00:01", "2026-03-04"),
        ("03/14/2026", "12:00:01", "2026-03-14"),
        ("14/03/2026", "12:00:01", "2026-03-14"),
        ("04-03-2026", "12:00:01", "2026-03-04"),
        ("04.03.2026", "12:00:01", "2026-03-04"),
        ("2026-03-04", "12:00:01", "2026-03-04"),
        ("Wednesday 04 March 2026", "12:00:01 PM IST", "2026-03-04"),
        ("4. mars 2026", "12.00.01", "2026-03-04"),
        ("2026年03月04日", "12時00分01秒", "2026-03-04"),
        ("西元2026年03月04日", "下午 12:00:01", "2026-03-04"),
    ],
)
def test_the_day_of_a_banner(day: str, clock: str, expected: str) -> None:
    """America puts the month first and has clocks of twelve hours; where a clock has 24, 03/04/2026 is the third of April."""
    text = BANNER.replace("11/21/26", day) + table(TASKS, clock.replace("01", "00"), clock)
    data = text.encode()
    rows = rows_of_result(read(SPEC, data, state={}, offset=0, is_final=True))
    assert [f"{dt.datetime.fromtimestamp(row.time_us / 1e6, dt.UTC)}" for row in rows] == [f"{expected} 12:00:01+00:00"]
    assert read_pieces(SPEC, data.splitlines(keepends=True)).rows == rows
