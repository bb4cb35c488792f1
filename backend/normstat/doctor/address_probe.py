"""Asks the server at its public URL for its health, as a browser or an agent would."""

import contextlib
import http.client
import json
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, urlsplit

TIMEOUT_S: Final = 5.0
HEALTH: Final = "/api/v1/health"
MAX_BODY: Final = 10_000


@dataclass(frozen=True, slots=True)
class AddressFacts:
    """What answers at a URL. Missing: `status` is None where nothing answers, for the reason `failure`; `version` where it is not
    normstat; `certificate_ends` without TLS, or where the certificate is not trusted.
    """

    url: str
    status: int | None
    version: str | None
    failure: str
    certificate_ends: datetime | None


def probe_address(public_url: str, extra_authority: Path | None = None) -> AddressFacts:
    """Return what answers at the URL; certificates in `extra_authority` are trusted, too."""
    parts = urlsplit(public_url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return AddressFacts(public_url, None, None, "it is not a URL that begins with http:// or https://", None)
    try:
        return _ask(public_url, parts, extra_authority)
    except ssl.SSLCertVerificationError as error:
        return AddressFacts(public_url, None, None, f"its certificate is not trusted: {error.verify_message}", None)
    except ssl.SSLError as error:
        return AddressFacts(public_url, None, None, f"no TLS there: {error.reason or error}", None)
    except (OSError, http.client.HTTPException, ValueError) as error:
        cause = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return AddressFacts(public_url, None, None, cause, None)


def _ask(public_url: str, parts: SplitResult, extra_authority: Path | None) -> AddressFacts:
    assert parts.hostname is not None
    connection: http.client.HTTPConnection
    if parts.scheme == "https":
        context = ssl.create_default_context()
        if extra_authority is not None:
            # Ignore one that this account cannot read, or that is not a certificate.
            with contextlib.suppress(OSError):
                context.load_verify_locations(extra_authority)
        connection = http.client.HTTPSConnection(parts.hostname, parts.port, timeout=TIMEOUT_S, context=context)
    else:
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=TIMEOUT_S)
    with contextlib.closing(connection):
        connection.connect()
        ends = _certificate_end(connection)
        connection.request("GET", parts.path.rstrip("/") + HEALTH)
        answer = connection.getresponse()
        body = answer.read(MAX_BODY)
    version = None
    with contextlib.suppress(ValueError, AttributeError):
        version = json.loads(body).get("version")
    return AddressFacts(public_url, answer.status, version if isinstance(version, str) else None, "", ends)


def _certificate_end(connection: http.client.HTTPConnection) -> datetime | None:
    if not isinstance(connection.sock, ssl.SSLSocket):
        return None
    ends = (connection.sock.getpeercert() or {}).get("notAfter")
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(ends), UTC) if isinstance(ends, str) else None
