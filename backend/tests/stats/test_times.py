"""Times as tools print them."""

import datetime as dt

import pytest

from normstat.stats.catalogue import require_spec
from normstat.stats.engine.times.banner_day import parse_banner_day, parse_day_first, parse_local_stamp
from normstat.stats.engine.times.time_lines import parse_time_line
from normstat.stats.engine.times.timeline import Timeline, require_zone
from normstat.stats.engine.times.timestamps import parse_date, parse_zone, take_clock
from normstat.stats.readers import read
from normstat.stats.records import NO_TIME
from tests.stats.reading import stamp_of

NOON = dt.datetime(2026, 11, 21, 12, 0, 1, tzinfo=dt.UTC).timestamp()


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-21T12:00:01+0000", "2026-11-21T12:00:01Z", "2026-11-21T17:30:01+0530", "11/21/26 12:00:01",
        "11/21/2026 12:00:01 PM", "21.11.2026 12:00:01", "2026年11月21日 12时00分01秒", "1795262401", "Sat Nov 21 12:00:01 2026",
        "Sat Nov 21 12:00:01 UTC 2026", "Sat Nov 21 13:00:01 CET 2026", "November 21, 2026 12:00:01 PM UTC",
        "Saturday, November 21, 2026 at 04:00:01 AM PST", "21 November 2026 12:00:01 UTC", "zzz ***Sat Nov 21 12:00:01 UTC 2026",
        "zzz *** Sat Nov 21 13:00:01 CET 2026", "zzz ***Sat Nov 21 12:00:01 UTC 2026 Sample interval: 5 secconds",
        "zzz <11/21/2026 12:00:01> Count:30", "zzz ***Sa 21. Nov 13:00:01 CET 2026", "Sat Nov 21 09:00:01 -03 2026",
        "Sat 21 Nov 12:00:01 GMT 2026", "Sat 21 Nov 2026 01:00:01 PM CET", "2026-11-21 13:00:01+01:00",
        "2026-11-21 13:00:01.000000000+01:00", "2026-11-21T13:00:01,000000+01:00", "Sa 21. Nov 13:00:01 CET 2026",
        "samedi 21 novembre 2026, 13:00:01 (UTC+0100)", "sam. 21 nov. 2026 13:00:01 CET", "2026年 11月 21日 土曜日 21:00:01 JST",
        "# Sat Nov 21 13:00:01 CET 2026", "----- Sat Nov 21 13:00:01 CET 2026 -----", "=== 2026-11-21 12:00:01 UTC ===",
        "[2026-11-21T12:00:01Z]", "Date: Sat Nov 21 12:00:01 UTC 2026", "# 1795262401",
        "1795262401.0", "20261121_120001", "--- 20261121-120001 ---", "Collected at 2026-11-21 12:00:01",
        "Sat Nov 21 14:00:01 METDST 2026", "Every 2.0s: free -m         web1: Sat Nov 21 12:00:01 2026",
        "2026年 11月 21日 星期六 20:00:01 CST", "Sat Nov 21 06:00:01 CST 2026",
    ],
)  # fmt: skip
def test_lines_that_are_a_time(text: str) -> None:
    stamp = stamp_of(text)
    assert stamp.seconds - (stamp.offset_s or 0) == NOON


@pytest.mark.parametrize(
    "text",
    [
        "", "12", "179526240", "17952624011", "2026-13-21 12:00:01", "11/21/26", "11/21/26 25:00:01", "25:00:01", "Time: noon",
        "Sat Nov 31 12:00:01 2026", "Sat Foo 21 12:00:01 2026", "11/21/26 12:00:01 CPU", "11/21/26 12:00:01 PM UTC more", "x" * 500,
        "Nov 21 12:00:01", "zzz", "zzz ***", "zzz ***Sat Nov 31 12:00:01 UTC 2026", "zzz <11/21/2026>", "zzz " * 15,
        "--- 12 ---", "# 12", "-----", "# Time: 12 s", "--- Sat Nov 31 12:00:01 2026 ---", "-1795262401 0", "# CPU 12:00:01",
    ],
)  # fmt: skip
def test_lines_that_are_no_time(text: str) -> None:
    assert parse_time_line(text) is None


def test_a_clock_alone_is_of_the_day_that_is_known() -> None:
    """As `date +%T` prints it before a call."""
    assert stamp_of("12:00:01") == stamp_of("Time: 12:00:01") == stamp_of("12:00:01 PM")


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
    stamps = [parse_time_line(text) for text in ("zzz ***Sat Nov 21 12:00:01 UTC 2026", "Sat Nov 21 12:00:01 UTC 2026")]
    assert [stamp.is_call for stamp in stamps if stamp is not None] == [True, False]


@pytest.mark.parametrize(("zone", "hour"), [(None, 18), ("Asia/Shanghai", 4), ("America/Chicago", 18), ("Europe/Berlin", 18)])
def test_the_name_of_a_zone_means_what_it_means_in_the_zone_that_was_given(zone: str | None, hour: int) -> None:
    timeline = Timeline(require_zone(zone) if zone is not None else None)
    stamp = stamp_of("Sat Nov 21 12:00:01 CST 2026")
    assert timeline.stamp_us(stamp) == dt.datetime(2026, 11, 21, hour, 0, 1, tzinfo=dt.UTC).timestamp() * 1_000_000


