"""The response body of series: columns of numbers, times in as few numbers as possible, compressed.

These answers are by far the largest, so the bytes are built from the arrays; a test checks them against the schema.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
import orjson
from fastapi import Response

from normstat.api.http.encodings import make_json_response
from normstat.query.export.csv_encoding import join, text_cells, time_cells
from normstat.query.export.csv_export import LINE_END, LONG_HEADER, to_cell
from normstat.query.series_points import SeriesResult
from normstat.stats.records import Int64Array

# An axis with more jumps than this share of its times is shorter as a list of deltas.
MAX_JUMPS: Final = 0.25
# Integers up to here are represented exactly as floats.
EXACT: Final = 2.0**53


def make_response(result: SeriesResult, accepted: str) -> Response:
    """Return the response, compressed if the client accepts it. `accepted`: its Accept-Encoding"""
    return make_json_response(encode(result), accepted)


def encode(result: SeriesResult) -> bytes:
    """Return the body as JSON; see schemas.SeriesBlock."""
    axes = AxisList()
    series = [
        {
            "instance": own.instance,
            "field": own.field,
            "unit": own.unit,
            "n_raw": own.n_raw,
            "axis": axes.place(own.times),
            "values": shortened(own.values),
        }
        for own in result.series
    ]
    body = {
        "host": result.host,
        "stat": result.stat,
        "start": result.start,
        "end": result.end,
        "resolution": result.resolution,
        "source": result.source,
        "column_ms": result.column_ms,
        "n_raw": result.n_raw,
        "n_points": result.n_points,
        "n_instances_left_out": result.n_instances_left_out,
        "axes": axes.axes,
        "series": series,
    }
    return dump(body)


def encode_csv(result: SeriesResult) -> bytes:
    """Return the points as CSV, one line each, with the columns of the long export. A gap is a line without a value."""
    pieces = [LONG_HEADER]
    for own in result.series:
        values = text_cells([b"" if np.isnan(value) else repr(value).removesuffix(".0").encode() for value in own.values.tolist()])
        head, tail = (",".join(map(to_cell, texts)).encode() for texts in ((result.stat, own.instance, own.field), ("", own.unit)))
        pieces.append(join([*time_cells(own.times * 1000), b",", head, b",", values, tail, LINE_END], len(own.times)))
    return b"".join(pieces)


def dump(body: Mapping[str, object]) -> bytes:
    """Return the body as JSON, arrays included."""
    return orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_UTC_Z)


class AxisList:
    """The distinct axes of a body."""

    def __init__(self) -> None:
        self.axes: list[Mapping[str, object]] = []
        self._places: dict[bytes, int] = {}

    def place(self, times_ms: Int64Array) -> int:
        """Return the place of the axis with these times; a new one is added."""
        key = times_ms.tobytes()
        if key not in self._places:
            self._places[key] = len(self.axes)
            self.axes.append(to_axis(times_ms))
        return self._places[key]


def to_axis(times_ms: Int64Array) -> Mapping[str, object]:
    """Return times as start, step and jumps where most distances are equal; else as deltas.

    Shape: times_ms (n,) int64
    """
    n = len(times_ms)
    if n == 0:
        return {"start_ms": 0, "step_ms": 0, "n": 0, "jumps": []}
    start_ms = int(times_ms[0])
    deltas = np.diff(times_ms)
    step_ms = int(np.median(deltas)) if n > 1 else 0
    jumps = np.flatnonzero(deltas != step_ms)
    if len(jumps) > MAX_JUMPS * n:
        return {"start_ms": start_ms, "deltas": deltas}
    return {"start_ms": start_ms, "step_ms": step_ms, "n": n, "jumps": np.stack([jumps + 1, deltas[jumps] - step_ms], axis=1)}


def shortened(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> np.ndarray[tuple[int], np.dtype[np.generic]]:
    """Return whole numbers as integers: `3` and `3.0` are the same number, and one is shorter."""
    if len(values) and bool(np.all(np.abs(values) < EXACT)) and bool(np.all(values == np.rint(values))):
        return values.astype(np.int64)
    return values
