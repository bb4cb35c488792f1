"""Histograms with exponential buckets (native ones of Prometheus, exponential ones of OpenTelemetry) -> buckets as others have.

Bucket i of schema s ends at 2 ** (i / 2**s), so that every 2**s of them end at a power of two. Only those ends are kept: the
counts there are exact, and stay comparable when a sender lowers its resolution. A count at an end says how many values were at
most that: all below are in it.

Source: https://prometheus.io/docs/specs/native_histograms/, message Histogram of prompb; the OTLP data model

>>> cumulate({1: 2.0, 2: 1.0, 3: 4.0}, 1, n_zero=1.0, zero_end=0.25, n_below=0.0)
[(0.25, 1.0), (2.0, 4.0), (4.0, 8.0)]
"""

import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from normstat.ingest.receivers.metric_samples import STALE_NAN, HostSeries, is_stale
from normstat.ingest.receivers.wire_fields import WireField, bad_body, fields_of_message, from_zigzag, packed_numbers
from normstat.stats.engine.series.exposition_line import format_value

# Finer than any sender has, and the maximum number of ends per histogram; values below the lowest one count there.
MAX_BUCKETS: Final = 10_000
MAX_ENDS: Final = 64
MIN_SCHEMA, MAX_SCHEMA = -10, 20
CUSTOM_ENDS: Final = -53
IS_GAUGE: Final = 3
GAUGE: Final = "gauge histograms are not stored"
UNKNOWN_SCHEMA: Final = "a native histogram of an unknown schema"
DOUBLE: Final = struct.Struct("<d")
Labels = tuple[tuple[str, str], ...]


def cumulate(
    counts: Mapping[int, float], schema: int, *, n_zero: float, zero_end: float, n_below: float
) -> list[tuple[float, float]]:
    """Return the ends of buckets with the number of values up to there, lowest first.

    `counts` are those of values above zero by the bucket's number, `n_zero` those about zero (up to `zero_end`), `n_below` those
    below.
    """
    by_end: dict[int, float] = {}
    for index, count in counts.items():
        end = -(-index >> schema) if schema >= 0 else index << -schema
        by_end[end] = by_end.get(end, 0.0) + count
    ends = sorted(by_end)
    total = n_zero + n_below
    found = [(zero_end, total)] if n_zero and math.isfinite(zero_end) else []
    for number, end in enumerate(ends):
        total += by_end[end]
        if number < len(ends) - MAX_ENDS or not -1074 <= end <= 1023:
            continue
        # A sender may have widened the bucket about zero.
        if not found or 2.0**end > found[-1][0]:
            found.append((2.0**end, total))
    return found


def histogram_series(name: str, labels: Labels, data: bytes) -> Iterator[HostSeries]:
    """Yield the series of a message Histogram of remote-write: count, sum and buckets, or one with the reason why there are none.

    Raises: BadRequest
    """
    parts: dict[int, WireField] = {}
    spans: dict[int, list[tuple[int, int]]] = {8: [], 11: []}
    for item in fields_of_message(data):
        if item.number in spans:
            span = {part.number: part.whole for part in fields_of_message(item.data)}
            spans[item.number].append((from_zigzag(span.get(1, 0)), span.get(2, 0)))
        else:
            parts[item.number] = item
    time_ms = parts[15].int64 if 15 in parts else 0
    schema = parts[4].zigzag if 4 in parts else 0
    total = _number(parts, 1, 2)
    sum_ = parts[3].double if 3 in parts else 0.0

    def one(suffix: str, value: float, own: Labels = labels, reason: str = "") -> HostSeries:
        return HostSeries(f"{name}{suffix}", own, ((value, time_ms, None),), reason)

    if 14 in parts and parts[14].whole == IS_GAUGE:
        yield one("", 0.0, reason=GAUGE)
        return
    is_custom = schema == CUSTOM_ENDS
    if not is_custom and not MIN_SCHEMA <= schema <= MAX_SCHEMA:
        yield one("", 0.0, reason=UNKNOWN_SCHEMA)
        return
    if is_stale(sum_):
        yield from (one("_count", STALE_NAN), one("_sum", STALE_NAN))
        return
    yield from (one("_count", total), one("_sum", sum_))
    above = _counts(spans[11], _deltas(parts, 12), _doubles(parts, 13))
    n_below = sum(_counts(spans[8], _deltas(parts, 9), _doubles(parts, 10)).values())
    if is_custom:
        ends = _custom(above, _doubles(parts, 16))
    else:
        zero_end = parts[5].double if 5 in parts else 0.0
        ends = cumulate(above, schema, n_zero=_number(parts, 6, 7), zero_end=zero_end, n_below=n_below)
    for end, count in [*ends, (math.inf, total)]:
        yield one("_bucket", count, (*labels, ("le", le_of(end))))


def le_of(end: float) -> str:
    """Return the end of a bucket as its label has it."""
    return "+Inf" if math.isinf(end) else format_value(end)


def _custom(counts: Mapping[int, float], ends: Sequence[float]) -> list[tuple[float, float]]:
    if len(ends) > MAX_BUCKETS:
        raise bad_body(f"more than {MAX_BUCKETS} buckets")
    found, total = [], 0.0
    for index, end in enumerate(ends):
        total += counts.get(index, 0.0)
        if math.isfinite(end):
            found.append((end, total))
    return found


def _counts(spans: Sequence[tuple[int, int]], deltas: Sequence[int], floats: Sequence[float]) -> dict[int, float]:
    """Return the counts by the bucket's number: spans say where they are, each relative to the end of the one before."""
    values: list[float] = list(floats)
    count = 0
    for delta in deltas:
        count += delta
        values.append(float(count))
    n_buckets = sum(length for _, length in spans)
    if n_buckets != len(values):
        raise bad_body(f"spans of {n_buckets} buckets with {len(values)} counts")
    found: dict[int, float] = {}
    index = at = 0
    for offset, length in spans:
        index += offset
        for _ in range(length):
            found[index] = values[at]
            index, at = index + 1, at + 1
    return found


def _number(parts: Mapping[int, WireField], whole: int, double: int) -> float:
    return float(parts[whole].whole) if whole in parts else parts[double].double if double in parts else 0.0


def _deltas(parts: Mapping[int, WireField], number: int) -> list[int]:
    found = packed_numbers(parts[number], MAX_BUCKETS) if number in parts else []
    if len(found) > MAX_BUCKETS:
        raise bad_body(f"more than {MAX_BUCKETS} buckets")
    return [from_zigzag(delta) for delta in found]


def _doubles(parts: Mapping[int, WireField], number: int) -> list[float]:
    if number not in parts:
        return []
    data = parts[number].data
    if len(data) % DOUBLE.size or len(data) > DOUBLE.size * MAX_BUCKETS:
        raise bad_body(f"more than {MAX_BUCKETS} buckets, or a part of one")
    return [value for (value,) in DOUBLE.iter_unpack(data)]
