"""Findings that tell the same become one: "usr up on 61 of 64 CPUs"; what stands far out of its group is a finding of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from normstat import work_budget
from normstat.comparison.findings.classify import Series
from normstat.comparison.findings.wording import Change, describe_kind, name_group, name_instance, to_times
from normstat.comparison.model import Finding, Group
from normstat.stats.spec import Field

MAX_INSTANCES: Final = 200
MAX_MEMBERS: Final = 20
MAX_RELATED: Final = 5
MAX_WITH_RELATED: Final = 200
# One of many that changed so many times as much as the others usually did has a story of its own.
OUTLIER: Final = 4.0
MIN_FOR_OUTLIER: Final = 8
# Groups of one stat that have this share of their instances in common tell one story.
SAME_INSTANCES: Final = 0.6
# What moved together: a level with its ends, a movement with its width.
CLASSES: Final[Mapping[str, str]] = {
    "level": "level", "top": "level", "bottom": "level", "saturated": "level", "trend": "level", "spikes": "level",
    "shape": "level", "zero": "level", "stall": "level", "spread": "movement", "movement": "movement", "frozen": "frozen",
    "missing": "missing",
}  # fmt: skip

Found = tuple[Series, Finding]


def group_findings(host: str, found: Sequence[Found], n_instances: Mapping[tuple[str, str], int]) -> list[Group]:
    """Return the groups, what matters most first. `n_instances`: how many there are of (stat, field)."""
    stories: dict[tuple[str, str, str, str], list[Found]] = {}
    for series, finding in found:
        key = (series.stat, series.field.key, CLASSES.get(finding.kind, finding.kind), finding.direction)
        stories.setdefault(key, []).append((series, finding))
    groups = []
    for story in stories.values():
        groups += [_to_group(host, part, n_instances) for part in _set_apart(story)]
    groups.sort(
        key=lambda group: (
            -round(group.weight, 2),
            group.instances[0] != "",
            -group.weight,
            group.stat,
            group.field,
            group.instances[0],
        )
    )
    return _relate(groups)


def _set_apart(story: list[Found]) -> list[list[Found]]:
    """Return the members that stand far out, each by itself, and the rest."""
    if len(story) < MIN_FOR_OUTLIER:
        return [story]
    sizes = np.array([_size(finding) for _, finding in story])
    usual = float(np.median(sizes))
    alone = sizes > OUTLIER * usual if usual > 0 else np.zeros(len(story), np.bool_)
    # Many of them are no outliers.
    if alone.sum() > len(story) / MIN_FOR_OUTLIER:
        return [story]
    return [
        *([item] for item, far in zip(story, alone, strict=True) if far),
        [item for item, far in zip(story, alone, strict=True) if not far],
    ]


def _size(finding: Finding) -> float:
    return abs((finding.incident.mean or 0.0) - (finding.baseline.mean or 0.0))


def _to_group(host: str, story: list[Found], n_instances: Mapping[tuple[str, str], int]) -> Group:
    story = sorted(story, key=lambda item: (-item[1].weight, item[1].instance))
    series, strongest = story[0]
    findings = [finding for _, finding in story]
    count = max(n_instances.get((series.stat, series.field.key), 1), len(story))
    # All instances together are more of it than one alone.
    impact = min(1.0, strongest.impact if count <= 1 else max(strongest.impact, sum(item.impact for item in findings) / count))
    return Group(
        host=host,
        stat=series.stat,
        field=series.field.key,
        column=series.field.column,
        unit=series.field.unit,
        help=series.field.help,
        kind=strongest.kind,
        direction=strongest.direction,
        is_worse=strongest.is_worse,
        score=strongest.score,
        surprise=strongest.surprise,
        impact=impact,
        weight=strongest.weight,
        sentence=strongest.sentence if len(story) == 1 else _describe(series.stat, series.field, findings, count),
        n_members=len(story),
        n_instances=count,
        instances=[finding.instance for finding in findings[:MAX_INSTANCES]],
        members=findings[:MAX_MEMBERS],
    )


def _describe(stat: str, field: Field, findings: Sequence[Finding], n_instances: int) -> str:
    strongest = findings[0]
    change = Change(field, strongest.kind, strongest.baseline, strongest.incident, strongest.change)
    least, most = min(item.score for item in findings), max(item.score for item in findings)
    # One whose change is of another kind may have a larger factor than the strongest.
    times = to_times(least) if to_times(least) == to_times(most) else f"{to_times(least)} to {to_times(most)}"
    who = name_instance(stat, strongest.instance) if strongest.instance else "the strongest"
    subject = name_group(stat, field, len(findings), n_instances)
    return f"{subject} changed alike: {who} {describe_kind(change)}; {times} times their usual changes."


def _relate(groups: list[Group]) -> list[Group]:
    """Return each group names the others of its stat and instances: they are probably the same story, seen in another column."""
    by_stat: dict[str, list[Group]] = {}
    for group in groups[:MAX_WITH_RELATED]:
        by_stat.setdefault(group.stat, []).append(group)
    result = []
    for group in groups:
        work_budget.check()
        own = set(group.instances)
        related = [
            other.sentence
            for other in by_stat.get(group.stat, [])
            if other is not group and len(own & set(other.instances)) >= SAME_INSTANCES * max(len(own), len(other.instances))
        ]
        result.append(replace(group, related=related[:MAX_RELATED]))
    return result
