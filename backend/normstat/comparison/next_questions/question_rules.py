"""Read and check the rule file of next questions (questions.toml). Errors name the entry."""

import functools
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from importlib import resources
from typing import Final

SYSTEMS: Final = ("sunos", "linux", "any")
# Kinds of instances, and the place holders that they fill.
PLACE_HOLDERS: Final = {
    "": (),
    "cpu": ("cpu",),
    "disk": ("disk",),
    "interface": ("interface",),
    "mount": ("mount",),
    "process": ("pid",),
    "thread": ("pid",),
    "command": ("command",),
    "container": (),
    "gpu": (),
    "session": ("pid",),
    "statement": (),
    "proxy": (),
}
# Digits only, so they may be within quotes, as in a D program.
NUMBERS: Final = frozenset({"cpu", "pid"})
KINDS: Final = frozenset({
    "level", "top", "bottom", "stall", "spikes", "movement", "rhythm", "frozen", "saturated", "trend", "missing",
    "appeared", "disappeared", "zero",
})  # fmt: skip
SPREADS: Final = frozenset({"one", "few", "most"})
_HOLDER: Final = re.compile(r"\{([a-z_]+)\}")
_LIMIT: Final = re.compile(r"(was)?(>=|<=)(-?\d+(?:\.\d+)?)")


class BadRules(ValueError):
    """The rule file is invalid."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern of fields: alternatives with * and ? in all three parts; without instances it matches all."""

    stats: tuple[str, ...]
    fields: tuple[str, ...]
    instances: tuple[str, ...]

    def matches(self, stat: str, field: str, instances: Iterable[str]) -> bool:
        """Return whether it matches the field, and one of the instances."""
        if not self.matches_stat(stat) or not self.matches_field(field):
            return False
        return not self.instances or any(_compiled(self.instances).match(instance) for instance in instances)

    def matches_stat(self, stat: str) -> bool:
        """Return whether it covers fields of this stat."""
        return _compiled(self.stats).match(stat) is not None

    def matches_field(self, field: str) -> bool:
        """Return whether it covers fields of this key."""
        return _compiled(self.fields).match(field) is not None


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of fields, independent of the tool. `of`: what an instance is (a key of PLACE_HOLDERS)"""

    name: str
    of: str
    words: str
    patterns: tuple[Pattern, ...]

    def is_of_all(self, stat: str, field: str) -> bool:
        """Return whether a field has this meaning whatever the instance."""
        return any(pattern.matches(stat, field, ()) for pattern in self.patterns)


@dataclass(frozen=True, slots=True)
class CommandRule:
    """A command with place holders. `source`: a manual page or an address."""

    name: str
    on: str
    run: str
    note: str
    needs: str
    source: str

    @property
    def holders(self) -> tuple[str, ...]:
        """The names of its place holders."""
        return tuple(dict.fromkeys(_HOLDER.findall(self.run)))


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound of the median of one side, in bytes, milliseconds or the field's own unit."""

    is_baseline: bool
    is_least: bool
    value: float

    def holds(self, value: float | None) -> bool:
        """Return whether a median is within the limit. Missing: an unknown median is not."""
        return value is not None and (value >= self.value if self.is_least else value <= self.value)


@dataclass(frozen=True, slots=True)
class Condition:
    """What must be (or, with `is_absent`, must not be) among the findings of a host; see the head of the rule file.

    With `over`, it is the ratio of the first meaning's median to that of `over`.
    """

    text: str
    meanings: tuple[str, ...]
    over: str
    direction: str
    spreads: frozenset[str]
    kinds: frozenset[str]
    limits: tuple[Limit, ...]
    is_here: bool
    is_absent: bool


@dataclass(frozen=True, slots=True)
class QuestionRule:
    """A question and its conditions. It belongs to the groups that meet the first one."""

    name: str
    when: tuple[Condition, ...]
    ask: str
    commands: tuple[CommandRule, ...]
    instead_of: frozenset[str]

    @property
    def n_seen(self) -> int:
        """The number of conditions that require a finding."""
        return sum(not condition.is_absent for condition in self.when)


