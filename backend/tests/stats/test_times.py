"""Times as tools print them."""

import datetime as dt

import pytest

from normstat.stats.engine.timeline import Timeline, require_zone
from normstat.stats.engine.timestamps import parse_date, parse_timestamp, parse_zone, take_clock

NOON = dt.datetime(2026, 11, 21, 12, 0, 1, tzinfo=dt.UTC).timestamp()


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-21T12:00:01+0000",
        "2026-11-21T12:00:01Z",
        "2026-11-21T17:30:01+0530",
        "11/21/26 12:00:01",
        "11/21/2026 12:00:01 PM",
        "21.11.2026 12:00:01",
        "2026年11月21日 12时00分01秒",
        "1795262401",
        "Sat Nov 21 12:00:01 2026",
        "Sat Nov 21 12:00:01 UTC 2026",
        "Sat Nov 21 13:00:01 CET 2026",
        "November 21, 2026 12:00:01 PM UTC",
        "Saturday, November 21, 2026 at 04:00:01 AM PST",
        "21 November 2026 12:00:01 UTC",
        "zzz ***Sat Nov 21 12:00:01 UTC 2026",
        "zzz *** Sat Nov 21 13:00:01 CET 2026",
        "zzz ***Sat Nov 21 12:00:01 UTC 2026 Sample interval: 5 secconds",
        "zzz <11/21/2026 12:00:01> Count:30",
    ],
)
def test_lines_that_are_a_time(text: str) -> None:
    stamp = parse_timestamp(text)
    assert stamp is not None
    assert stamp.seconds - (stamp.offset_s or 0) == NOON


@pytest.mark.parametrize(
    "text",
    [
        "", "12", "179526240", "17952624011", "2026-13-21 12:00:01", "11/21/26", "11/21/26 25:00:01", "12:00:01", "Time: noon",
        "Sat Nov 31 12:00:01 2026", "Sat Foo 21 12:00:01 2026", "11/21/26 12:00:01 CPU", "11/21/26 12:00:01 PM UTC more", "x" * 500,
        "Nov 21 12:00:01", "zzz", "zzz ***", "zzz ***Sat Nov 31 12:00:01 UTC 2026", "zzz <11/21/2026>", "zzz " * 15,
    ],
)  # fmt: skip
def test_lines_that_are_no_time(text: str) -> None:
    assert parse_timestamp(text) is None


def test_day_first_only_where_month_first_cannot_be() -> None:
    assert parse_date("03/04/26") == dt.date(2026, 3, 4)
    assert parse_date("27/07/10") == dt.date(2010, 7, 27)
    assert parse_date("03.04.26") == dt.date(2026, 4, 3)
    assert parse_date("30/30/26") is None
    assert parse_date("1/2/345") is None


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("12:00:00 AM", 0),
        ("12:00:00 PM", 43200),
        ("01:00:00 AM", 3600),
        ("11:59:59 PM", 86399),
        ("00:00:00", 0),
        ("23:59:60", 86400),
    ],
)
def test_clocks(words: str, seconds: int) -> None:
    clock = take_clock(words.split())
    assert clock is not None
    assert clock.seconds == seconds


@pytest.mark.parametrize("words", ["13:00:00 PM", "00:30:00 AM", "24:00:00", "12:60:00", "1:2:3", "all", "-1:00:00", ""])
def test_no_clocks(words: str) -> None:
    assert take_clock(words.split()) is None


def test_names_of_several_meanings_are_no_zone() -> None:
    assert parse_zone("IST") is None
    assert parse_zone("BST") is None
    assert parse_zone("CEST") == 7200


def test_year_9999_and_year_1_do_not_overflow() -> None:
    for zone in ("UTC", "Pacific/Chatham"):
        timeline = Timeline(require_zone(zone))
        for day in (dt.date.max, dt.date.min):
            timeline.start_day(day)
            for seconds in (0, 86399, 0, 86399):
                assert isinstance(timeline.clock_us(seconds), int)


def test_only_what_a_recorder_wrote_is_a_call() -> None:
    stamps = [parse_timestamp(text) for text in ("zzz ***Sat Nov 21 12:00:01 UTC 2026", "Sat Nov 21 12:00:01 UTC 2026")]
    assert [stamp.is_call for stamp in stamps if stamp is not None] == [True, False]


@pytest.mark.parametrize(("zone", "hour"), [(None, 18), ("Asia/Shanghai", 4), ("America/Chicago", 18), ("Europe/Berlin", 18)])
def test_the_name_of_a_zone_means_what_it_means_in_the_zone_that_was_given(zone: str | None, hour: int) -> None:
    timeline = Timeline(require_zone(zone) if zone is not None else None)
    stamp = parse_timestamp("Sat Nov 21 12:00:01 CST 2026")
    assert stamp is not None
    assert timeline.stamp_us(stamp) == dt.datetime(2026, 11, 21, hour, 0, 1, tzinfo=dt.UTC).timestamp() * 1_000_000


def test_a_name_tells_the_two_passes_of_an_hour_apart() -> None:
    timeline = Timeline(require_zone("Europe/Berlin"))
    found = []
    for name in ("CEST", "CET"):
        stamp = parse_timestamp(f"Sun Oct 25 02:30:00 {name} 2026")
        assert stamp is not None
        found.append(timeline.stamp_us(stamp))
    assert found[1] - found[0] == 3600 * 1_000_000


@pytest.mark.parametrize(("zone", "hour"), [(None, 11), ("UTC", 12), ("Europe/Berlin", 11)])
def test_clocks_behind_a_stamp_are_in_its_zone_unless_another_was_given(zone: str | None, hour: int) -> None:
    timeline = Timeline(require_zone(zone) if zone is not None else None)
    stamp = parse_timestamp("zzz ***Sat Nov 21 12:00:01 CET 2026")
    assert stamp is not None
    timeline.stamp_us(stamp)
    later = Timeline(require_zone(zone) if zone is not None else None)
    assert later.load(timeline.to_state())
    assert later.clock_us(12 * 3600 + 2) == dt.datetime(2026, 11, 21, hour, 0, 2, tzinfo=dt.UTC).timestamp() * 1_000_000
