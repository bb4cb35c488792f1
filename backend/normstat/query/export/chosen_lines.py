"""The lines of a stat that an export is limited to: those of a panel, for example."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.errors import NotFound, shorten
from normstat.samples.lookup import StatRef, find_instances
from normstat.samples.sample_pages import NO_INTEGER, NO_SHORT, Page, StoredArray
from normstat.stats.spec import Field

# More names than this are not a panel, and too long for a URL.
MAX_LINES: Final = 400


@dataclass(frozen=True, slots=True)
class ExportedLine:
    """One line of a graph: a field of an instance."""

    field: str
    instance: str


@dataclass(frozen=True, slots=True)
class ChosenLines:
    """The fields that become columns, and the instances that become rows. Missing: None = all instances."""

    fields: Sequence[Field]
    instance_ids: Sequence[int] | None
    # For each field the instances that it is exported of; empty: all.
    ids_by_field: tuple[frozenset[int], ...] = ()

    def clear(self, page: Page) -> Page:
        """Return the page without the values of lines that were not chosen: they are missing."""
        if self.instance_ids is None or all(len(ids) == len(self.instance_ids) for ids in self.ids_by_field):
            return page
        columns: list[StoredArray] = []
        for column, ids in zip(page.values, self.ids_by_field, strict=True):
            is_chosen = np.isin(page.instance_id, list(ids))
            columns.append(cast("StoredArray", np.where(is_chosen, column, _nothing_of(column)).astype(column.dtype)))
        return replace(page, values=tuple(columns))


async def choose_lines(
    session: AsyncSession, host_id: int, stat: StatRef, keys: Sequence[str], lines: Sequence[ExportedLine]
) -> ChosenLines:
    """Return the columns and rows of these fields (of all instances) and of these lines."""
    of_lines = {line.field for line in lines}
    fields = [field for field in stat.fields if field.key in of_lines or field.key in keys]
    if not lines:
        return ChosenLines(fields, None)
    found = await find_instances(session, host_id, stat.id, sorted({line.instance for line in lines}))
    ids = {instance.name: instance.id for instance in found}
    of_field = tuple(
        frozenset(ids[line.instance] for line in lines if line.field == field.key and line.instance in ids) for field in fields
    )
    return ChosenLines(fields, sorted(ids.values()), of_field)


def require_fields(stat: StatRef, keys: Sequence[str]) -> None:
    """Check that the stat has these fields.

    Raises: NotFound
    """
    known = {field.key for field in stat.fields}
    unknown = [key for key in keys if key not in known]
    if unknown:
        raise NotFound(
            f"{stat.name} has no field {shorten(unknown[0])}; it has {', '.join(sorted(known))}",
            {"stat": stat.name, "field": unknown[0]},
        )


def _nothing_of(column: StoredArray) -> float | int:
    if column.dtype.kind != "i":
        return float("nan")
    return NO_SHORT if column.dtype.itemsize == 4 else NO_INTEGER
