"""How many expensive answers are made at once: who comes beyond waits for a while, and is then asked to come again."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from normstat.errors import Overloaded

RETRY_AFTER_S: Final = 10
# Requests that wait for a place, for each place there is; each costs a connection and some kilobytes.
MAX_WAITING: Final = 16


class Slots:
    """Places for answers of one kind in one process.

    One account never holds all of them, so that a single user cannot keep all others out.
    """

    def __init__(self, what: str, *, n_at_once: int, max_wait_s: float) -> None:
        self._what = what
        self._n_at_once = n_at_once
        self._n_of_each = max(1, n_at_once - 1)
        self._max_wait_s = max_wait_s
        self._held: Counter[str] = Counter()
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []

    @property
    def n_held(self) -> int:
        """Places that are taken."""
        return self._held.total()

    @asynccontextmanager
    async def hold(self, account: str) -> AsyncIterator[None]:
        """Hold a place as long as the block runs.

        Raises: Overloaded when none becomes free in time, or too many wait already
        """
        await self._take(account)
        try:
            yield
        finally:
            self._give_back(account)

    async def _take(self, account: str) -> None:
        if self._has_room(account):
            self._held[account] += 1
            return
        if len(self._waiting) >= MAX_WAITING * self._n_at_once:
            raise self._refusal(account)
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((account, turn))
        is_given = False
        try:
            async with asyncio.timeout(self._max_wait_s):
                await turn
            is_given = True
        except TimeoutError:
            raise self._refusal(account) from None
        finally:
            if not is_given:
                self._leave_queue(account, turn)

    def _leave_queue(self, account: str, turn: asyncio.Future[None]) -> None:
        if turn.done() and not turn.cancelled():
            # The place came at the last moment; nobody takes it now.
            self._give_back(account)
        else:
            self._waiting.remove((account, turn))

    def _give_back(self, account: str) -> None:
        self._held[account] -= 1
        if not self._held[account]:
            del self._held[account]
        self._call_next()

    def _has_room(self, account: str) -> bool:
        return self.n_held < self._n_at_once and self._held[account] < self._n_of_each

    def _call_next(self) -> None:
        """Give free places to those who wait, first come, first served; an account at its limit is passed over."""
        for waiting in list(self._waiting):
            account, turn = waiting
            if self._has_room(account):
                self._waiting.remove(waiting)
                self._held[account] += 1
                turn.set_result(None)

    def _refusal(self, account: str) -> Overloaded:
        return Overloaded(
            f"{self._what.capitalize()} running: {self.n_held} ({self._held[account]} of them yours). At most {self._n_at_once} run"
            f" at once, {self._n_of_each} of one account. Try again in a moment",
            {"retry_after_s": RETRY_AFTER_S, "max_at_once": self._n_at_once},
        )
