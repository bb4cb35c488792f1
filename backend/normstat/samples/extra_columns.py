"""The columns of the wide tables that no spec describes, created when a host first sent numbers of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.models import Host, StatField, StatTable
from normstat.db.session import WriteSession
from normstat.errors import Conflict, NotFound
from normstat.samples.stat_tables import drop_column, read_stored_stats


@dataclass(frozen=True, slots=True)
class ExtraColumn:
    """A column that no spec describes. `host` sent it first. Missing: None where that host is deleted, or was not recorded."""

    stat: str
    key: str
    host: str | None
    created_at: datetime


async def list_extra_columns(session: AsyncSession, stat: str | None = None) -> Sequence[ExtraColumn]:
    """Return the columns of a stat (None: of all) that no spec describes, by stat, in the order in which they came."""
    query = (
        select(StatTable.name, StatField.key, Host.name, StatField.created_at)
        .join(StatField, StatField.stat_id == StatTable.id)
        .join(Host, Host.id == StatField.host_id, isouter=True)
        .where(StatField.is_documented.is_(False))
        .order_by(StatTable.name, StatField.position)
    )
    rows = await session.execute(query if stat is None else query.where(StatTable.name == stat))
    return [ExtraColumn(*row) for row in rows]


async def remove_extra_column(session: WriteSession, stat: str, key: str) -> None:
    """Remove such a column with its numbers. The bytes that they were read from stay.

    Raises: NotFound; Conflict for a column that the spec describes, or that a view of the user's own shows
    """
    stored = (await read_stored_stats(session, [stat])).get(stat)
    column = None if stored is None else stored.columns.get(key)
    if stored is None or column is None:
        raise NotFound(f"{stat} has no column {key}")
    if column.is_documented:
        raise Conflict(f"The spec describes {key} of {stat}: only columns unknown to it are removed")
    await drop_column(session, stored, column)
