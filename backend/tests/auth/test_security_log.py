"""A flood of events is counted, a few of them are written, and what was rolled back is not."""

from structlog.testing import capture_logs

from normstat.auth.security_log import MAX_IN_FULL, MAX_SOURCES, WINDOW_S, SecurityLog, short_name
from tests.auth.test_throttle import Clock


def test_a_flood_is_written_a_few_times_and_then_counted() -> None:
    clock = Clock()
    security_log = SecurityLog(clock)
    with capture_logs() as lines:
        for _ in range(1000):
            security_log.note("login_failed", "10.0.0.1", reason="wrong_password")
        assert len(lines) == MAX_IN_FULL
        security_log.note("login_failed", "10.0.0.2", reason="wrong_password")
        assert len(lines) == MAX_IN_FULL + 1
        clock.now += WINDOW_S
        security_log.flush()
    assert lines[-1] == {
        "event": "security_events_repeated",
        "repeated": "login_failed",
        "source": "10.0.0.1",
        "n": 1000 - MAX_IN_FULL,
        "log_level": "warning",
    }
    with capture_logs() as lines:
        security_log.note("login_failed", "10.0.0.1", reason="wrong_password")
        assert lines[0]["reason"] == "wrong_password"


def test_a_flood_from_everywhere_costs_few_lines() -> None:
    security_log = SecurityLog(Clock())
    with capture_logs() as lines:
        for n in range(10_000):
            security_log.note("login_failed", f"10.0.{n // 250}.{n % 250}", reason="wrong_password")
        security_log.flush(is_last=True)
    assert len(lines) == MAX_SOURCES + MAX_IN_FULL + 1
    assert lines[-1]["n"] == 10_000 - MAX_SOURCES - MAX_IN_FULL


def test_names_are_short_and_on_one_line() -> None:
    assert short_name("ann") == "'ann'"
    assert "\n" not in short_name("a\nevent=login_succeeded")
    assert len(short_name("x" * 1000)) < 100
