"""What is drawn of single tools: call trees of perf report, intervals of perf stat, errors by CPU and memory module."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.artefacts.interval_view import view_intervals
from normstat.artefacts.parts import StackPart, TablePart
from normstat.artefacts.perf_call_graph import read_call_graphs
from normstat.artefacts.reading import read_artefact
from normstat.errors import BadRequest

GOLDEN = Path(__file__).parent.parent / "golden"
# Callers below where the samples fell: --no-children.
CALLERS = b"""\
# Samples: 1K of event 'cycles'
# Event count (approx.): 407750000
#
# Overhead  Command  Shared Object      Symbol
# ........  .......  .................  ..................
#
    60.48%  swapper  [kernel.vmlinux]  [k] intel_idle
            |
            ---intel_idle
               cpuidle_enter
               |
               |--54.60%--start_secondary
               |
                --5.88%--rest_init
                          start_kernel

    10.00%  ls       libc.so.6         [.] strcmp

"""
# perf 3: a blank after the dashes, and percentages of the branch above.
FRACTAL = b"""\
# Events: 1K of event 'cycles'
#
# Overhead  Command  Shared Object  Symbol
     4.00%  top      [kernel]       [k] read_hpet
                    |
                    --- read_hpet
                       |
                       |--75.00%-- ktime_get
                       |          tick_program
                       |
                        --25.00%-- getnstimeofday
"""


def stacks_of(part: StackPart) -> dict[str, float]:
    """Return what ends in each stack, folded."""
    found = {}
    for at in range(1, len(part.parent)):
        names, node = [], at
        while node:
            names.append(part.names[part.name[node]])
            node = int(part.parent[node])
        if part.values[0][at]:
            found[";".join(reversed(names))] = round(float(part.values[0][at]), 6)
    return found


def test_callers_are_turned_into_stacks_from_the_root() -> None:
    (part,) = read_call_graphs(CALLERS)
    assert (part.title, part.columns[0].unit) == ("Call graph: cycles", "%")
    assert stacks_of(part) == {
        "swapper;start_secondary;cpuidle_enter;intel_idle_[k]": 54.6,
        "swapper;start_kernel;rest_init;cpuidle_enter;intel_idle_[k]": 5.88,
        "ls;strcmp": 10.0,
    }


def test_percentages_of_the_branch_above_become_those_of_the_whole() -> None:
    (part,) = read_call_graphs(FRACTAL)
    assert stacks_of(part) == {"top;tick_program;ktime_get;read_hpet_[k]": 3.0, "top;getnstimeofday;read_hpet_[k]": 1.0}


def test_with_children_nothing_is_counted_twice() -> None:
    text = (GOLDEN / "recorded/perf_report/perf-6.1--call-graphs.txt").read_bytes()
    # The next function has a row of its own, with a part of the same tree.
    own = b"""\
    60.00%     0.00%  ls       [kernel.kallsyms]     [k] do_syscall_64
            |
            ---do_syscall_64
               |--50.40%--__x64_sys_getdents64

"""
    for read in (text, text.replace(b"     0.06%", own + b"     0.06%", 1)):
        stacks = [part for part in read_artefact(read).parts if isinstance(part, StackPart)]
        assert [stacks_of(part) for part in stacks] == [
            {
                "ls;entry_SYSCALL_64_after_hwframe;do_syscall_64": 15.33,
                "ls;entry_SYSCALL_64_after_hwframe;do_syscall_64;__x64_sys_getdents64": 0.19,
                "ls;entry_SYSCALL_64_after_hwframe;do_syscall_64;__x64_sys_getdents64;iterate_dir": 50.21,
            }
        ]


def test_a_report_without_trees_has_no_stacks() -> None:
    text = (GOLDEN / "recorded/perf_report/perf-6.1--samples.txt").read_bytes()
    assert [part.kind for part in read_artefact(text).parts] == ["table", "table"]


@given(st.lists(st.sampled_from([*CALLERS.splitlines(), *FRACTAL.splitlines(), b"  |--99.00%--x", b"   ---", b"|", b"\xff 9.99%"])))
def test_lines_in_any_order_never_fail_and_no_part_exceeds_its_rows(lines: list[bytes]) -> None:
    rows = 60.48 + 10 + 4
    for part in read_call_graphs(b"\n".join(lines)):
        assert 0 <= float(part.values[0].sum()) <= rows * len(lines)
        assert (part.values[0] >= 0).all()


def test_intervals_of_perf_stat_are_lines_over_the_elapsed_time() -> None:
    parts = read_artefact((GOLDEN / "recorded/perf_stat/perf-6.1--intervals.txt").read_bytes()).parts
    found = {part.columns[0].key: part for part in parts if isinstance(part, TablePart)}
    view = view_intervals(found["count"], "", 2)
    assert (view.clock, view.times, view.unit) == ("elapsed", [500.619549, 1001.688403], "events")
    assert [(line.key, line.values) for line in view.lines] == [(["context-switches"], [169, 114]), (["page-faults"], [65, 8])]
    assert view.n_keys == 7
    metrics = view_intervals(found["metric"], "", 1)
    assert (metrics.clock, metrics.times, metrics.lines[0].values) == ("report", [1.0, 2.0], [168.707, 113.756])


def test_a_single_report_has_no_lines_over_time() -> None:
    parts = read_artefact((GOLDEN / "recorded/perf_stat/perf-6.1--runs.txt").read_bytes()).parts
    with pytest.raises(BadRequest, match="one report"):
        view_intervals(next(part for part in parts if isinstance(part, TablePart)), "", 8)


def test_errors_have_their_cpu_bank_and_memory_module() -> None:
    (events,) = read_artefact((GOLDEN / "synthetic/mcelog/mcelog-1--memory-error.txt").read_bytes()).parts
    assert isinstance(events, TablePart)
    assert events.key_names == ("CPU", "bank", "cause", "module")
    assert list(zip(*events.keys, strict=True)) == [
        ("1", "8", "MEMORY CONTROLLER RD_CHANNEL0_ERR", "SOCKET 1 CHANNEL 0 DIMM 1"),
        ("0", "5", "Internal Timer error", ""),
    ]
    assert (events.column("corrected"), events.column("uncorrected")) == ([1, 0], [0, 1])


def test_counters_of_memory_modules_are_one_table() -> None:
    (memory,) = read_artefact((GOLDEN / "synthetic/mcelog/mcelog-1--client.txt").read_bytes()).parts
    assert isinstance(memory, TablePart)
    assert list(zip(*memory.keys, strict=True)) == [("0", "0", "0"), ("1", "any", "any")]
    assert memory.column("corrected_total") == [1, 12]
    # What the daemon did not print is missing.
    assert memory.column("uncorrected_total") == [0, None]
