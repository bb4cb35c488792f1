"""What a route would have sent in the past is what it sends when the same happens now."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from normstat.alerts import route_trial
from normstat.alerts.route_trial import RecordedEpisode, try_route
from normstat.alerts.routing import AlertRoute, RoutedEpisode
from normstat.errors import BadRequest
from normstat.watch.watch_mute_rows import WatchMuteRecord
from normstat.window import Window
from tests.alerts.story import START, Story, at, episode, route_of

DAY = Window(START, START + timedelta(days=1))


def tried(route: AlertRoute, *recorded: RecordedEpisode, mutes: tuple[WatchMuteRecord, ...] = ()) -> list[tuple[float, str]]:
    return [((each.at - START).total_seconds(), each.kind.value) for each in try_route(route, recorded, mutes, DAY)]


def past(number: int, start_s: float, end_s: float | None, *, acknowledged: float | None = None, **changed: Any) -> RecordedEpisode:
    ended = None if end_s is None else at(end_s)
    by = None if end_s is None else "fine"
    return RecordedEpisode(
        episode(number, start_s, ended_at=ended, ended_by=by, **changed), None if acknowledged is None else at(acknowledged)
    )


def mute(start: datetime, end: datetime | None) -> WatchMuteRecord:
    return WatchMuteRecord(1, "sun1", None, None, None, start, end, "", "test", start)


def test_each_message_has_its_instant() -> None:
    escalations = [{"after_min": 5, "channels": [2]}]
    route = route_of(repeat_min=30, escalations=escalations)
    assert tried(route, past(1, 100, 4000)) == [
        (130, "fired"), (430, "escalated"), (2230, "repeated"), (4060, "resolved"),
    ]  # fmt: skip
    assert tried(route, past(1, 100, 4000, acknowledged=200)) == [(130, "fired"), (4060, "resolved")]


def test_what_began_before_the_window_is_not_counted() -> None:
    assert tried(route_of(), past(1, -100, 4000)) == []


def test_mutes_and_hours_are_those_of_the_past() -> None:
    assert tried(route_of(), past(1, 100, 4000), mutes=(mute(at(0), at(1000)),)) == [(1030, "fired"), (4060, "resolved")]
    hours = [{"weekdays": [1], "start": "04:00", "end": "05:00"}]
    assert tried(route_of(match={"hours": hours}), past(1, 100, 30_000)) == [(3630, "fired"), (30_060, "resolved")]


@pytest.mark.parametrize("group_by", ["story", "host", "rule", "route"])
def test_a_trial_and_the_router_agree(group_by: str) -> None:
    route = route_of(group_by=group_by, repeat_min=10, escalations=[{"after_min": 7, "channels": [3]}], channels=[1, 2])
    recorded = [
        past(1, 40, 2000),
        past(2, 60, 900, source="swap", instance=""),
        past(3, 400, 5000, host="web1", host_id=2),
        past(4, 1000, 1010),
        past(5, 2030, 2500),
        past(6, 9000, None, acknowledged=9700),
    ]
    story = Story(route)
    found = []
    # The router sees all of it each ten seconds; the trial knows the instants.
    for seconds in range(0, 12_000, 10):
        there = [now_of(each, seconds) for each in recorded if each.episode.start <= at(seconds)]
        story.see(*there)
        story.step(seconds)
    found = [(seconds, kind, channels) for seconds, kind, channels in story.told]
    window = Window(START, at(12_000))
    assert found == [
        ((each.at - START).total_seconds(), each.kind.value, each.channels) for each in try_route(route, recorded, (), window)
    ]


def now_of(each: RecordedEpisode, seconds: float) -> RoutedEpisode:
    ended = each.episode.ended_at
    changed: dict[str, Any] = {} if ended is not None and ended <= at(seconds) else {"ended_at": None, "ended_by": None}
    is_acknowledged = each.acknowledged_at is not None and each.acknowledged_at <= at(seconds)
    return replace(each.episode, is_acknowledged=is_acknowledged, **changed)


def test_a_trial_that_takes_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(route_trial, "MAX_STEPS", 200)
    many = [past(number, number * 60, number * 60 + 1, host=f"h{number}", host_id=number) for number in range(100)]
    with pytest.raises(BadRequest, match="shorter"):
        try_route(route_of(wait_s=0, resolve_wait_s=0), many, (), Window(START, START + timedelta(days=30)))
