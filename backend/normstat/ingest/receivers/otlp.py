"""OTLP metrics (opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest), as protocol buffers or JSON.

Names become those that Prometheus gives them: `system.cpu.time` in seconds, a monotonic sum, is `system_cpu_time_seconds_total`. An
increase (delta temporality) keeps the time since which it counts. Histograms become buckets, sum and count.
Source: https://opentelemetry.io/docs/specs/otlp/ and .../compatibility/prometheus_and_openmetrics/

>>> prometheus_name("system.cpu.time", "s", is_counter=True), prometheus_name("system.memory.usage", "By", is_counter=False)
('system_cpu_time_seconds_total', 'system_memory_usage_bytes')
"""

import functools
import math
import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import orjson

from normstat.errors import BadRequest
from normstat.ingest.receivers.metric_samples import STALE_NAN, HostSeries, MetricSamples, Sample, SampleCounter, label_trouble
from normstat.ingest.receivers.native_histograms import MAX_BUCKETS, MAX_SCHEMA, MIN_SCHEMA, cumulate, le_of
from normstat.ingest.receivers.wire_fields import WireField, bad_body, counting_fields, fields_of_message, packed_numbers, to_varint
from normstat.runtime.bounded_decoding import NotJson, load_json
from normstat.stats.engine.series.exposition_line import format_value

# Only these attributes of a resource become labels: the others are the same on every series of a host.
RESOURCE_LABELS: Final = {
    "service.name": "job",
    "service.instance.id": "service_instance_id",
    "service.namespace": "service_namespace",
}
HOST_LABEL: Final = "host.name"
NANO_PER_MS: Final = 1_000_000
MAX_TIME_MS: Final = 10**15
DELTA: Final = 1
MAX_BOUNDS: Final = 200
# A collector's 8192 points have some 20 values each.
MAX_JSON_VALUES: Final = 1_000_000
UNITS: Final[Mapping[str, str]] = {
    "s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds", "min": "minutes", "h": "hours", "d": "days",
    "By": "bytes", "KiBy": "kibibytes", "MiBy": "mebibytes", "GiBy": "gibibytes", "kBy": "kilobytes", "MBy": "megabytes",
    "GBy": "gigabytes", "Cel": "celsius", "V": "volts", "A": "amperes", "W": "watts", "J": "joules", "Hz": "hertz", "%": "percent",
}  # fmt: skip
NOT_IN_NAME: Final = re.compile(r"[^a-zA-Z0-9_:]+", re.ASCII)
# OTLP's flag for a point without a value.
NO_VALUE_FLAG: Final = 1
# A message as names and values: what JSON gives, and what protocol buffers are turned into.
Tree = Mapping[str, Any]


@functools.lru_cache(10_000)
def prometheus_name(name: str, unit: str, *, is_counter: bool) -> str:
    """Return the name of a metric in Prometheus."""
    base = NOT_IN_NAME.sub("_", name).strip("_") or "_"
    if base[0].isdigit():
        base = f"_{base}"
    word = UNITS.get(unit, "ratio" if unit == "1" and not is_counter else "")
    if word and not base.removesuffix("_total").endswith(word):
        base = f"{base.removesuffix('_total')}_{word}"
    return f"{base.removesuffix('_total')}_total" if is_counter else base


# Field number -> (name, how to read it); repeated fields have a name that ends in []. The proto files of version 1.
_TEXT, _DOUBLE, _FIXED, _SFIXED, _WHOLE, _BYTES = "text", "double", "fixed64", "sfixed64", "whole", "data"
Model = Mapping[int, tuple[str, "str | Callable[[], Model]"]]


def _value() -> Model:
    return {1: ("stringValue", _TEXT), 2: ("boolValue", _WHOLE), 3: ("intValue", "int64"), 4: ("doubleValue", _DOUBLE)}


def _attribute() -> Model:
    return {1: ("key", _TEXT), 2: ("value", _value)}


def _number() -> Model:
    return {
        2: ("startTimeUnixNano", _FIXED), 3: ("timeUnixNano", _FIXED), 4: ("asDouble", _DOUBLE), 6: ("asInt", _SFIXED),
        7: ("attributes[]", _attribute), 8: ("flags", _WHOLE),
    }  # fmt: skip


