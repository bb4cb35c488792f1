"""The bodies of watching: rules, backtests, episodes and mutes."""

from dataclasses import dataclass
from datetime import datetime

from normstat.runtime.body import Body, Name, Note
from normstat.runtime.field_docs import Documented
from normstat.watch.backtest_rows import Backtest, RuleText
from normstat.watch.watch_lists import EpisodeInfo, StateChange
from normstat.watch.watch_mute_rows import WatchMuteRecord
from normstat.watch.watch_rule_rows import LimitRecord


@dataclass(frozen=True, slots=True)
class RuleInputInfo(Documented):
    """A quantity that a rule looks at."""

    name: str
    meaning: str
    unit: str
    is_each: bool
    sources: list[str]
    """Fields that give it, as STAT.FIELD, the preferred one first."""


@dataclass(frozen=True, slots=True)
class RuleLimitInfo(Documented):
    """A number that conditions compare with."""

    name: str
    value: float
    unit: str
    source: str
    """Where it comes from."""


@dataclass(frozen=True, slots=True)
class RuleStateInfo(Documented):
    """A state of a rule."""

    colour: str
    when: str | None
    """Null: it holds otherwise."""
    explanation: str
    action: str


@dataclass(frozen=True, slots=True)
class RuleReading(Documented):
    """A rule's text as it was read."""

    name: str
    title: str
    subsystem: str
    of: str
    """What its instances are; empty: it has one state of the whole host."""
    about: str
    source: str
    ends_after_s: float
    inputs: list[RuleInputInfo]
    limits: list[RuleLimitInfo]
    states: list[RuleStateInfo]


@dataclass(frozen=True, slots=True)
class WatchRuleInfo(Documented):
    """A rule and its state."""

    name: str
    title: str
    subsystem: str
    of: str
    version: int
    is_builtin: bool
    is_enabled: bool
    is_watching: bool
    """Whether it is evaluated on arriving samples: enabled, readable and not stopped."""
    stopped_why: str
    """The limit that stopped it; empty while it may run."""
    problem: str
    """Why its text cannot be read; empty if it can."""
    n_hosts: int
    """Hosts that it judges."""
    n_lacking: int
    """Hosts that do not send what it needs."""
    n_on: int
    """Episodes that last."""
    n_week: int
    """Episodes that began in the last seven days."""
    updated_by: str
    updated_at: datetime | None


@dataclass(frozen=True, slots=True)
class RuleList(Documented):
    """All rules by name."""

    rules: list[WatchRuleInfo]


@dataclass(frozen=True, slots=True)
class RuleHost(Documented):
    """How far a rule has judged a host."""

    host: str
    until: datetime | None
    """The last report that it judged; null: none yet."""
    colour: int
    """Its worst state there: the place in white, blue, green, amber, red, black; -1: unknown."""
    lacks: str | None
    """The input that the host does not send."""


@dataclass(frozen=True, slots=True)
class RuleChangeInfo(Documented):
    """A change of a rule."""

    version: int
    change: str
    changed_by: str
    changed_at: datetime
    toml: str | None
    """Its text from then on; null where the text stayed."""


@dataclass(frozen=True, slots=True)
class BacktestList(Documented):
    """The backtests of a rule, the latest first; without their episodes."""

    backtests: list[Backtest]


@dataclass(frozen=True, slots=True)
class RuleDetail(Documented):
    """All about a rule."""

    info: WatchRuleInfo
    toml: str
    text: RuleReading | None
    """Null where the text cannot be read."""
    has_backtest: bool
    """Whether its present text has a backtest."""
    limits: list[LimitRecord]
    hosts: list[RuleHost]
    changes: list[RuleChangeInfo]


@dataclass(frozen=True, slots=True)
class EpisodePage(Documented):
    """Episodes, the latest first."""

    n_total: int
    episodes: list[EpisodeInfo]


@dataclass(frozen=True, slots=True)
class WatchTimeline(Documented):
    """Where the worst states of rules on hosts changed; the first entry of each is the state at the start."""

    start: datetime
    end: datetime
    changes: list[StateChange]


@dataclass(frozen=True, slots=True)
class WatchMuteList(Documented):
    """Mutes that last, that are to come, and that ended in the last week."""

    mutes: list[WatchMuteRecord]


class RulePut(Body):
    """The text of a rule, in TOML."""

    toml: RuleText


class RuleEnable(Body):
    """Whether a rule watches."""

    is_enabled: bool


class EpisodeAcknowledge(Body):
    """A note about who looks after an episode."""

    note: Note = ""


class EpisodeIncident(Body):
    """Name of the incident; without one, what the rule found."""

    name: Name | None = None
    note: Note = ""
