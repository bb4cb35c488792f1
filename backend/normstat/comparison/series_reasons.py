"""Say why a series has its verdict: both values, how far it moved, and how far it would have had to move."""

import math
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

import numpy as np

from normstat.comparison.findings.wording import to_text
from normstat.comparison.series_rows import BASELINE, HIGHEST, INCIDENT, LOWEST, MEDIAN, SeriesRows, SeriesVerdict
from normstat.comparison.unscored_series import MIN_BASELINE, MIN_INCIDENT
from normstat.runtime.readable import count_of, format_factor, format_ratio
from normstat.scoring.change_scale import KINDS
from normstat.scoring.significance import LIKELY, VERY_RARE
from normstat.stats.spec import Field

# The chance of a change is known no better than this.
MAX_ONE_IN: Final = 1_000_000
# Below it, `to_text` gives a value between two whole numbers a decimal.
MIN_WHOLE: Final = 10
# A float from here on has no digits to round.
MAX_ROUNDED: Final = 1e12
# What moved, by kind of change; the kind after those of the series itself is the level without the load.
SUBJECTS: Final = {
    "value": "Its level", "trend": "Its level within the incident", "top": "Its high end", "high": "Its high end",
    "bottom": "Its low end", "low": "Its low end", "hollow": "Its low end", "step": "Its movement from sample to sample",
    "rhythm": "Its rhythm", "still": "The share of repeated values", "missing": "The share of missing samples",
}  # fmt: skip
BY_LOAD: Final = "Its level at this load"
# The load is mentioned where it explains at least half of the shift.
MIN_EXPLAINED: Final = 0.5


def explain(rows: SeriesRows, row: int, verdict: SeriesVerdict) -> str:
    """Return the reason of a row's verdict in plain words."""
    field = rows.fields[int(rows.field[row])].field
    if verdict == "appeared":
        return f"Not in the baseline. In the incident: {_level(rows, row, field, INCIDENT)}."
    if verdict == "disappeared":
        return f"Not in the incident. In the baseline: {_level(rows, row, field, BASELINE)}."
    if verdict == "insufficient_data":
        return _explain_insufficient(rows, row, field)
    both = _both(rows, row, field)
    moved = f"{_subject(int(rows.kind[row]))} changed by {format_ratio(float(rows.change_ratio[row]))}x its normal variation"
    share = float(rows.explained_by_load[row])
    if verdict == "likely" and share >= MIN_EXPLAINED:
        return f"{both} {moved}, but the load of the host explains {round(100 * share)} % of the shift."
    significance = float(rows.significance[row])
    if verdict in ("likely", "unchanged"):
        how_rare = _how_rare(significance)
        as_normal = "as normal windows do" if how_rare is None else f"as about {how_rare} normal windows does"
        enough = f"A strong change is unusual from {_one_in(LIKELY)} on, others from {_one_in(VERY_RARE)}."
        return f"{both} {moved}, {as_normal}. {enough}"
    reason = f"{both} {moved}; {_rarer(significance)} normal windows change as much."
    return f"{reason} It is muted." if verdict == "muted" else reason


def describe_counts(n_baseline: int, n_incident: int) -> str:
    """Return why there is no verdict: `1 sample each`, `3 samples in the baseline, at least 10 are needed`."""
    if n_baseline == n_incident:
        return f"{count_of(n_baseline, 'sample')} each"
    short = [
        f"{count_of(n, 'sample') if n else 'none'} in the {side} (at least {least} are needed)"
        for side, n, least in (("baseline", n_baseline, MIN_BASELINE), ("incident", n_incident, MIN_INCIDENT))
        if n < least
    ]
    return " and ".join(short)


def round_count(number: float) -> int:
    """Return a large number with one digit, so that it does not look exact."""
    size = 10 ** max(0, math.floor(math.log10(max(number, 1))))
    return int(round(number / size) * size)


def _explain_insufficient(rows: SeriesRows, row: int, field: Field) -> str:
    one, other = (_value(rows, row, side, MEDIAN) for side in (BASELINE, INCIDENT))
    no_verdict = f"No verdict: {describe_counts(int(rows.n[BASELINE, row]), int(rows.n[INCIDENT, row]))}."
    if one is None or other is None:
        there = BASELINE if other is None else INCIDENT
        return f"{no_verdict} In the {('baseline', 'incident')[there]}: {_level(rows, row, field, there)}."
    word = "Value" if rows.n[:, row].max() == 1 else "Median"
    if one == other:
        return f"{no_verdict} {word} {_text(field, other)} on both sides."
    sign = "+" if other > one else "-"
    ratio = "" if min(one, other) <= 0 else f", {format_factor(other / one)} times the baseline"
    difference = f"{sign}{_text(field, abs(other - one))}"
    return f"{no_verdict} {word} {_text(field, other)}, in the baseline {_text(field, one)}: {difference}{ratio}."


def _both(rows: SeriesRows, row: int, field: Field) -> str:
    """Return both sides: `Median 12 %, in the baseline 3 % (0 to 6 %).`"""
    one, other = (_value(rows, row, side, MEDIAN) for side in (BASELINE, INCIDENT))
    span = _span(rows, row, field, BASELINE)
    outside = ", and no sample of the incident is within that range" if rows.is_disjoint(row) else ""
    return f"Median {_text(field, other)}; in the baseline {_text(field, one)} ({span}){outside}."


def _level(rows: SeriesRows, row: int, field: Field, side: int) -> str:
    n = int(rows.n[side, row])
    if n == 1:
        return f"{_text(field, _value(rows, row, side, MEDIAN))}, 1 sample"
    return f"median {_text(field, _value(rows, row, side, MEDIAN))} ({_span(rows, row, field, side)}), {count_of(n, 'sample')}"


def _span(rows: SeriesRows, row: int, field: Field, side: int) -> str:
    low, high = (_value(rows, row, side, what) for what in (LOWEST, HIGHEST))
    if low == high:
        return f"always {_text(field, high)}"
    return f"{_text(replace(field, unit=''), low)} to {_text(field, high)}"


def _text(field: Field, value: float | None) -> str:
    """Return a value with its unit, halves rounded away from zero, as the page rounds them."""
    if value is None or not abs(value) < MAX_ROUNDED or (field.decimals == 0 and abs(value) < MIN_WHOLE):
        return to_text(field, value)
    rounded = float(Decimal(repr(value)).quantize(Decimal(1).scaleb(-field.decimals), ROUND_HALF_UP))
    # A small value must not read as zero.
    return to_text(field, rounded or value)


def _value(rows: SeriesRows, row: int, side: int, what: int) -> float | None:
    value = float(rows.values[side, what, row])
    return None if np.isnan(value) else value


def _subject(kind: int) -> str:
    return SUBJECTS[KINDS[kind]] if 0 <= kind < len(KINDS) else BY_LOAD


def _how_rare(significance: float) -> str | None:
    """Return `1 in 200`. Missing: None where every third window moves as much."""
    limited = min(significance, VERY_RARE)
    return None if round_count(10**limited) <= 2 else _one_in(limited)


def _one_in(significance: float) -> str:
    return f"1 in {round_count(10**significance):,}"


def _rarer(significance: float) -> str:
    if significance >= math.log10(MAX_ONE_IN):
        return f"fewer than 1 in {MAX_ONE_IN:,}"
    return f"about {_one_in(significance)}"
