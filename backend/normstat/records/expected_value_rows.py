"""Expected values of series, which people set beside the normal ones."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import delete, func, insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.baseline_models import ExpectedValueRow
from normstat.errors import BadRequest
from normstat.runtime.field_docs import Documented
from normstat.samples.lookup import require_host

MAX_OF_HOST: Final = 500


@dataclass(frozen=True, slots=True)
class ExpectedValue(Documented):
    """The value that people expect of a series of a host."""

    stat: str
    field: str
    instance: str | None
    """null: of all instances."""

    value: float
    """In the unit of the field."""

    note: str
    created_by: str


async def list_expected_values(session: AsyncSession, host: str) -> list[ExpectedValue]:
    """Return the expected values of a host, those of one instance before those of all.

    Raises: NotFound for an unknown host
    """
    row = ExpectedValueRow
    query = select(row).where(row.host_id == await require_host(session, host))
    rows = await session.scalars(query.order_by(row.stat, row.field, row.instance.nulls_last()))
    return [ExpectedValue(one.stat, one.field, one.instance, one.value, one.note, one.created_by) for one in rows]


async def put_expected_value(session: AsyncSession, host: str, expected: ExpectedValue) -> None:
    """Store an expected value; it replaces an earlier one of the same series.

    Raises: NotFound for an unknown host; BadRequest when the host has too many
    """
    host_id = await delete_expected_value(session, host, expected.stat, expected.field, expected.instance)
    n_others = await session.scalar(select(func.count()).where(ExpectedValueRow.host_id == host_id))
    if n_others is not None and n_others >= MAX_OF_HOST:
        raise BadRequest(f"{host} has {n_others} expected values, the limit; remove some first")
    # A new row, not a changed one: its number makes a cached comparison outdated.
    values = {"stat": expected.stat, "field": expected.field, "instance": expected.instance, "value": expected.value}
    given = {"host_id": host_id, "note": expected.note, "created_by": expected.created_by}
    await session.execute(insert(ExpectedValueRow).values(values | given))


async def delete_expected_value(session: AsyncSession, host: str, stat: str, field: str, instance: str | None) -> int:
    """Delete the expected value of a series, if there is one; return the id of the host.

    Raises: NotFound for an unknown host
    """
    row = ExpectedValueRow
    host_id = await require_host(session, host)
    same = (row.host_id == host_id, row.stat == stat, row.field == field, row.instance.is_not_distinct_from(instance))
    await session.execute(delete(row).where(*same))
    return host_id
