"""The tables of events."""

from datetime import datetime

from sqlalchemy import ForeignKey, Identity, Index, Text
from sqlalchemy import text as sql
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from normstat.db.schema.models import NOW, Base


class EventRow(Base):
    """Something that happened at `start_at`, or from then to `end_at`; `not_before_at`, if it was seen later than it happened.

    Its hosts are in `event_hosts`, or it is for all of them. `deleted_at`: it can still be restored. An agent or an import sent it
    as the line of a stream at `line_offset`.
    """

    __tablename__ = "events"
    __table_args__ = (
        Index("ix_events__start_at", "start_at"),
        Index("ix_events__last_at", sql("coalesce(end_at, start_at)")),
        Index("uq_events__stream_id_line_offset", "stream_id", "line_offset", unique=True),
        Index("ix_events__author_created_at", "author", "created_at", postgresql_where=sql("author <> ''")),
    )
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    start_at: Mapped[datetime]
    end_at: Mapped[datetime | None]
    not_before_at: Mapped[datetime | None]
    kind: Mapped[str]
    text: Mapped[str]
    tags: Mapped[list[str]] = mapped_column(ARRAY(Text()), server_default=sql("'{}'::text[]"))
    is_for_all_hosts: Mapped[bool] = mapped_column(server_default=sql("false"))
    source: Mapped[str]
    author: Mapped[str] = mapped_column(server_default="")
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)
    updated_at: Mapped[datetime] = mapped_column(server_default=NOW)
    deleted_at: Mapped[datetime | None]
    stream_id: Mapped[int | None] = mapped_column(ForeignKey("streams.id", ondelete="CASCADE"))
    line_offset: Mapped[int | None]


class EventHost(Base):
    """A host that an event is about."""

    __tablename__ = "event_hosts"
    event_id: Mapped[int] = mapped_column(ForeignKey("events.id", ondelete="CASCADE"), primary_key=True)
    host_id: Mapped[int] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"), primary_key=True, index=True)
