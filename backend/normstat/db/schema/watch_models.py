"""The tables of watching: rules, their backtests and limits, what they found, and what is muted."""

from datetime import datetime

from sqlalchemy import ForeignKey, Identity, Index, SmallInteger, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from normstat.db.schema.models import NOW, Base


class StoredRule(Base):
    """A watch rule that a user made or changed. `toml` is null for a built-in one; the server assigns the version of others.

    `stopped_at`, `stopped_why`: it exceeded a limit of time or memory; null and empty while it runs. `deleted_at`: it is gone, and
    its episodes stay.
    """

    __tablename__ = "watch_rules"
    name: Mapped[str] = mapped_column(primary_key=True)
    toml: Mapped[str | None]
    version: Mapped[int]
    is_enabled: Mapped[bool]
    updated_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)
    updated_at: Mapped[datetime] = mapped_column(server_default=NOW)
    stopped_at: Mapped[datetime | None]
    stopped_why: Mapped[str] = mapped_column(server_default="")
    deleted_at: Mapped[datetime | None]


class RuleChange(Base):
    """A change of a watch rule: its text as it was from then on, or what else changed, in words."""

    __tablename__ = "watch_rule_changes"
    __table_args__ = (Index("ix_watch_rule_changes__rule_id", "rule", "id"),)
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    rule: Mapped[str]
    version: Mapped[int]
    toml: Mapped[str | None]
    change: Mapped[str]
    changed_by: Mapped[str]
    changed_at: Mapped[datetime] = mapped_column(server_default=NOW)


class RuleLimitRow(Base):
    """Another value for a limit of a rule, on one host, on the hosts of a group, or on the hosts with a tag."""

    __tablename__ = "watch_limits"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    rule: Mapped[str] = mapped_column(index=True)
    name: Mapped[str]
    value: Mapped[float]
    host_id: Mapped[int | None] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"))
    tag: Mapped[str | None]
    group_id: Mapped[int | None] = mapped_column(ForeignKey("host_groups.id", ondelete="CASCADE"))
    reason: Mapped[str]
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)


class BacktestRow(Base):
    """A rule evaluated on the past of some hosts by a job. `version`: of the stored rule; null for a text that is not stored.

    `result`: what was found, by host; null until the job is done.
    """

    __tablename__ = "backtests"
    __table_args__ = (Index("ix_backtests__rule_version", "rule", "version"),)
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    job_id: Mapped[int] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), unique=True)
    rule: Mapped[str]
    version: Mapped[int | None]
    toml: Mapped[str]
    hosts: Mapped[list[str]] = mapped_column(JSONB)
    start_at: Mapped[datetime]
    end_at: Mapped[datetime]
    result: Mapped[dict[str, object] | None] = mapped_column(JSONB)


class EpisodeRow(Base):
    """A time in which a host, or an instance of it, was amber or worse.

    `source` is the rule's name; without a host it concerns this server. `last_at`: the last bad report; `ended_at`: when it was
    known to have ended, null while it lasts. `colour`, `sentence`, `action` and `saw` are of the worst report, at `worst_at`.
    """

    __tablename__ = "episodes"
    __table_args__ = (
        Index("uq_episodes__source", "source", text("coalesce(host_id, 0)"), text("md5(instance)"), "start_at", unique=True),
        Index("ix_episodes__host_id_start_at", "host_id", "start_at"),
        Index("ix_episodes__start_at", "start_at"),
        Index("ix_episodes__open", "source", "host_id", postgresql_where=text("ended_at IS NULL")),
    )
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    source: Mapped[str]
    source_version: Mapped[int]
    host_id: Mapped[int | None] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"))
    instance: Mapped[str] = mapped_column(server_default="")
    start_at: Mapped[datetime]
    last_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    ended_by: Mapped[str | None]
    colour: Mapped[str]
    worst_at: Mapped[datetime]
    title: Mapped[str]
    sentence: Mapped[str]
    action: Mapped[str]
    saw: Mapped[list[dict[str, object]]] = mapped_column(JSONB)
    found_at: Mapped[datetime] = mapped_column(server_default=NOW)
    acknowledged_at: Mapped[datetime | None]
    acknowledged_by: Mapped[str] = mapped_column(server_default="")
    note: Mapped[str] = mapped_column(server_default="")
    exclusion_id: Mapped[int | None] = mapped_column(ForeignKey("exclusions.id", ondelete="SET NULL"))


class WatchedState(Base):
    """The worst colour of a rule on a host (a place in COLOURS, or -1 for unknown), from `from_at` until the next one."""

    __tablename__ = "watched_states"
    host_id: Mapped[int] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"), primary_key=True)
    source: Mapped[str] = mapped_column(primary_key=True)
    from_at: Mapped[datetime] = mapped_column(primary_key=True)
    colour: Mapped[int] = mapped_column(SmallInteger)


class WatchedHost(Base):
    """How far rules have judged the samples of a host. `progress`: by rule, the time of the last judged report and more."""

    __tablename__ = "watched_hosts"
    host_id: Mapped[int] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"), primary_key=True)
    since_at: Mapped[datetime] = mapped_column(server_default=NOW)
    judged_at: Mapped[datetime]
    progress: Mapped[dict[str, object]] = mapped_column(JSONB)


class WatchMute(Base):
    """A time in which episodes are not notified: those of a host, of the hosts with a tag, of a rule; null: any.

    `until_at` null: until it is ended.
    """

    __tablename__ = "watch_mutes"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    host_id: Mapped[int | None] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"))
    tag: Mapped[str | None]
    source: Mapped[str | None]
    instance: Mapped[str | None]
    from_at: Mapped[datetime]
    until_at: Mapped[datetime | None]
    reason: Mapped[str]
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)
