"""The numbers of a comparison as CSV: a row for each finding and each listed series.

Names come from hosts: a text that a spreadsheet would run as a formula gets a leading apostrophe.
"""

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Final

from normstat.comparison.model import Comparison, Finding, FindingGroup
from normstat.comparison.side_values import SideValues

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
    "change_ratio",
    "significance",
    "anomaly_score",
    "impact",
    "change",
    "change_scale",
    *(f"baseline_{name}" for name in _SIDE),
    *(f"incident_{name}" for name in _SIDE),
    "sentence",
)

Cell = str | float | bool | None


def write_csv(record: Comparison) -> bytes:
    """Return the CSV: UTF-8, CRLF, a header; findings by rank, then series that appeared, disappeared, lack data or are muted.

    Units: the column `unit`. Missing: an empty cell
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
        # Only the strongest members have numbers; the others have their names.
        known = {member.instance for member in group.members}
        for instance in group.instances:
            if instance not in known:
                yield {**_named("finding", group.host, group.stat, group.field, instance), "rank": group.rank, "unit": group.unit}
    for state, side, unmatched in (("appeared", "incident", record.appeared), ("disappeared", "baseline", record.disappeared)):
        for series in unmatched:
            row = _named(state, series.host, series.stat, series.field, series.instance)
            yield row | {f"{side}_n": series.n, "sentence": series.sentence}
    for item in record.insufficient_data:
        row = _named("insufficient_data", item.host, item.stat, item.field, item.instance)
        yield row | {"baseline_n": item.n_baseline, "incident_n": item.n_incident, "sentence": item.reason}
    for muted in record.muted:
        row = _named("muted", muted.host, muted.stat, muted.field, muted.instance)
        yield row | {"change_ratio": muted.change_ratio, "significance": muted.significance}


def _named(state: str, host: str, stat: str, field: str, instance: str) -> dict[str, Cell]:
    return {"state": state, "host": host, "stat": stat, "field": field, "instance": instance}


def _finding(group: FindingGroup, member: Finding) -> dict[str, Cell]:
    return {
        **_named("finding", group.host, group.stat, group.field, member.instance),
        "rank": group.rank,
        "unit": group.unit,
        "kind": member.kind,
        "direction": group.direction,
        "is_worse": group.is_worse,
        "change_ratio": member.change_ratio,
        "significance": member.significance,
        "anomaly_score": member.anomaly_score,
        "impact": member.impact,
        "change": member.change,
        "change_scale": member.change_scale,
        **_side("baseline", member.baseline),
        **_side("incident", member.incident),
        "sentence": member.sentence,
    }


def _side(name: str, side: SideValues) -> dict[str, Cell]:
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
