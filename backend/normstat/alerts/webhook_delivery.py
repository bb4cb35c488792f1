"""Tell webhooks of changes: what is in their outbox is signed, sent, tried again and given up as messages of alerts are.

A delivery arrives at least once. A receiver recognises one that comes again by its id, and ours by the signature: an HMAC-SHA256 of
the time of the try, a dot and the body.
"""

import asyncio
import hashlib
import hmac
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.alerts.senders.http_post import post_bytes
from normstat.alerts.senders.send_outcome import SEND_LIMIT_S, SendOutcome, run_cut_off, shorten_answer
from normstat.jobs.background import keep_running, pause
from normstat.settings import Settings
from normstat.storage.leader import try_lead
from normstat.storage.session import make_engine, open_read_session, open_write_session
from normstat.storage.turns import Failures, retry_wait_s
from normstat.storage.webhook_rows import (
    DeliveryState,
    DueDelivery,
    hold_webhook,
    list_due_webhooks,
    note_delivery,
    remove_old_deliveries,
    take_delivery,
)

log = structlog.get_logger()

Sessions = async_sessionmaker[AsyncSession]
# A number that no other advisory lock has.
WEBHOOK_LOCK: Final = 0x6E6F726D_0000002B
POLL_S: Final = 2.0
CHECK_S: Final = 15.0
STOP_S: Final = 5.0
FIRST_PAUSE_S: Final = 10.0
MAX_PAUSE_S: Final = 900.0
GIVE_UP_AFTER: Final = timedelta(hours=24)
KEPT_FOR: Final = timedelta(days=30)
CLEAN_EVERY: Final = timedelta(hours=1)
DOUBT: Final = timedelta(seconds=2 * SEND_LIMIT_S)


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
class WebhookDeliverer:
    """Sends what is due, the webhooks beside each other, the deliveries of one in turn."""

    sessions: Sessions
    doubt: timedelta = DOUBT
    limit_s: float = SEND_LIMIT_S
    _running: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    _is_stopping: bool = False
    _cleaned_at: datetime | None = None

    async def run_due(self) -> int:
        """Begin with every webhook that something is due for and that is not busy; return how many are busy now."""
        for task in self._running.values():
            if task.done():
                # Raises what the database raised.
                task.result()
        self._running = {webhook_id: task for webhook_id, task in self._running.items() if not task.done()}
        now = datetime.now(UTC)
        if self._cleaned_at is None or now - self._cleaned_at >= CLEAN_EVERY:
            async with open_write_session(self.sessions) as session:
                await remove_old_deliveries(session, now - KEPT_FOR)
            self._cleaned_at = now
        async with open_read_session(self.sessions) as session:
            due = await list_due_webhooks(session, now, doubt=self.doubt)
        for webhook_id in due:
            if webhook_id not in self._running:
                self._running[webhook_id] = asyncio.create_task(self._work_off(webhook_id), name=f"webhook_{webhook_id}")
        return len(self._running)

    async def deliver_all(self) -> None:
        """Send all that is due, and wait for it."""
        while await self.run_due():
            await asyncio.gather(*self._running.values())

    async def stop(self) -> None:
        """Send nothing more; what is on its way gets a moment, so that it is not in doubt."""
        self._is_stopping = True
        if self._running:
            await asyncio.wait(self._running.values(), timeout=STOP_S)
        for task in self._running.values():
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)
        self._running = {}

    async def _work_off(self, webhook_id: int) -> None:
        while not self._is_stopping:
            async with open_write_session(self.sessions) as session:
                delivery = await take_delivery(session, webhook_id, datetime.now(UTC), doubt=self.doubt)
            if delivery is None:
                return
            failures = Failures("webhook_failed")
            outcome = SendOutcome(is_sent=False, answer="normstat failed; its log says why")
            with failures.keep(f"delivery {delivery.id}"):
                outcome = await send_to_webhook(delivery.url, delivery.signing_key, delivery.content, limit_s=self.limit_s)
            if failures.lines:
                outcome = SendOutcome(is_sent=False, answer=shorten_answer(f"normstat failed: {failures.lines[0]}"))
            await self._note(delivery, outcome)

    async def _note(self, delivery: DueDelivery, outcome: SendOutcome) -> None:
        now = datetime.now(UTC)
        is_over = outcome.is_final or now - delivery.created_at >= GIVE_UP_AFTER
        async with open_write_session(self.sessions) as session:
            if outcome.is_sent:
                await note_delivery(session, delivery, DeliveryState.SENT, outcome.answer, now)
            elif is_over:
                await note_delivery(session, delivery, DeliveryState.FAILED, outcome.answer, now)
            else:
                pause_s = max(retry_wait_s(delivery.n_tries, FIRST_PAUSE_S, MAX_PAUSE_S), outcome.retry_after_s or 0.0)
                next_at = now + timedelta(seconds=pause_s)
                await note_delivery(session, delivery, DeliveryState.QUEUED, outcome.answer, next_at)
                # The later ones wait, too: a receiver hears of things in their order.
                await hold_webhook(session, delivery.webhook_id, next_at)
        result = "sent" if outcome.is_sent else "failed" if is_over else "retried"
        # Neither the answer nor the URL: both may hold secrets.
        log.info(f"webhook_{result}", webhook=delivery.webhook_id, delivery=delivery.id, n_tries=delivery.n_tries)


async def run_webhooks(
    settings: Settings, sessions: Sessions, *, wake: asyncio.Event | None = None, poll_s: float = POLL_S, every_s: float = CHECK_S
) -> None:  # fmt: skip
    """Deliver, as long as no other process does, until cancelled."""

    async def lead() -> None:
        engine = make_engine(settings.database_url, pool_size=1)
        try:
            async with try_lead(engine, WEBHOOK_LOCK) as leadership:
                if leadership is None:
                    return
                deliverer = WebhookDeliverer(sessions)
                try:
                    while True:
                        if wake is not None:
                            wake.clear()
                        await leadership.check()
                        await pause(poll_s if not await deliverer.run_due() else min(poll_s, POLL_S), wake)
                finally:
                    await deliverer.stop()
        finally:
            await engine.dispose()

    await keep_running("webhooks", lead, every_s=every_s, max_pause_s=30.0)
