"""The bodies of the API. Response models have no default values, so that clients see which members are always there.

Instants are ISO 8601 with Z; bulk times are integers, milliseconds since the epoch. Every 2xx body is an object.
"""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints

from normstat.auth.password_rules import MIN_LENGTH
from normstat.auth.roles import Role
from normstat.query.host_lists import StreamState
from normstat.storage.schema.job_models import JobState

# PostgreSQL's text cannot hold the character NUL; refusing it here makes it a 422 that says where.
NO_NUL = r"^[^\x00]*$"
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=NO_NUL)]
Note = Annotated[str, StringConstraints(max_length=10_000, pattern=NO_NUL)]
Password = Annotated[str, StringConstraints(min_length=MIN_LENGTH, max_length=1000)]


class Body(BaseModel):
    """Base of all bodies: unknown members of a request are errors, not ignored wishes.

    `model_validate` takes the records of query and baseline too, whose attributes have the same names.
    """

    model_config = ConfigDict(extra="forbid", from_attributes=True)


class ErrorInfo(Body):
    """What went wrong: a stable code, a sentence, facts, and the id under which the log has it."""

    code: str
    message: str
    details: dict[str, str | int | float | bool | None | list[str]]
    request_id: str


class ErrorBody(Body):
    """The one shape of every answer that is not 2xx."""

    error: ErrorInfo


class Empty(Body):
    """Nothing to say but that it is done."""


# --- accounts ---


class LoginRequest(Body):
    """Name and password of an account."""

    name: Name
    password: Annotated[str, StringConstraints(min_length=1, max_length=1000)]


class LinkRequest(Body):
    """The token of a one-time login link."""

    token: Annotated[str, StringConstraints(min_length=1, max_length=200)]


class Me(Body):
    """Who is logged in; `has_password` is false until the first administrator has chosen one."""

    name: str
    role: Role
    has_password: bool


class PasswordChange(Body):
    """A new password; `old_password` is needed where there is one. The account's API tokens are revoked, unless told otherwise."""

    old_password: str | None = None
    new_password: Password
    revoke_api_tokens: bool = True


class UserInfo(Body):
    """An account."""

    name: str
    role: Role
    has_password: bool
    is_disabled: bool
    created_at: datetime


class UserList(Body):
    """All accounts."""

    users: list[UserInfo]


class UserCreate(Body):
    """A new account."""

    name: Name
    role: Role
    password: Password


class UserUpdate(Body):
    """What to change of an account; members left out stay. With a password, its API tokens are revoked, unless told otherwise."""

    role: Role | None = None
    password: Password | None = None
    is_disabled: bool | None = None
    revoke_api_tokens: bool | None = None


class TokenInfo(Body):
    """A token without its secret. `host` is set for an agent token that may send for that host alone; `role` for an API token."""

    id: int
    name: str
    host: str | None
    role: Role | None
    created_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None


class TokenList(Body):
    """Tokens, the newest first."""

    tokens: list[TokenInfo]


class ApiTokenCreate(Body):
    """A new token for scripts."""

    name: Name
    role: Role


class AgentTokenCreate(Body):
    """A new token for an agent; without a host it may send for any host, and each host it names is made."""

    name: Name
    host: Name | None = None


class NewToken(Body):
    """The secret, shown once. `command` is the line that installs the agent on a host (agent tokens only)."""

    token: str
    info: TokenInfo
    command: str | None


# --- hosts ---


class LineCounts(Body):
    """Lines of a stream by kind."""

    header: int
    sample: int
    since_boot: int
    timestamp: int
    state_change: int
    ignored: int
    rejected: int


class StreamInfo(Body):
    """One run of one tool on a host. `spec` names how it is read; `stats` what it yields."""

    id: int
    spec: str
    stats: list[str]
    key: str
    command: str
    state: StreamState
    created_at: datetime
    last_received_at: datetime | None
    last_sample_at: datetime | None
    acked_offset: int
    n_lines: LineCounts
    n_gap_bytes: int


class HostInfo(Body):
    """A host. `state` is that of its best stream; `clock_offset_s` how far its clock is ahead of the server's.

    `has_reject_rise`: at least ten lines were rejected in the last hour, and at least four times as many as in the hour before.
    """

    name: str
    os: str
    agent_version: str
    created_at: datetime
    last_seen_at: datetime | None
    first_sample_at: datetime | None
    last_sample_at: datetime | None
    clock_offset_s: float | None
    state: StreamState
    n_streams_live: int
    n_streams: int
    n_rejected: int
    n_rejected_last_hour: int
    n_rejected_hour_before: int
    has_reject_rise: bool
    stats: list[str]


class HostList(Body):
    """All hosts, by name."""

    hosts: list[HostInfo]


class HostDetail(Body):
    """A host and its streams, the newest first; streams that ended more than a week ago are only counted."""

    host: HostInfo
    streams: list[StreamInfo]
    n_old_streams: int


class RejectedLineInfo(Body):
    """A line that could not be read."""

    stream_id: int
    spec: str
    key: str
    line_no: int
    offset: int
    n_bytes: int
    text: str
    reason: str
    received_at: datetime


class RejectedLineList(Body):
    """Rejected lines, the newest first. `n_total` counts those too whose text is not kept; of one reason only those that are."""

    rejected_lines: list[RejectedLineInfo]
    n_total: int


# --- the catalogue ---


