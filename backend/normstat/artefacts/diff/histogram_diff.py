"""Compare two distributions, with the shift in words: means hide what a distribution shows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from normstat.artefacts.diff.bucket_alignment import Aligned, align, convert_factor, count_buckets, guess_unit
from normstat.artefacts.diff.table_diff import shorten_name
from normstat.artefacts.histogram_view import HistogramBucket, span_words
from normstat.artefacts.parts import HistogramPart, Number
from normstat.artefacts.table_view import add
from normstat.runtime.field_docs import Documented
from normstat.runtime.readable import format_amount, format_percent

MAX_PAIRS: Final = 200
HALF: Final = 0.5
# The tail is reported from here on: one event in a hundred.
TAIL: Final = 0.01
DECADE: Final = 10.0
# A distribution is at its limit when this share of its events is within a tenth of it.
NEAR: Final = 0.9
# A bucket below the limit that is wider than a quarter of it says nothing about the limit: 256 to 512 is half of all lengths.
NARROW: Final = 0.75
FULL_SHARE: Final = 0.5
NUMBERS: Final = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True)
class DistributionDiff(Documented):
    """One distribution before and after, on the same buckets."""

    key: str
    before_key: str
    """The name of its counterpart, where that differs."""

    unit: str
    buckets: list[HistogramBucket]
    before: list[float | int]
    after: list[float | int]
    before_total: float | int
    after_total: float | int
    before_median: int | None
    """Number of the bucket that holds the median; null without events."""

    after_median: int | None
    shift: int | None
    """How many buckets higher the median is after."""

    before_peak: int | None
    """Number of the fullest bucket."""

    after_peak: int | None
    is_merged: bool
    """Whether buckets of one side were put together to fit the other's; the sums are exact."""

    distance: float | None
    """The largest difference of the shares up to a bucket, 0 to 1: 0 for equal shapes."""

    sentence: str


@dataclass(frozen=True, slots=True)
class HistogramDiff(Documented):
    """Distributions of two artefacts, by key."""

    title: str
    stat: str
    distributions: list[DistributionDiff]
    """Those of most change first, at most 200."""

    n_distributions: int
    appeared: list[str]
    """Keys that only the artefact after has."""

    disappeared: list[str]
    notes: list[str]
    """What could not be compared, and why."""


def diff_histograms(before: HistogramPart, after: HistogramPart, *, limit: float | None = None) -> HistogramDiff:
    """Return the distributions of both parts by key, over all their reports. `limit`: where the quantity cannot go on, such as a
    queue's length.
    """
    left, right = _by_key(before), _by_key(after)
    pairs = [(key, key) for key in right if key in left]
    if not pairs and len(left) == 1 and len(right) == 1:
        pairs = [(next(iter(left)), next(iter(right)))]
    found: list[DistributionDiff] = []
    notes: list[str] = []
    for own, other in pairs:
        diff = _diff_pair(_Side(before, own, left[own]), _Side(after, other, right[other]), limit)
        if isinstance(diff, str):
            notes.append(diff)
        else:
            found.append(diff)
    paired = {key for pair in pairs for key in pair}
    found.sort(key=lambda each: (-(each.distance or 0.0), -each.after_total, each.key))
    return HistogramDiff(
        title=after.title,
        stat=after.stat,
        distributions=found[:MAX_PAIRS],
        n_distributions=len(found),
        appeared=[key for key in right if key not in paired][:MAX_PAIRS],
        disappeared=[key for key in left if key not in paired][:MAX_PAIRS],
        notes=notes[:MAX_PAIRS],
    )


def histogram_sentence(diff: HistogramDiff) -> str:
    """Return the shift of the distribution that changed most."""
    if diff.distributions:
        first = diff.distributions[0]
        return f"{shorten_name(first.key)}: {first.sentence}" if first.key and diff.n_distributions > 1 else first.sentence
    return diff.notes[0] if diff.notes else "The two have no distribution of the same name."


