"""A made-up comparison for reports: any part can be replaced."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from normstat.comparison.ledger_model import LedgerLine, LedgerPart
from normstat.comparison.model import (
    ChangeRatios,
    Command,
    ComparedBaseline,
    Comparison,
    Counts,
    Finding,
    FindingGroup,
    Question,
    SideCoverage,
    Sides,
    Story,
    StoryLine,
    StoryProcess,
)
from normstat.comparison.side_values import SideValues, Sparkline
from normstat.window import Window

START = datetime(2026, 11, 21, 10, tzinfo=UTC)
# The name of something on a hostile host.
HOSTILE = "<script>alert(1)</script>'\"><img src=x onerror=alert(2)>&amp;\u202e\x1b[31m"
DAY = timedelta(days=1)
WINDOW = Window(START - 2 * DAY, START - DAY)
NO_VALUES = SideValues(0, None, None, None, None, None, None, None, None)


def side_values(level: float = 10, spread: float = 4) -> SideValues:
    quantiles = [level + spread * (place / 32 - 0.5) for place in range(33)]
    p5, p95, p99 = (level + spread * (share - 0.5) for share in (0.05, 0.95, 0.99))
    return SideValues(600, level, level, p5, p95, p99, quantiles[0], quantiles[-1], quantiles)


def sparkline(level: float = 20, **change: Any) -> Sparkline:
    low: list[float | None] = [level + (place % 7) / 10 for place in range(160)]
    high: list[float | None] = [level + 1 + (place % 7) / 10 for place in range(160)]
    start_ms = round(START.timestamp() * 1000)
    return replace(Sparkline(low=low, high=high, start_ms=start_ms, end_ms=start_ms + 600_000, baseline=None), **change)


def finding(instance: str = "0", **change: Any) -> Finding:
    given = Finding(
        instance=instance,
        kind="level",
        direction="up",
        is_worse=True,
        baseline=side_values(),
        incident=side_values(20, 6),
        change_scale=1.0,
        change=10.0,
        change_ratio=10.0,
        significance=8.0,
        certainty="sure",
        explained_by_load=0.0,
        change_ratios=ChangeRatios(10.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        impact=0.1,
        anomaly_score=0.3,
        sentence="rose from 10 to 20 %",
        sparkline=sparkline(),
    )
    return replace(given, **change)


def group(rank: int = 1, *instances: str, **change: Any) -> FindingGroup:
    members = [finding(instance) for instance in instances or ("0",)]
    given = FindingGroup(
        rank=rank,
        host="web1",
        stat="mpstat_linux",
        field="sys_pct",
        column="%sys",
        unit="%",
        help="CPU time in the kernel.",
        subsystem="cpu",
        kind="level",
        direction="up",
        is_worse=True,
        change_ratio=10.0,
        significance=8.0,
        certainty="sure",
        impact=0.1,
        anomaly_score=0.3,
        sentence=f"finding {rank} is up",
        n_members=len(members),
        n_instances=64,
        instances=[member.instance for member in members],
        members=members,
        related=["vmstat sy is up, too"],
        questions=[
            Question("Which calls?", [Command("truss -c -p 17", "Counts calls.", "", "truss(1)", "truss | normstat-agent put")])
        ],
    )
    return replace(given, **change)


def story(rank: int = 1, *ranks: int, **change: Any) -> Story:
    """A story of the groups of those ranks: a new process and what the disk did."""
    start_ms = round(START.timestamp() * 1000)
    process = StoryProcess(
        "web1", "pidstat_linux", "29206/dd", "dd (29206)", [29206], "new", start_ms + 12_400, "dd (29206) wrote 1.81 GiB/s"
    )
    given = Story(
        rank=rank,
        hosts=["web1"],
        topic="disk",
        title="Disk I/O",
        sentence=f"story {rank}: dd (29206) wrote 1.81 GiB/s.",
        anomaly_score=1 / rank,
        significance=8.0,
        impact=0.5,
        is_worse=True,
        onset_ms=start_ms + 12_900,
        processes=[process],
        lines=[StoryLine("busy", "vda was busy 83 % of the time (normally 0 to 6 %)", ranks[0] if ranks else 1)],
        also_seen_by=["bo (vmstat)"],
        ranks=list(ranks or (1,)),
    )
    return replace(given, **change)


def comparison(*groups: FindingGroup, **change: Any) -> Comparison:
    given = Comparison(
        hosts=["web1"],
        start=START,
        end=START + timedelta(minutes=10),
        method_version=2,
        against=ComparedBaseline("baseline", "weekdays", 3, 4, [WINDOW], None),
        divisor=None,
        sides=Sides(SideCoverage(86400.0, 5_529_600, 0), SideCoverage(600.0, 38400, 0)),
        is_seasonal=False,
        seasonal_note="",
        n_series=1310,
        n_unchanged=1300,
        n_findings=len(groups),
        n_groups=len(groups),
        verdict="The kernel works more." if groups else "No unusual change in 1,310 series.",
        groups=list(groups),
        appeared=[],
        disappeared=[],
        insufficient_data=[],
        muted=[],
        counts=Counts(0, 0, 0, 0),
        spec_versions={"mpstat_linux": 2},
        elapsed_ms=12,
    )
    return replace(given, **change)


def ledger_part(**change: Any) -> LedgerPart:
    """A new process that used 170 % of a CPU."""
    given = LedgerPart(
        name="yes (812)",
        stat="linux_process",
        instance="812/yes",
        kind="process",
        command="yes",
        pids=[812],
        quantity="cpu",
        unit="%",
        baseline=0.0,
        incident=170.0,
        low=0.0,
        high=0.0,
        change=170.0,
        share=0.97,
        is_outside=True,
        is_new=True,
        is_gone=False,
        start_ms=None,
        is_culprit=True,
        windows=[0.0, 0.0, 0.0],
    )
    return replace(given, **change)


def ledger_line(**change: Any) -> LedgerLine:
    """What two CPUs did."""
    given = LedgerLine(
        host="web1",
        resource="cpu",
        name="the CPUs",
        stat="linux_cpu",
        fields=["idle_pct", "iowait_pct"],
        instance="all",
        unit="%",
        capacity=200.0,
        baseline=30.0,
        incident=196.0,
        low=24.0,
        high=38.0,
        change=166.0,
        outside=158.0,
        is_full=False,
        certainty="sure",
        ratio=3.1,
        weight=0.79,
        parts=[ledger_part()],
        units=[],
        remainder=None,
        window_s=45.0,
        window_starts_ms=[1_794_816_000_000, 1_794_816_045_000, 1_794_816_090_000],
        windows=[30.0, 38.0, 24.0],
        sentence="yes (812), which is new, used 170 % of a CPU; the CPUs were busy 98 % of the time (normally 12 to 19 %).",
    )
    return replace(given, **change)


def ledger_of_memory(**change: Any) -> LedgerLine:
    """Memory, as normal."""
    gib = 2.0**20
    given = ledger_line(
        resource="memory",
        name="memory",
        instance="",
        unit="KiB",
        capacity=23.6 * gib,
        incident=1.3 * gib,
        low=1.1 * gib,
        high=1.4 * gib,
        outside=0.0,
        certainty="nothing",
        parts=[],
        sentence="1.3 of 23.6 GiB of memory were used (normally 1.1 to 1.4 GiB).",
    )
    return replace(given, **change)
