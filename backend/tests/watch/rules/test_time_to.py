"""Forecasts: growth has a time with its interval, rhythms of days and weeks have none; conditions of rules say the same."""

import math
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np
import pytest

from normstat.samples.lookup import find_hosts
from normstat.scoring.summary import FloatArray
from normstat.scoring.time_to_limit import HISTORY_HOURS, TimeToLimit, time_to_limit
from normstat.watch.rules.expression import BadExpression, Samples, TimeTo, parse_expression
from normstat.watch.rules.past import PastRun, run_over_past
from normstat.watch.rules.rolling import Timeline
from normstat.watch.rules.rule_file import BadRule, Colour, load_builtin_rules, read_rule
from normstat.watch.rules.rule_frame import HourlyForecast
from normstat.window import Window
from tests.databases import Sessions, on_either_database
from tests.query.filling import fill_stat

START: Final = datetime(2026, 10, 1, tzinfo=UTC)
KIB: Final = 1024
SIZE_KIB: Final = 100_000_000


def rhythm(kind: str, n_hours: int, rng: np.random.Generator) -> FloatArray:
    """Return how full a disk is, in percent of it, besides its level."""
    hours = np.arange(n_hours)
    match kind:
        case "nightly backup":
            at = (hours + rng.integers(24)) % 24
            return np.where(at < 4, at * 8.0, np.where(at < 8, 32.0, 0.0))
        case "daily sawtooth":
            return np.asarray(((hours + rng.integers(24)) % 24) / 24 * 20)
        case "backup at another hour each night":
            level = np.zeros(n_hours)
            for night in range(0, n_hours, 24):
                begin = night + int(rng.integers(0, 4))
                climb = level[begin : begin + 4]
                climb += np.arange(len(climb)) * rng.uniform(5, 10)
                level[begin + 4 : begin + 7] += 30
            return level
        case "weekly backup":
            at = (hours + rng.integers(168)) % 168
            return np.where(at < 6, at * 6.0, np.where(at < 40, 36.0, 0.0))
        case "day and week":
            return np.asarray(8 * np.sin(2 * np.pi * (hours + rng.integers(24)) / 24) + 3 * np.sin(2 * np.pi * hours / 168))
        case _:
            return np.zeros(n_hours)


KINDS: Final = ("nightly backup", "daily sawtooth", "backup at another hour each night", "weekly backup", "day and week", "nothing")


def forecast(values: FloatArray, limit: float = 100.0) -> TimeToLimit:
    return time_to_limit(values[None, -HISTORY_HOURS:], np.array([limit]))


@pytest.mark.parametrize("kind", KINDS)
def test_no_rhythm_is_a_trend_at_any_hour(kind: str) -> None:
    rng = np.random.default_rng(1)
    n = 2 * HISTORY_HOURS
    values = 40 + rhythm(kind, n, rng) + rng.normal(0, 0.3, n) + rng.normal(0, 0.02, n).cumsum()
    # Every third hour of four weeks, so that all hours of a day are among them.
    assert [end for end in range(HISTORY_HOURS, n, 5) if forecast(values[:end]).hours[0] < 7 * 24] == []


def test_a_steady_growth_is_told_with_its_interval() -> None:
    rng = np.random.default_rng(2)
    n_told, n_true, errors = 0, 0, []
    for kind in ("nothing", "nightly backup", "backup at another hour each night", "day and week"):
        for _ in range(10):
            n = 4 * HISTORY_HOURS
            pace = 0.1 * rng.uniform(0.8, 1.2)
            values = 15 + rhythm(kind, n, rng) + rng.normal(0, 0.3, n) + pace * np.arange(n)
            full = int(np.argmax(values >= 100))
            now = min(HISTORY_HOURS, int(0.8 * full))
            found = forecast(values[:now])
            if math.isfinite(found.hours[0]):
                n_told += 1
                n_true += bool(found.soonest[0] <= full - now <= found.latest[0])
                errors.append(abs(found.hours[0] / (full - now) - 1))
                assert found.rate[0] == pytest.approx(pace, rel=0.6)
    assert n_told >= 30
    assert n_true >= 0.75 * n_told
    assert np.median(errors) < 0.25


def test_growth_that_began_this_morning_is_told_from_the_last_hours() -> None:
    rng = np.random.default_rng(3)
    values = 40 + rng.normal(0, 0.3, HISTORY_HOURS + 6)
    values[HISTORY_HOURS:] += 3.0 * np.arange(1, 7)
    found = forecast(values)
    assert 8 < found.hours[0] < 25
    assert found.span_hours[0] <= 24


def test_a_level_that_falls_towards_zero_and_one_that_is_there() -> None:
    rng = np.random.default_rng(4)
    falling = 50 - 0.05 * np.arange(HISTORY_HOURS) + rng.normal(0, 0.1, HISTORY_HOURS)
    found = time_to_limit(np.stack([falling, falling - falling[-1], np.zeros(HISTORY_HOURS)]), np.zeros(3))
    assert found.hours[0] == pytest.approx(falling[-1] / 0.05, rel=0.1)
    assert found.rate[0] == pytest.approx(-0.05, rel=0.05)
    # Swap space of no size is always used up.
    assert (found.hours[1], found.hours[2]) == (0, math.inf)


