"""Frames of rules made of values, as reading makes them of samples."""

from collections.abc import Mapping, Sequence

import numpy as np

from normstat.scoring.summary import FloatArray
from normstat.watch.rules.rule_file import WatchRule
from normstat.watch.rules.rule_frame import NO_COUNTS, RuleFrame, build_frame, choose_inputs
from normstat.watch.rules.rule_run import RuleRun, run_rule
from tests.comparison.sides import Values, make_side, stat_of


def frame_of(rule: WatchRule, stats: Mapping[str, Values], counts: Mapping[str, int] = NO_COUNTS) -> RuleFrame:
    chosen, missing = choose_inputs(rule, list(stats), counts)
    assert not missing
    return build_frame(rule, chosen, {name: make_side(stat_of(name), values, 0.0) for name, values in stats.items()}, counts)


def run_over(rule: WatchRule, stats: Mapping[str, Values], counts: Mapping[str, int] = NO_COUNTS) -> RuleRun:
    return run_rule(rule, frame_of(rule, stats, counts))


def colours_of(run: RuleRun) -> list[list[str]]:
    """Return the colours of each instance over time; `?` where it could not be judged."""
    names = [*(state.colour.value for state in run.rule.states), "?"]
    return [[names[place] for place in column] for column in run.states.T.tolist()]


def constant(rows: Mapping[str, Sequence[float]], keys: Sequence[str], n: int = 1) -> dict[tuple[str, str], FloatArray]:
    """Return values that stay the same for n reports: `rows` has those of each instance, in the order of the keys."""
    return {(name, key): np.full(n, float(value)) for name, row in rows.items() for key, value in zip(keys, row, strict=True)}
