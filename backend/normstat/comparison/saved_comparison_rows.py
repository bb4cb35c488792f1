"""The rows of saved comparisons: parameters, and the result as it was."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import zstandard
from sqlalchemy import Select, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.baseline_models import SavedComparisonRow
from normstat.errors import NotFound, TooLarge
from normstat.records.webhook_rows import Topic, tell_webhooks
from normstat.runtime.bounded_decoding import unpack_zstd
from normstat.runtime.field_docs import Documented

MAX_LISTED: Final = 10_000
ZSTD_LEVEL: Final = 9
# As JSON: that of fifty hosts has some ten MiB.
MAX_RESULT_BYTES: Final = 128 << 20


@dataclass(frozen=True, slots=True)
class SavedComparisonInfo(Documented):
    """A saved comparison without its result."""

    id: int
    name: str
    note: str
    inputs: dict[str, str | int | list[str] | None]
    """The parameters of GET /comparison."""

    created_by: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class SavedComparisonList(Documented):
    """Saved comparisons, newest first."""

    comparisons: list[SavedComparisonInfo]


@dataclass(frozen=True, slots=True)
class SavedComparisonDraft:
    """A comparison to save; `result` is JSON."""

    name: str
    note: str
    inputs: Mapping[str, object]
    result: bytes
    created_by: str


async def create_saved(session: AsyncSession, draft: SavedComparisonDraft) -> SavedComparisonInfo:
    """Save a comparison.

    Raises: TooLarge
    """
    if len(draft.result) > MAX_RESULT_BYTES:
        raise TooLarge(f"The comparison has {len(draft.result):,} bytes; the limit is {MAX_RESULT_BYTES:,}. Compare fewer hosts")
    saved = SavedComparisonRow(
        name=draft.name,
        note=draft.note,
        inputs=dict(draft.inputs),
        result=zstandard.ZstdCompressor(level=ZSTD_LEVEL, write_checksum=True).compress(draft.result),
        created_by=draft.created_by,
    )
    session.add(saved)
    await session.flush()
    record = await read_saved(session, saved.id)
    await tell_webhooks(session, Topic.COMPARISON_SAVED, record)
    return record


async def list_saved(session: AsyncSession) -> SavedComparisonList:
    """Return all saved comparisons, newest first."""
    query = _query().order_by(SavedComparisonRow.created_at.desc(), SavedComparisonRow.id.desc()).limit(MAX_LISTED)
    return SavedComparisonList([SavedComparisonInfo(*row) for row in await session.execute(query)])


async def read_saved(session: AsyncSession, id: int) -> SavedComparisonInfo:  # noqa: A002
    """Return a saved comparison without its result.

    Raises: NotFound
    """
    row = (await session.execute(_query().where(SavedComparisonRow.id == id))).one_or_none()
    if row is None:
        raise NotFound(f"No saved comparison {id}", {"comparison": id})
    return SavedComparisonInfo(*row)


async def read_several_saved(session: AsyncSession, ids: Sequence[int]) -> list[SavedComparisonInfo]:
    """Return the saved comparisons with these ids without their results, in no order."""
    return [SavedComparisonInfo(*row) for row in await session.execute(_query().where(SavedComparisonRow.id.in_(ids)))]


async def read_saved_result(session: AsyncSession, id: int) -> bytes:  # noqa: A002
    """Return the result of a saved comparison as JSON.

    Raises: NotFound
    """
    packed = await session.scalar(select(SavedComparisonRow.result).where(SavedComparisonRow.id == id))
    if packed is None:
        raise NotFound(f"No saved comparison {id}", {"comparison": id})
    return unpack_zstd(packed, MAX_RESULT_BYTES)


async def update_saved(session: AsyncSession, id: int, *, name: str | None, note: str | None) -> SavedComparisonInfo:  # noqa: A002
    """Change the name or the note; the result never changes.

    Raises: NotFound
    """
    saved = await session.get(SavedComparisonRow, id)
    if saved is None:
        raise NotFound(f"No saved comparison {id}", {"comparison": id})
    saved.name = saved.name if name is None else name
    saved.note = saved.note if note is None else note
    await session.flush()
    return await read_saved(session, id)


async def delete_saved(session: AsyncSession, id: int) -> None:  # noqa: A002
    """Delete a saved comparison.

    Raises: NotFound
    """
    saved = await session.get(SavedComparisonRow, id)
    if saved is None:
        raise NotFound(f"No saved comparison {id}", {"comparison": id})
    await tell_webhooks(session, Topic.COMPARISON_DELETED, await read_saved(session, id))
    await session.delete(saved)


def _query() -> Select[int, str, str, dict[str, Any], str, datetime]:
    """Select all columns but the result, which may have megabytes."""
    saved = SavedComparisonRow
    return select(saved.id, saved.name, saved.note, saved.inputs, saved.created_by, saved.created_at)
