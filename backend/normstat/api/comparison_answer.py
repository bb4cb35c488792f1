"""From the inputs of a comparison to its answer: for the page, for reports, for what is kept."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.api.comparison_inputs import ComparisonInputs
from normstat.api.comparison_schemas import (
    Against,
    Comparison,
    Counts,
    Finding,
    Group,
    MutedFinding,
    OneSided,
    Question,
    Side,
    Sides,
    Subsystem,
    Thin,
)
from normstat.api.schemas import Interval
from normstat.api.state import AppState
from normstat.comparison import model
from normstat.comparison.host_comparison import Progress
from normstat.comparison.next_questions.questions import Sighting, Story, System, find_questions, to_system
from normstat.comparison.service import METHOD_VERSION, ComparisonRecord, ComparisonRequest, run_comparison
from normstat.comparison.service import Against as AskedAgainst
from normstat.query.host_os import read_host_os
from normstat.settings import Settings
from normstat.stats.catalogue import load_catalogue
from normstat.storage.session import open_read_session
from normstat.window import Window
from normstat.work_budget import working

SUBSYSTEMS: Final[Mapping[str, Subsystem]] = {
    "cpu": "cpu", "memory": "memory", "disk": "disk", "network": "network", "process": "process", "lock": "cpu",
}  # fmt: skip
# Of what is apart from the findings all are counted, and so many are in the answer.
MAX_APART: Final = 1000


async def answer_in_turn(state: AppState, account: str, inputs: ComparisonInputs, progress: Progress | None = None) -> Comparison:
    """Compare when it is the account's turn, in a session of its own: whoever waits holds no connection.

    When cancelled it ends soon: the statement is cancelled, and the arithmetic stops.

    Raises: BadRequest, NotFound, NoData; Overloaded when others take too long; TooLarge when it needs too much memory
    """
    inputs.require_against()
    async with state.comparison_slots.hold(account):
        with working(state.comparison_memory):
            async with open_read_session(state.sessions) as session:
                return await answer(state.settings, session, inputs, progress)


async def answer(
    settings: Settings, session: AsyncSession, inputs: ComparisonInputs, progress: Progress | None = None
) -> Comparison:
    """Compare the hosts one after the other.

    Raises: BadRequest, NotFound, NoData
    """
    inputs.require_against()
    record = await run_comparison(session, _to_request(inputs), max_rows=settings.compare_max_rows, progress=progress)
    groups = [_to_group(rank, group) for rank, group in enumerate(record.groups[: inputs.limit], start=1)]
    systems = await _read_systems(session, record.hosts)
    for group, asked in zip(groups, find_questions([_to_story(group) for group in groups], systems), strict=True):
        group.questions = [Question.model_validate(question) for question in asked]
    return _to_comparison(inputs, record, groups)


def _to_request(inputs: ComparisonInputs) -> ComparisonRequest:
    window = None
    if inputs.baseline_start is not None and inputs.baseline_end is not None:
        window = Window(inputs.baseline_start, inputs.baseline_end)
    against = AskedAgainst(inputs.baseline, inputs.version, window, inputs.ago, inputs.other_host)
    # A host that is named twice is compared once.
    return ComparisonRequest(list(dict.fromkeys(inputs.host)), Window(inputs.start, inputs.end), against, inputs.divisor)


async def _read_systems(session: AsyncSession, hosts: Sequence[model.HostComparison]) -> dict[str, System]:
    said = await read_host_os(session, [host.host for host in hosts])
    specs = load_catalogue().specs
    return {
        host.host: to_system(said.get(host.host, ""), (specs[name].os for name in host.spec_versions if name in specs))
        for host in hosts
    }


def _to_group(rank: int, group: model.Group) -> Group:
    own: dict[str, Any] = {name: getattr(group, name) for name in Group.model_fields if hasattr(group, name)}
    own["members"] = [Finding.model_validate(member) for member in group.members]
    return Group(**own, rank=rank, subsystem=_subsystem(group.stat, group.field), questions=[])


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


def _to_comparison(inputs: ComparisonInputs, record: ComparisonRecord, groups: list[Group]) -> Comparison:
    hosts, normal = record.hosts, record.normal
    one_sided = [item for host in hosts for item in host.one_sided]
    thin = [item for host in hosts for item in host.thin]
    muted = [item for host in hosts for item in host.muted]
    return Comparison(
        hosts=[host.host for host in hosts],
        start=inputs.start,
        end=inputs.end,
        method_version=METHOD_VERSION,
        against=Against(
            kind=normal.kind,
            name=normal.name,
            baseline_id=normal.baseline_id,
            version=normal.version,
            windows=[Interval.model_validate(window) for window in normal.windows],
            host=normal.host,
        ),
        divisor=inputs.divisor,
        sides=Sides(baseline=_sum([host.baseline for host in hosts]), incident=_sum([host.incident for host in hosts])),
        is_seasonal=all(host.is_seasonal for host in hosts),
        seasonal_note=" ".join(dict.fromkeys(host.seasonal_note for host in hosts if host.seasonal_note)),
        n_series=sum(host.n_series for host in hosts),
        n_unchanged=sum(host.n_unchanged for host in hosts),
        n_findings=sum(host.n_findings for host in hosts),
        n_groups=len(record.groups),
        verdict=record.verdict,
        groups=groups,
        one_sided=[OneSided.model_validate(item) for item in one_sided[:MAX_APART]],
        thin=[Thin.model_validate(item) for item in thin[:MAX_APART]],
        muted=[MutedFinding.model_validate(item) for item in muted[:MAX_APART]],
        counts=Counts(one_sided=len(one_sided), thin=len(thin), muted=len(muted)),
        spec_versions={name: version for host in hosts for name, version in host.spec_versions.items()},
        elapsed_ms=record.elapsed_ms,
    )


def _sum(sides: Sequence[model.SideAccount]) -> Side:
    return Side(
        covered_s=max(side.covered_s for side in sides),
        n_samples=sum(side.n_samples for side in sides),
        n_rows_skipped=sum(side.n_rows_skipped for side in sides),
    )