def tail_share(counts: Sequence[Number], lows: Sequence[float], edge: float) -> float | None:
    """Return the share of events in buckets that begin at an edge or above. Missing: None without events."""
    total = sum(counts)
    return sum(count for count, low in zip(counts, lows, strict=True) if low >= edge) / total if total else None


def near_limit(counts: Sequence[Number], lows: Sequence[float], highs: Sequence[float], limit: float) -> float | None:
    """Return the share of events that are near a limit or above: in buckets that begin within a tenth of it, or in a narrow one
    that ends at it or holds it.

    Missing: None without events.
    """
    total = sum(counts)
    if not total:
        return None
    ends = zip(counts, lows, highs, strict=True)
    near = (count for count, low, high in ends if low >= NEAR * limit or NARROW * limit <= low < limit <= high < math.inf)
    return sum(near) / total


def _by_key(part: HistogramPart) -> dict[str, list[Number]]:
    found: dict[str, list[Number]] = {}
    for key, counts in zip(part.keys, part.counts, strict=True):
        known = found.get(key)
        found[key] = list(counts) if known is None else [add(a, b) or 0 for a, b in zip(known, counts, strict=True)]
    return found


@dataclass(frozen=True, slots=True)
class _Side:
    part: HistogramPart
    key: str
    counts: Sequence[Number]


def _diff_pair(earlier: _Side, later: _Side, limit: float | None) -> DistributionDiff | str:
    before, own, left = earlier.part, earlier.key, earlier.counts
    after, other, right = later.part, later.key, later.counts
    unit = guess_unit(after.unit, other, after.title)
    factor = convert_factor(guess_unit(before.unit, own, before.title), unit)
    name = shorten_name(other or after.title)
    if factor is None:
        return f"{name}: the buckets before are in {before.unit or 'an unknown unit'}, those after in {unit or 'an unknown unit'}."
    first, last = count_buckets(before.buckets, left, factor), count_buckets(after.buckets, right)
    if first is None or last is None:
        aligned = _align_labels(before, after, left, right)
        if aligned is None:
            return f"{name}: the two have different buckets without numbers, so they cannot be put over each other."
    else:
        aligned = align(first, last)
        if len(aligned.lows) <= 1 < min(len(first.lows), len(last.lows)):
            return f"{name}: the buckets of the two have no ends in common, so they cannot be put over each other exactly."
    medians = _median(aligned.before), _median(aligned.after)
    peaks = _peak(aligned.before), _peak(aligned.after)
    shift = medians[1] - medians[0] if medians[0] is not None and medians[1] is not None else None
    return DistributionDiff(
        key=other,
        before_key=own if own != other else "",
        unit=unit,
        buckets=[
            HistogramBucket(label or span_words(low, high, unit), _finite(low), _finite(high))
            for label, low, high in zip(aligned.labels, aligned.lows, aligned.highs, strict=True)
        ],
        before=list(aligned.before),
        after=list(aligned.after),
        before_total=sum(aligned.before),
        after_total=sum(aligned.after),
        before_median=medians[0],
        after_median=medians[1],
        shift=shift,
        before_peak=peaks[0],
        after_peak=peaks[1],
        is_merged=aligned.is_merged,
        distance=_distance(aligned),
        sentence=_sentence(aligned, unit, medians, peaks, limit),
    )


def _align_labels(before: HistogramPart, after: HistogramPart, left: Sequence[Number], right: Sequence[Number]) -> Aligned | None:
    labels = [bucket.label for bucket in after.buckets]
    if [bucket.label for bucket in before.buckets] != labels:
        return None
    blind = (math.nan,) * len(labels)
    return Aligned(blind, blind, tuple(labels), tuple(left), tuple(right), is_merged=False)


def _median(counts: Sequence[Number]) -> int | None:
    total = sum(counts)
    running: Number = 0
    for at, count in enumerate(counts):
        running += count
        if count and running >= HALF * total:
            return at
    return None


def _peak(counts: Sequence[Number]) -> int | None:
    return max(range(len(counts)), key=counts.__getitem__) if any(counts) else None


