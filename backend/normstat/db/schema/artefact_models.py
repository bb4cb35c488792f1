"""The tables of artefacts: one-off output of tools that answers a question, with the text and the parts read from it."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Identity, Index, LargeBinary
from sqlalchemy import text as sql
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from normstat.db.schema.models import NOW, Base


class ArtefactRow(Base):
    """One run of a tool on a host, from `start_at` to `end_at` (None: a moment, or unknown).

    `question` is what was asked, in words or as the program's text. `spec` is "" where no reader knows the text. `effect`: how much
    the tool disturbed what it watched. `sha256` is of the raw text, hexadecimal. `search_text`: what a search looks at, in lower
    case. `deleted_at`: it can still be restored. `rejected`: the first rejected lines. `episode_id`: its host took it as that
    episode began; null for others.
    """

    __tablename__ = "artefacts"
    __table_args__ = (
        Index("ix_artefacts__host_id_start_at", "host_id", "start_at"),
        Index("ix_artefacts__start_at", "start_at"),
        Index("ix_artefacts__sha256", "sha256"),
        Index("ix_artefacts__episode_id", "episode_id", postgresql_where=sql("episode_id IS NOT NULL")),
        Index("ix_artefacts__author_created_at", "author", "created_at", postgresql_where=sql("author <> ''")),
    )
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    host_id: Mapped[int] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"))
    start_at: Mapped[datetime]
    end_at: Mapped[datetime | None]
    duration_s: Mapped[float | None]
    exit_status: Mapped[int | None]
    tool: Mapped[str] = mapped_column(server_default="")
    spec: Mapped[str] = mapped_column(server_default="")
    spec_version: Mapped[int] = mapped_column(server_default="0")
    title: Mapped[str] = mapped_column(server_default="")
    question: Mapped[str] = mapped_column(server_default="")
    command: Mapped[str] = mapped_column(server_default="")
    file_name: Mapped[str] = mapped_column(server_default="")
    effect: Mapped[str] = mapped_column(server_default="none")
    source: Mapped[str]
    author: Mapped[str] = mapped_column(server_default="")
    episode_id: Mapped[int | None] = mapped_column(ForeignKey("episodes.id", ondelete="SET NULL"))
    n_bytes: Mapped[int]
    n_lines: Mapped[int] = mapped_column(server_default="0")
    n_rejected: Mapped[int] = mapped_column(server_default="0")
    rejected: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default=sql("'[]'::jsonb"))
    sha256: Mapped[str]
    search_text: Mapped[str] = mapped_column(server_default="")
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)
    updated_at: Mapped[datetime] = mapped_column(server_default=NOW)
    deleted_at: Mapped[datetime | None]


class ArtefactBytes(Base):
    """A compressed piece of an artefact's raw text, in their order."""

    __tablename__ = "artefact_bytes"
    artefact_id: Mapped[int] = mapped_column(ForeignKey("artefacts.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    n_bytes: Mapped[int]
    body: Mapped[bytes] = mapped_column(LargeBinary)


class ArtefactPartRow(Base):
    """A part of an artefact, packed (artefacts/part_codec.py); `n_rows` counts its rows, stacks, distributions or events."""

    __tablename__ = "artefact_parts"
    artefact_id: Mapped[int] = mapped_column(ForeignKey("artefacts.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str]
    stat: Mapped[str]
    title: Mapped[str]
    n_rows: Mapped[int]
    body: Mapped[bytes] = mapped_column(LargeBinary)
