"""Webhooks and their outbox. A delivery is stored in the transaction of its change, and taken for a try by one deliverer.

A delivery that was left as `sending` by a process that died may have arrived or not: it is sent again under the same key.
"""

import secrets
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Final

from pydantic import AfterValidator, Field, SecretStr, TypeAdapter
from sqlalchemy import Boolean, ColumnElement, Select, and_, delete, func, literal_column, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.named_rows import flush_name, require_row
from normstat.db.row_records import to_record
from normstat.db.schema.webhook_models import WebhookDeliveryRow, WebhookRow
from normstat.errors import BadRequest, Conflict, NotFound
from normstat.runtime.body import Body, Name
from normstat.runtime.web_address import check_secret_url, hide_path

MAX_WEBHOOKS: Final = 100
NAME_CONSTRAINT: Final = "uq_webhooks__name"
CONTENT_VERSION: Final = 1
KEY_BYTES: Final = 32


class Topic(StrEnum):
    """The kinds of changes that a webhook can receive."""

    EVENT_CREATED = "event.created"
    EVENT_CHANGED = "event.changed"
    EVENT_DELETED = "event.deleted"
    EVENT_JUDGED = "event.judged"
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


class WebhookPut(Body):
    """A webhook. A URL that is null stays as it is; with `renews_key` it gets a new signing key."""

    name: Name
    url: Annotated[SecretStr | None, AfterValidator(check_secret_url)] = None
    topics: Annotated[list[Topic], Field(min_length=1, max_length=len(Topic))]
    is_enabled: bool = True
    renews_key: bool = False


@dataclass(frozen=True, slots=True)
class WebhookInfo:
    """A webhook without its secrets. `endpoint`: scheme and host; `signing_key`: only where it was made just now, else null."""

    id: int
    name: str
    endpoint: str
    signing_key: str | None
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


async def list_webhooks(session: AsyncSession) -> list[WebhookInfo]:
    """Return all webhooks, by name."""
    return await _to_infos(session, (await session.scalars(select(WebhookRow).order_by(WebhookRow.name))).all())


async def read_webhook(session: AsyncSession, webhook_id: int) -> WebhookRow:
    """Return a webhook with its secrets.

    Raises: NotFound
    """
    return await require_row(session, WebhookRow, webhook_id, what="webhook", listed_at="/api/v1/webhooks")


async def create_webhook(session: AsyncSession, body: WebhookPut, *, by: str) -> WebhookInfo:
    """Return the new webhook, with its signing key.

    Raises: Conflict when the name is taken; BadRequest with too many webhooks, or without a URL
    """
    n = await session.scalar(select(func.count()).select_from(WebhookRow)) or 0
    if n >= MAX_WEBHOOKS:
        raise BadRequest(f"There are {n} webhooks; at most {MAX_WEBHOOKS} can be stored. Delete some first")
    if body.url is None:
        raise BadRequest("A new webhook needs a `url`")
    row = WebhookRow(created_by=by, signing_key=secrets.token_urlsafe(KEY_BYTES))
    _fill(row, body, by)
    session.add(row)
    return await _save(session, row, row.signing_key)


async def update_webhook(session: AsyncSession, webhook_id: int, body: WebhookPut, *, by: str) -> WebhookInfo:
    """Return the changed webhook, with its signing key if that is new: with another URL, or where the body asks for it.

    A disabled one receives nothing more, and its queued deliveries are dropped.
    Raises: NotFound; Conflict when the name is taken
    """
    row = await read_webhook(session, webhook_id)
    # The old key was for the old receiver.
    is_moved = body.url is not None and body.url.get_secret_value() != row.url
    key = secrets.token_urlsafe(KEY_BYTES) if body.renews_key or is_moved else None
    row.signing_key = key or row.signing_key
    _fill(row, body, by)
    row.updated_at = (await session.scalars(select(func.now()))).one()
    row.held_until = None
    info = await _save(session, row, key)
    if not body.is_enabled:
        unsent = update(WebhookDeliveryRow).where(WebhookDeliveryRow.webhook_id == webhook_id, _is_unsent())
        await session.execute(unsent.values(state=DeliveryState.FAILED, answer=f"disabled by {by}"))
        [info] = await _to_infos(session, [row], key)
    return info


async def delete_webhook(session: AsyncSession, webhook_id: int) -> None:
    """Delete a webhook with its deliveries.

    Raises: NotFound
    """
    await session.delete(await read_webhook(session, webhook_id))
    await session.flush()


async def list_deliveries(session: AsyncSession, webhook_id: int, *, limit: int) -> list[WebhookDelivery]:
    """Return the last deliveries of a webhook, newest first.

    Raises: NotFound
    """
    await read_webhook(session, webhook_id)
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


def _fill(row: WebhookRow, body: WebhookPut, by: str) -> None:
    row.name, row.topics, row.is_enabled, row.updated_by = body.name, list(dict.fromkeys(body.topics)), body.is_enabled, by
    row.url = row.url if body.url is None else body.url.get_secret_value()


async def _save(session: AsyncSession, row: WebhookRow, key: str | None) -> WebhookInfo:
    await flush_name(session, row.name, constraint=NAME_CONSTRAINT, what="A webhook")
    await session.refresh(row)
    [info] = await _to_infos(session, [row], key)
    return info


async def _to_infos(session: AsyncSession, rows: Sequence[WebhookRow], key: str | None = None) -> list[WebhookInfo]:
    counted = select(WebhookDeliveryRow.webhook_id, WebhookDeliveryRow.state, func.count()).where(
        WebhookDeliveryRow.webhook_id.in_([row.id for row in rows]), WebhookDeliveryRow.state != DeliveryState.SENT
    )
    counts: dict[tuple[int, bool], int] = {}
    for webhook_id, state, n in await session.execute(counted.group_by(WebhookDeliveryRow.webhook_id, WebhookDeliveryRow.state)):
        place = webhook_id, state == DeliveryState.FAILED
        counts[place] = counts.get(place, 0) + n
    return [
        to_record(
            WebhookInfo,
            row,
            endpoint=hide_path(SecretStr(row.url)),
            signing_key=key,
            topics=[Topic(topic) for topic in row.topics],
            n_unsent=counts.get((row.id, False), 0),
            n_failed=counts.get((row.id, True), 0),
        )
        for row in rows
    ]


def _to_shown(row: WebhookDeliveryRow) -> WebhookDelivery:
    return to_record(WebhookDelivery, row, topic=Topic(row.topic), state=DeliveryState(row.state))


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
