"""Evaluate rules on the samples of many hosts at once: for a few hundred numbers, calling numpy takes longer than arithmetic."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from normstat.watch.rules.expression import Samples
from normstat.watch.rules.rolling import Timeline
from normstat.watch.rules.rule_file import WatchRule
from normstat.watch.rules.rule_frame import RuleFrame
from normstat.watch.rules.rule_run import RuleRun, run_rule

# Numbers of a piece, 2 MB: more of them leave the CPU's cache, and are slower together than apart.
MAX_CELLS: Final = 1 << 18


class Timelines:
    """The reports of hosts, one host after the other: rules on the same tools of the same hosts share them."""

    def __init__(self) -> None:
        # With the arrays, whose identities mean nothing once they are gone.
        self._known: dict[tuple[int, ...], tuple[Sequence[RuleFrame], Timeline]] = {}

    def of(self, frames: Sequence[RuleFrame]) -> Timeline:
        """Return the reports of these frames."""
        key = tuple(id(frame.samples.reports.times_s) for frame in frames)
        if key not in self._known:
            self._known[key] = frames, Timeline.of_hosts([frame.samples.reports.times_s for frame in frames])
        return self._known[key][1]


def run_together(rule: WatchRule, frames: Sequence[RuleFrame], timelines: Timelines) -> list[RuleRun]:
    """Return the state of each report and instance of each frame, as `run_rule` does for one of them."""
    runs: dict[int, RuleRun] = {}
    for places in _list_pieces(frames):
        some = [frames[place] for place in places]
        names = some[0].samples.values
        values = {name: np.concatenate([frame.samples.values[name] for frame in some]) for name in names}
        reports = timelines.of(some)
        whole = run_rule(rule, RuleFrame(Samples(reports, values), some[0].instances))
        for place, own in zip(places, reports.hosts, strict=True):
            samples = frames[place].samples
            runs[place] = RuleRun(rule, samples.reports.times_s, frames[place].instances, whole.states[own], samples.values)
    return [runs[place] for place in range(len(frames))]


def _list_pieces(frames: Sequence[RuleFrame]) -> Iterable[list[int]]:
    """Return the places of frames of the same columns, some at a time."""
    alike: dict[object, list[int]] = {}
    for place, frame in enumerate(frames):
        widths = tuple((name, column.shape[1]) for name, column in frame.samples.values.items())
        alike.setdefault((len(frame.instances), widths), []).append(place)
    for places in alike.values():
        yield from _cut(frames, places)


def _cut(frames: Sequence[RuleFrame], places: Sequence[int]) -> Iterator[list[int]]:
    piece: list[int] = []
    n_cells = 0
    for place in places:
        own = len(frames[place].samples.reports) * max(column.shape[1] for column in frames[place].samples.values.values())
        if piece and n_cells + own > MAX_CELLS:
            yield piece
            piece, n_cells = [], 0
        piece.append(place)
        n_cells += own
    yield piece
