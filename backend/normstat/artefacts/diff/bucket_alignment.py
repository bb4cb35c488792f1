"""Put distributions with different buckets on common ones, where that is exact: a bucket is never split."""

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from normstat.artefacts.parts import Bucket, Number

TIMES: Final = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
# Where a tool gives its buckets no unit, the name of the key often has one.
NAMED_UNITS: Final = (
    (re.compile(r"nsecs?\b|nanosec|\bns\b|_ns\b", re.IGNORECASE), "ns"),
    (re.compile(r"usecs?\b|microsec|\bus\b|_us\b", re.IGNORECASE), "us"),
    (re.compile(r"msecs?\b|millisec|\bms\b|_ms\b", re.IGNORECASE), "ms"),
    (re.compile(r"kbytes?\b|\bkb\b", re.IGNORECASE), "KiB"),
    (re.compile(r"bytes?\b|_bytes\b", re.IGNORECASE), "B"),
)


@dataclass(frozen=True, slots=True)
class Counted:
    """Buckets in ascending order with their counts: ends as numbers, infinite where open. `labels` as the tool printed them."""

    lows: tuple[float, ...]
    highs: tuple[float, ...]
    labels: tuple[str, ...]
    counts: tuple[Number, ...]


@dataclass(frozen=True, slots=True)
class Aligned:
    """Two distributions on the same buckets. `is_merged`: buckets of one side were put together to fit the other's."""

    lows: tuple[float, ...]
    highs: tuple[float, ...]
    labels: tuple[str, ...]
    before: tuple[Number, ...]
    after: tuple[Number, ...]
    is_merged: bool


def guess_unit(unit: str, *texts: str) -> str:
    """Return the unit of buckets, by the part or by words of its key. Missing: "" where nothing says it.

    >>> guess_unit("", "@usecs"), guess_unit("s", "x"), guess_unit("", "runqlen")
    ('us', 's', '')
    """
    if unit:
        return unit
    for pattern, name in NAMED_UNITS:
        if any(pattern.search(text) for text in texts):
            return name
    return ""


def count_buckets(buckets: Sequence[Bucket], counts: Sequence[Number], factor: float = 1.0) -> Counted | None:
    """Return the buckets with ends as numbers, each multiplied by `factor`. Missing: None where some have labels only.

    An end that is missing between two buckets is the neighbour's: a tool prints [1] for what is [1, 2).
    """
    kept = [
        (bucket, count) for bucket, count in zip(buckets, counts, strict=True) if bucket.low is not None or bucket.high is not None
    ]
    if len(kept) < len(buckets) and any(count for bucket, count in zip(buckets, counts, strict=True) if _is_bare(bucket)):
        return None
    if not kept:
        return None
    kept.sort(key=lambda each: (_low(each[0]), _high(each[0])))
    lows, highs = [_low(bucket) for bucket, _ in kept], [_high(bucket) for bucket, _ in kept]
    for at in range(len(kept)):
        if math.isinf(highs[at]) and at + 1 < len(kept) and math.isfinite(lows[at + 1]):
            highs[at] = lows[at + 1]
        if math.isinf(lows[at]) and at > 0 and math.isfinite(highs[at - 1]):
            lows[at] = highs[at - 1]
    if any(highs[at] > lows[at + 1] for at in range(len(kept) - 1)):
        return None
    return Counted(
        tuple(low * factor for low in lows),
        tuple(high * factor for high in highs),
        tuple(bucket.label for bucket, _ in kept),
        tuple(count for _, count in kept),
    )


def align(before: Counted, after: Counted) -> Aligned:
    """Return both on the finest buckets that split none of either side.

    An end of one side is common if it is no inner point of a bucket of the other.
    """
    sides = (before, after)
    edges = sorted({_snap(edge) for side in sides for edge in (*side.lows, *side.highs)})
    common = [edge for edge in edges if not any(_splits(side, edge) for side in sides)]
    spans = list(itertools.pairwise(common))
    sums = [_sum_into(side, spans) for side in sides]
    kept = [at for at, span in enumerate(spans) if any(_covers(side, span) for side in sides)]
    labels = [_label(spans[at], sides) for at in kept]
    n_own = [sum(1 for at in kept if _covers(side, spans[at])) for side in sides]
    return Aligned(
        tuple(spans[at][0] for at in kept),
        tuple(spans[at][1] for at in kept),
        tuple(labels),
        tuple(sums[0][at] for at in kept),
        tuple(sums[1][at] for at in kept),
        is_merged=any(n < len(side.lows) for n, side in zip(n_own, sides, strict=True)),
    )


def convert_factor(unit: str, wanted: str) -> float | None:
    """Return what multiplies a number of one unit to make it one of the other. Missing: None for units of different kinds."""
    if unit == wanted:
        return 1.0
    if unit in TIMES and wanted in TIMES:
        return TIMES[unit] / TIMES[wanted]
    return None


def _is_bare(bucket: Bucket) -> bool:
    return bucket.low is None and bucket.high is None


def _low(bucket: Bucket) -> float:
    return -math.inf if bucket.low is None else bucket.low


def _high(bucket: Bucket) -> float:
    return math.inf if bucket.high is None else bucket.high


def _snap(edge: float) -> float:
    # 1e-06 * 1e6 and 1 are one edge.
    return float(f"{edge:.12g}") if math.isfinite(edge) else edge


def _splits(side: Counted, edge: float) -> bool:
    return any(_snap(low) < edge < _snap(high) for low, high in zip(side.lows, side.highs, strict=True))


def _covers(side: Counted, span: tuple[float, float]) -> bool:
    return any(span[0] <= _snap(low) and _snap(high) <= span[1] for low, high in zip(side.lows, side.highs, strict=True))


def _sum_into(side: Counted, spans: Sequence[tuple[float, float]]) -> list[Number]:
    sums: list[Number] = [0] * len(spans)
    at = 0
    for low, count in zip(side.lows, side.counts, strict=True):
        while at + 1 < len(spans) and spans[at][1] <= _snap(low):
            at += 1
        if spans:
            sums[at] += count
    return sums


def _label(span: tuple[float, float], sides: Sequence[Counted]) -> str:
    for side in sides:
        for low, high, label in zip(side.lows, side.highs, side.labels, strict=True):
            if (_snap(low), _snap(high)) == span:
                return label
    return ""
