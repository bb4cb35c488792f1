"""The tables managed by Alembic. The wide tables of the stats (schema `samples`) are created by stat_tables.py.

Instants are timestamptz. Secrets are stored as SHA-256 of 256 random bits (tokens) or argon2 (passwords), never in plain text.
"""

import datetime as dt
from datetime import datetime
from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    Float,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.ext.asyncio import AsyncAttrs
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from normstat.stats.timing import Timing
from normstat.window import to_us

NAMING_CONVENTION = {
    "ix": "ix_%(table_name)s__%(column_0_N_name)s",
    "uq": "uq_%(table_name)s__%(column_0_N_name)s",
    "ck": "ck_%(table_name)s__%(constraint_name)s",
    "fk": "fk_%(table_name)s__%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
NOW = text("now()")
# How the key of a stream begins that an import, or a bundle, made; agents send all others.
IMPORT_KEY: Final = "import-"
BUNDLE_KEY: Final = "bundle-"


def to_timing(
    key: str,
    zone: str | None,
    day: dt.date | None,
    start_at: datetime | None,
    interval_s: float | None,
    *,
    is_first_real: bool,
    shift_s: float,
) -> Timing:
    """Return the timing given by the columns of a stream."""
    return Timing(
        zone=zone,
        date=day,
        start_us=None if start_at is None else to_us(start_at),
        interval_us=None if interval_s is None else round(interval_s * 1_000_000),
        is_first_real=is_first_real,
        is_live=not key.startswith(IMPORT_KEY),
        shift_us=round(shift_s * 1_000_000),
    )


class Base(AsyncAttrs, DeclarativeBase):
    """Base of all models."""

    metadata = MetaData(naming_convention=NAMING_CONVENTION)
    type_annotation_map = {datetime: DateTime(timezone=True), str: Text(), int: BigInteger(), float: Float(53)}  # noqa: RUF012


class Host(Base):
    """A machine whose agent sends. `clock_offset_s`: its clock minus the server's at the last request."""

    __tablename__ = "hosts"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    os: Mapped[str] = mapped_column(server_default="")
    agent_version: Mapped[str] = mapped_column(server_default="")
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)
    last_seen_at: Mapped[datetime | None]
    clock_offset_s: Mapped[float | None]
    # Which machine sends as this host and when it did last; when another one tried to. Agents before 1.0 do not say.
    machine: Mapped[str] = mapped_column(server_default="")
    machine_at: Mapped[datetime | None]
    other_machine_at: Mapped[datetime | None]
    # Given by people, and set by the agent's configuration: neither changes the other's.
    tags: Mapped[list[str]] = mapped_column(ARRAY(Text()), server_default=text("'{}'::text[]"))
    agent_tags: Mapped[list[str]] = mapped_column(ARRAY(Text()), server_default=text("'{}'::text[]"))
    # Grows whenever rows of the host's instances are deleted or renumbered: cached ids are valid for one epoch.
    instance_epoch: Mapped[int] = mapped_column(server_default="0")
    # Hours before it are in `rollups` for every stat, except those in `rollup_marks`; NULL: none yet.
    rolled_until: Mapped[datetime | None]
    # Minutes before it that follow from as few samples are left out of `rollups`; NULL: none.
    minutes_left_out_until: Mapped[datetime | None]
    # `profile_pieces` has nothing from then on; samples before it make pieces and profiles of baselines outdated.
    profiled_until: Mapped[datetime | None]
    # Changes of normal were looked for in the hours before it; NULL: never.
    normal_until: Mapped[datetime | None]


class StatTable(Base):
    """A stat whose wide table exists. `name` is also the name of its view in schema `stat`."""

    __tablename__ = "stats"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    spec: Mapped[str]
    spec_version: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)


