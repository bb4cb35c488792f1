"""`make bench-compare`: how often each method finds the culprit, and how often it calls unusual what is not.

    python -m bench.compare_measure [--seeds 0:18] [--kinds stalls,none/idle] [--methods n_sigma] [--jobs 2] [--results DIR]

The cases are made (compare_cases.py), so is their truth. hit@k: the first truth stands among the first k of the ranking; Avg@5:
mean of hit@1 to hit@5; MRR: mean of 1 / place; NDCG: 1 / log2(1 + place), for one culprit has one place. Several truths (all 64
CPUs) are one culprit, found with the first of them. False alarms: series called unusual that nothing touched. Intervals are of
95 %: Wilson's for shares of cases, bootstrap over cases for means.
"""

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from bench.compare_cases import FAULT_KINDS, KINDS, Case, generate
from bench.compare_peers import (
    Method,
    Ranking,
    baro_robust,
    bubbleup,
    mann_whitney,
    n_sigma,
    netdata_ks2,
    netdata_volume,
    plain_ks,
    pmdiff,
    wasserstein_robust,
)
from bench.compare_yardstick import compare_md
from bench.record import record

PEERS: Final[dict[str, Method]] = {
    "compare_md": compare_md,
    "n_sigma": n_sigma,
    "baro_robust": baro_robust,
    "wasserstein_robust": wasserstein_robust,
    "netdata_ks2": netdata_ks2,
    "netdata_volume": netdata_volume,
    "pmdiff": pmdiff,
    "bubbleup": bubbleup,
    "mann_whitney": mann_whitney,
    "plain_ks": plain_ks,
}
PRODUCT: Final = "normstat"
Z95: Final = 1.959964


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a method made of a case.

    `place`: of the first truth in the ranking, from 1; None where there is no truth, or it was not ranked. `n_calm`: judged series
    that nothing touched; `n_false`: how many of these were called unusual. `is_called`: a truth was called unusual.
    """

    case: str
    kind: str
    size: str | None
    method: str
    place: int | None
    is_called: bool
    n_false: int
    n_calm: int
    cpu_s: float


def product(case: Case) -> Ranking:
    """The product's own method, through the door that `normstat compare` uses."""
    from normstat.comparison.series_comparison import compare_arrays  # noqa: PLC0415

    sides = case.times_baseline, case.baseline, case.times_incident, case.incident
    before = None if case.times_before is None or case.before is None else (case.times_before, case.before)
    scores, verdicts = compare_arrays(*sides, case.metrics, before=before)
    verdict = np.array(verdicts)
    return np.where((verdict == "insufficient-data") | np.isnan(scores), -np.inf, scores), verdict == "unusual"


def find_methods() -> dict[str, Method]:
    """All methods; the product's first, where this checkout has it."""
    try:
        from normstat.comparison import series_comparison  # noqa: F401, PLC0415
    except ImportError:
        return dict(PEERS)
    return {PRODUCT: product, **PEERS}


def place_of_truth(scores: np.ndarray, metrics: Sequence[str], truths: frozenset[str]) -> int | None:
    """Where the first truth stands, from 1. Equal scores share their middle: nobody gains by order.

    Missing: None where no truth has a score
    """
    is_truth = np.array([name in truths for name in metrics], dtype=bool)
    if not is_truth.any():
        return None
    best = scores[is_truth].max()
    if best == -np.inf:
        return None
    n_equal = int((scores[~is_truth] == best).sum())
    return int((scores[~is_truth] > best).sum()) + n_equal // 2 + (n_equal % 2) + 1


def judge(case: Case, name: str, method: Method) -> Outcome:
    """Runs a method on a case and measures it."""
    began = time.process_time()
    scores, unusual = method(case)
    cpu_s = time.process_time() - began
    untouched = np.array([metric not in case.involved for metric in case.metrics]) & (scores > -np.inf)
    is_called = any(flag for flag, metric in zip(unusual, case.metrics, strict=True) if metric in case.truths)
    place = place_of_truth(scores, case.metrics, case.truths)
    return Outcome(
        case.name, case.flavour, case.size, name, place, is_called, int((unusual & untouched).sum()), int(untouched.sum()), cpu_s
    )


def judge_seed(task: tuple[str, int, tuple[str, ...]]) -> list[Outcome]:
    """All methods on one case: what a worker does."""
    kind, seed, names = task
    case = generate(kind, seed)
    methods = find_methods()
    return [judge(case, name, methods[name]) for name in names]


def wilson(hits: float, n: int) -> tuple[float, float]:
    """The interval of 95 % of a share."""
    if n == 0:
        return 0.0, 1.0
    share, z2 = hits / n, Z95**2
    middle, half = share + z2 / (2 * n), Z95 * float(np.sqrt(share * (1 - share) / n + z2 / (4 * n * n)))
    return max(0.0, (middle - half) / (1 + z2 / n)), min(1.0, (middle + half) / (1 + z2 / n))


