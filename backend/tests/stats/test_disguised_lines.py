"""Output that passed through browsers, editors, terminals and other programs' logs is read like the original."""

from collections.abc import Callable
from functools import partial

import pytest

from normstat.stats.records import NO_TIME
from tests.stats.reading import guessed, rows_of_result
from tests.stats.test_folded_lines import SAMPLES, read_text, values

VMSTAT = """\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 1  0      0 402312 267968 846360    0    0  1444  4554  647 1297 34  8 57  1  1
 3  0      0 402200 267968 846360    0    0    44     0  381  615  2  2 96  0  0
 4  0      0 402201 267968 846360    0    0    44     0  381  615  3  2 95  0  0
"""


def logged(before: str) -> Callable[[str], str]:
    """As a log has it: a time before every line, blank ones as well."""
    return lambda text: "".join(
        f"{before.format(number // 60, number % 60)}{line}\n" for number, line in enumerate(text.splitlines())
    )


def quoted(mark: str, text: str) -> str:
    """As an answer of mail has it, whose lines were not folded."""
    return "".join(f"{mark}{line}\n" for line in text.splitlines())


CHANGES = {
    "mark of UTF-8": lambda text: f"\ufeff{text}",
    "some blanks of a browser": lambda text: text.replace("  ", "\u00a0 "),
    "all blanks of a browser": lambda text: text.replace(" ", "\u00a0"),
    "colours": lambda text: "".join(f"\x1b[1m{line}\x1b[0m\n" for line in text.splitlines()),
    "a terminal": lambda text: "".join(
        f"\x1b[?2004l\r\x1b]0;web1: ~\x07\x1b(B\x1b[K{line}\x1b[0;39m\r\n" for line in text.splitlines()
    ),
    "written over": lambda text: "".join(f"Please wait...\r{line.ljust(20)}\n" for line in text.splitlines()),
    **{f"quoted by {mark!r}": partial(quoted, mark) for mark in ("> ", ">", "> > ", ">> ")},
}
LOGS = {
    "docker": logged("2026-11-21T12:{:02}:{:02}.123456789Z "),
    "Kubernetes": logged("2026-11-21T12:{:02}:{:02}.123456789Z stdout F "),
    "journal": logged("2026-11-21T13:{:02}:{:02}+0100 web1 vmstat[123]: "),
}


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("change", [*CHANGES.values(), *LOGS.values()], ids=[*CHANGES, *LOGS])
@pytest.mark.parametrize("n_copies", [1, 9])
def test_disguised_output_is_read_like_the_original(name: str, change: Callable[[str], str], n_copies: int) -> None:
    text = SAMPLES[name] * n_copies
    changed = change(text)
    assert guessed(changed.encode()) == name
    result = read_text(name, changed)
    own = values(read_text(name, text))
    assert not result.rejected
    if name == "iostat_linux" and change in LOGS.values():
        # The tool printed no times.
        assert {key[3:] for key in values(result)} == {key[3:] for key in own}
    else:
        assert values(result) == own


@pytest.mark.parametrize("change", LOGS.values(), ids=LOGS)
def test_the_time_of_the_log_is_that_of_a_line_without_one(change: Callable[[str], str]) -> None:
    assert {row.time_us for row in rows_of_result(read_text("vmstat_linux", VMSTAT))} == {NO_TIME}
    changed = change(VMSTAT)
    assert guessed(changed.encode()) == "vmstat_linux"
    times = [row.time_us // 1_000_000 for row in rows_of_result(read_text("vmstat_linux", changed))]
    assert times == [1795262402, 1795262403, 1795262404]


def test_the_time_of_the_log_says_nothing_of_the_clock_of_the_tool() -> None:
    """docker prints UTC, mpstat the host's own time."""
    text = SAMPLES["mpstat_linux"].replace("12:00:0", "01:00:0")
    changed = LOGS["docker"](text)
    assert values(read_text("mpstat_linux", changed)) == values(read_text("mpstat_linux", text))


def test_what_prstat_prints_while_it_waits_is_no_part_of_its_header() -> None:
    """In a copy of a terminal blanks stand where the header was written over it."""
    report = "   PID USERNAME  SIZE   RSS STATE   PRI NICE      TIME  CPU PROCESS/NLWP\n"
    row = " 948 node 36M 22M cpu3 10 0 0:00:10 50% node/1\n"
    result = read_text("prstat_solaris", f"Please wait...   {report}{row}")
    assert not result.rejected
    assert [row.instance for row in rows_of_result(result)] == ["948/node"]
