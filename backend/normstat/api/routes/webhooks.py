"""Webhooks: addresses that receive changes of events, baselines, comparisons and experiments."""

import secrets
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import Annotated, Final

from fastapi import Query
from pydantic import AfterValidator, Field, SecretStr

from normstat.alerts.channel_settings import check_url, hide_path
from normstat.alerts.webhook_delivery import send_to_webhook
from normstat.api.http.body import Empty
from normstat.api.http.deps import NEEDS_ADMINISTRATOR, NEEDS_VIEWER, Administrator, IdPath, ReadSession, State, WriteSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.lazy_routing import LazyRouter
from normstat.db.session import open_read_session
from normstat.errors import BadRequest, Conflict, NotFound
from normstat.records import webhook_rows
from normstat.records.webhook_rows import Topic, WebhookDelivery, WebhookDraft, WebhookRecord, make_content
from normstat.runtime.body import Body, Name

router = LazyRouter(tags=["webhooks"])

KEY_BYTES: Final = 32


def _check_secret(url: SecretStr | None) -> SecretStr | None:
    if url is not None:
        check_url(url.get_secret_value())
    return url


class WebhookPut(Body):
    """A webhook. A URL that is null stays as it is; with `renews_key` it gets a new signing key."""

    name: Name
    url: Annotated[SecretStr | None, AfterValidator(_check_secret)] = None
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
class WebhookList:
    """All webhooks, and the kinds of changes that they can receive."""

    webhooks: list[WebhookInfo]
    topics: list[Topic]


@dataclass(frozen=True, slots=True)
class WebhookDeliveryList:
    """The last deliveries of a webhook, newest first."""

    deliveries: list[WebhookDelivery]


@dataclass(frozen=True, slots=True)
class WebhookTest:
    """How a test ended. `answer`: what the receiver said, or why it was not reached"""

    is_sent: bool
    answer: str
    seconds: float


@router.get("/webhooks", dependencies=[NEEDS_VIEWER], responses=guarded_answers())
async def list_webhooks(session: ReadSession) -> WebhookList:
    """List webhooks, by name; without their secrets."""
    topics: list[Topic] = [topic for topic in Topic if topic is not Topic.TEST]
    return WebhookList([_to_info(record) for record in await webhook_rows.list_webhooks(session)], topics)


@router.post("/webhooks", status_code=201, responses=guarded_answers(BadRequest, Conflict))
async def create_webhook(body: WebhookPut, principal: Administrator, session: WriteSession) -> WebhookInfo:
    """Create a webhook. The answer has its signing key, once."""
    key = secrets.token_urlsafe(KEY_BYTES)
    record = await webhook_rows.create_webhook(session, _to_draft(body, key, principal.name))
    return _to_info(record, key)


@router.put("/webhooks/{id}", responses=guarded_answers(BadRequest, NotFound, Conflict))
async def put_webhook(id: IdPath, body: WebhookPut, principal: Administrator, session: WriteSession) -> WebhookInfo:  # noqa: A002
    """Change a webhook. A new URL has a new signing key: the old one was for the old receiver."""
    known = await webhook_rows.read_webhook(session, id)
    is_moved = body.url is not None and body.url.get_secret_value() != known.url
    key = secrets.token_urlsafe(KEY_BYTES) if body.renews_key or is_moved else None
    return _to_info(await webhook_rows.update_webhook(session, id, _to_draft(body, key, principal.name)), key)


@router.delete("/webhooks/{id}", dependencies=[NEEDS_ADMINISTRATOR], responses=guarded_answers(NotFound))
async def delete_webhook(id: IdPath, session: WriteSession) -> Empty:  # noqa: A002
    """Delete a webhook and its pending deliveries."""
    await webhook_rows.delete_webhook(session, id)
    return Empty()


@router.post("/webhooks/{id}/test", dependencies=[NEEDS_ADMINISTRATOR], responses=guarded_answers(NotFound))
async def test_webhook(id: IdPath, state: State) -> WebhookTest:  # noqa: A002
    """Send a signed test message, and return what the receiver said. It takes up to 30 seconds."""
    # No database connection is held while a slow receiver answers.
    async with open_read_session(state.sessions) as session:
        record = await webhook_rows.read_webhook(session, id)
    content = make_content(str(uuid.uuid4()), Topic.TEST, {"webhook": record.name}, datetime.now(UTC))
    begin = monotonic()
    outcome = await send_to_webhook(record.url, record.signing_key, content)
    return WebhookTest(outcome.is_sent, outcome.answer, round(monotonic() - begin, 3))


@router.get("/webhooks/{id}/deliveries", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound))
async def list_webhook_deliveries(
    id: IdPath,  # noqa: A002
    session: ReadSession,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> WebhookDeliveryList:
    """List the last deliveries of a webhook."""
    return WebhookDeliveryList(await webhook_rows.list_deliveries(session, id, limit=limit))


@router.post(
    "/webhook-deliveries/{id}/retry", dependencies=[NEEDS_ADMINISTRATOR], responses=guarded_answers(NotFound, Conflict)
)  # fmt: skip
async def retry_webhook_delivery(id: IdPath, session: WriteSession) -> WebhookDelivery:  # noqa: A002
    """Send a delivery again that was given up."""
    return await webhook_rows.retry_delivery(session, id)


def _to_draft(body: WebhookPut, key: str | None, by: str) -> WebhookDraft:
    url = None if body.url is None else body.url.get_secret_value()
    return WebhookDraft(body.name, url, key, tuple(dict.fromkeys(body.topics)), body.is_enabled, by)


def _to_info(record: WebhookRecord, key: str | None = None) -> WebhookInfo:
    return WebhookInfo(
        id=record.id,
        name=record.name,
        endpoint=hide_path(SecretStr(record.url)),
        signing_key=key,
        topics=record.topics,
        is_enabled=record.is_enabled,
        created_by=record.created_by,
        created_at=record.created_at,
        updated_by=record.updated_by,
        updated_at=record.updated_at,
        held_until=record.held_until,
        n_unsent=record.n_unsent,
        n_failed=record.n_failed,
    )
