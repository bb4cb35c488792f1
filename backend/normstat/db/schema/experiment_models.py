"""The tables of experiments: named sets of runs with factors, and what each run measured."""

from datetime import datetime

from sqlalchemy import ForeignKey, Identity, Index
from sqlalchemy import text as sql
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from normstat.db.schema.models import NOW, Base


class ExperimentRow(Base):
    """A named set of runs. `deleted_at`: it can still be restored; names are unique among the others."""

    __tablename__ = "experiments"
    __table_args__ = (Index("uq_experiments__name", "name", unique=True, postgresql_where=sql("deleted_at IS NULL")),)
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    name: Mapped[str]
    title: Mapped[str] = mapped_column(server_default="")
    note: Mapped[str] = mapped_column(server_default="")
    author: Mapped[str] = mapped_column(server_default="")
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)
    updated_at: Mapped[datetime] = mapped_column(server_default=NOW)
    deleted_at: Mapped[datetime | None]


class ExperimentRunRow(Base):
    """One run of an experiment on a host, from `start_at` to `end_at` (None: unknown).

    `factors`: texts by name. `exit_status` as a shell has it, 128 + N for signal N; None where no command was run here.
    `excluded_reason`: why it does not count, "" where it does.
    """

    __tablename__ = "experiment_runs"
    __table_args__ = (
        Index("ix_experiment_runs__experiment_id_start_at", "experiment_id", "start_at"),
        Index("ix_experiment_runs__host_id_start_at", "host_id", "start_at"),
        Index("ix_experiment_runs__author_created_at", "author", "created_at", postgresql_where=sql("author <> ''")),
    )
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    experiment_id: Mapped[int] = mapped_column(ForeignKey("experiments.id", ondelete="CASCADE"))
    host_id: Mapped[int] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"))
    start_at: Mapped[datetime]
    end_at: Mapped[datetime | None]
    factors: Mapped[dict[str, str]] = mapped_column(JSONB, server_default=sql("'{}'::jsonb"))
    command: Mapped[str] = mapped_column(server_default="")
    exit_status: Mapped[int | None]
    note: Mapped[str] = mapped_column(server_default="")
    excluded_reason: Mapped[str] = mapped_column(server_default="")
    source: Mapped[str]
    author: Mapped[str] = mapped_column(server_default="")
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)
    updated_at: Mapped[datetime] = mapped_column(server_default=NOW)
    deleted_at: Mapped[datetime | None]


class RunResultRow(Base):
    """A value that a run measured; `position` is their order."""

    __tablename__ = "run_results"
    run_id: Mapped[int] = mapped_column(ForeignKey("experiment_runs.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int]
    value: Mapped[float]
    unit: Mapped[str] = mapped_column(server_default="")


class RunArtefactRow(Base):
    """An artefact that belongs to a run: what it printed, or what was looked at meanwhile."""

    __tablename__ = "run_artefacts"
    run_id: Mapped[int] = mapped_column(ForeignKey("experiment_runs.id", ondelete="CASCADE"), primary_key=True)
    artefact_id: Mapped[int] = mapped_column(ForeignKey("artefacts.id", ondelete="CASCADE"), primary_key=True)