def _bucketed() -> Model:
    return {
        2: ("startTimeUnixNano", _FIXED), 3: ("timeUnixNano", _FIXED), 4: ("count", _FIXED), 5: ("sum", _DOUBLE),
        6: ("bucketCounts[]", "packed_fixed64"), 7: ("explicitBounds[]", "packed_double"), 9: ("attributes[]", _attribute),
        10: ("flags", _WHOLE),
    }  # fmt: skip


def _exponential() -> Model:
    return {
        1: ("attributes[]", _attribute), 2: ("startTimeUnixNano", _FIXED), 3: ("timeUnixNano", _FIXED), 4: ("count", _FIXED),
        5: ("sum", _DOUBLE), 6: ("scale", "zigzag"), 7: ("zeroCount", _FIXED), 8: ("positive", _buckets), 9: ("negative", _buckets),
        10: ("flags", _WHOLE), 14: ("zeroThreshold", _DOUBLE),
    }  # fmt: skip


def _buckets() -> Model:
    return {1: ("offset", "zigzag"), 2: ("bucketCounts[]", "varints")}


def _quantile() -> Model:
    return {1: ("quantile", _DOUBLE), 2: ("value", _DOUBLE)}


def _summary() -> Model:
    return {
        2: ("startTimeUnixNano", _FIXED), 3: ("timeUnixNano", _FIXED), 4: ("count", _FIXED), 5: ("sum", _DOUBLE),
        6: ("quantileValues[]", _quantile), 7: ("attributes[]", _attribute), 8: ("flags", _WHOLE),
    }  # fmt: skip


def _gauge() -> Model:
    return {1: ("dataPoints[]", _number)}


def _sum() -> Model:
    return {1: ("dataPoints[]", _number), 2: ("aggregationTemporality", _WHOLE), 3: ("isMonotonic", _WHOLE)}


def _histogram() -> Model:
    return {1: ("dataPoints[]", _bucketed), 2: ("aggregationTemporality", _WHOLE)}


def _exponential_histogram() -> Model:
    return {1: ("dataPoints[]", _exponential), 2: ("aggregationTemporality", _WHOLE)}


def _summaries() -> Model:
    return {1: ("dataPoints[]", _summary)}


def _metric() -> Model:
    return {
        1: ("name", _TEXT), 3: ("unit", _TEXT), 5: ("gauge", _gauge), 7: ("sum", _sum), 9: ("histogram", _histogram),
        10: ("exponentialHistogram", _exponential_histogram), 11: ("summary", _summaries),
    }  # fmt: skip


def _scope() -> Model:
    return {2: ("metrics[]", _metric)}


def _resource() -> Model:
    return {1: ("attributes[]", _attribute)}


def _resource_metrics() -> Model:
    return {1: ("resource", _resource), 2: ("scopeMetrics[]", _scope)}


def _request() -> Model:
    return {1: ("resourceMetrics[]", _resource_metrics)}


def read_metrics(body: bytes) -> MetricSamples:
    """Return the series of a request in protocol buffers.

    Raises: BadRequest, TooLarge
    """
    with counting_fields():
        return replace(_series_of(_tree(body, _request, SampleCounter()), SampleCounter()), n_bytes=len(body))


def read_metrics_json(body: bytes) -> MetricSamples:
    """Return the series of a request in JSON.

    Raises: BadRequest, TooLarge
    """
    try:
        tree = load_json(body, MAX_JSON_VALUES)
    except NotJson as error:
        raise BadRequest(f"The body is not JSON: {error}; nothing was stored") from None
    try:
        return replace(_series_of(tree, SampleCounter()), n_bytes=len(body))
    except (AttributeError, TypeError, ValueError, OverflowError):
        raise BadRequest("The body is not an ExportMetricsServiceRequest in JSON; nothing was stored") from None


