"""The bodies of alerts: channels, routes, and the result of a trial."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints

from normstat.alerts.alert_channel_rows import AlertChannelInfo
from normstat.alerts.alert_lists import AlertInfo
from normstat.alerts.alert_route_rows import AlertRouteInfo
from normstat.alerts.route_settings import RouteSettings
from normstat.alerts.services import ServiceInfo
from normstat.runtime.body import NO_NUL, Body, Instant, Note
from normstat.runtime.field_docs import Documented
from normstat.watch.watch_lists import EpisodeInfo
from normstat.watch.watch_mute_rows import WatchMuteRecord


@dataclass(frozen=True, slots=True)
class AlertChannelList(Documented):
    """All channels, by name."""

    channels: list[AlertChannelInfo]
    scripts: list[str]
    """Scripts that a channel may run; empty where the server's administrator allows none."""
    services: list[ServiceInfo]
    """Services that a channel may reach."""
    n_waiting: int
    """Messages that wait to be sent."""
    waiting_since: datetime | None
    """Since when the oldest of them waits; null without one."""


@dataclass(frozen=True, slots=True)
class AlertRouteList(Documented):
    """All routes in their order."""

    routes: list[AlertRouteInfo]


@dataclass(frozen=True, slots=True)
class TriedMessage(Documented):
    """A message that a route would have sent."""

    at: datetime
    alert: int
    """Numbers the alerts of the trial, from 1."""
    kind: str
    colour: str
    channels: list[str]
    """Names of channels."""
    episodes: list[int]
    """Ids of the episodes of the alert so far."""


@dataclass(frozen=True, slots=True)
class RouteTrialResult(Documented):
    """What a route would have sent about the episodes that began in a window."""

    start: datetime
    end: datetime
    n_alerts: int
    n_messages: int
    """What one channel of the route would have received: a message to several channels counts once."""
    n_a_week: float
    """Messages a week."""
    messages: list[TriedMessage]
    """The first 1,000, in the order of time."""
    episodes: list[EpisodeInfo]
    """The episodes that these messages are about; at most 1,000."""


@dataclass(frozen=True, slots=True)
class AlertPage(Documented):
    """Alerts, the latest first."""

    n_total: int
    alerts: list[AlertInfo]


@dataclass(frozen=True, slots=True)
class SilenceResult(Documented):
    """What a silence link muted."""

    mutes: list[WatchMuteRecord]


class AlertRouteOrder(Body):
    """The ids of all routes in their new order."""

    ids: Annotated[list[int], Field(max_length=1000)]


class RouteTry(Body):
    """A route to try on past episodes."""

    settings: RouteSettings
    start: Instant
    end: Instant


class AlertAcknowledge(Body):
    """A note about who looks after an alert."""

    note: Note = ""


class SilenceCheck(Body):
    """The token of a silence link."""

    token: Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=NO_NUL)]


class SilenceUse(SilenceCheck):
    """The token of a silence link, and for how long to mute: at most a day."""

    minutes: Annotated[int, Field(ge=5, le=1440)] = 60
    reason: Annotated[str, StringConstraints(max_length=500, pattern=NO_NUL)] = ""
