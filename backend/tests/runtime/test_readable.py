"""Numbers as people read them: the server writes them as the page does."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from normstat.runtime.readable import (
    count_of,
    describe_range,
    format_bytes,
    format_digits,
    format_duration,
    format_human,
    format_instant,
    format_number,
    format_seconds,
    format_span,
    format_times,
    to_iso,
)  # fmt: skip

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parents[3] / "frontend/src/logic/readable_cases.json").read_text())
WRITTEN: Mapping[str, Callable[[dict[str, Any]], str]] = {
    "digits": lambda case: format_digits(case["value"], case["digits"]),
    "times": lambda case: format_times(case["value"]),
    "human": lambda case: format_human(case["value"], case["unit"]),
    "bytes": lambda case: format_human(case["value"], "B"),
    "duration": lambda case: format_duration(case["value"]),
    "span": lambda case: format_span(case["value"]),
    "count": lambda case: count_of(case["value"], case["unit"]),
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['how']} {case['text']}")
def test_server_and_page_write_alike(case: dict[str, Any]) -> None:
    assert WRITTEN[case["how"]](case) == case["text"]


def test_what_is_missing_is_not_zero() -> None:
    assert (format_human(None, "%"), format_number(None), format_number(float("nan")), format_bytes(None)) == (
        "no value",
        "–",
        "–",
        "-",
    )
    assert (format_human(0, "%"), format_number(0), format_bytes(0), to_iso(None)) == ("0 %", "0", "0 B", "")


def test_a_number_of_a_report_has_a_real_minus_and_an_exponent_where_it_must() -> None:
    numbers = [format_number(value) for value in (-3.76753, 1e15, 3e-7, -12345.6)]
    assert numbers == ["−3.768", "1.000e+15", "3.000e-07", "−12,346"]


def test_a_duration_is_a_number_of_seconds_or_a_timedelta() -> None:
    assert format_seconds(timedelta(minutes=5)) == format_seconds(300) == "5 min"
    assert format_seconds(timedelta(seconds=-1)) == "0 s"


def test_a_size_in_powers_of_1024_has_the_unit_that_fits() -> None:
    assert [format_bytes(n) for n in (512, 1536, 2**40, -1536)] == ["512 B", "1.5 KiB", "1 TiB", "-1.5 KiB"]
    assert describe_range(0, 2048, "KiB") == "0 to 2 MiB"


def test_instants_are_in_utc() -> None:
    at = datetime(2026, 11, 21, 11, 0, 0, 250_000, tzinfo=timezone(timedelta(hours=1)))
    assert (format_instant(at), to_iso(at)) == ("2026-11-21 10:00:00.25 UTC", "2026-11-21T10:00:00.250000Z")
    assert (to_iso(at, "seconds"), to_iso(at, "milliseconds")) == ("2026-11-21T10:00:00Z", "2026-11-21T10:00:00.250Z")
    assert format_instant(datetime(2026, 11, 21, tzinfo=UTC)) == "2026-11-21 00:00:00 UTC"
