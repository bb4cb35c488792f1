"""Two tables beside each other, by key: both values, their difference and ratio, the largest difference first.

Totals of runs of different length are compared per second. Counts of samples depend on how long a profiler ran rather than on how
much was done; where no duration is known, they are compared as shares.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from normstat.artefacts.parts import Number, PartColumn, TablePart
from normstat.artefacts.table_view import ArtefactTableColumn, MergedRow, merge_rows, sum_of, to_table_column
from normstat.errors import BadRequest, shorten
from normstat.runtime.field_docs import Documented
from normstat.runtime.readable import format_amount, format_digits, format_percent

MAX_NAME: Final = 120
PERCENT: Final = 100.0
# Columns that profilers print beside their samples: the share of all of them, also of those that the listing leaves out.
PRINTED_SHARES: Final = ("share_pct", "pct", "overhead_pct", "self_pct")
SAMPLES: Final = "samples"
# Totals of a whole run, which are meaningless divided by its duration.
RUNS: Final = frozenset({"time", "perf_stat_run"})
REAL: Final = "real_s"


class Normalisation(StrEnum):
    """How two sums of runs are normalised.

    per_second  divided by how long each tool watched
    share       as percent of the total of each side
    raw         as printed
    """

    PER_SECOND = "per_second"
    SHARE = "share"
    RAW = "raw"


@dataclass(frozen=True, slots=True)
class TableDiffRow(Documented):
    """A key with its values before and after."""

    key: list[str]
    state: str
    """both, appeared (not listed before) or disappeared (not listed after)."""

    before: list[float | int | None]
    """As printed, one for each column; of several rows of one key the sum, null for columns that cannot be summed."""

    after: list[float | int | None]
    before_value: float | None
    """The ranked column, normalised; null where the key is not listed."""

    after_value: float | None
    difference: float | None
    """After minus before; what is not listed counts as 0 in columns of sums."""

    ratio: float | None
    """After divided by before; null without one of them."""

    before_share: float | None
    """Of the total before, 0 to 1; null where the column has no total."""

    after_share: float | None


@dataclass(frozen=True, slots=True)
class TableDiff(Documented):
    """Two tables, by key."""

    title: str
    stat: str
    key_names: list[str]
    all_key_names: list[str]
    """What rows can be grouped by."""

    columns: list[ArtefactTableColumn]
    """Those that both tables have."""

    column: str
    """The key of the column that is compared; the largest difference comes first."""

    unit: str
    """Of the normalised values."""

    worse: str
    normalisation: Normalisation
    normalisations: list[Normalisation]
    """Those that are possible here."""

    rows: list[TableDiffRow]
    n_rows: int
    """All keys that the search leaves, also those not listed."""

    n_appeared: int
    n_disappeared: int
    before_total: float | None
    """Normalised (with share: as printed); null where the column cannot be summed."""

    after_total: float | None
    before_printed_total: float | int | None
    after_printed_total: float | int | None
    ratio: float | None


@dataclass(frozen=True, slots=True)
class TableDiffRequest:
    """How to compare. `column` "": the ranking one. `normalisation` None: by duration where both are known."""

    column: str = ""
    group: tuple[str, ...] = ()
    normalisation: Normalisation | None = None
    search: str = ""
    limit: int = 200
    offset: int = 0


@dataclass(frozen=True, slots=True)
class _Scales:
    before: float
    after: float
    unit: str


def diff_tables(
    before: TablePart, after: TablePart, asked: TableDiffRequest, durations: tuple[float | None, float | None] = (None, None)
) -> TableDiff:
    """Return the rows of both tables by key. `durations`: the seconds that each tool watched.

    Raises: BadRequest for an unknown column or key, and for a normalisation that is not possible
    """
    columns = [column for column in after.columns if any(column.key == own.key for own in before.columns)]
    if not columns:
        raise BadRequest("The two tables have no column in common")
    group = _choose_group(before, after, asked.group)
    column = _choose_column(before, after, columns, asked, durations)
    possible = _possible(column, durations)
    normalisation = asked.normalisation or (_usual(after.stat, column, possible))
    if normalisation not in possible:
        raise BadRequest(_why_not(normalisation, column, durations))
    left, right = (_pick(part, columns, group) for part in (before, after))
    at = columns.index(column)
    totals = [sum_of(row.values[at] for row in rows.values()) if column.is_additive else None for rows in (left, right)]
    scales = _scales(column, normalisation, durations, totals)
    rows = [
        _diff_row(key, left.get(key), right.get(key), at=at, column=column, scales=scales, totals=totals)
        for key in dict.fromkeys([*right, *left])
    ]
    words = asked.search.casefold().split()
    rows = [row for row in rows if all(any(word in key.casefold() for key in row.key) for word in words)]
    rows.sort(key=_rank)
    shown = [_scaled(total, scale) for total, scale in zip(totals, (scales.before, scales.after), strict=True)]
    if normalisation is Normalisation.SHARE:
        shown = [None if total is None else float(total) for total in totals]
    return TableDiff(
        title=after.title,
        stat=after.stat,
        key_names=list(group),
        all_key_names=list(after.key_names if before.key_names == after.key_names else group),
        columns=[to_table_column(each) for each in columns],
        column=column.key,
        unit=scales.unit,
        worse=column.worse,
        normalisation=normalisation,
        normalisations=possible,
        rows=rows[asked.offset : asked.offset + asked.limit],
        n_rows=len(rows),
        n_appeared=sum(row.state == "appeared" for row in rows),
        n_disappeared=sum(row.state == "disappeared" for row in rows),
        before_total=shown[0],
        after_total=shown[1],
        before_printed_total=totals[0],
        after_printed_total=totals[1],
        ratio=None if normalisation is Normalisation.SHARE else _ratio(shown[0], shown[1]),
    )


def table_sentence(diff: TableDiff) -> str:
    """Return what changed most, in a sentence or two."""
    title = next(each.title for each in diff.columns if each.key == diff.column)
    sentences = []
    if diff.before_total is not None and diff.after_total is not None and diff.normalisation is not Normalisation.SHARE:
        name = title if title.casefold().startswith("total") else f"total {title}"
        name = name[:1].upper() + name[1:]
        values = " to ".join(_pair_of(diff.before_total, diff.after_total, diff.unit))
        change = _change_words(diff.before_total, diff.after_total)
        verb = "rose" if diff.after_total > diff.before_total else "fell"
        sentences.append(
            f"{name} stayed at {format_amount(diff.after_total, diff.unit)}."
            if diff.before_total == diff.after_total
            else f"{name} {verb} from {values}: {change}."
        )
    first = next((row for row in diff.rows if row.difference), None)
    if first is None:
        if diff.rows and all(row.state != "both" for row in diff.rows):
            sentences.append("The two tables have no row in common.")
        return " ".join(sentences) or "Nothing differs."
    sentences.append(f"Largest difference: {row_words(first, diff.unit)}.")
    if diff.normalisation is Normalisation.SHARE or diff.before_total is None:
        more = [row for row in diff.rows[1:4] if row.difference][:1]
        sentences += [f"Then {row_words(row, diff.unit)}." for row in more]
    return " ".join(sentences)


def row_words(row: TableDiffRow, unit: str) -> str:
    """Return what a row did: `default_idle fell from 24.37 % to 6.038 %`."""
    name = shorten_name(" ".join(part for part in row.key if part) or "the row without a name")
    if row.state == "appeared":
        return f"{name} is new in the list with {_value(row.after_value, unit)}"
    if row.state == "disappeared":
        return f"{name} is no longer listed; it had {_value(row.before_value, unit)}"
    verb = "rose" if (row.difference or 0) > 0 else "fell"
    if row.before_value is None or row.after_value is None:
        return f"{name} has no value on one side"
    return f"{name} {verb} from {' to '.join(_pair_of(row.before_value, row.after_value, unit))}"


def shorten_name(name: str) -> str:
    """Return a name that is short enough for a sentence."""
    return name if len(name) <= MAX_NAME else name[: MAX_NAME - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _value(value: float | None, unit: str) -> str:
    return "no value" if value is None else format_amount(value, unit)


def _pair_of(before: float, after: float, unit: str) -> tuple[str, str]:
    first, last = format_amount(before, unit), format_amount(after, unit)
    # Values that differ in their fifth digit only are not the same.
    return (
        (first, last)
        if first != last
        else (f"{format_digits(before, 8)} {unit}".rstrip(), f"{format_digits(after, 8)} {unit}".rstrip())
    )


def _choose_group(before: TablePart, after: TablePart, asked: Sequence[str]) -> tuple[str, ...]:
    known = [name for name in after.key_names if name in before.key_names]
    for name in asked:
        if name not in known:
            raise BadRequest(f"There is no key {shorten(name)} in both tables; they share {', '.join(known) or 'none'}")
    if asked:
        return tuple(asked)
    # Tables that name their key differently ("row", "key") still have one each.
    return after.key_names if before.key_names == after.key_names or len(before.key_names) == len(after.key_names) else tuple(known)


def _choose_column(
    before: TablePart,
    after: TablePart,
    columns: Sequence[PartColumn],
    asked: TableDiffRequest,
    durations: tuple[float | None, float | None],
) -> PartColumn:
    by_key = {column.key: column for column in columns}
    if asked.column:
        if asked.column not in by_key:
            raise BadRequest(f"There is no column {shorten(asked.column)} in both tables; they share {', '.join(by_key)}")
        return by_key[asked.column]
    if after.stat in RUNS and REAL in by_key:
        return by_key[REAL]
    is_timed = all(durations)
    printed = next((key for key in PRINTED_SHARES if key in by_key), None)
    if after.weight == SAMPLES and not is_timed and asked.normalisation is None and printed is not None:
        return by_key[printed]
    for weight in (after.weight, before.weight):
        if weight in by_key:
            return by_key[weight]
    return columns[0]


def _possible(column: PartColumn, durations: tuple[float | None, float | None]) -> list[Normalisation]:
    if not column.is_additive:
        return [Normalisation.RAW]
    timed = [Normalisation.PER_SECOND] if all(durations) else []
    return [*timed, Normalisation.SHARE, Normalisation.RAW]


def _usual(stat: str, column: PartColumn, possible: Sequence[Normalisation]) -> Normalisation:
    if stat in RUNS:
        return Normalisation.RAW
    if Normalisation.PER_SECOND in possible:
        return Normalisation.PER_SECOND
    return Normalisation.SHARE if column.key == SAMPLES and Normalisation.SHARE in possible else Normalisation.RAW


def _why_not(wanted: Normalisation, column: PartColumn, durations: tuple[float | None, float | None]) -> str:
    if not column.is_additive:
        return f"{column.title} cannot be summed, so it is compared as printed (raw), not {wanted}"
    unknown = " and ".join(side for side, seconds in zip(("before", "after"), durations, strict=True) if not seconds)
    return f"{wanted} needs the duration of both artefacts, and that of {unknown} is unknown: set it on the artefact's page"


def _scales(
    column: PartColumn, how: Normalisation, durations: tuple[float | None, float | None], totals: Sequence[Number | None]
) -> _Scales:
    if how is Normalisation.PER_SECOND:
        return _Scales(1 / (durations[0] or math.nan), 1 / (durations[1] or math.nan), f"{column.unit}/s" if column.unit else "1/s")
    if how is Normalisation.SHARE:
        before, after = (PERCENT / total if total else math.nan for total in totals)
        return _Scales(before, after, "%")
    return _Scales(1.0, 1.0, column.unit)


def _pick(part: TablePart, columns: Sequence[PartColumn], group: Sequence[str]) -> dict[tuple[str, ...], MergedRow]:
    names = group if all(name in part.key_names for name in group) else part.key_names
    own = [column.key for column in part.columns]
    places = [own.index(column.key) for column in columns]
    return {
        row.key: MergedRow(row.key, [row.values[at] for at in places], row.n_rows)
        for row in merge_rows(part, names)
        if not row.is_total
    }


def _diff_row(
    key: tuple[str, ...],
    left: MergedRow | None,
    right: MergedRow | None,
    *,
    at: int,
    column: PartColumn,
    scales: _Scales,
    totals: Sequence[Number | None],
) -> TableDiffRow:
    raw = [None if row is None else row.values[at] for row in (left, right)]
    before, after = _scaled(raw[0], scales.before), _scaled(raw[1], scales.after)
    state = "both" if left is not None and right is not None else "disappeared" if right is None else "appeared"
    difference = None
    if before is not None and after is not None:
        difference = after - before
    elif state != "both" and (before is not None or after is not None):
        # Not in the list of the largest: of a sum, the rest is less than what is listed. Percentages as well.
        difference = (after or 0.0) - (before or 0.0) if column.is_additive or column.unit == "%" else None
    shares = [value / total if total and value is not None else None for value, total in zip(raw, totals, strict=True)]
    return TableDiffRow(
        list(key),
        state,
        [None] * len(right.values) if left is None and right is not None else list(left.values if left else []),
        [None] * len(left.values) if right is None and left is not None else list(right.values if right else []),
        before,
        after,
        difference,
        _ratio(before, after),
        *shares,
    )


def _scaled(value: Number | None, scale: float) -> float | None:
    if value is None or math.isnan(value) or math.isnan(scale):
        return None
    return value * scale if scale != 1 else float(value)


def _ratio(before: float | None, after: float | None) -> float | None:
    return after / before if before and after is not None else None


def _rank(row: TableDiffRow) -> tuple[bool, float, float, list[str]]:
    is_unknown = row.difference is None
    return (is_unknown, -abs(row.difference or 0.0), -max(row.before_value or 0.0, row.after_value or 0.0), row.key)


def _change_words(before: float, after: float) -> str:
    """Return how a sum changed, by the ratio. Both are not negative.

    >>> change_words(15_126_580, 569_898), change_words(10, 470), change_words(100, 112), change_words(5, 5), change_words(0, 5)
    ('to 3.768 % of before', '47 times as much', '12 % more', 'unchanged', 'nothing before')
    """
    if before == after:
        return "unchanged"
    if not before:
        return "nothing before"
    ratio = after / before
    if ratio >= 2:
        return f"{format_digits(ratio, 3)} times as much"
    if ratio >= 1:
        return f"{format_digits((ratio - 1) * 100, 3)} % more"
    return f"to {format_percent(ratio * 100)} of before"