class FieldInfo(Body):
    """A column of a stat; see stats/spec.py."""

    key: str
    column: str
    group: str
    unit: str
    kind: Literal["gauge", "rate", "counter", "percent", "count", "time"]
    semantics: Literal["counter", "instant", "rate"]
    worse: Literal["higher", "lower", "neither"]
    decimals: int
    help: str
    source: str
    is_documented: bool


class PanelInfo(Body):
    """A graph that the host page shows by default."""

    key: str
    title: str
    section: Literal["cpu", "memory", "disk", "network", "process", "lock", "trace", "other"]
    fields: list[str]
    instances: str
    is_stacked: bool


class StatInfo(Body):
    """One kind of sample; `shape` tells what its instances are: rows of a table, keys, stacks, or buckets of distributions."""

    name: str
    title: str
    spec: str
    tool: str
    os: str
    commands: list[str]
    instance_title: str
    shape: Literal["table", "keys", "stacks", "histogram"]
    fields: list[FieldInfo]
    panels: list[PanelInfo]


class StatList(Body):
    """The catalogue: everything that can be read, in the order of menus."""

    stats: list[StatInfo]


class InstanceInfo(Body):
    """What rows of a stat are about on this host."""

    name: str
    first_sample_at: datetime
    last_sample_at: datetime


class InstanceList(Body):
    """The instances of one stat that have samples in the window; `n_left_out` more are not listed."""

    instances: list[InstanceInfo]
    n_left_out: int


# --- series and coverage ---


class Resolution(StrEnum):
    """raw: every sample; envelope: for each pixel column the first, lowest, highest and last sample, as they are."""

    RAW = "raw"
    ENVELOPE = "envelope"


class SeriesSource(StrEnum):
    """What the points come from: every sample, rollups of minutes or of hours, or rollups and samples for parts without them."""

    RAW = "raw"
    ROLLUP_MINUTE = "rollup_minute"
    ROLLUP_HOUR = "rollup_hour"
    MIXED = "mixed"


class SteppedAxis(Body):
    """`n` times: time i = start_ms + i * step_ms + the sum of the `ms` of all jumps (index, ms) at indices up to i."""

    start_ms: int
    step_ms: int
    n: int
    jumps: list[tuple[int, int]]


class DeltaAxis(Body):
    """One time more than there are deltas: each is the one before plus its delta, the first is start_ms."""

    start_ms: int
    deltas: list[int]


class Series(Body):
    """Points of one series: values of real samples in both resolutions, at the times of an axis of the block.

    A None value is a gap: the line must not be joined across it. `n_raw` samples stand behind the points.
    """

    instance: str
    field: str
    unit: str
    n_raw: int
    axis: int
    values: list[float | None]


class SeriesBlock(Body):
    """Series of one stat for drawing. `n_instances_left_out` counts instances beyond the limit or below the top.

    `column_ms`: what a pixel column stands for; the first column begins at `start`, with rollups at its minute's or hour's begin.
    """

    host: str
    stat: str
    start: datetime
    end: datetime
    resolution: Resolution
    source: SeriesSource
    column_ms: int
    n_raw: int
    n_points: int
    n_instances_left_out: int
    axes: list[SteppedAxis | DeltaAxis]
    series: list[Series]


class Interval(Body):
    """Half-open [start, end)."""

    start: datetime
    end: datetime


class GapInfo(Body):
    """Bytes that the agent had to drop before they could be sent."""

    spec: str
    key: str
    reported_at: datetime
    n_bytes: int


class StatCoverage(Body):
    """When a stat has samples inside the window. `interval_s` is the usual distance of two reports."""

    stat: str
    n_samples: int
    interval_s: float | None
    covered: list[Interval]


class Coverage(Body):
    """What there is of a host; `first_sample_at` and `last_sample_at` are over all time."""

    host: str
    start: datetime
    end: datetime
    first_sample_at: datetime | None
    last_sample_at: datetime | None
    stats: list[StatCoverage]
    gaps: list[GapInfo]


# --- baselines and comparison ---


class RuleInfo(Body):
    """Windows that come again: `start` is local time in the baseline's time zone, without a zone."""

    rrule: str
    start: Annotated[str, BeforeValidator(lambda start: start.isoformat() if isinstance(start, datetime) else start)]
    duration_s: int
    keep_days: int


class ExcludedWindow(Body):
    """A part of the windows that is left out, for a host or (null) for all, because of an exclusion."""

    start: datetime
    end: datetime
    host: str | None
    exclusion_id: int
    name: str


class ProfileInfo(Body):
    """How far the profiles of all hosts of the baseline are."""

    state: JobState
    n_done: int
    n_total: int
    message: str


class BaselineInfo(Body):
    """A period that was marked as normal. `version` grows whenever windows, hosts or time zone change.

    Windows may reach into the future: until `recording_until` the last one is being recorded. With a group the hosts are those of
    the group.
    """

    id: int
    name: str
    note: str
    hosts: list[str]
    group: str | None
    windows: list[Interval]
    excluded: list[ExcludedWindow]
    version: int
    time_zone: str
    rule: RuleInfo | None
    recording_until: datetime | None
    archived_at: datetime | None
    profile: ProfileInfo | None
    created_by: str
    created_at: datetime
    updated_at: datetime


# --- health ---


class Health(Body):
    """The server can do its work (it is 503 `database_away` otherwise); reachable without an account."""

    status: Literal["ok"]
    version: str
    storage: Literal["timescaledb-community", "timescaledb-apache", "postgresql", "unknown"]
