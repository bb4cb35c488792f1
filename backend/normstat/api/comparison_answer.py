"""From the inputs of a comparison to its answer: the one place that runs comparisons for reports and for what is kept.

Written for method 1, whose findings are single series: each is a group of its own here. What method 1 cannot do is refused.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.api.comparison_inputs import ComparisonInputs
from normstat.api.comparison_schemas import (
    Against,
    Comparison,
    Counts,
    Finding,
    Group,
    OneSided,
    Question,
    ScoreParts,
    Side,
    Sides,
    Subsystem,
    Summary,
    Thin,
)
from normstat.api.schemas import Interval
from normstat.api.state import AppState
from normstat.baseline import run
from normstat.baseline.questions import Sighting, Story, System, find_questions, to_system
from normstat.errors import BadRequest
from normstat.query.host_os import read_host_os
from normstat.stats.catalogue import load_catalogue
from normstat.window import Window

AGO: Final = {"day": timedelta(days=1), "week": timedelta(days=7)}
NO_PARTS: Final = ScoreParts(value=0, shape=0, top=0, bottom=0, step=0, still=0, missing=0)
SUBSYSTEMS: Final[Mapping[str, Subsystem]] = {
    "cpu": "cpu", "memory": "memory", "disk": "disk", "network": "network", "process": "process", "lock": "cpu",
}  # fmt: skip


async def answer(state: AppState, session: AsyncSession, inputs: ComparisonInputs) -> Comparison:
    """Compares the hosts one after the other.

    Raises: BadRequest, NotFound, NoData
    """
    inputs.require_against()
    if inputs.other_host is not None or inputs.divisor is not None or inputs.version is not None:
        raise BadRequest("Comparisons with another host, by a divisor or with an older version cannot be reported yet")
    incident = Window(inputs.start, inputs.end)
    given = _find_baseline(inputs, incident)
    max_rows = state.settings.compare_max_rows
    records = [
        await run.run_comparison(session, run.ComparisonRequest(host, given, incident, inputs.limit), max_rows=max_rows)
        for host in inputs.host
    ]
    groups = [_to_group(record.host, finding) for record in records for finding in record.findings]
    groups.sort(key=lambda group: -group.weight)
    systems = await _read_systems(session, records)
    questions = find_questions([_to_story(group) for group in groups], systems)
    for rank, (group, asked) in enumerate(zip(groups, questions, strict=True), start=1):
        group.rank = rank
        group.questions = [Question.model_validate(question) for question in asked]
    return _to_comparison(inputs, records, groups[: inputs.limit])


def _find_baseline(inputs: ComparisonInputs, incident: Window) -> int | Window:
    if inputs.baseline is not None:
        return inputs.baseline
    if inputs.ago is not None:
        return Window(incident.start - AGO[inputs.ago], incident.end - AGO[inputs.ago])
    assert inputs.baseline_start is not None
    assert inputs.baseline_end is not None
    return Window(inputs.baseline_start, inputs.baseline_end)


async def _read_systems(session: AsyncSession, records: Sequence[run.ComparisonRecord]) -> dict[str, System]:
    said = await read_host_os(session, [record.host for record in records])
    specs = load_catalogue().specs
    return {
        record.host: to_system(said.get(record.host, ""), (specs[name].os for name in record.spec_versions if name in specs))
        for record in records
    }


def _to_group(host: str, found: run.FindingRecord) -> Group:
    member = Finding(
        instance=found.instance,
        kind="level" if found.kind == "level" else "top" if found.kind == "top" else "bottom",
        baseline=_to_summary(found.baseline),
        incident=_to_summary(found.incident),
        usual=found.scale,
        change=found.shift,
        score=found.score,
        parts=NO_PARTS.model_copy(update={found.kind if found.kind in ("top", "bottom") else "value": found.score}),
        impact=found.impact,
        sentence=found.sentence,
        figure=None,
    )
    return Group(
        rank=0,
        host=host,
        stat=found.stat,
        field=found.field,
        column=found.column,
        unit=found.unit,
        help=found.help,
        direction=found.direction,
        is_worse=found.is_worse,
        score=found.score,
        impact=found.impact,
        sentence=found.sentence,
        subsystem=_subsystem(found.stat, found.field),
        kind=member.kind,
        weight=found.impact * found.score / (found.score + 8),
        n_members=1,
        n_instances=1,
        instances=[found.instance],
        members=[member],
        related=[],
        questions=[],
    )


def _to_summary(side: run.Summary) -> Summary:
    return Summary(
        n=side.n, mean=None, median=side.median, p5=side.p5, p95=side.p95, p99=side.p99,
        lowest=side.lowest, highest=side.highest, quantiles=None,
    )  # fmt: skip


def _subsystem(stat: str, field: str) -> Subsystem:
    known = load_catalogue().stats.get(stat)
    panels = () if known is None else known[1].panels
    return next((SUBSYSTEMS.get(panel.section, "other") for panel in panels if field in panel.fields), "other")


def _to_story(group: Group) -> Story:
    members = tuple(
        Sighting(member.instance, member.kind, member.baseline.median, member.incident.median) for member in group.members
    )
    return Story(
        group.host, group.stat, group.field, group.unit, group.kind, group.direction, group.n_members, group.n_instances, members
    )


def _to_comparison(inputs: ComparisonInputs, records: Sequence[run.ComparisonRecord], groups: list[Group]) -> Comparison:
    first = records[0]
    windows = [Interval.model_validate(window) for window in first.baseline.windows]
    n_findings = sum(record.n_findings for record in records)
    n_series = sum(record.n_series for record in records)
    info = first.baseline_info
    name = f"baseline {info.name}" if info is not None else f"one {inputs.ago} before" if inputs.ago else "another window"
    return Comparison(
        hosts=inputs.host,
        start=inputs.start,
        end=inputs.end,
        method_version=first.method_version,
        against=Against(
            kind="baseline" if info is not None else "ago" if inputs.ago else "window",
            name=name,
            baseline_id=None if info is None else info.id,
            version=None if info is None else info.version,
            windows=windows,
            host=None,
        ),
        divisor=None,
        sides=Sides(
            baseline=_sum_sides([record.baseline for record in records]),
            incident=_sum_sides([record.incident for record in records]),
        ),
        is_seasonal=False,
        seasonal_note="",
        n_series=n_series,
        n_unchanged=sum(record.n_unchanged for record in records),
        n_findings=n_findings,
        n_groups=n_findings,
        verdict=groups[0].sentence if groups else f"Nothing unusual: {n_series:,} series are as they are normally.",
        groups=groups,
        one_sided=[_to_one_sided(record.host, item) for record in records for item in record.one_sided],
        thin=[_to_thin(record.host, item) for record in records for item in record.thin],
        muted=[],
        counts=Counts(
            one_sided=sum(record.n_one_sided for record in records), thin=sum(record.n_thin for record in records), muted=0
        ),
        spec_versions={name: version for record in records for name, version in record.spec_versions.items()},
        elapsed_ms=sum(record.elapsed_ms for record in records),
    )


def _sum_sides(sides: Sequence[run.SideRecord]) -> Side:
    return Side(covered_s=max(side.covered_s for side in sides), n_samples=sum(side.n_samples for side in sides))


def _to_one_sided(host: str, item: run.OneSidedRecord) -> OneSided:
    return OneSided(
        host=host,
        stat=item.stat,
        field=item.field,
        instance=item.instance,
        side=item.side,
        n=item.summary.n,
        sentence=item.sentence,
    )


def _to_thin(host: str, item: run.ThinRecord) -> Thin:
    return Thin(
        host=host,
        stat=item.stat,
        field=item.field,
        instance=item.instance,
        n_baseline=item.n_baseline,
        n_incident=item.n_incident,
        reason=item.reason,
    )
