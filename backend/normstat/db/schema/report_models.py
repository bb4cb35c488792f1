"""The tables of reports: titles, their ordered notes, and uploaded files."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Identity, Index, LargeBinary
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from normstat.db.schema.models import NOW, Base


class ReportRow(Base):
    """A report, or a template that people saved. `hosts` are names: a report outlives its hosts.

    `revision` counts the changes of everything but the content of notes. `deleted_at`: it can still be restored.
    """

    __tablename__ = "reports"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    title: Mapped[str]
    is_template: Mapped[bool]
    hosts: Mapped[list[Any]] = mapped_column(JSONB)
    start_at: Mapped[datetime | None]
    end_at: Mapped[datetime | None]
    author: Mapped[str]
    revision: Mapped[int] = mapped_column(server_default="1")
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)
    updated_at: Mapped[datetime] = mapped_column(server_default=NOW)
    updated_by: Mapped[str]
    deleted_at: Mapped[datetime | None]


class ReportNoteRow(Base):
    """A note. `content` as people gave it (report/note_models.py); `frozen` its blocks as compressed JSON, None if it has none."""

    __tablename__ = "report_notes"
    __table_args__ = (Index("ix_report_notes__report_id_position", "report_id", "position"),)
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    report_id: Mapped[int] = mapped_column(ForeignKey("reports.id", ondelete="CASCADE"))
    position: Mapped[int]
    content: Mapped[dict[str, Any]] = mapped_column(JSONB)
    frozen: Mapped[bytes | None] = mapped_column(LargeBinary)
    frozen_at: Mapped[datetime | None]
    revision: Mapped[int] = mapped_column(server_default="1")
    author: Mapped[str]
    updated_at: Mapped[datetime] = mapped_column(server_default=NOW)
    updated_by: Mapped[str]
    deleted_at: Mapped[datetime | None]


class ReportFileRow(Base):
    """A file that was uploaded to a report: an image, or anything to keep. `sha256` hexadecimal."""

    __tablename__ = "report_files"
    __table_args__ = (Index("ix_report_files__report_id", "report_id"),)
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    report_id: Mapped[int] = mapped_column(ForeignKey("reports.id", ondelete="CASCADE"))
    name: Mapped[str]
    media_type: Mapped[str]
    n_bytes: Mapped[int]
    sha256: Mapped[str]
    author: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)


class ReportFileBytes(Base):
    """A piece of a file's bytes, in their order."""

    __tablename__ = "report_file_bytes"
    file_id: Mapped[int] = mapped_column(ForeignKey("report_files.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    n_bytes: Mapped[int]
    body: Mapped[bytes] = mapped_column(LargeBinary)
