"""The response body of a metric of many hosts; see schemas.HostSeriesBlock. A test checks it against the schema."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fastapi import Response
from pydantic import TypeAdapter

from normstat.api.http.encodings import make_json_response
from normstat.api.routes.series_body import AxisList, dump, shortened
from normstat.comparison.metric_choice import MetricInfo
from normstat.query.host_lines import HostLeftOut, HostLine, HostSeriesResult
from normstat.window import Window

_METRIC = TypeAdapter(MetricInfo)


@dataclass(frozen=True, slots=True)
class HostSeriesBody:
    """What the body has. Missing: no metric and no result where no host exists."""

    window: Window
    metric: MetricInfo | None
    result: HostSeriesResult | None
    left_out: Sequence[HostLeftOut]
    n_asked: int


def respond(body: HostSeriesBody, accepted: str) -> Response:
    """Return the response, compressed if the client accepts it. `accepted`: its Accept-Encoding"""
    return make_json_response(encode_hosts(body), accepted)


def encode_hosts(body: HostSeriesBody) -> bytes:
    """Return the body as JSON."""
    found = body.result
    axes = AxisList()
    lines = [] if found is None else [_line(line, axes) for line in found.lines]
    return dump({
        "metric": None if body.metric is None else _METRIC.dump_python(body.metric, mode="json"),
        "start": body.window.start,
        "end": body.window.end,
        "resolution": "raw" if found is None else found.resolution,
        "source": "raw" if found is None else found.source,
        "column_ms": 1 if found is None else found.column_ms,
        "step_ms": None if found is None else found.step_ms,
        "n_asked": body.n_asked,
        "n_hosts": body.n_asked - len(body.left_out),
        "n_raw": 0 if found is None else found.n_raw,
        "n_points": 0 if found is None else found.n_points,
        "n_lines_left_out": 0 if found is None else found.n_lines_left_out,
        "left_out": [{"host": own.host, "reason": own.reason} for own in body.left_out],
        "axes": axes.axes,
        "lines": lines,
    })  # fmt: skip


def _line(line: HostLine, axes: AxisList) -> Mapping[str, object]:
    return {
        "host": line.host,
        "start": line.start,
        "instance": line.instance,
        "column": line.column,
        "across": None if line.across is None else line.across.value,
        "n_instances": line.n_instances,
        "n_raw": line.n_raw,
        "mean": line.mean,
        "axis": axes.place(line.times),
        "values": shortened(line.values),
        "n_hosts": line.n_hosts,
    }
