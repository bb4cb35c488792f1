"""Runs a comparison: reads both sides, compares them off the event loop, writes the sentences."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import anyio.to_thread
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baseline.compare import (
    METHOD_VERSION,
    Finding,
    OneSided,
    Outcome,
    SideStats,
    Thin,
    compare_stat,
    is_comparable,
    rank,
)
from normstat.baseline.inputs import SideSamples, StatSamples, read_stat_samples
from normstat.baseline.report import describe_finding, describe_one_sided, describe_thin
from normstat.baseline.windows import Windows
from normstat.errors import BadRequest, NoData
from normstat.query.coverage import read_first_and_last
from normstat.query.tables import list_host_stats, require_host
from normstat.store.baseline_records import BaselineRecord
from normstat.store.baseline_versions import effective_windows
from normstat.store.baselines import read_baseline
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
    impact: float
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
    started = time.monotonic()
    host_id = await require_host(session, request.host)
    info, baseline = await _find_baseline(session, request)
    incident = (request.incident,)
    outcomes: list[Outcome] = []
    baseline_side, incident_side = _SideSum(), _SideSum()
    spec_versions: dict[str, int] = {}
    for stat in await list_host_stats(session, host_id):
        fields = [field for field in stat.fields if is_comparable(field)]
        samples = await read_stat_samples(session, host_id, stat, baseline, incident, fields=fields, max_rows=max_rows)
        baseline_side.add(samples.baseline)
        incident_side.add(samples.incident)
        if samples.baseline.n_samples or samples.incident.n_samples:
            spec_versions[stat.spec] = stat.spec_version
        outcomes.append(await anyio.to_thread.run_sync(_compare, samples))
    for name, windows, side in (("baseline", baseline, baseline_side), ("incident", incident, incident_side)):
        if side.n_samples == 0:
            await _refuse(session, host_id, request.host, name, windows)
    outcome = rank(outcomes)
    limit = request.limit
    return ComparisonRecord(
        host=request.host,
        method_version=METHOD_VERSION,
        baseline_info=info,
        baseline=baseline_side.to_record(baseline),
        incident=incident_side.to_record(incident),
        n_series=outcome.n_series,
        n_compared=len(outcome.findings) + outcome.n_unchanged,
        n_unchanged=outcome.n_unchanged,
        n_findings=len(outcome.findings),
        findings=[to_finding(number, finding) for number, finding in enumerate(outcome.findings[:limit], start=1)],
        n_one_sided=len(outcome.one_sided),
        one_sided=[to_one_sided(series) for series in outcome.one_sided[:limit]],
        n_thin=len(outcome.thin),
        thin=[to_thin(series) for series in outcome.thin[:limit]],
        spec_versions=spec_versions,
        elapsed_ms=round(1000 * (time.monotonic() - started)),
    )


def to_finding(number: int, finding: Finding) -> FindingRecord:
    """A finding with its rank and sentence."""
    field = finding.series.field
    return FindingRecord(
        rank=number,
        stat=finding.series.stat,
        instance=finding.series.instance,
        field=field.key,
        column=field.column,
        unit=field.unit,
        kind=finding.kind,
        baseline=to_summary(finding.baseline),
        incident=to_summary(finding.incident),
        shift=_round(finding.shift),
        scale=_round(finding.scale),
        score=_round(finding.score),
        ks=_round(finding.ks),
        impact=_round(finding.impact),
        direction=finding.direction,
        is_worse=finding.is_worse,
        sentence=describe_finding(finding),
        help=field.help,
    )


def to_one_sided(series: OneSided) -> OneSidedRecord:
    """A one-sided series with its sentence."""
    named = series.series
    return OneSidedRecord(
        stat=named.stat,
        instance=named.instance,
        field=named.field.key,
        unit=named.field.unit,
        side=series.side,
        summary=to_summary(series.stats),
        sentence=describe_one_sided(series),
    )


def to_thin(thin: Thin) -> ThinRecord:
    """A thin series with the reason."""
    series = thin.series
    return ThinRecord(series.stat, series.instance, series.field.key, thin.n_baseline, thin.n_incident, describe_thin(thin))


def to_summary(stats: SideStats) -> Summary:
    """One side for people and machines."""
    values = (stats.median, stats.p5, stats.p95, stats.p99, stats.lowest, stats.highest)
    return Summary(stats.n, *map(_round, values))


class _SideSum:
    """What one side read, over all stats."""

    def __init__(self) -> None:
        self.n_samples = 0
        self._n_rows_skipped = 0
        self._covered_s = 0.0

    def add(self, side: SideSamples) -> None:
        """Counts one stat."""
        self.n_samples += side.n_samples
        self._n_rows_skipped += side.n_rows_skipped
        # The stats run at the same time: what one of them covers is covered.
        self._covered_s = max(self._covered_s, side.covered_s)

    def to_record(self, windows: Sequence[Window]) -> SideRecord:
        return SideRecord(list(windows), round(self._covered_s, 3), self.n_samples, self._n_rows_skipped)


def _compare(samples: StatSamples) -> Outcome:
    return compare_stat(samples.to_input())


async def _find_baseline(session: AsyncSession, request: ComparisonRequest) -> tuple[BaselineRecord | None, Windows]:
    if isinstance(request.baseline, Window):
        return None, (request.baseline,)
    info = await read_baseline(session, request.baseline)
    if request.host not in info.hosts:
        raise BadRequest(
            f"The baseline {info.name} speaks of {', '.join(info.hosts)}, not of {request.host}; choose one of that host",
            {"baseline": info.id, "host": request.host},
        )
    effective = await effective_windows(session, info.id, await require_host(session, request.host))
    if not effective:
        raise NoData(
            f"Nothing of the baseline {info.name} counts for {request.host}: it has no window yet, or all of it is excluded",
            {"baseline": info.id, "host": request.host},
        )
    return info, effective


async def _refuse(session: AsyncSession, host_id: int, host: str, side: str, windows: Windows) -> None:
    """Raises NoData, saying when there are samples."""
    first, last = await read_first_and_last(session, host_id)
    known = (
        "it has none at all"
        if first is None or last is None
        else f"it has some from {first:%Y-%m-%dT%H:%M:%SZ} to {last:%Y-%m-%dT%H:%M:%SZ}"
    )
    spans = ", ".join(f"{window.start:%Y-%m-%dT%H:%M:%SZ} to {window.end:%Y-%m-%dT%H:%M:%SZ}" for window in windows[:3])
    raise NoData(f"{host} has no samples in the {side} ({spans}); {known}", {"host": host, "side": side})


def _round(value: float) -> float:
    """Nine significant digits: more than any tool prints, and none that only the arithmetic made."""
    return float(f"{value:.9g}")
