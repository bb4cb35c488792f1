"""The processes responsible for stories, by command, with the process ids and the start where a tool reported them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np

from normstat.comparison.findings.coming_and_going import MIN_CPU_PCT, is_process_stat, least_bytes
from normstat.comparison.findings.wording import name_instance
from normstat.comparison.model import Finding, FindingGroup, ProcessChange, StoryProcess
from normstat.comparison.read_side import StatSide
from normstat.comparison.stories.story_table import StoryPlace, find_place
from normstat.comparison.stories.story_words import (
    Amount,
    describe_end,
    describe_normal,
    field_of,
    is_amount_that_matters,
    is_in_band,
    place_of,
)
from normstat.runtime.readable import format_human, format_seconds, join_words, name_processes
from normstat.stats.catalogue import load_catalogue
from normstat.stats.engine.report_sums import split_process

MAX_PIDS: Final = 20
# Clauses of one process.
MAX_CLAUSES: Final = 3
# A process began within the incident when it is missing from this many reports before its first one.
MIN_REPORTS_BEFORE: Final = 2


@dataclass
class Actor:
    """A process or command with its findings. `findings`: with their groups and places; complete before anything else is asked"""

    stat: str
    instance: str
    command: str
    findings: list[tuple[FindingGroup, Finding, StoryPlace]] = field(default_factory=list)

    @cached_property
    def telling(self) -> list[tuple[FindingGroup, Finding, StoryPlace]]:
        """The findings whose amounts matter; without such all but details; and if there are only details, those."""
        matter = [item for item in self.findings if is_amount_that_matters(item[0], item[1])]
        return matter or [item for item in self.findings if item[2].role != "detail"] or self.findings

    @property
    def topic(self) -> str:
        """The resource of which it used more or less: that of its finding with the most impact."""
        return max(self.telling, key=lambda item: (item[1].impact, item[1].anomaly_score))[2].topic

    @property
    def anomaly_score(self) -> float:
        """Of its strongest finding."""
        return max(finding.anomaly_score for _, finding, _ in self.telling)

    @property
    def impact(self) -> float:
        """Of its largest finding."""
        return max(finding.impact for _, finding, _ in self.telling)

    @property
    def pids(self) -> set[int]:
        """Process ids of its findings. Empty where the strongest one is about the command as a whole."""
        strongest = max(self.telling, key=lambda item: item[1].anomaly_score)
        if command_of(strongest[0].stat, strongest[1].instance)[0] is None:
            return set()
        pids = (command_of(group.stat, finding.instance)[0] for group, finding, _ in self.findings)
        return {pid for pid in pids if pid is not None}

    @property
    def change(self) -> ProcessChange:
        """How it differs."""
        kinds = {finding.kind for _, finding, _ in self.findings}
        if "appeared" in kinds:
            return "new"
        if "disappeared" in kinds:
            return "gone"
        strongest = max(self.telling, key=lambda item: item[1].anomaly_score)[1]
        return "less" if strongest.direction == "down" else "more"


def command_of(stat: str, instance: str) -> tuple[int | None, str]:
    """Return the process id, where the instance has one, and the command.

    >>> command_of("pidstat_linux", "29206/dd"), command_of("pidstat_linux_command", "kworker/1:1")
    ((29206, 'dd'), (None, 'kworker/1:1'))
    """
    known = load_catalogue().stats.get(stat)
    process = split_process(instance) if known is not None and known[1].instance_title == "process" else None
    return (None, instance) if process is None else (int(process[0]), process[1])


def find_actors(groups: Sequence[FindingGroup]) -> list[Actor]:
    """Return the processes of the groups, strongest first. The same command in two tools is one."""
    actors: dict[str, Actor] = {}
    for group in groups:
        if not is_process_stat(group.stat):
            continue
        for member in group.members:
            _, command = command_of(group.stat, member.instance)
            actor = actors.setdefault(command, Actor(group.stat, member.instance, command))
            actor.findings.append((group, member, place_of(group, member)))
    return sorted(actors.values(), key=lambda actor: -actor.anomaly_score)


@dataclass(frozen=True, slots=True)
class Incident:
    """The incident of a host: the samples of all its stats, when it began, and the first sample of each process id by command."""

    sides: Mapping[str, StatSide]
    start_s: float
    length_s: float
    pids: Mapping[str, Mapping[int, float]]


def find_pids(sides: Mapping[str, StatSide]) -> dict[str, dict[int, float]]:
    """Return the first sample of each process id, by command."""
    pids: dict[str, dict[int, float]] = {}
    for stat, side in sides.items():
        if not is_process_stat(stat):
            continue
        numbers, begins = np.unique(side.instance, return_index=True)
        for number, begin in zip(numbers.tolist(), begins.tolist(), strict=True):
            pid, command = command_of(stat, side.names[number])
            if pid is not None:
                time_s = float(side.times_s[side.report[begin]])
                known = pids.setdefault(command, {})
                known[pid] = min(known.get(pid, time_s), time_s)
    return pids


def describe_actor(host: str, actor: Actor, incident: Incident) -> StoryProcess:
    """Return a process with its sentence."""
    sides, start_s = incident.sides, incident.start_s
    times = incident.pids.get(actor.command, {})
    own = actor.pids
    pids = sorted(own or times, key=lambda pid: (times.get(pid, start_s), pid))
    first_s = _find_start(actor, sides)
    start_ms = None if actor.change != "new" or first_s is None else round(1000 * first_s)
    name = name_processes(actor.command, pids)
    known = load_catalogue().stats.get(actor.stat)
    if known is not None and known[1].instance_title not in ("process", "command", "thread"):
        name = name_instance(actor.stat, actor.instance)
    return StoryProcess(
        host=host,
        stat=actor.stat,
        instance=actor.instance,
        name=name,
        pids=pids[:MAX_PIDS],
        change=actor.change,
        start_ms=start_ms,
        sentence=_describe(name, actor, sides.get(actor.stat), None if start_ms is None else first_s, start_s),
    )


def _describe(name: str, actor: Actor, side: StatSide | None, first_s: float | None, start_s: float) -> str:
    if actor.change == "gone":
        group, finding, place = actor.findings[0]
        used = place.words.format(value=Amount(format_human(finding.baseline.mean, group.unit))) if place.words else ""
        return f"{name} is gone{f'; it {used} in the baseline' if used else ''}"
    if actor.change == "new":
        is_plural = name.endswith(" processes)")
        clauses = _clauses_of_use(actor, side)
        after = "" if first_s is None else f", which began {format_seconds(first_s - start_s)} into the incident,"
        new = f", which {'are' if is_plural else 'is'} new," if first_s is None else after
        return f"{name}{new} {join_words(clauses)}" if clauses else f"{name} {'are' if is_plural else 'is'} new"
    told: dict[str, str] = {}
    for group, finding, place in sorted(actor.telling, key=lambda item: -item[1].anomaly_score):
        # A process and its command may both have a finding for the same meaning.
        _, _, meaning = place.meaning.partition(".")
        # Time in the kernel is a part of CPU time.
        is_part = meaning == "sys" and "cpu" in told
        # After the first, only what is not as usual on average.
        is_news = not told or not is_in_band(finding.incident.mean, finding.baseline)
        if place.words and meaning not in told and not is_part and is_news and len(told) < MAX_CLAUSES:
            clause = place.words.format(value=Amount(format_human(finding.incident.mean, group.unit)))
            # A service that stalls: its mean alone does not show that.
            low = describe_end(finding, group.unit) if finding.direction == "down" else ""
            normal = "; ".join(end for end in (low, describe_normal(finding.baseline, group.unit)) if end)
            told[meaning] = f"{clause} ({normal})" if normal else clause
    if told:
        return f"{name} {join_words(list(told.values()))}"
    group, finding, _ = actor.findings[0]
    value, normal = format_human(finding.incident.mean, group.unit), describe_normal(finding.baseline, group.unit)
    return f"{name}: {group.column} {value} ({normal})"


def _clauses_of_use(actor: Actor, side: StatSide | None) -> list[str]:
    """Return what a new process used in the incident, as far as it matters; most impact first."""
    if side is None:
        return []
    span = side.span(actor.instance)
    if span is None:
        return []
    first = actor.findings[0][0].field
    found: dict[str, tuple[bool, float, str]] = {}
    for key in side.values:
        place, spec = find_place(actor.stat, key, actor.instance), field_of(actor.stat, key)
        values = side.part(key, span)
        if not place.words or spec is None or np.isnan(values).all():
            continue
        mean = float(np.nanmean(values))
        floor = least_bytes(spec.unit) or MIN_CPU_PCT
        # %CPU holds what %usr and %system say: the largest of a meaning counts.
        if mean < floor or (place.meaning.endswith(".sys") and "cpu_pct" in side.values):
            continue
        if place.meaning not in found or -mean / floor < found[place.meaning][1]:
            words = place.words.format(value=Amount(format_human(mean, spec.unit)))
            found[place.meaning] = (key != first, -mean / floor, words)
    return [text for _, _, text in sorted(found.values())][:MAX_CLAUSES]


def _find_start(actor: Actor, sides: Mapping[str, StatSide]) -> float | None:
    """Return the first sample of a process in the incident. Missing: None where it may have been there from the beginning."""
    side = sides.get(actor.stat)
    span = None if side is None else side.span(actor.instance)
    if side is None or span is None or span.start == span.stop:
        return None
    report = int(side.report[span.start])
    # It may have begun at any time since the report before.
    return float(side.times_s[report]) if report >= MIN_REPORTS_BEFORE else None
