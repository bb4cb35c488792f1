"""The number of open episodes and alerts, for pages that only show a badge."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.records.judging_pace import read_pace
from normstat.runtime.field_docs import Documented
from normstat.watch.rules.rule_file import COLOURS, Colour
from normstat.watch.watch_lists import OpenPlace, list_open_places
from normstat.watch.watch_mute_rows import WatchMuteRecord, list_watch_mutes


@dataclass(frozen=True, slots=True)
class HostOn(Documented):
    """A host with an open episode that is not muted."""

    host: str
    colour: str
    """The worst: amber, red or black."""
    n: int
    """Rules that find something there."""


@dataclass(frozen=True, slots=True)
class OpenNow(Documented):
    """The number of open entries at a moment."""

    n_waiting: int
    """Entries of `/watch`, of one host and rule each, that are neither muted nor acknowledged."""
    worst: str | None
    """The worst state of those; null without any."""
    hosts: list[HostOn]
    """By name; hosts without open entries, or with muted ones only, are left out."""
    behind: str | None
    """What is said where rules are behind: `judged 640 of 1,000 hosts in the last minute`. Null: they keep up, or `at` is past."""


async def read_open_now(session: AsyncSession, at: datetime | None, *, now: datetime) -> OpenNow:
    """Return the number of open entries now, or at a moment in the past."""
    places = await list_open_places(session, at)
    moment = now if at is None else at
    mutes = await list_watch_mutes(session, ended_after=moment) if places else []
    return count_open(places, mutes, moment, behind=(await read_pace(session, now)).behind if at is None else None)


def count_open(
    places: Sequence[OpenPlace], mutes: Sequence[WatchMuteRecord], at: datetime, *, behind: str | None = None
) -> OpenNow:
    """Return the number of open entries, counting the instances of a host and rule as one."""
    entries: dict[tuple[str | None, str], list[OpenPlace]] = {}
    for place in places:
        entries.setdefault((place.host, place.source), []).append(place)
    loud = [own for own in entries.values() if not all(_is_muted(place, mutes, at) for place in own)]
    waiting = [own for own in loud if not all(place.is_acknowledged for place in own)]
    by_host: dict[str, list[str]] = {}
    for own in loud:
        if own[0].host is not None:
            by_host.setdefault(own[0].host, []).append(_find_worst(own))
    hosts = [HostOn(host, _worst_of(colours), len(colours)) for host, colours in sorted(by_host.items())]
    return OpenNow(len(waiting), _worst_of([_find_worst(own) for own in waiting]) if waiting else None, hosts, behind)


def _is_muted(place: OpenPlace, mutes: Sequence[WatchMuteRecord], at: datetime) -> bool:
    return any(mute.covers(place.source, place.host, place.tags, place.instance, at) for mute in mutes)


def _find_worst(own: Sequence[OpenPlace]) -> str:
    return _worst_of([place.colour for place in own])


def _worst_of(colours: Sequence[str]) -> str:
    return max(colours, key=lambda colour: COLOURS.index(Colour(colour)))
