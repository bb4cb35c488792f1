"""Choose the next questions for the groups of a comparison, with commands for the host's system. Pure.

Instance names come from hosts and are not trusted: only digits and plain names are filled into a command, quoted for the shell.
For any other name the command is left out; the question stays.
"""

import re
import shlex
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal

from normstat.comparison.model import Command, Question
from normstat.comparison.next_questions.question_rules import (
    PLACE_HOLDERS,
    CommandRule,
    Condition,
    QuestionRule,
    RuleBook,
    load_rules,
)
from normstat.runtime.units import to_base
from normstat.stats.fact_words import TOOLS, find_system

# Tools whose output is an artefact (artefacts/tools.py).
ARTEFACT_TOOLS: Final = frozenset({
    "bpftrace", "dtrace", "iozone", "lockstat", "ltrace", "mcelog", "perf", "plockstat", "pstack", "strace", "truss",
})  # fmt: skip
BCC: Final = "-bpfcc"
# What runs another command.
RUNNERS: Final = re.compile(r"(?:sudo\s+|timeout\s+(?:-\S+\s+(?:[A-Z]+\s+)?)*\S+\s+)*")
# These print what they found to standard error.
TO_STDERR: Final = re.compile(r"(?:truss|strace|ltrace|perf (?:stat|trace))\b")
COMPOUND: Final = re.compile(r"[;&]")
QUOTED: Final = re.compile(r"'[^']*'")


def keep_form(run: str, question: str) -> str:
    """Return the command line that runs the command and keeps what it prints. Missing: "" where that is no artefact.

    >>> keep_form("lockstat -C -D 20 sleep 10", "Which locks?")
    "lockstat -C -D 20 sleep 10 | normstat-agent put --question 'Which locks?' --command 'lockstat -C -D 20 sleep 10'"
    >>> keep_form("truss -c -p 7 & sleep 10; kill -INT $!", "Why?").startswith("( truss -c -p 7 & sleep 10; kill -INT $! ) 2>&1 | ")
    True
    >>> keep_form("prstat -mLc 1 5", "Who?")
    ''
    """
    bare = run[RUNNERS.match(run).end() :]  # type: ignore[union-attr]
    tool = bare.split(None, 1)[0]
    if tool not in ARTEFACT_TOOLS and not tool.endswith(BCC):
        return ""
    piped = f"( {run} )" if COMPOUND.search(QUOTED.sub("", run)) else run
    stderr = " 2>&1" if TO_STDERR.match(bare) and "2>&1" not in run else ""
    return f"{piped}{stderr} | normstat-agent put --question {shlex.quote(question)} --command {shlex.quote(run)}"


System = Literal["sunos", "linux", "other"]
MAX_QUESTIONS: Final = 3
MAX_COMMANDS: Final = 5
# `few`: at most this share of the instances; `most`: at least that.
FEW_SHARE: Final = 0.25
MAX_SHARE: Final = 0.5
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+@,-]{0,127}")
# A word where a command begins.
_TOOL: Final = re.compile(rf"(?:^|[;&|({{]|\b(?:do|then)\b)\s*{RUNNERS.pattern}([A-Za-z][\w-]*)")
_PROCESS: Final = re.compile(r"(\d{1,10})/.*", re.DOTALL | re.ASCII)


@dataclass(frozen=True, slots=True)
class FindingValue:
    """One member of a group. Units: medians of both sides in the unit of the field. Missing: None where a side has no sample."""

    instance: str
    kind: str
    baseline: float | None
    incident: float | None


@dataclass(frozen=True, slots=True)
class FindingContext:
    """What the rules look at in a group of findings: a field of a stat, with its strongest members first."""

    host: str
    stat: str
    field: str
    unit: str
    kind: str
    direction: str
    n_members: int
    n_instances: int
    members: tuple[FindingValue, ...]


def to_system(os: str, spec_systems: Iterable[str] = ()) -> System:
    """Return the system of a host: from `uname` as its agent sent it, else from the specs of its streams."""
    match find_system(os, spec_systems):
        case "sunos" | "linux" as system:
            return system
        case _:
            return "other"


