"""A table part whose tool printed a report every interval (perf stat -I), as lines over time: one for each key."""

from dataclasses import dataclass
from typing import Final

from normstat.artefacts.keys import is_total
from normstat.artefacts.parts import Number, TablePart
from normstat.errors import BadRequest, shorten
from normstat.runtime.field_docs import Documented

MAX_LINES: Final = 50
MAX_REPORTS: Final = 100_000
# The column with the seconds since the tool began, at the end of the interval.
ELAPSED: Final = "elapsed_s"


@dataclass(frozen=True, slots=True)
class IntervalLine(Documented):
    """The values of one key, one for each report."""

    key: list[str]
    values: list[float | int | None]
    """Null where the tool did not print the key, or printed no number."""


@dataclass(frozen=True, slots=True)
class IntervalView(Documented):
    """Lines over the reports of a table part."""

    column: str
    title: str
    unit: str
    decimals: int
    clock: str
    """What `times` are: `epoch`, milliseconds; `elapsed`, milliseconds since the tool began; `report`, numbers from 1: the text
    has no times."""

    times: list[float]
    lines: list[IntervalLine]
    """Those with the largest values first."""

    n_keys: int
    """All keys of the part, also those without a line here."""


def view_intervals(part: TablePart, column: str, limit: int) -> IntervalView:
    """Return the lines of a column over the reports of a part.

    Raises: BadRequest for a column that the part does not have, and for a part of one report
    """
    n_reports = len(part.report_us)
    if n_reports < 2:
        raise BadRequest("This part has one report; lines over time need two or more")
    if n_reports > MAX_REPORTS:
        raise BadRequest(f"This part has {n_reports:,} reports; lines are drawn of up to {MAX_REPORTS:,}")
    key = column or part.weight
    found = next((each for each in part.columns if each.key == key), None)
    if found is None:
        names = ", ".join(each.key for each in part.columns)
        raise BadRequest(f"There is no column {shorten(key)}; this part has {names}")
    values = part.column(key)
    lines: dict[tuple[str, ...], list[Number | None]] = {}
    for row in range(part.n_rows):
        if not is_total(part.keys[-1][row]):
            line = lines.setdefault(tuple(names[row] for names in part.keys), [None] * n_reports)
            line[part.report[row]] = values[row]
    known = {name: line for name, line in lines.items() if any(value is not None for value in line)}
    order = sorted(known, key=lambda name: -max(float(value) for value in known[name] if value is not None))
    clock, times = _times_of(part)
    return IntervalView(
        column=key,
        title=found.title,
        unit=found.unit,
        decimals=found.decimals,
        clock=clock,
        times=times,
        lines=[IntervalLine(list(name), list(known[name])) for name in order[:limit]],
        n_keys=len(lines),
    )


def _times_of(part: TablePart) -> tuple[str, list[float]]:
    known = [time for time in part.report_us if time is not None]
    if len(known) == len(part.report_us):
        return "epoch", [time / 1000 for time in known]
    if any(column.key == ELAPSED for column in part.columns):
        elapsed: dict[int, float] = {}
        for row, value in enumerate(part.column(ELAPSED)):
            if value is not None:
                elapsed.setdefault(part.report[row], round(float(value) * 1000, 6))
        if len(elapsed) == len(part.report_us):
            return "elapsed", [elapsed[report] for report in range(len(part.report_us))]
    return "report", [float(number) for number in range(1, len(part.report_us) + 1)]
