"""Rules over recorded output: what each would have said, had the recording gone on."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

import numpy as np

from normstat.comparison.read_side import StatSide
from normstat.samples.lookup import StatRef
from normstat.scoring.summary import FloatArray
from normstat.stats.records import NO_TIME, ReadResult, SampleBlock
from normstat.stats.spec import Field, Semantics
from normstat.watch.rules.rolling import usual_distance
from normstat.watch.rules.rule_file import Colour, WatchRule
from normstat.watch.rules.rule_frame import build_frame, choose_inputs
from normstat.watch.rules.rule_run import run_rule
from tests.comparison.sides import stat_of

# Longer than any rule looks back.
LASTS_S: Final = 900.0
# Of reports without a time.
STEP_S: Final = 10.0


class _Series:
    """The samples of one stat of a recording, report by report."""

    def __init__(self, blocks: Iterable[SampleBlock]) -> None:
        self.names: list[str] = []
        self.rows: dict[float, dict[int, dict[str, float]]] = {}
        self.fields: dict[str, Field] = {}
        self._seen: dict[str, int] = {}
        for block in blocks:
            self._add(block)

    def _add(self, block: SampleBlock) -> None:
        missing = block.missing or (None,) * len(block.values)
        for row, name in enumerate(block.instances):
            count = self._seen[name] = self._seen.get(name, -1) + 1
            time_us = int(block.time_us[row])
            time_s = STEP_S * count if time_us == NO_TIME else time_us / 1e6
            if name not in self.names:
                self.names.append(name)
            own = self.rows.setdefault(time_s, {}).setdefault(self.names.index(name), {})
            for field, column, mask in zip(block.fields, block.values, missing, strict=True):
                self.fields[field.key] = field
                own[field.key] = float("nan") if mask is not None and mask[row] else float(column[row])

    def grid(self, key: str) -> FloatArray:
        """Shape: -> (n_reports, n_instances)"""
        times = sorted(self.rows)
        values = np.full((len(times), len(self.names)), np.nan)
        for at, time_s in enumerate(times):
            for number, row in self.rows[time_s].items():
                values[at, number] = row.get(key, np.nan)
        return values


def sides_of(result: ReadResult) -> dict[str, StatSide]:
    """Return the samples of a recording by stat, over and over until they last long enough. Averages since boot are no samples."""
    blocks: dict[str, list[SampleBlock]] = {}
    for block in result.blocks:
        blocks.setdefault(block.stat.name, []).append(block)
    return {name: _to_side(stat_of(name), _Series(own)) for name, own in blocks.items() if _is_known(name)}


@cache
def _is_known(stat: str) -> bool:
    try:
        stat_of(stat)
    except KeyError:
        return False
    return True


def _to_side(stat: StatRef, series: _Series) -> StatSide:
    own_s = np.array(sorted(series.rows))
    step_s = usual_distance(own_s) or STEP_S
    own_s = own_s - own_s[0]
    period_s = own_s[-1] + step_s
    n_passes = max(1, int(np.ceil(LASTS_S / period_s)))
    times_s = np.concatenate([own_s + number * period_s for number in range(n_passes)])
    n_names = len(series.names)
    values = {}
    for key, field in series.fields.items():
        grid = series.grid(key)
        passes = [grid + number * _growth(field, grid) for number in range(n_passes)]
        values[key] = np.concatenate(passes).T.ravel()
    return StatSide(
        stat=stat,
        names=series.names,
        times_s=times_s,
        report=np.tile(np.arange(len(times_s)), n_names),
        instance=np.repeat(np.arange(n_names), len(times_s)),
        values=values,
        n_rows_skipped=0,
    )


def _growth(field: Field, grid: FloatArray) -> FloatArray:
    """Return by how much a counter grows in one pass, at the pace of the recording."""
    if field.semantics is not Semantics.COUNTER or len(grid) < 2:
        return np.zeros(grid.shape[1])
    grown: FloatArray = (grid[-1] - grid[0]) * len(grid) / (len(grid) - 1)
    return grown


def judge_recording(rule: WatchRule, sides: Mapping[str, StatSide]) -> dict[str, Colour] | None:
    """Return the worst state of each instance; one that was never known is left out. Missing: None where an input is missing"""
    usable = list(sides)
    while True:
        chosen, missing = choose_inputs(rule, usable)
        if missing:
            return None
        empty = {each.stat for each in chosen if each.source_with_values(sides[each.stat]) is None}
        if not empty:
            break
        usable = [stat for stat in usable if stat not in empty]
    run = run_rule(rule, build_frame(rule, chosen, sides))
    colours = run.colours()
    worst = colours.max(axis=0, initial=-1)
    return {name: list(Colour)[place] for name, place in zip(run.instances, worst.tolist(), strict=True) if place >= 0}