def test_a_name_tells_the_two_passes_of_an_hour_apart() -> None:
    timeline = Timeline(require_zone("Europe/Berlin"))
    found = []
    for name in ("CEST", "CET"):
        stamp = stamp_of(f"Sun Oct 25 02:30:00 {name} 2026")
        found.append(timeline.stamp_us(stamp))
    assert found[1] - found[0] == 3600 * 1_000_000


@pytest.mark.parametrize(("zone", "hour"), [(None, 11), ("UTC", 12), ("Europe/Berlin", 11)])
def test_clocks_behind_a_stamp_are_in_its_zone_unless_another_was_given(zone: str | None, hour: int) -> None:
    timeline = Timeline(require_zone(zone) if zone is not None else None)
    stamp = stamp_of("zzz ***Sat Nov 21 12:00:01 CET 2026")
    timeline.stamp_us(stamp)
    later = Timeline(require_zone(zone) if zone is not None else None)
    assert later.load(timeline.to_state())
    assert later.clock_us(12 * 3600 + 2) == dt.datetime(2026, 11, 21, hour, 0, 2, tzinfo=dt.UTC).timestamp() * 1_000_000


@pytest.mark.parametrize(
    ("text", "n_words"),
    [
        ("07:54:05.MD UTC", 2), ("UTC 07:54:05 م", 3), ("下午 07時54分05秒 UTC", 3), ("07:54:05 ಬಯ್ಯ UTC", 3),
        ("7:54:05 galabnimo", 2),         ("7:54:05፡ምሴት", 1), ("07:54:05 f", 2), ("7:54:05 carra", 2), ("19:54:05 UTC", 2),
        ("19时54分05秒 UTC", 2), ("UTC 19:54:05", 2),
        ("07:54:05 म.नं. UTC", 3), ("7:54:05 WB", 2), ("07:54:05 ē-po͘", 2), ("19:54:05", 1),
    ],
)  # fmt: skip
def test_clocks_of_all_locales(text: str, n_words: int) -> None:
    clock = take_clock([*text.split(), "all"])
    assert clock is not None
    assert (clock.n_words, clock.seconds) == (n_words, 19 * 3600 + 54 * 60 + 5)


@pytest.mark.parametrize(
    "text",
    [
        "22 نوفمبر, 2026 UTC 07:54:05 م", "22 تشرين الثاني, 2026 UTC 07:54:05 م",
        "22 نونبر, 2026 UTC 19:54:05", "ig., 2026.eko azaren 22a 19:54:05",
        "الأحد 22 نوفمبر 2026 19:54:05", "Sunday, 22 November, 2026 07:54:05 PM UTC", "22/11-2026 19:54:05",
        "22. 11. 26 19:54:05",
        "sun 22.nóv 2026 19:54:05", "2026년 11월 22일 19시 54분 05초",
        "il-Ħadd, 22 ta Nov, 2026 19:54:05 UTC", "22/11/2569 19:54:05",
        "2026年11月22日 星期日 下午 07時54分05秒 UTC", "22.11.26 07:54:05.MD UTC",
    ],
)  # fmt: skip
def test_lines_of_date_and_clock_in_all_locales(text: str) -> None:
    stamp = stamp_of(text)
    assert stamp.seconds == dt.datetime(2026, 11, 22, 19, 54, 5, tzinfo=dt.UTC).timestamp()


def test_a_zone_after_a_clock_of_24_hours_counts() -> None:
    stamp = stamp_of("2026-11-21 12:00:01 EST")
    assert stamp.offset_s == -5 * 3600


@pytest.mark.parametrize(
    "text", ["2026-11-21 12:00:01 IST", "Sat Nov 21 12:00:01 AEST 2026", "zzz ***Sat Nov 21 12:00:01 BST 2026"]
)
def test_a_zone_of_several_meanings_is_asked_for(text: str) -> None:
    timeline = Timeline(None)
    assert timeline.stamp_us(stamp_of(text)) == NO_TIME
    later = Timeline(None)
    assert later.load(timeline.to_state())
    assert later.clock_us(12 * 3600 + 2) == NO_TIME
    named = Timeline(require_zone("Europe/London"))
    assert named.stamp_us(stamp_of(text)) == NOON * 1_000_000


def test_malay_clocks_do_not_say_which_half_of_the_day_they_mean() -> None:
    assert parse_local_stamp("Ahad 22 Nov 2026 07:53:32  UTC") is None
    text = b"""Linux 6.1.0 (web1)  Ahad 22 Nov 2026  _x86_64_ (2 CPU)

07:53:32  UTC     CPU     %user     %nice   %system   %iowait    %steal     %idle
07:53:33  UTC     all     53.20     39.90      6.90      0.00      0.00      0.00
"""
    block = read(require_spec("sar_linux"), text, state={}, offset=0, is_final=True).blocks[0]
    assert block.time_us.tolist() == [NO_TIME]


def test_thailand_counts_years_from_the_buddha() -> None:
    assert parse_banner_day("22/11/2569") == dt.date(2026, 11, 22)
    assert parse_day_first("03/04/2569") == dt.date(2026, 4, 3)