def test_too_few_hours_and_a_series_that_has_ended_are_unknown() -> None:
    ended = np.concatenate([np.arange(100.0), np.full(10, np.nan)])
    for values in (np.arange(5.0), np.full(50, np.nan), ended):
        assert math.isnan(forecast(values, 1000).hours[0])
    short = forecast(3 * np.arange(20.0), 100)
    assert short.hours[0] == pytest.approx((100 - 57) / 3, rel=0.1)
    assert not short.is_rhythm_known[0]
    with_gaps = np.where(np.arange(HISTORY_HOURS) % 5 == 0, np.nan, 0.1 * np.arange(HISTORY_HOURS))
    assert forecast(with_gaps).hours[0] == pytest.approx((100 - 0.1 * HISTORY_HOURS) / 0.1, rel=0.1)


# --- in conditions ---


def test_time_to_takes_an_input_and_a_limit() -> None:
    expression = parse_expression("time_to(left, 0) < limit.soon and left > 5", {"left": True}, frozenset({"soon"}))
    assert (expression.is_each, expression.times_to) == (True, (TimeTo("time_to(left, 0)", "left", 0.0),))
    samples = Samples(
        Timeline(np.arange(3.0)),
        {"left": np.full((3, 2), 9.0), "time_to(left, 0)": np.array([[10, np.inf], [99, 10], [np.nan, 10]])},
    )
    assert expression.evaluate(samples, {"soon": 50.0}).tolist() == [
        [1, 0],
        [0, 1],
        pytest.approx([math.nan, 1], nan_ok=True),
    ]
    for text, why in (
        ("time_to(left) > 1", "takes 2 values"),
        ("time_to(left + 1, 0) > 1", "takes an input"),
        ("time_to(left, left) > 1", "a number or limit.NAME"),
        ("time_to(other, 0) > 1", "there is no input"),
    ):
        with pytest.raises(BadExpression, match=why):
            parse_expression(text, {"left": True}, frozenset())


def test_a_rate_has_no_time_to_its_limit() -> None:
    text = """
format = 1
name = "x"
title = "X"
subsystem = "net"
version = 1
of = "interface"
about = "x"
source = "x"
[inputs]
errors = { fields = ["rate(netstat_solaris_if.ierrs)"], unit = "1/s" }
[[states]]
state = "amber"
when = "time_to(errors, 0) < 5"
action = "x"
[[states]]
state = "green"
action = "x"
"""
    with pytest.raises(BadRule, match=r"time_to\(errors, 0\): time_to takes a recorded level"):
        read_rule(text, "x.toml")


def test_a_forecast_holds_for_its_hour_and_for_known_instances() -> None:
    made = HourlyForecast(np.array([3600.0, 7200.0]), ("/", "/var"), np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert made.at(np.array([0.0, 3600, 7199, 7200]), ("/var", "/new")).tolist() == [
        [math.inf, math.inf],
        [2, math.inf],
        [2, math.inf],
        [4, math.inf],
    ]


async def over_last_days(sessions: Sessions, host: str, n_hours: int, n_days: int) -> PastRun:
    async with sessions() as session:
        host_id = (await find_hosts(session, [host]))[host]
        end = START + timedelta(hours=n_hours)
        return await run_over_past(
            session, (host_id, host), load_builtin_rules()["filesystem-full"], Window(end - timedelta(days=n_days), end)
        )


async def fill_df(sessions: Sessions, host: str, used_pct: FloatArray) -> None:
    """Two file systems each 20 minutes: /var as given, and / that never changes."""
    seconds = 1200 * np.arange(3 * len(used_pct))
    var = np.repeat(used_pct, 3)
    used = np.stack([var, np.full(len(var), 30.0)], axis=1).ravel()
    values = {
        "size": np.full(len(used), SIZE_KIB),
        "used": np.round(used / 100 * SIZE_KIB),
        "avail": np.round((100 - used) / 100 * SIZE_KIB),
        "used_pct": np.ceil(used),
    }
    await fill_stat(sessions, "df_linux", START, seconds, ("/var", "/"), host=host, values=values)


@on_either_database
async def test_the_backtest_of_a_rule_alarms_for_growth_and_not_each_night(sessions: Sessions) -> None:
    rng = np.random.default_rng(6)
    n_hours = 12 * 24
    growing = 40 + 0.2 * np.arange(n_hours) + rng.normal(0, 0.2, n_hours)
    await fill_df(sessions, "web1", np.minimum(growing, 97))
    await fill_df(sessions, "backup1", 60 + rhythm("nightly backup", n_hours, rng) + rng.normal(0, 0.2, n_hours))
    alarmed = await over_last_days(sessions, "web1", n_hours, 2)
    assert {(own.instance, own.state.colour) for own in alarmed.episodes} == {("/var", Colour.AMBER)}
    assert "by its trend it is full within days" in alarmed.episodes[0].state.explanation
    quiet = await over_last_days(sessions, "backup1", n_hours, 2)
    assert quiet.episodes == []
    assert quiet.unknown_s == 0


def test_the_interval_of_what_grows_by_jumps_reaches_to_the_next_jump() -> None:
    n_forecasts = n_held = 0
    for seed in range(12):
        jumps = np.random.default_rng(seed).exponential(1.0, 60) * (np.arange(60) % 7 < 5)
        used = np.repeat(np.cumsum(jumps), 24)
        for now in range(28 * 24, 50 * 24, 60):
            limit = used[now] + 1
            reached = np.flatnonzero(used[now:] >= limit)
            found = forecast(used[:now], limit)
            if len(reached) and np.isfinite(found.hours[0]):
                n_forecasts += 1
                n_held += bool(found.soonest[0] <= reached[0] <= found.latest[0])
    assert n_forecasts >= 40
    # Four of five are meant to.
    assert n_held / n_forecasts >= 0.75
