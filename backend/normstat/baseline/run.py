"""Runs a comparison: reads both sides, compares them off the event loop, writes the sentences."""

from dataclasses import dataclass
from typing import Literal

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.store.baselines import BaselineRecord
from normstat.window import Window


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """What to compare: a stored baseline (by id), or windows given directly. Baseline first, incident second."""

    host: str
    baseline: int | Window
    incident: Window
    limit: int = 200


@dataclass(frozen=True, slots=True)
class Summary:
    """One side of a finding. Missing: None where there is no sample."""

    n: int
    median: float | None
    p5: float | None
    p95: float | None
    p99: float | None
    lowest: float | None
    highest: float | None


@dataclass(frozen=True, slots=True)
class FindingRecord:
    """A series that differs, with the sentence that says how."""

    rank: int
    stat: str
    instance: str
    field: str
    column: str
    unit: str
    kind: str
    baseline: Summary
    incident: Summary
    shift: float
    scale: float
    score: float
    ks: float
    direction: Literal["up", "down", "same"]
    is_worse: bool | None
    sentence: str
    help: str


@dataclass(frozen=True, slots=True)
class OneSidedRecord:
    """A series that only one side has."""

    stat: str
    instance: str
    field: str
    unit: str
    side: Literal["baseline", "incident"]
    summary: Summary
    sentence: str


@dataclass(frozen=True, slots=True)
class ThinRecord:
    """A series with too few samples on a side to be judged."""

    stat: str
    instance: str
    field: str
    n_baseline: int
    n_incident: int
    reason: str


@dataclass(frozen=True, slots=True)
class SideRecord:
    """What one side read."""

    windows: list[Window]
    covered_s: float
    n_samples: int
    n_rows_skipped: int


@dataclass(frozen=True, slots=True)
class ComparisonRecord:
    """Baseline first, incident second."""

    host: str
    method_version: int
    baseline_info: BaselineRecord | None
    baseline: SideRecord
    incident: SideRecord
    n_series: int
    n_compared: int
    n_unchanged: int
    n_findings: int
    findings: list[FindingRecord]
    n_one_sided: int
    one_sided: list[OneSidedRecord]
    n_thin: int
    thin: list[ThinRecord]
    spec_versions: dict[str, int]
    elapsed_ms: int


async def run_comparison(session: AsyncSession, request: ComparisonRequest, *, max_rows: int) -> ComparisonRecord:
    """What differs in the incident from the baseline, ranked; `max_rows`: most rows read of one stat for each side.

    Raises: NotFound for an unknown host or baseline; BadRequest when the baseline does not speak of the host; NoData
    """
    raise NotImplementedError
