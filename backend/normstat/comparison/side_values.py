"""The values of a series on one side, and its graph: the shapes that findings and the ledger share."""

from dataclasses import dataclass
from typing import Literal

from normstat.runtime.field_docs import Documented

SideName = Literal["baseline", "incident"]


@dataclass(frozen=True, slots=True)
class SideValues(Documented):
    """The values of a series on one side, in the unit of its field. Missing: null where the side has no sample."""

    n: int
    """Samples."""
    mean: float | None
    median: float | None
    p5: float | None
    p95: float | None
    p99: float | None
    """99 % quantile; from a stored profile: the mean of the largest 2 % of its windows."""
    lowest: float | None
    highest: float | None
    quantiles: list[float] | None
    """33 quantiles from the lowest to the highest value, evenly spaced in probability."""


@dataclass(frozen=True, slots=True)
class SparklineColumns(Documented):
    """A series in columns of equal length, in the unit of its field."""

    low: list[float | None]
    """Lowest value of each column. Null: no sample."""
    high: list[float | None]
    """Highest value of each column. Null: no sample."""


@dataclass(frozen=True, slots=True)
class Sparkline(SparklineColumns):
    """The incident over time."""

    start_ms: int
    """Start of the incident, milliseconds since the epoch."""
    end_ms: int
    """End of the incident, milliseconds since the epoch."""
    baseline: SparklineColumns | None
    """The baseline by elapsed time. Null where it has several windows, or its samples were not read because it has a profile."""
