"""Rows named by people: the same errors for a name that is taken and for an unknown number."""

from typing import TypeVar

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.models import Base
from normstat.errors import Conflict, NotFound, shorten

Row = TypeVar("Row", bound=Base)


async def flush_name(session: AsyncSession, name: str, *, constraint: str, what: str, hint: str = "") -> None:
    """Write the session's changes, among them a name that is unique by the constraint.

    Raises: Conflict when the name is taken; it calls the row `what`, and says `hint` after "already exists"
    """
    try:
        await session.flush()
    except IntegrityError as error:
        if constraint not in str(error.orig):
            raise
        raise name_taken(name, what=what, hint=hint) from None


def name_taken(name: str, *, what: str, hint: str = "") -> Conflict:
    """Return the error for a name that is taken, also by a row that a limited account does not see."""
    return Conflict(f"{what} {shorten(name)} already exists{hint}; choose another name", {"name": name})


async def require_row(
    session: AsyncSession, kind: type[Row], row_id: int, *, what: str, listed_at: str, is_locked: bool = False
) -> Row:
    """Return the row of that number as the database has it now, optionally locked until the transaction ends.

    Raises: NotFound, which calls the row `what` and names the route that lists them
    """
    row = await session.get(kind, row_id, populate_existing=True, with_for_update=is_locked or None)
    if row is None:
        raise NotFound(f"There is no {what} {row_id}; GET {listed_at} lists them", {"id": row_id})
    return row
