"""04/08/17 is the eighth of April in America, and the fourth of August elsewhere."""

import datetime as dt

import pytest

from normstat.stats.catalogue import require_spec
from normstat.stats.engine.times.timeline import Timeline
from normstat.stats.readers import read
from normstat.stats.records import Timing
from tests.stats.reading import rows_of_result

AUGUST, APRIL = dt.date(2017, 8, 4), dt.date(2017, 4, 8)
SAR = "Linux 2.6.32 (web1) \t{} \t_x86_64_\t(2 CPU)\n\n00:00:01  CPU  %user  %idle\n00:10:01  all   1.30  98.13\n"
IOSTAT = (
    "Linux 2.6.32 (web1) \t{0} \t_x86_64_\t(2 CPU)\n" + 2 * "\n{0} 00:10:01\nDevice     tps  kB_read/s\nsda       1.00       8.00\n"
)
SOLARIS = "SunOS db1 5.10 Generic_147440-01 sun4v    {}\n\n00:00:01  %usr  %sys  %wio  %idle\n00:10:01    11     3     0     95\n"
JSON = (
    '{{"sysstat": {{"hosts": [\n{{"nodename": "web1", "sysname": "Linux", "date": "{}", "statistics": [\n'
    '{{"timestamp": "00:10:01", "cpu-load": [{{"cpu": "all", "usr": 1.00, "idle": 90.0}}]}}\n]}}\n]}}}}\n'
)
TEXTS = {"sar_linux": SAR, "iostat_linux": IOSTAT, "sar_solaris": SOLARIS, "mpstat_json_linux": JSON}


def look(name: str, date: str, known: dt.date | None) -> tuple[dt.date, bool]:
    """The day of the last sample, and whether it is a guess."""
    timing = Timing(date=known)
    result = read(require_spec(name), TEXTS[name].format(date).encode(), state={}, offset=0, is_final=True, timing=timing)
    moment = dt.datetime.fromtimestamp(rows_of_result(result)[-1].time_us / 1e6, dt.UTC)
    assert (moment.hour, moment.minute) == (0, 10)
    return moment.date(), Timeline.resume(result.state["times"], timing).is_order_guessed


@pytest.mark.parametrize("name", TEXTS)
def test_the_day_that_is_known_decides_between_two_days(name: str) -> None:
    assert look(name, "04/08/17", AUGUST) == (AUGUST, False)
    assert look(name, "04/08/17", APRIL) == (APRIL, False)
    assert look(name, "04/08/17", None) == (APRIL, True)
    assert look(name, "04/08/17", dt.date(2020, 1, 1)) == (APRIL, True)
    assert look(name, "04/28/17", AUGUST) == (dt.date(2017, 4, 28), False)


def test_the_known_day_goes_before_what_the_clock_tells() -> None:
    """With a year of four digits a clock of 24 hours means that the day is first."""
    assert look("sar_linux", "04/08/2017", None) == (AUGUST, False)
    assert look("sar_linux", "04/08/2017", APRIL) == (APRIL, False)


def test_a_banner_of_one_meaning_tells_the_order_of_later_ones() -> None:
    text = SAR.format("31/07/17") + SAR.format("04/08/17")
    result = read(require_spec("sar_linux"), text.encode(), state={}, offset=0, is_final=True)
    days = {dt.datetime.fromtimestamp(row.time_us / 1e6, dt.UTC).date() for row in rows_of_result(result)}
    assert days == {dt.date(2017, 7, 31), AUGUST}
    assert not Timeline.resume(result.state["times"], Timing()).is_order_guessed


def test_later_banners_have_the_order_of_the_first() -> None:
    text = SAR.format("04/08/17") + SAR.format("05/08/17")
    result = read(require_spec("sar_linux"), text.encode(), state={}, offset=0, is_final=True, timing=Timing(date=AUGUST))
    days = {dt.datetime.fromtimestamp(row.time_us / 1e6, dt.UTC).date() for row in rows_of_result(result)}
    assert days == {AUGUST, dt.date(2017, 8, 5)}
