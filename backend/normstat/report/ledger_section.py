"""The ledger of a report: a table for each host of what each resource took, what is normal of it, and who took it."""

from typing import Final

from normstat.comparison.ledger.ledger_table import LedgerRow, to_rows
from normstat.comparison.model import Comparison
from normstat.report.markup import Child, Markup, tag
from normstat.report.tables import table

HEAD: Final = ("resource", "now", "normal range", "who", "certainty")
CAPTION: Final = "CPU is of all CPUs; memory is that of the quarter of the incident that differs most."


def ledger_section(record: Comparison) -> Markup | None:
    """Return the tables. Missing: None for a comparison without a ledger."""
    parts: list[Markup] = []
    for host, rows in rows_by_host(record):
        if len(record.hosts) > 1:
            parts.append(tag("h3", tag("bdi", host)))
        parts.append(table(HEAD, map(_cells, rows), CAPTION))
    return tag("section", tag("h2", "Who took what"), *parts) if parts else None


def rows_by_host(record: Comparison) -> list[tuple[str, list[LedgerRow]]]:
    """Return the rows of each host, in the order of the ledger."""
    rows = to_rows(record.ledger)
    return [(host, [row for row in rows if row.host == host]) for host in dict.fromkeys(row.host for row in rows)]


def texts_of(row: LedgerRow) -> list[str]:
    """Return the cells of a row."""
    return [row.resource[:1].upper() + row.resource[1:], row.now, row.normal, row.who, row.certainty]


def _cells(row: LedgerRow) -> list[Child]:
    """Return the cells: quiet in a row that is as normal, bold where they are the answer."""
    resource, now, *others = texts_of(row)
    if row.is_normal:
        return [tag("span", text, class_="soft") if text else None for text in (resource, now, *others)]
    return [tag("b", resource), tag("b", now), *others]