def _tree(data: bytes, model: Callable[[], Model], counter: SampleCounter) -> dict[str, Any]:
    """Return a message as names and values. Unknown fields are skipped."""
    fields = model()
    found: dict[str, Any] = {}
    counter.add_label()
    for item in fields_of_message(data):
        known = fields.get(item.number)
        if known is None:
            continue
        name, kind = known
        if not isinstance(kind, str):
            value: Any = _tree(item.data, kind, counter)
        elif kind.startswith("packed_"):
            found.setdefault(name.removesuffix("[]"), []).extend(_packed(item, "d" if kind == "packed_double" else "Q"))
            continue
        elif kind == "varints":
            found.setdefault(name.removesuffix("[]"), []).extend(_whole_counts(item))
            continue
        else:
            value = getattr(item, kind)
        if name.endswith("[]"):
            found.setdefault(name.removesuffix("[]"), []).append(value)
        else:
            found[name] = value
    return found


def _packed(item: WireField, code: str) -> list[float]:
    data = item.data
    if len(data) % 8 or len(data) > 8 * (MAX_BOUNDS + 1):
        raise bad_body(f"more than {MAX_BOUNDS} buckets, or a part of one")
    return list(struct.unpack(f"<{len(data) // 8}{code}", data))


def _whole_counts(item: WireField) -> list[int]:
    found = packed_numbers(item, MAX_BUCKETS)
    if len(found) > MAX_BUCKETS:
        raise bad_body(f"more than {MAX_BUCKETS} buckets")
    return found


def _series_of(request: Tree, counter: SampleCounter) -> MetricSamples:
    found = MetricSamples()
    for group in request.get("resourceMetrics") or ():
        resource = _attributes((group.get("resource") or {}).get("attributes"), counter)
        own = {label: resource[key] for key, label in RESOURCE_LABELS.items() if key in resource}
        if HOST_LABEL in resource:
            own[HOST_LABEL] = resource[HOST_LABEL]
        for scope in group.get("scopeMetrics") or ():
            for metric in scope.get("metrics") or ():
                found.series += _metric_series(metric, own, found.types, counter)
    return found


def _metric_series(metric: Tree, own: dict[str, str], types: dict[str, str], counter: SampleCounter) -> Iterator[HostSeries]:
    name, unit = str(metric.get("name") or ""), str(metric.get("unit") or "")
    if "sum" in metric or "gauge" in metric:
        numbers = metric.get("sum") or metric.get("gauge") or {}
        is_counter = bool(numbers.get("isMonotonic"))
        is_delta = is_counter and _temporality(numbers) == DELTA
        full = prometheus_name(name, unit, is_counter=is_counter)
        types[full] = "counter" if is_counter else "gauge"
        for point in numbers.get("dataPoints") or ():
            yield _one(full, point, own, counter, _number_of(point), is_delta=is_delta)
    for kind in ("histogram", "summary", "exponentialHistogram"):
        body = metric.get(kind)
        if body:
            full = prometheus_name(name, unit, is_counter=False)
            types[full] = "summary" if kind == "summary" else "histogram"
            for point in body.get("dataPoints") or ():
                yield from _distribution(full, point, own, counter, is_delta=_temporality(body) == DELTA)
                if kind == "exponentialHistogram":
                    yield from _exponential_buckets(full, point, own, counter, is_delta=_temporality(body) == DELTA)


def _distribution(name: str, point: Tree, own: dict[str, str], counter: SampleCounter, *, is_delta: bool) -> Iterator[HostSeries]:
    for suffix in ("count", "sum"):
        if point.get(suffix) is not None:
            yield _one(f"{name}_{suffix}", point, own, counter, float(point[suffix]), is_delta=is_delta)
    counts, bounds = point.get("bucketCounts") or [], point.get("explicitBounds") or []
    if len(counts) > MAX_BOUNDS + 1 or (counts and len(counts) != len(bounds) + 1):
        raise bad_body(f"{len(counts)} buckets with {len(bounds)} bounds")
    total = 0.0
    for count, bound in zip(counts, [*bounds, math.inf], strict=False):
        total += float(count)
        yield _one(f"{name}_bucket", point, {**own, "le": le_of(float(bound))}, counter, total, is_delta=is_delta)
    for pair in point.get("quantileValues") or ():
        quantile = format_value(float(pair.get("quantile") or 0))
        yield _one(name, point, {**own, "quantile": quantile}, counter, float(pair.get("value") or 0), is_delta=False)


