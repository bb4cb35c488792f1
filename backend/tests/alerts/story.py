"""Episodes and routes for tests, with what differs from the usual."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from normstat.alerts.route_settings import GroupBy, RouteMatch, RouteSettings
from normstat.alerts.routing import AlertRoute, PlannedMessage, RoutedEpisode, TrackedAlert, step_routes
from normstat.watch.rules.rule_file import Colour

# A Monday.
START: Final = datetime(2026, 11, 23, 3, 0, tzinfo=UTC)
MATCH: Final[dict[str, Any]] = {
    "hosts": [], "tags": [], "groups": [], "sources": [], "subsystems": [], "lowest": "amber", "hours": [], "time_zone": "UTC",
}  # fmt: skip
SETTINGS: Final[dict[str, Any]] = {
    "match": MATCH, "channels": [1], "group_by": GroupBy.STORY, "wait_s": 30, "repeat_min": None, "sends_resolved": True,
    "resolve_wait_s": 60, "escalations": [], "is_last": False,
}  # fmt: skip


def at(seconds: float) -> datetime:
    """Return an instant after START."""
    return START + timedelta(seconds=seconds)


def settings_of(match: dict[str, Any] | None = None, **changed: Any) -> dict[str, Any]:
    """Return the settings of a route as JSON."""
    return SETTINGS | changed | {"match": MATCH | (match or {})}


def route_of(route_id: int = 1, match: dict[str, Any] | None = None, **changed: Any) -> AlertRoute:
    """Return a route."""
    return AlertRoute(route_id, f"route {route_id}", RouteSettings.model_validate(settings_of(match, **changed)))


def match_of(**changed: Any) -> RouteMatch:
    """Return what a route takes."""
    return RouteMatch.model_validate(MATCH | changed)


def episode(number: int, start_s: float, **changed: Any) -> RoutedEpisode:
    """Return an episode of rule mutex on sun1 that lasts."""
    usual = RoutedEpisode(
        id=number,
        host_id=1,
        host="sun1",
        tags=("prod",),
        groups=("db",),
        source="mutex",
        subsystem="mutex",
        instance=str(number),
        start=at(start_s),
        last=at(start_s),
        ended_at=None,
        ended_by=None,
        colour=Colour.RED,
        is_acknowledged=False,
        is_muted=False,
    )
    return replace(usual, **changed)


class Story:
    """Lets a route see episodes, step by step, as the router would: each ten seconds, or less often."""

    def __init__(self, *routes: AlertRoute) -> None:
        self.routes = list(routes)
        self.alerts: list[TrackedAlert] = []
        self.planned: list[tuple[float, PlannedMessage]] = []
        self.episodes: dict[int, RoutedEpisode] = {}

    def see(self, *episodes: RoutedEpisode) -> "Story":
        """Put episodes, or other states of them."""
        self.episodes |= {each.id: each for each in episodes}
        return self

    def end(self, number: int, seconds: float, by: str = "fine") -> "Story":
        """End an episode."""
        return self.see(replace(self.episodes[number], ended_at=at(seconds), ended_by=by))

    def change(self, number: int, **changed: Any) -> "Story":
        """Change an episode."""
        return self.see(replace(self.episodes[number], **changed))

    def step(self, seconds: float) -> list[str]:
        """Make one step; return the kinds of its messages."""
        self.alerts, planned = step_routes(self.routes, self.alerts, list(self.episodes.values()), at(seconds))
        self.planned += [(seconds, message) for message in planned]
        return [message.kind.value for message in planned]

    def run(self, first: float, last: float, every: float = 10) -> list[tuple[float, str]]:
        """Make the steps from one instant to another; return when which messages were due."""
        found = []
        seconds = first
        while seconds <= last:
            found += [(seconds, kind) for kind in self.step(seconds)]
            seconds += every
        return found

    @property
    def told(self) -> list[tuple[float, str, tuple[int, ...]]]:
        """The messages to people so far: when, why, to which channels."""
        return [(at_s, each.kind.value, each.channels) for at_s, each in self.planned if not each.is_silent]
