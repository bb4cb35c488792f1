"""Process an outbox: in one process at a time, receivers concurrently, the messages of one receiver in order.

Before a try the row says that it is being sent, and afterwards how it ended. A process that dies in between leaves it in doubt: it
is sent again after a while, with the same key, which receivers can recognise it by.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.alerts.senders.send_outcome import SEND_LIMIT_S, SendOutcome
from normstat.db.leader import try_lead
from normstat.db.session import make_engine
from normstat.db.turns import retry_wait_s
from normstat.jobs.background import keep_running, pause
from normstat.jobs.due_work import MESSAGES_S

Sessions = async_sessionmaker[AsyncSession]
CHECK_S: Final = 15.0
STOP_S: Final = 5.0
FIRST_PAUSE_S: Final = 10.0
MAX_PAUSE_S: Final = 900.0
# A message that is a day old is not worth an alarm.
GIVE_UP_AFTER: Final = timedelta(hours=24)
# No try takes as long as this, so the process that began it is gone.
DOUBT: Final = timedelta(seconds=2 * SEND_LIMIT_S)


@dataclass(slots=True)
class OutboxWorker(ABC):
    """Sends what is due. `doubt`: what is still being sent after this time was left behind by a process that died."""

    sessions: Sessions
    doubt: timedelta = field(default=DOUBT, kw_only=True)
    limit_s: float = field(default=SEND_LIMIT_S, kw_only=True)
    _running: dict[int, asyncio.Task[None]] = field(default_factory=dict, init=False)
    _is_stopping: bool = field(default=False, init=False)

    async def run_due(self) -> int:
        """Begin with every receiver with due messages that is not busy; return how many are busy now."""
        for task in self._running.values():
            if task.done():
                # Raises what the database raised.
                task.result()
        self._running = {receiver_id: task for receiver_id, task in self._running.items() if not task.done()}
        for receiver_id in await self._list_due(datetime.now(UTC)):
            if receiver_id not in self._running:
                self._running[receiver_id] = asyncio.create_task(
                    self._work_off(receiver_id), name=f"{type(self).__name__} {receiver_id}"
                )
        return len(self._running)

    async def deliver_all(self) -> None:
        """Send all that is due, and wait for it."""
        while await self.run_due():
            await asyncio.gather(*self._running.values())

    async def stop(self) -> None:
        """Send nothing more; tries in progress get a moment to finish, so that they are not in doubt."""
        self._is_stopping = True
        if self._running:
            await asyncio.wait(self._running.values(), timeout=STOP_S)
        for task in self._running.values():
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)
        self._running = {}

    @abstractmethod
    async def _list_due(self, now: datetime) -> Sequence[int]:
        """Return the ids of the receivers with due messages."""

    @abstractmethod
    async def _deliver_next(self, receiver_id: int) -> bool:
        """Send the next that is due for a receiver; return False when nothing is."""

    async def _work_off(self, receiver_id: int) -> None:
        while not self._is_stopping and await self._deliver_next(receiver_id):
            pass


def is_too_old(created_at: datetime, now: datetime) -> bool:
    """Return whether a message is given up because of its age."""
    return now - created_at >= GIVE_UP_AFTER


def pause_after(n_tries: int, outcome: SendOutcome) -> timedelta:
    """Return how long to wait after a failed try: longer each time, and at least what the receiver asked for."""
    return timedelta(seconds=max(retry_wait_s(n_tries, FIRST_PAUSE_S, MAX_PAUSE_S), outcome.retry_after_s or 0.0))


async def run_outbox(
    name: str,
    lock: int,
    database_url: str,
    make_worker: Callable[[], OutboxWorker],
    *,
    wake: asyncio.Event | None = None,
    poll_s: float = MESSAGES_S,
    every_s: float = CHECK_S,
) -> None:
    """Deliver, as long as no other process holds the lock, until cancelled: what is due every `poll_s`, and whenever `wake` is set.

    `every_s`: how often a process tries to become the one
    """

    async def lead() -> None:
        # A connection of its own: it is held for as long as the process lives.
        engine = make_engine(database_url, pool_size=1)
        try:
            async with try_lead(engine, lock) as leadership:
                if leadership is None:
                    return
                worker = make_worker()
                try:
                    while True:
                        if wake is not None:
                            wake.clear()
                        # Without its connection it has no lock, and another process may have begun.
                        await leadership.check()
                        # Busy receivers are waited for, whatever is due.
                        await pause(poll_s if not await worker.run_due() else min(poll_s, MESSAGES_S), wake)
                finally:
                    await worker.stop()
        finally:
            await engine.dispose()

    await keep_running(name, lead, every_s=every_s, max_pause_s=30.0)
