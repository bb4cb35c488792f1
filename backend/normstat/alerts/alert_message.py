"""The content of a message: built once, when it is due, and the same in every try and on every channel. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Final
from urllib.parse import quote, urlencode
from zoneinfo import ZoneInfo

from normstat.alerts.message_kind import MessageKind
from normstat.alerts.routing import RoutedEpisode
from normstat.runtime.readable import count_of, format_human, format_seconds, to_iso
from normstat.watch.rules.rule_file import COLOUR_LABELS, COLOURS, Colour
from normstat.watch.watch_lists import EpisodeInfo

SERVER: Final = "this normstat server"
# An Alertmanager gets them all; texts for people show the first ones.
MAX_PARTS: Final = 200
MAX_NAMED: Final = 5
MAX_SUBJECT: Final = 200
# What a graph shows before the first bad report, and after the last one.
LEAD: Final = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class SaidValue:
    """A value of the worst report. `limits`: what the rule compares with, in words; empty without limits"""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class MessagePart:
    """The finding of one rule on one host: its instances folded, the values of the worst one. `host`: None for this server"""

    host: str | None
    source: str
    title: str
    colour: Colour
    n_instances: int
    instances: str
    sentence: str
    action: str
    values: list[SaidValue]
    limits: list[SaidValue]
    since: datetime
    since_text: str
    ended_at: datetime | None
    ended_by: str | None
    link: str


@dataclass(frozen=True, slots=True)
class AlertMessage:
    """A message. `state`: firing or resolved; `parts`: at most 200, the worst first, `n_left_out` more; `at`: when it became due.

    `questions`: what to ask next, for the worst part
    """

    version: int
    alert_id: int
    number: int
    kind: MessageKind
    state: str
    route: str
    colour: Colour
    subject: str
    sentence: str
    host: str
    since: datetime
    since_text: str
    at: datetime
    ended_text: str
    parts: list[MessagePart]
    n_left_out: int
    questions: list[str]
    link: str
    alert_link: str


@dataclass(frozen=True, slots=True)
class MessageFacts:
    """The inputs of a message. `episodes`: those of the alert that it is about, with their texts in `infos`.

    `zones`: of hosts, as agents report them; `limits`: by host and rule, in words; `nouns`: by rule, what its instances are (`cpu`,
    `disk`, empty); a source without one has instances that its title names; `public_url`: of this server
    """

    alert_id: int
    number: int
    kind: MessageKind
    route: str
    at: datetime
    episodes: Sequence[RoutedEpisode]
    infos: Mapping[int, EpisodeInfo]
    zones: Mapping[str, str | None]
    limits: Mapping[tuple[str, str], Sequence[SaidValue]]
    nouns: Mapping[str, str]
    questions: Sequence[str]
    public_url: str
    escalated_after: timedelta | None = None


def build_message(facts: MessageFacts) -> AlertMessage:
    """Return the message."""
    parts = [_to_part(facts, own) for own in _by_place(facts.episodes)]
    parts.sort(key=lambda part: (-COLOURS.index(part.colour), part.since, part.host or "", part.source))
    worst = parts[0]
    hosts = list(dict.fromkeys(part.host or SERVER for part in parts))
    is_over = facts.kind is MessageKind.RESOLVED
    since = min(part.since for part in parts)
    return AlertMessage(
        version=1,
        alert_id=facts.alert_id,
        number=facts.number,
        kind=facts.kind,
        state="resolved" if is_over else "firing",
        route=facts.route,
        colour=worst.colour,
        subject=_one_line(_subject(facts, parts))[:MAX_SUBJECT],
        sentence=_sentence(facts, worst, is_over=is_over),
        host=hosts[0] if len(hosts) == 1 else "",
        since=since,
        since_text=format_local(since, facts.zones.get(worst.host or "")),
        at=facts.at,
        ended_text=_describe_end(facts, parts) if is_over else "",
        parts=parts[:MAX_PARTS],
        n_left_out=max(0, len(parts) - MAX_PARTS),
        questions=list(facts.questions),
        link=worst.link,
        alert_link=f"{facts.public_url.rstrip('/')}/watch?tab=alerts&alert={facts.alert_id}",
    )


def _by_place(episodes: Sequence[RoutedEpisode]) -> list[list[RoutedEpisode]]:
    places: dict[tuple[str, str], list[RoutedEpisode]] = {}
    for episode in episodes:
        places.setdefault(episode.place, []).append(episode)
    return list(places.values())


def _to_part(facts: MessageFacts, own: Sequence[RoutedEpisode]) -> MessagePart:
    ordered = sorted(own, key=lambda each: (-COLOURS.index(each.colour), each.start, each.instance))
    worst = ordered[0]
    info = facts.infos[worst.id]
    since = min(each.start for each in own)
    ends = [each.ended_at for each in own]
    last = max(each.last for each in own)
    return MessagePart(
        host=worst.host,
        source=worst.source,
        title=info.title,
        colour=worst.colour,
        n_instances=len({each.instance for each in own}),
        instances=_name_instances(ordered, facts.nouns.get(worst.source)),
        sentence=info.sentence,
        action=info.action,
        values=[SaidValue(seen.name, seen.text or format_human(seen.value, seen.unit)) for seen in info.saw],
        limits=list(facts.limits.get(worst.place, ())),
        since=since,
        since_text=format_local(since, facts.zones.get(worst.host or "")),
        ended_at=None if None in ends else max(at for at in ends if at is not None),
        ended_by=worst.ended_by,
        link=host_link(facts.public_url, worst.host, since, last),
    )


def _name_instances(ordered: Sequence[RoutedEpisode], noun: str | None) -> str:
    """Return `CPU 3`, `CPUs 3 and 4`, `64 CPUs, worst CPU 12`. Missing: empty where a rule has no instances, or no noun"""
    names = list(dict.fromkeys(each.instance for each in ordered if each.instance))
    if noun is None or not names:
        return ""
    one = "CPU" if noun == "cpu" else noun or "instance"
    many = f"{one}es" if one.endswith("s") else f"{one}s"
    if len(names) == 1:
        return f"{one} {names[0]}"
    if len(names) <= MAX_NAMED:
        return f"{many} {', '.join(names[:-1])} and {names[-1]}"
    return f"{len(names)} {many}, worst {one} {names[0]}"


def _subject(facts: MessageFacts, parts: Sequence[MessagePart]) -> str:
    worst = parts[0]
    state = COLOUR_LABELS[worst.colour].upper()
    words = {
        MessageKind.FIRED: state,
        MessageKind.WORSE: f"WORSE, {state}",
        MessageKind.ESCALATED: f"NOT ACKNOWLEDGED, {state}",
        MessageKind.REPEATED: f"STILL {state}",
        MessageKind.RENEWED: f"STILL {state}",
        MessageKind.RESOLVED: "OVER",
    }
    what = f"{worst.title} ({worst.instances})" if worst.instances else worst.title
    titles = {part.title for part in parts}
    more = f" and {count_of(len(titles) - 1, 'more rule')}" if len(titles) > 1 else ""
    return f"[{words[facts.kind]}] {name_hosts(parts)}: {what}{more}"


def name_hosts(parts: Sequence[MessagePart]) -> str:
    """Return where a message is about: `web1`, `web1 and 2 more hosts`; the worst is named."""
    hosts = list(dict.fromkeys(part.host or SERVER for part in parts))
    return hosts[0] if len(hosts) == 1 else f"{hosts[0]} and {count_of(len(hosts) - 1, 'more host')}"


def _sentence(facts: MessageFacts, worst: MessagePart, *, is_over: bool) -> str:
    if is_over:
        return f"This has ended. It was {COLOUR_LABELS[worst.colour]}."
    if facts.escalated_after is not None:
        waited = format_seconds(facts.escalated_after)
        return f"Not acknowledged for {waited}. {worst.sentence}"
    return worst.sentence


ENDS: Final[Mapping[str, str]] = {
    "fine": "it has recovered",
    "unknown": "its state is unknown now: a value is missing",
    "no_samples": "samples stopped arriving, so the state is unknown",
    "withdrawn": "late samples disproved it",
    "rule_off": "the rule is off now",
}


def _describe_end(facts: MessageFacts, parts: Sequence[MessagePart]) -> str:
    worst = parts[0]
    ends = [part.ended_at for part in parts if part.ended_at is not None]
    if not ends:
        return ""
    end = max(ends)
    lasted = format_seconds((end - min(part.since for part in parts)).total_seconds())
    why = ENDS.get(worst.ended_by or "", "it has ended")
    return f"{format_local(end, facts.zones.get(worst.host or ''))}, after {lasted}: {why}"


def format_local(instant: datetime, zone: str | None) -> str:
    """Return an instant in a host's zone with UTC beside: `2026-11-23 13:05:10 CET (12:05:10 UTC)`. Missing: UTC alone"""
    utc = instant.astimezone(UTC)
    own = to_zone(zone)
    if own is None:
        return f"{utc:%Y-%m-%d %H:%M:%S} UTC"
    local = instant.astimezone(own)
    day = "" if local.date() == utc.date() else f"{utc:%Y-%m-%d} "
    return f"{local:%Y-%m-%d %H:%M:%S %Z} ({day}{utc:%H:%M:%S} UTC)"


def to_zone(zone: str | None) -> ZoneInfo | timezone | None:
    """Return the zone that an agent reported: a name, or an offset such as +0530. Missing: None for UTC and what is neither"""
    if not zone or zone in {"UTC", "Etc/UTC", "+0000", "-0000"}:
        return None
    digits = zone[1:]
    if zone[0] in "+-" and len(digits) == 4 and digits.isascii() and digits.isdigit() and int(digits[:2]) < 24:
        offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
        return timezone(offset if zone[0] == "+" else -offset)
    try:
        return ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        return None


def host_link(public_url: str, host: str | None, start: datetime, last: datetime) -> str:
    """Return the address of the host's graphs at a time; without a host, that of the incidents."""
    base = public_url.rstrip("/")
    if host is None:
        return f"{base}/watch"
    first, end = to_iso(start - LEAD, "seconds"), to_iso(max(last, start) + LEAD, "seconds")
    asked = urlencode({"v": "1", "from": first, "to": end}, safe=":")
    return f"{base}/hosts/{quote(host, safe='')}?{asked}"


def _one_line(text: str) -> str:
    """Return the text without what could end a header of a mail."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())
