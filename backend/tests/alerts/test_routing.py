"""Which alerts episodes make, and which messages are due."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from normstat.alerts.message_kind import MessageKind
from normstat.alerts.route_settings import RouteSettings
from normstat.alerts.routing import AlertState, takes
from normstat.watch.rules.rule_file import Colour
from tests.alerts.story import Story, at, episode, match_of, route_of, settings_of


def test_64_cpus_are_one_message() -> None:
    story = Story(route_of()).see(*(episode(number, number * 0.5) for number in range(64)))
    assert story.run(40, 90) == [(70, "fired")]
    assert len(story.alerts) == 1
    assert len(story.alerts[0].episode_ids) == 64


def test_rules_of_a_host_that_begin_within_a_minute_are_one_story_and_later_ones_another() -> None:
    story = Story(route_of()).see(episode(1, 0), episode(2, 50, source="disk-slow"))
    assert story.run(0, 100) == [(30, "fired")]
    story.see(episode(3, 120, source="swap"))
    assert story.run(120, 200) == [(150, "fired")]
    assert [sorted(alert.episode_ids) for alert in story.alerts] == [[1, 2], [3]]


def test_what_is_over_before_the_first_message_sends_none() -> None:
    story = Story(route_of()).see(episode(1, 0))
    assert story.run(0, 20) == []
    story.end(1, 25)
    assert story.run(30, 300) == []
    assert story.alerts[0].state is AlertState.DROPPED


def test_the_end_is_told_once_and_only_when_it_has_lasted() -> None:
    story = Story(route_of()).see(episode(1, 0))
    story.run(0, 100)
    story.end(1, 100)
    assert story.run(110, 150) == []
    # Another CPU within the minute: it is the same story.
    story.see(episode(2, 150))
    assert story.run(160, 400) == []
    story.end(2, 400)
    assert story.run(410, 900) == [(470, "resolved")]
    assert story.alerts[0].state is AlertState.RESOLVED


def test_a_route_may_keep_the_end_to_itself() -> None:
    story = Story(route_of(sends_resolved=False)).see(episode(1, 0))
    story.run(0, 100)
    story.end(1, 100).run(110, 900)
    # An Alertmanager must hear of it all the same.
    assert [kind for _, kind, _ in story.told] == ["fired"]
    assert [each.kind for _, each in story.planned if each.is_silent] == [MessageKind.RESOLVED]


def test_worse_is_told_at_once_and_better_is_not() -> None:
    story = Story(route_of()).see(episode(1, 0, colour=Colour.AMBER))
    story.run(0, 100)
    story.change(1, colour=Colour.RED)
    assert story.step(110) == ["worse"]
    assert story.run(120, 300) == []
    story.change(1, colour=Colour.BLACK)
    assert story.step(310) == ["worse"]


def test_muted_episodes_wake_nobody_until_the_mute_ends() -> None:
    story = Story(route_of()).see(episode(1, 0, is_muted=True))
    assert story.run(0, 1000, 100) == []
    assert story.alerts == []
    story.change(1, is_muted=False)
    assert story.run(1010, 1050) == [(1040, "fired")]
    # Muted again: it neither repeats nor says that it is over.
    story.change(1, is_muted=True)
    story.run(1100, 1200)
    story.end(1, 1200).run(1210, 2000)
    assert [kind for _, kind, _ in story.told] == ["fired"]
    assert story.alerts[0].state is AlertState.RESOLVED


def test_a_mute_that_covers_some_of_an_alert_stops_none_of_the_others() -> None:
    story = Story(route_of(group_by="host")).see(episode(1, 0), episode(2, 0, source="swap", is_muted=True))
    assert story.run(0, 100) == [(30, "fired")]
    assert story.alerts[0].told == {("sun1", "mutex")}


def test_escalations_wait_for_nobody_to_look_after_it() -> None:
    escalations = [{"after_min": 10, "channels": [2]}, {"after_min": 20, "channels": [3, 2]}]
    story = Story(route_of(escalations=escalations)).see(episode(1, 0))
    story.run(0, 800)
    assert story.told == [(30, "fired", (1,)), (630, "escalated", (2,))]
    story.change(1, is_acknowledged=True)
    story.run(810, 3000)
    story.end(1, 3000).run(3010, 3100)
    # Who was told of it hears of its end; the third channel never knew.
    assert story.told[2:] == [(3070, "resolved", (1, 2))]


def test_an_acknowledged_alert_stays_so_when_more_cpus_join() -> None:
    story = Story(route_of(repeat_min=5)).see(episode(1, 0))
    story.run(0, 100)
    story.alerts[0].is_acknowledged = True
    story.change(1, is_acknowledged=True).see(episode(2, 200))
    assert story.run(210, 2000) == []
    story.end(1, 2000)
    assert story.run(2010, 3000) == []
    # Taken back: it repeats again.
    story.change(1, is_acknowledged=False)
    assert story.run(3010, 3050) == [(3010, "repeated")]


def test_repeats_come_at_their_interval_and_once_after_a_pause_of_the_server() -> None:
    story = Story(route_of(repeat_min=10)).see(episode(1, 0))
    assert story.run(0, 1300) == [(30, "fired"), (630, "repeated"), (1230, "repeated")]
    # The server was away for hours.
    assert story.run(20_000, 20_200) == [(20_000, "repeated")]


def test_what_lasts_is_renewed_for_receivers_that_forget_only() -> None:
    story = Story(route_of()).see(episode(1, 0))
    story.run(0, 200_000, 600)
    assert [kind for _, kind, _ in story.told] == ["fired"]
    renewed = [at_s for at_s, each in story.planned if each.kind is MessageKind.RENEWED]
    assert len(renewed) == 4
    assert renewed[0] - 600 >= 12 * 3600


def test_groups_that_grow_are_told_in_one_message_every_few_minutes() -> None:
    story = Story(route_of(group_by="rule")).see(episode(1, 0, host="a", host_id=1))
    story.run(0, 60)
    for number in range(2, 50):
        story.see(episode(number, 60 + number, host=f"h{number}", host_id=number))
    assert story.run(70, 700) == [(330, "worse")]
    assert len(story.alerts[0].told) == 49


def test_episodes_of_other_rules_join_a_host_alert_and_open_a_rule_alert() -> None:
    for group_by, n in (("host", 1), ("rule", 2), ("route", 1)):
        story = Story(route_of(group_by=group_by)).see(episode(1, 0), episode(2, 500, source="swap"))
        story.run(0, 600)
        assert len(story.alerts) == n


class TestLateSamples:
    """Episodes that are rewritten must neither fire twice nor vanish."""

    def test_an_episode_that_is_withdrawn_ends_the_alert(self) -> None:
        story = Story(route_of()).see(episode(1, 0))
        story.run(0, 100)
        story.end(1, 100, by="withdrawn")
        assert story.run(110, 300) == [(170, "resolved")]

    def test_one_that_is_replaced_by_another_is_the_same_alert(self) -> None:
        story = Story(route_of()).see(episode(1, 20, instance="3"))
        story.run(20, 100)
        story.end(1, 100, by="withdrawn").see(episode(2, -40, instance="3"))
        assert story.run(110, 500) == []
        assert [alert.start_at for alert in story.alerts] == [at(-40)]

    def test_one_that_is_cut_in_two_fires_once(self) -> None:
        story = Story(route_of()).see(episode(1, 0, instance="3"))
        story.run(0, 100)
        # The first part was over long ago, the second one is found as new.
        story.end(1, 20).see(episode(2, 60, instance="3"))
        assert story.run(110, 500) == []
        assert len(story.alerts) == 1

    def test_one_that_goes_on_after_all_reopens_its_alert(self) -> None:
        story = Story(route_of()).see(episode(1, 0))
        story.run(0, 100)
        story.end(1, 100)
        assert story.run(110, 300) == [(170, "resolved")]
        story.change(1, ended_at=None, ended_by=None)
        assert story.run(310, 600) == [(340, "fired")]
        assert len(story.alerts) == 1
        assert [each.number for _, each in story.planned] == [1, 2, 3]

    def test_one_that_goes_on_for_a_moment_only_is_not_told(self) -> None:
        story = Story(route_of()).see(episode(1, 0))
        story.run(0, 100)
        story.end(1, 100).run(110, 300)
        story.change(1, ended_at=None, ended_by=None).step(310)
        story.end(1, 315)
        assert story.run(320, 900) == []
        assert story.alerts[0].state is AlertState.RESOLVED

    def test_what_began_before_the_end_was_told_belongs_to_it(self) -> None:
        story = Story(route_of()).see(episode(1, 0))
        story.run(0, 100)
        story.end(1, 100).run(110, 300)
        story.see(episode(2, 150))
        assert story.run(310, 600) == [(340, "fired")]
        assert len(story.alerts) == 1
        # What begins later is news.
        story.end(2, 600).run(610, 900)
        story.see(episode(3, 1000))
        assert story.run(1000, 1100) == [(1030, "fired")]
        assert len(story.alerts) == 2


@pytest.mark.parametrize(
    ("match", "is_taken"),
    [
        ({}, True),
        ({"hosts": ["sun*"]}, True),
        ({"hosts": ["SUN1"]}, False),
        ({"hosts": ["web*", "s?n1"]}, True),
        ({"tags": ["test"]}, False),
        ({"tags": ["test", "prod"]}, True),
        ({"groups": ["db"]}, True),
        ({"groups": ["web"]}, False),
        ({"sources": ["disk-*"]}, False),
        ({"sources": ["mu*"], "subsystems": ["mutex"]}, True),
        ({"subsystems": ["cpu"]}, False),
        ({"lowest": "red"}, True),
        ({"lowest": "black"}, False),
    ],
)
def test_a_route_takes_what_it_is_for(match: dict[str, Any], is_taken: bool) -> None:
    assert takes(route_of(match=match), episode(1, 0)) is is_taken


def test_a_route_for_hosts_does_not_take_what_is_about_the_server() -> None:
    own = episode(1, 0, host=None, host_id=None, source="server-disk", tags=(), groups=())
    assert takes(route_of(), own)
    assert not takes(route_of(match={"hosts": ["*"]}), own)


def test_routes_are_tried_in_order_until_one_is_the_last() -> None:
    story = Story(route_of(1, {"hosts": ["sun*"]}, is_last=True), route_of(2, channels=[2]))
    story.see(episode(1, 0), episode(2, 0, host="web1", host_id=2))
    story.run(0, 40)
    assert story.told == [(30, "fired", (1,)), (30, "fired", (2,))]
    story = Story(route_of(1, {"hosts": ["sun*"]}), route_of(2, channels=[2]))
    story.see(episode(1, 0))
    story.run(0, 40)
    assert story.told == [(30, "fired", (1,)), (30, "fired", (2,))]


def test_what_a_last_route_takes_is_not_told_elsewhere_while_it_is_muted() -> None:
    story = Story(route_of(1, is_last=True), route_of(2, channels=[2])).see(episode(1, 0, is_muted=True))
    assert story.run(0, 100) == []


def test_a_disabled_route_sends_nothing_and_its_alerts_end() -> None:
    story = Story(route_of()).see(episode(1, 0))
    story.run(0, 100)
    story.routes = []
    story.end(1, 100)
    assert story.run(110, 300) == []
    assert story.alerts[0].state is AlertState.RESOLVED


@pytest.mark.parametrize(
    ("text", "is_on"),
    [
        ("2026-11-23T08:00:00+01:00", True),
        ("2026-11-23T17:59:59+01:00", True),
        ("2026-11-23T18:00:00+01:00", False),
        ("2026-11-23T07:59:59+01:00", False),
        # The night from Friday to Saturday belongs to Friday.
        ("2026-11-28T05:00:00+01:00", True),
        ("2026-11-28T06:00:00+01:00", False),
        ("2026-11-28T23:00:00+01:00", False),
        ("2026-11-27T23:00:00+01:00", True),
        ("2026-11-27T05:00:00+01:00", False),
        # In summer the same hours are others in UTC.
        ("2026-07-06T06:30:00+00:00", True),
        ("2026-07-06T16:30:00+00:00", False),
    ],
)
def test_hours_are_those_of_the_zone(text: str, is_on: bool) -> None:
    hours = [{"weekdays": [1, 2, 3], "start": "08:00", "end": "18:00"}, {"weekdays": [5], "start": "22:00", "end": "06:00"}]
    match = match_of(hours=hours, time_zone="Europe/Berlin")
    assert match.is_on(datetime.fromisoformat(text).astimezone(UTC)) is is_on


def test_what_lasts_when_the_hours_begin_fires_then() -> None:
    hours = [{"weekdays": [1, 2, 3, 4, 5, 6, 7], "start": "08:00", "end": "24:00"}]
    story = Story(route_of(match={"hours": hours})).see(episode(1, 0))
    fired = story.run(0, 6 * 3600, 60)
    # It is three o'clock at the start.
    assert fired == [(5 * 3600 + 60, "fired")]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"channels": []}, "at least 1 item"),
        ({"escalations": [{"after_min": 5, "channels": [1]}, {"after_min": 5, "channels": [2]}]}, "each later than"),
        ({"repeat_min": 1}, "greater than or equal to 5"),
        ({"match": {"lowest": "green"}}, "amber, red or black"),
        ({"match": {"time_zone": "Mars/Olympus"}}, "unknown time zone"),
        ({"match": {"hours": [{"weekdays": [1], "start": "08:00", "end": "08:00"}]}}, "are the same"),
        ({"match": {"hours": [{"weekdays": [0], "start": "08:00", "end": "09:00"}]}}, "greater than or equal to 1"),
        ({"match": {"hours": [{"weekdays": [1], "start": "25:00", "end": "09:00"}]}}, "time of day"),
    ],
)
def test_settings_that_cannot_work_are_refused(changed: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        RouteSettings.model_validate(settings_of(**changed))


WORDS = ("begin", "end", "again", "mute", "unmute", "worse", "acknowledge")
CHANGES = st.lists(st.tuples(st.integers(1, 4), st.sampled_from(WORDS), st.integers(10, 400)), max_size=30)


def apply(story: Story, number: int, change: str, seconds: float) -> None:
    """Let something happen to an episode."""
    if number not in story.episodes:
        if change == "begin":
            story.see(episode(number, seconds, source=f"rule {number % 2}"))
    elif change == "end":
        story.end(number, seconds)
    else:
        changed: dict[str, dict[str, Any]] = {
            "begin": {},
            "again": {"ended_at": None, "ended_by": None},
            "mute": {"is_muted": True},
            "unmute": {"is_muted": False},
            "worse": {"colour": Colour.BLACK},
            "acknowledge": {"is_acknowledged": True},
        }
        story.change(number, **changed[change])


def check_order(planned: list[MessageKind]) -> None:
    """Require that an alert fires before anything else, and again only after its end."""
    is_on = False
    for kind in planned:
        assert (kind is MessageKind.FIRED) is not is_on
        is_on = kind is not MessageKind.RESOLVED


@given(CHANGES, st.sampled_from(["story", "host", "rule", "route"]))
def test_whatever_happens_messages_are_in_order_and_every_end_has_a_beginning(
    changes: list[tuple[int, str, int]], group_by: str
) -> None:
    story = Story(route_of(group_by=group_by, repeat_min=10, escalations=[{"after_min": 5, "channels": [2]}]))
    seconds = 0.0
    for number, change, pause in changes:
        apply(story, number, change, seconds)
        story.run(seconds, seconds + pause, 20)
        seconds += pause
    for alert in story.alerts:
        own = [each for _, each in story.planned if each.alert is alert]
        assert [each.number for each in own] == list(range(1, len(own) + 1))
        check_order([each.kind for each in own])
        assert own == [] or alert.state is not AlertState.DROPPED
    joined = [episode_id for alert in story.alerts for episode_id in alert.episode_ids]
    assert len(joined) == len(set(joined))
