"""Deliver the messages of alerts, channel by channel (outbox_worker.py)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import structlog
from pydantic import ValidationError

from normstat.alerts.alert_channel_rows import hold_channel, read_channel
from normstat.alerts.alert_outbox import (
    DueMessage,
    list_due_channels,
    note_dropped,
    note_failed,
    note_retry,
    note_sent,
    take_message,
    was_told,
)
from normstat.alerts.channel_settings import join_secrets
from normstat.alerts.message_kind import MessageKind
from normstat.alerts.outbox_worker import CHECK_S, DOUBT, OutboxWorker, Sessions, is_too_old, pause_after, run_outbox
from normstat.alerts.senders.channel_sender import ChannelSender, SentMessage, read_content
from normstat.alerts.senders.send_outcome import SendOutcome, shorten_answer
from normstat.alerts.silence_link import sign_token, silence_link
from normstat.db.schema.alert_models import AlertChannelRow
from normstat.db.session import open_read_session, open_write_session
from normstat.db.turns import Failures
from normstat.jobs.due_work import MESSAGES_S
from normstat.runtime import metrics
from normstat.settings import Settings

log = structlog.get_logger()

# A number that no other advisory lock has.
DELIVERY_LOCK: Final = 0x6E6F726D_0000001A


@dataclass(slots=True)
class Deliverer(OutboxWorker):
    """Sends the messages of alerts."""

    public_url: str
    scripts_dir: Path | None = None

    async def _list_due(self, now: datetime) -> Sequence[int]:
        async with open_read_session(self.sessions) as session:
            return await list_due_channels(session, now, doubt=self.doubt)

    async def _deliver_next(self, receiver_id: int) -> bool:
        async with open_write_session(self.sessions) as session:
            message = await take_message(session, receiver_id, datetime.now(UTC), doubt=self.doubt)
        if message is None:
            return False
        await self._deliver(message)
        return True

    async def _deliver(self, message: DueMessage) -> None:
        outcome = SendOutcome(is_sent=False, answer="")
        # A defect that one message meets, or a channel that was deleted just now, must not stop all others.
        failures = Failures("alert_message_defect")
        with failures.keep(f"alert {message.alert_id}"):
            async with open_read_session(self.sessions) as session:
                channel = await read_channel(session, message.channel_id)
                is_told = message.kind != MessageKind.RESOLVED or await was_told(session, message)
            if not is_told:
                async with open_write_session(self.sessions) as session:
                    await note_dropped(session, message, "over before this channel was reached")
                return
            if is_too_old(message.created_at, datetime.now(UTC)):
                # From before a long pause of the server, or from a backup.
                outcome = SendOutcome(is_sent=False, answer="more than a day old", is_final=True)
            else:
                outcome = await self._send(message, channel)
        if failures.lines:
            outcome = SendOutcome(is_sent=False, answer=shorten_answer(f"normstat failed: {failures.lines[0]}"))
        await self._note(message, outcome)

    async def _send(self, message: DueMessage, channel: AlertChannelRow) -> SendOutcome:
        try:
            settings = join_secrets(channel.settings, channel.secrets)
        except ValidationError as error:
            text = f"the settings of {channel.name} cannot be used any more: {error.error_count()} problems; save them again"
            return SendOutcome(is_sent=False, answer=text, is_final=True)
        token = sign_token(message.alert_id, message.silence_key)
        sent = SentMessage(
            content=read_content(message.content),
            key=message.key,
            first_key=message.first_key,
            silence_link=silence_link(self.public_url, token) if message.kind != MessageKind.RESOLVED else None,
            public_url=self.public_url,
        )
        return await ChannelSender(self.scripts_dir, self.limit_s).send(sent, settings)

    async def _note(self, message: DueMessage, outcome: SendOutcome) -> None:
        now = datetime.now(UTC)
        is_old = is_too_old(message.created_at, now)
        async with open_write_session(self.sessions) as session:
            if outcome.is_sent:
                await note_sent(session, message, outcome.answer, now)
            elif outcome.is_final or is_old:
                await note_failed(session, message, outcome.answer)
            else:
                await note_retry(session, message, outcome.answer, now + pause_after(message.n_tries, outcome))
                if outcome.retry_after_s:
                    # It asked for a pause: of all messages, not only of this one.
                    await hold_channel(session, message.channel_id, now + timedelta(seconds=outcome.retry_after_s))
        result = "sent" if outcome.is_sent else "failed" if outcome.is_final or is_old else "retried"
        metrics.ALERT_MESSAGES.labels(message.kind, result).inc()
        facts = {"alert": message.alert_id, "kind": message.kind, "channel": message.channel_id, "n_tries": message.n_tries}
        # Not the answer: a receiver may repeat what it was sent, secrets included.
        if result == "sent":
            log.info("alert_message_sent", **facts)
        else:
            log.warning(f"alert_message_{result}", **facts)


async def run_delivery(
    settings: Settings,
    sessions: Sessions,
    *,
    wake: asyncio.Event | None = None,
    poll_s: float = MESSAGES_S,
    every_s: float = CHECK_S,
    doubt: timedelta = DOUBT,
) -> None:
    """Deliver the messages of alerts, as long as no other process does, until cancelled."""

    def make_worker() -> Deliverer:
        return Deliverer(sessions, settings.public_url, settings.alert_scripts_dir, doubt=doubt)

    await run_outbox("alert_delivery", DELIVERY_LOCK, settings.database_url, make_worker, wake=wake, poll_s=poll_s, every_s=every_s)
