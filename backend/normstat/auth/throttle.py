"""Slows down password guessing without giving an attacker a way to lock the owner out.

Counting wrong attempts alone is a dilemma: by address, a botnet guesses freely; by account, any visitor can lock an owner out by
guessing
wrong. So two kinds of visitors are distinguished (as OWASP's device cookies do):

- A *stranger* is counted in three ways. By name and address: five attempts, then waits of 1, 2, 4, ... seconds up to a minute. By
  address for all names (made-up ones too): 50 attempts, then one per second. By name for all addresses: 20 attempts, then one per
  30 seconds, which is below 3,000 guesses a day however many machines guess. The second and third refill steadily and never add up
  to long waits: an attack with made-up names stops affecting its address one second after it ends.
- A *known* visitor shows something that only a login to this very account gives: the cookie that the browser kept from it, or a
  session. Such a visitor is counted alone, by the first rule. Other clients' attempts do not matter, even from the same address. A
  thief of the cookie is still slowed down, and a new password of the account makes the cookie worthless.

An address from which the account was logged in to is in between: it is exempt from the third rule, so an attack from elsewhere
does not affect a new browser at the usual desk. What remains is an owner with a new browser at a new place during the
attack; a one-time link is the way in. Links are 256 random bits and cannot be guessed: a valid one is never refused, and wrong ones
are counted so that a flood of them costs little.

Attempts are counted before the password is hashed, so that concurrent ones do not slip through together, and a refused attempt
costs no hashing. All processes of all servers count in one table of the database, by its clock (auth/attempt_rows.py): none of them
allows more than one alone would, and a process that cannot reach the table refuses logins. The table holds hashes, is bounded (the
longest quiet rows go first), and is empty after a crash of the database.
"""

import hashlib
import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.auth import attempt_rows
from normstat.auth.attempt_rows import AttemptRules, CountedKey
from normstat.auth.client_address import group_of
from normstat.errors import TooManyRequests

FREE_TRIES: Final = 5
MAX_WAIT_S: Final = 60.0
# A name at an address is forgotten after it was quiet for this long.
FORGET_AFTER_S: Final = 3600.0
# One address may be a whole company behind a proxy.
FREE_TRIES_OF_ADDRESS: Final = 50
ADDRESS_PAUSE_S: Final = 1.0
FREE_TRIES_OF_NAME: Final = 20
NAME_PAUSE_S: Final = 30.0
# Maximum number of rows of each kind, and attempts of a process after which it deletes others.
MAX_KEYS: Final = 10_000
TIDY_EVERY: Final = 200
RULES: Final = AttemptRules(max_wait_s=MAX_WAIT_S, forget_after_s=FORGET_AFTER_S)
# Enough that no two keys are the same by chance.
KEY_BYTES: Final = 16

Sessions = async_sessionmaker[AsyncSession]


def _growing(kind: str, *parts: str | bytes) -> CountedKey:
    """Return a key under which a number of attempts is free, then each wait is twice as long as the one before."""
    return CountedKey(kind, _hash(parts), FREE_TRIES, None)


def _steady(kind: str, part: str, n_free: int, pause_s: float) -> CountedKey:
    """Return a key under which a number of attempts is free, then one more is allowed after each pause."""
    return CountedKey(kind, _hash((part,)), n_free, pause_s)


def _name_key(name: str) -> CountedKey:
    return _steady("name", name, FREE_TRIES_OF_NAME, NAME_PAUSE_S)


