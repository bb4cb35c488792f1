"""A table part as a page shows it: rows grouped and summed, ranked by a column, with bars and shares; or whole, as CSV."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from normstat.artefacts.keys import is_total
from normstat.artefacts.parts import Number, PartColumn, TablePart
from normstat.errors import BadRequest, shorten
from normstat.runtime.csv_cells import format_csv
from normstat.runtime.field_docs import Documented
from normstat.runtime.readable import to_iso
from normstat.window import from_us

MAX_ROWS: Final = 1000
# Percentages of the whole, which may be summed within a report.
SHARES: Final = frozenset({"overhead_pct", "pct", "share_pct", "time_pct", "percent", "pcnt"})
# Percentages within a section, of lockstat.
SHARES_OF_SECTION: Final = frozenset({"indv_pct"})
# Printed shares are rounded to whole percents at worst. Rows that make less of the whole than COMPLETE are not all rows.
ROUNDING: Final = 0.6
COMPLETE: Final = 0.97
# Stats whose only row is a total.
SUMS: Final = frozenset({"strace_totals", "truss_totals", "ltrace_totals"})


@dataclass(frozen=True, slots=True)
class ArtefactTableColumn(Documented):
    """A column of a table."""

    key: str
    title: str
    unit: str
    kind: str
    worse: str
    decimals: int
    help: str
    is_additive: bool
    """Whether its values may be summed over rows."""


@dataclass(frozen=True, slots=True)
class ArtefactTableRow(Documented):
    """A row of a table, or several that share a key."""

    key: list[str]
    values: list[float | int | None]
    """One for each column; of several rows the sum, null for columns that cannot be summed."""

    n_rows: int
    is_total: bool
    """Whether the tool printed it as the sum of other rows; it has no share."""

    share: float | None
    """Share of the sum of the ordering column, 0 to 1; null where that cannot be summed. Percentages of the whole are shares; where
    the tool printed the shares of a listing that is not complete, they are of the whole, as it printed them.
    """

    cumulative: float | None
    """The share of this row and all above it."""


@dataclass(frozen=True, slots=True)
class ArtefactTable(Documented):
    """Rows of a table part."""

    title: str
    stat: str
    key_names: list[str]
    """Names of the parts of a key; those of the grouping if there is one."""

    all_key_names: list[str]
    """What rows can be grouped by."""

    columns: list[ArtefactTableColumn]
    order: str
    """The key of the column that orders the rows, highest first."""

    rows: list[ArtefactTableRow]
    n_rows: int
    """All rows that the search leaves, also those not listed."""

    total: float | int | None
    """Sum of the ordering column over all rows of the part, also those that the search leaves out; null where it cannot be
    summed, or the shares are of a whole of which the tool printed only some rows.
    """

    reports: list[int | None]
    """Milliseconds since the epoch of each report in the text; null where it prints no time."""


@dataclass(frozen=True, slots=True)
class TableRequest:
    """Which rows of a table to show. `report` None: all reports, summed where a key is in several."""

    order: str = ""
    group: tuple[str, ...] = ()
    search: str = ""
    report: int | None = None
    limit: int = 100
    offset: int = 0


def view_table(part: TablePart, asked: TableRequest) -> ArtefactTable:
    """Return the rows that were asked for.

    Raises: BadRequest for a column, key or report that the part does not have
    """
    order = _require(asked.order or part.weight, [column.key for column in part.columns], "column")
    group = tuple(_require(name, list(part.key_names), "key") for name in asked.group) or part.key_names
    if asked.report is not None and not 0 <= asked.report < len(part.report_us):
        raise BadRequest(f"There is no report {asked.report}; this part has {len(part.report_us)}, numbered from 0")
    merged = merge_rows(part, group, asked.report)
    at = next((at for at, column in enumerate(part.columns) if column.key == order), None)
    is_additive = at is not None and part.columns[at].is_additive
    is_share = order in SHARES and (asked.report is not None or len(part.report_us) <= 1)
    ordered = sorted(merged, key=lambda row: _rank(row.values[at] if at is not None else None))
    total = sum_of(row.values[at] for row in ordered if not row.is_total) if at is not None and is_additive else None
    whole: Number | None = 100 if is_share else total
    printed = _printed_whole(part, order, asked.report) if total else None
    if printed is not None and total is not None and total < COMPLETE * printed:
        whole, total = printed, None
    found: list[ArtefactTableRow] = []
    running: Number = 0
    words = asked.search.casefold().split()
    for row in ordered:
        value = row.values[at] if at is not None else None
        share = cumulative = None
        if whole and not row.is_total:
            running += value or 0
            share, cumulative = (value or 0) / whole, running / whole
        if all(any(word in key.casefold() for key in row.key) for word in words):
            found.append(ArtefactTableRow(list(row.key), list(row.values), row.n_rows, row.is_total, share, cumulative))
    return ArtefactTable(
        title=part.title,
        stat=part.stat,
        key_names=list(group),
        all_key_names=list(part.key_names),
        columns=[to_table_column(each) for each in part.columns],
        order=order,
        rows=found[asked.offset : asked.offset + asked.limit],
        n_rows=len(found),
        total=total,
        reports=[None if time is None else time // 1000 for time in part.report_us],
    )


def _printed_whole(part: TablePart, order: str, report: int | None) -> float | None:
    """Return the sum of a column over all that the tool counted, as the shares that it printed beside it say.

    Missing: None without such shares, and where they are of another column, or of several reports
    """
    shares = next((each.key for each in part.columns if each.key in SHARES | SHARES_OF_SECTION and each.key != order), None)
    if shares is None or (report is None and len(part.report_us) > 1):
        return None
    sections: dict[str, list[tuple[float, float]]] = {}
    for row, (value, share) in enumerate(zip(part.column(order), part.column(shares), strict=True)):
        if (report is not None and part.report[row] != report) or is_total(part.keys[-1][row]):
            continue
        if value is None or share is None:
            return None
        section = part.keys[0][row] if shares in SHARES_OF_SECTION else ""
        sections.setdefault(section, []).append((float(value), float(share)))
    whole = 0.0
    for pairs in sections.values():
        product = sum(value * share for value, share in pairs)
        if product <= 0:
            return None
        # Least squares through zero: rounded shares of large rows are the most exact.
        own = 100 * sum(value * value for value, _ in pairs) / product
        if any(abs(100 * value / own - share) > ROUNDING + 0.02 * share for value, share in pairs):
            return None
        whole += own
    return whole or None


@dataclass(slots=True)
class MergedRow:
    """Rows of one key."""

    key: tuple[str, ...]
    values: list[Number | None]
    n_rows: int
    is_total: bool = False


def merge_rows(part: TablePart, group: Sequence[str], report: int | None = None) -> list[MergedRow]:
    """Return a row for each key of the grouping, in the order of their first rows.

    Missing: None for a column that cannot be summed, where a key has several rows.
    """
    places = [part.key_names.index(name) for name in group]
    merged: dict[tuple[str, ...], MergedRow] = {}
    has_last = bool(group) and group[-1] == part.key_names[-1]
    for row in range(part.n_rows):
        is_sum = len(part.keys) > 0 and part.stat not in SUMS and is_total(part.keys[-1][row])
        # A sum is no row of a group that it is the sum of.
        if (report is not None and part.report[row] != report) or (is_sum and not has_last):
            continue
        key = tuple(part.keys[place][row] for place in places)
        values = [column[row] for column in part.values]
        known = merged.get(key)
        if known is None:
            merged[key] = MergedRow(key, values, 1, is_sum)
            continue
        known.n_rows += 1
        for at, (column, value) in enumerate(zip(part.columns, values, strict=True)):
            known.values[at] = add(known.values[at], value) if column.is_additive else None
    return list(merged.values())


def add(left: Number | None, right: Number | None) -> Number | None:
    """Return the sum; None counts as 0; the sum of two of them is None."""
    if left is None or right is None:
        return right if left is None else left
    return left + right


def sum_of(values: Iterable[Number | None]) -> Number | None:
    """Return the sum of numbers. Missing: None where all are."""
    total: Number | None = None
    for value in values:
        total = add(total, value)
    return total


def _rank(value: Number | None) -> tuple[bool, float]:
    return (value is None, 0.0 if value is None or math.isnan(value) else -float(value))


def _require(name: str, known: list[str], what: str) -> str:
    if name and name not in known:
        raise BadRequest(f"There is no {what} {shorten(name)}; this part has {', '.join(known)}")
    return name


def to_table_column(column: PartColumn) -> ArtefactTableColumn:
    """Return a column as a body of the API."""
    return ArtefactTableColumn(
        column.key, column.title, column.unit, column.kind, column.worse, column.decimals, column.help, column.is_additive
    )


HEADER: Final = ("report", "time")


def write_table_csv(part: TablePart) -> bytes:
    """Return the rows of a part in the order of the text: UTF-8, CRLF, a header of keys with units.

    Missing: an empty cell
    """
    titles = [f"{column.key}[{column.unit}]" if column.unit else column.key for column in part.columns]
    times = ["" if time is None else to_iso(from_us(time)) for time in part.report_us]
    rows: Iterator[list[object]] = (
        [report, times[report], *(key[row] for key in part.keys), *(column[row] for column in part.values)]
        for row, report in enumerate(part.report)
    )
    return format_csv([[*HEADER, *part.key_names, *titles], *rows]).encode("utf-8", errors="replace")
