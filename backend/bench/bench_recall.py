"""`make bench-recall`: how often the signature of an incident finds a past incident with the same cause, and how often a wrong one.

    python -m bench.bench_recall [--cases FOLDER/SET] [--draws 400]

With `--cases` published incidents: SET.json is a list of cases, each with `fault` (its cause), and the names of its `baseline` and
`incident` in SET.npz, where `NAME.t` are seconds (n,), `NAME.v` values (n, n_metrics), `NAME.c` the metrics' names as JSON.
Without it, made-up hosts with three of the faults of `make bench-compare` (obvious and medium), no two hosts alike.

leave one out: each incident is held against all others. one, five: against that many of each cause, drawn at random, mean over the
draws. A right answer names the cause of the nearest past incident, if that is alike at all. false recall: no incident of its
cause is among the past ones, and yet one is alike.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from bench.compare_cases import generate
from bench.record import record
from normstat.comparison.series_comparison import families_of
from normstat.comparison.signature import ALIKE, Signature, likeness_of
from normstat.profiles.adhoc_profile import Block, compare_blocks
from normstat.scoring.effects import signed_effects

MADE_KINDS: Final = ("one_cpu", "one_disk", "all_cpus")
N_SEEDS: Final = 12
DIGITS: Final = 2
THRESHOLDS: Final = (0.6, 0.7, ALIKE, 0.8, 0.85, 0.9)


@dataclass(frozen=True, slots=True)
class Incident:
    """An incident whose cause is known."""

    cause: str
    signature: Signature


def read_published(path: Path) -> Iterator[Incident]:
    """Yields the incidents of a set. Raises: OSError, KeyError for another layout"""
    with np.load(path.with_suffix(".npz"), allow_pickle=False) as arrays:
        for case in json.loads(path.with_suffix(".json").read_text(encoding="utf-8")):
            (times, values, names), (times_incident, incident, _) = (
                (arrays[f"{case[side]}.t"].astype(float), arrays[f"{case[side]}.v"].T, json.loads(str(arrays[f"{case[side]}.c"])))
                for side in ("baseline", "incident")
            )
            block = Block(times, values.astype(float), times_incident, incident.astype(float))
            yield Incident(case["fault"], dict(zip(names, effects_of(block, names), strict=True)))


def make_incidents() -> Iterator[Incident]:
    """Yields incidents of made-up hosts: of the instances of a field the one that moved farthest counts, as in the product."""
    for kind in MADE_KINDS:
        for seed in range(N_SEEDS):
            case = generate(kind, seed)
            if case.size == "hard":
                continue
            sides = case.times_baseline, case.baseline, case.times_incident, case.incident
            block = Block(*sides, times_before=case.times_before, before=case.before)
            signature: dict[str, float] = {}
            for name, effect in zip(case.metrics, effects_of(block, case.metrics), strict=True):
                stat, *_, column = name.split("/")
                key = f"{stat}.{column}"
                if stat != "prstat" and abs(effect) >= abs(signature.get(key, 0.0)):
                    signature[key] = effect
            yield Incident(kind, signature)


def effects_of(block: Block, names: Sequence[str]) -> list[float]:
    """The signed effect of each series."""
    profile, scores = compare_blocks([block], families_of(names))
    return [round(effect, DIGITS) for effect in signed_effects(profile, scores).tolist()]


def likeness_matrix(incidents: Sequence[Incident]) -> np.ndarray:
    """How alike each is to each other; -1 to itself."""
    signatures = [incident.signature for incident in incidents]
    matrix = np.array([likeness_of(signature, signatures) for signature in signatures])
    np.fill_diagonal(matrix, -1.0)
    return matrix


def share_right(likeness: np.ndarray, causes: np.ndarray, known: np.ndarray, asked: np.ndarray, alike: float) -> float:
    """The share of the asked incidents whose nearest known one is alike and has their cause."""
    nearest = known[likeness[np.ix_(asked, known)].argmax(axis=1)]
    return float(np.mean((causes[nearest] == causes[asked]) & (likeness[asked, nearest] >= alike)))


def share_with(likeness: np.ndarray, causes: np.ndarray, n: int, n_draws: int, alike: float) -> float | None:
    """The same with `n` past incidents of each cause, mean over draws. Missing: None where a cause has no more than that."""
    by_cause = [np.flatnonzero(causes == cause) for cause in sorted(set(causes))]
    if min(map(len, by_cause)) <= n:
        return None
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(n_draws):
        known = np.concatenate([rng.choice(own, n, replace=False) for own in by_cause])
        asked = np.setdiff1d(np.arange(len(causes)), known)
        shares.append(share_right(likeness, causes, known, asked, alike))
    return float(np.mean(shares))


def false_recall(likeness: np.ndarray, causes: np.ndarray, alike: float) -> float:
    """The share of incidents that are alike to one of another cause, where none of their own is known."""
    return float(np.mean([likeness[at, causes != cause].max() >= alike for at, cause in enumerate(causes)]))


def main() -> None:
    """Prints the figures by threshold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--cases", type=Path, help="FOLDER/SET of published incidents: SET.json and SET.npz")
    parser.add_argument("--draws", type=int, default=400, help="random choices of past incidents")
    given = parser.parse_args()
    incidents = list(make_incidents() if given.cases is None else read_published(given.cases))
    causes = np.array([incident.cause for incident in incidents])
    likeness = likeness_matrix(incidents)
    everyone = np.arange(len(causes))
    name = "made-up hosts" if given.cases is None else given.cases.name
    print(f"{name}: {len(incidents)} incidents, {len(set(causes))} causes\n")
    print("| alike from | leave one out | one past | five past | false recall |\n|---|---|---|---|---|")
    for alike in sorted(set(THRESHOLDS)):
        loo = float(np.mean([share_right(likeness, causes, np.delete(everyone, at), np.array([at]), alike) for at in everyone]))
        one, five = (share_with(likeness, causes, n, given.draws, alike) for n in (1, 5))
        wrong = false_recall(likeness, causes, alike)
        cells = ["" if share is None else f"{share:.3f}" for share in (loo, one, five, wrong)]
        print(f"| {alike:.2f}{' (the product)' if alike == ALIKE else ''} | {' | '.join(cells)} |")
        if alike == ALIKE:
            for what, share in (("leave one out", loo), ("one past", one), ("five past", five), ("false recall", wrong)):
                if share is not None:
                    record("", f"{name}, {what}", share, "share")


if __name__ == "__main__":
    main()
