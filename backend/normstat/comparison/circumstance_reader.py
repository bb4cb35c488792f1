"""Read the circumstances of an incident: events of the hosts, trace streams, losses; and put them in their order."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.window_sets import Windows, intersect, length_s
from normstat.comparison.circumstances import (
    Onset,
    describe_events,
    describe_losses,
    describe_observed_baseline,
    describe_observer,
    describe_silences,
    event_window,
)
from normstat.comparison.host_comparison import HostComparison
from normstat.comparison.model import Circumstance, Story
from normstat.comparison.observers import TRACERS, Observer, merge_observers
from normstat.query.artefact_times import ArtefactTime, read_artefact_times
from normstat.query.host_events import HostEvent, read_host_events
from normstat.query.stream_losses import read_stream_losses, read_stream_times
from normstat.stats.catalogue import load_catalogue
from normstat.stats.fact_words import EventKind
from normstat.stats.observer_effect import Effect
from normstat.window import Window, from_us

US_PER_MS: Final = 1000
# Maximum number of periods of the baseline under a tracer that are listed one by one.
MAX_OBSERVED: Final = 3


async def read_events(session: AsyncSession, hosts: Sequence[str], incident: Window) -> list[tuple[str, HostEvent]]:
    """Return the events of the hosts that may be listed with an incident, each with its host."""
    window = event_window(incident)
    return [(host, event) for host in hosts for event in (await read_host_events(session, host, window)).events]


async def read_circumstances(
    session: AsyncSession,
    hosts: Sequence[HostComparison],
    host_ids: Mapping[str, int],
    incident: Window,
    stories: Sequence[Story],
    *,
    events: Sequence[tuple[str, HostEvent]] | None = None,
) -> list[Circumstance]:
    """Return what else happened: events by their distance from the onset of the first story, observers, missing data.

    `events`: what `read_events` returned, None to read them here
    """
    if events is None:
        events = await read_events(session, [host.host for host in hosts], incident)
    # A trace made in the incident is reported as an observer.
    plain = [(host, event) for host, event in events if event.kind is not EventKind.TRACER or not _is_within(event, incident)]
    told = describe_events(plain, incident, to_onset(stories, incident), names_hosts=len(hosts) > 1)
    made = await _read_artefacts(session, hosts, host_ids, incident)
    found: list[Circumstance] = []
    for host in hosts:
        traces = await read_traces(session, host_ids[host.host], incident, host.windows)
        own = [time for time in made if time.host == host.host]
        observers = merge_observers(host.observers, [*traces, *_to_observers(own, incident)])
        found += [describe_observer(host.host, observer, incident) for observer in observers]
        found += _describe_baseline(host, own, incident)
    for host in hosts:
        found += describe_silences(host.host, host.silences, incident)
        found += describe_losses(host.host, await read_stream_losses(session, host_ids[host.host], incident))
    if len(hosts) > 1:
        found = [replace(one, sentence=f"{one.host}: {one.sentence}") for one in found]
    return told + found


async def _read_artefacts(
    session: AsyncSession, hosts: Sequence[HostComparison], host_ids: Mapping[str, int], incident: Window
) -> list[ArtefactTime]:
    """Return the artefacts of tools that disturb, from the first to the last window of a comparison."""
    windows = [incident, *(window for host in hosts for window in host.windows)]
    return await read_artefact_times(
        session,
        [host_ids[host.host] for host in hosts],
        start=min(window.start for window in windows),
        end=max(window.end for window in windows),
        effects=(Effect.LIGHT, Effect.HEAVY),
    )


def _is_within(event: HostEvent, window: Window) -> bool:
    return event.at < window.end and (event.end or event.at) >= window.start


def _to_observers(made: Sequence[ArtefactTime], incident: Window) -> list[Observer]:
    """Return the tools whose artefacts were made in the incident."""
    return [
        Observer(
            command=time.tool or "a tracer",
            pids=(),
            first_s=max(time.start, incident.start).timestamp(),
            last_s=min(time.end, incident.end).timestamp(),
            is_from_start=time.start <= incident.start,
            is_to_end=time.end >= incident.end,
            is_process=False,
            effect=time.effect,
            artefact=time.id,
        )
        for time in made
        if time.start < incident.end and time.end >= incident.start
    ]


def _describe_baseline(host: HostComparison, made: Sequence[ArtefactTime], incident: Window) -> list[Circumstance]:
    """Return the periods of the baseline under a heavy tool, the longest first."""
    own = [window for window in host.windows if window != incident]
    told = []
    for time in made:
        if time.effect is Effect.HEAVY and time.window is not None:
            observed_s = length_s(intersect(own, [time.window]))
            if observed_s > 0:
                told.append((observed_s, time))
    told.sort(key=lambda item: -item[0])
    return [describe_observed_baseline(host.host, time, observed_s) for observed_s, time in told[:MAX_OBSERVED]]


def to_onset(stories: Sequence[Story], incident: Window) -> Onset:
    """Return when the trouble began: the onset of the first story, else the start of the incident."""
    onset_ms = stories[0].onset_ms if stories else None
    return Onset(incident.start, is_known=False) if onset_ms is None else Onset(from_us(US_PER_MS * onset_ms), is_known=True)


async def read_traces(session: AsyncSession, host_id: int, incident: Window, baseline: Windows) -> list[Observer]:
    """Return the observers whose output the host recorded in the incident.

    One that also covers the whole baseline does not count.
    """
    # Only the specs of these streams are parsed: all of them take a second.
    specs = load_catalogue().specs
    observers = []
    for name, first, last in await read_stream_times(session, host_id, incident):
        if name not in specs or specs[name].tool not in TRACERS:
            continue
        # Another host, or a group, in the same window says nothing about this host's traces.
        own = [window for window in baseline if window != incident]
        if own and all(first <= window.start and last >= window.end for window in own):
            continue
        observers.append(
            Observer(
                command=specs[name].tool,
                pids=(),
                first_s=max(first, incident.start).timestamp(),
                last_s=min(last, incident.end).timestamp(),
                is_from_start=first <= incident.start,
                is_to_end=last >= incident.end,
                is_process=False,
            )
        )
    return observers
