"""Flame graphs: every weight is somewhere, recursion counts once, and a difference is that of difffolded.pl."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from normstat.artefacts.call_tree import CallTree, make_tree
from normstat.artefacts.flame_diff import FlameDiffRequest, Scaling, diff_flames, diff_functions
from normstat.artefacts.flame_growth import Direction, GrowthRequest, Threads
from normstat.artefacts.flame_view import FlameRequest, FlameView, FunctionsRequest, list_functions, view_flame
from normstat.artefacts.folded_stacks import read_folded
from normstat.artefacts.parts import StackPart

ALL = GrowthRequest(min_share=0, max_nodes=20_000)
FRAMES = st.lists(st.sampled_from("abcd"), min_size=1, max_size=7)
Stacks = list[tuple[list[str], int]]
STACKS = st.lists(st.tuples(FRAMES, st.integers(1, 10**12)), min_size=1, max_size=30)


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
