"""A histogram part as a page shows it: for each key the counts by bucket, and over time where there are several reports."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from normstat.artefacts.parts import HistogramPart, Number
from normstat.field_docs import Documented

MAX_DISTRIBUTIONS: Final = 2000


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


# What scripts call the unit of a distribution, in its name or key.
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