def find_questions(
    contexts: Sequence[FindingContext],
    systems: Mapping[str, System],
    rules: RuleBook | None = None,
    tools: Mapping[str, frozenset[str]] = MappingProxyType({}),
) -> list[list[Question]]:
    """Return the questions of each context, the most specific first, at most MAX_QUESTIONS.

    `tools`: which of fact_words.TOOLS a host has; a command that needs another one of them is offered only where no other is left,
    with what to install.
    Missing: an empty list where no rule matches; a host without a system counts as `other`, and one without tools has them all
    """
    return _QuestionFinder(contexts, systems, load_rules() if rules is None else rules, tools).find()


def find_rules(contexts: Sequence[FindingContext], rules: RuleBook) -> list[list[str]]:
    """Return the names of the rules that match each context, the most specific first, for any system."""
    return _QuestionFinder(contexts, {}, rules, {}).find_names()


class _QuestionFinder:
    """All contexts, by host and meaning."""

    def __init__(
        self,
        contexts: Sequence[FindingContext],
        systems: Mapping[str, System],
        rules: RuleBook,
        tools: Mapping[str, frozenset[str]],
    ) -> None:
        self._stories = contexts
        self._tools = tools
        self._systems = systems
        self._rules = rules
        self._meanings = [
            rules.find_meanings(context.stat, context.field, [member.instance for member in context.members])
            for context in contexts
        ]
        self._by_meaning: defaultdict[tuple[str, str], list[FindingContext]] = defaultdict(list)
        for context, meanings in zip(contexts, self._meanings, strict=True):
            for meaning in meanings:
                self._by_meaning[context.host, meaning].append(context)

    def find(self) -> list[list[Question]]:
        return [self._ask(context, meanings) for context, meanings in zip(self._stories, self._meanings, strict=True)]

    def find_names(self) -> list[list[str]]:
        return [
            [rule.name for rule, _ in self.met_rules(context, meanings)]
            for context, meanings in zip(self._stories, self._meanings, strict=True)
        ]

    def _ask(self, context: FindingContext, meanings: frozenset[str]) -> list[Question]:
        questions = (self._to_question(rule, context, members, meanings) for rule, members in self.met_rules(context, meanings))
        return [question for question in questions if question is not None][:MAX_QUESTIONS]

    def met_rules(self, context: FindingContext, meanings: frozenset[str]) -> list[tuple[QuestionRule, list[FindingValue]]]:
        """Return the matching rules, each with the members that meet its first condition."""
        met = []
        for rule in self._rules.rules:
            first = rule.when[0]
            if meanings.isdisjoint(first.meanings) or not (members := _meeting(first, context)):
                continue
            if all(self._holds(condition, context, members) for condition in rule.when[1:]):
                met.append((rule, members))
        hidden = {name for rule, _ in met for name in rule.instead_of}
        # A rule with more conditions is more specific; among equals the order of the file decides.
        return sorted((item for item in met if item[0].name not in hidden), key=lambda item: -item[0].n_seen)

    def _holds(self, condition: Condition, context: FindingContext, members: Sequence[FindingValue]) -> bool:
        here = {member.instance for member in members} if condition.is_here else None
        if condition.over:
            return any(
                all(limit.holds(ratio) for limit in condition.limits) for ratio in self._ratios(condition, context.host, here)
            )
        found = any(
            here is None or any(member.instance in here for member in met)
            for meaning in condition.meanings
            for other in self._by_meaning[context.host, meaning]
            if (met := _meeting(condition, other))
        )
        return found != condition.is_absent

    def _ratios(self, condition: Condition, host: str, here: set[str] | None) -> Iterable[float]:
        """Yield the ratio of the incident medians of two meanings, by instance, where one stat has both."""
        under = {
            (context.stat, member.instance): value
            for context in self._by_meaning[host, condition.over]
            for member in context.members
            if (value := to_base(member.incident, context.unit)) is not None
        }
        for meaning in condition.meanings:
            for context in self._by_meaning[host, meaning]:
                for member in context.members:
                    value, other = to_base(member.incident, context.unit), under.get((context.stat, member.instance))
                    if value is not None and other and (here is None or member.instance in here):
                        yield value / other

    def _lacking(self, host: str, run: str) -> list[str]:
        """Return the tools of a command line that the host does not have."""
        known = self._tools.get(host)
        return [] if known is None else sorted(tools_of(run) - known)

    def _to_question(
        self, rule: QuestionRule, context: FindingContext, members: Sequence[FindingValue], meanings: frozenset[str]
    ) -> Question | None:
        """Return the question of a rule. Missing: None where the rule has commands, but none for this system."""
        system = self._systems.get(context.host, "other")
        values = _values(context, members[0].instance, {self._rules.meanings[name].of for name in meanings})
        filled = [
            (command, self._lacking(context.host, item.run))
            for item in rule.commands
            if item.on in (system, "any") and (command := fill(item, values, rule.ask)) is not None
        ]
        commands = [command for command, lacking in filled if not lacking] or [
            replace(command, note=f"Install {' and '.join(lacking)} first: not found on {context.host}. {command.note}")
            for command, lacking in filled
        ]
        if not commands and system != "other":
            return None
        return Question(rule.ask, commands[:MAX_COMMANDS])


