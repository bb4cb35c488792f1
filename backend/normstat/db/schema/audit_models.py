"""The tables of the audit log."""

from datetime import datetime
from typing import Any

from sqlalchemy import Identity, Index
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.sql import text

from normstat.db.schema.models import Base


class AuditEntryRow(Base):
    """Something that an account or a client did, or was refused. Triggers refuse every change of a row, and deletion within 30
    days.

    `account` is a name, which outlives the account; None without a login. `means`: as `audit_rows.Means`.
    `target` has what it was done to: parts of the path, and the harmless members of the body.
    """

    __tablename__ = "audit_entries"
    __table_args__ = (Index("ix_audit_entries__at", "at"), Index("ix_audit_entries__account_id", "account", "id"))
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
    account: Mapped[str | None]
    means: Mapped[str]
    token_id: Mapped[int | None]
    address: Mapped[str]
    action: Mapped[str]
    is_refused: Mapped[bool]
    target: Mapped[dict[str, Any]] = mapped_column(JSONB)
    request_id: Mapped[str]


class AuditForwardingRow(Base):
    """How far the entries were sent to a receiver."""

    __tablename__ = "audit_forwarding"
    receiver: Mapped[str] = mapped_column(primary_key=True)
    last_id: Mapped[int]
