"""Times across the beginning and the end of summer time: of headers that name a zone, of stamps, and of clocks alone."""

import datetime as dt
from collections.abc import Iterator
from zoneinfo import ZoneInfo

import pytest

from normstat.stats.catalogue import require_spec
from normstat.stats.engine.times.timeline import Timeline, require_zone
from normstat.stats.readers import read
from normstat.stats.records import State, Timing
from tests.stats.reading import rows_of_result, stamp_of

BERLIN = "Europe/Berlin"
AUTUMN = dt.datetime(2026, 10, 25, 0, 0, tzinfo=dt.UTC)
SPRING = dt.datetime(2026, 3, 29, 0, 0, tzinfo=dt.UTC)
HEADER = (
    "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----\n"
    " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st {zone:>19}\n"
)
ROW = " 1  0      0 402312 267968 846360    0    0  1444  4554  647 1297 34  8 57  1  0 {clock}\n"
US = dt.timedelta(microseconds=1)


def instants(begin: dt.datetime, minutes: int, step_s: int) -> Iterator[dt.datetime]:
    for seconds in range(0, minutes * 60, step_s):
        yield begin + dt.timedelta(seconds=seconds)


def vmstat(at: list[dt.datetime], zone: str, *, every: int) -> bytes:
    """What vmstat -t prints on a host in that zone, with a header before every so many rows."""
    lines = []
    for number, instant in enumerate(at):
        local = instant.astimezone(ZoneInfo(zone))
        if number % every == 0:
            lines.append(HEADER.format(zone=local.tzname()))
        lines.append(ROW.format(clock=f"{local:%Y-%m-%d %H:%M:%S}"))
    return "".join(lines).encode()


def read_times(data: bytes, timing: Timing, piece: int) -> list[dt.datetime]:
    """The times of all rows, the since-boot report included, when the text comes in pieces of that many bytes."""
    state: State = {}
    times: list[dt.datetime] = []
    offset, held, begin = 0, b"", 0
    while begin < len(data) or not begin:
        held += data[begin : begin + piece]
        begin += piece
        result = read(require_spec("vmstat_linux"), held, state=state, offset=offset, is_final=begin >= len(data), timing=timing)
        times += [dt.datetime.fromtimestamp(row.time_us / 1e6, dt.UTC) for row in rows_of_result(result)]
        state, held, offset = result.state, held[result.n_taken :], offset + result.n_taken
    return times


@pytest.mark.parametrize("piece", [1 << 20, 700])
@pytest.mark.parametrize("given", [BERLIN, None])
@pytest.mark.parametrize("every", [22, 10**6], ids=["header-each-screen", "header-once"])
@pytest.mark.parametrize("step_s", [60, 600])
@pytest.mark.parametrize("begin", [AUTUMN, SPRING], ids=["autumn", "spring"])
def test_vmstat_is_right_across_a_change_of_its_zone(
    begin: dt.datetime, step_s: int, every: int, given: str | None, piece: int
) -> None:
    at = list(instants(begin, 200, step_s))
    assert read_times(vmstat(at, BERLIN, every=every), Timing(zone=given), piece) == at


def test_a_year_under_one_header_has_both_changes() -> None:
    at = [SPRING + dt.timedelta(minutes=20 * number) for number in range(3 * 24 * 220)]
    assert read_times(vmstat(at, BERLIN, every=10**6), Timing(zone=BERLIN), 200_000) == at


# Algiers keeps the name CET all year; America changes on a day of its own.
@pytest.mark.parametrize(
    ("zone", "begin"), [("Africa/Algiers", SPRING), ("America/New_York", dt.datetime(2026, 11, 1, 5, 0, tzinfo=dt.UTC))]
)
def test_other_places_change_as_they_do(zone: str, begin: dt.datetime) -> None:
    at = list(instants(begin, 200, 60))
    assert read_times(vmstat(at, zone, every=10**6), Timing(), 1 << 20) == at


def test_a_clock_that_is_corrected_in_the_repeated_hour_stays_in_its_pass() -> None:
    timeline = Timeline(require_zone(BERLIN))
    times = []
    for clock in ("02:30:05", "02:30:03", "02:59:59", "02:00:00", "02:00:10", "02:00:07", "02:59:00", "03:00:00"):
        stamp = stamp_of(f"2026-10-25T{clock}")
        times.append(f"{dt.datetime.fromtimestamp(timeline.stamp_us(stamp) / 1e6, dt.UTC):%H:%M:%S}")
    assert times == ["00:30:05", "00:30:03", "00:59:59", "01:00:00", "01:00:10", "01:00:07", "01:59:00", "02:00:00"]


@pytest.mark.parametrize("begin", [AUTUMN, SPRING], ids=["autumn", "spring"])
def test_stamps_and_clocks_without_a_zone_follow_the_one_that_was_given(begin: dt.datetime) -> None:
    stamped, clocked = Timeline(require_zone(BERLIN)), Timeline(require_zone(BERLIN))
    clocked.start_day(begin.astimezone(ZoneInfo(BERLIN)).date())
    for instant in instants(begin, 200, 300):
        local = instant.astimezone(ZoneInfo(BERLIN))
        stamp = stamp_of(f"{local:%Y-%m-%dT%H:%M:%S}")
        assert stamped.stamp_us(stamp) == (instant - dt.datetime.fromtimestamp(0, dt.UTC)) // US
        assert clocked.clock_us(local.hour * 3600 + local.minute * 60) == (instant - dt.datetime.fromtimestamp(0, dt.UTC)) // US


def test_clocks_after_an_epoch_are_of_the_day_that_the_host_had() -> None:
    """At two in the morning UTC it is the day before in California."""
    timeline = Timeline(require_zone("America/Los_Angeles"))
    stamp = stamp_of("1795312800")
    timeline.stamp_us(stamp)
    assert timeline.clock_us(18 * 3600 + 1) == 1795312801 * 1_000_000


@pytest.mark.parametrize("begin", [AUTUMN, SPRING], ids=["autumn", "spring"])
def test_top_follows_the_zone_that_was_given(begin: dt.datetime) -> None:
    at = list(instants(begin, 200, 300))
    clocks = [f"{instant.astimezone(ZoneInfo(BERLIN)):%H:%M:%S}" for instant in at]
    text = "".join(f"top - {clock} up 5 days,  1:00,  1 user,  load average: 0.00, 0.01, 0.05\n\n" for clock in clocks)
    timing = Timing(zone=BERLIN, date=begin.astimezone(ZoneInfo(BERLIN)).date())
    result = read(require_spec("top_linux"), text.encode(), state={}, offset=0, is_final=True, timing=timing)
    assert [dt.datetime.fromtimestamp(row.time_us / 1e6, dt.UTC) for row in rows_of_result(result)] == at
