"""The bodies of the API. Response models have no default values, so that clients see which members are always there.

Instants are ISO 8601 with Z; bulk times are integers, milliseconds since the epoch. Every 2xx body is an object.
"""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from normstat.auth.accounts import HostGroupNames, Password
from normstat.auth.join_token_rows import JoinTokenInfo
from normstat.auth.roles import Role
from normstat.comparison.metric_choice import MetricInfo
from normstat.query.host_lists import HostInfo, InstanceInfo
from normstat.query.step_reduction import Reduction
from normstat.runtime.body import Body, Name
from normstat.stats.spec import PanelInfo

# --- accounts ---


class LoginRequest(Body):
    """Name and password of an account; `code` of its authenticator app, or a recovery code, if it has a second factor."""

    name: Name
    password: Annotated[str, StringConstraints(min_length=1, max_length=1000)]
    code: Annotated[str, StringConstraints(max_length=100)] | None = None


class LinkRequest(Body):
    """The token of a one-time login link."""

    token: Annotated[str, StringConstraints(min_length=1, max_length=200)]


class Me(Body):
    """Who is logged in; `has_password` is false until the first administrator has chosen one.

    `must_set_second_factor`: the server refuses everything else until the account has a second factor. `is_limited`: it sees
    only the hosts of its host groups. `is_read_only`: the server refuses all changes.
    """

    name: str
    role: Role
    has_password: bool
    has_second_factor: bool
    must_set_second_factor: bool
    is_from_provider: bool
    is_limited: bool
    is_read_only: bool


class LoggedOut(Body):
    """The session has ended here. `provider_logout_url`: where the browser can also log out at the login provider, or None."""

    provider_logout_url: str | None


class PasswordChange(Body):
    """A new password; `old_password` is required if there is one. By default the account's API tokens are revoked."""

    old_password: str | None = None
    new_password: Password
    revoke_api_tokens: bool = True


class UserInfo(Body):
    """An account. `host_groups`: it sees only their hosts; null: all hosts."""

    name: str
    role: Role
    has_password: bool
    has_second_factor: bool
    is_disabled: bool
    host_groups: list[str] | None
    created_at: datetime


class UserList(Body):
    """All accounts."""

    users: list[UserInfo]


class UserCreate(Body):
    """A new account. `host_groups`: the only ones whose hosts it sees, null for all hosts."""

    name: Name
    role: Role
    password: Password
    host_groups: HostGroupNames | None = None


class TokenInfo(Body):
    """A token without its secret. `host`: the only host an agent token may send for; `role`: for API tokens.

    Of agent tokens: `is_rotating`: its agent was asked to take a new one; `replaces_id`: the token that it took the place of;
    `expires_at`: when it ends in any case.
    """

    id: int
    name: str
    host: str | None
    role: Role | None
    created_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None
    is_rotating: bool
    replaces_id: int | None
    expires_at: datetime | None


class TokenList(Body):
    """Tokens, newest first."""

    tokens: list[TokenInfo]


class ApiTokenCreate(Body):
    """A new token for scripts."""

    name: Name
    role: Role


class AgentTokenCreate(Body):
    """A new agent token; without a host it may send for any host, and new hosts are created as needed."""

    name: Name
    host: Name | None = None


class NewToken(Body):
    """The secret, shown once. `command` installs the agent on a host (agent tokens only)."""

    token: str
    info: TokenInfo
    command: str | None


class AgentTokenRotation(Body):
    """The agent of the token is to take a new one; after `within_days` the old one ends in any case."""

    within_days: Annotated[int, Field(ge=1, le=365)] | None = None


class JoinTokenList(Body):
    """Join tokens, newest first."""

    tokens: list[JoinTokenInfo]


class NewJoinToken(Body):
    """The secret, shown once. `command` installs the agent on any number of hosts."""

    token: str
    info: JoinTokenInfo
    command: str


class AgentSecret(Body):
    """A new token for the agent of this host."""

    token: str
    host: str


# --- hosts ---


class HostList(Body):
    """All hosts, by name."""

    hosts: list[HostInfo]


# --- the catalogue ---


class FieldInfo(Body):
    """A column of a stat; see stats/spec.py. `meanings`: what it measures, whatever the tool calls it (`cpu.sys`, `disk.busy`)."""

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
    meanings: list[str]


class StatInfo(Body):
    """One kind of sample; `shape` tells what its instances are: table rows, keys, stacks, or buckets of distributions."""

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
    """The catalogue: all stats, in menu order."""

    stats: list[StatInfo]


class InstanceList(Body):
    """The instances of one stat that have samples in the window; `n_left_out` more are not listed."""

    instances: list[InstanceInfo]
    n_left_out: int


# --- series and coverage ---


class Resolution(StrEnum):
    """raw: every sample; envelope: the first, lowest, highest and last sample of each pixel column."""

    RAW = "raw"
    ENVELOPE = "envelope"


class SeriesSource(StrEnum):
    """Where the points come from: samples, rollups of minutes or hours, or mixed (rollups, and samples where rollups are
    missing).
    """

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
    """One time more than there are deltas: the first is start_ms, each further one adds its delta."""

    start_ms: int
    deltas: list[int]


class Series(Body):
    """Points of one series: values of real samples in both resolutions, at the times of one of the block's axes.

    null is a gap: the line must not be joined across it. `n_raw` samples were reduced to these points.
    """

    instance: str
    field: str
    unit: str
    n_raw: int
    axis: int
    values: list[float | None]


class SeriesBlock(Body):
    """Series of one stat for drawing. `n_instances_left_out` counts instances beyond the limit or below the top, and
    asked ones that the host never had.

    `column_ms`: width of a pixel column; the first column begins at `start`, or with rollups at the start of its minute or hour.
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


class HostMetrics(Body):
    """What a graph of these hosts can show; `unknown_hosts` do not exist."""

    hosts: list[str]
    unknown_hosts: list[str]
    metrics: list[MetricInfo]


class HostSeriesLine(Body):
    """The line of a host, of one of its instances, or of all hosts.

    `host`: empty for the line of all hosts, which has `n_hosts`, the number of hosts in each point. `start`: where the host's run
    begins, if runs are beside each other. `column`: the field that it is read from, as STAT.FIELD. `across`: what reduces the
    `n_instances` instances to one value; null for the samples of one. `mean`: of all its samples, or of its steps.
    """

    host: str
    start: datetime | None
    instance: str
    column: str
    across: Reduction | None
    n_instances: int
    n_raw: int
    mean: float
    axis: int
    values: list[float | None]
    n_hosts: list[int] | None


class HostWithoutLine(Body):
    """A host that is not drawn, and why."""

    host: str
    reason: str


class HostSeriesBlock(Body):
    """One metric of many hosts for drawing, the worst line first.

    `resolution`: raw and envelope as for one host; steps: one value for each step of `step_ms`, at its start. `n_hosts` of
    `n_asked` hosts (or runs) are drawn; the others are in `left_out`. `n_lines_left_out` counts lines beyond the limit or below the
    top. `metric` is null where none of the hosts exists.
    """

    metric: MetricInfo | None
    start: datetime
    end: datetime
    resolution: Literal["raw", "envelope", "steps"]
    source: SeriesSource
    column_ms: int
    step_ms: int | None
    n_asked: int
    n_hosts: int
    n_raw: int
    n_points: int
    n_lines_left_out: int
    left_out: list[HostWithoutLine]
    axes: list[SteppedAxis | DeltaAxis]
    lines: list[HostSeriesLine]


class Interval(Body):
    """Half-open [start, end)."""

    start: datetime
    end: datetime
