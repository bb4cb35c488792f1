"""Whether a host was sending at a moment of the past."""

from datetime import UTC, datetime, timedelta

import pytest

from normstat.fleet.past_state import to_past_state
from normstat.query.fleet_rows import PastStreams
from normstat.query.host_lists import StreamState
from normstat.window import to_us

AT = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
LIVE, LATE, SILENT = StreamState.LIVE, StreamState.LATE, StreamState.SILENT


def minutes(n_silent: int) -> list[bool]:
    """An hour with samples up to so many minutes before its end."""
    return [at < 60 - n_silent for at in range(60)]


@pytest.mark.parametrize(("n_silent", "state"), [(0, LIVE), (1, LATE), (9, LATE), (10, SILENT), (60, SILENT)])
def test_minutes_with_samples_decide(n_silent: int, state: StreamState) -> None:
    found = to_past_state(PastStreams(None, 3, ("vmstat 1",)), minutes(n_silent), AT)
    # The exact time of the last sample is unknown: the streams go on.
    assert (found.state, found.last_sample_ms, found.n_running) == (state, None, 3)


def test_a_host_whose_streams_all_ended_has_the_exact_time_of_its_last_sample() -> None:
    ended_at = AT - timedelta(minutes=5, seconds=3)
    found = to_past_state(PastStreams(ended_at), minutes(5), AT)
    assert (found.state, found.last_sample_ms, found.n_running) == (LATE, to_us(ended_at) // 1000, 0)
    assert to_past_state(PastStreams(AT - timedelta(hours=3)), minutes(60), AT).state is SILENT


def test_a_host_that_came_later_was_silent() -> None:
    assert to_past_state(PastStreams(), minutes(60), AT) == to_past_state(PastStreams(), None, AT)
    assert to_past_state(PastStreams(), None, AT).state is SILENT


def test_seldom_reports_and_hosts_without_key_metrics() -> None:
    seldom = PastStreams(None, 1, ("@300 df -k",))
    assert to_past_state(seldom, minutes(4), AT).state is LIVE
    assert to_past_state(seldom, minutes(8), AT).state is LATE
    assert to_past_state(PastStreams(None, 2, ("@300 df -k", "vmstat 1")), minutes(4), AT).state is LATE
    # Nothing that the fleet page reads: its streams go on.
    assert to_past_state(seldom, None, AT).state is LIVE
    assert to_past_state(PastStreams(AT - timedelta(hours=1)), None, AT).state is SILENT
