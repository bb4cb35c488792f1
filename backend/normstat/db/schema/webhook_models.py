"""The tables of webhooks: the receivers of changes, and the outbox of their deliveries."""

from datetime import datetime

from sqlalchemy import ForeignKey, Identity, Index, Text, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from normstat.db.schema.models import NOW, Base


class WebhookRow(Base):
    """An address that receives changes. `url` and `signing_key` are secrets; `held_until`: the receiver asked for a pause."""

    __tablename__ = "webhooks"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    url: Mapped[str]
    signing_key: Mapped[str]
    topics: Mapped[list[str]] = mapped_column(ARRAY(Text))
    is_enabled: Mapped[bool]
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)
    updated_by: Mapped[str]
    updated_at: Mapped[datetime] = mapped_column(server_default=NOW)
    held_until: Mapped[datetime | None]


class WebhookDeliveryRow(Base):
    """A delivery of a webhook: the outbox. It is written with the change itself.

    `key`: the same in every try; `state`: queued, sending, sent or failed; `answer`: what the receiver said last.
    """

    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        Index("ix_webhook_deliveries__unsent", "webhook_id", "id", postgresql_where=text("state IN ('queued', 'sending')")),
        Index("ix_webhook_deliveries__webhook_id", "webhook_id", "id"),
        Index("ix_webhook_deliveries__created_at", "created_at"),
    )
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    webhook_id: Mapped[int] = mapped_column(ForeignKey("webhooks.id", ondelete="CASCADE"))
    key: Mapped[str] = mapped_column(unique=True)
    topic: Mapped[str]
    content: Mapped[dict[str, object]] = mapped_column(JSONB)
    state: Mapped[str]
    n_tries: Mapped[int] = mapped_column(server_default="0")
    next_try_at: Mapped[datetime] = mapped_column(server_default=NOW)
    tried_at: Mapped[datetime | None]
    sent_at: Mapped[datetime | None]
    answer: Mapped[str] = mapped_column(server_default="")
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)
