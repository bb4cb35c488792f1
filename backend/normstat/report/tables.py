"""The tables of a report: all groups, and what no finding speaks of."""

from collections.abc import Iterable, Sequence
from typing import Final

from normstat.report.given import Comparison, Group
from normstat.report.markup import Child, Markup, tag
from normstat.report.words import count, number, with_unit

ARROWS: Final = {"up": "▲", "down": "▼", "same": "◆"}
WORSE: Final = {True: "worse", False: "better", None: ""}


def table(head: Sequence[str], rows: Iterable[Sequence[Child]], caption: str, numbers_from: int = 99) -> Markup:
    """Return a table; columns from `numbers_from` on are numbers and stand to the right."""

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
        # A table may be wider than a small screen, and then the keyboard must reach what is beyond its edge.
        tabindex="0",
        role="region",
        aria_label=caption,
    )


def series_name(host: str, stat: str, field: str, instance: str) -> Markup:
    """Return what a series is called, each part for itself: no name can run into the next."""
    parts = [tag("bdi", host), " ", tag("span", f"{stat} ", tag("b", field))]
    return tag("span", *parts, *([" @ ", tag("bdi", instance)] if instance else []))


def group_table(record: Comparison, n_described: int) -> Markup | None:
    """Return all groups, ranked; the first of them are described above, and linked. Missing: None when there are none."""
    if not record.groups:
        return None
    rows = [_group_cells(group, is_linked=place < n_described) for place, group in enumerate(record.groups)]
    head = ("#", "series", "what", "differ", "baseline", "incident", "unit", "score", "impact")
    return tag("section", tag("h2", "All findings"), table(head, rows, "Median of the strongest series of each group.", 3))


def _group_cells(group: Group, *, is_linked: bool) -> Sequence[Child]:
    strongest = group.members[0] if group.members else None
    instance = group.instances[0] if group.n_members == 1 and group.instances else ""
    return (
        tag("a", str(group.rank), href=f"#g{group.rank}") if is_linked else str(group.rank),
        series_name(group.host, group.stat, group.field, instance),
        f"{ARROWS[group.direction]} {group.kind} {WORSE[group.is_worse]}",
        f"{group.n_members} of {group.n_instances}",
        number(strongest.baseline.median) if strongest else None,
        number(strongest.incident.median) if strongest else None,
        group.unit,
        number(group.score),
        number(group.impact),
    )


def left_out(record: Comparison) -> Markup | None:
    """Return what has one side only, was not judged, or is muted, each with its reason. Missing: None when there is nothing of
    it.
    """
    lists: list[Markup] = []
    counts = record.counts
    if record.one_sided:
        rows = [[series_name(s.host, s.stat, s.field, s.instance), s.side, f"{s.n:,}", s.sentence] for s in record.one_sided]
        lists.append(table(("series", "there in the", "samples", ""), rows, _of(len(rows), counts.one_sided, "on one side only")))
    if record.thin:
        rows = [
            [series_name(s.host, s.stat, s.field, s.instance), f"{s.n_baseline:,}", f"{s.n_incident:,}", s.reason]
            for s in record.thin
        ]
        lists.append(table(("series", "samples before", "samples now", "why"), rows, _of(len(rows), counts.thin, "not judged")))
    if record.muted:
        rows = [[series_name(s.host, s.stat, s.field, s.instance), number(s.score)] for s in record.muted]
        caption = _of(len(rows), counts.muted, "muted: findings that nobody wanted to see")
        lists.append(table(("series", "score"), rows, caption, 1))
    return tag("section", tag("h2", "Not among the findings"), *lists) if lists else None


def side_table(group: Group, most: int) -> Markup:
    """Both sides of the strongest series of a group, in the unit of the field."""
    rows: list[Sequence[Child]] = []
    for member in group.members[:most]:
        for name, side in (("baseline", member.baseline), ("incident", member.incident)):
            is_first = name == "baseline"
            rows.append(
                (
                    (tag("bdi", member.instance) if member.instance else group.column) if is_first else None,
                    tag("span", name, class_=f"side {name}"),
                    f"{side.n:,}",
                    *(number(value) for value in (side.median, side.mean, side.p5, side.p95, side.p99, side.lowest, side.highest)),
                    None if is_first else number(member.score),
                )
            )
    more = group.n_members - min(most, len(group.members))
    caption = f"In {group.unit}." if group.unit else "Without a unit."
    caption += f" {count(more, 'more series', 'more series')} of this group: see the numbers as CSV." if more > 0 else ""
    head = ("series", "", "samples", "median", "mean", "p5", "p95", "p99", "lowest", "highest", "score")
    return table(head, rows, caption, 2)


def _of(shown: int, n: int, what: str) -> str:
    return f"{count(n, 'series', 'series')} {what}" + (f" (the first {shown:,} are listed)" if shown < n else "")


def median_change(group: Group) -> str:
    """`2.1 → 38 %`. Missing: "" without members."""
    if not group.members:
        return ""
    first = group.members[0]
    return f"{number(first.baseline.median)} → {with_unit(first.incident.median, group.unit)}"
