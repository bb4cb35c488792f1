"""Evaluate a rule on samples: the state of each report and instance."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.scoring.summary import FloatArray
from normstat.watch.rules.rule_file import COLOURS, Colour, WatchRule
from normstat.watch.rules.rule_frame import RuleFrame

UNKNOWN: Final = -1
FIRST_BAD: Final = COLOURS.index(Colour.AMBER)

StateArray = np.ndarray


@dataclass(frozen=True, slots=True)
class RuleRun:
    """The states of a rule on samples.

    Shape: times_s (n_reports,); states (n_reports, n_instances), places in the rule's `states`. Missing: UNKNOWN, where it cannot
    be judged
    """

    rule: WatchRule
    times_s: FloatArray
    instances: tuple[str, ...]
    states: StateArray
    values: Mapping[str, FloatArray]

    def colours(self) -> StateArray:
        """Return places in COLOURS. Missing: UNKNOWN. Shape: -> (n_reports, n_instances)"""
        table = np.array([*(COLOURS.index(state.colour) for state in self.rule.states), UNKNOWN])
        colours: StateArray = table[self.states]
        return colours

    def host_colours(self) -> StateArray:
        """Return the worst colour of the instances. Missing: UNKNOWN where none is known. Shape: -> (n_reports,)"""
        colours = self.colours()
        return colours.max(axis=1, initial=UNKNOWN) if colours.size else np.full(len(self.times_s), UNKNOWN)


def without_reports_before(run: RuleRun, time_s: float) -> RuleRun:
    """Return the run without the reports before a time, which were only looked back on."""
    own = slice(int(np.searchsorted(run.times_s, time_s)), None)
    values = {name: column[own] for name, column in run.values.items()}
    return RuleRun(run.rule, run.times_s[own], run.instances, run.states[own], values)


def run_rule(rule: WatchRule, frame: RuleFrame) -> RuleRun:
    """Return the state of each report and instance: that of the first condition that holds.

    Unknown is not fine: a state better than amber needs every condition before it to be known as false.
    """
    n_reports, n_columns = len(frame.samples.reports), len(frame.instances)
    states = np.full((n_reports, n_columns), UNKNOWN, dtype=np.int8)
    is_open, is_certain = np.ones((2, n_reports, n_columns), dtype=bool)
    limits = rule.limit_values()
    for place, state in enumerate(rule.states):
        if state.when is None:
            holds = _has_values(rule, frame).astype(float)
        else:
            holds = np.broadcast_to(state.when.evaluate(frame.samples, limits), states.shape)
        is_bad = COLOURS.index(state.colour) >= FIRST_BAD
        is_it = is_open & (holds == 1) & (is_certain | is_bad)
        states[is_it] = place
        is_open &= ~is_it
        is_certain &= ~np.isnan(holds)
    return RuleRun(rule, frame.samples.reports.times_s, frame.instances, states, frame.samples.values)


def _has_values(rule: WatchRule, frame: RuleFrame) -> np.ndarray:
    """Return where an instance was reported: an absent one has no state."""
    shape = (len(frame.samples.reports), len(frame.instances))
    result = np.zeros(shape, dtype=bool)
    for values in frame.samples.values.values():
        is_known = ~np.isnan(values)
        result |= is_known if rule.of else is_known.any(axis=1).reshape(-1, 1)
    return result
