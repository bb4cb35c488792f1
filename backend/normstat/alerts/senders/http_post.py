"""POST JSON to a receiver: no redirects, no proxy of the environment, certificates always checked."""

import http.client
import json
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import urlsplit

from normstat import __version__
from normstat.alerts.senders.dialling import dial
from normstat.alerts.senders.send_outcome import Cutter, SendOutcome, describe_failure, shorten_answer

READ_LIMIT_S: Final = 20.0
MAX_READ: Final = 4096
MAX_RETRY_AFTER_S: Final = 3600.0
# The request may succeed later, unchanged.
TEMPORARY: Final = frozenset({408, 425, 429})


def post_json(url: str, body: object, headers: Mapping[str, str], cutter: Cutter) -> SendOutcome:
    """Return how a POST ended. Raises: OSError, when the receiver was not reached or stopped answering"""
    return post_bytes(url, json.dumps(body, ensure_ascii=False).encode(), headers, cutter)


def post_bytes(url: str, body: bytes, headers: Mapping[str, str], cutter: Cutter) -> SendOutcome:
    """Return how a POST of JSON ended, sent byte for byte.

    Raises: OSError, when the receiver was not reached or stopped answering
    """
    parts = urlsplit(url)
    assert parts.hostname is not None
    port = parts.port or (443 if parts.scheme == "https" else 80)
    connection = http.client.HTTPConnection(parts.hostname, port, timeout=READ_LIMIT_S)
    connected = dial(parts.hostname, port)
    try:
        cutter.hold(connected)
        if parts.scheme == "https":
            connected = ssl.create_default_context().wrap_socket(connected, server_hostname=parts.hostname)
            cutter.hold(connected)
        connected.settimeout(READ_LIMIT_S)
        # A connected socket: http.client does not look the name up again.
        connection.sock = connected
        target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        sent = {"Content-Type": "application/json", "User-Agent": f"normstat/{__version__}", "Connection": "close", **headers}
        connection.request("POST", target, body, sent)
        response = connection.getresponse()
        text = response.read(MAX_READ).decode("utf-8", "replace")
        return judge_answer(response.status, response.reason, text, response.getheader("Retry-After"))
    except http.client.HTTPException as error:
        return SendOutcome(is_sent=False, answer=shorten_answer(f"not an answer in HTTP: {type(error).__name__} {error}"))
    except ssl.SSLCertVerificationError as error:
        return SendOutcome(is_sent=False, answer=shorten_answer(f"the certificate is not trusted: {error.verify_message}"))
    except OSError as error:
        return SendOutcome(is_sent=False, answer=describe_failure(error))
    finally:
        connected.close()


def judge_answer(status: int, reason: str, text: str, retry_after: str | None) -> SendOutcome:
    """Return what an answer means. A redirect is no success: it would take the secrets elsewhere."""
    answer = shorten_answer(f"{status} {reason}: {text}" if text.strip() else f"{status} {reason}")
    if 200 <= status < 300:
        return SendOutcome(is_sent=True, answer=answer)
    is_temporary = status >= 500 or status in TEMPORARY
    pause_s = parse_retry_after(retry_after or _find_pause(text), datetime.now(UTC)) if is_temporary else None
    return SendOutcome(is_sent=False, answer=answer, is_final=not is_temporary, retry_after_s=pause_s)


def _find_pause(text: str) -> str | None:
    """Return the seconds that Telegram asks for in the body of its answer. Missing: None in all other bodies"""
    try:
        return str(json.loads(text)["parameters"]["retry_after"])
    except (ValueError, LookupError, TypeError, RecursionError):
        return None


def parse_retry_after(value: str | None, now: datetime) -> float | None:
    """Return the pause in seconds that a receiver asked for, at most an hour. Missing: None, also for what is no pause

    >>> parse_retry_after("30", datetime(2026, 11, 23, tzinfo=UTC))
    30.0
    >>> parse_retry_after("Mon, 23 Nov 2026 00:02:00 GMT", datetime(2026, 11, 23, tzinfo=UTC))
    120.0
    """
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:9]), MAX_RETRY_AFTER_S)
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return min(max((at - now).total_seconds(), 0.0), MAX_RETRY_AFTER_S)
