"""The bytes of an answer with series: they fit the schema, and times and values come back from them."""

import gzip
from datetime import UTC, datetime

import numpy as np
import orjson
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from normstat.api import schemas
from normstat.api.series_body import encode, make_response, to_axis
from normstat.query.line_points import GraphLine
from normstat.query.series_points import SeriesResult

START = datetime(2026, 11, 21, 10, tzinfo=UTC)


def times_of(axis: object) -> list[int]:
    """The times of an axis, by the words of docs/api.md."""
    block = orjson.loads(orjson.dumps(axis, option=orjson.OPT_SERIALIZE_NUMPY))
    if "deltas" in block:
        return [block["start_ms"] + sum(block["deltas"][:place]) for place in range(len(block["deltas"]) + 1)]
    return [
        block["start_ms"] + place * block["step_ms"] + sum(ms for at, ms in block["jumps"] if at <= place)
        for place in range(block["n"])
    ]


@given(st.lists(st.one_of(st.just(1000), st.integers(1, 10**10)), max_size=40), st.integers(-(10**13), 10**13))
def test_times_come_back_from_an_axis(deltas: list[int], start: int) -> None:
    times = np.cumsum([start, *deltas])
    assert times_of(to_axis(times)) == times.tolist()


def test_no_times_are_an_axis_too() -> None:
    assert times_of(to_axis(np.empty(0, np.int64))) == []


def block_of(*series: GraphLine) -> SeriesResult:
    return SeriesResult("web1", "vmstat_linux", START, START, "envelope", "mixed", 60_000, 7, 5, 0, list(series))


def test_an_answer_fits_the_schema_and_series_share_their_times() -> None:
    times = np.arange(4) * 1000
    result = block_of(
        GraphLine("", "r", "", times, np.array([1.0, 2.0, -3.0, 2.0**40]), 4, 1.0),
        GraphLine("", "us", "%", times.copy(), np.array([0.1, np.nan, 1e300, 3.0]), 3, 1.0),
        GraphLine("", "sy", "%", np.array([5, 6, 90]), np.array([0.0, 2.0**60, 5.0]), 3, 1.0),
    )
    body = encode(result)
    block = schemas.SeriesBlock.model_validate_json(body)
    assert [series.axis for series in block.series] == [0, 0, 1]
    assert [series.values for series in block.series] == [
        [1.0, 2.0, -3.0, 2.0**40],
        [0.1, None, 1e300, 3.0],
        [0.0, 2.0**60, 5.0],
    ]
    assert block.model_dump(mode="json") == orjson.loads(body)


def test_large_answers_are_compressed_for_those_who_take_that() -> None:
    rng = np.random.default_rng(1)
    result = block_of(GraphLine("", "r", "", np.arange(5000), rng.normal(size=5000), 5000, 1.0))
    packed = make_response(result, "gzip, deflate, br")
    assert packed.headers["content-encoding"] == "gzip"
    smaller = make_response(result, "gzip, deflate, br, zstd")
    assert smaller.headers["content-encoding"] == "zstd"
    plain = make_response(result, "br")
    assert "content-encoding" not in plain.headers
    assert gzip.decompress(packed.body) == zstandard.decompress(smaller.body) == plain.body == encode(result)
    assert len(smaller.body) < len(packed.body) < len(plain.body)