def tools_of(run: str) -> frozenset[str]:
    """Return which of fact_words.TOOLS a command line runs.

    >>> sorted(tools_of("timeout 10 perf record -p 7; perf report | head")), sorted(tools_of("echo ::memstat | mdb -k"))
    (['perf'], ['mdb'])
    >>> tools_of("prstat -p 7 1; grep perf /proc/modules")
    frozenset()
    """
    return frozenset(_TOOL.findall(QUOTED.sub("''", run))) & TOOLS


def fill(rule: CommandRule, values: Mapping[str, str], question: str) -> Command | None:
    """Return the command with its place holders filled in. Missing: None when a value is missing."""
    if not values.keys() >= set(rule.holders):
        return None
    run = re.sub(r"\{([a-z_]+)\}", lambda found: shlex.quote(values[found[1]]), rule.run)
    return Command(run, rule.note, rule.needs, rule.source, keep_form(run, question))


def _meeting(condition: Condition, context: FindingContext) -> list[FindingValue]:
    """Return the members that meet the condition; none when the group as a whole does not."""
    if condition.direction and context.direction != condition.direction:
        return []
    if condition.spreads and _spread(context).isdisjoint(condition.spreads):
        return []
    return [
        member
        for member in context.members
        if (not condition.kinds or member.kind in condition.kinds or context.kind in condition.kinds)
        and all(
            limit.holds(to_base(member.baseline if limit.is_baseline else member.incident, context.unit))
            for limit in condition.limits
        )
    ]


def _spread(context: FindingContext) -> frozenset[str]:
    """Return the words for how many of the instances changed. In a stat of one row, that row is all instances, not one of many."""
    words = set()
    share = context.n_members / max(1, context.n_instances)
    if context.n_members == 1 and context.n_instances > 1:
        words.add("one")
    if context.n_instances > 1 and share <= FEW_SHARE:
        words.add("few")
    if share >= MAX_SHARE:
        words.add("most")
    return frozenset(words)


def _values(context: FindingContext, instance: str, kinds: Iterable[str]) -> dict[str, str]:
    """Return the values of the place holders that the instance name gives, if it has the expected form."""
    values: dict[str, str] = {}
    for kind in kinds:
        value: str | None = None
        if kind in ("process", "thread", "session"):
            found = _PROCESS.fullmatch(instance)
            value = found[1] if found else None
        elif kind == "cpu":
            value = instance if re.fullmatch(r"\d{1,5}", instance, re.ASCII) else None
        elif kind == "mount":
            value = _mount(context.stat, instance)
        elif PLACE_HOLDERS[kind]:
            value = instance if _PLAIN_NAME.fullmatch(instance) else None
        if value is not None:
            values[PLACE_HOLDERS[kind][0]] = value
    return values


def _mount(stat: str, instance: str) -> str | None:
    """Return the mount point in an instance name; nfsiostat and fsstat print an operation after it."""
    mount = instance.rpartition(" ")[0] if stat.endswith("_op") else instance
    is_plain = mount.startswith("/") and len(mount) < 512 and all(unicodedata.category(sign)[0] != "C" for sign in mount)
    return mount if is_plain else None
