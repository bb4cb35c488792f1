"""The numbers of a comparison as CSV: one line for each series that it speaks of.

Names come from hosts. A text that a spreadsheet would run as a formula gets an apostrophe in front of it.
"""

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Final

from normstat.report.given import Comparison, Finding, Group, Summary

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
_SIDE: Final = ("n", "mean", "median", "p5", "p95", "p99", "lowest", "highest")
HEADER: Final = (
    "state",
    "rank",
    "host",
    "stat",
    "field",
    "unit",
    "instance",
    "kind",
    "direction",
    "is_worse",
    "score",
    "impact",
    "change",
    "usual_change",
    *(f"baseline_{name}" for name in _SIDE),
    *(f"incident_{name}" for name in _SIDE),
    "sentence",
)

Cell = str | float | bool | None


def write_csv(record: Comparison) -> bytes:
    """UTF-8, CRLF, a header; findings in their order, then what has one side only, what was not judged, what is muted.

    Units: those of the column `unit`      Missing: an empty cell
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(HEADER)
    for row in _rows(record):
        writer.writerow([_cell(row.get(name)) for name in HEADER])
    return out.getvalue().encode("utf-8", errors="replace")


def _rows(record: Comparison) -> Iterator[dict[str, Cell]]:
    for group in record.groups:
        for member in group.members:
            yield _finding(group, member)
        # Beyond the most that are kept with numbers, the names are.
        known = {member.instance for member in group.members}
        for instance in group.instances:
            if instance not in known:
                yield {**_named("finding", group.host, group.stat, group.field, instance), "rank": group.rank, "unit": group.unit}
    for series in record.one_sided:
        row = _named("one_sided", series.host, series.stat, series.field, series.instance)
        yield row | {f"{series.side}_n": series.n, "sentence": series.sentence}
    for thin in record.thin:
        row = _named("not_judged", thin.host, thin.stat, thin.field, thin.instance)
        yield row | {"baseline_n": thin.n_baseline, "incident_n": thin.n_incident, "sentence": thin.reason}
    for muted in record.muted:
        yield _named("muted", muted.host, muted.stat, muted.field, muted.instance) | {"score": muted.score}


def _named(state: str, host: str, stat: str, field: str, instance: str) -> dict[str, Cell]:
    return {"state": state, "host": host, "stat": stat, "field": field, "instance": instance}


def _finding(group: Group, member: Finding) -> dict[str, Cell]:
    return {
        **_named("finding", group.host, group.stat, group.field, member.instance),
        "rank": group.rank,
        "unit": group.unit,
        "kind": member.kind,
        "direction": group.direction,
        "is_worse": group.is_worse,
        "score": member.score,
        "impact": member.impact,
        "change": member.change,
        "usual_change": member.usual,
        **_side("baseline", member.baseline),
        **_side("incident", member.incident),
        "sentence": member.sentence,
    }


def _side(name: str, side: Summary) -> dict[str, Cell]:
    values: Iterable[Cell] = (side.n, side.mean, side.median, side.p5, side.p95, side.p99, side.lowest, side.highest)
    return dict(zip((f"{name}_{key}" for key in _SIDE), values, strict=True))


def _cell(value: Cell) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case str():
            return f"'{value}" if value.startswith(_FORMULA) else value
        case _:
            return repr(value)
