"""Generated secrets: 256 random bits, of which the database stores only the SHA-256.

They are too long to guess, so a slow hash would add nothing; passwords, which people choose, are in passwords.py.
"""

import hashlib
import secrets
from dataclasses import dataclass
from typing import Final

N_BYTES: Final = 32
# A prefix shows people, and scanners for leaked secrets, what a secret gives access to.
API_TOKEN_PREFIX: Final = "nst_"  # noqa: S105
AGENT_TOKEN_PREFIX: Final = "nsa_"  # noqa: S105
JOIN_TOKEN_PREFIX: Final = "nsj_"  # noqa: S105
SHARE_LINK_PREFIX: Final = "nss_"


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """A new secret and its stored hash; it has no repr, so that it does not end up in a log."""

    token: str
    token_hash: bytes


def new_secret(prefix: str = "") -> Secret:
    """Return a new random secret."""
    return to_secret(prefix + secrets.token_urlsafe(N_BYTES))


def to_secret(token: str) -> Secret:
    """Return an existing token as a secret."""
    return Secret(token, hash_token(token))


def hash_token(token: str) -> bytes:
    """Return the stored hash of a token; (32,) bytes."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
