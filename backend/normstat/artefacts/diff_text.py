"""The diff of two artefacts as text, for a terminal: the answer, how it was normalised, and the rows that changed most."""

from collections.abc import Sequence
from typing import Final

from normstat.artefacts.diff.artefact_diff import PartDiff
from normstat.artefacts.diff.histogram_diff import DistributionDiff
from normstat.artefacts.diff.table_diff import TableDiff, TableDiffRow
from normstat.runtime.readable import format_digits, format_percent

MAX_ROWS: Final = 30
MAX_KEY: Final = 60
BAR: Final = 30
# Characters of a file that would move the cursor or ring the bell are not printed.
CONTROLS: Final = dict.fromkeys((*range(32), *range(127, 160)), "�")


def render_diff(diff: PartDiff, *, n_rows: int = MAX_ROWS) -> str:
    """Return a diff as lines of text."""
    lines = [_safe(diff.headline)]
    if diff.normalisation:
        lines.append(f"Compared {diff.normalisation}.")
    lines += [f"Note: {_safe(warning)}" for warning in diff.warnings]
    if diff.table is not None:
        lines += ["", *_table_lines(diff.table, n_rows)]
    if diff.histogram is not None:
        for each in diff.histogram.distributions[:n_rows]:
            lines += ["", *_distribution_lines(each)]
        lines += [f"Note: {_safe(note)}" for note in diff.histogram.notes]
    return "\n".join(lines) + "\n"


def _table_lines(table: TableDiff, n_rows: int) -> list[str]:
    title = next(each.title for each in table.columns if each.key == table.column)
    head = [f"{title} ({table.unit})" if table.unit else title, "before", "after", "difference", "ratio"]
    rows = [_cells(row) for row in table.rows[:n_rows]]
    if table.before_total is not None and table.after_total is not None and table.ratio is not None:
        difference = table.after_total - table.before_total
        total = [
            "total",
            format_digits(table.before_total, 6),
            format_digits(table.after_total, 6),
            _signed(difference),
            format_percent(table.ratio * 100),
        ]
        rows.append(total)
    widths = [max(len(row[at]) for row in [head, *rows]) for at in range(len(head))]
    lines = [_line(row, widths) for row in [head, *rows]]
    hidden = table.n_rows - min(n_rows, len(table.rows))
    return [*lines, f"... and {hidden:,} more rows"] if hidden > 0 else lines


def _cells(row: TableDiffRow) -> list[str]:
    key = _safe(" ".join(part for part in row.key if part))
    # The end of a key distinguishes callers of one library.
    name = key if len(key) <= MAX_KEY else key[: MAX_KEY // 3] + "\N{HORIZONTAL ELLIPSIS}" + key[MAX_KEY // 3 + 1 - MAX_KEY :]
    values = ["-" if value is None else format_digits(value, 6) for value in (row.before_value, row.after_value)]
    difference = "-" if row.difference is None else _signed(row.difference)
    return [name, *values, difference, {"appeared": "new", "disappeared": "gone"}.get(row.state) or _ratio(row.ratio)]


def _ratio(ratio: float | None) -> str:
    return "-" if ratio is None else format_percent(ratio * 100)


def _signed(value: float) -> str:
    return f"+{format_digits(value, 6)}" if value > 0 else format_digits(value, 6)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = cells
    return "  ".join([first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))]).rstrip()


def _distribution_lines(each: DistributionDiff) -> list[str]:
    lines = [_safe(f"{each.key}: {each.sentence}" if each.key else each.sentence)]
    totals = each.before_total or 1, each.after_total or 1
    shares = [(before / totals[0], after / totals[1]) for before, after in zip(each.before, each.after, strict=True)]
    most = max((max(pair) for pair in shares), default=0.0) or 1.0
    names = [_safe(bucket.label) for bucket in each.buckets]
    width = max(map(len, names), default=0)
    for name, pair in zip(names, shares, strict=True):
        bars = [("#" if at else "-") * round(BAR * share / most) for at, share in enumerate(pair)]
        lines.append(f"{name.rjust(width)}  before {format_percent(pair[0] * 100, 3):>8} {bars[0]}")
        lines.append(f"{' ' * width}  after  {format_percent(pair[1] * 100, 3):>8} {bars[1]}")
    return [line.rstrip() for line in lines]


def _safe(text: str) -> str:
    return text.translate(CONTROLS)
