"""Rules: local times stay local over both changes of the clocks, lengths stay lengths, and bad rules are refused at once."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from dateutil.rrule import rrulestr
from hypothesis import given
from hypothesis import strategies as st

from normstat.baselines import recurrence
from normstat.baselines.recurrence import RecurrenceRule, next_window, parse_rule, windows_of
from normstat.errors import BadRequest
from normstat.window import Window

BERLIN = "Europe/Berlin"
HOUR = 3600
NOW = datetime(2026, 11, 20, 18, 0, tzinfo=UTC)
WEEKDAYS = "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"


def rule(text: str = WEEKDAYS, start: str = "09:00", hours: float = 8, days: int = 28, zone: str = BERLIN) -> RecurrenceRule:
    return parse_rule(text, start, round(hours * HOUR), days, zone, now=NOW)


def local(window: Window, zone: str = BERLIN) -> str:
    start, end = (instant.astimezone(ZoneInfo(zone)) for instant in (window.start, window.end))
    return f"{start:%a %m-%d %H:%M}-{end:%H:%M}"


def test_four_weeks_of_working_days() -> None:
    windows = windows_of(rule(), NOW)
    # Friday evening in Berlin: the day that just ended counts, and the Friday of four weeks ago does not any more.
    assert len(windows) == 20
    assert (local(windows[0]), local(windows[-1])) == ("Mon 10-26 09:00-17:00", "Fri 11-20 09:00-17:00")
    assert len({window.start.astimezone(ZoneInfo(BERLIN)).weekday() for window in windows}) == 5


@pytest.mark.parametrize(
    ("day", "offsets"),
    [("2026-03-27T18:00:00Z", {1, 2}), ("2026-10-23T18:00:00Z", {2, 1})],
)
def test_nine_to_five_stays_so_over_both_changes_of_the_clocks(day: str, offsets: set[int]) -> None:
    now = datetime.fromisoformat(day) + timedelta(days=7)
    windows = windows_of(rule(start="2026-01-05T09:00", days=14), now)
    assert len(windows) == 10
    assert {local(window).split()[2] for window in windows} == {"09:00-17:00"}
    assert {window.start.astimezone(ZoneInfo(BERLIN)).utcoffset() for window in windows} == {
        timedelta(hours=offset) for offset in offsets
    }
    assert {window.length_s for window in windows} == {8 * HOUR}


def test_a_night_with_a_change_lasts_as_long_as_others() -> None:
    windows = windows_of(rule("daily", "2026-03-20T22:00", 8, 14), datetime(2026, 4, 1, tzinfo=UTC))
    assert {window.length_s for window in windows} == {8 * HOUR}
    assert local(windows[8]) == "Sat 03-28 22:00-07:00"
    assert local(windows[9]) == "Sun 03-29 22:00-06:00"


def test_days_are_days_of_the_calendar() -> None:
    windows = windows_of(rule("daily", "2026-10-20T00:00", 24, 10), datetime(2026, 10, 27, 12, tzinfo=UTC))
    # They meet at midnight, so they are one; the day with 25 hours is in it whole.
    assert windows == (Window(datetime(2026, 10, 19, 22, tzinfo=UTC), datetime(2026, 10, 26, 23, tzinfo=UTC)),)
    saturdays = windows_of(rule("FREQ=WEEKLY;BYDAY=SU", "00:00", 24, 60), datetime(2026, 10, 27, 12, tzinfo=UTC))
    assert [window.length_s for window in saturdays][-2:] == [24 * HOUR, 25 * HOUR]


def test_a_time_that_the_clocks_skip_and_one_that_comes_twice() -> None:
    march = windows_of(rule("daily", "2026-03-27T02:30", 1, 10), datetime(2026, 3, 30, 12, tzinfo=UTC))
    assert [local(window).split()[2] for window in march] == ["02:30-03:30", "02:30-03:30", "03:30-04:30", "02:30-03:30"]
    october = windows_of(rule("daily", "2026-10-24T02:30", 1, 10), datetime(2026, 10, 26, 12, tzinfo=UTC))
    assert [window.start.hour for window in october] == [0, 0, 1]


def test_half_hours_and_the_other_side_of_the_world() -> None:
    windows = windows_of(rule("daily", "09:00", 8, 7, "Pacific/Chatham"), NOW)
    assert {local(window, "Pacific/Chatham").split()[2] for window in windows} == {"09:00-17:00"}
    assert windows[-1].end <= NOW < windows[-1].end + timedelta(days=1)


def test_the_set_changes_only_when_a_window_ends() -> None:
    sets = [windows_of(rule(), NOW + timedelta(minutes=20 * number)) for number in range(3 * 24 * 7)]
    changes = [number for number, (one, other) in enumerate(pairwise(sets)) if one != other]
    assert len(changes) == 5
    assert {len(windows) for windows in sets} == {20}


def test_a_rule_that_comes_rarely_keeps_its_last_window() -> None:
    quarterly = rule("FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=-1", "2025-03-31T08:00", 2, 10)
    assert [local(window) for window in windows_of(quarterly, NOW)] == ["Wed 09-30 08:00-10:00"]
    ended = rule("FREQ=DAILY;UNTIL=20260905", "2026-09-01T09:00", 8, 3)
    assert [local(window)[:9] for window in windows_of(ended, NOW)] == ["Thu 09-03", "Fri 09-04", "Sat 09-05"]
    assert next_window(ended, NOW) is None


@pytest.mark.parametrize(
    ("text", "days", "n"),
    [("mondays", 28, 4), ("sundays", 7, 1), ("FREQ=MONTHLY;BYMONTHDAY=1", 3, 1), ("FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24", 9, 1)],
)
def test_with_a_time_of_day_the_last_windows_are_there_at_once(text: str, days: int, n: int) -> None:
    for later in range(40):
        now = NOW + timedelta(days=later)
        assert len(windows_of(parse_rule(text, "09:00", HOUR, days, BERLIN, now=now), now)) == n


def test_before_its_first_window_there_is_none() -> None:
    coming = rule(start="2026-12-01T09:00")
    assert windows_of(coming, NOW) == ()
    assert next_window(coming, NOW) == Window(datetime(2026, 12, 1, 8, tzinfo=UTC), datetime(2026, 12, 1, 16, tzinfo=UTC))
    assert windows_of(coming, datetime(2026, 12, 1, 15, 59, tzinfo=UTC)) == ()


def test_windows_that_overlap_are_one() -> None:
    assert len(windows_of(rule("FREQ=DAILY;BYHOUR=8,9,10", "08:00", 2, 5), NOW)) == 5


@given(
    st.sampled_from(
        [
            WEEKDAYS, "FREQ=DAILY", "FREQ=DAILY;INTERVAL=5", "FREQ=WEEKLY;INTERVAL=3;BYDAY=TU,SU;WKST=SU", "FREQ=DAILY;BYMONTH=1,7",
            "FREQ=DAILY;COUNT=40", "FREQ=WEEKLY;BYDAY=MO,FR;BYHOUR=3,9", "FREQ=WEEKLY;BYMONTH=12;BYDAY=TH;UNTIL=20260601",
        ]
    ),
    st.integers(1, 60),
    st.integers(1, 30),
    st.datetimes(datetime(2022, 1, 4), datetime(2028, 1, 1)),  # noqa: DTZ001
)  # fmt: skip
def test_years_that_are_skipped_change_nothing(text: str, days: int, hours: int, at: datetime) -> None:
    now = at.replace(tzinfo=UTC)
    made = parse_rule(text, "2021-12-29T07:30", min(hours, 24 * days) * HOUR, days, BERLIN, now=now)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recurrence, "_skip_to", lambda rule, _: rule.start)
        expected = windows_of(made, now)
    assert windows_of(made, now) == expected


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("weekdays", WEEKDAYS),
        ("Every  Day", "FREQ=DAILY"),
        ("mondays", "FREQ=WEEKLY;BYDAY=MO"),
        ("RRULE:byday=mo,tu;freq=weekly;", "FREQ=WEEKLY;BYDAY=MO,TU"),
        ("FREQ=DAILY;UNTIL=20270101", "FREQ=DAILY;UNTIL=20270101T235959"),
        ("FREQ=DAILY;UNTIL=20270101T160000Z", "FREQ=DAILY;UNTIL=20270101T170000"),
        ("FREQ=MONTHLY;BYDAY=-1FR;BYMONTH=3,6", "FREQ=MONTHLY;BYDAY=-1FR;BYMONTH=3,6"),
    ],
)
def test_what_people_write(said: str, read: str) -> None:
    made = rule(said)
    assert made.rrule == read
    # What is stored is read as itself.
    assert rule(made.rrule).rrule == read


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("FREQ=SECONDLY", "Invalid FREQ=SECONDLY"),
        ("FREQ=MINUTELY", "Invalid FREQ=MINUTELY"),
        ("FREQ=HOURLY;INTERVAL=2", "add BYHOUR"),
        ("FREQ=DAILY;BYSECOND=1", "Unsupported rule part BYSECOND"),
        ("", "Invalid"),
        ("now and then", "Invalid"),
        ("BYDAY=MO", "has no FREQ"),
        ("FREQ=WEEKLY;BYDAY=MO;BYDAY=TU", "has BYDAY twice"),
        ("FREQ=WEEKLY;BYDAY=XX", "expected days"),
        ("FREQ=WEEKLY;BYDAY=1MO", "Numbered days"),
        ("FREQ=WEEKLY;BYDAY=MO;WKST=ZZ", "WKST=ZZ"),
        ("FREQ=DAILY;INTERVAL=0", "from 1 to 1000"),
        ("FREQ=DAILY;INTERVAL=99999999999", "from 1 to 1000"),
        ("FREQ=DAILY;COUNT=-1", "COUNT=-1"),
        ("FREQ=DAILY;COUNT=3;UNTIL=20270101", "not both"),
        ("FREQ=DAILY;UNTIL=20271301", "UNTIL=20271301"),
        ("FREQ=DAILY;UNTIL=tomorrow", "UNTIL=TOMORROW"),
        ("FREQ=DAILY;BYHOUR=24", "from 0 to 23"),
        ("FREQ=MONTHLY;BYMONTHDAY=0", "count from 1"),
        ("FREQ=MONTHLY;BYMONTHDAY=1;BYMONTH=13", "from 1 to 12"),
        ("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "never occurs"),
        ("FREQ=MONTHLY;BYDAY=6MO", "never occurs"),
        ("FREQ=DAILY;UNTIL=20200101", "never occurs"),
        ("FREQ=DAILY;BYHOUR=" + ",".join(map(str, range(24))) + ";BYMINUTE=0,20,40", "more than 1000 windows"),
        ("FREQ=DAILY\nDTSTART:20200101T000000", "Invalid"),
        ("FREQ=DAILY\x00", "Invalid"),
        ("FREQ=DAILY;" + "BYDAY=MO," * 100, "at most 500 characters"),
        ("FREQ=WEEKLY", "depends on its first day"),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO", "depends on its first day"),
        ("FREQ=MONTHLY", "depends on its first day"),
    ],
)
def test_bad_rules_are_refused(text: str, message: str) -> None:
    with pytest.raises(BadRequest, match=message):
        rule(text, hours=0.1)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"start": "25:00"}, "Invalid"),
        ({"start": "9 o'clock"}, "Invalid"),
        ({"start": ""}, "Invalid"),
        ({"start": "09:00Z"}, "has a zone"),
        ({"start": "0001-01-01T00:00"}, "1970 to 2199"),
        ({"start": "2026-03-29T02:30"}, "set forward"),
        ({"hours": 0}, "from one minute to 31 days"),
        ({"hours": -1}, "from one minute to 31 days"),
        ({"hours": 24 * 40}, "from one minute to 31 days"),
        ({"hours": 48, "days": 1}, "longer than the 1 days"),
        ({"days": 0}, "1 to 800 days"),
        ({"days": 10_000}, "1 to 800 days"),
        ({"zone": "Europe/Nowhere"}, "no time zone"),
    ],
)
def test_bad_starts_and_lengths_are_refused(more: dict[str, str | float], message: str) -> None:
    with pytest.raises(BadRequest, match=message):
        rule(**more)  # type: ignore[arg-type]


@given(st.text(max_size=60) | st.from_regex(r"FREQ=(DAILY|WEEKLY);[A-Z0-9=,;+-]{0,40}", fullmatch=True))
def test_any_text_is_a_rule_or_refused(text: str) -> None:
    try:
        made = rule(text)
    except BadRequest:
        return
    assert len(windows_of(made, NOW)) <= recurrence.MAX_WINDOWS
    assert rule(made.rrule).rrule == made.rrule


@given(
    st.sampled_from([WEEKDAYS, "FREQ=DAILY", "FREQ=MONTHLY;BYMONTHDAY=1,-1", "FREQ=DAILY;BYHOUR=1,2,3"]),
    st.sampled_from([BERLIN, "America/New_York", "Australia/Lord_Howe", "UTC", "Pacific/Apia"]),
    st.integers(0, 23),
    st.integers(1, 30 * 24),
    st.datetimes(datetime(2024, 6, 1), datetime(2027, 1, 1)),  # noqa: DTZ001
)
def test_every_start_is_one_of_the_rule(text: str, zone: str, hour: int, hours: int, at: datetime) -> None:
    """Against dateutil alone, in local time without zones."""
    now = at.replace(tzinfo=UTC)
    made = parse_rule(text, f"2024-01-01T{hour:02}:15", hours * HOUR, 31, zone, now=now)
    windows = windows_of(made, now)
    expected = {
        recurrence.to_instant(start, zone)
        for start in rrulestr(text, dtstart=made.start).between(made.start, at + timedelta(days=2), inc=True)
    }
    assert {window.start for window in windows} <= expected
    assert all(window.end <= now for window in windows)
    assert windows