@dataclass(frozen=True, slots=True)
class RuleBook:
    """All rules of the file."""

    meanings: Mapping[str, Meaning]
    commands: Mapping[str, CommandRule]
    rules: tuple[QuestionRule, ...]

    def find_meanings(self, stat: str, field: str, instances: Sequence[str]) -> frozenset[str]:
        """Return the names of all meanings that the field has."""
        return frozenset(
            meaning.name
            for meaning in self.meanings.values()
            if any(pattern.matches(stat, field, instances) for pattern in meaning.patterns)
        )


@functools.cache
def load_rules() -> RuleBook:
    """Return the rules of the package."""
    return parse_rules((resources.files("normstat.comparison.next_questions") / "questions.toml").read_text(encoding="utf-8"))


def parse_rules(text: str) -> RuleBook:
    """Return the rules of a text.

    Raises: BadRules with the name of the entry and what is wrong
    """
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as trouble:
        raise BadRules(f"questions: {trouble}") from None
    _only(raw, {"sources", "meanings", "commands", "rules"}, "the file")
    sources = {name: _text(raw.get("sources", {}), name, "[sources]") for name in raw.get("sources", {})}
    meanings = {name: _to_meaning(name, body) for name, body in raw.get("meanings", {}).items()}
    commands = {name: _to_command(name, body, sources) for name, body in raw.get("commands", {}).items()}
    rules = tuple(_to_rule(body, meanings, commands) for body in raw.get("rules", []))
    names = [rule.name for rule in rules]
    for name in names:
        if names.count(name) > 1:
            raise BadRules(f"rule {name}: there are two with that id")
    for rule in rules:
        if strange := rule.instead_of - set(names):
            raise BadRules(f"rule {rule.name}: instead_of names {', '.join(sorted(strange))}, which is not a rule")
    if idle := set(commands) - {command.name for rule in rules for command in rule.commands}:
        raise BadRules(f"commands that no rule offers: {', '.join(sorted(idle))}")
    return RuleBook(meanings, commands, rules)


def _to_meaning(name: str, body: object) -> Meaning:
    where = f"meaning {name}"
    table = _table(body, where)
    _only(table, {"of", "words", "fields"}, where)
    of = _text(table, "of", where, may_be_empty=True)
    if of not in PLACE_HOLDERS:
        raise BadRules(f"{where}: of is {of!r}; it is one of {', '.join(repr(known) for known in PLACE_HOLDERS)}")
    return Meaning(
        name, of, _text(table, "words", where), tuple(_to_pattern(text, where) for text in _texts(table, "fields", where))
    )


def _to_pattern(text: str, where: str) -> Pattern:
    names, _, instances = text.partition("@")
    stats, colon, fields = names.partition(":")
    if not (stats and colon and fields):
        raise BadRules(f"{where}: {text!r} is not of the form STAT:FIELD or STAT:FIELD@INSTANCE")
    return Pattern(tuple(stats.split("|")), tuple(fields.split("|")), tuple(instances.split("|")) if instances else ())


def _to_command(name: str, body: object, sources: Mapping[str, str]) -> CommandRule:
    where = f"command {name}"
    table = _table(body, where)
    _only(table, {"on", "run", "note", "needs", "source"}, where)
    source = _text(table, "source", where)
    needs = _text(table, "needs", where) if "needs" in table else ""
    command = CommandRule(
        name, _text(table, "on", where), _text(table, "run", where), _text(table, "note", where), needs, sources.get(source, source)
    )
    if command.on not in SYSTEMS:
        raise BadRules(f"{where}: on is {command.on!r}; it is one of {', '.join(SYSTEMS)}")
    if needs not in ("", "root"):
        raise BadRules(f"{where}: needs is {needs!r}; it is root or left out")
    if not re.fullmatch(r"https://\S+|[\w.+-]+\(\d\w*\)", command.source):
        raise BadRules(f"{where}: source {source!r} is no manual page, no https address and none of [sources]")
    _check_holders(command, where)
    return command


def _check_holders(command: CommandRule, where: str) -> None:
    """Require that place holders are outside of quotes: a name is quoted when filled in; digits need no quotes."""
    known = {holder for holders in PLACE_HOLDERS.values() for holder in holders}
    quote = ""
    for place, sign in enumerate(command.run):
        if sign in "'\"" and quote in ("", sign):
            quote = "" if quote else sign
        elif found := _HOLDER.match(command.run, place):
            if found[1] not in known:
                raise BadRules(f"{where}: there is no place holder {found[0]}; there are {', '.join(sorted(known))}")
            if quote and found[1] not in NUMBERS:
                raise BadRules(f"{where}: {found[0]} stands within quotes, and will be quoted itself; put it outside")
    if quote:
        raise BadRules(f"{where}: a quotation mark is missing")


