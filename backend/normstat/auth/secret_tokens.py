"""Secrets that are made here: 256 random bits, of which the database only ever sees the SHA-256.

They are too long to guess, so a slow hash would add nothing; passwords, which people choose, are in passwords.py.
"""

import hashlib
import secrets
from dataclasses import dataclass
from typing import Final

N_BYTES: Final = 32
# A prefix tells a person, and a scanner for leaked secrets, what a found string opens.
API_TOKEN_PREFIX: Final = "nst_"  # noqa: S105
AGENT_TOKEN_PREFIX: Final = "nsa_"  # noqa: S105


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """A new secret and what is stored of it; it has no repr, so that it ends up in no log."""

    token: str
    token_hash: bytes


def new_secret(prefix: str = "") -> Secret:
    """Return a secret that nobody had before."""
    return to_secret(prefix + secrets.token_urlsafe(N_BYTES))


def to_secret(token: str) -> Secret:
    """Return a secret that was made before."""
    return Secret(token, hash_token(token))


def hash_token(token: str) -> bytes:
    """Return what the database keeps of a token; (32,) bytes."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
