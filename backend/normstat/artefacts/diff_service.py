"""Load two artefacts and compare them."""

from dataclasses import dataclass

import anyio.to_thread
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.artefacts.artefact_service import load_parts
from normstat.artefacts.diff.artefact_diff import DiffRequest, DiffSide, PartDiff, diff_artefacts
from normstat.records import artefact_rows
from normstat.records.artefact_rows import Artefact
from normstat.runtime.csv_cells import format_csv
from normstat.runtime.field_docs import Documented


@dataclass(frozen=True, slots=True)
class ArtefactDiff(Documented):
    """Two artefacts, and what changed from the first to the second."""

    before: Artefact
    after: Artefact
    diff: PartDiff


async def diff_stored(session: AsyncSession, before_id: int, after_id: int, asked: DiffRequest) -> ArtefactDiff:
    """Return the diff of two stored artefacts.

    Raises: NotFound, BadRequest, DamagedArtefact
    """
    before = await artefact_rows.read_artefact_row(session, before_id)
    after = await artefact_rows.read_artefact_row(session, after_id)
    parts = [await load_parts(session, each.id) for each in (before, after)]
    sides = tuple(DiffSide(each.tool, each.command or each.question, each.duration_s, each.effect) for each in (before, after))
    found = await anyio.to_thread.run_sync(diff_artefacts, parts[0], parts[1], (sides[0], sides[1]), asked)
    return ArtefactDiff(before, after, found)


def format_diff_csv(found: ArtefactDiff) -> str:
    """Return the rows of a table diff, or the buckets of a distribution diff, as CSV with a header line."""
    rows: list[list[object]] = []
    table, histogram = found.diff.table, found.diff.histogram
    if table is not None:
        unit = f" ({table.unit})" if table.unit else ""
        printed = [f"{column.key}{f' ({column.unit})' if column.unit else ''}" for column in table.columns]
        head = [*table.key_names, "state", *(f"{table.column}_{side}{unit}" for side in ("before", "after", "difference")), "ratio"]
        rows.append([*head, *(f"{name} before" for name in printed), *(f"{name} after" for name in printed)])
        for row in table.rows:
            values = [row.before_value, row.after_value, row.difference, row.ratio, *row.before, *row.after]
            rows.append([*row.key, row.state, *values])
    elif histogram is not None:
        rows.append(["distribution", "unit", "bucket", "low", "high", "before", "after"])
        for each in histogram.distributions:
            for bucket, first, last in zip(each.buckets, each.before, each.after, strict=True):
                rows.append([each.key, each.unit, bucket.label, bucket.low, bucket.high, first, last])
    return format_csv(rows)
