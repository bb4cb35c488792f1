"""The link in a message that mutes its rules and hosts. Opening it changes nothing: programs that scan mails open links, too."""

import hashlib
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.alerts.alert_rows import list_alert_places, note_silenced, require_alert
from normstat.db.schema.alert_models import AlertRow
from normstat.errors import Conflict, NotFound
from normstat.runtime.field_docs import Documented
from normstat.watch.watch_mute_rows import WatchMuteCreate, WatchMuteRecord, create_watch_mute

log = structlog.get_logger()

# After the alert is over, for people who read the message late.
VALID_AFTER_END: Final = timedelta(hours=24)
# Longer mutes are set on the page, with a login.
VALID: Final = timedelta(days=7)
MAX_MUTES: Final = 50
_PURPOSE: Final = b"normstat silence "


@dataclass(frozen=True, slots=True)
class SilencePlace(Documented):
    """A rule on a host that a silence link would mute."""

    host: str | None
    """Null: on this server, or on all hosts where the link would mute too many."""
    source: str


@dataclass(frozen=True, slots=True)
class SilenceOffer(Documented):
    """What a silence link would mute; nothing is muted yet."""

    alert_id: int
    route: str
    state: str
    places: list[SilencePlace]
    is_used: bool
    """Whether the link was used already: it works once."""


def sign_token(alert_id: int, silence_key: bytes) -> str:
    """Return the token of an alert's silence link."""
    return f"{alert_id}.{urlsafe_b64encode(_sign(alert_id, silence_key)).decode().rstrip('=')}"


def silence_link(public_url: str, token: str) -> str:
    """Return the link of a token. Browsers send no fragment to the server, so it is in no log."""
    return f"{public_url.rstrip('/')}/silence#token={token}"


async def read_offer(session: AsyncSession, token: str) -> SilenceOffer:
    """Return what a link would mute.

    Raises: NotFound for a token that is not valid, or not any more
    """
    return await _to_offer(session, await _require(session, token, is_locked=False))


async def use_link(session: AsyncSession, token: str, *, minutes: int, reason: str) -> list[WatchMuteRecord]:
    """Mute what an alert is about from now on, and return the mutes. A link works once.

    Raises: NotFound for a token that is not valid, or not any more; Conflict when it was used
    """
    row = await _require(session, token, is_locked=True)
    offer = await _to_offer(session, row)
    if offer.is_used:
        raise Conflict(
            "This link was used already; log in and mute it on the page Incidents, or use the link of a newer alert",
            {"alert": row.id},
        )
    await note_silenced(session, row)
    log.info("alert_silenced", alert=row.id, minutes=minutes, n_mutes=len(offer.places))
    start = datetime.now(UTC)
    by = f"silence link of alert {row.id}"
    end = start + timedelta(minutes=minutes)
    return [
        await create_watch_mute(
            session, WatchMuteCreate(host=place.host, source=place.source, start=start, end=end, reason=reason), by=by
        )
        for place in offer.places
    ]


async def _to_offer(session: AsyncSession, row: AlertRow) -> SilenceOffer:
    places = [SilencePlace(host, source) for host, source in await list_alert_places(session, row.id)]
    if len(places) > MAX_MUTES:
        places = [SilencePlace(None, source) for source in dict.fromkeys(place.source for place in places)]
    return SilenceOffer(row.id, row.route, row.state, places, row.silenced_at is not None)


async def _require(session: AsyncSession, token: str, *, is_locked: bool) -> AlertRow:
    """Return the alert of a valid token, optionally locked until the transaction ends."""
    number, _, signature = token.partition(".")
    unknown = NotFound("This silence link is not valid; log in and mute it on the page Incidents")
    if not (number.isascii() and number.isdigit() and len(number) <= 18):
        raise unknown
    try:
        row = await require_alert(session, int(number), is_locked=is_locked)
    except NotFound:
        raise unknown from None
    try:
        given = urlsafe_b64decode(signature + "=" * (-len(signature) % 4))
    except ValueError:
        raise unknown from None
    if not hmac.compare_digest(given, _sign(row.id, row.silence_key)):
        raise unknown
    now = datetime.now(UTC)
    is_over = row.resolved_at is not None and now > row.resolved_at + VALID_AFTER_END
    if is_over or now > row.opened_at + VALID:
        raise NotFound("This silence link has expired; log in and mute it on the page Incidents")
    return row


def _sign(alert_id: int, silence_key: bytes) -> bytes:
    return hmac.new(silence_key, _PURPOSE + str(alert_id).encode(), hashlib.sha256).digest()
