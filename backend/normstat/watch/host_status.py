"""The status of a host: a state for each subsystem by the rules, with what to do. After Virtual Adrian's live_test.se."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.comparison.read_side import StatSide, read_side
from normstat.db.schema.models import Host
from normstat.errors import TooLarge
from normstat.query.host_os import read_system
from normstat.runtime import work_budget
from normstat.runtime.field_docs import Documented
from normstat.samples.lookup import StatRef, list_host_stats, require_host
from normstat.stats.catalogue import load_catalogue
from normstat.watch.rule_book import read_watch_book
from normstat.watch.rule_budget import RuleStopped, rule_budget
from normstat.watch.rules.past import read_counts, read_inputs
from normstat.watch.rules.rule_file import COLOURS, Colour, WatchInput, WatchRule
from normstat.watch.rules.rule_frame import FieldSource, build_frame, choose_inputs, find_sources
from normstat.watch.rules.rule_run import UNKNOWN, RuleRun, run_rule, without_reports_before
from normstat.watch.rules.time_to import read_forecasts
from normstat.window import Window

# A state is that of the last report in the first span; of tools that print more rarely, in the second.
RECENT: Final = timedelta(minutes=5)
RARE: Final = timedelta(minutes=15)
# Rules that look back further are read separately.
MAX_SHARED_SPAN_S: Final = 900.0
MAX_INSTANCES: Final = 256
# The subsystems that are always shown, in the order of live_test.se, with its names for them.
SUBSYSTEMS: Final[Mapping[str, str]] = {
    "disk": "Disk",
    "net": "Networks",
    "nfs": "NFS client",
    "swap": "Swap space",
    "ram": "RAM demand",
    "kernel": "Kernel mem",
    "cpu": "CPU power",
    "mutex": "Mutex",
    "dnlc": "DNLC",
    "inode": "Inode",
    "tcp": "TCP",
}
SE_STATES: Final = "livetest_solaris"
SE_ADVICE: Final = "livetest_solaris_advice"


@dataclass(frozen=True, slots=True)
class InstanceStatus(Documented):
    """The state of one CPU, disk or other instance."""

    name: str
    colour: Colour


@dataclass(frozen=True, slots=True)
class SeStatus(Documented):
    """The verdict of live_test.se of the SE toolkit on the subsystem, where the host runs it."""

    colour: Colour
    text: str
    """Its action and explanation; empty where it gave none."""


@dataclass(frozen=True, slots=True)
class SubsystemStatus(Documented):
    """The state of a subsystem: that of the rule with the worst one."""

    subsystem: str
    colour: Colour | None
    """Null: no rule could be judged."""

    rule: str | None
    title: str
    """The title of the rule. Empty without a rule, as are `explanation` and `action`."""

    explanation: str
    action: str
    instances: list[InstanceStatus]
    """The states of the rule's instances, the worst first, at most 256; empty for a rule about the whole host."""

    n_rules: int
    """How many rules were judged."""

    needs: str
    """Where no rule could be judged: a field that one of them needs. Empty otherwise."""

    se: SeStatus | None


@dataclass(frozen=True, slots=True)
class HostStatus(Documented):
    """The state of a host at a moment, by its subsystems: the worst of them."""

    host: str
    at: datetime
    colour: Colour | None
    """Null: no rule could be judged."""

    se: SeStatus | None
    """The overall state that live_test.se printed."""

    rows: list[SubsystemStatus]


@dataclass(frozen=True, slots=True)
class _Judged:
    """A rule with the last known states. Shape: states (n_instances,), places in the rule's `states`; UNKNOWN"""

    rule: WatchRule
    instances: tuple[str, ...]
    states: np.ndarray

    @property
    def colours(self) -> list[int]:
        """Places in COLOURS. Missing: UNKNOWN"""
        table = [COLOURS.index(state.colour) for state in self.rule.states]
        return [table[place] if place != UNKNOWN else UNKNOWN for place in self.states.tolist()]


