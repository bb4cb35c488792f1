"""The tables of retention, deletions, sizes, changes of old streams, and the identity of the database."""

import datetime as dt
import uuid
from datetime import datetime

from sqlalchemy import ForeignKey, Identity, Integer, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column, relationship

from normstat.db.schema.job_models import Job
from normstat.db.schema.models import NOW, Base


class RetentionRuleRow(Base):
    """How long the samples and the raw bytes of a stat are kept; the rule with an empty name applies to all others. NULL: for
    ever.
    """

    __tablename__ = "retention_rules"
    stat: Mapped[str] = mapped_column(primary_key=True)
    samples_days: Mapped[int | None]
    chunks_days: Mapped[int | None]
    updated_by: Mapped[str]
    updated_at: Mapped[datetime] = mapped_column(server_default=NOW)


class RetentionRunRow(Base):
    """One run of retention, and what it removed. `n_chunk_bytes` counts raw bytes as the host sent them."""

    __tablename__ = "retention_runs"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    job_id: Mapped[int] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), unique=True)
    n_samples: Mapped[int] = mapped_column(server_default="0")
    n_instances: Mapped[int] = mapped_column(server_default="0")
    n_chunks: Mapped[int] = mapped_column(server_default="0")
    n_chunk_bytes: Mapped[int] = mapped_column(server_default="0")
    n_results: Mapped[int] = mapped_column(server_default="0")
    job: Mapped[Job] = relationship(lazy="joined", innerjoin=True)


class RetentionMark(Base):
    """A stat whose samples before `kept_from` were removed, for the last time at `marked_at`."""

    __tablename__ = "retention_marks"
    stat: Mapped[str] = mapped_column(primary_key=True)
    kept_from: Mapped[datetime]
    marked_at: Mapped[datetime] = mapped_column(server_default=NOW)


class StreamChange(Base):
    """Changes of a stream other than growth.

    Raw bytes below the offset `kept_from` were removed; its samples were replaced `n_replaced` times by a reparse; samples came
    `n_late` times for a time that the stream had passed, the earliest of those that rules have not judged yet at `late_from`,
    and of those that the continuous comparison has not scored yet at `unscored_from`. Chunks below the offset `packed_to` are in
    `packed_chunks`, which holds `packed_bytes` of raw bytes of it.
    """

    __tablename__ = "stream_changes"
    stream_id: Mapped[int] = mapped_column(ForeignKey("streams.id", ondelete="CASCADE"), primary_key=True)
    kept_from: Mapped[int] = mapped_column(server_default="0")
    n_replaced: Mapped[int] = mapped_column(server_default="0")
    n_late: Mapped[int] = mapped_column(server_default="0")
    late_from: Mapped[datetime | None]
    unscored_from: Mapped[datetime | None]
    packed_to: Mapped[int] = mapped_column(server_default="0")
    packed_bytes: Mapped[int] = mapped_column(server_default="0")


class HostDeletionRow(Base):
    """A host whose data is being deleted, or was; its row in `hosts` is renamed meanwhile. The job counts the samples."""

    __tablename__ = "host_deletions"
    host_id: Mapped[int] = mapped_column(primary_key=True)
    job_id: Mapped[int] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), unique=True)
    host: Mapped[str]
    job: Mapped[Job] = relationship(lazy="joined", innerjoin=True)


class StorageDay(Base):
    """The size of the database at the end of a day (so far, for today)."""

    __tablename__ = "storage_days"
    day: Mapped[dt.date] = mapped_column(primary_key=True)
    measured_at: Mapped[datetime] = mapped_column(server_default=NOW)
    sizes: Mapped[dict[str, object]] = mapped_column(JSONB)


class StoreIdentity(Base):
    """One row: a unique number of this database, so that a backup is never continued with the data of another one."""

    __tablename__ = "store_identity"
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, server_default=text("gen_random_uuid()"))


class DataCheck(Base):
    """What `normstat storage check` or the latest backup found: packed bytes that it looked at, and how much of that is damaged.

    `source`: `storage_check` or `backup`. `damaged`: the first of them, a line each.
    """

    __tablename__ = "data_checks"
    source: Mapped[str] = mapped_column(primary_key=True)
    checked_at: Mapped[datetime]
    n_bytes: Mapped[int]
    n_damaged: Mapped[int] = mapped_column(Integer)
    damaged: Mapped[list[str]] = mapped_column(JSONB)
