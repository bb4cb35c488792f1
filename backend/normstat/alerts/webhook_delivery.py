"""Deliver changes to webhooks: their outbox is signed, sent, retried and given up as messages of alerts are.

A delivery arrives at least once. A receiver recognises one that comes again by its id, and ours by the signature: an HMAC-SHA256 of
the time of the try, a dot and the body.
"""

import asyncio
import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

import structlog

from normstat.alerts.outbox_worker import OutboxWorker, Sessions, is_too_old, pause_after, run_outbox
from normstat.alerts.senders.http_post import post_bytes
from normstat.alerts.senders.send_outcome import SEND_LIMIT_S, SendOutcome, run_cut_off, shorten_answer
from normstat.db.session import open_read_session, open_write_session
from normstat.db.turns import Failures
from normstat.jobs.due_work import MESSAGES_S
from normstat.records.webhook_rows import (
    DeliveryState,
    DueDelivery,
    hold_webhook,
    list_due_webhooks,
    note_delivery,
    remove_old_deliveries,
    take_delivery,
)
from normstat.settings import Settings

log = structlog.get_logger()

# A number that no other advisory lock has.
WEBHOOK_LOCK: Final = 0x6E6F726D_0000002B
KEPT_FOR: Final = timedelta(days=30)
CLEAN_EVERY: Final = timedelta(hours=1)


def sign(signing_key: str, body: bytes, at: datetime) -> str:
    """Return the signature of a body: the time of the try in seconds since the epoch, and the HMAC.

    >>> sign("key", b"{}", datetime(2026, 11, 28, 12, tzinfo=UTC))
    't=1795867200,v1=e3770886dbd2fea47abab085029e834705b84146a25705489addfda3a6369163'
    """
    seconds = int(at.timestamp())
    digest = hmac.new(signing_key.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={seconds},v1={digest}"


async def send_to_webhook(
    url: str, signing_key: str, content: dict[str, object], *, limit_s: float = SEND_LIMIT_S
) -> SendOutcome:  # fmt: skip
    """Return how a try ended."""
    body = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    headers = {
        "Idempotency-Key": str(content["id"]),
        "X-Normstat-Topic": str(content["topic"]),
        "X-Normstat-Signature": sign(signing_key, body, datetime.now(UTC)),
    }
    return await run_cut_off(partial(post_bytes, url, body, headers), limit_s=limit_s)


@dataclass(slots=True)
class WebhookDeliverer(OutboxWorker):
    """Sends the deliveries of webhooks, in the order of the changes."""

    _cleaned_at: datetime | None = field(default=None, init=False)

    async def _list_due(self, now: datetime) -> Sequence[int]:
        if self._cleaned_at is None or now - self._cleaned_at >= CLEAN_EVERY:
            async with open_write_session(self.sessions) as session:
                await remove_old_deliveries(session, now - KEPT_FOR)
            self._cleaned_at = now
        async with open_read_session(self.sessions) as session:
            return await list_due_webhooks(session, now, doubt=self.doubt)

    async def _deliver_next(self, receiver_id: int) -> bool:
        async with open_write_session(self.sessions) as session:
            delivery = await take_delivery(session, receiver_id, datetime.now(UTC), doubt=self.doubt)
        if delivery is None:
            return False
        failures = Failures("webhook_failed")
        outcome = SendOutcome(is_sent=False, answer="normstat failed; its log says why")
        with failures.keep(f"delivery {delivery.id}"):
            outcome = await send_to_webhook(delivery.url, delivery.signing_key, delivery.content, limit_s=self.limit_s)
        if failures.lines:
            outcome = SendOutcome(is_sent=False, answer=shorten_answer(f"normstat failed: {failures.lines[0]}"))
        await self._note(delivery, outcome)
        return True

    async def _note(self, delivery: DueDelivery, outcome: SendOutcome) -> None:
        now = datetime.now(UTC)
        is_over = outcome.is_final or is_too_old(delivery.created_at, now)
        async with open_write_session(self.sessions) as session:
            if outcome.is_sent:
                await note_delivery(session, delivery, DeliveryState.SENT, outcome.answer, now)
            elif is_over:
                await note_delivery(session, delivery, DeliveryState.FAILED, outcome.answer, now)
            else:
                next_at = now + pause_after(delivery.n_tries, outcome)
                await note_delivery(session, delivery, DeliveryState.QUEUED, outcome.answer, next_at)
                # The later ones wait, too: a receiver gets changes in order.
                await hold_webhook(session, delivery.webhook_id, next_at)
        result = "sent" if outcome.is_sent else "failed" if is_over else "retried"
        # Neither the answer nor the URL: both may hold secrets.
        log.info(f"webhook_{result}", webhook=delivery.webhook_id, delivery=delivery.id, n_tries=delivery.n_tries)


async def run_webhooks(
    settings: Settings, sessions: Sessions, *, wake: asyncio.Event | None = None, poll_s: float = MESSAGES_S
) -> None:  # fmt: skip
    """Deliver to webhooks, as long as no other process does, until cancelled."""

    def make_worker() -> WebhookDeliverer:
        return WebhookDeliverer(sessions)

    await run_outbox("webhooks", WEBHOOK_LOCK, settings.database_url, make_worker, wake=wake, poll_s=poll_s)
