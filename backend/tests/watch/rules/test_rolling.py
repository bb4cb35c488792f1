"""Functions over the time before each report: of many hosts at once they are as of each alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.scoring.summary import FloatArray
from normstat.watch.rules.rolling import Timeline, all_of_span, mean_of_span, previous_of, starts_in_span

NAN = float("nan")
SPANS = (10.0, 35.0)
# Huge ones, after which small ones of another host must keep their digits.
NUMBERS = st.sampled_from([0.0, 1.0, 2.5, 0.1, 1e300, NAN])
REPORTS = st.lists(st.tuples(st.sampled_from([1.0, 10.0, 10.0, 10.25, 90.0]), NUMBERS, NUMBERS), max_size=12)


def to_host(start_s: float, reports: list[tuple[float, float, float]]) -> tuple[FloatArray, FloatArray]:
    times = start_s + np.cumsum([distance for distance, _, _ in reports])
    return times.reshape(-1), np.array([values for _, *values in reports], dtype=float).reshape(-1, 2)


@pytest.mark.filterwarnings("ignore:(invalid value|overflow) encountered")
@given(st.lists(st.tuples(st.sampled_from([0.0, 1.7e9, 1.7e9 + 3600.5]), REPORTS), min_size=1, max_size=4))
def test_hosts_at_once_are_as_each_alone(given_hosts: list[tuple[float, list[tuple[float, float, float]]]]) -> None:
    hosts = [to_host(start_s, reports) for start_s, reports in given_hosts]
    together = Timeline.of_hosts([times for times, _ in hosts])
    values = np.concatenate([values for _, values in hosts])
    holds = np.where(np.isnan(values), np.nan, (values > 1).astype(float))
    for span_s in SPANS:
        for function, given_values in (
            (mean_of_span, values),
            (all_of_span, holds),
            (mean_of_span, holds),
            (starts_in_span, holds),
        ):
            found = function(together, given_values, span_s)
            for (times, _), own in zip(hosts, together.hosts, strict=True):
                np.testing.assert_array_equal(found[own], function(Timeline(times), given_values[own], span_s))
    found = previous_of(together, values)
    for (times, _), own in zip(hosts, together.hosts, strict=True):
        np.testing.assert_array_equal(found[own], previous_of(Timeline(times), values[own]))


@given(REPORTS)
def test_a_span_is_all_reports_since_its_start(reports: list[tuple[float, float, float]]) -> None:
    times, values = to_host(1.7e9, reports)
    holds = np.where(np.isnan(values), np.nan, (values > 1).astype(float))
    found = all_of_span(Timeline(times), holds, 35.0)
    for number, at_s in enumerate(times):
        within = holds[(times > at_s - 35.0) & (times <= at_s)]
        for column in range(2):
            # Where a gap cuts the span, only what is after it is known.
            if found[number, column] == 1:
                assert (within[:, column] == 1).all()
            if (within[:, column] == 1).all():
                assert found[number, column] != 0
