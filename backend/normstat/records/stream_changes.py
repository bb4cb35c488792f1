"""What happened to a stream after it was written: raw bytes that retention removed, samples that a reparse replaced."""

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.retention_models import StreamChange
from normstat.db.session import WriteSession
from normstat.errors import Conflict


async def require_all_kept(session: AsyncSession, stream_id: int) -> None:
    """Refuse to derive the samples of a stream again after some of its raw bytes were removed.

    Raises: Conflict
    """
    kept_from = await session.scalar(select(StreamChange.kept_from).where(StreamChange.stream_id == stream_id))
    if kept_from:
        raise Conflict(
            f"The raw bytes of stream {stream_id} are kept from offset {kept_from} on only, retention removed those before; its "
            "samples cannot be derived again and stay as they are",
            {"stream_id": stream_id, "kept_from": kept_from},
        )


async def note_replaced(session: WriteSession, stream_id: int, first_at: datetime | None) -> None:
    """Note that the samples of the stream from `first_at` on were replaced: nothing else distinguishes the new ones from the old.

    Backups copy them again; rules and scores judge the last day of them again, as if they were late.
    """
    put = insert(StreamChange).values(stream_id=stream_id, n_replaced=1, n_late=1, late_from=first_at, unscored_from=first_at)
    changed = {
        "n_replaced": StreamChange.n_replaced + 1,
        "n_late": StreamChange.n_late + 1,
        "late_from": func.least(StreamChange.late_from, put.excluded.late_from),
        "unscored_from": func.least(StreamChange.unscored_from, put.excluded.unscored_from),
    }
    await session.execute(put.on_conflict_do_update(index_elements=["stream_id"], set_=changed))