class StatField(Base):
    """A column of a wide table, as the catalogue defined it when the column was created; `is_documented` false: seen, but not in
    the spec, and `host_id` is the host that first sent it.
    """

    __tablename__ = "stat_fields"
    stat_id: Mapped[int] = mapped_column(ForeignKey("stats.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int]
    definition: Mapped[dict[str, object]] = mapped_column(JSONB)
    is_documented: Mapped[bool]
    # No foreign key: a deleted host's columns stay, and creating them does not wait for a lock on the host.
    host_id: Mapped[int | None]
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)


class Instance(Base):
    """An instance of a stat on one host; the name is "" for one-row stats.

    A folded stack may be longer than an index entry can be, hence the index over its hash: look a name up by both. Every row of
    a wide table has its instance here; those that have sealed samples only may be in `packed_instances`.
    """

    __tablename__ = "instances"
    __table_args__ = (
        Index("uq_instances__host_id_stat_id_name_hash", "host_id", "stat_id", text("(md5(name)::uuid)"), unique=True),
    )
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    host_id: Mapped[int] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"))
    stat_id: Mapped[int] = mapped_column(ForeignKey("stats.id", ondelete="CASCADE"))
    name: Mapped[str]
    first_sample_at: Mapped[datetime]
    last_sample_at: Mapped[datetime]


class PackedInstances(Base):
    """Instances of a stat on one host that ended, and whose samples are all sealed: no longer rows of `instances`.

    Arrays in the order of their ids: names; `id_steps`, the id minus `min_id` and the place in the array; `first_steps`, the
    first sample minus `first_at`, and `lived_steps`, the last minus the first one, in units of `unit_us` microseconds.
    """

    __tablename__ = "packed_instances"
    __table_args__ = (Index("ix_packed_instances__max_id", "max_id"),)
    host_id: Mapped[int] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"), primary_key=True)
    stat_id: Mapped[int] = mapped_column(ForeignKey("stats.id", ondelete="CASCADE"), primary_key=True)
    min_id: Mapped[int] = mapped_column(primary_key=True)
    max_id: Mapped[int]
    n_instances: Mapped[int] = mapped_column(Integer)
    first_at: Mapped[datetime]
    last_at: Mapped[datetime]
    unit_us: Mapped[int]
    names: Mapped[list[str]] = mapped_column(ARRAY(Text()))
    id_steps: Mapped[list[int]] = mapped_column(ARRAY(Integer))
    first_steps: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    lived_steps: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))


class PackedInstanceSlot(Base):
    """Where a packed instance is found by its name: the hashes of the names that fall into this slot, and the ids.

    Slot 0 knows the number of slots. Ids that are packed no longer may stay: code that finds one compares its name.
    """

    __tablename__ = "packed_instance_slots"
    host_id: Mapped[int] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"), primary_key=True)
    stat_id: Mapped[int] = mapped_column(ForeignKey("stats.id", ondelete="CASCADE"), primary_key=True)
    slot: Mapped[int] = mapped_column(Integer, primary_key=True)
    n_slots: Mapped[int] = mapped_column(Integer)
    hashes: Mapped[list[int]] = mapped_column(ARRAY(Integer))
    ids: Mapped[list[int]] = mapped_column(ARRAY(Integer))


class AnyInstance(Base):
    """An instance, packed or not, by the view `all_instances`. `pack_*` are the bounds of its pack, or its own: a statement that
    also limits these does not unpack what it cannot need.
    """

    # Not a table: migrations make the view.
    __table__ = Table(
        "all_instances",
        MetaData(),
        Column("id", BigInteger, primary_key=True),
        Column("host_id", BigInteger, nullable=False),
        Column("stat_id", BigInteger, nullable=False),
        Column("name", Text, nullable=False),
        Column("first_sample_at", DateTime(timezone=True), nullable=False),
        Column("last_sample_at", DateTime(timezone=True), nullable=False),
        Column("pack_first_at", DateTime(timezone=True), nullable=False),
        Column("pack_last_at", DateTime(timezone=True), nullable=False),
    )
    id: Mapped[int]
    host_id: Mapped[int]
    stat_id: Mapped[int]
    name: Mapped[str]
    first_sample_at: Mapped[datetime]
    last_sample_at: Mapped[datetime]
    pack_first_at: Mapped[datetime]
    pack_last_at: Mapped[datetime]


