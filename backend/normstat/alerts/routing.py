"""Decide which alerts episodes make on a route, and which messages are due. Pure: the same for live routing and for a trial.

A step looks at the episodes as they are at an instant. It depends on nothing else but the alerts as the step before left them, so
it does not matter how many steps there are, or which process makes them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from normstat.alerts.message_kind import MessageKind
from normstat.alerts.route_settings import GroupBy, RouteSettings, matches_word
from normstat.watch.rules.rule_file import COLOURS, Colour

# Rules that begin on a host within this time tell one story.
STORY: Final = timedelta(seconds=60)
# A growing group sends at most one message in this time about what was added.
UPDATE_EVERY: Final = timedelta(minutes=5)
# Before an Alertmanager forgets an alert that lasts.
RENEW_EVERY: Final = timedelta(hours=12)


class AlertState(StrEnum):
    """What an alert is doing. `dropped`: it was over before its first message."""

    WAITING = "waiting"
    FIRING = "firing"
    RESOLVED = "resolved"
    DROPPED = "dropped"


OPEN: Final = (AlertState.WAITING, AlertState.FIRING)


@dataclass(frozen=True, slots=True)
class RoutedEpisode:
    """An episode as a route sees it at an instant. `host`: None for this server; `last`: its last bad report."""

    id: int
    host_id: int | None
    host: str | None
    tags: tuple[str, ...]
    groups: tuple[str, ...]
    source: str
    subsystem: str
    instance: str
    start: datetime
    last: datetime
    ended_at: datetime | None
    ended_by: str | None
    colour: Colour
    is_acknowledged: bool
    is_muted: bool

    @property
    def place(self) -> tuple[str, str]:
        """The host and the rule; an empty name for this server."""
        return self.host or "", self.source


@dataclass(frozen=True, slots=True)
class AlertRoute:
    """A route in use."""

    id: int
    name: str
    settings: RouteSettings


@dataclass(slots=True)
class TrackedAlert:
    """An alert between two steps. `id`: None for one that is not stored yet; the other members are as in the table `alerts`."""

    id: int | None
    route_id: int
    state: AlertState
    opened_at: datetime
    start_at: datetime
    due_at: datetime
    episode_ids: list[int]
    host_id: int | None = None
    fired_at: datetime | None = None
    told_at: datetime | None = None
    renewed_at: datetime | None = None
    told_colour: Colour | None = None
    told: set[tuple[str, str]] = field(default_factory=set)
    level: int = 0
    n_messages: int = 0
    calm_since: datetime | None = None
    resolved_at: datetime | None = None
    is_acknowledged: bool = False


@dataclass(frozen=True, slots=True)
class PlannedMessage:
    """A message that is due. `channels`: ids; `is_silent`: only receivers that keep a state of their own get it."""

    alert: TrackedAlert
    kind: MessageKind
    number: int
    channels: tuple[int, ...]
    is_silent: bool = False


def step_routes(
    routes: Sequence[AlertRoute], alerts: Sequence[TrackedAlert], episodes: Sequence[RoutedEpisode], now: datetime
) -> tuple[list[TrackedAlert], list[PlannedMessage]]:
    """Return all alerts after the step, new ones last, and the messages that are due; the given alerts are changed.

    `routes`: the enabled ones in their order; `alerts`: those that are open, and those whose episodes last again; `episodes`: those
    that last, and all of these alerts
    """
    known = {episode.id: episode for episode in episodes}
    found, planned = list(alerts), list[PlannedMessage]()
    left = sorted((each for each in episodes if each.ended_at is None), key=lambda each: (each.start, each.id))
    for route in routes:
        step = _RouteStep(route, [alert for alert in found if alert.route_id == route.id], known, now)
        taken = step.join(left)
        found += step.new
        planned += step.advance()
        if route.settings.is_last:
            left = [each for each in left if each.id not in taken]
    # Routes that were disabled or deleted send nothing; their alerts end with their episodes.
    on = {route.id for route in routes}
    for alert in found:
        if alert.route_id not in on and alert.state in OPEN and not _open_episodes(alert, known):
            _close(alert, now)
    return found, planned


def takes(route: AlertRoute, episode: RoutedEpisode) -> bool:
    """Return whether a route wants an episode, whatever the time of day."""
    match = route.settings.match
    return (
        COLOURS.index(episode.colour) >= COLOURS.index(match.lowest)
        and (not match.hosts or (episode.host is not None and matches_word(match.hosts, episode.host)))
        and (not match.tags or not set(match.tags).isdisjoint(episode.tags))
        and (not match.groups or not set(match.groups).isdisjoint(episode.groups))
        and matches_word(match.sources, episode.source)
        and (not match.subsystems or episode.subsystem in match.subsystems)
    )


def next_due(alert: TrackedAlert, settings: RouteSettings) -> list[datetime]:
    """Return the instants at which time alone may change an alert."""
    if alert.state not in OPEN:
        return []
    due = [alert.due_at] if alert.state is AlertState.WAITING else []
    if alert.calm_since is not None:
        due.append(alert.calm_since + timedelta(seconds=settings.resolve_wait_s))
    if alert.fired_at is not None:
        due += [alert.fired_at + timedelta(minutes=each.after_min) for each in settings.escalations[alert.level :]]
    if alert.told_at is not None:
        due.append(alert.told_at + UPDATE_EVERY)
        # People do not see renewals, so their exact instant does not matter.
        if settings.repeat_min is not None:
            due.append(alert.told_at + timedelta(minutes=settings.repeat_min))
    return due


def _open_episodes(alert: TrackedAlert, known: dict[int, RoutedEpisode]) -> list[RoutedEpisode]:
    own = (known.get(episode_id) for episode_id in alert.episode_ids)
    return [each for each in own if each is not None and each.ended_at is None]


def _close(alert: TrackedAlert, now: datetime) -> None:
    alert.state = AlertState.RESOLVED if alert.n_messages else AlertState.DROPPED
    alert.resolved_at = now


class _RouteStep:
    """One step of one route."""

    def __init__(self, route: AlertRoute, alerts: list[TrackedAlert], known: dict[int, RoutedEpisode], now: datetime) -> None:
        self._route = route
        self._settings = route.settings
        self._alerts = alerts
        self._known = known
        self._now = now
        self._is_on = route.settings.match.is_on(now)
        # By what episodes of one alert share.
        self._by_group: dict[object, list[TrackedAlert]] = {}
        for alert in alerts:
            for group in {self._group_of(known[each]) for each in alert.episode_ids if each in known}:
                self._by_group.setdefault(group, []).append(alert)
        self.new: list[TrackedAlert] = []

    def _group_of(self, episode: RoutedEpisode) -> object:
        match self._settings.group_by:
            case GroupBy.STORY | GroupBy.HOST:
                return episode.host_id
            case GroupBy.RULE:
                return episode.source
            case GroupBy.ROUTE:
                return self._route.id

    def join(self, episodes: Iterable[RoutedEpisode]) -> set[int]:
        """Give each episode that the route takes to an alert, an old or a new one; return the ids of all that it takes."""
        taken = set()
        joined = {episode_id for alert in self._alerts for episode_id in alert.episode_ids}
        for alert in self._alerts:
            # It was resolved, and late samples show that it is not over.
            if alert.state not in OPEN and self._is_on and any(not each.is_muted for each in _open_episodes(alert, self._known)):
                self._reopen(alert)
        for episode in episodes:
            if not self._is_on or not takes(self._route, episode):
                continue
            taken.add(episode.id)
            if episode.id not in joined and not episode.is_muted:
                self._join(episode)
        return taken

    def _join(self, episode: RoutedEpisode) -> None:
        known = self._by_group.setdefault(self._group_of(episode), [])
        home = next((alert for alert in known if alert.state in OPEN and self._belongs(alert, episode)), None)
        if home is None:
            home = next((alert for alert in known if alert.state not in OPEN and self._continues(alert, episode)), None)
            if home is not None:
                self._reopen(home)
        if home is None:
            home = TrackedAlert(
                id=None,
                route_id=self._route.id,
                state=AlertState.WAITING,
                opened_at=self._now,
                start_at=episode.start,
                due_at=self._now + timedelta(seconds=self._settings.wait_s),
                episode_ids=[],
                host_id=episode.host_id if self._settings.group_by in (GroupBy.STORY, GroupBy.HOST) else None,
            )
            self._alerts.append(home)
            known.append(home)
            self.new.append(home)
        home.episode_ids.append(episode.id)
        home.start_at = min(home.start_at, episode.start)

    def _belongs(self, alert: TrackedAlert, episode: RoutedEpisode) -> bool:
        """Return whether an episode of the same group is part of an alert."""
        if self._settings.group_by is not GroupBy.STORY or abs(episode.start - alert.start_at) <= STORY:
            return True
        return any(self._known[each].source == episode.source for each in alert.episode_ids if each in self._known)

    def _continues(self, alert: TrackedAlert, episode: RoutedEpisode) -> bool:
        """Return whether an episode is part of a resolved alert: late samples may make two episodes of one."""
        own = (self._known[each] for each in alert.episode_ids if each in self._known)
        return (
            alert.resolved_at is not None
            and episode.start <= alert.resolved_at
            and any(each.host_id == episode.host_id and each.source == episode.source for each in own)
        )

    def _reopen(self, alert: TrackedAlert) -> None:
        alert.state = AlertState.WAITING
        alert.due_at = self._now + timedelta(seconds=self._settings.wait_s)
        alert.calm_since = alert.resolved_at = None

    def advance(self) -> list[PlannedMessage]:
        """Return the messages that are due now, alert by alert."""
        planned: list[PlannedMessage] = []
        for alert in self._alerts:
            if alert.state in OPEN:
                planned += self._advance(alert)
        return planned

    def _advance(self, alert: TrackedAlert) -> list[PlannedMessage]:
        lasting = _open_episodes(alert, self._known)
        if not lasting:
            return self._calm(alert)
        alert.calm_since = None
        live = [each for each in lasting if not each.is_muted]
        if not live or not self._is_on:
            return self._renew(alert)
        worst = max((each.colour for each in live), key=COLOURS.index)
        if alert.state is AlertState.WAITING:
            return [self._fire(alert, live, worst)] if self._now >= alert.due_at else []
        own = (self._known.get(each) for each in alert.episode_ids)
        if alert.is_acknowledged and not any(each is not None and each.is_acknowledged for each in own):
            # The acknowledgement was withdrawn.
            alert.is_acknowledged = False
        planned = self._tell_news(alert, live, worst)
        if not alert.is_acknowledged and not all(each.is_acknowledged for each in live):
            planned += self._escalate(alert)
            planned += [] if planned else self._repeat(alert)
        return planned or self._renew(alert)

    def _fire(self, alert: TrackedAlert, live: Sequence[RoutedEpisode], worst: Colour) -> PlannedMessage:
        alert.state = AlertState.FIRING
        alert.fired_at = self._now
        alert.level = 0
        alert.told_colour = worst
        alert.told = {each.place for each in live}
        return self._tell(alert, MessageKind.FIRED, self._settings.channels)

    def _tell_news(self, alert: TrackedAlert, live: Sequence[RoutedEpisode], worst: Colour) -> list[PlannedMessage]:
        """Report a worse state at once, and additions to a growing group every few minutes."""
        assert alert.told_colour is not None
        assert alert.told_at is not None
        new = {each.place for each in live} - alert.told
        is_worse = COLOURS.index(worst) > COLOURS.index(alert.told_colour)
        # What else begins in the same minute belongs to the story and sends no message.
        is_news = bool(new) and self._settings.group_by is not GroupBy.STORY and self._now >= alert.told_at + UPDATE_EVERY
        if not is_worse and not is_news:
            return []
        if is_news:
            # The new state is not acknowledged.
            alert.is_acknowledged = False
        alert.told_colour = max(worst, alert.told_colour, key=COLOURS.index)
        alert.told |= new
        return [self._tell(alert, MessageKind.WORSE, self._reached(alert))]

    def _escalate(self, alert: TrackedAlert) -> list[PlannedMessage]:
        assert alert.fired_at is not None
        planned = []
        for step in self._settings.escalations[alert.level :]:
            if self._now < alert.fired_at + timedelta(minutes=step.after_min):
                break
            alert.level += 1
            planned.append(self._tell(alert, MessageKind.ESCALATED, step.channels))
        return planned

    def _repeat(self, alert: TrackedAlert) -> list[PlannedMessage]:
        repeat_min = self._settings.repeat_min
        assert alert.told_at is not None
        if repeat_min is None or self._now < alert.told_at + timedelta(minutes=repeat_min):
            return []
        return [self._tell(alert, MessageKind.REPEATED, self._reached(alert))]

    def _renew(self, alert: TrackedAlert) -> list[PlannedMessage]:
        if alert.state is not AlertState.FIRING or alert.renewed_at is None or self._now < alert.renewed_at + RENEW_EVERY:
            return []
        return [self._tell(alert, MessageKind.RENEWED, self._reached(alert), is_silent=True)]

    def _calm(self, alert: TrackedAlert) -> list[PlannedMessage]:
        """Resolve an alert none of whose episodes lasts, when that has been so for long enough."""
        if alert.calm_since is None:
            alert.calm_since = self._now
        if alert.state is AlertState.WAITING and not alert.n_messages:
            _close(alert, self._now)
            return []
        if self._now < alert.calm_since + timedelta(seconds=self._settings.resolve_wait_s):
            return []
        is_told = alert.state is AlertState.FIRING
        _close(alert, self._now)
        if not is_told:
            return []
        own = [self._known[each] for each in alert.episode_ids if each in self._known]
        is_muted = bool(own) and all(each.is_muted for each in own)
        return [
            self._tell(
                alert, MessageKind.RESOLVED, self._reached(alert), is_silent=is_muted or not self._settings.sends_resolved
            )
        ]  # fmt: skip

    def _reached(self, alert: TrackedAlert) -> list[int]:
        """Return the channels that know of an alert."""
        steps = self._settings.escalations[: alert.level]
        return [*self._settings.channels, *(channel for step in steps for channel in step.channels)]

    def _tell(self, alert: TrackedAlert, kind: MessageKind, channels: Sequence[int], *, is_silent: bool = False) -> PlannedMessage:
        alert.n_messages += 1
        alert.renewed_at = self._now
        if kind is not MessageKind.RENEWED:
            alert.told_at = self._now
        return PlannedMessage(alert, kind, alert.n_messages, tuple(dict.fromkeys(channels)), is_silent)
