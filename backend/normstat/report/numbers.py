"""The numbers of a comparison as CSV: a row for each finding and each listed series."""

from collections.abc import Iterable, Iterator
from typing import Final

from normstat.comparison.model import Comparison, Finding, FindingGroup
from normstat.comparison.side_values import SideValues
from normstat.runtime.csv_cells import format_csv

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
    rows = ([_cell(row.get(name)) for name in HEADER] for row in _rows(record))
    return format_csv([HEADER, *rows]).encode("utf-8", errors="replace")


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


def _cell(value: Cell) -> Cell:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value
