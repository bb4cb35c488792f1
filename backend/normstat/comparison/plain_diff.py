"""The plain difference of metrics in two files: for those with too few samples for a verdict."""

import math
from dataclasses import dataclass

import numpy as np

from normstat.comparison.long_csv import LongTable
from normstat.runtime.readable import count_of, format_factor


@dataclass(frozen=True, slots=True)
class PlainDifference:
    """The samples of a metric on both sides, and their medians. Missing: NaN without a sample."""

    metric: str
    n_baseline: int
    n_incident: int
    baseline: float
    incident: float

    @property
    def decades(self) -> float:
        """How many decades the medians are apart, to sort by; infinite where only one of them is zero or of another sign."""
        one, other = self.baseline, self.incident
        if math.isnan(one) or math.isnan(other):
            return -1.0
        if one == other:
            return 0.0
        return abs(math.log10(other / one)) if one * other > 0 else math.inf

    def describe(self) -> str:
        """Return both values, their difference and ratio, and why there is no verdict.

        >>> PlainDifference("reads", 1, 1, 4.0, 10.0).describe()
        '4 -> 10 (+6, 2.5 times); no verdict: 1 sample each'
        """
        return f"{self._values()}; no verdict: {self._counts()}"

    def _values(self) -> str:
        one, other = self.baseline, self.incident
        if math.isnan(one) or math.isnan(other):
            return f"{_number(one)} -> {_number(other)}"
        ratio = f", {format_factor(other / one)} times" if one > 0 and other > 0 else ""
        return f"{_number(one)} -> {_number(other)} ({other - one:+.12g}{ratio})"

    def _counts(self) -> str:
        if self.n_baseline == self.n_incident:
            return f"{_samples(self.n_baseline)} each"
        return f"{_samples(self.n_baseline)} in the baseline, {_samples(self.n_incident)} in the incident"


def plain_differences(baseline: LongTable, incident: LongTable, metrics: set[str]) -> list[PlainDifference]:
    """Return the differences of these metrics, the largest in proportion first."""
    sides = [_summarise(table, metrics) for table in (baseline, incident)]
    nothing = (0, math.nan)
    found = []
    for metric in metrics:
        (n_baseline, one), (n_incident, other) = (side.get(metric, nothing) for side in sides)
        found.append(PlainDifference(metric, n_baseline, n_incident, one, other))
    return sorted(found, key=lambda item: (-item.decades, -np.nan_to_num(abs(item.incident - item.baseline)), item.metric))


def _summarise(table: LongTable, metrics: set[str]) -> dict[str, tuple[int, float]]:
    """Return the number of samples and the median of each metric that has some."""
    known = {name: values[~np.isnan(values)] for name, (_, values) in table.series().items() if name in metrics}
    return {name: (len(values), float(np.median(values))) for name, values in known.items() if len(values)}


def _number(value: float) -> str:
    return "none" if math.isnan(value) else f"{value:.12g}"


def _samples(n: int) -> str:
    return count_of(n, "sample") if n else "no sample"