def _to_rule(body: object, meanings: Mapping[str, Meaning], commands: Mapping[str, CommandRule]) -> QuestionRule:
    table = _table(body, "rule")
    name = _text(table, "id", "rule")
    where = f"rule {name}"
    _only(table, {"id", "when", "ask", "commands", "instead_of"}, where)
    when = tuple(parse_condition(text, meanings, where) for text in _texts(table, "when", where))
    if when[0].is_absent or when[0].over:
        raise BadRules(f"{where}: the question depends on its first condition, which can be neither a `no` nor a ratio")
    offered = []
    for command in _texts(table, "commands", where):
        if command not in commands:
            raise BadRules(f"{where}: there is no command {command!r}")
        if missing := set(commands[command].holders) - _possible_holders(when[0], meanings):
            raise BadRules(f"{where}: {command} wants {{{min(missing)}}}, which {when[0].text!r} never gives")
        offered.append(commands[command])
    instead_of = frozenset(_texts(table, "instead_of", where) if "instead_of" in table else ())
    return QuestionRule(name, when, _text(table, "ask", where), tuple(offered), instead_of)


def _possible_holders(condition: Condition, meanings: Mapping[str, Meaning]) -> set[str]:
    return {holder for meaning in condition.meanings for holder in PLACE_HOLDERS[meanings[meaning].of]}


def parse_condition(text: str, meanings: Mapping[str, Meaning], where: str = "condition") -> Condition:
    """Return the condition of a text.

    Raises: BadRules
    """
    words = text.split()
    is_absent = bool(words) and words[0] == "no"
    subject, *rest = words[is_absent:] or [""]
    first, _, over = subject.partition("/")
    named = tuple(first.split("|"))
    for name in (*named, *([over] if over else [])):
        if name not in meanings:
            raise BadRules(f"{where}: {text!r} names {name!r}, which is not a meaning")
    direction, spreads, kinds, is_here = "", frozenset[str](), frozenset[str](), False
    limits: list[Limit] = []
    for word in rest:
        if word in ("up", "down"):
            direction = word
        elif word == "here":
            is_here = True
        elif SPREADS.issuperset(word.split("|")):
            spreads = frozenset(word.split("|"))
        elif word.startswith("kind:") and KINDS.issuperset(word.removeprefix("kind:").split(",")):
            kinds = frozenset(word.removeprefix("kind:").split(","))
        elif limit := _LIMIT.fullmatch(word):
            limits.append(Limit(bool(limit[1]), limit[2] == ">=", float(limit[3])))
        else:
            raise BadRules(f"{where}: {text!r} holds {word!r}, which has no meaning here")
    if over and (direction or spreads or kinds or not limits):
        raise BadRules(f"{where}: {text!r} is a ratio; it takes limits and `here`, nothing else")
    return Condition(text, named, over, direction, spreads, kinds, tuple(limits), is_here, is_absent)


@functools.cache
def _compiled(patterns: tuple[str, ...]) -> re.Pattern[str]:
    # The cache of fnmatch is smaller than the number of patterns.
    return re.compile("|".join(translate(pattern) for pattern in patterns))


def _table(body: object, where: str) -> Mapping[str, object]:
    if not isinstance(body, dict):
        raise BadRules(f"{where}: not a table")
    return body


def _only(table: Mapping[str, object], known: set[str], where: str) -> None:
    if strange := set(table) - known:
        raise BadRules(f"{where}: knows no {', '.join(sorted(strange))}; it takes {', '.join(sorted(known))}")


def _text(table: Mapping[str, object], key: str, where: str, *, may_be_empty: bool = False) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not (value or may_be_empty):
        raise BadRules(f"{where}: {key} must be a text")
    return value


def _texts(table: Mapping[str, object], key: str, where: str) -> list[str]:
    value = table.get(key)
    if not isinstance(value, list) or not value or not all(isinstance(item, str) and item for item in value):
        raise BadRules(f"{where}: {key} must be a list of texts")
    return value
