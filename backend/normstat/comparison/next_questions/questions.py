"""From what a comparison found to the questions to ask next, with commands for the host's system. Pure: values in, values out.

Names of instances come from hosts and are not trusted: only digits and plain names are ever filled into a command, quoted for
the shell; for any other the command is left out, and the question stands.
"""

import re
import shlex
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from normstat.comparison.next_questions.question_rules import PLACE_HOLDERS, CommandRule, Condition, Rule, RuleBook, load_rules

System = Literal["sunos", "linux", "other"]
MAX_QUESTIONS: Final = 3
MAX_COMMANDS: Final = 5
# Few: at most this share of the instances that there are; most: at least that.
FEW_SHARE: Final = 0.25
MAX_SHARE: Final = 0.5
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+@,-]{0,127}")
_PROCESS: Final = re.compile(r"(\d{1,10})/.*", re.DOTALL | re.ASCII)
_SIZES: Final = {
    "b": 1, "bytes": 1, "kb": 1024, "kib": 1024, "mb": 1024**2, "mib": 1024**2, "gb": 1024**3, "gib": 1024**3, "sectors": 512,
}  # fmt: skip
_TIMES_MS: Final = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}


@dataclass(frozen=True, slots=True)
class Sighting:
    """One series of a story. Units: medians of both sides in the unit of the field. Missing: None where a side has no sample."""

    instance: str
    kind: str
    baseline: float | None
    incident: float | None


@dataclass(frozen=True, slots=True)
class Story:
    """A group of findings: one field of one stat, with the instances that tell the same (strongest first, maybe not all)."""

    host: str
    stat: str
    field: str
    unit: str
    kind: str
    direction: str
    n_members: int
    n_instances: int
    members: tuple[Sighting, ...]


@dataclass(frozen=True, slots=True)
class Command:
    """A command ready to copy. `needs`: "root" or "". `source`: a manual page or an address."""

    command: str
    note: str
    needs: str
    source: str


@dataclass(frozen=True, slots=True)
class Question:
    """What to ask next, and the commands that may answer it on this host."""

    why: str
    commands: list[Command]


def to_system(os: str, spec_systems: Iterable[str] = ()) -> System:
    """Return the system of a host: by what its agent said (`uname`), else by the specs of what it sent."""
    name = os.strip().lower()
    if name.startswith(("sunos", "solaris", "illumos")):
        return "sunos"
    if name.startswith("linux"):
        return "linux"
    systems = set(spec_systems) - {"any", ""}
    if not name and len(systems) == 1:
        return "sunos" if systems == {"sunos"} else "linux" if systems == {"linux"} else "other"
    return "other"


def find_questions(stories: Sequence[Story], systems: Mapping[str, System], rules: RuleBook | None = None) -> list[list[Question]]:
    """Return the questions of each story, in the order of the stories; the most specific first, at most MAX_QUESTIONS of them.

    Missing: an empty list where no rule speaks of the story; a host without a system counts as `other`
    """
    return _Asking(stories, systems, load_rules() if rules is None else rules).find()


def find_rules(stories: Sequence[Story], rules: RuleBook) -> list[list[str]]:
    """Return the names of the rules that speak of each story, the most specific first, whatever the system."""
    return _Asking(stories, {}, rules).find_names()


