"""The outbox of alerts: messages that are to be sent, tried again or given up.

A message is taken for a try by one deliverer; before it is sent its row says so. A message that a deliverer left as `sending` when
it died may have arrived or not: it is sent again under the same key.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Boolean, ColumnElement, Select, and_, func, literal_column, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from normstat.db.row_records import to_record
from normstat.db.schema.alert_models import AlertChannelRow, AlertMessageRow, AlertRow
from normstat.errors import Conflict, NotFound

QUEUED: Final = "queued"
SENDING: Final = "sending"
SENT: Final = "sent"
FAILED: Final = "failed"
DROPPED: Final = "dropped"
UNSENT: Final = (QUEUED, SENDING)


@dataclass(frozen=True, slots=True)
class MessageDraft:
    """A message for the outbox. `dropped_why`: why it is not even tried; empty for one to send"""

    alert_id: int
    channel_id: int
    channel: str
    kind: str
    number: int
    key: str
    content: Mapping[str, object]
    dropped_why: str = ""


@dataclass(frozen=True, slots=True)
class DueMessage:
    """A message that was taken for a try. `first_key`: that of the first message of its alert to this channel"""

    id: int
    alert_id: int
    channel_id: int
    kind: str
    number: int
    key: str
    first_key: str
    content: dict[str, object]
    n_tries: int
    created_at: datetime
    silence_key: bytes


async def queue_messages(session: AsyncSession, drafts: Sequence[MessageDraft], now: datetime) -> None:
    """Put messages into the outbox. Raises: IntegrityError, when the alert has a message of that number for the channel"""
    if drafts:
        rows = [
            {
                "alert_id": each.alert_id,
                "channel_id": each.channel_id,
                "channel": each.channel,
                "kind": each.kind,
                "number": each.number,
                "key": each.key,
                "content": dict(each.content),
                "state": DROPPED if each.dropped_why else QUEUED,
                "answer": each.dropped_why,
                "next_try_at": now,
                "created_at": now,
            }
            for each in drafts
        ]
        await session.execute(insert(AlertMessageRow).values(rows))


async def list_due_channels(session: AsyncSession, now: datetime, *, doubt: timedelta) -> list[int]:
    """Return the ids of the channels with due messages."""
    query = select(AlertMessageRow.channel_id).where(_is_due(now, doubt)).distinct().order_by(AlertMessageRow.channel_id)
    query = query.join(AlertChannelRow, AlertChannelRow.id == AlertMessageRow.channel_id).where(_is_free(now))
    return [channel_id for channel_id in await session.scalars(query) if channel_id is not None]


def select_unsent() -> Select[int]:
    """Return the query of messages whose time has come, or that are being sent: nothing is due without one."""
    is_time = or_(AlertMessageRow.state == SENDING, AlertMessageRow.next_try_at <= func.clock_timestamp())
    return select(AlertMessageRow.id).where(_is_unsent(), AlertMessageRow.channel_id.is_not(None), is_time)


async def take_message(session: AsyncSession, channel_id: int, now: datetime, *, doubt: timedelta) -> DueMessage | None:
    """Take the message of a channel that has been due longest for a try. Missing: None when none is due.

    `doubt`: after this time a message that is still `sending` is in doubt, and sent again. Messages of an alert keep their order.
    """
    found = (
        select(AlertMessageRow.id)
        .join(AlertChannelRow, AlertChannelRow.id == AlertMessageRow.channel_id)
        .where(AlertMessageRow.channel_id == channel_id, _is_due(now, doubt), _is_free(now))
        .order_by(AlertMessageRow.next_try_at, AlertMessageRow.id)
        .limit(1)
        .with_for_update(skip_locked=True, of=AlertMessageRow)
    )
    message_id = await session.scalar(found)
    if message_id is None:
        return None
    row = await session.get(AlertMessageRow, message_id, populate_existing=True)
    assert row is not None
    row.state, row.tried_at, row.n_tries = SENDING, now, row.n_tries + 1
    await session.flush()
    first = select(AlertMessageRow.key).where(
        AlertMessageRow.alert_id == row.alert_id, AlertMessageRow.channel_id == row.channel_id
    )
    first_key = await session.scalar(first.order_by(AlertMessageRow.number).limit(1))
    silence_key = await session.scalar(select(AlertRow.silence_key).where(AlertRow.id == row.alert_id))
    assert first_key is not None
    assert silence_key is not None
    return to_record(DueMessage, row, channel_id=channel_id, first_key=first_key, silence_key=silence_key)


async def note_sent(session: AsyncSession, message: DueMessage, answer: str, now: datetime) -> None:
    """Note that a message arrived."""
    await _note(session, message, state=SENT, sent_at=now, answer=answer)


async def note_retry(session: AsyncSession, message: DueMessage, answer: str, next_try_at: datetime) -> None:
    """Note that a try failed, and when the next one is."""
    await _note(session, message, state=QUEUED, answer=answer, next_try_at=next_try_at)


async def note_failed(session: AsyncSession, message: DueMessage, answer: str) -> None:
    """Give a message up; it stays in the list. The receiver that never got it gets no resolved message either."""
    await _note(session, message, state=FAILED, answer=answer)


async def note_dropped(session: AsyncSession, message: DueMessage, answer: str) -> None:
    """Note that a message is not needed any more."""
    await _note(session, message, state=DROPPED, answer=answer)


async def was_told(session: AsyncSession, message: DueMessage) -> bool:
    """Return whether the channel got any earlier message of the alert."""
    told = select(AlertMessageRow.id).where(
        AlertMessageRow.alert_id == message.alert_id,
        AlertMessageRow.channel_id == message.channel_id,
        AlertMessageRow.number < message.number,
        AlertMessageRow.state == SENT,
    )
    return await session.scalar(told.limit(1)) is not None


async def drop_messages(session: AsyncSession, channel_id: int, answer: str) -> None:
    """Drop what is queued for a channel."""
    unsent = update(AlertMessageRow).where(AlertMessageRow.channel_id == channel_id, AlertMessageRow.state.in_(UNSENT))
    await session.execute(unsent.values(state=DROPPED, answer=answer))


async def retry_message(session: AsyncSession, message_id: int) -> int:
    """Queue a failed message again; return the id of its alert.

    Raises: NotFound; Conflict when it did not fail, or its channel was deleted
    """
    row = await session.get(AlertMessageRow, message_id, populate_existing=True, with_for_update=True)
    if row is None:
        raise NotFound(f"There is no alert message {message_id}", {"id": message_id})
    if row.state != FAILED:
        raise Conflict(f"Message {message_id} is {row.state}; only a failed one can be sent again", {"id": message_id})
    if row.channel_id is None:
        raise Conflict(f"The channel {row.channel} of message {message_id} was deleted", {"id": message_id})
    now = (await session.scalars(select(func.now()))).one()
    row.state, row.n_tries, row.next_try_at, row.created_at = QUEUED, 0, now, now
    await session.flush()
    return row.alert_id


async def count_unsent(session: AsyncSession) -> tuple[int, datetime | None]:
    """Return how many messages wait, and since when the oldest one does. Missing: None when none waits"""
    query = select(func.count(), func.min(AlertMessageRow.created_at)).where(
        AlertMessageRow.state.in_(UNSENT), AlertMessageRow.channel_id.is_not(None)
    )
    n, oldest = (await session.execute(query)).one()
    return n, oldest


def _is_due(now: datetime, doubt: timedelta) -> ColumnElement[bool]:
    earlier = aliased(AlertMessageRow)
    # One message of an alert at a time, so that they arrive in order.
    has_earlier = (
        select(earlier.id)
        .where(
            earlier.alert_id == AlertMessageRow.alert_id,
            earlier.channel_id == AlertMessageRow.channel_id,
            earlier.number < AlertMessageRow.number,
            earlier.state.in_(UNSENT),
        )
        .exists()
    )
    is_time = or_(
        and_(AlertMessageRow.state == QUEUED, AlertMessageRow.next_try_at <= now),
        and_(AlertMessageRow.state == SENDING, AlertMessageRow.tried_at <= now - doubt),
    )
    return and_(_is_unsent(), is_time, ~has_earlier)


def _is_unsent() -> ColumnElement[bool]:
    # In words that the planner compares with the index, which no parameter is: sent messages are many.
    return literal_column("alert_messages.state IN ('queued', 'sending')", Boolean)


def _is_free(now: datetime) -> ColumnElement[bool]:
    return and_(AlertChannelRow.is_enabled, or_(AlertChannelRow.held_until.is_(None), AlertChannelRow.held_until <= now))


async def _note(session: AsyncSession, message: DueMessage, **values: object) -> None:
    # Only while this try is the last one: a deliverer that was away for long changes nothing any more.
    own = and_(AlertMessageRow.id == message.id, AlertMessageRow.state == SENDING, AlertMessageRow.n_tries == message.n_tries)
    await session.execute(update(AlertMessageRow).where(own).values(values))
