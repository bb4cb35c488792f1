"""Webhooks: addresses that receive changes of events, baselines, comparisons and experiments."""

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import Annotated

from fastapi import Query

from normstat.alerts.webhook_delivery import send_to_webhook
from normstat.api.http.body import Empty
from normstat.api.http.deps import NEEDS_ADMINISTRATOR, NEEDS_VIEWER, Administrator, IdPath, ReadSession, State, WriteSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.lazy_routing import LazyRouter
from normstat.db.session import open_read_session
from normstat.errors import BadRequest, Conflict, NotFound
from normstat.records import webhook_rows
from normstat.records.webhook_rows import Topic, WebhookDelivery, WebhookInfo, WebhookPut, make_content

router = LazyRouter(tags=["webhooks"])


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
    return WebhookList(await webhook_rows.list_webhooks(session), topics)


@router.post("/webhooks", status_code=201, responses=guarded_answers(BadRequest, Conflict))
async def create_webhook(body: WebhookPut, principal: Administrator, session: WriteSession) -> WebhookInfo:
    """Create a webhook. The answer has its signing key, once."""
    return await webhook_rows.create_webhook(session, body, by=principal.name)


@router.put("/webhooks/{id}", responses=guarded_answers(BadRequest, NotFound, Conflict))
async def put_webhook(id: IdPath, body: WebhookPut, principal: Administrator, session: WriteSession) -> WebhookInfo:  # noqa: A002
    """Change a webhook. A new URL has a new signing key: the old one was for the old receiver."""
    return await webhook_rows.update_webhook(session, id, body, by=principal.name)


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