class Stream(Base):
    """One run of one tool: one growing raw file on the host. Bytes below `acked_offset` are committed here.

    `spec_version` is the version of the spec that its oldest samples were read with (0: there was no such spec), and
    `reader_version` the one that `reader_state` belongs to: they differ when the spec changed while the stream grew. `stat_names`
    are the stats that it has samples of. `time_zone`, `first_day`, `start_at`, `interval_s` and `is_first_real` are the timing that
    an import gave (records.Timing); NULL for what agents send. `is_finished`: an import brought its end, and it has been read.
    `shift_s`: added to all its times (records.Timing).
    """

    __tablename__ = "streams"
    __table_args__ = (Index("uq_streams__host_id_spec_key", "host_id", "spec", "key", unique=True),)
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    host_id: Mapped[int] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"))
    spec: Mapped[str]
    key: Mapped[str]
    command: Mapped[str] = mapped_column(server_default="")
    acked_offset: Mapped[int] = mapped_column(server_default="0")
    spec_version: Mapped[int] = mapped_column(server_default="0")
    reader_state: Mapped[dict[str, object]] = mapped_column(JSONB, server_default="{}")
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)
    last_received_at: Mapped[datetime | None]
    first_sample_at: Mapped[datetime | None]
    last_sample_at: Mapped[datetime | None]
    n_header: Mapped[int] = mapped_column(server_default="0")
    n_sample: Mapped[int] = mapped_column(server_default="0")
    n_since_boot: Mapped[int] = mapped_column(server_default="0")
    n_timestamp: Mapped[int] = mapped_column(server_default="0")
    n_state_change: Mapped[int] = mapped_column(server_default="0")
    n_ignored: Mapped[int] = mapped_column(server_default="0")
    n_rejected: Mapped[int] = mapped_column(server_default="0")
    bytes_by_kind: Mapped[dict[str, int]] = mapped_column(JSONB, server_default="{}")
    n_gap_bytes: Mapped[int] = mapped_column(server_default="0")
    time_zone: Mapped[str | None]
    first_day: Mapped[dt.date | None]
    start_at: Mapped[datetime | None]
    interval_s: Mapped[float | None]
    is_first_real: Mapped[bool] = mapped_column(server_default=text("false"))
    reader_version: Mapped[int] = mapped_column(server_default="0")
    stat_names: Mapped[list[str]] = mapped_column(ARRAY(Text()), server_default=text("'{}'::text[]"))
    is_finished: Mapped[bool] = mapped_column(server_default=text("false"))
    shift_s: Mapped[float] = mapped_column(server_default="0")

    @property
    def timing(self) -> Timing:
        """The timing given from outside (by an import)."""
        return to_timing(
            self.key,
            self.time_zone,
            self.first_day,
            self.start_at,
            self.interval_s,
            is_first_real=self.is_first_real,
            shift_s=self.shift_s,
        )


class Load(Base):
    """The content of a file loaded into a stream: its first `n_bytes` bytes, by their hash.

    It identifies files with the same content, and files that have grown since and continue the stream.
    """

    __tablename__ = "loads"
    __table_args__ = (Index("ix_loads__host_id_spec", "host_id", "spec"),)
    stream_id: Mapped[int] = mapped_column(ForeignKey("streams.id", ondelete="CASCADE"), primary_key=True)
    n_bytes: Mapped[int] = mapped_column(primary_key=True)
    host_id: Mapped[int] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"))
    spec: Mapped[str]
    content_hash: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)


class Chunk(Base):
    """Raw bytes [start_offset, end_offset) of a stream, as received; `body` holds them compressed (samples/chunks.py)."""

    __tablename__ = "chunks"
    stream_id: Mapped[int] = mapped_column(ForeignKey("streams.id", ondelete="CASCADE"), primary_key=True)
    start_offset: Mapped[int] = mapped_column(primary_key=True)
    end_offset: Mapped[int]
    received_at: Mapped[datetime] = mapped_column(server_default=NOW)
    body: Mapped[bytes] = mapped_column(LargeBinary)


class PackedChunk(Base):
    """Chunks [start_offset, end_offset) of a stream, moved here from `chunks` when they were old (codecs/pack_codec.py).

    They follow each other without a gap; the last of them came at `last_received_at`.
    """

    __tablename__ = "packed_chunks"
    stream_id: Mapped[int] = mapped_column(ForeignKey("streams.id", ondelete="CASCADE"), primary_key=True)
    start_offset: Mapped[int] = mapped_column(primary_key=True)
    end_offset: Mapped[int]
    n_chunks: Mapped[int] = mapped_column(Integer)
    last_received_at: Mapped[datetime]
    directory: Mapped[bytes] = mapped_column(LargeBinary)
    body: Mapped[bytes] = mapped_column(LargeBinary)


class Rollup(Base):
    """One field of a stat of one host over a block of time, for all instances, from which wide graphs are drawn.

    `level` 0: the minutes of an hour; 1: of a day; 2: the hours of 32 days (samples/rollups/rollup_rows.py). `block_at` is the
    start of the block; codecs/rollup_codec.py defines `body`.
    """

    __tablename__ = "rollups"
    host_id: Mapped[int] = mapped_column(Integer, primary_key=True)
    stat_id: Mapped[int] = mapped_column(Integer, primary_key=True)
    level: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    field_key: Mapped[str] = mapped_column(primary_key=True)
    block_at: Mapped[datetime] = mapped_column(primary_key=True)
    body: Mapped[bytes] = mapped_column(LargeBinary)


