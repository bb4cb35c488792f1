"""A comparison as a report gets it, made up: any part can be another one."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from normstat.comparison.next_questions.questions import Command, Question
from normstat.window import Window

START = datetime(2026, 11, 21, 10, tzinfo=UTC)
# What a host may be called, if it means ill.
HOSTILE = "<script>alert(1)</script>'\"><img src=x onerror=alert(2)>&amp;\u202e\x1b[31m"


def summary(level: float = 10, spread: float = 4, **change: Any) -> SimpleNamespace:
    quantiles = [level + spread * (place / 32 - 0.5) for place in range(33)]
    at = {name: level + spread * (share - 0.5) for name, share in (("p5", 0.05), ("p95", 0.95), ("p99", 0.99))}
    return SimpleNamespace(
        **{"n": 600, "mean": level, "median": level, "lowest": quantiles[0], "highest": quantiles[-1], "quantiles": quantiles}
        | at
        | change
    )


def nothing() -> SimpleNamespace:
    names = ("mean", "median", "p5", "p95", "p99", "lowest", "highest", "quantiles")
    return SimpleNamespace(n=0, **dict.fromkeys(names))


def figure(level: float = 20, **change: Any) -> SimpleNamespace:
    low = [level + (place % 7) / 10 for place in range(160)]
    start = START.timestamp() * 1000
    given = {"start_ms": start, "end_ms": start + 600_000, "low": low, "high": [value + 1 for value in low], "baseline": None}
    return SimpleNamespace(**given | change)


def finding(instance: str = "0", **change: Any) -> SimpleNamespace:
    given = {
        "instance": instance,
        "kind": "level",
        "baseline": summary(),
        "incident": summary(20, 6),
        "usual": 1.0,
        "change": 10.0,
        "score": 10.0,
        "impact": 0.1,
        "sentence": "rose from 10 to 20 %",
        "figure": figure(),
    }
    return SimpleNamespace(**given | change)


def group(rank: int = 1, *instances: str, **change: Any) -> SimpleNamespace:
    members = [finding(instance) for instance in instances or ("0",)]
    question = Question("Which calls?", [Command("truss -c -p 17", "Counts calls.", "", "truss(1)")])
    given = {
        "rank": rank,
        "host": "web1",
        "stat": "mpstat_linux",
        "field": "sys_pct",
        "column": "%sys",
        "unit": "%",
        "help": "CPU time in the kernel.",
        "subsystem": "cpu",
        "kind": "level",
        "direction": "up",
        "is_worse": True,
        "score": 10.0,
        "impact": 0.1,
        "sentence": f"finding {rank} is up",
        "n_members": len(members),
        "n_instances": 64,
        "instances": [member.instance for member in members],
        "members": members,
        "related": ["vmstat sy is up, too"],
        "questions": [question],
    }
    return SimpleNamespace(**given | change)


def comparison(*groups: SimpleNamespace, **change: Any) -> Any:
    day = timedelta(days=1)
    given = {
        "hosts": ["web1"],
        "start": START,
        "end": START + timedelta(minutes=10),
        "method_version": 2,
        "against": SimpleNamespace(
            kind="baseline",
            name="weekdays",
            baseline_id=3,
            version=4,
            windows=[Window(START - 2 * day, START - day)],
            host=None,
        ),
        "divisor": None,
        "sides": SimpleNamespace(
            baseline=SimpleNamespace(covered_s=86400.0, n_samples=5_529_600),
            incident=SimpleNamespace(covered_s=600.0, n_samples=38400),
        ),
        "seasonal_note": "",
        "n_series": 1310,
        "n_unchanged": 1300,
        "n_findings": len(groups),
        "n_groups": len(groups),
        "verdict": "The kernel works more." if groups else "Nothing unusual: 1,310 series are as they are normally.",
        "groups": list(groups),
        "one_sided": [],
        "thin": [],
        "muted": [],
        "counts": SimpleNamespace(one_sided=0, thin=0, muted=0),
        "spec_versions": {"mpstat_linux": 2},
    }
    return SimpleNamespace(**given | change)
