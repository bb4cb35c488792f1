"""How much is on, in short."""

from datetime import UTC, datetime, timedelta

from normstat.watch.open_now import HostOn, OpenNow, count_open
from normstat.watch.watch_lists import OpenPlace
from normstat.watch.watch_mute_rows import WatchMuteRecord

NOW = datetime(2026, 11, 23, 3, tzinfo=UTC)


def place(
    host: str | None, source: str, colour: str, *, instance: str = "", tags: tuple[str, ...] = (), acked: bool = False
) -> OpenPlace:
    return OpenPlace(source, host, list(tags), instance, colour, acked)


def mute(
    *, host: str | None = None, tag: str | None = None, source: str | None = None, end: datetime | None = None
) -> WatchMuteRecord:
    return WatchMuteRecord(1, host, tag, source, None, NOW - timedelta(hours=1), end, "", "anna", NOW)


def test_instances_of_a_rule_on_a_host_are_one_entry_and_the_worst_counts() -> None:
    places = [
        place("web1", "mutex", "amber", instance="1"),
        place("web1", "mutex", "red", instance="2"),
        place("web1", "disk-slow", "amber"),
        place("web2", "mutex", "amber"),
        place(None, "server-disk", "black"),
    ]
    assert count_open(places, [], NOW) == OpenNow(4, "black", [HostOn("web1", "red", 2), HostOn("web2", "amber", 1)], None)
    assert count_open([], [], NOW) == OpenNow(0, None, [], None)


def test_what_is_acknowledged_waits_for_nobody_but_is_still_on() -> None:
    places = [place("web1", "mutex", "red", acked=True), place("web2", "mutex", "amber")]
    assert count_open(places, [], NOW) == OpenNow(1, "amber", [HostOn("web1", "red", 1), HostOn("web2", "amber", 1)], None)
    half = [place("web1", "mutex", "red", instance="1", acked=True), place("web1", "mutex", "red", instance="2")]
    assert count_open(half, [], NOW).n_waiting == 1


def test_what_is_muted_at_that_moment_is_left_out() -> None:
    places = [place("web1", "mutex", "red", tags=("prod",)), place("web2", "mutex", "amber")]
    assert count_open(places, [mute(tag="prod")], NOW) == OpenNow(1, "amber", [HostOn("web2", "amber", 1)], None)
    assert count_open(places, [mute(source="mutex")], NOW) == OpenNow(0, None, [], None)
    assert count_open(places, [mute(source="mutex", end=NOW)], NOW).n_waiting == 2
