"""A histogram part as a page shows it: for each key the counts by bucket, and over time where there are several reports."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from normstat.artefacts.parts import Bucket, HistogramPart, Number
from normstat.runtime.field_docs import Documented
from normstat.runtime.readable import format_amount

MAX_DISTRIBUTIONS: Final = 2000
DASH: Final = "\N{EN DASH}"


@dataclass(frozen=True, slots=True)
class HistogramBucket(Documented):
    """A bucket; null where it has no end on that side."""

    label: str
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Distribution(Documented):
    """The counts of one key in one report."""

    key: str
    report: int
    counts: list[float | int]
    """One for each bucket."""

    total: float | int


@dataclass(frozen=True, slots=True)
class HistogramView(Documented):
    """Distributions that share their buckets."""

    title: str
    stat: str
    unit: str
    """Of the buckets' ends, if necessary from a word such as usecs in the keys; empty where the tool does not say."""

    buckets: list[HistogramBucket]
    distributions: list[Distribution]
    """Those with most events first, at most 2,000."""

    n_distributions: int
    reports: list[int | None]
    """Milliseconds since the epoch of each report; null where the text prints no time."""


# Labels of numbers, and those that are the lower end alone.
PLAIN: Final = re.compile(r"[-+\d.,\s<>=()\[\]KMG]+")
LOW_END: Final = re.compile(r"-?\d+(?:\.\d+)?")
# Names of units in the name or key of a distribution, as scripts write them.
NAMED_UNIT: Final = re.compile(
    r"(?<![a-z])(?:(?P<ns>nsecs?|ns|nanoseconds)|(?P<us>usecs?|us|microseconds)|(?P<ms>msecs?|ms|milliseconds)|(?P<s>secs|seconds)"
    r"|(?P<KiB>kbytes)|(?P<bytes>bytes))(?![a-z])",
    re.IGNORECASE,
)


def _named_unit(keys: Sequence[str]) -> str:
    """Return the unit that the keys name. Missing: "" if they name none, or several.

    >>> _named_unit(["pid = 0 usecs", "pid = 7 usecs"]), _named_unit(["usecs", "ms"]), _named_unit(["focus"])
    ('us', '', '')
    """
    found = {match.lastgroup or "" if (match := NAMED_UNIT.search(key)) else "" for key in keys}
    return found.pop() if len(found) == 1 else ""


def span_words(low: float, high: float, unit: str) -> str:
    """Return a bucket in words; an open side is infinite.

    >>> span_words(64, 128, "us"), span_words(0.0, 1e-6, "s"), span_words(10, math.inf, "s")
    ('64–128 us', '0–1 us', '10 s or more')
    >>> span_words(512, 1024, "us"), span_words(3, 4, "")
    ('512 us – 1.02 ms', '3–4')
    """
    if math.isinf(high):
        return f"{format_amount(low, unit)} or more"
    if math.isinf(low):
        return f"less than {format_amount(high, unit)}"
    first, last = format_amount(low, unit), format_amount(high, unit)
    number, _, own = first.partition(" ")
    is_short = own == last.partition(" ")[2] or low == 0
    return f"{number}{DASH}{last}" if is_short else f"{first} {DASH} {last}"


def bucket_names(buckets: Sequence[Bucket], unit: str) -> list[str]:
    """Return the names of buckets as their tool prints them, with the unit; from their ends where a label is in words.

    >>> bucket_names([Bucket("~1マイクロ秒", 0.0, 1e-6), Bucket("10秒以上", 10.0, None)], "s")
    ['0–1 us', '10 s or more']
    >>> bucket_names([Bucket("64 -> 127", 64, 128)], "us"), bucket_names([Bucket("64", 64, None), Bucket("128", 128, None)], "ns")
    (['64 -> 127 us'], ['64–128 ns', '128 ns or more'])
    """
    names = []
    for at, bucket in enumerate(buckets):
        high = bucket.high if bucket.high is not None or at + 1 == len(buckets) else buckets[at + 1].low
        if not unit or (bucket.low is None and high is None):
            names.append(bucket.label)
        elif PLAIN.fullmatch(bucket.label) and not LOW_END.fullmatch(bucket.label):
            names.append(f"{bucket.label} {unit}")
        else:
            names.append(span_words(-math.inf if bucket.low is None else bucket.low, math.inf if high is None else high, unit))
    return names


def view_histogram(part: HistogramPart) -> HistogramView:
    """Return the distributions of a part."""
    totals: dict[str, Number] = {}
    for key, counts in zip(part.keys, part.counts, strict=True):
        totals[key] = totals.get(key, 0) + sum(counts)
    order = sorted(range(part.n_rows), key=lambda row: (-totals[part.keys[row]], part.keys[row], part.report[row]))
    return HistogramView(
        title=part.title,
        stat=part.stat,
        unit=part.unit or _named_unit(part.keys),
        buckets=[HistogramBucket(bucket.label, bucket.low, bucket.high) for bucket in part.buckets],
        distributions=[
            Distribution(part.keys[row], part.report[row], list(part.counts[row]), sum(part.counts[row]))
            for row in order[:MAX_DISTRIBUTIONS]
        ],
        n_distributions=part.n_rows,
        reports=[None if time is None else time // 1000 for time in part.report_us],
    )
