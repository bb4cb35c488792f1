"""Deliver what is in the outbox: one process at a time, the channels beside each other, the messages of a channel in turn.

Before a try the row of the message says that it is being sent, and afterwards how it ended. A process that dies in between leaves a
message in doubt: it is sent again after a while, with the same key, which receivers can recognise it by.
"""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import structlog
from pydantic import ValidationError
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat import metrics
from normstat.alerts.channel_settings import join_secrets
from normstat.alerts.routing import MessageKind
from normstat.alerts.senders.channel_sender import ChannelSender, SentMessage, read_content
from normstat.alerts.senders.send_outcome import SEND_LIMIT_S, SendOutcome, shorten_answer
from normstat.alerts.silence_link import sign_token, silence_link
from normstat.jobs.background import keep_running, pause
from normstat.settings import Settings
from normstat.storage.alert_channel_rows import ChannelRecord, hold_channel, read_channel
from normstat.storage.alert_outbox import (
    DueMessage,
    list_due_channels,
    note_dropped,
    note_failed,
    note_retry,
    note_sent,
    take_message,
    was_told,
)
from normstat.storage.leader import try_lead
from normstat.storage.session import make_engine, open_read_session, open_write_session
from normstat.storage.turns import Failures, retry_wait_s

log = structlog.get_logger()

Sessions = async_sessionmaker[AsyncSession]
# A number that no other advisory lock has.
DELIVERY_LOCK: Final = 0x6E6F726D_0000001A
POLL_S: Final = 2.0
CHECK_S: Final = 15.0
STOP_S: Final = 5.0
FIRST_PAUSE_S: Final = 10.0
MAX_PAUSE_S: Final = 900.0
# A day later a message wakes nobody for a good reason.
GIVE_UP_AFTER: Final = timedelta(hours=24)
# No try takes as long as this, so whoever began it is gone.
DOUBT: Final = timedelta(seconds=2 * SEND_LIMIT_S)


@dataclass(slots=True)
class Deliverer:
    """Sends what is due. `doubt`: after this time a message that is still being sent was left behind by a process that died."""

    sessions: Sessions
    public_url: str
    scripts_dir: Path | None = None
    doubt: timedelta = DOUBT
    limit_s: float = SEND_LIMIT_S
    _running: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    _is_stopping: bool = False

    async def run_due(self) -> int:
        """Begin with every channel that something is due for and that is not busy; return how many are busy now."""
        for task in self._running.values():
            if task.done():
                # Raises what the database raised.
                task.result()
        self._running = {channel_id: task for channel_id, task in self._running.items() if not task.done()}
        async with open_read_session(self.sessions) as session:
            due = await list_due_channels(session, datetime.now(UTC), doubt=self.doubt)
        for channel_id in due:
            if channel_id not in self._running:
                self._running[channel_id] = asyncio.create_task(self._work_off(channel_id), name=f"alert_channel_{channel_id}")
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

    async def _work_off(self, channel_id: int) -> None:
        """Send what is due for a channel, one message after the other."""
        while not self._is_stopping:
            async with open_write_session(self.sessions) as session:
                message = await take_message(session, channel_id, datetime.now(UTC), doubt=self.doubt)
            if message is None:
                return
            await self._deliver(message)

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
            if datetime.now(UTC) - message.created_at >= GIVE_UP_AFTER:
                # From before a long pause of the server, or from a backup.
                outcome = SendOutcome(is_sent=False, answer="more than a day old", is_final=True)
            else:
                outcome = await self._send(message, channel)
        if failures.lines:
            outcome = SendOutcome(is_sent=False, answer=shorten_answer(f"normstat failed: {failures.lines[0]}"))
        await self._note(message, outcome)

    async def _send(self, message: DueMessage, channel: ChannelRecord) -> SendOutcome:
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
        is_old = now - message.created_at >= GIVE_UP_AFTER
        async with open_write_session(self.sessions) as session:
            if outcome.is_sent:
                await note_sent(session, message, outcome.answer, now)
            elif outcome.is_final or is_old:
                await note_failed(session, message, outcome.answer)
            else:
                pause_s = max(retry_wait_s(message.n_tries, FIRST_PAUSE_S, MAX_PAUSE_S), outcome.retry_after_s or 0.0)
                await note_retry(session, message, outcome.answer, now + timedelta(seconds=pause_s))
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
    poll_s: float = POLL_S,
    every_s: float = CHECK_S,
    doubt: timedelta = DOUBT,
) -> None:
    """Deliver, as long as no other process does, until cancelled: what is due every `poll_s`, and whenever `wake` is set.

    `every_s`: how often a process tries to become the one
    """

    async def lead() -> None:
        # A connection of its own: it is held for as long as the process lives.
        engine = make_engine(settings.database_url, pool_size=1)
        try:
            async with try_lead(engine, DELIVERY_LOCK) as leadership:
                if leadership is None:
                    return
                deliverer = Deliverer(sessions, settings.public_url, settings.alert_scripts_dir, doubt=doubt)
                try:
                    while True:
                        if wake is not None:
                            wake.clear()
                        # Without its connection it has no lock, and another process may have begun.
                        await leadership.check()
                        # Channels that are busy are looked after, whatever is due.
                        await pause(poll_s if not await deliverer.run_due() else min(poll_s, POLL_S), wake)
                finally:
                    await deliverer.stop()
        finally:
            await engine.dispose()

    await keep_running("alert_delivery", lead, every_s=every_s, max_pause_s=30.0)