async def read_status(session: AsyncSession, host: str, at: datetime) -> HostStatus:
    """Return the status of a host at a moment.

    Raises: NotFound for an unknown host
    """
    host_id = await require_host(session, host)
    stats = {stat.name: stat for stat in await list_host_stats(session, host_id)}
    row = await session.get_one(Host, host_id)
    rules = (await read_watch_book(session)).rules_for(host, [*row.tags, *row.agent_tags])
    counts = await read_counts(session, host_id, at)
    reader = _Reader(session, host_id, stats, rules, at, counts=counts)
    judged: dict[str, list[_Judged]] = {}
    for rule in rules:
        found = await reader.judge(rule)
        if found is not None:
            judged.setdefault(rule.subsystem, []).append(found)
    said = await _read_se(session, host_id, stats, at)
    system = await read_system(session, host, stats)
    rows = []
    for subsystem in dict.fromkeys([*SUBSYSTEMS, *sorted(judged)]):
        own = [rule for rule in rules if rule.subsystem == subsystem]
        se = said.get(SUBSYSTEMS.get(subsystem, ""))
        if subsystem in judged:
            rows.append(_to_row(subsystem, judged[subsystem], se))
        elif se is not None or any(_may_be_on(rule, system) for rule in own):
            rows.append(SubsystemStatus(subsystem, None, None, "", "", "", [], 0, _name_need(own, stats, system, counts), se))
    worst = max((COLOURS.index(own.colour) for own in rows if own.colour is not None), default=None)
    return HostStatus(host, at, None if worst is None else COLOURS[worst], said.get("Overall"), rows)


class _Reader:
    """Judges rules at a moment; what several of them read is read once."""

    def __init__(
        self,
        session: AsyncSession,
        host_id: int,
        stats: Mapping[str, StatRef],
        rules: Sequence[WatchRule],
        at: datetime,
        *,
        counts: Mapping[str, int],
    ) -> None:
        self._session, self._host_id, self._stats, self._at, self._counts = session, host_id, stats, at, counts
        shared = [rule for rule in rules if rule.span_s <= MAX_SHARED_SPAN_S]
        self._span_s = max((rule.span_s for rule in shared), default=0.0)
        self._keys: dict[str, set[str]] = {}
        for rule in shared:
            for stat in stats:
                for each in choose_inputs(rule, [stat])[0]:
                    self._keys.setdefault(stat, set()).update(field.key for field in each.fields)
        self._sides: dict[tuple[str, timedelta], StatSide] = {}

    async def judge(self, rule: WatchRule) -> _Judged | None:
        """Return the last states of a rule. Missing: None where it cannot be judged"""
        if choose_inputs(rule, list(self._stats), self._counts)[1]:
            return None
        for length in (RECENT, RARE):
            try:
                with rule_budget():
                    found = await self._judge_within(rule, length)
            except (RuleStopped, TooLarge):
                return None
            if found is not None:
                return found
        return None

    async def _judge_within(self, rule: WatchRule, length: timedelta) -> _Judged | None:
        async def read(stat: str, keys: frozenset[str]) -> StatSide:
            if rule.span_s > MAX_SHARED_SPAN_S:
                return await self._read(stat, keys, length, rule.span_s)
            if (stat, length) not in self._sides:
                self._sides[stat, length] = await self._read(stat, keys | self._keys.get(stat, set()), length, self._span_s)
            return self._sides[stat, length]

        chosen, sides = await read_inputs(rule, list(self._stats), read, self._counts)
        if not chosen:
            return None
        window = Window(self._at - length, self._at)
        forecasts = await read_forecasts(self._session, self._host_id, rule, chosen, stats=self._stats, window=window)
        run = await work_budget.run_in_thread(lambda: run_rule(rule, build_frame(rule, chosen, sides, self._counts, forecasts)))
        return _take_last(without_reports_before(run, (self._at - length).timestamp()))

    async def _read(self, stat: str, keys: frozenset[str], length: timedelta, span_s: float) -> StatSide:
        fields = [field for field in self._stats[stat].fields if field.key in keys]
        window = Window(self._at - length - timedelta(seconds=span_s), self._at)
        return await read_side(self._session, self._host_id, self._stats[stat], (window,), fields=fields, max_rows=None)


