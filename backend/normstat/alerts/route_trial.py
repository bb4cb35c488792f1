"""Try a route on the past: the decisions of `routing` over recorded episodes. Pure."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from normstat.alerts.message_kind import MessageKind
from normstat.alerts.routing import OPEN, AlertRoute, RoutedEpisode, TrackedAlert, next_due, step_routes, takes
from normstat.errors import BadRequest
from normstat.watch.rules.rule_file import Colour
from normstat.watch.watch_mute_rows import WatchMuteRecord
from normstat.window import Window

MAX_STEPS: Final = 20_000


@dataclass(frozen=True, slots=True)
class RecordedEpisode:
    """An episode with when it was acknowledged. `episode`: as it is known today."""

    episode: RoutedEpisode
    acknowledged_at: datetime | None


@dataclass(frozen=True, slots=True)
class TrialMessage:
    """A message that would have been sent. `alert`: numbers the alerts of the trial from 1"""

    at: datetime
    alert: int
    kind: MessageKind
    channels: tuple[int, ...]
    colour: Colour | None
    episode_ids: tuple[int, ...]


def try_route(
    route: AlertRoute, recorded: Sequence[RecordedEpisode], mutes: Sequence[WatchMuteRecord], window: Window
) -> list[TrialMessage]:
    """Return the messages about episodes that began in a window, in order.

    An episode has its worst state from its first report on: no other is recorded.

    Raises: BadRequest for a window with too much to do
    """
    wanted = [each for each in recorded if each.episode.start >= window.start and takes(route, each.episode)]
    # The next one to begin stands last.
    to_come = sorted(wanted, key=lambda each: (each.episode.start, each.episode.id), reverse=True)
    active: list[RecordedEpisode] = []
    instants = _list_instants(route, wanted, mutes, window)
    heapq.heapify(instants)
    alerts: list[TrackedAlert] = []
    # By identity, numbered in the order of their first messages.
    told: dict[int, tuple[int, TrackedAlert]] = {}
    found: list[TrialMessage] = []
    last: datetime | None = None
    n_steps = 0
    while instants:
        now = heapq.heappop(instants)
        if now == last or now >= window.end:
            continue
        last = now
        n_steps += 1
        if n_steps > MAX_STEPS:
            raise BadRequest(f"This window is too large for a trial: more than {MAX_STEPS:,} steps; choose a shorter one")
        while to_come and to_come[-1].episode.start <= now:
            active.append(to_come.pop())
        there = [_at(each, mutes, now) for each in active]
        alerts, planned = step_routes([route], alerts, there, now)
        for message in planned:
            alert = message.alert
            number, _ = told.setdefault(id(alert), (len(told) + 1, alert))
            if not message.is_silent:
                found.append(TrialMessage(now, number, message.kind, message.channels, alert.told_colour, tuple(alert.episode_ids)))
        alerts = [alert for alert in alerts if alert.state in OPEN]
        needed = {episode_id for alert in alerts for episode_id in alert.episode_ids}
        over = {each.id for each in there if each.ended_at is not None} - needed
        active = [each for each in active if each.episode.id not in over]
        for alert in alerts:
            for due in next_due(alert, route.settings):
                if due > now:
                    heapq.heappush(instants, due)
    return found


def _list_instants(
    route: AlertRoute, recorded: Sequence[RecordedEpisode], mutes: Sequence[WatchMuteRecord], window: Window
) -> list[datetime]:
    instants = [window.start, *route.settings.match.list_changes(window.start, window.end)]
    for each in recorded:
        own = (each.episode.start, each.episode.ended_at, each.acknowledged_at)
        instants += [at for at in own if at is not None]
    for mute in mutes:
        instants += [at for at in (mute.start, mute.end) if at is not None]
    return [at for at in instants if window.start <= at < window.end]


def _at(each: RecordedEpisode, mutes: Sequence[WatchMuteRecord], now: datetime) -> RoutedEpisode:
    episode = each.episode
    return replace(
        episode,
        ended_at=episode.ended_at if episode.ended_at is not None and episode.ended_at <= now else None,
        is_acknowledged=each.acknowledged_at is not None and each.acknowledged_at <= now,
        is_muted=any(mute.covers(episode.source, episode.host, list(episode.tags), episode.instance, now) for mute in mutes),
    )