def _hash(parts: Sequence[str | bytes]) -> bytes:
    # People type passwords into the field of the name, so the table has no name as it was typed.
    texts = [part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass") for part in parts]
    return hashlib.sha256(b"".join(len(text).to_bytes(4, "big") + text for text in texts)).digest()[:KEY_BYTES]


class Attempt:
    """An attempt that was allowed and counted."""

    def __init__(self, sessions: Sessions, keys: Sequence[CountedKey]) -> None:
        self._sessions = sessions
        self._keys = keys

    async def succeed(self) -> None:
        """Reset the counts: the secret was right. Other people's wrong attempts share the keys that only take this one back."""
        await attempt_rows.settle_attempt(self._sessions, self._keys, is_right=True)

    async def withdraw(self) -> None:
        """Take back this attempt: it was not evaluated."""
        await attempt_rows.settle_attempt(self._sessions, self._keys, is_right=False)


class Throttle:
    """Counts attempts together with all other processes on the database."""

    def __init__(self, sessions: Sessions, clock: Callable[[], float] | None = None, *, max_keys: int = MAX_KEYS) -> None:
        """`clock`: seconds since 1970, for tests; None is the clock of the database."""
        self._sessions = sessions
        self._clock = clock
        self._max_keys = max_keys
        self._n_counted = 0

    async def attempt(self, name: str, address: str, *, is_known_address: bool = False) -> Attempt:
        """Count a stranger's attempt.

        Raises: TooManyRequests when it comes too early; it is not counted then
        """
        group = group_of(address)
        keys = [_growing("pair", name, group), _steady("address", group, FREE_TRIES_OF_ADDRESS, ADDRESS_PAUSE_S)]
        if not is_known_address:
            keys.append(_name_key(name))
        return await self._count(keys)

    async def attempt_known(self, name: str, proof: bytes) -> Attempt:
        """Count an attempt of a visitor who has proved an earlier login to this account.

        Raises: TooManyRequests when it comes too early; it is not counted then
        """
        return await self._count([_growing("known", name, proof)])

    async def is_name_throttled(self, name: str) -> bool:
        """Return whether a stranger's attempt would have to wait because of the name alone."""
        return await attempt_rows.read_wait_s(self._sessions, [_name_key(name)], RULES, self._now()) > 0

    async def count_wrong_link(self, address: str) -> None:
        """Count an invalid link.

        Raises: TooManyRequests when there were many
        """
        await self._count([_steady("link", group_of(address), FREE_TRIES_OF_ADDRESS, ADDRESS_PAUSE_S)])

    async def count_wrong_join_token(self, address: str) -> None:
        """Count an unknown join token.

        Raises: TooManyRequests when there were many
        """
        await self._count([_steady("join", group_of(address), FREE_TRIES_OF_ADDRESS, ADDRESS_PAUSE_S)])

    async def count_wrong_share_link(self, address: str) -> None:
        """Count an invalid share link.

        Raises: TooManyRequests when there were many
        """
        await self._count([_steady("share", group_of(address), FREE_TRIES_OF_ADDRESS, ADDRESS_PAUSE_S)])

    async def count_opened_share_link(self, link_id: int) -> None:
        """Count that a share link was opened: each time a page is drawn.

        Raises: TooManyRequests when it was opened often
        """
        await self._count([_steady("shared", str(link_id), FREE_TRIES_OF_ADDRESS, ADDRESS_PAUSE_S)])

    async def attempt_provider(self, address: str) -> Attempt:
        """Count a login that comes back from the login provider.

        Raises: TooManyRequests when there were many that failed
        """
        return await self._count([_steady("provider", group_of(address), FREE_TRIES_OF_ADDRESS, ADDRESS_PAUSE_S)])

    async def _count(self, keys: Sequence[CountedKey]) -> Attempt:
        wait_s = await attempt_rows.count_attempt(self._sessions, keys, RULES, self._now())
        if wait_s > 0:
            retry_after_s = math.ceil(wait_s)
            raise TooManyRequests(f"Too many failed attempts; try again in {retry_after_s} s", {"retry_after_s": retry_after_s})
        self._n_counted += 1
        if self._n_counted % TIDY_EVERY == 0:
            await attempt_rows.delete_idle_attempts(self._sessions, RULES, max_keys=self._max_keys, at=self._now())
        return Attempt(self._sessions, keys)

    def _now(self) -> datetime | None:
        return None if self._clock is None else datetime.fromtimestamp(self._clock(), UTC)


async def delete_old_attempts(sessions: Sessions) -> None:
    """Delete the counts that no longer have an effect. A periodic job."""
    await attempt_rows.delete_idle_attempts(sessions, RULES, max_keys=MAX_KEYS, at=None)
