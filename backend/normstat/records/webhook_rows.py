"""Webhooks and their outbox. A delivery is stored in the transaction of its change, and taken for a try by one deliverer.

A delivery that was left as `sending` by a process that died may have arrived or not: it is sent again under the same key.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from pydantic import TypeAdapter
from sqlalchemy import Boolean, ColumnElement, Select, and_, delete, func, literal_column, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.named_rows import flush_name, require_row
from normstat.db.schema.webhook_models import WebhookDeliveryRow, WebhookRow
from normstat.errors import BadRequest, Conflict, NotFound

MAX_WEBHOOKS: Final = 100
NAME_CONSTRAINT: Final = "uq_webhooks__name"
CONTENT_VERSION: Final = 1


class Topic(StrEnum):
    """The kinds of changes that a webhook can receive."""

    EVENT_CREATED = "event.created"
    EVENT_CHANGED = "event.changed"
    EVENT_DELETED = "event.deleted"
    BASELINE_CREATED = "baseline.created"
    BASELINE_CHANGED = "baseline.changed"
    BASELINE_DELETED = "baseline.deleted"
    COMPARISON_SAVED = "comparison.saved"
    COMPARISON_DELETED = "comparison.deleted"
    RUN_STORED = "experiment_run.stored"
    TEST = "test"


class DeliveryState(StrEnum):
    """Where a delivery is."""

    QUEUED = "queued"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class WebhookDraft:
    """The requested settings of a webhook. `url`, `signing_key`: None keeps the stored one"""

    name: str
    url: str | None = field(repr=False)
    signing_key: str | None = field(repr=False)
    topics: tuple[Topic, ...]
    is_enabled: bool
    changed_by: str


@dataclass(frozen=True, slots=True)
class WebhookRecord:
    """A stored webhook, with its secrets. `n_unsent`, `n_failed`: its deliveries that wait, and that were given up"""

    id: int
    name: str
    url: str = field(repr=False)
    signing_key: str = field(repr=False)
    topics: list[Topic]
    is_enabled: bool
    created_by: str
    created_at: datetime
    updated_by: str
    updated_at: datetime
    held_until: datetime | None
    n_unsent: int
    n_failed: int


@dataclass(frozen=True, slots=True)
class WebhookDelivery:
    """A delivery, for people."""

    id: int
    key: str
    topic: Topic
    state: DeliveryState
    n_tries: int
    created_at: datetime
    next_try_at: datetime
    sent_at: datetime | None
    answer: str


@dataclass(frozen=True, slots=True)
class DueDelivery:
    """A delivery that was taken for a try, with what is needed to send it."""

    id: int
    webhook_id: int
    url: str = field(repr=False)
    signing_key: str = field(repr=False)
    key: str
    content: dict[str, object]
    n_tries: int
    created_at: datetime


async def is_topic_wanted(session: AsyncSession, topic: Topic) -> bool:
    """Return whether any webhook wants to hear of it."""
    return await session.scalar(_select_hearers(topic).limit(1)) is not None


async def tell_webhooks(session: AsyncSession, topic: Topic, record: object) -> None:
    """Put a change into the outboxes of the webhooks that receive its kind, in the transaction of the change."""
    webhook_ids = (await session.scalars(_select_hearers(topic))).all()
    if not webhook_ids:
        return
    data = TypeAdapter(type(record)).dump_python(record, mode="json")
    now = (await session.scalars(select(func.now()))).one()
    rows = [_to_delivery(webhook_id, topic, data, now) for webhook_id in webhook_ids]
    await session.execute(insert(WebhookDeliveryRow).values(rows))


def make_content(key: str, topic: Topic, data: object, at: datetime) -> dict[str, object]:
    """Return the message: what a receiver gets as the body."""
    return {"version": CONTENT_VERSION, "id": key, "topic": topic.value, "at": at.isoformat(), "data": data}


async def list_webhooks(session: AsyncSession) -> list[WebhookRecord]:
    """Return all webhooks, by name."""
    rows = (await session.scalars(select(WebhookRow).order_by(WebhookRow.name))).all()
    return await _to_records(session, rows)


async def read_webhook(session: AsyncSession, webhook_id: int) -> WebhookRecord:
    """Return a webhook.

    Raises: NotFound
    """
    [record] = await _to_records(session, [await _require(session, webhook_id)])
    return record


async def create_webhook(session: AsyncSession, draft: WebhookDraft) -> WebhookRecord:
    """Return the new webhook.

    Raises: Conflict when the name is taken; BadRequest with too many webhooks, or without a URL
    """
    n = await session.scalar(select(func.count()).select_from(WebhookRow)) or 0
    if n >= MAX_WEBHOOKS:
        raise BadRequest(f"There are {n} webhooks; at most {MAX_WEBHOOKS} can be stored. Delete some first")
    if draft.url is None or draft.signing_key is None:
        raise BadRequest("A new webhook needs a `url`")
    row = WebhookRow(created_by=draft.changed_by)
    _fill(row, draft)
    session.add(row)
    await flush_name(session, draft.name, constraint=NAME_CONSTRAINT, what="A webhook")
    return await read_webhook(session, row.id)


async def update_webhook(session: AsyncSession, webhook_id: int, draft: WebhookDraft) -> WebhookRecord:
    """Return the changed webhook. A disabled one receives nothing more, and its queued deliveries are dropped.

    Raises: NotFound; Conflict when the name is taken
    """
    row = await _require(session, webhook_id)
    _fill(row, draft)
    row.updated_at = (await session.scalars(select(func.now()))).one()
    row.held_until = None
    await flush_name(session, draft.name, constraint=NAME_CONSTRAINT, what="A webhook")
    if not draft.is_enabled:
        unsent = update(WebhookDeliveryRow).where(WebhookDeliveryRow.webhook_id == webhook_id, _is_unsent())
        await session.execute(unsent.values(state=DeliveryState.FAILED, answer=f"disabled by {draft.changed_by}"))
    await session.refresh(row)
    return await read_webhook(session, webhook_id)


async def delete_webhook(session: AsyncSession, webhook_id: int) -> None:
    """Delete a webhook with its deliveries.

    Raises: NotFound
    """
    await session.delete(await _require(session, webhook_id))
    await session.flush()


async def list_deliveries(session: AsyncSession, webhook_id: int, *, limit: int) -> list[WebhookDelivery]:
    """Return the last deliveries of a webhook, newest first.

    Raises: NotFound
    """
    await _require(session, webhook_id)
    own = WebhookDeliveryRow.webhook_id == webhook_id
    rows = await session.scalars(select(WebhookDeliveryRow).where(own).order_by(WebhookDeliveryRow.id.desc()).limit(limit))
    return [_to_shown(row) for row in rows]


async def retry_delivery(session: AsyncSession, delivery_id: int) -> WebhookDelivery:
    """Queue a failed delivery again.

    Raises: NotFound; Conflict when it did not fail
    """
    row = await session.get(WebhookDeliveryRow, delivery_id, populate_existing=True, with_for_update=True)
    if row is None:
        raise NotFound(f"There is no delivery {delivery_id}", {"id": delivery_id})
    if row.state != DeliveryState.FAILED:
        raise Conflict(f"Delivery {delivery_id} is {row.state}; only a failed one can be sent again", {"id": delivery_id})
    now = (await session.scalars(select(func.now()))).one()
    row.state, row.n_tries, row.next_try_at, row.created_at = DeliveryState.QUEUED, 0, now, now
    await session.flush()
    return _to_shown(row)


def select_unsent_deliveries() -> Select[int]:
    """Return the query of deliveries whose time has come, or that are being sent: nothing is due without one."""
    is_time = or_(WebhookDeliveryRow.state == DeliveryState.SENDING, WebhookDeliveryRow.next_try_at <= func.clock_timestamp())
    return select(WebhookDeliveryRow.id).where(_is_unsent(), is_time)


async def list_due_webhooks(session: AsyncSession, now: datetime, *, doubt: timedelta) -> list[int]:
    """Return the ids of the webhooks with due deliveries."""
    query = select(WebhookDeliveryRow.webhook_id).where(_is_due(now, doubt)).distinct()
    query = query.join(WebhookRow, WebhookRow.id == WebhookDeliveryRow.webhook_id).where(_is_free(now))
    return list(await session.scalars(query.order_by(WebhookDeliveryRow.webhook_id)))


async def take_delivery(session: AsyncSession, webhook_id: int, now: datetime, *, doubt: timedelta) -> DueDelivery | None:
    """Take the oldest delivery of a webhook that is due for a try. Missing: None when none is due"""
    found = (
        select(WebhookDeliveryRow, WebhookRow)
        .join(WebhookRow, WebhookRow.id == WebhookDeliveryRow.webhook_id)
        .where(WebhookDeliveryRow.webhook_id == webhook_id, _is_due(now, doubt), _is_free(now))
        .order_by(WebhookDeliveryRow.id)
        .limit(1)
        .with_for_update(skip_locked=True, of=WebhookDeliveryRow)
        .execution_options(populate_existing=True)
    )
    pair = (await session.execute(found)).one_or_none()
    if pair is None:
        return None
    row, hook = pair
    row.state, row.tried_at, row.n_tries = DeliveryState.SENDING, now, row.n_tries + 1
    await session.flush()
    return DueDelivery(row.id, webhook_id, hook.url, hook.signing_key, row.key, row.content, row.n_tries, row.created_at)


async def note_delivery(
    session: AsyncSession, delivery: DueDelivery, state: DeliveryState, answer: str, at: datetime
) -> None:  # fmt: skip
    """Note how a try ended; `at`: when it was sent, or when the next try is."""
    values: dict[str, object] = {"state": state, "answer": answer}
    if state is DeliveryState.SENT:
        values["sent_at"] = at
    elif state is DeliveryState.QUEUED:
        values["next_try_at"] = at
    # Only while this try is the last one: a deliverer that was away for long changes nothing any more.
    own = and_(
        WebhookDeliveryRow.id == delivery.id,
        WebhookDeliveryRow.state == DeliveryState.SENDING,
        WebhookDeliveryRow.n_tries == delivery.n_tries,
    )
    await session.execute(update(WebhookDeliveryRow).where(own).values(values))


async def hold_webhook(session: AsyncSession, webhook_id: int, until: datetime) -> None:
    """Send nothing to a webhook until an instant."""
    await session.execute(update(WebhookRow).where(WebhookRow.id == webhook_id).values(held_until=until))


async def remove_old_deliveries(session: AsyncSession, before: datetime) -> None:
    """Delete what was sent or given up before an instant."""
    old = and_(WebhookDeliveryRow.created_at < before, ~_is_unsent())
    await session.execute(delete(WebhookDeliveryRow).where(old))


def _select_hearers(topic: Topic) -> Select[int]:
    return select(WebhookRow.id).where(WebhookRow.is_enabled, WebhookRow.topics.contains([topic.value]))


def _to_delivery(webhook_id: int, topic: Topic, data: object, now: datetime) -> dict[str, object]:
    key = str(uuid.uuid4())
    content = make_content(key, topic, data, now)
    return {"webhook_id": webhook_id, "key": key, "topic": topic.value, "content": content, "state": DeliveryState.QUEUED}


def _fill(row: WebhookRow, draft: WebhookDraft) -> None:
    row.name, row.topics, row.is_enabled = draft.name, [topic.value for topic in draft.topics], draft.is_enabled
    row.url = row.url if draft.url is None else draft.url
    row.signing_key = row.signing_key if draft.signing_key is None else draft.signing_key
    row.updated_by = draft.changed_by


async def _require(session: AsyncSession, webhook_id: int) -> WebhookRow:
    return await require_row(session, WebhookRow, webhook_id, what="webhook", listed_at="/api/v1/webhooks")


async def _to_records(session: AsyncSession, rows: Sequence[WebhookRow]) -> list[WebhookRecord]:
    counted = select(WebhookDeliveryRow.webhook_id, WebhookDeliveryRow.state, func.count()).where(
        WebhookDeliveryRow.webhook_id.in_([row.id for row in rows]), WebhookDeliveryRow.state != DeliveryState.SENT
    )
    counts: dict[tuple[int, bool], int] = {}
    for webhook_id, state, n in await session.execute(counted.group_by(WebhookDeliveryRow.webhook_id, WebhookDeliveryRow.state)):
        key = webhook_id, state == DeliveryState.FAILED
        counts[key] = counts.get(key, 0) + n
    return [
        WebhookRecord(
            id=row.id, name=row.name, url=row.url, signing_key=row.signing_key, topics=[Topic(topic) for topic in row.topics],
            is_enabled=row.is_enabled, created_by=row.created_by, created_at=row.created_at, updated_by=row.updated_by,
            updated_at=row.updated_at, held_until=row.held_until, n_unsent=counts.get((row.id, False), 0),
            n_failed=counts.get((row.id, True), 0),
        )
        for row in rows
    ]  # fmt: skip


def _to_shown(row: WebhookDeliveryRow) -> WebhookDelivery:
    return WebhookDelivery(
        row.id, row.key, Topic(row.topic), DeliveryState(row.state), row.n_tries, row.created_at, row.next_try_at, row.sent_at,
        row.answer,
    )  # fmt: skip


def _is_unsent() -> ColumnElement[bool]:
    # In words that the planner compares with the index, which no parameter is.
    return literal_column("webhook_deliveries.state IN ('queued', 'sending')", Boolean)


def _is_due(now: datetime, doubt: timedelta) -> ColumnElement[bool]:
    is_time = or_(
        and_(WebhookDeliveryRow.state == DeliveryState.QUEUED, WebhookDeliveryRow.next_try_at <= now),
        and_(WebhookDeliveryRow.state == DeliveryState.SENDING, WebhookDeliveryRow.tried_at <= now - doubt),
    )
    return and_(_is_unsent(), is_time)


def _is_free(now: datetime) -> ColumnElement[bool]:
    return and_(WebhookRow.is_enabled, or_(WebhookRow.held_until.is_(None), WebhookRow.held_until <= now))
