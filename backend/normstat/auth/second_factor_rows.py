"""Rows of second factors and recovery codes. auth decides which code is valid."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.account_models import RecoveryCode, SecondFactor
from normstat.db.schema.models import User


async def lock_factor(session: AsyncSession, user_id: int) -> tuple[SecondFactor, float] | None:
    """Return the account's second factor, confirmed or not, locked, and the time in seconds since 1970; None without one.

    The time is the database's, for all servers: a code counts once whichever server gets it.
    """
    now = func.extract("epoch", func.clock_timestamp())
    query = select(SecondFactor, now).where(SecondFactor.user_id == user_id).with_for_update(of=SecondFactor)
    row = (await session.execute(query, execution_options={"populate_existing": True})).one_or_none()
    return None if row is None else (row[0], float(row[1]))


async def put_unconfirmed(session: AsyncSession, user_id: int, secret: bytes) -> bool:
    """Store a secret that no code has confirmed yet; return False where the account has a confirmed one."""
    query = insert(SecondFactor).values(user_id=user_id, secret=secret)
    query = query.on_conflict_do_update(
        index_elements=["user_id"],
        set_={"secret": secret, "created_at": func.now(), "last_step": 0},
        where=SecondFactor.confirmed_at.is_(None),
    )
    return await session.scalar(query.returning(SecondFactor.user_id)) is not None


async def note_step(session: AsyncSession, user_id: int, step: int, *, is_first: bool = False) -> None:
    """Note that the code of this period was accepted; with `is_first`, that it confirmed the second factor."""
    values: dict[str, object] = {"last_step": step}
    if is_first:
        values["confirmed_at"] = func.now()
    await session.execute(update(SecondFactor).where(SecondFactor.user_id == user_id).values(values))


async def put_recovery_codes(session: AsyncSession, user_id: int, hashes: Sequence[bytes]) -> None:
    """Replace the account's recovery codes."""
    await session.execute(delete(RecoveryCode).where(RecoveryCode.user_id == user_id))
    await session.execute(insert(RecoveryCode), [{"user_id": user_id, "code_hash": each} for each in hashes])


async def spend_recovery_code(session: AsyncSession, user_id: int, code_hash: bytes) -> bool:
    """Mark the code as used; return whether there was an unused one."""
    query = (
        update(RecoveryCode)
        .where(RecoveryCode.user_id == user_id, RecoveryCode.code_hash == code_hash, RecoveryCode.used_at.is_(None))
        .values(used_at=func.now())
    )
    return await session.scalar(query.returning(RecoveryCode.user_id)) is not None


async def delete_factor(session: AsyncSession, user_id: int) -> bool:
    """Delete second factor and recovery codes; return whether the account had a confirmed one."""
    await session.execute(delete(RecoveryCode).where(RecoveryCode.user_id == user_id))
    query = delete(SecondFactor).where(SecondFactor.user_id == user_id).returning(SecondFactor.confirmed_at)
    return await session.scalar(query) is not None


async def read_state(session: AsyncSession, user_id: int) -> tuple[datetime | None, int]:
    """Return since when the account has a second factor (None: it has none), and its number of unused recovery codes."""
    confirmed_at = await session.scalar(select(SecondFactor.confirmed_at).where(SecondFactor.user_id == user_id))
    n_codes = select(func.count()).where(RecoveryCode.user_id == user_id, RecoveryCode.used_at.is_(None))
    return confirmed_at, await session.scalar(n_codes) or 0


async def list_accounts(session: AsyncSession) -> list[tuple[str, datetime | None]]:
    """Return all accounts by name, and since when each has a second factor."""
    query = select(User.name, SecondFactor.confirmed_at).join(SecondFactor, SecondFactor.user_id == User.id, isouter=True)
    return [(row[0], row[1]) for row in await session.execute(query.order_by(User.name))]


async def list_factor_owners(session: AsyncSession) -> set[int]:
    """Return the ids of the accounts that have a second factor."""
    return set(await session.scalars(select(SecondFactor.user_id).where(SecondFactor.confirmed_at.is_not(None))))
