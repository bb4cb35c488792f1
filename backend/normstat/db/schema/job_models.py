"""The table of background jobs, and the details of imports and reparses."""

import datetime as dt
from datetime import datetime
from enum import StrEnum
from typing import Final

from sqlalchemy import ForeignKey, Identity, Index, Integer, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column, relationship

from normstat.db.schema.baseline_models import Baseline
from normstat.db.schema.models import NOW, Base


class JobKind(StrEnum):
    """What a job does."""

    IMPORT = "import"
    REPARSE = "reparse"
    PROFILE = "profile"
    ROLLUP = "rollup"
    RETENTION = "retention"
    DELETION = "deletion"
    BACKTEST = "backtest"
    SEALING = "sealing"
    PACKING = "packing"


class JobState(StrEnum):
    """Where a job is. A failed job with a next try runs again then; otherwise the last three states are final."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"


# Kinds of jobs that run by themselves, without a request.
ASKED_BY_CLOCK: Final = "clock"
OPEN_STATES: Final = (JobState.QUEUED, JobState.RUNNING)


class Job(Base):
    """A piece of background work; its details are in a table of its kind, which refers to it.

    `target` names what it works on where neither `host_id` nor `baseline_id` does. `n_done` of `n_total` (0: unknown) are done,
    counted in `unit`. `started_at` is when the latest try began, and tells that try from earlier ones; `heartbeat_at` is its
    latest sign of life. `n_tries` counts the tries since the job was queued. `next_try_at` orders the queue; null: there is no
    next try.
    """

    __tablename__ = "jobs"
    __table_args__ = (
        Index("ix_jobs__kind_next_try_at", "kind", "next_try_at", postgresql_where=text("next_try_at IS NOT NULL")),
        Index("uq_jobs__profile", "baseline_id", "host_id", unique=True, postgresql_where=text("kind = 'profile'")),
        Index("uq_jobs__rollup", "kind", unique=True, postgresql_where=text("kind = 'rollup'")),
        Index("uq_jobs__sealing", "kind", unique=True, postgresql_where=text("kind = 'sealing'")),
        Index("uq_jobs__packing", "kind", unique=True, postgresql_where=text("kind = 'packing'")),
    )
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    kind: Mapped[str]
    host_id: Mapped[int | None] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"), index=True)
    baseline_id: Mapped[int | None] = mapped_column(ForeignKey(Baseline.id, ondelete="CASCADE"))
    target: Mapped[str] = mapped_column(server_default="")
    state: Mapped[str] = mapped_column(server_default="queued")
    n_done: Mapped[int] = mapped_column(server_default="0")
    n_total: Mapped[int] = mapped_column(server_default="0")
    unit: Mapped[str] = mapped_column(server_default="")
    message: Mapped[str] = mapped_column(server_default="")
    n_tries: Mapped[int] = mapped_column(Integer, server_default="0")
    asked_by: Mapped[str] = mapped_column(server_default="")
    queued_at: Mapped[datetime] = mapped_column(server_default=NOW)
    started_at: Mapped[datetime | None]
    heartbeat_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    next_try_at: Mapped[datetime | None] = mapped_column(server_default=NOW)


class ImportRow(Base):
    """A file that was uploaded, to be loaded in the background. `file_path` is where the server keeps it until then, and for a day
    longer when files of it lack an option that a person can give. `only_position`: of an archive, the one file that is loaded.
    `is_undo`: the job removes what the import loaded; `is_change`: it moves that to `host`, and shifts its times by `shift_s` from
    those in the files. `title`: the question that a tracer was asked. `label`: what people call the import, "" for its file's name.
    `earlier`: label, host and shift before each change, the oldest first.
    """

    __tablename__ = "imports"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    job_id: Mapped[int] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), unique=True)
    host: Mapped[str]
    name: Mapped[str]
    time_zone: Mapped[str | None]
    first_day: Mapped[dt.date | None]
    start_at: Mapped[datetime | None]
    interval_s: Mapped[float | None]
    spec: Mapped[str | None]
    title: Mapped[str | None]
    is_first_real: Mapped[bool] = mapped_column(server_default=text("false"))
    is_each_host: Mapped[bool] = mapped_column(server_default=text("false"))
    only_position: Mapped[int | None]
    is_undo: Mapped[bool] = mapped_column(server_default=text("false"))
    is_change: Mapped[bool] = mapped_column(server_default=text("false"))
    label: Mapped[str] = mapped_column(server_default="")
    shift_s: Mapped[float] = mapped_column(server_default="0")
    earlier: Mapped[list[dict[str, object]]] = mapped_column(JSONB, server_default=text("'[]'::jsonb"))
    file_path: Mapped[str]
    n_files: Mapped[int] = mapped_column(server_default="0")
    job: Mapped[Job] = relationship(lazy="joined", innerjoin=True)


class ImportedFileRow(Base):
    """The outcome of one file of an import; `result` is the body that the API shows."""

    __tablename__ = "imported_files"
    import_id: Mapped[int] = mapped_column(ForeignKey("imports.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    result: Mapped[dict[str, object]] = mapped_column(JSONB)


class ReparseRow(Base):
    """A request to derive samples again from the raw bytes: of one stream, of a spec's, of a host's, or of all.

    Its streams are those up to `newest_stream_id`, in the order of their ids; those up to `last_stream_id` are done.
    """

    __tablename__ = "reparses"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    job_id: Mapped[int] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), unique=True)
    host_id: Mapped[int | None] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"))
    stream_id: Mapped[int | None] = mapped_column(ForeignKey("streams.id", ondelete="CASCADE"))
    spec: Mapped[str | None]
    is_outdated_only: Mapped[bool]
    newest_stream_id: Mapped[int]
    last_stream_id: Mapped[int] = mapped_column(server_default="0")
    n_streams: Mapped[int] = mapped_column(server_default="0")
    n_streams_done: Mapped[int] = mapped_column(server_default="0")
    n_samples_before: Mapped[int] = mapped_column(server_default="0")
    n_samples_after: Mapped[int] = mapped_column(server_default="0")
    n_rejected_after: Mapped[int] = mapped_column(server_default="0")
    job: Mapped[Job] = relationship(lazy="joined", innerjoin=True)
