"""Flame graphs: every weight is somewhere, recursion counts once; and what is drawn of other tools, shares in tables too."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.artefacts.call_tree import CallTree, make_tree
from normstat.artefacts.flame_diff import FlameDiffRequest, Scaling, diff_flames, diff_functions
from normstat.artefacts.flame_growth import Direction, GrowthRequest, Threads
from normstat.artefacts.flame_view import FlameRequest, FlameView, FunctionsRequest, list_functions, view_flame
from normstat.artefacts.folded_stacks import read_folded
from normstat.artefacts.histogram_view import view_histogram
from normstat.artefacts.interval_view import view_intervals
from normstat.artefacts.parts import HistogramPart, StackPart, TablePart
from normstat.artefacts.perf_call_graph import read_call_graphs
from normstat.artefacts.reading import read_artefact
from normstat.artefacts.table_view import TableRequest, view_table
from normstat.errors import BadRequest

ALL = GrowthRequest(min_share=0, max_nodes=20_000)
FRAMES = st.lists(st.sampled_from("abcd"), min_size=1, max_size=7)
Stacks = list[tuple[list[str], int]]
STACKS = st.lists(st.tuples(FRAMES, st.integers(1, 10**12)), min_size=1, max_size=30)

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

TIMES = b"""Hit Ctrl-C to stop tracing, or wait...
^C
Elapsed Times for processes ssh,

         SYSCALL          TIME (ns)
            read              90000
           write              10000
          TOTAL:             100000

CPU Times for processes ssh,

         SYSCALL          TIME (ns)
            read               3000
          TOTAL:               3000
"""
LOCKS = b"""Adaptive mutex spin: 3318 events

Count indv cuml rcnt     spin Lock                   Caller
-------------------------------------------------------------------------------
  601  18%  18% 1.00        1 flock_lock             cleanlocks+0x10
  302   9%  27% 1.00        7 0xf597aab0             dev_get_dev_info+0x4c
-------------------------------------------------------------------------------
"""
REPORT = b"""# Samples: 1K of event 'cycles'
#
# Overhead      Command         Shared Object                 Symbol
# ........  ...........  ....................  .....................
#
    28.15%  firefox-bin  libxul.so             [.] 0xd10b45
     4.45%      swapper  [kernel.kallsyms]     [k] mwait_idle_with_hints
"""
BUCKETS = b"""Tracing block device I/O... Hit Ctrl-C to end.
^C
     usecs           : count     distribution
       0 -> 1        : 1        |****                                    |
       2 -> 3        : 9        |****************************************|
