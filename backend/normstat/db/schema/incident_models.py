"""The tables of what is remembered of incidents, of how changes were judged, and of when normal changed."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Identity, Index, Integer, SmallInteger, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from normstat.db.schema.models import NOW, Base


class PastIncidentRow(Base):
    """An incident as it is remembered: a saved comparison, an episode or an exclusion, with its signature.

    `signature`: signed effects by the meaning of the field; empty where nothing could be compared. `computed_at` null: not compared
    yet. With a `cause`, which a person named, it is a pattern; it stays when what it was made of is deleted. `origin`: the bundle
    that it came with, else empty.
    """

    __tablename__ = "past_incidents"
    __table_args__ = (
        Index("uq_past_incidents__comparison_id", "comparison_id", unique=True),
        Index("uq_past_incidents__episode_id", "episode_id", unique=True),
        Index("uq_past_incidents__exclusion_id", "exclusion_id", unique=True),
        Index("ix_past_incidents__start_at", "start_at"),
        Index("ix_past_incidents__pending", "id", postgresql_where=text("computed_at IS NULL")),
    )
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    hosts: Mapped[list[str]] = mapped_column(JSONB)
    start_at: Mapped[datetime]
    end_at: Mapped[datetime]
    title: Mapped[str]
    sentence: Mapped[str] = mapped_column(server_default="")
    signature: Mapped[dict[str, float]] = mapped_column(JSONB, server_default=text("'{}'::jsonb"))
    computed_at: Mapped[datetime | None]
    n_tries: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    cause: Mapped[str] = mapped_column(server_default="")
    remedy: Mapped[str] = mapped_column(server_default="")
    named_by: Mapped[str] = mapped_column(server_default="")
    named_at: Mapped[datetime | None]
    is_off: Mapped[bool] = mapped_column(server_default=text("false"))
    origin: Mapped[str] = mapped_column(server_default="")
    comparison_id: Mapped[int | None] = mapped_column(ForeignKey("comparisons.id", ondelete="SET NULL"))
    episode_id: Mapped[int | None] = mapped_column(ForeignKey("episodes.id", ondelete="SET NULL"))
    exclusion_id: Mapped[int | None] = mapped_column(ForeignKey("exclusions.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)


class ChangeVerdictRow(Base):
    """How a change of a host was judged. Without an event it follows from the host's facts, seen to have changed at `at`.

    `judged_at` null: a server is at it, or died over it. `changes`: what got worse or better, the strongest first.
    """

    __tablename__ = "change_verdicts"
    __table_args__ = (
        Index(
            "uq_change_verdicts__event_id_host_id",
            "event_id",
            "host_id",
            unique=True,
            postgresql_where=text("event_id IS NOT NULL"),
        ),
        Index("uq_change_verdicts__host_id_at", "host_id", "at", unique=True, postgresql_where=text("event_id IS NULL")),
    )
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    event_id: Mapped[int | None] = mapped_column(ForeignKey("events.id", ondelete="CASCADE"))
    host_id: Mapped[int] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"), index=True)
    at: Mapped[datetime]
    verdict: Mapped[str] = mapped_column(server_default="")
    sentence: Mapped[str] = mapped_column(server_default="")
    changes: Mapped[list[dict[str, object]]] = mapped_column(JSONB, server_default=text("'[]'::jsonb"))
    before_start_at: Mapped[datetime]
    before_end_at: Mapped[datetime]
    after_start_at: Mapped[datetime]
    after_end_at: Mapped[datetime]
    baseline_id: Mapped[int | None] = mapped_column(ForeignKey("baselines.id", ondelete="SET NULL"))
    n_tries: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    judged_at: Mapped[datetime | None]


class NormalChangeRow(Base):
    """When normal changed on a host. `series`: the surest of the `n_series` that changed, of `n_compared` that were looked at."""

    __tablename__ = "normal_changes"
    __table_args__ = (Index("ix_normal_changes__host_id_at", "host_id", "at"),)
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    host_id: Mapped[int] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"))
    at: Mapped[datetime]
    n_series: Mapped[int] = mapped_column(Integer)
    n_compared: Mapped[int] = mapped_column(Integer)
    sentence: Mapped[str]
    series: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
