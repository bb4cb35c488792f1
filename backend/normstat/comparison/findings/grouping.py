"""Group findings that changed together ("usr up on 61 of 64 CPUs"). An outlier of its group forms a separate group."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from normstat.comparison.findings.classify import SeriesIdentity
from normstat.comparison.findings.wording import Change, describe_kind, name_group, name_instance
from normstat.comparison.model import Finding, FindingGroup, Subsystem
from normstat.runtime import work_budget
from normstat.runtime.readable import format_ratio
from normstat.stats.catalogue import load_catalogue
from normstat.stats.spec import Field
from normstat.stats.summaries import is_summary

MAX_INSTANCES: Final = 200
MAX_MEMBERS: Final = 20
MAX_RELATED: Final = 5
MAX_WITH_RELATED: Final = 200
# A member that changed this many times as much as the median member forms a separate group.
OUTLIER: Final = 4.0
MIN_FOR_OUTLIER: Final = 8
# Groups of one stat that share this part of their instances are related.
SAME_INSTANCES: Final = 0.6
# Kinds that change together: a level with its ends, a movement with its rhythm.
CLASSES: Final[Mapping[str, str]] = {
    "level": "level", "top": "level", "bottom": "level", "saturated": "level", "trend": "level", "spikes": "level",
    "zero": "level", "stall": "level", "movement": "movement", "rhythm": "movement",
    "frozen": "frozen",
    "missing": "missing",
}  # fmt: skip

SUBSYSTEMS: Final[Mapping[str, Subsystem]] = {
    "cpu": "cpu", "memory": "memory", "disk": "disk", "network": "network", "process": "process", "lock": "cpu",
}  # fmt: skip

Found = tuple[SeriesIdentity, Finding]


def group_findings(host: str, found: Sequence[Found], n_instances: Mapping[tuple[str, str], int]) -> list[FindingGroup]:
    """Return the groups, highest anomaly score first. `n_instances`: series of each (stat, field), without summaries."""
    by_kind: dict[tuple[str, str, str, str], list[Found]] = {}
    for series, finding in found:
        key = (series.stat, series.field.key, CLASSES.get(finding.kind, finding.kind), finding.direction)
        by_kind.setdefault(key, []).append((series, finding))
    groups = []
    for members in by_kind.values():
        groups += [to_group(host, part, n_instances) for part in _split_outliers(members)]
    groups.sort(
        key=lambda group: (
            -round(group.anomaly_score, 2),
            group.instances[0] != "",
            -group.anomaly_score,
            group.stat,
            group.field,
            group.instances[0],
        )
    )
    return _relate(groups)


def _split_outliers(members: list[Found]) -> list[list[Found]]:
    """Return the outliers, each by itself, and the rest."""
    if len(members) < MIN_FOR_OUTLIER:
        return [members]
    sizes = np.array([_size(finding) for _, finding in members])
    typical = float(np.median(sizes))
    alone = sizes > OUTLIER * typical if typical > 0 else np.zeros(len(members), np.bool_)
    # Many of them are no outliers.
    if alone.sum() > len(members) / MIN_FOR_OUTLIER:
        return [members]
    return [
        *([item] for item, far in zip(members, alone, strict=True) if far),
        [item for item, far in zip(members, alone, strict=True) if not far],
    ]


def _size(finding: Finding) -> float:
    return abs((finding.incident.mean or 0.0) - (finding.baseline.mean or 0.0))


def to_group(host: str, members: Sequence[Found], n_instances: Mapping[tuple[str, str], int]) -> FindingGroup:
    """Return findings of one field as a group. `n_instances`: series of each (stat, field), where they are more than the members"""
    members = sorted(members, key=lambda item: (-item[1].anomaly_score, item[1].instance))
    series, strongest = members[0]
    findings = [finding for _, finding in members]
    # A summary such as CPU all is neither one of the instances nor a further one.
    parts = [finding for finding in findings if not is_summary(series.stat, finding.instance)]
    n_parts = max(1, len(parts))
    count = max(n_instances.get((series.stat, series.field.key), 1), n_parts) if parts else 1
    # All instances together have more impact than one alone.
    impact = min(1.0, strongest.impact if count <= 1 else max(strongest.impact, sum(item.impact for item in parts) / count))
    return FindingGroup(
        rank=0,
        host=host,
        stat=series.stat,
        field=series.field.key,
        column=series.field.column,
        unit=series.field.unit,
        help=series.field.help,
        subsystem=subsystem_of(series.stat, series.field.key),
        kind=strongest.kind,
        direction=strongest.direction,
        is_worse=strongest.is_worse,
        change_ratio=strongest.change_ratio,
        significance=strongest.significance,
        certainty=strongest.certainty,
        impact=impact,
        anomaly_score=strongest.anomaly_score,
        sentence=strongest.sentence if len(members) == 1 else _describe(series.stat, series.field, findings, n_parts, count),
        n_members=n_parts,
        n_instances=count,
        instances=[finding.instance for finding in findings[:MAX_INSTANCES]],
        members=findings[:MAX_MEMBERS],
        related=[],
        questions=[],
    )


def subsystem_of(stat: str, field: str) -> Subsystem:
    """Return the part of the system that a field belongs to: by the panel that draws it, else by its neighbours' one."""
    found = load_catalogue().stats.get(stat)
    panels = () if found is None else found[1].panels
    sections = {panel.section for panel in panels}
    section = next((panel.section for panel in panels if field in panel.fields), sections.pop() if len(sections) == 1 else "other")
    return SUBSYSTEMS.get(section, "other")


def _describe(stat: str, field: Field, findings: Sequence[Finding], n_parts: int, n_instances: int) -> str:
    strongest = findings[0]
    change = Change(field, strongest.kind, strongest.baseline, strongest.incident, strongest.change)
    # The strongest need not have the largest ratio: changes of other kinds are measured otherwise.
    least, most = (format_ratio(pick(item.change_ratio for item in findings)) for pick in (min, max))
    ratios = most if least == most else f"{least} to {most}"
    who = name_instance(stat, strongest.instance) if strongest.instance else "the strongest"
    subject = name_group(stat, field, n_parts, n_instances)
    return f"{subject} changed together: {who} {describe_kind(change)}; {ratios}x their normal variation."


def _relate(groups: list[FindingGroup]) -> list[FindingGroup]:
    """Return the groups, each with the sentences of groups of the same stat and instances: often one change in two columns."""
    by_stat: dict[str, list[FindingGroup]] = {}
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
