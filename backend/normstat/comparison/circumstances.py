"""The circumstances of an incident in words: events near its onset, observers, and data that is missing in it.

A sentence has no time of day: the page, the report and the command line put it in front, in their own time zone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from normstat.comparison.missing_data import Silence
from normstat.comparison.model import Circumstance, CircumstanceKind
from normstat.comparison.observers import Observer
from normstat.query.artefact_times import ArtefactTime
from normstat.query.host_events import HostEvent
from normstat.query.stream_losses import StreamLoss
from normstat.records.event_rows import EventSource
from normstat.runtime.readable import format_human, format_seconds, join_words, name_processes
from normstat.stats.fact_words import EventKind
from normstat.stats.observer_effect import Effect, describe_effect
from normstat.window import Window, to_us

# Maximum number of events listed one by one, and how long before the incident one may be.
MAX_EVENTS: Final = 5
LOOK_BACK: Final = timedelta(hours=1)
# A change of facts is seen by the next report of the facts, once an hour.
LOOK_AHEAD: Final = timedelta(hours=2)
# Maximum number of silent periods listed one by one.
MAX_SILENCES: Final = 3
MAX_TOOLS: Final = 3
MAX_TEXT: Final = 160
# What changes a host, and how long before the onset it still passes for the cause: programs start, caches fill, requests pile up.
CHANGE_KINDS: Final = frozenset({
    EventKind.DEPLOYMENT, EventKind.SETTING, EventKind.REBOOT, EventKind.MAINTENANCE, EventKind.KERNEL, EventKind.HARDWARE,
    EventKind.LIMIT, EventKind.STORAGE, EventKind.NETWORK,
})  # fmt: skip
CAUSE_WITHIN: Final = timedelta(minutes=5)
MS_PER_S: Final = 1000


@dataclass(frozen=True, slots=True)
class Onset:
    """When the trouble began. `is_known`: a story has an onset; otherwise it is the start of the incident"""

    at: datetime
    is_known: bool

    @property
    def noun(self) -> str:
        """What began then."""
        return "it began" if self.is_known else "the incident began"


def event_window(incident: Window) -> Window:
    """Return the window whose events may be listed with an incident."""
    return Window(incident.start - LOOK_BACK, incident.end + LOOK_AHEAD)


def describe_events(
    events: Iterable[tuple[str, HostEvent]], incident: Window, onset: Onset, *, names_hosts: bool = False
) -> list[Circumstance]:
    """Return the events (host, event) from an hour before the incident to its end, by how well their times fit the onset.

    Changes of the host that came shortly before it are first, the nearest of them as its likely cause; then all others, the nearest
    to the onset first.
    """
    near = [
        (host, event)
        for host, event in events
        if event.at >= incident.start - LOOK_BACK and (event.not_before or event.at) < incident.end
    ]
    near.sort(
        key=lambda item: (
            not _may_be_cause(item[1], onset),
            _distance_s(item[1], onset.at),
            to_us(item[1].at),
            item[0],
            item[1].text,
        )
    )
    told = [
        _to_circumstance(host, event, onset, names_hosts=names_hosts, is_cause=place == 0 and _may_be_cause(event, onset))
        for place, (host, event) in enumerate(near[:MAX_EVENTS])
    ]
    left = near[MAX_EVENTS:]
    if left:
        what = "1 more event" if len(left) == 1 else f"{len(left):,} more events"
        told.append(Circumstance("event", left[0][0], f"{what} from an hour before the incident to its end", None, None))
    return told


def _to_circumstance(host: str, event: HostEvent, onset: Onset, *, names_hosts: bool, is_cause: bool) -> Circumstance:
    what = on_one_line(event.text)
    # A change of facts says itself what it is; a note may be no more than "1.4".
    named = what if event.source is EventSource.FACTS else f"{event.kind} “{what}”"
    text = f"Likely cause: {named}" if is_cause else what
    return Circumstance(
        "event",
        host,
        f"{f'{host}: ' if names_hosts else ''}{text}, {describe_when(event, onset)}",
        to_ms(event.at if event.not_before is None else event.not_before),
        None if event.not_before is None else to_ms(event.at),
        artefact=event.artefact,
        is_likely_cause=is_cause,
    )


def _may_be_cause(event: HostEvent, onset: Onset) -> bool:
    """Return whether an event changed the host, and came before the onset by no more than CAUSE_WITHIN.

    The onset is the first sample outside the normal range, so it is late by up to an interval, and never early.
    """
    if not onset.is_known or event.kind not in CHANGE_KINDS:
        return False
    return event.at <= onset.at and _distance_s(event, onset.at) <= CAUSE_WITHIN.total_seconds()


def describe_when(event: HostEvent, onset: Onset) -> str:
    """Return when an event happened: `15 s before it began`, `between 12 min before and 48 min after it began`."""
    last_s = (event.at - onset.at).total_seconds()
    first_s = last_s if event.not_before is None else (event.not_before - onset.at).total_seconds()
    first, last = format_seconds(abs(first_s)), format_seconds(abs(last_s))
    side = "after" if last_s > 0 else "before"
    if round(abs(first_s)) == 0 and round(abs(last_s)) == 0:
        return f"as {onset.noun}"
    if first_s < 0 < last_s:
        return f"between {first} before and {last} after {onset.noun}"
    if first == last:
        return f"{last} {side} {onset.noun}"
    return f"between {first} and {last} {side} {onset.noun}"


def _distance_s(event: HostEvent, onset: datetime) -> float:
    """Return how far an event may have been from the onset."""
    times = [event.at] if event.not_before is None else [event.at, event.not_before]
    return max(abs((time - onset).total_seconds()) for time in times)


def describe_observer(host: str, observer: Observer, incident: Window) -> Circumstance:
    """Return an observer in words: `Observer: truss (4711) ran for 2 min, from 10 s into the incident on`."""
    name = name_processes(observer.command, observer.pids)
    start_s = incident.start.timestamp()
    began, ended = (format_seconds(time_s - start_s) for time_s in (observer.first_s, observer.last_s))
    if observer.is_from_start and observer.is_to_end:
        when = "throughout the incident"
    elif observer.is_from_start:
        when = f"until {ended} into the incident"
    elif observer.is_to_end:
        when = f"from {began} into the incident to its end"
    else:
        when = f"for {format_seconds(observer.last_s - observer.first_s)}, from {began} into the incident on"
    return Circumstance(
        "observer",
        host,
        f"Observer: {name} ran {when}; it {_describe_cost(observer)}",
        round(MS_PER_S * observer.first_s),
        round(MS_PER_S * observer.last_s),
        command=observer.command if observer.is_process else None,
        artefact=observer.artefact,
    )


def _describe_cost(observer: Observer) -> str:
    """Return what an observer did to the host."""
    if observer.effect is not Effect.HEAVY:
        return "slows what it watches"
    return f"{describe_effect(observer.command, Effect.HEAVY)}: numbers from that time are not normal"


def describe_observed_baseline(host: str, artefact: ArtefactTime, observed_s: float) -> Circumstance:
    """Return that a part of the baseline is not normal: `The baseline has 10 s under truss (artefact 12), which ...`."""
    tool = artefact.tool or "a tracer"
    return Circumstance(
        "observer",
        host,
        f"The baseline has {format_seconds(observed_s)} under {tool}, which {describe_effect(tool, Effect.HEAVY)}:"
        " numbers from that time are not normal; exclude it from the baseline",
        to_ms(artefact.start),
        to_ms(artefact.end),
        artefact=artefact.id,
    )


def describe_silences(host: str, silences: Sequence[Silence], incident: Window) -> list[Circumstance]:
    """Return the times without samples in words: `No sample of iostat for 40 s, from 12 s into the incident on`."""
    told = [
        Circumstance(
            "no_samples",
            host,
            f"No sample of {_name_tools(one)} for {format_seconds(one.end_s - one.start_s)},"
            f" from {format_seconds(one.start_s - incident.start.timestamp())} into the incident on",
            round(MS_PER_S * one.start_s),
            round(MS_PER_S * one.end_s),
        )
        for one in silences[:MAX_SILENCES]
    ]
    left = silences[MAX_SILENCES:]
    if left:
        times = "1 more time" if len(left) == 1 else f"{len(left):,} more times"
        told.append(Circumstance("no_samples", host, f"No samples of a tool at {times} of the incident", None, None))
    return told


def _name_tools(silence: Silence) -> str:
    if silence.is_all:
        return "any tool"
    names, more = silence.tools[:MAX_TOOLS], len(silence.tools) - MAX_TOOLS
    if more > 0:
        return f"{', '.join(names)} and {more} more {'tool' if more == 1 else 'tools'}"
    return join_words(names)


def describe_losses(host: str, losses: Sequence[StreamLoss]) -> list[Circumstance]:
    """Return lost bytes and rejected lines in words, the largest losses first."""
    told = []
    for loss in sorted(losses, key=lambda item: -item.n_lost_bytes):
        if loss.n_lost_bytes:
            size = format_human(loss.n_lost_bytes, "B")
            sentence = f"{size} of the output of {loss.tool} were lost on the host before the agent could send them"
            told.append(_to_loss("lost_bytes", host, loss, sentence))
    by_lines = sorted((loss for loss in losses if loss.n_rejected), key=lambda item: -item.n_rejected)
    return told + [_to_loss("rejected_lines", host, loss, _describe_rejected(loss)) for loss in by_lines]


def _describe_rejected(loss: StreamLoss) -> str:
    n, least = loss.n_rejected, "at least " if loss.is_more else ""
    lines = "1 line" if n == 1 else f"{n:,} lines"
    was = "was" if n == 1 else "were"
    reason = f": {on_one_line(loss.reason)}" if loss.reason else ""
    if loss.has_samples:
        return f"{_capital(least)}{lines} of {loss.tool} {was} rejected in this window{reason}"
    return f"No sample of {loss.tool} in this window; {least}{lines} {was} rejected{reason}"


def _to_loss(kind: CircumstanceKind, host: str, loss: StreamLoss, sentence: str) -> Circumstance:
    return Circumstance(kind, host, sentence, to_ms(loss.start), to_ms(loss.end), stream_id=loss.stream_id)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def on_one_line(text: str) -> str:
    """Return the text without line breaks and the full stop at its end, cut to a readable length."""
    line = " ".join(text.split()).removesuffix(".")
    return line if len(line) <= MAX_TEXT else f"{line[: MAX_TEXT - 1].rstrip()}…"


def to_ms(at: datetime) -> int:
    """Return milliseconds since the epoch."""
    return to_us(at) // 1000