class RollupMark(Base):
    """An hour of a stat of one host whose samples changed after it was rolled up; `generation` grows with every change."""

    __tablename__ = "rollup_marks"
    host_id: Mapped[int] = mapped_column(Integer, primary_key=True)
    stat_id: Mapped[int] = mapped_column(Integer, primary_key=True)
    hour_at: Mapped[datetime] = mapped_column(primary_key=True)
    generation: Mapped[int] = mapped_column(server_default="1")


class StoredRejectedLine(Base):
    """A line that could not be read. Texts are stored up to a number per stream and reason; the raw chunk has them all."""

    __tablename__ = "rejected_lines"
    __table_args__ = (
        Index("ix_rejected_lines__stream_id_id", "stream_id", "id"),
        # The hosts page asks every few seconds how many arrived in the last hours.
        Index("ix_rejected_lines__received_at", "received_at"),
    )
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    stream_id: Mapped[int] = mapped_column(ForeignKey("streams.id", ondelete="CASCADE"))
    line_offset: Mapped[int]
    line_no: Mapped[int]
    n_bytes: Mapped[int]
    line_text: Mapped[str]
    reason: Mapped[str]
    received_at: Mapped[datetime] = mapped_column(server_default=NOW)


class Gap(Base):
    """Bytes [start_offset, end_offset) that the agent had to drop before they could be sent."""

    __tablename__ = "gaps"
    stream_id: Mapped[int] = mapped_column(ForeignKey("streams.id", ondelete="CASCADE"), primary_key=True)
    start_offset: Mapped[int] = mapped_column(primary_key=True)
    end_offset: Mapped[int]
    reported_at: Mapped[datetime] = mapped_column(server_default=NOW)


class UserSpec(Base):
    """A user spec. The server assigns its version; the one in its text is ignored."""

    __tablename__ = "user_specs"
    name: Mapped[str] = mapped_column(primary_key=True)
    toml: Mapped[str]
    version: Mapped[int]
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)
    updated_at: Mapped[datetime] = mapped_column(server_default=NOW)


class User(Base):
    """An account; `password_hash` is None until a password is chosen (then only links open it).

    An account of a login provider is known by issuer and subject, and has no password. `is_disabled_by_provider`: it has lost its
    groups there; a login with a group enables it again. `is_limited`: it sees only the hosts of its host groups
    (user_host_groups), none without any.
    """

    __tablename__ = "users"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    role: Mapped[str]
    password_hash: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)
    disabled_at: Mapped[datetime | None]
    provider_issuer: Mapped[str | None]
    provider_subject: Mapped[str | None]
    is_disabled_by_provider: Mapped[bool] = mapped_column(server_default=text("false"))
    is_limited: Mapped[bool] = mapped_column(server_default=text("false"))

    __table_args__ = (UniqueConstraint("provider_issuer", "provider_subject"),)


class Session(Base):
    """A logged-in browser. `address`: of its last request; `browser`: in words; `means`: password, link, provider or ""."""

    __tablename__ = "sessions"
    token_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    id: Mapped[int] = mapped_column(Identity(always=True), unique=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)
    expires_at: Mapped[datetime]
    last_seen_at: Mapped[datetime] = mapped_column(server_default=NOW)
    address: Mapped[str] = mapped_column(server_default="")
    browser: Mapped[str] = mapped_column(server_default="")
    means: Mapped[str] = mapped_column(server_default="")


class LoginLink(Base):
    """A one-time login link of an account."""

    __tablename__ = "login_links"
    token_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class KnownBrowser(Base):
    """A browser that has logged in to the account, identified by its cookie, and its last address."""

    __tablename__ = "known_browsers"
    token_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True)
    address: Mapped[str]
    last_login_at: Mapped[datetime] = mapped_column(server_default=NOW)


class ApiToken(Base):
    """A token for scripts."""

    __tablename__ = "api_tokens"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    name: Mapped[str]
    role: Mapped[str]
    token_hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class AgentToken(Base):
    """A token for agents: for one host, or (host_id None) for any host, which is created on first use.

    `join_token_id`: the join token that its host enrolled with. `rotation_asked_at`: when a rotation was requested for its
    agent. `replaces_id`: the token that it replaces, which is revoked when this one is first used. `expires_at`: when it ends
    in any case.
    """

    __tablename__ = "agent_tokens"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    name: Mapped[str]
    host_id: Mapped[int | None] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"))
    token_hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    join_token_id: Mapped[int | None] = mapped_column(ForeignKey("join_tokens.id", ondelete="SET NULL"))
    replaces_id: Mapped[int | None] = mapped_column(ForeignKey("agent_tokens.id", ondelete="SET NULL"), index=True)
    rotation_asked_at: Mapped[datetime | None]
    expires_at: Mapped[datetime | None]