class _Asking:
    """All stories with what they mean, by host and meaning."""

    def __init__(self, stories: Sequence[Story], systems: Mapping[str, System], rules: RuleBook) -> None:
        self._stories = stories
        self._systems = systems
        self._rules = rules
        self._meanings = [
            rules.find_meanings(story.stat, story.field, [member.instance for member in story.members]) for story in stories
        ]
        self._by_meaning: defaultdict[tuple[str, str], list[Story]] = defaultdict(list)
        for story, meanings in zip(stories, self._meanings, strict=True):
            for meaning in meanings:
                self._by_meaning[story.host, meaning].append(story)

    def find(self) -> list[list[Question]]:
        return [self._ask(story, meanings) for story, meanings in zip(self._stories, self._meanings, strict=True)]

    def find_names(self) -> list[list[str]]:
        return [
            [rule.name for rule, _ in self.met_rules(story, meanings)]
            for story, meanings in zip(self._stories, self._meanings, strict=True)
        ]

    def _ask(self, story: Story, meanings: frozenset[str]) -> list[Question]:
        questions = (self._to_question(rule, story, members, meanings) for rule, members in self.met_rules(story, meanings))
        return [question for question in questions if question is not None][:MAX_QUESTIONS]

    def met_rules(self, story: Story, meanings: frozenset[str]) -> list[tuple[Rule, list[Sighting]]]:
        """Return the rules whose question hangs on the story, with the series that meet their first condition."""
        met = []
        for rule in self._rules.rules:
            first = rule.when[0]
            if meanings.isdisjoint(first.meanings) or not (members := _meeting(first, story)):
                continue
            if all(self._holds(condition, story, members) for condition in rule.when[1:]):
                met.append((rule, members))
        hidden = {name for rule, _ in met for name in rule.instead_of}
        # A rule that wants to see more is about less, and says more; the file's order decides among equals.
        return sorted((item for item in met if item[0].name not in hidden), key=lambda item: -item[0].n_seen)

    def _holds(self, condition: Condition, story: Story, members: Sequence[Sighting]) -> bool:
        here = {member.instance for member in members} if condition.is_here else None
        if condition.over:
            return any(all(limit.holds(ratio) for limit in condition.limits) for ratio in self._ratios(condition, story.host, here))
        found = any(
            here is None or any(member.instance in here for member in met)
            for meaning in condition.meanings
            for other in self._by_meaning[story.host, meaning]
            if (met := _meeting(condition, other))
        )
        return found != condition.is_absent

    def _ratios(self, condition: Condition, host: str, here: set[str] | None) -> Iterable[float]:
        """Of the medians of the incident, instance by instance, where one stat shows both."""
        under = {
            (story.stat, member.instance): value
            for story in self._by_meaning[host, condition.over]
            for member in story.members
            if (value := _to_base(member.incident, story.unit)) is not None
        }
        for meaning in condition.meanings:
            for story in self._by_meaning[host, meaning]:
                for member in story.members:
                    value, other = _to_base(member.incident, story.unit), under.get((story.stat, member.instance))
                    if value is not None and other and (here is None or member.instance in here):
                        yield value / other

    def _to_question(self, rule: Rule, story: Story, members: Sequence[Sighting], meanings: frozenset[str]) -> Question | None:
        """Missing: None where the rule knows commands, and none for this system."""
        system = self._systems.get(story.host, "other")
        values = _values(story, members[0].instance, {self._rules.meanings[name].of for name in meanings})
        commands = [command for item in rule.commands if item.on in (system, "any") and (command := fill(item, values)) is not None]
        if not commands and system != "other":
            return None
        return Question(rule.ask, commands[:MAX_COMMANDS])


def fill(rule: CommandRule, values: Mapping[str, str]) -> Command | None:
    """Return the command with its place holders filled in. Missing: None when a value is missing."""
    if not values.keys() >= set(rule.holders):
        return None
    run = re.sub(r"\{([a-z_]+)\}", lambda found: shlex.quote(values[found[1]]), rule.run)
    return Command(run, rule.note, rule.needs, rule.source)


def _meeting(condition: Condition, story: Story) -> list[Sighting]:
    """Return the series of the story that meet the condition by themselves; none when the story as a whole does not."""
    if condition.direction and story.direction != condition.direction:
        return []
    if condition.spreads and _spread(story).isdisjoint(condition.spreads):
        return []
    return [
        member
        for member in story.members
        if (not condition.kinds or member.kind in condition.kinds or story.kind in condition.kinds)
        and all(
            limit.holds(_to_base(member.baseline if limit.is_baseline else member.incident, story.unit))
            for limit in condition.limits
        )
    ]


def _spread(story: Story) -> frozenset[str]:
    """Return which words fit how many of the instances differ. A stat of one row has all of its instances, not one of many."""
    words = set()
    share = story.n_members / max(1, story.n_instances)
    if story.n_members == 1 and story.n_instances > 1:
        words.add("one")
    if story.n_instances > 1 and share <= FEW_SHARE:
        words.add("few")
    if share >= MAX_SHARE:
        words.add("most")
    return frozenset(words)


def _to_base(value: float | None, unit: str) -> float | None:
    """Return sizes in bytes, times in milliseconds, anything else as it is; what is counted by the second stays so."""
    if value is None:
        return None
    name = unit.removesuffix("/s").lower()
    return value * _SIZES.get(name, _TIMES_MS.get(name, 1.0))


def _values(story: Story, instance: str, kinds: Iterable[str]) -> dict[str, str]:
    """Return what the instance gives for place holders; nothing where it does not look like what it should be."""
    values: dict[str, str] = {}
    for kind in kinds:
        value: str | None = None
        if kind in ("process", "thread"):
            found = _PROCESS.fullmatch(instance)
            value = found[1] if found else None
        elif kind == "cpu":
            value = instance if re.fullmatch(r"\d{1,5}", instance, re.ASCII) else None
        elif kind == "mount":
            value = _mount(story.stat, instance)
        elif kind:
            value = instance if _PLAIN_NAME.fullmatch(instance) else None
        if value is not None:
            values[PLACE_HOLDERS[kind][0]] = value
    return values


def _mount(stat: str, instance: str) -> str | None:
    """Return the mount point in an instance; nfsiostat and fsstat print an operation behind it."""
    mount = instance.rpartition(" ")[0] if stat.endswith("_op") else instance
    is_plain = mount.startswith("/") and len(mount) < 512 and all(unicodedata.category(sign)[0] != "C" for sign in mount)
    return mount if is_plain else None
