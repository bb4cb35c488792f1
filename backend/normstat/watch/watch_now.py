"""The open episodes: one entry for each host and rule, its instances folded, the worst first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.runtime.field_docs import Documented
from normstat.watch.rule_book import WatchBook, read_watch_book
from normstat.watch.rules.rule_file import COLOURS, Colour
from normstat.watch.watch_lists import (
    MAX_OPEN,
    EpisodeFilter,
    EpisodeInfo,
    WatchedHostInfo,
    count_episodes,
    list_episodes,
    list_watched_hosts,
    read_last_end,
)
from normstat.watch.watch_mute_rows import WatchMuteRecord, list_watch_mutes

# A host last judged longer ago than this counts as not watched.
STALE: Final = timedelta(minutes=5)
MAX_INSTANCES: Final = 20


@dataclass(frozen=True, slots=True)
class OnNow(Documented):
    """The present state of a rule on a host."""

    source: str
    title: str
    of: str
    """What the instances are: cpu, disk, interface, mount, process; empty where it concerns the host, or is not known."""
    host: str | None
    """Null: it concerns this server."""
    colour: str
    """The worst of the instances."""
    since: datetime
    """When the first of the instances became amber or worse."""
    last: datetime
    """The last report that was."""
    n_instances: int
    sentence: str
    """What the worst state means."""
    action: str
    episodes: list[EpisodeInfo]
    """One for each instance, the worst first; at most 20."""
    is_acknowledged: bool
    """Whether all of them are."""
    mute: WatchMuteRecord | None
    """The mute that covers all of them."""


@dataclass(frozen=True, slots=True)
class WatchSummary(Documented):
    """The watched hosts and rules, and how well they are watched."""

    n_rules: int
    """Rules that judge at least one of these hosts, and those that need no samples."""
    n_hosts: int
    """Hosts that at least one of them judges."""
    since: datetime | None
    """Since when; null before the first host was judged."""
    judged_at: datetime | None
    """When a host was judged last."""
    last_on_at: datetime | None
    """When something was amber or worse last; null: never."""
    n_stopped: int
    """Rules that exceeded a limit and were stopped."""
    unwatched: list[str]
    """Hosts that no rule could judge in the last minutes; at most 100."""


@dataclass(frozen=True, slots=True)
class WatchNow(Documented):
    """The open entries, the worst first, muted ones last; and the watched hosts."""

    on: list[OnNow]
    n_episodes: int
    """Episodes that last; more than 5,000 are not all in `on`."""
    summary: WatchSummary


async def read_watch_now(session: AsyncSession, now: datetime) -> WatchNow:
    """Return what is on now."""
    wanted = EpisodeFilter(is_open=True)
    episodes = await list_episodes(session, wanted, limit=MAX_OPEN)
    n_episodes = len(episodes) if len(episodes) < MAX_OPEN else await count_episodes(session, wanted)
    book = await read_watch_book(session)
    hosts = await list_watched_hosts(session)
    mutes = await list_watch_mutes(session, ended_after=now)
    summary = _summarize(book, hosts, await read_last_end(session), now)
    of = {name: booked.rule.of for name, booked in book.rules.items() if booked.rule is not None}
    return WatchNow(fold(episodes, mutes, {host.name: host.tags for host in hosts}, of, now), n_episodes, summary)


def fold(
    episodes: Sequence[EpisodeInfo],
    mutes: Sequence[WatchMuteRecord],
    tags: Mapping[str, list[str]],
    of: Mapping[str, str],
    now: datetime,
) -> list[OnNow]:
    """Return an entry for each host and rule: those not muted or acknowledged first, then the worst, then the latest."""
    groups: dict[tuple[str | None, str], list[EpisodeInfo]] = {}
    for episode in episodes:
        groups.setdefault((episode.host, episode.source), []).append(episode)
    entries = [_to_entry(own, mutes, tags.get(host or "", []), of.get(source, ""), now) for (host, source), own in groups.items()]
    return sorted(entries, key=_urgency)


def _urgency(entry: OnNow) -> tuple[bool, bool, int, float, str]:
    is_muted, severity = entry.mute is not None, COLOURS.index(Colour(entry.colour))
    return (is_muted, entry.is_acknowledged, -severity, -entry.since.timestamp(), entry.host or "")


def _to_entry(
    own: Sequence[EpisodeInfo], mutes: Sequence[WatchMuteRecord], tags: list[str], of: str, now: datetime
) -> OnNow:  # fmt: skip
    ordered = sorted(own, key=lambda each: (-COLOURS.index(Colour(each.colour)), each.start, each.instance))
    worst = ordered[0]
    covering = [_find_mute(each, mutes, tags, now) for each in ordered]
    return OnNow(
        source=worst.source,
        title=worst.title,
        of=of,
        host=worst.host,
        colour=worst.colour,
        since=min(each.start for each in own),
        last=max(each.last for each in own),
        n_instances=len(own),
        sentence=worst.sentence,
        action=worst.action,
        episodes=ordered[:MAX_INSTANCES],
        is_acknowledged=all(each.acknowledged_at is not None for each in own),
        mute=covering[0] if all(mute is not None for mute in covering) else None,
    )


def _find_mute(
    episode: EpisodeInfo, mutes: Sequence[WatchMuteRecord], tags: list[str], now: datetime
) -> WatchMuteRecord | None:  # fmt: skip
    return next((mute for mute in mutes if mute.covers(episode.source, episode.host, tags, episode.instance, now)), None)


def _summarize(book: WatchBook, hosts: Sequence[WatchedHostInfo], last_on_at: datetime | None, now: datetime) -> WatchSummary:
    fresh = [host for host in hosts if now - host.judged_at <= STALE]
    judged = [host for host in fresh if any(own.get("until") for own in host.progress.values())]
    used = {name for host in judged for name, own in host.progress.items() if own.get("until")}
    unwatched = [host.name for host in hosts if host not in judged]
    return WatchSummary(
        n_rules=len([name for name, booked in book.rules.items() if booked.is_watching and (booked.is_own or name in used)]),
        n_hosts=len(judged),
        since=min((host.since for host in hosts), default=None),
        judged_at=max((host.judged_at for host in hosts), default=None),
        last_on_at=last_on_at,
        n_stopped=sum(bool(booked.stopped_why) for booked in book.rules.values()),
        unwatched=unwatched[:100],
    )
