"""The tables of saved views."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Identity, UniqueConstraint
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from normstat.db.schema.models import NOW, Base


class SavedView(Base):
    """Panels saved under a name. Without an owner (the account was deleted) all accounts see it."""

    __tablename__ = "views"
    __table_args__ = (UniqueConstraint("owner_id", "name"),)
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    key: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    description: Mapped[str] = mapped_column(server_default="")
    panels: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    is_shared: Mapped[bool]
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)
    updated_at: Mapped[datetime] = mapped_column(server_default=NOW)


class ViewStar(Base):
    """A view that an account wants at hand, by its key: ready-made views have no row of their own."""

    __tablename__ = "view_stars"
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    view_key: Mapped[str] = mapped_column(primary_key=True)