"""


def tree_of(text: str) -> CallTree:
    [part] = read_folded(text.encode(), "").parts
    assert isinstance(part, StackPart)
    return make_tree(part)


def folded(stacks: Stacks) -> str:
    return "".join(f"{';'.join(frames)} {weight}\n" for frames, weight in stacks)


def paths_of(names: list[str], parent: list[int], name: list[int]) -> list[str]:
    paths = [""]
    for above, number in zip(parent[1:], name[1:], strict=True):
        paths.append(f"{paths[above]};{names[number]}".strip(";"))
    return paths


def ends_of(view: FlameView) -> dict[str, float]:
    paths = paths_of(view.names, view.parent, view.name)
    return {path: own for path, own in zip(paths, view.own, strict=True) if own}


@given(STACKS)
def test_graphs_from_the_root_and_from_the_leaf_hold_every_stack(stacks: Stacks) -> None:
    wanted, reverse = Counter[str](), Counter[str]()
    for frames, weight in stacks:
        wanted[";".join(frames)] += weight
        reverse[";".join(reversed(frames))] += weight
    tree = tree_of(folded(stacks))
    assert ends_of(view_flame(tree, FlameRequest(growth=ALL))) == wanted
    up = GrowthRequest(Direction.UP, min_share=0, max_nodes=20_000)
    assert ends_of(view_flame(tree, FlameRequest(growth=up))) == reverse


@given(STACKS)
def test_functions_count_a_recursion_once(stacks: Stacks) -> None:
    own, total = Counter[str](), Counter[str]()
    for frames, weight in stacks:
        own[frames[-1]] += weight
        for name in set(frames):
            total[name] += weight
    tree = tree_of(folded(stacks))
    found = list_functions(tree, FunctionsRequest())
    assert {each.name: each.total for each in found.functions} == total
    assert {each.name: each.own for each in found.functions if each.own} == own
    for each in found.functions:
        for direction in Direction:
            view = view_flame(tree, FlameRequest(growth=GrowthRequest(direction, function=each.id)))
            assert view.total[0] == each.total
        assert view_flame(tree, FlameRequest(search=each.name)).matched == each.total


@given(STACKS, st.integers(1, 8))
def test_what_is_left_out_is_told(stacks: Stacks, most: int) -> None:
    tree = tree_of(folded(stacks))
    for direction in Direction:
        view = view_flame(tree, FlameRequest(growth=GrowthRequest(direction, min_share=0.05, max_nodes=most)))
        assert len(view.parent) <= most
        assert sum(view.own) + view.hidden == view.whole


def test_a_zoom_begins_at_its_frame() -> None:
    tree = tree_of("main;run;read 12\nmain;run;write 3\nmain;stop 5\n")
    whole = view_flame(tree, FlameRequest(growth=ALL))
    ids = dict(zip(whole.names, whole.name_ids, strict=True))
    view = view_flame(tree, FlameRequest(growth=GrowthRequest(focus=(ids["main"], ids["run"]))))
    assert (view.total[0], [step.name for step in view.path], [step.total for step in view.path]) == (15, ["main", "run"], [20, 15])


def test_threads_are_merged_by_name_or_told_apart() -> None:
    tree = tree_of("worker/17;run 4\nworker/18;run 5\ngc/3;mark 1\n")
    views = {how: view_flame(tree, FlameRequest(threads=how)) for how in Threads}
    assert [(each.name, each.total) for each in views[Threads.NAMED].threads] == [("worker", 9), ("gc", 1)]
    assert ends_of(views[Threads.EACH]) == {"worker/17;run": 4, "worker/18;run": 5, "gc/3;mark": 1}
    assert ends_of(views[Threads.NONE]) == {"run": 9, "mark": 1}
    only = view_flame(tree, FlameRequest(thread="worker", growth=GrowthRequest(Direction.UP)))
    assert (only.whole, ends_of(only)) == (9, {"run;worker": 9})


@given(STACKS, STACKS)
def test_a_difference_has_both_values_of_every_stack(before: Stacks, after: Stacks) -> None:
    sides = [Counter[str](), Counter[str]()]
    for side, stacks in zip(sides, (before, after), strict=True):
        for frames, weight in stacks:
            side[";".join(frames)] += weight
    trees = tree_of(folded(before)), tree_of(folded(after))
    view = diff_flames(*trees, FlameDiffRequest(scaling=Scaling.NONE, growth=ALL))
    paths = paths_of(view.names, view.parent, view.name)
    found = {path: (left, right) for path, left, right in zip(paths, view.before_own, view.after_own, strict=True) if left or right}
    # What difffolded.pl prints.
    assert found == {path: (sides[0][path], sides[1][path]) for path in sides[0] | sides[1]}


def test_a_difference_is_scaled_by_duration_where_both_are_known() -> None:
    before, after = tree_of("main;read 10\nmain;gone 10\n"), tree_of("main;read 40\n")
    found = diff_functions(before, after, FlameDiffRequest(before_s=10, after_s=20))
    assert (found.scale.by, found.scale.factor) == ("duration", 2)
    assert {each.name: each.own_change for each in found.functions} == {"read": 20, "gone": -20, "main": 0}
    assert diff_functions(before, after, FlameDiffRequest(before_s=10)).scale.by == "total"


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


def table(text: bytes) -> TablePart:
    part = read_artefact(text).parts[0]
    assert isinstance(part, TablePart)
    return part


def test_the_sum_of_other_rows_has_no_share() -> None:
    view = view_table(table(TIMES), TableRequest())
    assert view.key_names == ["table", "key"]
    assert view.total == 103_000
    shares = {tuple(row.key): (row.is_total, row.share) for row in view.rows}
    is_total, share = shares["Elapsed Times for processes ssh", "read"]
    assert not is_total
    assert share == pytest.approx(90 / 103)
    assert shares["Elapsed Times for processes ssh", "TOTAL:"] == (True, None)
    grouped = view_table(table(TIMES), TableRequest(group=("table",)))
    assert [(row.key, row.values, row.is_total) for row in grouped.rows] == [
        (["Elapsed Times for processes ssh"], [100_000], False),
        (["CPU Times for processes ssh"], [3000], False),
    ]


def test_the_share_of_a_row_of_an_incomplete_listing_is_the_printed_one() -> None:
    oprofile = view_table(table((GOLDEN / "recorded/opreport_tables/miracle-v3--locks.txt").read_bytes()), TableRequest())
    assert oprofile.order == "samples"
    assert oprofile.rows[0].share == pytest.approx(0.2874, abs=1e-4)
    assert oprofile.rows[-1].cumulative == pytest.approx(0.635, abs=1e-3)
    assert oprofile.total is None
    # Of lockstat the shares are whole percents, of the events and not of their time.
    by_count = view_table(table(LOCKS), TableRequest(order="count"))
    assert [row.share for row in by_count.rows] == pytest.approx([0.18, 0.09], abs=0.005)
    by_time = view_table(table(LOCKS), TableRequest())
    assert by_time.total == 601 + 7 * 302


def test_a_percentage_of_the_whole_is_a_share() -> None:
    [part] = [part for part in read_artefact(REPORT).parts if part.stat == "perf_report"]
    assert isinstance(part, TablePart)
    view = view_table(part, TableRequest(order="overhead_pct"))
    assert [row.share for row in view.rows] == pytest.approx([0.2815, 0.0445])
    assert [row.cumulative for row in view.rows] == pytest.approx([0.2815, 0.3260])
    assert view.total is None


def test_the_unit_of_buckets_is_read_in_the_name_of_the_distribution() -> None:
    part = read_artefact(BUCKETS).parts[0]
    assert isinstance(part, HistogramPart)
    assert view_histogram(part).unit == "us"
