"""Series that are not judged: those that only one side has, and those with too few samples."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from normstat import work_budget
from normstat.comparison.findings.classify import Series, to_values
from normstat.comparison.findings.wording import describe_one_sided, describe_thin
from normstat.comparison.model import OneSided, SideName, Thin
from normstat.comparison.read_side import StatSide
from normstat.comparison.score import Known, StatPair
from normstat.profiles.stored_profile import LoadedProfile
from normstat.scoring.summary import Summary, summarise

# With fewer samples on a side a series is listed apart and not judged.
MIN_BASELINE: Final = 10
MIN_INCIDENT: Final = 3


class Apart:
    """What stands apart of a host's findings; `one_sided` and `thin` grow as series are given."""

    def __init__(self, host: str, stats: Mapping[str, StatPair], profile: LoadedProfile | None) -> None:
        self.one_sided: list[OneSided] = []
        self.thin: list[Thin] = []
        self._host = host
        self._stats = stats
        self._in_profile = frozenset() if profile is None else frozenset((key.stat, key.field) for key in profile.series)

    def take(self, known: Known, row: int) -> bool:
        """Return whether a judged series does not count, because a side has too few samples of it; then it stands here."""
        work_budget.check()
        series = known.series[row]
        n_baseline, n_incident = int(known.profile.whole.n[row]), int(known.judged.window.n[row])
        if n_baseline >= MIN_BASELINE and n_incident >= MIN_INCIDENT:
            return False
        if n_baseline == 0 and n_incident == 0:
            return True
        level = known.profile.traits.level[[row]]
        for side, n, other in (("baseline", n_incident, known.profile.whole), ("incident", n_baseline, known.judged.window)):
            if n == 0:
                self._add(series, "baseline" if side == "baseline" else "incident", other.take(slice(row, row + 1)), level)
                return True
        self._add_thin(series, n_baseline, n_incident)
        return True

    def take_newcomers(self, known: Known | None) -> None:
        """Series of the samples that were not judged: their instance, their field or their stat is on one side only."""
        judged = set() if known is None else {_named(series) for series in known.series}
        for name, stat in self._stats.items():
            if stat.before is not None:
                self._take_side(name, stat, "baseline", judged)
            self._take_side(name, stat, "incident", judged)

    def _take_side(self, name: str, stat: StatPair, side: SideName, judged: set[tuple[str, str, str]]) -> None:
        values = stat.now if side == "incident" else stat.before
        if values is None or values.n_rows == 0:
            return
        for key in values.values:
            rows = [(instance, key) for instance in values.names if (name, key, instance) not in judged]
            if not rows:
                continue
            # Distances from zero: nobody knows a level.
            summary = summarise(np.asarray(values.packed(rows), np.float32))
            for row, (instance, _) in enumerate(rows):
                work_budget.check()
                if summary.n[row]:
                    series = Series(name, instance, stat.fields[key])
                    self._add(series, side, summary.take(slice(row, row + 1)), np.zeros(1))

    def _add(self, series: Series, side: SideName, summary: Summary, level: np.ndarray[tuple[int], np.dtype[np.float64]]) -> None:
        """One-sided; thin where the other side says nothing at all of the field, so that nothing appeared or vanished."""
        n = int(summary.n[0])
        if not self._has(series, "incident" if side == "baseline" else "baseline"):
            sides = (n, 0) if side == "baseline" else (0, n)
            self._add_thin(series, *sides)
            return
        sentence = describe_one_sided(series.stat, series.instance, series.field, side, to_values(summary, level)[0])
        self.one_sided.append(OneSided(self._host, *_named(series), side, n, sentence))

    def _add_thin(self, series: Series, n_baseline: int, n_incident: int) -> None:
        reason = describe_thin(series.stat, n_baseline, n_incident, MIN_BASELINE, MIN_INCIDENT)
        self.thin.append(Thin(self._host, *_named(series), n_baseline, n_incident, reason))

    def _has(self, series: Series, side: SideName) -> bool:
        """Return whether a side has any value of the field."""
        stat = self._stats.get(series.stat)
        if side == "baseline" and (stat is None or stat.before is None):
            return (series.stat, series.field.key) in self._in_profile
        values: StatSide | None = None if stat is None else stat.now if side == "incident" else stat.before
        return values is not None and series.field.key in values.values


def _named(series: Series) -> tuple[str, str, str]:
    return series.stat, series.field.key, series.instance
