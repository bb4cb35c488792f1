"""Episodes: the times in which an instance was amber or worse, found in reports that arrive piece by piece.

An episode begins with the first bad report. It ends when no report was bad for the rule's `ends_after_s`, so that a value around a
limit is one episode and not fifty, and when reports stop for longer than that. Its last bad report is its end.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Final

import numpy as np

from normstat.scoring.summary import FloatArray, IntArray
from normstat.watch.rules.rolling import MAX_DISTANCES, usual_distance
from normstat.watch.rules.rule_file import COLOURS, RuleState, WatchRule
from normstat.watch.rules.rule_run import FIRST_BAD, UNKNOWN, RuleRun

# With fewer reports their distance is not known.
MIN_FOR_DISTANCE: Final = 3


class EpisodeEnd(StrEnum):
    """Why an episode ended. Without samples it is unknown whether it did."""

    FINE = "fine"
    UNKNOWN = "unknown"
    NO_SAMPLES = "no_samples"
    WITHDRAWN = "withdrawn"
    RULE_OFF = "rule_off"


@dataclass(frozen=True, slots=True)
class Episode:
    """A time in which an instance was amber or worse.

    `start_s`, `end_s`: its first and last bad report; `state`: the worst of them, first seen at `worst_s`; `values`: the inputs of
    that report; `n_reports`: reports that were bad; `ended_s`: when it was known to have ended. Missing: an input without a value
    is left out; `ended_s` and `ended_by` are None while it lasts
    """

    instance: str
    start_s: float
    end_s: float
    n_reports: int
    state: RuleState
    worst_s: float
    values: Mapping[str, float]
    ended_s: float | None = None
    ended_by: EpisodeEnd | None = None


@dataclass(frozen=True, slots=True)
class _Reports:
    """The reports of a piece. `n_gaps`: gaps up to each report, the one before the first included"""

    run: RuleRun
    colours: IntArray
    n_gaps: IntArray
    limit_s: float


class EpisodeTracker:
    """Finds the episodes of a rule on one host. Fed in any pieces, reports give the same episodes."""

    def __init__(self, rule: WatchRule, open_ones: Iterable[Episode] = (), last_report_s: float | None = None) -> None:
        self._rule = rule
        self._open = {episode.instance: episode for episode in open_ones}
        self._last_s = last_report_s
        self._limit_s = rule.ends_after_s

    @property
    def open_ones(self) -> list[Episode]:
        """The episodes that have not ended."""
        return list(self._open.values())

    def feed(self, run: RuleRun) -> list[Episode]:
        """Take the reports of a piece; return the episodes that ended in it."""
        times_s = run.times_s
        if len(times_s) == 0:
            return []
        if len(times_s) >= MIN_FOR_DISTANCE:
            self._limit_s = max(MAX_DISTANCES * usual_distance(times_s), self._rule.ends_after_s)
        colours = run.colours()
        if not self._open and colours.max(initial=UNKNOWN) < FIRST_BAD:
            # So it is on most hosts.
            self._last_s = float(times_s[-1])
            return []
        before_s = times_s[0] if self._last_s is None else self._last_s
        is_gap = np.diff(times_s, prepend=before_s) > self._limit_s
        reports = _Reports(run, colours, np.cumsum(is_gap), self._limit_s)
        ended: list[Episode] = []
        for column, instance in enumerate(run.instances):
            ended += self._follow(reports, column, instance)
        for instance in self._open.keys() - set(run.instances):
            ended += self._end_absent(instance, times_s)
        self._last_s = float(times_s[-1])
        return sorted(ended, key=lambda episode: episode.start_s)

    def see_silence(self, now_s: float) -> list[Episode]:
        """Return the episodes that end because there was no report for too long before `now_s`."""
        if self._last_s is None or now_s - self._last_s <= self._limit_s:
            return []
        at_s = self._last_s + self._limit_s
        ended = [replace(episode, ended_s=at_s, ended_by=EpisodeEnd.NO_SAMPLES) for episode in self._open.values()]
        self._open.clear()
        return ended

    def _end_absent(self, instance: str, times_s: FloatArray) -> list[Episode]:
        """End the episode of an instance that is no longer reported, after the usual time."""
        episode = self._open[instance]
        later = np.flatnonzero(times_s - episode.end_s >= self._rule.ends_after_s)
        if len(later) == 0:
            return []
        del self._open[instance]
        return [replace(episode, ended_s=float(times_s[later[0]]), ended_by=EpisodeEnd.UNKNOWN)]

    def _follow(self, reports: _Reports, column: int, instance: str) -> list[Episode]:
        times_s, colours = reports.run.times_s, reports.colours[:, column]
        bad = np.flatnonzero(colours >= FIRST_BAD)
        episode = self._open.pop(instance, None)
        if len(bad) == 0 and episode is None:
            return []
        ended: list[Episode] = []
        if episode is not None:
            first_bad = int(bad[0]) if len(bad) else len(times_s)
            end = self._find_end(reports, column, -1, episode.end_s, first_bad)
            if end is not None:
                ended.append(replace(episode, ended_s=end[0], ended_by=end[1]))
                episode = None
        for first, last in _groups(bad, self._splits(reports, bad)):
            found = _describe(reports.run, colours, column, bad[first:last])
            episode = found if episode is None else _join(episode, found)
            following = int(bad[last]) if last < len(bad) else len(times_s)
            end = self._find_end(reports, column, int(bad[last - 1]), episode.end_s, following)
            if end is not None:
                ended.append(replace(episode, ended_s=end[0], ended_by=end[1]))
                episode = None
        if episode is not None:
            self._open[instance] = episode
        return ended

    def _splits(self, reports: _Reports, bad: IntArray) -> IntArray:
        """Return the places in `bad` where another episode begins."""
        times_s = reports.run.times_s
        later = bad[1:]
        is_quiet = times_s[later - 1] - times_s[bad[:-1]] >= self._rule.ends_after_s
        is_split = is_quiet | (reports.n_gaps[later] > reports.n_gaps[bad[:-1]])
        return np.flatnonzero(is_split) + 1

    def _find_end(
        self, reports: _Reports, column: int, last: int, last_s: float, following: int
    ) -> tuple[float, EpisodeEnd] | None:
        """Return when and why an episode ended between its last bad report (-1: in an earlier piece) and the following one."""
        times_s = reports.run.times_s
        between = np.arange(last + 1, following)
        n_gaps = 0 if last < 0 else int(reports.n_gaps[last])
        after_gap = np.flatnonzero(reports.n_gaps[last + 1 : following + 1] > n_gaps)
        quiet = np.flatnonzero(times_s[between] - last_s >= self._rule.ends_after_s)
        gap_at = last + 1 + int(after_gap[0]) if len(after_gap) else None
        quiet_at = int(between[quiet[0]]) if len(quiet) else None
        if gap_at is not None and (quiet_at is None or gap_at <= quiet_at):
            before_s = self._before(times_s, gap_at)
            return before_s + reports.limit_s, EpisodeEnd.NO_SAMPLES
        if quiet_at is None:
            return None
        is_known = reports.colours[last + 1 : quiet_at + 1, column] >= 0
        return float(times_s[quiet_at]), EpisodeEnd.FINE if is_known.any() else EpisodeEnd.UNKNOWN

    def _before(self, times_s: FloatArray, at: int) -> float:
        if at > 0:
            return float(times_s[at - 1])
        return float(times_s[0]) if self._last_s is None else self._last_s


def _groups(bad: IntArray, splits: IntArray) -> list[tuple[int, int]]:
    if len(bad) == 0:
        return []
    bounds = [0, *splits.tolist(), len(bad)]
    return list(pairwise(bounds))


def _describe(run: RuleRun, colours: IntArray, column: int, bad: IntArray) -> Episode:
    worst = int(bad[np.argmax(colours[bad])])
    return Episode(
        instance=run.instances[column],
        start_s=float(run.times_s[bad[0]]),
        end_s=float(run.times_s[bad[-1]]),
        n_reports=len(bad),
        state=run.rule.states[int(run.states[worst, column])],
        worst_s=float(run.times_s[worst]),
        values=_values_at(run, worst, column),
    )


def _join(before: Episode, after: Episode) -> Episode:
    worst = max(before, after, key=lambda each: COLOURS.index(each.state.colour))
    return Episode(
        instance=before.instance,
        start_s=before.start_s,
        end_s=max(before.end_s, after.end_s),
        n_reports=before.n_reports + after.n_reports,
        state=worst.state,
        worst_s=worst.worst_s,
        values=worst.values,
    )


def _values_at(run: RuleRun, report: int, column: int) -> dict[str, float]:
    """Return the inputs of a report, without those with a value per instance if the rule has one state for the host."""
    found = {}
    for name, values in run.values.items():
        if values.shape[1] == 1:
            value = values[report, 0]
        elif values.shape[1] == len(run.instances):
            value = values[report, column]
        else:
            continue
        if not np.isnan(value):
            found[name] = float(value)
    return found
