"""Comparisons that were kept: what was asked, and the answer as it was then."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import zstandard
from sqlalchemy import Select, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.errors import NotFound
from normstat.storage.schema.baseline_models import KeptComparison

MAX_LISTED: Final = 10_000
ZSTD_LEVEL: Final = 9


@dataclass(frozen=True, slots=True)
class KeptRecord:
    """A kept comparison without its answer. `inputs`: the parameters of GET /comparison that gave it."""

    id: int
    name: str
    note: str
    inputs: Mapping[str, object]
    created_by: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class KeptDraft:
    """A comparison to be kept; `result` is its answer as JSON."""

    name: str
    note: str
    inputs: Mapping[str, object]
    result: bytes
    created_by: str


async def create_kept(session: AsyncSession, draft: KeptDraft) -> KeptRecord:
    """Keep a comparison."""
    kept = KeptComparison(
        name=draft.name,
        note=draft.note,
        inputs=dict(draft.inputs),
        result=zstandard.ZstdCompressor(level=ZSTD_LEVEL).compress(draft.result),
        created_by=draft.created_by,
    )
    session.add(kept)
    await session.flush()
    return await read_kept(session, kept.id)


async def list_kept(session: AsyncSession) -> list[KeptRecord]:
    """Return all kept comparisons, the newest first."""
    query = _query().order_by(KeptComparison.created_at.desc(), KeptComparison.id.desc()).limit(MAX_LISTED)
    return [KeptRecord(*row) for row in await session.execute(query)]


async def read_kept(session: AsyncSession, id: int) -> KeptRecord:  # noqa: A002
    """Return one of them.

    Raises: NotFound
    """
    row = (await session.execute(_query().where(KeptComparison.id == id))).one_or_none()
    if row is None:
        raise NotFound(f"There is no kept comparison {id}", {"comparison": id})
    return KeptRecord(*row)


async def read_kept_result(session: AsyncSession, id: int) -> bytes:  # noqa: A002
    """Return the answer of one of them as JSON, as it was when it was kept.

    Raises: NotFound
    """
    packed = await session.scalar(select(KeptComparison.result).where(KeptComparison.id == id))
    if packed is None:
        raise NotFound(f"There is no kept comparison {id}", {"comparison": id})
    return zstandard.ZstdDecompressor().decompress(packed)


async def update_kept(session: AsyncSession, id: int, *, name: str | None, note: str | None) -> KeptRecord:  # noqa: A002
    """Change name or note; the answer never changes.

    Raises: NotFound
    """
    kept = await session.get(KeptComparison, id)
    if kept is None:
        raise NotFound(f"There is no kept comparison {id}", {"comparison": id})
    kept.name = kept.name if name is None else name
    kept.note = kept.note if note is None else note
    await session.flush()
    return await read_kept(session, id)


async def delete_kept(session: AsyncSession, id: int) -> None:  # noqa: A002
    """Forget a kept comparison.

    Raises: NotFound
    """
    kept = await session.get(KeptComparison, id)
    if kept is None:
        raise NotFound(f"There is no kept comparison {id}", {"comparison": id})
    await session.delete(kept)


def _query() -> Select[int, str, str, dict[str, object], str, datetime]:
    """Return all but the answer, which may be megabytes."""
    kept = KeptComparison
    return select(kept.id, kept.name, kept.note, kept.inputs, kept.created_by, kept.created_at)
