"""The complete inputs of a comparison as one text: as long as it is the same, so is the result."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.window_sets import Windows
from normstat.comparison.circumstance_reader import read_events
from normstat.comparison.compared_group import read_compared_group
from normstat.comparison.saved_baseline import SavedBaseline, read_saved_baseline
from normstat.comparison.service import METHOD_VERSION, ComparisonRequest
from normstat.query.artefact_times import read_artefact_times
from normstat.query.fact_history import read_tools
from normstat.query.host_events import HostEvent
from normstat.samples.data_marks import read_data_marks, read_profile_marks
from normstat.samples.lookup import require_host
from normstat.samples.spec_refresh import refresh_catalogue
from normstat.stats.catalogue import load_catalogue
from normstat.stats.observer_effect import Effect

SEPARATOR: Final = "\n"


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """A hash of all that a comparison depends on. `events`: those that went into it, each with its host"""

    key: str
    events: list[tuple[str, HostEvent]]


async def read_fingerprint(session: AsyncSession, request: ComparisonRequest) -> Fingerprint:
    """Return a hash that changes with all that a comparison depends on, and the events, which are costly to read.

    These are: the request, the method, the specs, the resolved version and windows of the baseline without what is excluded,
    the hosts of the group, its stored profiles, the mutes, what is expected, the tools of the hosts, the events around the
    incident, and the samples of all hosts up to the last window's end.

    Raises: NotFound for an unknown host, baseline, version or group; BadRequest when the baseline does not cover a host, or the
    group has no other
    """
    await refresh_catalogue(session)
    host_ids = {host: await require_host(session, host) for host in request.hosts}
    against = request.against
    baseline: SavedBaseline | None = None
    parts: list[object] = [METHOD_VERSION, load_catalogue().revision, request]
    if against.baseline is not None:
        baseline = await read_saved_baseline(session, against.baseline, against.version, host_ids)
        parts.append((baseline.id, baseline.name, baseline.version, baseline.time_zone, sorted(baseline.windows.items())))
        parts += await read_profile_marks(session, baseline.id, baseline.version, list(host_ids.values()))
    windows = {} if baseline is None else baseline.windows
    ends = {host_id: _last_end(request, windows.get(host_id, ())) for host_id in host_ids.values()}
    if against.other_host is not None:
        other_id = await require_host(session, against.other_host)
        ends.setdefault(other_id, request.incident.end)
    if against.group is not None:
        group = await read_compared_group(session, against.group, request.hosts)
        parts.append(sorted(group.host_ids.items()))
        for other_id in group.host_ids.values():
            ends.setdefault(other_id, request.incident.end)
    parts += await read_data_marks(session, ends)
    parts += [(host, sorted(tools)) for host, tools in (await read_tools(session, host_ids)).items()]
    events = await read_events(session, list(host_ids), request.incident)
    parts += events
    # Those within baselines are listed too.
    heavy = await read_artefact_times(session, list(host_ids.values()), effects=(Effect.HEAVY,))
    parts += [(time.host, time.id, time.start, time.end) for time in heavy]
    return Fingerprint(hashlib.sha256(SEPARATOR.join(map(repr, parts)).encode()).hexdigest(), events)


def _last_end(request: ComparisonRequest, windows: Windows) -> datetime:
    """Return the end of the last window that a comparison reads. What lies before any of them changes the fingerprint, too."""
    ends = [request.incident.end, *(window.end for window in windows)]
    return max(ends if request.against.window is None else [*ends, request.against.window.end])