def bootstrap(values: Sequence[float]) -> tuple[float, float]:
    """The interval of 95 % of a mean, by drawing the cases again."""
    if not values:
        return 0.0, 1.0
    rng = np.random.default_rng(0)
    means = np.array(values)[rng.integers(0, len(values), (2000, len(values)))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure with its interval of 95 %."""

    value: float
    low: float
    high: float


def share_of(found: Sequence[bool]) -> Measure:
    return Measure(sum(found) / len(found), *wilson(sum(found), len(found)))


def mean_with_interval(values: Sequence[float]) -> Measure:
    return Measure(float(np.mean(values)), *bootstrap(values))


def avg_at_5(place: int | None) -> float:
    return 0.0 if place is None else max(0, 6 - place) / 5


def measure(outcomes: Sequence[Outcome]) -> dict[str, Measure]:
    """All figures of a method on some cases; those of faults where there are faults."""
    found: dict[str, Measure] = {}
    faults = [outcome for outcome in outcomes if outcome.kind in FAULT_KINDS]
    if faults:
        places = [outcome.place for outcome in faults]
        for k in (1, 3):
            found[f"hit@{k}"] = share_of([place is not None and place <= k for place in places])
        found["Avg@5"] = mean_with_interval([avg_at_5(place) for place in places])
        found["MRR"] = mean_with_interval([0.0 if place is None else 1 / place for place in places])
        found["NDCG"] = mean_with_interval([0.0 if place is None else 1 / float(np.log2(1 + place)) for place in places])
        found["called"] = share_of([outcome.is_called for outcome in faults])
    found["false alarms"] = mean_with_interval([outcome.n_false / max(outcome.n_calm, 1) for outcome in outcomes])
    found["CPU s"] = mean_with_interval([outcome.cpu_s for outcome in outcomes])
    return found


def is_of_kind(kind: str, outcome: Outcome) -> bool:
    return outcome.kind == kind


def is_of_size(size: str, outcome: Outcome) -> bool:
    return outcome.size == size


def figures(outcomes: Sequence[Outcome]) -> dict[str, dict[str, dict[str, Measure]]]:
    """Kind -> method -> figure. "faults" and "none" are all of them together."""
    kinds = [kind for kind in KINDS if any(outcome.kind == kind for outcome in outcomes)]
    methods = list(dict.fromkeys(outcome.method for outcome in outcomes))
    groups: dict[str, Callable[[Outcome], bool]] = {kind: partial(is_of_kind, kind) for kind in kinds}
    for size in ("obvious", "medium", "hard"):
        groups[f"faults, {size}"] = partial(is_of_size, size)
    groups["faults"] = lambda outcome: outcome.kind in FAULT_KINDS
    groups["none"] = lambda outcome: outcome.kind not in FAULT_KINDS
    table = {}
    for name, belongs in groups.items():
        of_kind = [outcome for outcome in outcomes if belongs(outcome)]
        if of_kind:
            table[name] = {method: measure([outcome for outcome in of_kind if outcome.method == method]) for method in methods}
    return table


def lines(table: dict[str, dict[str, dict[str, Measure]]], figure: str) -> Iterator[str]:
    """A figure as Markdown: a row for each kind, a column for each method."""
    rows = {kind: by_method for kind, by_method in table.items() if any(figure in found for found in by_method.values())}
    if not rows:
        return
    methods = list(next(iter(rows.values())))
    yield f"| {figure} | " + " | ".join(methods) + " |"
    yield "|---" * (len(methods) + 1) + "|"
    digits = 4 if figure == "false alarms" else 2
    for kind, by_method in rows.items():
        cells = []
        for method in methods:
            found = by_method[method][figure]
            cells.append(f"{found.value:.{digits}f} ({found.low:.{digits}f}-{found.high:.{digits}f})")
        yield f"| {kind} | " + " | ".join(cells) + " |"


def run(kinds: Sequence[str], seeds: range, methods: Sequence[str], jobs: int) -> list[Outcome]:
    """Every method on every case. The order of the result is that of kinds and seeds."""
    tasks = [(kind, seed, tuple(methods)) for kind in kinds for seed in seeds]
    with ProcessPoolExecutor(jobs) as pool:
        return [outcome for found in pool.map(judge_seed, tasks, chunksize=2) for outcome in found]


def keep(table: dict[str, dict[str, dict[str, Measure]]], outcomes: Sequence[Outcome], options: argparse.Namespace) -> Path:
    """Writes figures and outcomes as JSON; gives the path."""
    options.results.mkdir(parents=True, exist_ok=True)
    now = datetime.now(UTC)
    path: Path = options.results / f"{now:%Y-%m-%d}-compare.json"
    figures_as_json = {
        kind: {method: {name: asdict(found) for name, found in by.items()} for method, by in methods.items()}
        for kind, methods in table.items()
    }
    machine = {"system": platform.platform(), "python": platform.python_version()}
    kept = {
        "measured_at": now.isoformat(),
        "machine": machine,
        "seeds": options.seeds,
        "figures": figures_as_json,
        "outcomes": [asdict(outcome) for outcome in outcomes],
    }
    path.write_text(json.dumps(kept, indent=1) + "\n")
    return path


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints the tables, keeps the figures."""
    known = find_methods()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0:18", help="first and one past the last, A:B")
    parser.add_argument("--kinds", default="", help="parted by commas; all of them where nothing is said")
    parser.add_argument("--methods", default="", help="parted by commas; all of them where nothing is said")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--results", type=Path, default=Path(__file__).resolve().parent / "results")
    options = parser.parse_args(arguments)
    kinds = [kind for kind in options.kinds.split(",") if kind] or list(KINDS)
    methods = [method for method in options.methods.split(",") if method] or list(known)
    if unknown := [*(set(kinds) - set(KINDS)), *(set(methods) - set(known))]:
        parser.error(f"not known: {', '.join(unknown)}; kinds: {', '.join(KINDS)}; methods: {', '.join(known)}")
    first, _, last = options.seeds.partition(":")
    outcomes = run(kinds, range(int(first), int(last)), methods, options.jobs)
    table = figures(outcomes)
    for figure in ("hit@1", "hit@3", "Avg@5", "MRR", "NDCG", "called", "false alarms", "CPU s"):
        print("\n".join(lines(table, figure)), end="\n\n")
    for kind, by_method in table.items():
        for method, found in by_method.items():
            for name in ("hit@3", "false alarms"):
                if name in found:
                    record("", f"compare {kind}: {name} of {method}", found[name].value, "share")
    print(f"kept in {keep(table, outcomes, options)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
