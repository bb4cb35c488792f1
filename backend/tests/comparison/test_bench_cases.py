"""The cases of `make bench-compare`: the same by seed, honest about what the fault touches, and like what the tools print."""

import numpy as np
import pytest

from bench.compare_cases import CALM_KINDS, FAULT_KINDS, Case, generate, make_plan
from bench.compare_host import Plan, Raw, make_host, print_tools


def rows(case: Case, *names: str) -> np.ndarray:
    return np.concatenate([case.baseline, case.incident], axis=1)[[case.metrics.index(name) for name in names]]


@pytest.mark.parametrize("kind", [*FAULT_KINDS, *CALM_KINDS])
def test_a_seed_gives_the_same_case_every_time(kind: str) -> None:
    first, second, other = generate(kind, 4), generate(kind, 4), generate(kind, 5)
    assert first.metrics == second.metrics
    assert first.truths == second.truths
    np.testing.assert_array_equal(first.times_incident, second.times_incident)
    np.testing.assert_array_equal(first.baseline, second.baseline)
    np.testing.assert_array_equal(first.incident, second.incident)
    assert not np.array_equal(first.times_baseline, other.times_baseline)


@pytest.mark.parametrize("kind", FAULT_KINDS)
def test_a_fault_has_a_truth_and_touches_only_what_it_says(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[list[str], np.ndarray]] = []

    def print_and_keep(raw: Raw, plan: Plan) -> tuple[list[str], np.ndarray]:
        seen.append(print_tools(raw, plan))
        return seen[-1]

    # The same case with and without the fault, and no report is lost by chance.
    monkeypatch.setattr("bench.compare_cases.print_tools", print_and_keep)
    monkeypatch.setattr("bench.compare_cases._lost_rows", lambda rng, names, values: np.zeros(values.shape, dtype=bool))
    case = generate(kind, 3)
    assert case.truths
    assert case.truths <= case.involved <= set(case.metrics)
    (names, without), (_, values) = seen[-2:]
    n = case.baseline.shape[1]
    np.testing.assert_array_equal(without[:, :n], values[:, :n])
    touched = {names[place] for place in np.flatnonzero((without != values).any(axis=1))}
    assert touched
    assert touched <= case.involved
    if kind not in {"fleet_load", "sparse_other_load", "stale_baseline"}:
        assert touched == case.involved


@pytest.mark.parametrize("kind", CALM_KINDS)
def test_where_nothing_happened_there_is_no_truth(kind: str) -> None:
    case = generate(kind, 1)
    assert case.kind == "none"
    assert case.flavour == kind
    assert not case.truths
    assert not case.involved


def test_a_case_is_a_host_of_some_1400_series() -> None:
    case = generate("none/busy", 2)
    assert 1400 <= len(case.metrics) <= 1450
    assert len(set(case.metrics)) == len(case.metrics) == len(case.fields)
    assert case.baseline.shape == (len(case.metrics), len(case.times_baseline))
    assert case.incident.shape == (len(case.metrics), len(case.times_incident))
    assert (np.diff(np.concatenate([case.times_baseline, case.times_incident])) > 0).all()


@pytest.mark.parametrize("kind", ["none/busy", "one_cpu", "saturation"])
def test_percentages_add_up(kind: str) -> None:
    case = generate(kind, 0)
    for cpu in (0, 17, 63):
        usr, sys, wt, idl = rows(case, *(f"mpstat/{cpu}/{field}" for field in ("usr", "sys", "wt", "idl")))
        total = usr + sys + wt + idl
        np.testing.assert_allclose(total[~np.isnan(total)], 100, atol=0.11)
        assert np.nanmin([usr, sys, wt, idl]) >= 0


def test_sums_over_cpus_are_sums() -> None:
    case = generate("none/jobs", 1)
    parts, total = rows(case, *(f"mpstat/{cpu}/syscl" for cpu in range(64))), rows(case, "vmstat/sy")[0]
    known = ~np.isnan(parts).any(axis=0) & ~np.isnan(total)
    assert known.mean() > 0.5
    np.testing.assert_allclose(parts.sum(axis=0)[known], total[known], atol=64)


def test_one_load_moves_most_series() -> None:
    case = generate("none/diurnal", 0)
    first, other = rows(case, "vmstat/cs", "vmstat/cpu_us")
    known = ~np.isnan(first) & ~np.isnan(other)
    assert np.corrcoef(first[known], other[known])[0, 1] > 0.7


def test_sizes_take_turns() -> None:
    assert [generate("frozen", seed).size for seed in range(3)] == ["obvious", "medium", "hard"]


def test_a_kind_that_there_is_not_is_refused() -> None:
    with pytest.raises(KeyError, match="no_such_kind"):
        generate("no_such_kind", 0)


def test_what_the_tools_print_is_never_missing_by_itself() -> None:
    rng = np.random.default_rng(3)
    plan = make_plan(rng, "none/sparse")
    names, values = print_tools(make_host(rng, plan), plan)
    assert np.isfinite(values).all()
    assert len(names) == len(values)