def _take_last(run: RuleRun) -> _Judged | None:
    """Return the states of the last report in which one is known. Missing: None without such a report"""
    places = np.flatnonzero((run.states != UNKNOWN).any(axis=1))
    return None if len(places) == 0 else _Judged(run.rule, run.instances, run.states[places[-1]])


def _to_row(subsystem: str, judged: Sequence[_Judged], se: SeStatus | None) -> SubsystemStatus:
    worst = max(judged, key=lambda own: max(own.colours))
    colours = worst.colours
    state = worst.rule.states[int(worst.states[colours.index(max(colours))])]
    ordered = sorted(
        ((colour, name) for colour, name in zip(colours, worst.instances, strict=True) if colour != UNKNOWN),
        key=lambda own: -own[0],
    )
    instances = [InstanceStatus(name, COLOURS[colour]) for colour, name in ordered[:MAX_INSTANCES]] if worst.rule.of else []
    return SubsystemStatus(
        subsystem, state.colour, worst.rule.name, worst.rule.title, state.explanation, state.action, instances, len(judged), "", se
    )


def _may_be_on(rule: WatchRule, system: str) -> bool:
    """Return whether a host of this system can send what a rule needs."""
    return all(_sources_on(each, system) for each in rule.inputs)


def _sources_on(wanted: WatchInput, system: str) -> list[FieldSource]:
    """Return the fields that supply an input on a system, those of its own tools first; of all systems where it is unknown."""
    own = [each for each in find_sources(wanted, list(load_catalogue().stats)) if not system or _os_of(each) in (system, "any")]
    return sorted(own, key=lambda each: _os_of(each) != system)


def _os_of(source: FieldSource) -> str:
    return load_catalogue().stats[source.stat][0].os


def _name_need(
    rules: Sequence[WatchRule], stats: Mapping[str, StatRef], system: str, counts: Mapping[str, int]
) -> str:  # fmt: skip
    """Return a field that one of these rules needs and the host does not send, of the system's own tools if possible.

    Empty where the host sends them, but not now
    """
    missing = [wanted for rule in rules for wanted in choose_inputs(rule, list(stats), counts)[1][:1]]
    first = [sources[0] for wanted in missing if (sources := _sources_on(wanted, system))]
    return str(min(first, key=lambda source: _os_of(source) != system)) if first else ""


async def _read_se(session: AsyncSession, host_id: int, stats: Mapping[str, StatRef], at: datetime) -> dict[str, SeStatus]:
    """Return the last verdict of live_test.se on each subsystem, by its name for it; and on the host, as Overall."""
    if SE_STATES not in stats:
        return {}
    window = Window(at - RARE, at)
    states = await _read_last(session, host_id, stats[SE_STATES], window)
    advice = await _read_last(session, host_id, stats[SE_ADVICE], window) if SE_ADVICE in stats else {}
    texts: dict[str, list[str]] = {}
    for name in advice:
        subsystem, _, text = name.partition(": ")
        texts.setdefault(subsystem, []).append(text)
    return {
        name: SeStatus(COLOURS[int(value)], ". ".join(texts.get(name, ())))
        for name, value in states.items()
        if 0 <= value < len(COLOURS)
    }


async def _read_last(session: AsyncSession, host_id: int, stat: StatRef, window: Window) -> dict[str, float]:
    """Return the states of the last report of a window, by instance."""
    fields = [field for field in stat.fields if field.key == "state"]
    side = await read_side(session, host_id, stat, (window,), fields=fields, max_rows=None)
    is_last = side.report == len(side.times_s) - 1
    return {
        side.names[instance]: float(value)
        for instance, value in zip(side.instance[is_last].tolist(), side.values["state"][is_last].tolist(), strict=True)
    }
