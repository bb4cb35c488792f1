"""Series that are not scored: those that exist on one side only, and those with too few samples."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from normstat.comparison.findings.classify import SeriesIdentity, to_values
from normstat.comparison.findings.coming_and_going import Unmatched
from normstat.comparison.findings.wording import describe_insufficient_data, describe_unmatched
from normstat.comparison.model import InsufficientData, UnmatchedSeries
from normstat.comparison.read_side import StatSide
from normstat.comparison.score import ScoredSeries, StatPair
from normstat.comparison.side_values import SideName
from normstat.profiles.stored_profile import LoadedProfile
from normstat.runtime import work_budget
from normstat.scoring.summary import Summary, summarise

# A series with fewer samples on a side is listed under insufficient data.
MIN_BASELINE: Final = 10
MIN_INCIDENT: Final = 3


class UnscoredSeries:
    """The series of a host that are not scored. The lists grow as series are passed in."""

    def __init__(self, host: str, stats: Mapping[str, StatPair], profile: LoadedProfile | None) -> None:
        self.appeared: list[UnmatchedSeries] = []
        self.disappeared: list[UnmatchedSeries] = []
        self.insufficient_data: list[InsufficientData] = []
        # Of `appeared` and `disappeared`, with their values.
        self.unmatched: list[Unmatched] = []
        self._host = host
        self._stats = stats
        self._in_profile = frozenset() if profile is None else frozenset((key.stat, key.field) for key in profile.series)

    def take(self, scored: ScoredSeries, row: int) -> bool:
        """List a series here if a side has too few samples of it; return whether it is unscored."""
        work_budget.check()
        series = scored.series[row]
        n_baseline, n_incident = int(scored.profile.baseline.n[row]), int(scored.scores.window.n[row])
        if n_baseline >= MIN_BASELINE and n_incident >= MIN_INCIDENT:
            return False
        if n_baseline == 0 and n_incident == 0:
            return True
        level = scored.profile.series_stats.level[[row]]
        if n_incident == 0:
            n_reports = int(scored.profile.baseline.n_reports[row])
            self._add_unmatched(series, "baseline", scored.profile.baseline.take(slice(row, row + 1)), level, n_reports)
        elif n_baseline == 0:
            n_reports = int(scored.scores.window.n_reports[row])
            self._add_unmatched(series, "incident", scored.scores.window.take(slice(row, row + 1)), level, n_reports)
        else:
            self._add_insufficient(series, n_baseline, n_incident)
        return True

    def take_unmatched(self, scored: ScoredSeries | None) -> None:
        """List the series that have samples and no score: their instance, field or stat exists on one side only."""
        names = set() if scored is None else {_name_of(series) for series in scored.series}
        for name, stat in self._stats.items():
            if stat.baseline is not None:
                self._take_side(name, stat, "baseline", names)
            self._take_side(name, stat, "incident", names)

    def sort(self) -> None:
        """Order the series that appeared or disappeared: most samples first."""
        for series in (self.appeared, self.disappeared):
            series.sort(key=lambda item: (-item.n, item.stat, item.instance, item.field))

    def _take_side(self, name: str, stat: StatPair, side: SideName, scored: set[tuple[str, str, str]]) -> None:
        values = stat.incident if side == "incident" else stat.baseline
        if values is None or values.n_rows == 0:
            return
        for key in values.values:
            rows = [(instance, key) for instance in values.names if (name, key, instance) not in scored]
            if not rows:
                continue
            # Distances from zero: the series has no level. Its rhythm is not needed.
            distances = np.asarray(values.packed(rows), np.float32)
            summary = summarise(distances, rhythm_values=distances[:, :0])
            for row, (instance, _) in enumerate(rows):
                work_budget.check()
                if summary.n[row]:
                    series = SeriesIdentity(name, instance, stat.fields[key])
                    self._add_unmatched(series, side, summary.take(slice(row, row + 1)), np.zeros(1), len(values.times_s))

    def _add_unmatched(
        self,
        series: SeriesIdentity,
        side: SideName,
        summary: Summary,
        level: np.ndarray[tuple[int], np.dtype[np.float64]],
        n_reports: int,
    ) -> None:
        """List a series of one side. Where the other side has no value of the whole field, the data is insufficient instead."""
        n = int(summary.n[0])
        if not self._has_field(series, "incident" if side == "baseline" else "baseline"):
            self._add_insufficient(series, *((n, 0) if side == "baseline" else (0, n)))
            return
        values = to_values(summary, level)[0]
        self.unmatched.append(Unmatched(series, side, values, n_reports))
        sentence = describe_unmatched(series.stat, series.instance, series.field, side, values)
        found = self.appeared if side == "incident" else self.disappeared
        found.append(UnmatchedSeries(self._host, *_name_of(series), n, sentence))

    def _add_insufficient(self, series: SeriesIdentity, n_baseline: int, n_incident: int) -> None:
        reason = describe_insufficient_data(series.stat, n_baseline, n_incident, MIN_BASELINE, MIN_INCIDENT)
        self.insufficient_data.append(InsufficientData(self._host, *_name_of(series), n_baseline, n_incident, reason))

    def _has_field(self, series: SeriesIdentity, side: SideName) -> bool:
        """Return whether a side has any value of the field."""
        stat = self._stats.get(series.stat)
        if side == "baseline" and (stat is None or stat.baseline is None):
            return (series.stat, series.field.key) in self._in_profile
        values: StatSide | None = None if stat is None else stat.incident if side == "incident" else stat.baseline
        return values is not None and series.field.key in values.values


def _name_of(series: SeriesIdentity) -> tuple[str, str, str]:
    return series.stat, series.field.key, series.instance
