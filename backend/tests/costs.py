"""What each test costs: CPU seconds of its own process and of processes that it started and waited for, without its fixtures.

A run ends with the list of tests that need more than MAX_CPU_S and are not marked `slow`. NORMSTAT_TEST_COSTS=FILE writes a line
for each test: CPU seconds, wall seconds with fixtures, test.
"""

import os
import resource
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Final

import pytest

MAX_CPU_S: Final = 2.0
SLOW_LIST: Final = Path(__file__).with_name("slow_tests.txt")


def _cpu_s() -> float:
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


class TestCosts:
    """A pytest plugin; in a run with several workers it measures in them and reports in the process that started them."""

    __test__ = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None]:
        __tracebackhide__ = True
        before = _cpu_s()
        try:
            return (yield)
        finally:
            item.user_properties.append(("cpu_s", round(_cpu_s() - before, 2)))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        calls = [report for report in _reports(terminalreporter) if report.when == "call"]
        costs = {report.nodeid: _cpu_of(report) for report in calls}
        unlisted = [
            f"{report.nodeid} ({costs[report.nodeid]:.1f} s)"
            for report in calls
            if costs[report.nodeid] > MAX_CPU_S and not {"slow", "matrix", "heavy"}.intersection(report.keywords)
        ]
        if unlisted:
            terminalreporter.section(f"more than {MAX_CPU_S:.0f} s of CPU, and not in {SLOW_LIST.name}")
            terminalreporter.write("\n".join(unlisted) + "\n")
        if path := os.environ.get("NORMSTAT_TEST_COSTS"):
            walls = _walls(terminalreporter)
            lines = (f"{cpu_s:.2f}\t{walls[name]:.2f}\t{name}\n" for name, cpu_s in costs.items())
            with Path(path).open("a") as file:
                file.writelines(sorted(lines, key=lambda line: -float(line.split("\t")[0])))


def _reports(terminal: pytest.TerminalReporter) -> Iterator[pytest.TestReport]:
    """Yield what was reported of each test: its set-up, its call and its teardown."""
    for reports in terminal.stats.values():
        yield from (report for report in reports if isinstance(report, pytest.TestReport))


def _cpu_of(report: pytest.TestReport) -> float:
    return float(next((str(value) for name, value in report.user_properties if name == "cpu_s"), "0"))


def _walls(terminal: pytest.TerminalReporter) -> dict[str, float]:
    """Return the wall seconds of each test, with those of its fixtures."""
    walls: dict[str, float] = {}
    for report in _reports(terminal):
        walls[report.nodeid] = walls.get(report.nodeid, 0.0) + report.duration
    return walls
