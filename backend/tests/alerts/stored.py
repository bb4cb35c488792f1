"""Stored channels, routes and episodes for tests."""

from datetime import datetime, timedelta
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import select, text, update

from normstat.alerts import channel_book
from normstat.alerts.alert_channel_rows import AlertChannelPut
from normstat.alerts.alert_route_rows import AlertRoutePut
from normstat.alerts.channel_settings import AnySettings, ChannelSettings
from normstat.alerts.route_settings import RouteSettings
from normstat.db.schema.alert_models import AlertMessageRow, AlertRow
from normstat.db.schema.watch_models import EpisodeRow
from normstat.db.session import open_write_session
from tests.alerts.receivers import HttpReceiver, MailReceiver
from tests.alerts.story import settings_of
from tests.databases import Sessions

URL = "https://normstat.example.org"


def to_settings(settings: dict[str, Any]) -> AnySettings:
    """Return the settings of a channel."""
    checked: AnySettings = TypeAdapter(ChannelSettings).validate_python(settings)
    return checked


def webhook(http: HttpReceiver, **changed: Any) -> dict[str, Any]:
    """Return the settings of a webhook."""
    return {"kind": "webhook", "url": f"{http.url}/hook", "authorization": None, "template": ""} | changed


def email(mail: MailReceiver, **changed: Any) -> dict[str, Any]:
    """Return the settings of a mail channel."""
    usual = {
        "kind": "email", "server": "127.0.0.1", "port": mail.port, "security": "none", "username": "", "password": None,
        "sender": "normstat@example.org", "recipients": ["oncall@example.org"],
    }  # fmt: skip
    return usual | changed


async def add_channel(sessions: Sessions, name: str, settings: dict[str, Any]) -> int:
    """Store a channel; return its id."""
    async with open_write_session(sessions) as session:
        body = AlertChannelPut(name=name, settings=to_settings(settings))
        return (await channel_book.create_channel(session, body, None, by="test")).id


async def add_route(sessions: Sessions, name: str, channels: list[int], match: dict[str, Any] | None = None, **changed: Any) -> int:
    """Store a route that does not wait, unless it is told to; return its id."""
    settings = RouteSettings.model_validate(settings_of(match, **({"wait_s": 0, "resolve_wait_s": 0} | changed), channels=channels))
    async with open_write_session(sessions) as session:
        return (await channel_book.create_route(session, AlertRoutePut(name=name, settings=settings), by="test")).id


async def add_host(sessions: Sessions, name: str, tags: list[str] | None = None) -> int:
    """Store a host; return its id."""
    async with open_write_session(sessions) as session:
        put = text("INSERT INTO hosts (name, tags) VALUES (:name, :tags) RETURNING id")
        return int((await session.execute(put, {"name": name, "tags": tags or []})).scalar_one())


async def add_episode(sessions: Sessions, host_id: int | None, start: datetime, **changed: Any) -> int:
    """Store an episode that lasts; return its id."""
    values = {
        "source": "mutex",
        "source_version": 1,
        "host_id": host_id,
        "instance": "1",
        "start_at": start,
        "last_at": start + timedelta(seconds=20),
        "colour": "red",
        "worst_at": start,
        "title": "Kernel mutexes",
        "sentence": "The CPU spins.",
        "action": "Find the lock: lockstat.",
        "saw": [{"name": "smtx", "value": 900.0, "unit": "1/s", "text": "900 /s", "at": start.isoformat()}],
    }
    async with open_write_session(sessions) as session:
        row = EpisodeRow(**(values | changed))
        session.add(row)
        await session.flush()
        return row.id


async def change_episode(sessions: Sessions, episode_id: int, **values: Any) -> None:
    """Change an episode."""
    async with open_write_session(sessions) as session:
        await session.execute(update(EpisodeRow).where(EpisodeRow.id == episode_id).values(values))


async def read_alerts(sessions: Sessions) -> list[AlertRow]:
    """Return all alerts."""
    async with sessions() as session:
        return list(await session.scalars(select(AlertRow).order_by(AlertRow.id)))


async def read_messages(sessions: Sessions) -> list[AlertMessageRow]:
    """Return all messages."""
    async with sessions() as session:
        return list(await session.scalars(select(AlertMessageRow).order_by(AlertMessageRow.id)))
