"""Passwords: argon2id, computed outside of the event loop."""

from functools import cache
from typing import Final

import anyio
import anyio.to_thread
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

# Each hash takes 64 MiB and most of a core for some 50 ms; a flood of logins queues up instead of taking the machine.
MAX_AT_ONCE: Final = 2
_HASHER: Final = PasswordHasher()


@cache
def _limiter() -> anyio.CapacityLimiter:
    return anyio.CapacityLimiter(MAX_AT_ONCE)


@cache
def _hash_of_nobody() -> str:
    return _HASHER.hash("the password of an account that does not exist")


async def hash_password(password: str) -> str:
    """The argon2id hash with its parameters and salt."""
    return await anyio.to_thread.run_sync(_HASHER.hash, password, limiter=_limiter())


async def verify_password(password_hash: str | None, password: str) -> bool:
    """Whether the password is the one; without a hash (no such account, no password) it takes as long, and is not."""
    return await anyio.to_thread.run_sync(_verify, password_hash, password, limiter=_limiter())


def _verify(password_hash: str | None, password: str) -> bool:
    try:
        _HASHER.verify(password_hash or _hash_of_nobody(), password)
    except (VerificationError, InvalidHashError):
        return False
    return password_hash is not None
