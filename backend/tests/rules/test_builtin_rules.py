"""The built-in rules, by the numbers of those who found them."""

import numpy as np
import pytest

from normstat.comparison.next_questions.question_rules import PLACE_HOLDERS
from normstat.rules.rule_file import COLOURS, STREAM, WatchRule, load_builtin_rules
from normstat.rules.rule_frame import name_sources
from tests.rules.frames import colours_of, constant, run_over

RULES = load_builtin_rules()
MPSTAT_KEYS = ("smtx", "usr_pct", "sys_pct", "ithr")
# One report of a machine with nine CPUs in a saturation test of its network: smtx, usr, sys and ithr of each.
SATURATED = {
    "0": (312, 1, 11, 0),
    "1": (531, 1, 21, 0),
    "8": (364, 1, 15, 3),
    "9": (373, 1, 16, 213),
    "12": (253, 0, 11, 1),
    "13": (552, 0, 22, 3),
    "16": (2470, 0, 0, 2901),
    "20": (531, 0, 20, 0),
    "21": (1, 0, 0, 2),
}


def test_mutex_rule_judges_each_cpu_by_its_own_numbers() -> None:
    run = run_over(RULES["mutex"], {"mpstat_solaris": constant(SATURATED, MPSTAT_KEYS)})
    expected = ["green", "red", "green", "green", "green", "red", "green", "green", "green"]
    assert run.instances == tuple(SATURATED)
    assert colours_of(run) == [[colour] for colour in expected]
    assert COLOURS[run.host_colours()[0]] == "red"
    # The average of all CPUs, which the rule before went by, would call each of them red.
    assert np.mean([row[0] for row in SATURATED.values()]) == pytest.approx(598.6, abs=0.05)


@pytest.mark.parametrize(
    ("smtx", "usr", "sys", "colour"),
    [
        (500, 0, 90, "green"),
        (501, 0, 20, "green"),
        (501, 20, 20.1, "red"),
        (501, 30, 30, "red"),
        (501, 31, 30, "amber"),
        (0, 0, 90, "white"),
        (1, 0, 0, "green"),
    ],
)
def test_mutex_rule_at_its_borders(smtx: float, usr: float, sys: float, colour: str) -> None:
    run = run_over(RULES["mutex"], {"mpstat_solaris": constant({"0": (smtx, usr, sys)}, MPSTAT_KEYS[:3])})
    assert colours_of(run) == [[colour]]


def test_hidden_interrupts_are_told_of_the_cpu_that_has_them() -> None:
    run = run_over(RULES["hidden-interrupts"], {"mpstat_solaris": constant(SATURATED, MPSTAT_KEYS, n=12)})
    states = dict(zip(run.instances, colours_of(run), strict=True))
    # Not before ten seconds of it are known.
    assert states["16"] == ["?"] * 9 + ["amber"] * 3
    assert {state for name, column in states.items() if name != "16" for state in column} == {"green"}


def test_one_thread_is_found_although_no_cpu_stands_out() -> None:
    # 12.5 % of eight CPUs, in turn on each.
    n = 200
    idle = {(str(cpu), "idle_pct"): np.where(np.arange(n) % 8 == cpu, 0.0, 99.5) for cpu in range(8)}
    assert colours_of(run_over(RULES["one-cpu"], {"mpstat_linux": idle}))[0][-1] == "blue"
    two = {(str(cpu), "idle_pct"): np.where(np.isin(np.arange(n) % 8, (cpu, (cpu + 4) % 8)), 0.0, 99.5) for cpu in range(8)}
    assert colours_of(run_over(RULES["one-cpu"], {"mpstat_linux": two}))[0][-1] == "green"


def test_scanning_that_goes_on_is_a_warning_and_a_single_report_is_none() -> None:
    once = np.zeros(120)
    once[60] = 36
    assert set(colours_of(run_over(RULES["memory-scan"], {"vmstat_solaris": {("", "page_sr"): once}}))[0][61:]) == {"white"}
    lasting = np.where(np.arange(400) >= 60, 300.0, 0.0)
    column = colours_of(run_over(RULES["memory-scan"], {"vmstat_solaris": {("", "page_sr"): lasting}}))[0]
    assert (column[118], column[119]) == ("green", "amber")
    assert column[-1] == "red"


def test_run_queue_is_divided_by_the_cpus_of_another_tool() -> None:
    cpus = {(str(cpu), "usr_pct"): np.full(60, 10.0) for cpu in range(4)} | {("all", "usr_pct"): np.full(60, 10.0)}
    queue = {("", "procs_r"): np.where(np.arange(60) < 20, 3.0, 24.0)}
    column = colours_of(run_over(RULES["run-queue-linux"], {"mpstat_linux": cpus, "vmstat_linux": queue}))[0]
    # Four CPUs: three tasks run, then twenty wait; `all` is no CPU.
    assert (column[29], column[48], column[49]) == ("green", "green", "red")


def test_a_slow_disk_must_be_busy_too() -> None:
    disks = {"sda": (80, 5, 60), "sdb": (80, 5, 9), "sdc": (3, 100, 100), "sdd": (40, 35, 1)}
    run = run_over(RULES["disk-slow"], {"iostat_linux": constant(disks, ("util_pct", "r_await_ms", "w_await_ms"), n=12)})
    assert {name: column[-1] for name, column in zip(run.instances, colours_of(run), strict=True)} == {
        "sda": "red",
        "sdb": "green",
        "sdc": "blue",
        "sdd": "amber",
    }


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_built_in_rules_are_whole(rule: WatchRule) -> None:
    assert rule.of in {*PLACE_HOLDERS, STREAM}
    for wanted in rule.inputs:
        sources = name_sources(wanted)
        assert sources or wanted.own, wanted.name
    # The worst ones are tried first.
    places = [COLOURS.index(state.colour) for state in rule.states]
    bad = [place for place in places if place >= COLOURS.index("amber")]
    assert places[: len(bad)] == sorted(bad, reverse=True)
