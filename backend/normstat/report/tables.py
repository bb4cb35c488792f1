"""The tables of a report: all groups, and the series outside the findings."""

from collections.abc import Iterable, Sequence
from typing import Final

from normstat.comparison.model import Comparison, Finding, FindingGroup
from normstat.comparison.side_values import SideValues
from normstat.report.markup import Child, Markup, tag
from normstat.runtime.readable import count_of, format_number

ARROWS: Final = {"up": "▲", "down": "▼", "same": "◆"}
WORSE: Final = {True: "worse", False: "better", None: ""}


def table(head: Sequence[str], rows: Iterable[Sequence[Child]], caption: str, numbers_from: int = 99) -> Markup:
    """Return a table. Columns from `numbers_from` on are numbers, aligned right."""

    def cells(name: str, row: Sequence[Child], scope: str | None = None) -> Markup:
        return tag("tr", *(tag(name, cell, scope=scope, class_="n" if i >= numbers_from else None) for i, cell in enumerate(row)))

    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption),
            tag("thead", cells("th", head, "col")),
            tag("tbody", *(cells("td", row) for row in rows)),
        ),
        class_="wide",
        # A wide table scrolls, and must be reachable by keyboard.
        tabindex="0",
        role="region",
        aria_label=caption,
    )


def series_name(host: str, stat: str, field: str, instance: str) -> Markup:
    """Return the name of a series, each part isolated: no name can run into the next."""
    parts = [tag("bdi", host), " ", tag("span", f"{stat} ", tag("b", field))]
    return tag("span", *parts, *([" @ ", tag("bdi", instance)] if instance else []))


def group_table(record: Comparison, n_described: int) -> Markup | None:
    """Return the table of all groups, linked to the described ones. Missing: None without groups."""
    if not record.groups:
        return None
    rows = [_group_cells(group, is_linked=place < n_described) for place, group in enumerate(record.groups)]
    head = ("#", "series", "kind", "changed", "baseline", "incident", "unit", "change ratio", "impact")
    return tag("section", tag("h2", "All findings"), table(head, rows, "Medians of the strongest series of each group.", 3))


def _group_cells(group: FindingGroup, *, is_linked: bool) -> Sequence[Child]:
    strongest = group.members[0] if group.members else None
    instance = group.instances[0] if len(group.instances) == 1 else ""
    return (
        tag("a", str(group.rank), href=f"#g{group.rank}") if is_linked else str(group.rank),
        series_name(group.host, group.stat, group.field, instance),
        f"{ARROWS[group.direction]} {group.kind} {WORSE[group.is_worse]}",
        f"{group.n_members} of {group.n_instances}",
        _median(strongest.baseline, "not there") if strongest else None,
        _median(strongest.incident, "gone") if strongest else None,
        group.unit,
        format_number(group.change_ratio),
        format_number(group.impact),
    )


def _median(side: SideValues, missing: str) -> str:
    return missing if side.n == 0 else format_number(side.median)


def other_series(record: Comparison) -> Markup | None:
    """Return tables of the series that appeared, disappeared, lack data or are muted. Missing: None without any."""
    lists: list[Markup] = []
    counts = record.counts
    for unmatched, n, what in (
        (record.appeared, counts.appeared, "appeared: in the incident only"),
        (record.disappeared, counts.disappeared, "disappeared: in the baseline only"),
    ):
        if unmatched:
            rows = [[series_name(s.host, s.stat, s.field, s.instance), f"{s.n:,}", s.sentence] for s in unmatched]
            lists.append(table(("series", "samples", ""), rows, _of(len(rows), n, what)))
    if record.insufficient_data:
        rows = [
            [series_name(s.host, s.stat, s.field, s.instance), f"{s.n_baseline:,}", f"{s.n_incident:,}", s.reason]
            for s in record.insufficient_data
        ]
        caption = _of(len(rows), counts.insufficient_data, "with insufficient data")
        lists.append(table(("series", "samples in baseline", "samples in incident", "reason"), rows, caption))
    if record.muted:
        rows = [
            [series_name(s.host, s.stat, s.field, s.instance), format_number(s.change_ratio), format_number(s.significance)]
            for s in record.muted
        ]
        lists.append(table(("series", "change ratio", "significance"), rows, _of(len(rows), counts.muted, "muted"), 1))
    return tag("section", tag("h2", "Other series"), *lists) if lists else None


def side_table(group: FindingGroup, most: int) -> Markup:
    """Return the values of both sides of the strongest members, in the unit of the field."""
    rows: list[Sequence[Child]] = []
    for member in group.members[:most]:
        for name, side in (("baseline", member.baseline), ("incident", member.incident)):
            is_first = name == "baseline"
            rows.append(
                (
                    (tag("bdi", member.instance) if member.instance else group.column) if is_first else None,
                    tag("span", name, class_=f"side {name}"),
                    f"{side.n:,}",
                    *(
                        format_number(value)
                        for value in (side.median, side.mean, side.p5, side.p95, side.p99, side.lowest, side.highest)
                    ),
                    None if is_first else format_number(member.change_ratio),
                )
            )
    more = max(group.n_members, len(group.instances)) - min(most, len(group.members))
    caption = f"In {group.unit}." if group.unit else "Without a unit."
    caption += f" {count_of(more, 'more series', 'more series')} of this group are in the CSV." if more > 0 else ""
    head = ("series", "", "samples", "median", "mean", "p5", "p95", "p99", "lowest", "highest", "change ratio")
    return table(head, rows, caption, 2)


def _of(shown: int, n: int, what: str) -> str:
    return f"{count_of(n, 'series', 'series')} {what}" + (f" (the first {shown:,} are listed)" if shown < n else "")


def median_change(group: FindingGroup) -> str:
    """Return the medians of the strongest member: `2.1 → 38 %`. Missing: "" without members."""
    return member_change(group.members[0], group.unit) if group.members else ""


def member_change(member: Finding, unit: str) -> str:
    """Return the medians of a finding: `2.1 → 38 %`, `not there → 38 %`, `38 % → gone`."""
    before, after = member.baseline.median, member.incident.median
    if before is None:
        return "no samples" if after is None else f"not there → {format_number(after)} {unit}".rstrip()
    if after is None:
        return f"{format_number(before)} {unit}".rstrip() + " → gone"
    return f"{format_number(before)} → {format_number(after)} {unit}".rstrip()
