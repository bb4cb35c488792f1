"""The rules: built-in ones and those of users, each with its limits for a host."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, lru_cache
from importlib import resources
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.host_group_rows import list_groups
from normstat.db.schema.watch_models import StoredRule
from normstat.watch.rules.rule_file import BadRule, WatchRule, load_builtin_rules, read_rule
from normstat.watch.watch_rule_rows import LimitRecord, list_limits, list_stored_rules

log = structlog.get_logger()

# Texts of users' rules that are kept as read.
MAX_READ: Final = 256


@dataclass(frozen=True, slots=True)
class BookedRule:
    """A rule that the server knows.

    `toml`: its text; `updated_by`: who changed it last, empty for a built-in one as it comes; `stopped_why`: the limit that it
    exceeded, empty while it may run. Missing: `rule` is None where the text cannot be read any more, with `problem` saying why
    """

    name: str
    rule: WatchRule | None
    toml: str
    version: int
    is_builtin: bool
    is_enabled: bool
    updated_by: str = ""
    updated_at: datetime | None = None
    stopped_at: datetime | None = None
    stopped_why: str = ""
    problem: str = ""

    @property
    def is_own(self) -> bool:
        """Whether its inputs need no samples."""
        return self.rule is not None and self.rule.is_own

    @property
    def is_watching(self) -> bool:
        """Whether it is evaluated on arriving samples."""
        return self.is_enabled and self.rule is not None and not self.stopped_why


@dataclass(frozen=True, slots=True)
class WatchBook:
    """All rules by name, and the limits that hold on some hosts instead of a rule's own: those of tags first, then of groups and of
    hosts. `groups`: the hosts of each group
    """

    rules: Mapping[str, BookedRule]
    limits: Sequence[LimitRecord]
    groups: Mapping[str, frozenset[str]]

    def rules_for(self, host: str, tags: Sequence[str]) -> list[WatchRule]:
        """Return the rules to evaluate on the samples of a host, with its limits."""
        by_rule: dict[str, dict[str, float]] = {}
        for limit in self._limits_on(host, tags):
            by_rule.setdefault(limit.rule, {})[limit.name] = limit.value
        return [
            with_limits(booked.rule, by_rule.get(booked.name, {}))
            for booked in self.rules.values()
            if booked.is_watching and booked.rule is not None and not booked.rule.is_own
        ]

    def own_rules(self) -> list[WatchRule]:
        """Return the rules about what normstat knows without samples."""
        return [
            booked.rule for booked in self.rules.values() if booked.is_watching and booked.rule is not None and booked.rule.is_own
        ]

    def limits_of(self, rule: str, host: str, tags: Sequence[str]) -> dict[str, float]:
        """Return the limits that a host has in place of a rule's own: the host's before those of its groups, and those before its
        tags'.
        """
        return {limit.name: limit.value for limit in self._limits_on(host, tags) if limit.rule == rule}

    def _limits_on(self, host: str, tags: Sequence[str]) -> list[LimitRecord]:
        return [
            limit
            for limit in self.limits
            if limit.host == host or limit.tag in tags or host in self.groups.get(limit.group or "", frozenset())
        ]


def with_limits(rule: WatchRule, values: Mapping[str, float]) -> WatchRule:
    """Return the rule with other values of some limits; names that it does not have are left out."""
    if not values:
        return rule
    limits = tuple(replace(each, value=values.get(each.name, each.value)) for each in rule.limits)
    return replace(rule, limits=limits)


async def read_watch_book(session: AsyncSession) -> WatchBook:
    """Return all rules as they are now."""
    stored = {row.name: row for row in await list_stored_rules(session)}
    texts = builtin_texts()
    rules = {name: _book_builtin(rule, texts[name], stored.get(name)) for name, rule in load_builtin().items()}
    rules |= {name: _book_stored(row) for name, row in stored.items() if name not in rules and row.toml is not None}
    limits = await list_limits(session)
    # Few have limits for groups, and rules are read every few seconds.
    groups = await list_groups(session) if any(limit.group is not None for limit in limits) else []
    return WatchBook(dict(sorted(rules.items())), limits, {group.name: frozenset(group.hosts) for group in groups})


@cache
def load_builtin() -> Mapping[str, WatchRule]:
    """Return the built-in rules by name."""
    return load_builtin_rules()


@cache
def builtin_texts() -> Mapping[str, str]:
    """Return the texts of the built-in rules by name."""
    folder = resources.files("normstat.watch.rules") / "builtin"
    return {name: (folder / f"{name}.toml").read_text("utf-8") for name in load_builtin()}


def _book_builtin(rule: WatchRule, toml: str, row: StoredRule | None) -> BookedRule:
    if row is None or row.toml is not None:
        return BookedRule(rule.name, rule, toml, rule.version, is_builtin=True, is_enabled=rule.is_on)
    # An older version that was stopped does not stop this one.
    is_stopped = bool(row.stopped_why) and row.version == rule.version
    return BookedRule(
        name=rule.name,
        rule=rule,
        toml=toml,
        version=rule.version,
        is_builtin=True,
        is_enabled=row.is_enabled,
        updated_by=row.updated_by,
        updated_at=row.updated_at,
        stopped_at=row.stopped_at if is_stopped else None,
        stopped_why=row.stopped_why if is_stopped else "",
    )


def _book_stored(row: StoredRule) -> BookedRule:
    assert row.toml is not None
    rule, problem = None, ""
    try:
        rule = replace(_read(row.name, row.toml), version=row.version)
    except BadRule as error:
        problem = str(error)
        log.warning("rule_unreadable", rule=row.name, error=problem)
    return BookedRule(
        name=row.name,
        rule=rule,
        toml=row.toml,
        version=row.version,
        is_builtin=False,
        is_enabled=row.is_enabled,
        updated_by=row.updated_by,
        updated_at=row.updated_at,
        stopped_at=row.stopped_at,
        stopped_why=row.stopped_why,
        problem=problem,
    )


@lru_cache(MAX_READ)
def _read(name: str, toml: str) -> WatchRule:
    return read_rule(toml, f"{name}.toml")
