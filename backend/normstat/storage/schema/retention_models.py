"""The tables of the life of the data: retention, deletions, sizes, what changed of old streams, which database this is."""

import datetime as dt
import uuid
from datetime import datetime

from sqlalchemy import ForeignKey, Identity, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column, relationship

from normstat.storage.schema.job_models import Job
from normstat.storage.schema.models import NOW, Base


class RetentionRule(Base):
    """How long the samples and the raw bytes of a stat are kept; the rule with an empty name is for all others. NULL: for ever."""

    __tablename__ = "retention_rules"
    stat: Mapped[str] = mapped_column(primary_key=True)
    samples_days: Mapped[int | None]
    chunks_days: Mapped[int | None]
    updated_by: Mapped[str]
    updated_at: Mapped[datetime] = mapped_column(server_default=NOW)


class RetentionRun(Base):
    """One application of the rules of retention, and what it removed. `n_chunk_bytes` counts raw bytes as the host sent them."""

    __tablename__ = "retention_runs"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    job_id: Mapped[int] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), unique=True)
    n_samples: Mapped[int] = mapped_column(server_default="0")
    n_instances: Mapped[int] = mapped_column(server_default="0")
    n_chunks: Mapped[int] = mapped_column(server_default="0")
    n_chunk_bytes: Mapped[int] = mapped_column(server_default="0")
    job: Mapped[Job] = relationship(lazy="joined", innerjoin=True)


class RetentionMark(Base):
    """A stat whose samples before `kept_from` were removed, for the last time at `marked_at`."""

    __tablename__ = "retention_marks"
    stat: Mapped[str] = mapped_column(primary_key=True)
    kept_from: Mapped[datetime]
    marked_at: Mapped[datetime] = mapped_column(server_default=NOW)


class StreamChange(Base):
    """What happened to a stream other than that it grew.

    Raw bytes below the offset `kept_from` were removed; its samples were replaced `n_replaced` times by a reparse.
    """

    __tablename__ = "stream_changes"
    stream_id: Mapped[int] = mapped_column(ForeignKey("streams.id", ondelete="CASCADE"), primary_key=True)
    kept_from: Mapped[int] = mapped_column(server_default="0")
    n_replaced: Mapped[int] = mapped_column(server_default="0")


class HostDeletion(Base):
    """A host whose data is being deleted, or was; until then its row in `hosts` has another name. The job counts the samples."""

    __tablename__ = "host_deletions"
    host_id: Mapped[int] = mapped_column(primary_key=True)
    job_id: Mapped[int] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), unique=True)
    host: Mapped[str]
    job: Mapped[Job] = relationship(lazy="joined", innerjoin=True)


class StorageDay(Base):
    """How large the database was at the end of a day (so far, for today)."""

    __tablename__ = "storage_days"
    day: Mapped[dt.date] = mapped_column(primary_key=True)
    measured_at: Mapped[datetime] = mapped_column(server_default=NOW)
    sizes: Mapped[dict[str, object]] = mapped_column(JSONB)


class StoreIdentity(Base):
    """One row: a number that no other database has, so that a backup is never continued with the data of another one."""

    __tablename__ = "store_identity"
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, server_default=text("gen_random_uuid()"))
