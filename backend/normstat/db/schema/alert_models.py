"""The tables of alerts: where messages go, which episodes become messages, the alerts, and the outbox of their messages."""

from datetime import datetime

from sqlalchemy import ForeignKey, Identity, Index, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from normstat.db.schema.models import NOW, Base


class AlertChannelRow(Base):
    """Where messages go: a mail server, an address on the web, a script. `secrets`: by name, never returned by the API.

    `held_until`: the receiver asked for a pause until then.
    """

    __tablename__ = "alert_channels"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    kind: Mapped[str]
    settings: Mapped[dict[str, object]] = mapped_column(JSONB)
    secrets: Mapped[dict[str, object]] = mapped_column(JSONB)
    is_enabled: Mapped[bool]
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)
    updated_by: Mapped[str]
    updated_at: Mapped[datetime] = mapped_column(server_default=NOW)
    held_until: Mapped[datetime | None]


class AlertRouteRow(Base):
    """Which episodes become messages, to which channels, and when. Routes are tried by `position`."""

    __tablename__ = "alert_routes"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    position: Mapped[int]
    is_enabled: Mapped[bool]
    settings: Mapped[dict[str, object]] = mapped_column(JSONB)
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)
    updated_by: Mapped[str]
    updated_at: Mapped[datetime] = mapped_column(server_default=NOW)


class AlertRow(Base):
    """Episodes that belong together, as grouped by a route. `route` is its name; `route_id` null: it was deleted.

    `told`: the pairs of host and rule that a message named; `level`: escalations that went out; `n_messages`: the number of the
    last message; `calm_since`: since when none of its episodes lasts; `silence_key`: what its silence link is signed with.
    """

    __tablename__ = "alerts"
    __table_args__ = (
        Index("ix_alerts__open", "route_id", postgresql_where=text("state IN ('waiting', 'firing')")),
        Index("ix_alerts__opened_at", "opened_at"),
    )
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    route_id: Mapped[int | None] = mapped_column(ForeignKey("alert_routes.id", ondelete="SET NULL"))
    route: Mapped[str]
    host_id: Mapped[int | None] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"))
    state: Mapped[str]
    opened_at: Mapped[datetime]
    start_at: Mapped[datetime]
    due_at: Mapped[datetime]
    fired_at: Mapped[datetime | None]
    told_at: Mapped[datetime | None]
    renewed_at: Mapped[datetime | None]
    told_colour: Mapped[str] = mapped_column(server_default="")
    told: Mapped[list[list[str]]] = mapped_column(JSONB, server_default=text("'[]'::jsonb"))
    level: Mapped[int] = mapped_column(server_default="0")
    n_messages: Mapped[int] = mapped_column(server_default="0")
    calm_since: Mapped[datetime | None]
    resolved_at: Mapped[datetime | None]
    acknowledged_at: Mapped[datetime | None]
    acknowledged_by: Mapped[str] = mapped_column(server_default="")
    note: Mapped[str] = mapped_column(server_default="")
    silence_key: Mapped[bytes]
    silenced_at: Mapped[datetime | None]


class AlertEpisodeRow(Base):
    """An episode of an alert. Of each route, an episode belongs to one alert; `route_id` outlives the route."""

    __tablename__ = "alert_episodes"
    __table_args__ = (UniqueConstraint("route_id", "episode_id"),)
    alert_id: Mapped[int] = mapped_column(ForeignKey("alerts.id", ondelete="CASCADE"), primary_key=True)
    episode_id: Mapped[int] = mapped_column(ForeignKey("episodes.id", ondelete="CASCADE"), primary_key=True, index=True)
    route_id: Mapped[int]


class AlertMessageRow(Base):
    """A message of an alert to a channel: the outbox. It is written with the change of the alert that it tells.

    `key`: the same in every try, so that a receiver may recognise it; `state`: queued, sending, sent, failed or dropped;
    `tried_at`: when the last try began; `answer`: what the receiver said last, or why it was not reached.
    """

    __tablename__ = "alert_messages"
    __table_args__ = (
        UniqueConstraint("alert_id", "number", "channel_id"),
        Index(
            "ix_alert_messages__unsent", "channel_id", "alert_id", "number", postgresql_where=text("state IN ('queued', 'sending')")
        ),
    )
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    alert_id: Mapped[int] = mapped_column(ForeignKey("alerts.id", ondelete="CASCADE"))
    channel_id: Mapped[int | None] = mapped_column(ForeignKey("alert_channels.id", ondelete="SET NULL"), index=True)
    channel: Mapped[str]
    kind: Mapped[str]
    number: Mapped[int]
    key: Mapped[str] = mapped_column(unique=True)
    content: Mapped[dict[str, object]] = mapped_column(JSONB)
    state: Mapped[str]
    n_tries: Mapped[int] = mapped_column(server_default="0")
    next_try_at: Mapped[datetime]
    tried_at: Mapped[datetime | None]
    sent_at: Mapped[datetime | None]
    answer: Mapped[str] = mapped_column(server_default="")
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)
