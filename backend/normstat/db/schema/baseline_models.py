"""The tables of baselines, exclusions, mutes, profiles and saved comparisons."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Identity, Index, Integer, LargeBinary, SmallInteger, Text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSTZMULTIRANGE, Range
from sqlalchemy.orm import Mapped, mapped_column

from normstat.db.schema.models import NOW, Base


class HostGroup(Base):
    """Hosts that share baselines."""

    __tablename__ = "host_groups"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    note: Mapped[str] = mapped_column(server_default="")
    created_by: Mapped[str] = mapped_column(server_default="")
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)


class HostGroupHost(Base):
    """A host of a group."""

    __tablename__ = "host_group_hosts"
    group_id: Mapped[int] = mapped_column(ForeignKey("host_groups.id", ondelete="CASCADE"), primary_key=True)
    host_id: Mapped[int] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"), primary_key=True)


class Baseline(Base):
    """A period marked as normal; `windows` and `version` are those of the newest version.

    `time_zone` defines seasonal hours and the local times of the rule. With an `rrule` the windows are those of the rule: from its
    first start on, the last `keep_days`. Until `recording_until` the last window is being recorded. With a group the hosts are the
    group's. With `rolling_host_id` it is the rolling baseline of that host: its last days, which the server follows by itself.
    """

    __tablename__ = "baselines"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    note: Mapped[str] = mapped_column(server_default="")
    windows: Mapped[list[Range[datetime]]] = mapped_column(TSTZMULTIRANGE)
    version: Mapped[int] = mapped_column(server_default="1")
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)
    updated_at: Mapped[datetime] = mapped_column(server_default=NOW)
    archived_at: Mapped[datetime | None]
    time_zone: Mapped[str] = mapped_column(server_default="UTC")
    rrule: Mapped[str | None]
    rule_start_at: Mapped[datetime | None]
    rule_duration_s: Mapped[int | None] = mapped_column(Integer)
    keep_days: Mapped[int | None] = mapped_column(Integer)
    recording_until: Mapped[datetime | None]
    group_id: Mapped[int | None] = mapped_column(ForeignKey("host_groups.id", ondelete="SET NULL"))
    rolling_host_id: Mapped[int | None] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"), unique=True)


class BaselineHost(Base):
    """A host that a baseline covers now, including those of its group."""

    __tablename__ = "baseline_hosts"
    baseline_id: Mapped[int] = mapped_column(ForeignKey("baselines.id", ondelete="CASCADE"), primary_key=True)
    host_id: Mapped[int] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"), primary_key=True)


class BaselineVersion(Base):
    """One version of a baseline: its windows, the names of its hosts, why it was created. Never changed."""

    __tablename__ = "baseline_versions"
    baseline_id: Mapped[int] = mapped_column(ForeignKey("baselines.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    windows: Mapped[list[Range[datetime]]] = mapped_column(TSTZMULTIRANGE)
    hosts: Mapped[list[str]] = mapped_column(ARRAY(Text()))
    time_zone: Mapped[str] = mapped_column(server_default="UTC")
    reason: Mapped[str]
    made_by: Mapped[str]
    made_at: Mapped[datetime] = mapped_column(server_default=NOW)


class Exclusion(Base):
    """An incident window [start_at, end_at) that baselines leave out. Without a host: for all hosts."""

    __tablename__ = "exclusions"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    name: Mapped[str]
    note: Mapped[str] = mapped_column(server_default="")
    start_at: Mapped[datetime]
    end_at: Mapped[datetime]
    host_id: Mapped[int | None] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"))
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)


class MutedSeries(Base):
    """A series hidden from findings. Without a host: for all hosts; without an instance: for all instances."""

    __tablename__ = "muted_series"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    host_id: Mapped[int | None] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"))
    stat: Mapped[str]
    field: Mapped[str]
    instance: Mapped[str | None]
    reason: Mapped[str] = mapped_column(server_default="")
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)


class ExpectedValueRow(Base):
    """What people expect of a series of a host, beside what is normal. Without an instance: of all instances."""

    __tablename__ = "expected_values"
    __table_args__ = (Index("ix_expected_values__host_id", "host_id"),)
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    host_id: Mapped[int] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"))
    stat: Mapped[str]
    field: Mapped[str]
    instance: Mapped[str | None]
    value: Mapped[float]
    note: Mapped[str] = mapped_column(server_default="")
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)


class SavedComparisonRow(Base):
    """A saved comparison: its parameters, and the result at that time (JSON, compressed with zstd)."""

    __tablename__ = "comparisons"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    name: Mapped[str]
    note: Mapped[str] = mapped_column(server_default="")
    inputs: Mapped[dict[str, Any]] = mapped_column(JSONB)
    result: Mapped[bytes] = mapped_column(LargeBinary)
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)


class ProfilePiece(Base):
    """Sketches of an hour, or less, of a stat of one host, by one version of the method. Without a body: being built."""

    __tablename__ = "profile_pieces"
    host_id: Mapped[int] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"), primary_key=True)
    stat_id: Mapped[int] = mapped_column(ForeignKey("stats.id", ondelete="CASCADE"), primary_key=True)
    start_at: Mapped[datetime] = mapped_column(primary_key=True)
    end_at: Mapped[datetime] = mapped_column(primary_key=True)
    method: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    n_rows: Mapped[int]
    spec_version: Mapped[int] = mapped_column(Integer, server_default="0")
    made_at: Mapped[datetime] = mapped_column(server_default=NOW)
    body: Mapped[bytes] = mapped_column(LargeBinary)


class Profile(Base):
    """The profile of a host in a version of a baseline, or (`slot`) in one of its seasonal slots.

    `effective`: the windows that it was built from, those before `until_at`; `sources`: a hash of the pieces; `is_stale`: samples
    changed since; `band`: the part of it that is drawn behind graphs.
    """

    __tablename__ = "profiles"
    baseline_id: Mapped[int] = mapped_column(ForeignKey("baselines.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int] = mapped_column(Integer, primary_key=True)
    host_id: Mapped[int] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"), primary_key=True)
    slot: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    method: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    made_at: Mapped[datetime] = mapped_column(server_default=NOW)
    until_at: Mapped[datetime]
    effective: Mapped[list[Range[datetime]]] = mapped_column(TSTZMULTIRANGE)
    is_stale: Mapped[bool] = mapped_column(server_default="false")
    spec_versions: Mapped[dict[str, int]] = mapped_column(JSONB)
    sources: Mapped[str]
    band: Mapped[bytes] = mapped_column(LargeBinary)
    body: Mapped[bytes] = mapped_column(LargeBinary)
