"""Latencies of a log: for each key how many, mean, longest, total and share, and how they spread over decades of time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from normstat.artefacts.parts import NO_NUMBER, LogPart
from normstat.artefacts.trace_log.pairing import Indices, LogSpans
from normstat.errors import BadRequest, shorten
from normstat.runtime.field_docs import Documented
from normstat.runtime.readable import format_span

# Upper ends of the decades, in nanoseconds: ~1 µs, ~10 µs, ... ~10 s, and what takes longer.
DECADES_NS: Final = tuple(10**power for power in range(3, 11))
DECADE_LABELS: Final = ("~1 µs", "~10 µs", "~100 µs", "~1 ms", "~10 ms", "~100 ms", "~1 s", "~10 s", "≥10 s")
GROUPS: Final = ("object", "function", "event", "command", "pid", "cpu")
MAX_LATENCY_ROWS: Final = 1000
# The share of the time, or of the spans, that a sentence calls most of it.
MOST: Final = 0.95


@dataclass(frozen=True, slots=True)
class LatencyRow(Documented):
    """The spans of one key. Times are whole nanoseconds."""

    key: str
    count: int
    avg_ns: float
    min_ns: int
    max_ns: int
    total_ns: int
    share: float
    """Of the total of all keys, 0 to 1."""

    decades: list[int]
    """How many took how long; their sum is `count`."""

    longest_line: int | None
    """The line of the text with which the longest began; null where that is not known."""

    longest_start: str
    """Nanoseconds of its beginning on the log's clock, in decimal digits: they exceed what JavaScript counts exactly."""


@dataclass(frozen=True, slots=True)
class LatencySummary(Documented):
    """The latencies of a log by key, the largest total first."""

    rows: list[LatencyRow]
    n_rows: int
    """All keys, also those not listed."""

    count: int
    avg_ns: float | None
    min_ns: int | None
    max_ns: int | None
    total_ns: int
    decades: list[int]
    decade_labels: list[str]
    """What each bucket means: below 1 µs, below 10 µs, ..., 10 s or more."""

    concentration: str
    """A sentence: where the time goes, e.g. 99.8 % in 3 of 5 places. Empty without any."""

    spread: str
    """A sentence: how long most take, and how many take very long. Empty without any."""

    n_unmatched_begin: int
    n_unmatched_end: int


def measure_latencies(part: LogPart, spans: LogSpans, group: str = "", *, limit: int = 100) -> LatencySummary:
    """Return the latencies of spans, by the key of their first events.

    Raises: BadRequest for a key that events do not have
    """
    group = group or spans.rule.group
    if group not in GROUPS:
        raise BadRequest(f"Latencies cannot be grouped by {shorten(group)}; by {', '.join(GROUPS)}")
    duration = spans.duration_ns
    keys, names = _keys_of(part, spans, group)
    n = len(names)
    count = np.bincount(keys, minlength=n)
    total = _sums(keys, duration, n)
    longest, least = np.zeros(n, np.int64), np.full(n, np.iinfo(np.int64).max)
    np.maximum.at(longest, keys, duration)
    np.minimum.at(least, keys, duration)
    bucket = np.searchsorted(DECADES_NS, duration, side="right")
    n_buckets = len(DECADES_NS) + 1
    decades = np.bincount(keys * n_buckets + bucket, minlength=n * n_buckets).reshape(n, n_buckets)
    all_ns = int(total.sum())
    order = np.lexsort((np.arange(n), -count, -total))
    # The longest span of each key comes first of its key.
    by_key = np.lexsort((np.arange(len(keys)), -duration, keys))
    first = by_key[np.searchsorted(keys[by_key], np.arange(n))] if n else by_key
    numbers = np.column_stack([count, least, longest, total, first]).tolist()
    rows = [_to_row(part, spans, names[at], numbers[at], all_ns, decades=decades[at].tolist()) for at in order[:limit].tolist()]
    whole = decades.sum(axis=0).tolist()
    return LatencySummary(
        rows=rows,
        n_rows=n,
        count=len(duration),
        avg_ns=all_ns / len(duration) if len(duration) else None,
        min_ns=int(duration.min()) if len(duration) else None,
        max_ns=int(duration.max()) if len(duration) else None,
        total_ns=all_ns,
        decades=whole,
        decade_labels=list(DECADE_LABELS),
        concentration=say_concentration(total[order].tolist()),
        spread=say_spread(whole),
        n_unmatched_begin=len(spans.unmatched_begin),
        n_unmatched_end=len(spans.unmatched_end),
    )


