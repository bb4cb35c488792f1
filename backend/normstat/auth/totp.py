"""Codes of authenticator apps (RFC 6238: SHA-1, 30 s, 6 digits), how their secrets are stored, and recovery codes.

>>> code_of(b"12345678901234567890", 59 // PERIOD_S)  # RFC 6238, appendix B
'287082'
"""

import base64
import hashlib
import hmac
import os
import secrets
from typing import Final
from urllib.parse import quote

import segno
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from normstat.auth.secret_tokens import hash_token
from normstat.errors import NormstatError

PERIOD_S: Final = 30
N_DIGITS: Final = 6
# A clock may be wrong by one period, either way.
DRIFT_STEPS: Final = 1
# As long as the hash, as RFC 4226 recommends.
SECRET_BYTES: Final = 20
N_RECOVERY_CODES: Final = 10
# 80 random bits each: too many to guess, so a quick hash is enough.
RECOVERY_BYTES: Final = 10
PLAIN: Final = b"\x00"
SEALED: Final = b"\x01"
NONCE_BYTES: Final = 12


def new_totp_secret() -> bytes:
    """Return a new random secret."""
    return secrets.token_bytes(SECRET_BYTES)


def code_of(secret: bytes, step: int) -> str:
    """Return the code of a period of 30 s, numbered since 1970."""
    digest = hmac.digest(secret, step.to_bytes(8, "big"), "sha1")
    offset = digest[-1] & 15
    number = int.from_bytes(digest[offset : offset + 4], "big") & 0x7FFFFFFF
    return f"{number % 10**N_DIGITS:0{N_DIGITS}}"


def matching_step(secret: bytes, code: str, *, now_s: float, last_step: int) -> int | None:
    """Return the period whose code this is. Missing: None where it is wrong, too old, too new, or not after `last_step`."""
    typed = plain_code(code).encode()
    now = int(now_s // PERIOD_S)
    found = None
    # All of them are compared in any case, so that the time reveals nothing.
    for step in range(now - DRIFT_STEPS, now + DRIFT_STEPS + 1):
        if hmac.compare_digest(code_of(secret, max(0, step)).encode(), typed) and step > last_step:
            found = step
    return found


def plain_code(code: str) -> str:
    """Return a code without the blanks and dashes that people copy or type."""
    return "".join(sign for sign in code if sign.isalnum()).lower()


def seal_secret(secret: bytes, key: str | None, user_id: int) -> bytes:
    """Return the secret as it is stored: encrypted with AES-256-GCM for this account, or as it is where there is no key."""
    if key is None:
        return PLAIN + secret
    nonce = os.urandom(NONCE_BYTES)
    return SEALED + nonce + AESGCM(_cipher_key(key)).encrypt(nonce, secret, str(user_id).encode())


def open_secret(stored: bytes, key: str | None, user_id: int) -> bytes:
    """Return the secret from its stored form.

    Raises: NormstatError when the key is missing or another one
    """
    if stored[:1] == PLAIN:
        return stored[1:]
    nonce, sealed = stored[1 : 1 + NONCE_BYTES], stored[1 + NONCE_BYTES :]
    try:
        if key is not None:
            return AESGCM(_cipher_key(key)).decrypt(nonce, sealed, str(user_id).encode())
    except InvalidTag:
        pass
    raise NormstatError(
        "The account's second factor cannot be read: NORMSTAT_SECRET_KEY is missing or has changed."
        " A recovery code works; `normstat second-factor reset` removes the second factor"
    )


def _cipher_key(key: str) -> bytes:
    return hashlib.sha256(b"normstat second factors\0" + key.encode()).digest()


def provisioning_uri(secret: bytes, *, account: str, server: str) -> str:
    """Return the URI in the QR code for an authenticator app."""
    issuer = f"normstat {server}" if server else "normstat"
    label = f"{quote(issuer, safe='')}:{quote(account, safe='')}"
    return f"otpauth://totp/{label}?secret={base32(secret)}&issuer={quote(issuer, safe='')}&algorithm=SHA1&digits=6&period=30"


def base32(secret: bytes) -> str:
    """Return the secret as people type it into an app that cannot read the QR code."""
    return base64.b32encode(secret).decode().rstrip("=")


def draw_qr_code(text: str) -> str:
    """Return the QR code as an SVG document, black on white."""
    drawn: str = segno.make(text, error="m", micro=False).svg_inline(scale=4, border=4, light="#fff", dark="#000")
    # As a document of its own, which an <img> shows.
    return drawn if "xmlns=" in drawn else drawn.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)


def new_recovery_codes() -> list[str]:
    """Return new codes, in groups of four signs."""
    codes = [base64.b32encode(secrets.token_bytes(RECOVERY_BYTES)).decode().lower() for _ in range(N_RECOVERY_CODES)]
    return ["-".join(code[start : start + 4] for start in range(0, len(code), 4)) for code in codes]


def hash_recovery_code(code: str) -> bytes:
    """Return the stored hash of a recovery code; (32,) bytes."""
    return hash_token(plain_code(code))
