"""Runs a comparison: finds what counts as normal, compares host by host, and says in one sentence what came out."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal

from sqlalchemy.ext.asyncio import AsyncSession

from normstat import work_budget
from normstat.baselines.window_sets import Windows
from normstat.comparison.divisor import Divisor, parse_divisor, read_rate
from normstat.comparison.host_comparison import Mutes, Progress, Task, compare_host
from normstat.comparison.model import AgainstKind, Group, HostComparison
from normstat.errors import BadRequest, NoData
from normstat.profiles.stored_profile import LoadedProfile, load_profile
from normstat.query.report_coverage import read_first_and_last
from normstat.storage.baseline_rows import read_baseline
from normstat.storage.baseline_versions import effective_windows, read_version
from normstat.storage.lookup import require_host
from normstat.storage.mute_rows import list_mutes
from normstat.window import Window

METHOD_VERSION: Final = 2
AGO: Final = {"day": timedelta(days=1), "week": timedelta(days=7)}


@dataclass(frozen=True, slots=True)
class Against:
    """What an incident is compared with: just one of a baseline (and its version, the newest one where none is named), a window,
    the same time a day or a week ago, another host in the same window."""

    baseline: int | None = None
    version: int | None = None
    window: Window | None = None
    ago: Literal["day", "week"] | None = None
    other_host: str | None = None


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """What to compare. `divisor`: a series that all others are divided by, as stat.field or stat.field@instance"""

    hosts: Sequence[str]
    incident: Window
    against: Against
    divisor: str | None = None


@dataclass(frozen=True, slots=True)
class Normal:
    """What counted as normal. `name`: in words; `windows`: of the first host, without what is excluded."""

    kind: AgainstKind
    name: str
    baseline_id: int | None
    version: int | None
    windows: list[Window]
    host: str | None


@dataclass(frozen=True, slots=True)
class ComparisonRecord:
    """All hosts; `groups` are those of all of them, what matters most first."""

    normal: Normal
    hosts: list[HostComparison]
    groups: list[Group]
    verdict: str
    elapsed_ms: int


async def run_comparison(
    session: AsyncSession, request: ComparisonRequest, *, max_rows: int, progress: Progress | None = None
) -> ComparisonRecord:
    """Return what differs in the incident from what is normal; `max_rows`: most rows read of one stat for each side.

    Raises: NotFound for an unknown host, baseline or version; BadRequest when the baseline does not speak of a host, or for a
    divisor that is not there; NoData when a side has no samples
    """
    started = time.monotonic()
    await _require_hosts(session, request)
    found: list[HostComparison] = []
    for number, host in enumerate(request.hosts):

        async def tell(done: int, total: int, what: str, before: int = number) -> None:
            if progress is not None:
                await progress(before * total + done, len(request.hosts) * total, what)

        with work_budget.host_memory():
            # One host's profile and divisor at a time.
            task = await _to_task(session, request, host)
            compared = await compare_host(session, task, tell, max_rows=max_rows)
        await work_budget.keep_here(
            work_budget.LISTED_BYTES * (len(compared.one_sided) + len(compared.thin) + len(compared.muted) + compared.n_findings)
        )
        await _require_samples(session, task, compared)
        found.append(compared)
    groups = sorted((group for host in found for group in host.groups), key=lambda group: -group.weight)
    return ComparisonRecord(
        normal=await _to_normal(session, request, found[0]),
        hosts=found,
        groups=groups,
        verdict=_to_verdict(found, groups),
        elapsed_ms=round(1000 * (time.monotonic() - started)),
    )


async def _require_hosts(session: AsyncSession, request: ComparisonRequest) -> None:
    """Check the names before any sample is read.

    Raises: NotFound for an unknown host, baseline or version; BadRequest when the baseline does not cover a host
    """
    for host in request.hosts:
        await require_host(session, host)
    baseline_id, version = request.against.baseline, request.against.version
    if baseline_id is None:
        return
    info = await read_baseline(session, baseline_id)
    hosts = info.hosts if version is None else (await read_version(session, baseline_id, version)).hosts
    for host in request.hosts:
        if host not in hosts:
            raise BadRequest(
                f"The baseline {info.name} speaks of {', '.join(hosts)}, not of {host}; choose one of that host",
                {"baseline": info.id, "host": host},
            )


async def _to_task(session: AsyncSession, request: ComparisonRequest, host: str) -> Task:
    host_id = await require_host(session, host)
    against, incident = request.against, request.incident
    other_id, version, profile = host_id, None, None
    windows: Windows
    if against.baseline is not None:
        version, windows, profile = await _find_baseline(session, request, host, host_id)
    elif against.ago is not None:
        windows = (Window(incident.start - AGO[against.ago], incident.end - AGO[against.ago]),)
    elif against.other_host is not None:
        if against.other_host == host:
            raise BadRequest(f"{host} in the same window is the incident itself; name another host")
        other_id, windows = await require_host(session, against.other_host), (incident,)
    elif against.window is not None:
        windows = (against.window,)
    else:
        raise BadRequest("Say what to compare with: a baseline, a window, a day or a week ago, or another host")
    divisor = None
    if request.divisor is not None:
        parse_divisor(request.divisor)
        sides = [(other_id, windows), (host_id, (incident,))]
        rates = [await read_rate(session, of, request.divisor, some) for of, some in sides]
        for side, rate in zip(("baseline", "incident"), rates, strict=True):
            if not rate.values.any():
                raise NoData(f"The divisor {request.divisor} of {host} is nothing all the time of the {side}", {"host": host})
        divisor = Divisor(request.divisor, *rates)
    mutes: Mutes = [(mute.stat, mute.field, mute.instance) for mute in await list_mutes(session, host)]
    return Task(host, host_id, incident, other_id, windows, profile, version, divisor, mutes)


async def _find_baseline(
    session: AsyncSession, request: ComparisonRequest, host: str, host_id: int
) -> tuple[int, Windows, LoadedProfile | None]:
    baseline_id = request.against.baseline
    assert baseline_id is not None
    info = await read_baseline(session, baseline_id)
    version = info.version if request.against.version is None else request.against.version
    windows = tuple(await effective_windows(session, baseline_id, host_id, version))
    if not windows:
        raise NoData(f"Nothing is left of the baseline {info.name} for {host}: all of it is excluded", {"baseline": info.id})
    # Divided by the load every sample counts again.
    profile = None
    if request.divisor is None:
        profile = await load_profile(session, baseline_id, request.against.version, host_id, at=request.incident)
    return version, windows if profile is None else profile.windows, profile


async def _to_normal(session: AsyncSession, request: ComparisonRequest, first: HostComparison) -> Normal:
    against, windows = request.against, list(first.windows)
    if against.baseline is not None:
        info = await read_baseline(session, against.baseline)
        return Normal("baseline", f"baseline {info.name}", info.id, first.version, windows, None)
    if against.ago is not None:
        return Normal("ago", f"the same time one {against.ago} before", None, None, windows, None)
    if against.other_host is not None:
        return Normal("host", f"{against.other_host} at the same time", None, None, windows, against.other_host)
    return Normal("window", "another window", None, None, windows, None)


def _to_verdict(hosts: Sequence[HostComparison], groups: Sequence[Group]) -> str:
    n_series, n_findings = sum(host.n_series for host in hosts), sum(host.n_findings for host in hosts)
    if groups:
        series = "1 series differs" if n_findings == 1 else f"{n_findings:,} series differ"
        many = "" if len(groups) == 1 else f", in {len(groups):,} groups"
        return f"{series} from what is normal{many}, of {n_series:,}. First: {groups[0].sentence}"
    n_judged = sum(host.n_unchanged for host in hosts)
    if n_judged == 0:
        return f"Nothing could be judged: none of {n_series:,} series has enough samples on both sides."
    return f"Nothing unusual: {n_judged:,} series are as they are normally."


async def _require_samples(session: AsyncSession, task: Task, compared: HostComparison) -> None:
    """Raise NoData, saying when there are samples, where a side has none."""
    for side, account, host_id, windows in (
        ("baseline", compared.baseline, task.baseline_host_id, task.baseline),
        ("incident", compared.incident, task.host_id, (task.incident,)),
    ):
        if account.n_samples:
            continue
        first, last = await read_first_and_last(session, host_id)
        known = (
            "it has none at all"
            if first is None or last is None
            else f"it has some from {first:%Y-%m-%dT%H:%M:%SZ} to {last:%Y-%m-%dT%H:%M:%SZ}"
        )
        spans = ", ".join(f"{window.start:%Y-%m-%dT%H:%M:%SZ} to {window.end:%Y-%m-%dT%H:%M:%SZ}" for window in windows[:3])
        raise NoData(f"{task.host} has no samples in the {side} ({spans}); {known}", {"host": task.host, "side": side})