def say_concentration(totals: Sequence[float], whole: float | None = None) -> str:
    """Return the fewest keys, of totals in falling order, that have most of the time; `whole` where it is more than their sum.

    Missing: "" without any, and where all keys listed have less.

    >>> say_concentration([41.1, 39.3, 19.4, 0.0142, 0.0141], whole=100)
    '99.8 % of the time is in 3 of 5 places'
    """
    whole = sum(totals) if whole is None else whole
    if not whole or len(totals) < 2:
        return ""
    running = 0.0
    for n, total in enumerate(totals, 1):
        running += total
        if running >= MOST * whole:
            return f"{_percent(running / whole)} of the time is in {n:,} of {len(totals):,} places"
    return ""


def _percent(share: float) -> str:
    """Return a share that is only 100.0 % where it is all.

    >>> _percent(0.99999), _percent(1.0), _percent(0.998)
    ('99.9 %', '100.0 %', '99.8 %')
    """
    return f"{math.floor(share * 1000 + 1e-9) / 10:.1f} %"


def say_spread(decades: Sequence[int]) -> str:
    """Return within what time most of the spans end, and how many take a second or more. Missing: "" without any.

    >>> say_spread([82, 1, 0, 0, 0, 0, 0, 0, 2]), say_spread([1000, 0, 0, 0, 0, 0, 0, 0, 0])
    ('96.4 % within 1 µs; 2 of 85 took 10 s or more', '100.0 % within 1 µs')
    """
    whole = sum(decades)
    if not whole:
        return ""
    running = 0
    found = len(decades) - 1
    for at, count in enumerate(decades[:-1]):
        running += count
        if running >= MOST * whole:
            found = at
            break
    if found == len(decades) - 1:
        return f"{decades[-1]:,} of {whole:,} took 10 s or more"
    said = f"{_percent(running / whole)} within {format_span(DECADES_NS[found])}"
    last = max(at for at, count in enumerate(decades) if count)
    if last > found + 1:
        said += f"; {decades[last]:,} of {whole:,} took {format_span(DECADES_NS[last - 1])} or more"
    return said


def group_column(part: LogPart, group: str) -> tuple[npt.NDArray[np.int64], Sequence[str]]:
    """Return the number of each event's key, and the keys as text."""
    if group in {"cpu", "pid"}:
        found, codes = np.unique(getattr(part, group), return_inverse=True)
        return codes, ["" if value == NO_NUMBER else str(value) for value in found.tolist()]
    column = getattr(part, group)
    return column.codes.astype(np.int64), column.names


def _keys_of(part: LogPart, spans: LogSpans, group: str) -> tuple[Indices, list[str]]:
    codes, names = group_column(part, group)
    found, keys = np.unique(codes[spans.begin], return_inverse=True)
    return keys, [names[code] for code in found.tolist()]


def _sums(keys: Indices, duration: Indices, n: int) -> Indices:
    """Return exact sums: of floating point, nanoseconds of days would lose digits."""
    total = np.zeros(n, np.int64)
    np.add.at(total, keys, duration)
    return total


def _to_row(part: LogPart, spans: LogSpans, name: str, numbers: list[int], whole: int, *, decades: list[int]) -> LatencyRow:
    count, least, longest, total, first = numbers
    line = int(part.line[spans.begin[first]])
    return LatencyRow(
        key=name,
        count=count,
        avg_ns=total / count,
        min_ns=least,
        max_ns=longest,
        total_ns=total,
        share=total / whole if whole else 0.0,
        decades=decades,
        longest_line=None if line == NO_NUMBER else line,
        longest_start=str(int(spans.start_ns[first])),
    )