def _distance(aligned: Aligned) -> float | None:
    totals = sum(aligned.before), sum(aligned.after)
    if not all(totals):
        return None
    sums: list[Number] = [0, 0]
    widest = 0.0
    for first, last in zip(aligned.before, aligned.after, strict=True):
        sums[0] += first
        sums[1] += last
        widest = max(widest, abs(sums[0] / totals[0] - sums[1] / totals[1]))
    return widest


def _sentence(
    aligned: Aligned, unit: str, medians: tuple[int | None, int | None], peaks: tuple[int | None, int | None], limit: float | None
) -> str:
    if medians[0] is None or medians[1] is None or peaks[0] is None or peaks[1] is None:
        side = "before" if medians[0] is None else "after"
        return f"There were no events {side}."
    sentences = [_median_words(aligned, unit, medians[0], medians[1])]
    if peaks[0] != peaks[1]:
        sentences.append(_peak_words(aligned, unit, peaks[0], peaks[1]))
    sentences += _tail_words(aligned, unit)
    if limit is not None:
        sentences += _limit_words(aligned, unit, limit)
    return "; ".join(sentences) + "."


def _median_words(aligned: Aligned, unit: str, before: int, after: int) -> str:
    name = _name(aligned, unit, after)
    if before == after:
        return f"the median stayed at {name}"
    steps = abs(after - before)
    count = NUMBERS[steps] if steps < len(NUMBERS) else str(steps)
    where = f"{count} bucket{'s' if steps > 1 else ''} {'higher' if after > before else 'lower'}"
    return f"the median moved from {_name(aligned, unit, before)} to {name}, {where}"


def _peak_words(aligned: Aligned, unit: str, before: int, after: int) -> str:
    moved = f"the peak moved from {_name(aligned, unit, before)} to {_name(aligned, unit, after)}"
    decades = _decades(aligned, before, after)
    if not decades:
        return moved
    count = NUMBERS[abs(decades)] if abs(decades) < len(NUMBERS) else str(abs(decades))
    return f"{moved}, {count} decade{'s' if abs(decades) > 1 else ''} {'higher' if decades > 0 else 'lower'}"


def _decades(aligned: Aligned, before: int, after: int) -> int:
    """Return how many powers of ten lie between two buckets; 0 where that is no whole number, or less than one."""
    for ends in (aligned.highs, aligned.lows):
        if ends[before] > 0 and ends[after] > 0 and math.isfinite(ends[before]) and math.isfinite(ends[after]):
            exponent = math.log10(ends[after] / ends[before])
            # Of powers of two, 8 and 16 times are about a decade.
            return round(exponent) if abs(exponent) >= math.log10(8) else 0
    return 0


def _tail_words(aligned: Aligned, unit: str) -> list[str]:
    """Return how much is above the last edge that hardly anything of the quicker side exceeds."""
    best: tuple[float, float, float, float] | None = None
    for edge in aligned.lows[1:]:
        before, after = tail_share(aligned.before, aligned.lows, edge), tail_share(aligned.after, aligned.lows, edge)
        if before is None or after is None or min(before, after) > TAIL or max(before, after) <= TAIL:
            continue
        if best is None or abs(after - before) > best[0]:
            best = (abs(after - before), edge, before, after)
    if best is None:
        return []
    _, edge, before, after = best
    return [f"{format_percent(after * 100, 2)} are {format_amount(edge, unit)} or more, before {format_percent(before * 100, 2)}"]


def _limit_words(aligned: Aligned, unit: str, limit: float) -> list[str]:
    before = near_limit(aligned.before, aligned.lows, aligned.highs, limit)
    after = near_limit(aligned.after, aligned.lows, aligned.highs, limit)
    if before is None or after is None:
        return []
    verdict = ": it is saturated" if after >= FULL_SHARE > before else ""
    one, other = (format_percent(share * 100, 2) for share in (before, after))
    return [f"{other} are at the limit of {format_amount(limit, unit)}, before {one}{verdict}"]


def _name(aligned: Aligned, unit: str, at: int) -> str:
    if math.isnan(aligned.lows[at]):
        return aligned.labels[at]
    return span_words(aligned.lows[at], aligned.highs[at], unit)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
