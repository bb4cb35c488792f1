"""Run a comparison: read the baseline, compare host by host, rank the groups, add the next questions."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final, Literal

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.mute_rows import list_mutes
from normstat.baselines.window_sets import Windows
from normstat.comparison.circumstance_reader import read_circumstances
from normstat.comparison.compared_group import ComparedGroup, join_rates, read_compared_group
from normstat.comparison.divisor import Divisor, Rate, parse_divisor, read_rate
from normstat.comparison.host_comparison import HostComparison, Mutes, Progress, Task, compare_host
from normstat.comparison.ledger_units import add_units, retell
from normstat.comparison.model import ComparedBaseline, Comparison, Counts, FindingGroup, SideCoverage, Sides, Story
from normstat.comparison.next_questions.questions import FindingContext, FindingValue, System, find_questions, to_system
from normstat.comparison.process_origins import add_origins
from normstat.comparison.saved_baseline import SavedBaseline, read_saved_baseline
from normstat.comparison.series_rows import SeriesRows
from normstat.comparison.stories.build import merge_hosts
from normstat.errors import BadRequest, NoData, TooLarge
from normstat.query.fact_history import read_tools
from normstat.query.host_events import HostEvent
from normstat.query.host_os import read_host_os
from normstat.query.report_coverage import read_first_and_last
from normstat.records.expected_value_rows import list_expected_values
from normstat.runtime import work_budget
from normstat.samples.lookup import require_host
from normstat.stats.catalogue import load_catalogue
from normstat.window import Window

METHOD_VERSION: Final = 10
AGO: Final = {"day": timedelta(days=1), "week": timedelta(days=7)}
DEFAULT_LIMIT: Final = 200
# Series outside the findings are all counted; each list holds at most this many.
MAX_LISTED: Final = 1000
# Rows of a stat and side that are read where there is not enough memory for all.
THINNED_ROWS: Final = 500_000
# A baseline with less data shows little of what is normal.
MIN_BASELINE_MINUTES: Final = 10


@dataclass(frozen=True, slots=True)
class BaselineChoice:
    """What to compare with: exactly one of a baseline (version None: the newest), a window, a time ago, another host, or the
    other hosts of a host group.
    """

    baseline: int | None = None
    version: int | None = None
    window: Window | None = None
    ago: Literal["day", "week"] | None = None
    other_host: str | None = None
    group: str | None = None


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """What to compare.

    `divisor`: a series that all others are divided by, as stat.field or stat.field@instance; `limit`: most groups in the result;
    `looks_before`: whether what was there right before the incident already is not the incident's
    """

    hosts: Sequence[str]
    incident: Window
    against: BaselineChoice
    divisor: str | None = None
    limit: int = DEFAULT_LIMIT
    looks_before: bool = True


@dataclass(frozen=True, slots=True)
class WholeComparison:
    """A comparison, and all its series, host by host."""

    comparison: Comparison
    rows: list[SeriesRows]


async def run_comparison(
    session: AsyncSession, request: ComparisonRequest, *, max_rows: int, progress: Progress | None = None
) -> Comparison:
    """Return what changed in the incident: `run_whole_comparison` without its series."""
    return (await run_whole_comparison(session, request, max_rows=max_rows, progress=progress)).comparison


async def run_whole_comparison(
    session: AsyncSession,
    request: ComparisonRequest,
    *,
    max_rows: int,
    progress: Progress | None = None,
    events: Sequence[tuple[str, HostEvent]] | None = None,
) -> WholeComparison:
    """Return what changed in the incident. `max_rows`: most rows read of one stat for each side; `events`: those of the hosts
    around the incident, where they are known already.

    Raises: NotFound for an unknown host, baseline or version; BadRequest when the baseline does not cover a host, or for an
    unknown divisor; NoData when a side has no samples
    """
    started = time.monotonic()
    host_ids = {host: await require_host(session, host) for host in request.hosts}
    saved: SavedBaseline | ComparedGroup | None = None
    if request.against.baseline is not None:
        saved = await read_saved_baseline(session, request.against.baseline, request.against.version, host_ids)
    elif request.against.group is not None:
        saved = await read_compared_group(session, request.against.group, request.hosts)
    hosts = await compare_hosts(session, request, host_ids, saved, max_rows=max_rows, progress=progress)
    groups, ranks = _rank(hosts)
    stories = merge_hosts([host.stories for host in hosts], ranks)
    stories = await add_origins(session, stories, host_ids, request.incident)
    told = [line for host in hosts for line in host.ledger]
    ledger = await add_units(session, told, host_ids, request.incident)
    stories = retell(stories, told, ledger)
    circumstances = await read_circumstances(session, hosts, host_ids, request.incident, stories, events=events)
    shown = groups[: request.limit]
    shown = _add_questions(shown, await _read_systems(session, hosts), await read_tools(session, host_ids))
    elapsed_ms = round(1000 * (time.monotonic() - started))
    appeared, disappeared = [s for host in hosts for s in host.appeared], [s for host in hosts for s in host.disappeared]
    insufficient_data = [s for host in hosts for s in host.insufficient_data]
    muted = [s for host in hosts for s in host.muted]
    comparison = Comparison(
        hosts=[host.host for host in hosts],
        start=request.incident.start,
        end=request.incident.end,
        method_version=METHOD_VERSION,
        against=_describe_baseline(request.against, saved, hosts[0].windows),
        divisor=request.divisor,
        sides=Sides(_add_up([host.baseline for host in hosts]), _add_up([host.incident for host in hosts])),
        is_seasonal=all(host.is_seasonal for host in hosts),
        seasonal_note=" ".join(dict.fromkeys(host.seasonal_note for host in hosts if host.seasonal_note)),
        n_series=sum(host.n_series for host in hosts),
        n_unchanged=sum(host.n_unchanged for host in hosts),
        n_findings=sum(host.n_findings for host in hosts),
        n_groups=len(groups),
        verdict=_to_verdict(hosts, stories),
        groups=shown,
        appeared=appeared[:MAX_LISTED],
        disappeared=disappeared[:MAX_LISTED],
        insufficient_data=insufficient_data[:MAX_LISTED],
        muted=muted[:MAX_LISTED],
        counts=Counts(len(appeared), len(disappeared), len(insufficient_data), len(muted)),
        spec_versions={name: version for host in hosts for name, version in host.spec_versions.items()},
        elapsed_ms=elapsed_ms,
        stories=stories,
        notes=_to_notes(hosts),
        circumstances=circumstances,
        ledger=ledger,
        divisor_note=" ".join(
            host.divisor_note if len(hosts) == 1 else f"{host.host}: {host.divisor_note}" for host in hosts if host.divisor_note
        ),
    )
    return WholeComparison(comparison, [host.rows for host in hosts])


async def compare_hosts(
    session: AsyncSession,
    request: ComparisonRequest,
    host_ids: Mapping[str, int],
    saved: SavedBaseline | ComparedGroup | None,
    *,
    max_rows: int,
    progress: Progress | None = None,
) -> list[HostComparison]:
    """Return the result of each host, one after the other. `saved`: the baseline or host group that the request names.

    A host whose samples do not fit into the memory of comparisons is compared by fewer of them, which the result counts.

    Raises: TooLarge when these do not fit either
    """
    results: list[HostComparison] = []
    for number, host in enumerate(host_ids):

        async def report(done: int, total: int, what: str, n_hosts_done: int = number) -> None:
            if progress is not None:
                await progress(n_hosts_done * total + done, len(host_ids) * total, what)

        with work_budget.host_memory():
            # One host's profile and divisor at a time.
            task = await _to_task(session, request, host, host_ids[host], saved)
            result = None
            if max_rows > THINNED_ROWS:
                # When it is refused for lack of memory, it releases what it had.
                with suppress(TooLarge), work_budget.host_memory():
                    result = await compare_host(session, task, report, max_rows=max_rows)
            if result is None:
                result = await compare_host(session, task, report, max_rows=min(max_rows, THINNED_ROWS))
        n_bytes = work_budget.LISTED_BYTES * (result.n_listed + result.n_findings) + result.rows.n_bytes
        await work_budget.keep_here(n_bytes)
        await _require_samples(session, task, result)
        results.append(result)
    return results


async def _to_task(
    session: AsyncSession,
    request: ComparisonRequest,
    host: str,
    host_id: int,
    saved: SavedBaseline | ComparedGroup | None,
) -> Task:
    against, incident = request.against, request.incident
    other_ids, version, profile = [host_id], None, None
    windows: Windows
    if isinstance(saved, SavedBaseline):
        version, windows = saved.version, saved.windows_of(host, host_id)
        # A profile has undivided values.
        profile = None if request.divisor is not None else await saved.load_profile(session, host_id, incident)
        windows = windows if profile is None else profile.windows
    elif against.ago is not None:
        windows = (Window(incident.start - AGO[against.ago], incident.end - AGO[against.ago]),)
    elif against.other_host is not None:
        if against.other_host == host:
            raise BadRequest(f"{host} in the same window is the incident itself; name another host")
        other_ids, windows = [await require_host(session, against.other_host)], (incident,)
    elif saved is not None:
        other_ids, windows = list(saved.host_ids.values()), (incident,)
    elif against.window is not None:
        windows = (against.window,)
    else:
        raise BadRequest("Say what to compare with: a baseline, a window, a day or a week ago, another host, or a host group")
    divisor = None
    if request.divisor is not None:
        parse_divisor(request.divisor)
        baseline_rates = [await read_rate(session, id_, request.divisor, windows) for id_ in other_ids]
        incident_rate = await read_rate(session, host_id, request.divisor, (incident,))
        divisor = _to_divisor(request.divisor, host, join_rates(baseline_rates, incident.length_s), incident_rate)
    mutes: Mutes = [(mute.stat, mute.field, mute.instance) for mute in await list_mutes(session, host)]
    # A value per unit of work is not what was expected.
    expected = await list_expected_values(session, host) if divisor is None else []
    return Task(host, host_id, incident, other_ids, windows, profile, version, divisor, mutes, expected, request.looks_before)


def _to_divisor(name: str, host: str, baseline: Rate, incident: Rate) -> Divisor:
    """Return the divisor on both sides.

    Raises: NoData where a side has no load
    """
    for side, rate in (("baseline", baseline), ("incident", incident)):
        if not rate.values.any():
            raise NoData(f"The divisor {name} of {host} is zero or missing throughout the {side}", {"host": host})
    return Divisor(name, baseline, incident)


def _describe_baseline(choice: BaselineChoice, saved: SavedBaseline | ComparedGroup | None, windows: Windows) -> ComparedBaseline:
    if isinstance(saved, SavedBaseline):
        return ComparedBaseline("baseline", f"baseline {saved.name}", saved.id, saved.version, list(windows), None)
    if choice.ago is not None:
        return ComparedBaseline("ago", f"the same time one {choice.ago} earlier", None, None, list(windows), None)
    if choice.other_host is not None:
        return ComparedBaseline("host", f"{choice.other_host} at the same time", None, None, list(windows), choice.other_host)
    if saved is not None:
        members = list(saved.host_ids)
        others = f"{members[0]}, the other host" if len(members) == 1 else f"the {len(members)} other hosts"
        name = f"{others} of group {saved.name} at the same time"
        return ComparedBaseline("group", name, None, None, list(windows), None, saved.name, members)
    return ComparedBaseline("window", "another window", None, None, list(windows), None)


def _rank(hosts: Sequence[HostComparison]) -> tuple[list[FindingGroup], list[dict[int, int]]]:
    """Return the groups of all hosts with their ranks, and for each host the ranks by their place in its list."""
    places = sorted(
        ((number, at) for number, host in enumerate(hosts) for at in range(len(host.groups))),
        key=lambda place: -hosts[place[0]].groups[place[1]].anomaly_score,
    )
    ranks: list[dict[int, int]] = [{} for _ in hosts]
    groups = []
    for rank, (number, at) in enumerate(places, start=1):
        ranks[number][at] = rank
        groups.append(replace(hosts[number].groups[at], rank=rank))
    return groups, ranks


def _to_notes(hosts: Sequence[HostComparison]) -> list[str]:
    """Return what else to know of the result."""
    notes = []
    for host in hosts:
        where = f"{host.host}: " if len(hosts) > 1 else ""
        minutes = host.baseline.covered_s / 60
        # Ten minutes of samples cover ten minutes minus one interval.
        if minutes > 0 and round(minutes) < MIN_BASELINE_MINUTES:
            shown = f"only {minutes:.0f} minutes" if minutes >= 1.5 else "only 1 minute" if minutes >= 1 else "less than 1 minute"
            notes.append(f"{where}The baseline has {shown} of data; use at least {MIN_BASELINE_MINUTES}.")
        notes += [f"{where}{note}" for note in host.baseline_notes]
        if host.small_processes:
            notes.append(f"{where}{host.small_processes}")
    return notes


def _to_verdict(hosts: Sequence[HostComparison], stories: Sequence[Story]) -> str:
    n_series, n_findings = sum(host.n_series for host in hosts), sum(host.n_findings for host in hosts)
    if stories:
        many = "" if len(stories) == 1 else f" ({len(stories):,} stories)"
        changed = f"{n_findings:,} of {n_series:,} series changed{many}." if n_findings else ""
        return f"{stories[0].sentence} {changed}".rstrip()
    n_scored = sum(host.n_unchanged for host in hosts)
    if n_scored == 0:
        return f"Insufficient data: none of {n_series:,} series has enough samples on both sides."
    return f"Nothing stands out: none of {n_scored:,} series changed more than it usually does by an amount that matters."


async def _require_samples(session: AsyncSession, task: Task, result: HostComparison) -> None:
    """Require samples on both sides.

    Raises: NoData, with the time that has samples
    """
    for side, coverage, host_id, windows in (
        ("baseline", result.baseline, task.baseline_host_ids[0], task.baseline),
        ("incident", result.incident, task.host_id, (task.incident,)),
    ):
        if coverage.n_samples:
            continue
        if side == "baseline" and len(task.baseline_host_ids) > 1:
            raise NoData("None of the other hosts of the group has samples in the incident's window", {"side": side})
        first, last = await read_first_and_last(session, host_id)
        known = (
            "it has none at all"
            if first is None or last is None
            else f"it has samples from {first:%Y-%m-%dT%H:%M:%SZ} to {last:%Y-%m-%dT%H:%M:%SZ}"
        )
        spans = ", ".join(f"{window.start:%Y-%m-%dT%H:%M:%SZ} to {window.end:%Y-%m-%dT%H:%M:%SZ}" for window in windows[:3])
        raise NoData(f"{task.host} has no samples in the {side} ({spans}); {known}", {"host": task.host, "side": side})


async def _read_systems(session: AsyncSession, hosts: Sequence[HostComparison]) -> dict[str, System]:
    """Return the operating system of each host."""
    os_by_host = await read_host_os(session, [host.host for host in hosts])
    specs = load_catalogue().specs
    return {
        host.host: to_system(os_by_host.get(host.host, ""), (specs[name].os for name in host.spec_versions if name in specs))
        for host in hosts
    }


def _add_questions(
    groups: Sequence[FindingGroup], systems: Mapping[str, System], tools: Mapping[str, frozenset[str]]
) -> list[FindingGroup]:
    questions = find_questions([_to_context(group) for group in groups], systems, tools=tools)
    return [replace(group, questions=own) for group, own in zip(groups, questions, strict=True)]


def _to_context(group: FindingGroup) -> FindingContext:
    return FindingContext(
        host=group.host,
        stat=group.stat,
        field=group.field,
        unit=group.unit,
        kind=group.kind,
        direction=group.direction,
        n_members=group.n_members,
        n_instances=group.n_instances,
        members=tuple(
            FindingValue(member.instance, member.kind, member.baseline.median, member.incident.median) for member in group.members
        ),
    )


def _add_up(sides: Sequence[SideCoverage]) -> SideCoverage:
    return SideCoverage(
        covered_s=max(side.covered_s for side in sides),
        n_samples=sum(side.n_samples for side in sides),
        n_rows_skipped=sum(side.n_rows_skipped for side in sides),
    )