def _exponential_buckets(
    name: str, point: Tree, own: dict[str, str], counter: SampleCounter, *, is_delta: bool
) -> Iterator[HostSeries]:
    """Yield the buckets of an exponential histogram: those that end at powers of two."""
    scale, positive, negative = int(point.get("scale") or 0), point.get("positive") or {}, point.get("negative") or {}
    counts = positive.get("bucketCounts") or []
    if not MIN_SCHEMA <= scale <= MAX_SCHEMA or len(counts) > MAX_BUCKETS:
        raise bad_body(f"an exponential histogram of scale {scale} with {len(counts)} buckets")
    # Bucket 0 begins at 1 here, and ends at 1 in Prometheus.
    first = int(positive.get("offset") or 0) + 1
    ends = cumulate(
        {first + number: float(count) for number, count in enumerate(counts) if float(count)},
        scale,
        n_zero=float(point.get("zeroCount") or 0),
        zero_end=float(point.get("zeroThreshold") or 0),
        n_below=sum(float(count) for count in negative.get("bucketCounts") or []),
    )
    for end, count in [*ends, (math.inf, float(point.get("count") or 0))]:
        yield _one(f"{name}_bucket", point, {**own, "le": le_of(end)}, counter, count, is_delta=is_delta)


def _one(name: str, point: Tree, own: Mapping[str, str], counter: SampleCounter, value: float, *, is_delta: bool) -> HostSeries:
    counter.add(1)
    attributes = _attributes(point.get("attributes"), counter)
    labels = {**own, **{_label(key): text for key, text in attributes.items()}}
    time_ms = int(point.get("timeUnixNano") or 0) // NANO_PER_MS
    since_ms = int(point.get("startTimeUnixNano") or 0) // NANO_PER_MS if is_delta else None
    if int(point.get("flags") or 0) & NO_VALUE_FLAG:
        value = STALE_NAN
    reason = label_trouble(labels, len(own) + len(attributes)) or ("" if abs(time_ms) < MAX_TIME_MS else "an impossible time")
    if is_delta and not since_ms:
        reason = reason or "an increase without the time since which it counts"
    sample: Sample = (value, time_ms, since_ms)
    return HostSeries(name, tuple(labels.items()), (sample,), reason)


def _label(key: str) -> str:
    return NOT_IN_NAME.sub("_", key)


def _number_of(point: Tree) -> float:
    value = point.get("asDouble", point.get("asInt"))
    return math.nan if value is None else float(value)


def _temporality(body: Tree) -> int:
    value = body.get("aggregationTemporality") or 0
    return DELTA if value in (DELTA, "AGGREGATION_TEMPORALITY_DELTA") else 2


def _attributes(pairs: Sequence[Tree] | None, counter: SampleCounter) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in pairs or ():
        counter.add_label()
        value = pair.get("value") or {}
        for kind in ("stringValue", "boolValue", "intValue", "doubleValue"):
            if kind in value:
                word = value[kind]
                found[str(pair.get("key") or "")] = str(bool(word)).lower() if kind == "boolValue" else str(word)
    return found


def format_partial(n_rejected: int, message: str, *, is_json: bool) -> bytes:
    """Return an ExportMetricsServiceResponse; a partial success where points were rejected.

    >>> format_partial(0, "", is_json=True), format_partial(2, "why", is_json=False)
    (b'{}', b'\\n\\x07\\x08\\x02\\x12\\x03why')
    """
    if is_json:
        return orjson.dumps(
            {"partialSuccess": {"rejectedDataPoints": str(n_rejected), "errorMessage": message}} if n_rejected else {}
        )
    if not n_rejected:
        return b""
    text = message.encode()[:4000]
    inner = b"\x08" + to_varint(n_rejected) + b"\x12" + to_varint(len(text)) + text
    return b"\n" + to_varint(len(inner)) + inner
