"""Rules as data: read and check a rule file. Errors name the entry.

A rule watches one thing on a host, or each instance of it (every CPU, every disk). Its states are tried from the worst to the best;
the first whose condition holds is the state of that report. docs/rules.md describes the format.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from typing import Final, NoReturn

from normstat.comparison.next_questions.question_rules import PLACE_HOLDERS, load_rules
from normstat.errors import shorten
from normstat.stats.catalogue import load_catalogue
from normstat.watch.rules.expression import BadExpression, Expression, TimeTo, parse_expression, parse_span

FORMAT: Final = 1
MAX_INPUTS: Final = 20
MAX_STATES: Final = 20
MAX_BYTES: Final = 100_000
# A value around a limit is one episode, not fifty.
ENDS_AFTER_S: Final = 120.0
_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,59}")
_WORD: Final = re.compile(r"[a-z][a-z0-9_]{0,29}")
_FIELD: Final = re.compile(
    r"(?P<rate>rate\()?(?P<stat>[a-z]\w*)\.(?P<key>\w+)(?:@(?P<instance>[^@()]{1,200}))?(?(rate)\))", re.ASCII
)
# A change for each second needs the report before.
RATE_SPAN_S: Final = 300.0
UNITS: Final = ("%", "ms", "bytes", "bytes/s", "1/s", "1")
# Inputs that need no samples, with their units: for built-in rules about silent hosts and the server itself.
OWN_INPUTS: Final[Mapping[str, str]] = {
    "host.silence": "s",
    "host.backlog": "s",
    "host.rejected": "lines",
    "host.rejected_before": "lines",
    "stream.silence": "s",
    "stream.interval": "s",
    "server.job_wait": "s",
    "server.disk_free": "%",
    "server.hosts_behind": "%",
}
# Facts of a host that say how many instances an input has which is only counted.
COUNT_FACTS: Final = ("cpus",)
# The kind of instance of inputs that each stream of a host has; no sample has it.
STREAM: Final = "stream"


class Colour(StrEnum):
    """A state of a rule, best first: white to green are fine, the others need attention."""

    WHITE = "white"
    BLUE = "blue"
    GREEN = "green"
    AMBER = "amber"
    RED = "red"
    BLACK = "black"


COLOURS: Final = tuple(Colour)
# The meaning of each, whatever the rule.
COLOUR_WORDS: Final[Mapping[Colour, str]] = {
    Colour.WHITE: "hardly used",
    Colour.BLUE: "used less than others of its kind",
    Colour.GREEN: "fine",
    Colour.AMBER: "warning",
    Colour.RED: "critical",
    Colour.BLACK: "failing: programs stop because of it",
}

# The same in a word or two, as the page has it.
COLOUR_LABELS: Final[Mapping[Colour, str]] = {**COLOUR_WORDS, Colour.BLUE: "used less", Colour.BLACK: "failing"}


class BadRule(ValueError):
    """A rule file cannot be used; the message names the entry."""


@dataclass(frozen=True, slots=True)
class FieldPlace:
    """A field that a rule names.

    `instance`: the one instance that is read, None for those of the rule; `is_rate`: what is read is the change of the field for
    each second, as of a counter
    """

    stat: str
    key: str
    instance: str | None = None
    is_rate: bool = False

    def __str__(self) -> str:
        text = f"{self.stat}.{self.key}" + (f"@{self.instance}" if self.instance is not None else "")
        return f"rate({text})" if self.is_rate else text


@dataclass(frozen=True, slots=True)
class WatchInput:
    """A quantity that a rule looks at.

    `meaning`: as in the file of next questions, or empty with `fields` (the preferred one first); `unit`: one of UNITS, so that a
    limit means the same whatever the tool prints; `is_each`: it has a value for each instance; `own`: a key of OWN_INPUTS, empty
    for samples; `fact`: the fact of a host, a key of COUNT_FACTS, that says how many instances there are where no stat has them
    """

    name: str
    meaning: str
    fields: tuple[FieldPlace, ...]
    unit: str
    is_each: bool
    own: str = ""
    fact: str = ""


@dataclass(frozen=True, slots=True)
class RuleLimit:
    """A number that conditions compare with. `source`: its origin"""

    name: str
    value: float
    unit: str
    source: str


@dataclass(frozen=True, slots=True)
class RuleState:
    """A state of a rule. `when`: its condition; None for the last one, which holds otherwise"""

    colour: Colour
    when: Expression | None
    action: str
    explanation: str


@dataclass(frozen=True, slots=True)
class WatchRule:
    """A rule. `of`: what its instances are (a key of PLACE_HOLDERS, or STREAM), empty for one state of the whole host.

    `ends_after_s`: how long nothing may be amber or worse before an episode has ended; `excluded`: patterns of instances that are
    not looked at; `is_on`: whether a built-in one watches by default
    """

    name: str
    title: str
    subsystem: str
    version: int
    of: str
    about: str
    source: str
    inputs: tuple[WatchInput, ...]
    limits: tuple[RuleLimit, ...]
    states: tuple[RuleState, ...]
    ends_after_s: float = ENDS_AFTER_S
    excluded: tuple[str, ...] = ()
    is_on: bool = True

    @property
    def span_s(self) -> float:
        """How far back its conditions and inputs look, in seconds."""
        span_s = max((state.when.span_s for state in self.states if state.when is not None), default=0.0)
        has_rate = any(place.is_rate for each in self.inputs for place in each.fields)
        return span_s + (RATE_SPAN_S if has_rate else 0.0)

    @property
    def times_to(self) -> tuple[TimeTo, ...]:
        """The forecasts that its conditions need, each once."""
        return tuple({each.text: each for state in self.states if state.when is not None for each in state.when.times_to}.values())

    @property
    def is_own(self) -> bool:
        """Whether its inputs need no samples; they have no recorded past."""
        return any(each.own for each in self.inputs)

    @property
    def is_of_server(self) -> bool:
        """Whether it is about the server, not about a host."""
        return any(each.own.startswith("server.") for each in self.inputs)

    def limit_values(self) -> dict[str, float]:
        """Return the limits by name."""
        return {limit.name: limit.value for limit in self.limits}


def name_parts(rule: WatchRule) -> str:
    """Return what a rule has a state for: `CPU`, `disk`, `host`."""
    return "CPU" if rule.of == "cpu" else rule.of or "host"


def read_rule(text: str, origin: str) -> WatchRule:
    """Return the rule of a file's text. `origin`: the file's name, for messages.

    Raises: BadRule
    """
    if len(text.encode()) > MAX_BYTES:
        raise BadRule(f"{origin}: a rule has at most {MAX_BYTES:,} bytes")
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadRule(f"{origin}: not TOML: {error}") from None
    return _RuleReader(origin).read(data)


def load_builtin_rules() -> dict[str, WatchRule]:
    """Return the built-in rules by name."""
    folder = resources.files("normstat.watch.rules") / "builtin"
    files = sorted((item for item in folder.iterdir() if item.name.endswith(".toml")), key=lambda item: item.name)
    rules = [read_rule(item.read_text("utf-8"), item.name) for item in files]
    return {rule.name: rule for rule in rules}


def parse_field(text: str) -> FieldPlace | None:
    """Return the place that a text names. Missing: None for another text, or for a field that is not in the catalogue.

    >>> parse_field("linux_pressure.stall_pct@memory.full")
    FieldPlace(stat='linux_pressure', key='stall_pct', instance='memory.full', is_rate=False)
    """
    match = _FIELD.fullmatch(text)
    known = None if match is None else load_catalogue().stats.get(match["stat"])
    if match is None or (known is not None and all(field.key != match["key"] for field in known[1].fields)):
        return None
    return FieldPlace(match["stat"], match["key"], match["instance"], is_rate=match["rate"] is not None)


class _RuleReader:
    """Reads one file. Every message begins with its name."""

    def __init__(self, origin: str) -> None:
        self._origin = origin

    def read(self, data: Mapping[str, object]) -> WatchRule:
        self._only(
            data, "the file", "format name title subsystem version enabled of about source ends_after except inputs limits states"
        )
        if data.get("format") != FORMAT:
            self._refuse(f"format must be {FORMAT}; found {data.get('format')!r}")
        name = self._text(data, "name", "the file")
        if _NAME.fullmatch(name) is None:
            self._refuse(f"name {shorten(name)}: small letters, digits, - and _, at most 60, a letter first")
        of = self._text(data, "of", "the file", default="")
        if of not in PLACE_HOLDERS and of != STREAM:
            self._refuse(f"of = {shorten(of)}: one of {', '.join(sorted(key for key in PLACE_HOLDERS if key))}, or left out")
        version = data.get("version")
        if not isinstance(version, int) or isinstance(version, bool) or version < 1:
            self._refuse("version must be a whole number from 1")
        inputs = self._inputs(data, of)
        limits = self._limits(data)
        states = self._states(data, inputs, limits, of)
        return WatchRule(
            name=name,
            title=self._text(data, "title", "the file"),
            subsystem=self._text(data, "subsystem", "the file"),
            version=version,
            of=of,
            about=self._text(data, "about", "the file"),
            source=self._text(data, "source", "the file"),
            inputs=inputs,
            limits=limits,
            states=states,
            ends_after_s=self._ends_after(data),
            excluded=tuple(self._texts(data, "except", "the file")),
            is_on=self._is_on(data),
        )

    def _is_on(self, data: Mapping[str, object]) -> bool:
        enabled = data.get("enabled", True)
        if not isinstance(enabled, bool):
            self._refuse(f"enabled must be true or false; found {shorten(repr(enabled))}")
        return enabled

    def _ends_after(self, data: Mapping[str, object]) -> float:
        text = self._text(data, "ends_after", "the file", default="")
        try:
            return parse_span(text) if text else ENDS_AFTER_S
        except BadExpression as error:
            self._refuse(f"ends_after: {error}")

    def _inputs(self, data: Mapping[str, object], of: str) -> tuple[WatchInput, ...]:
        table = self._table(data, "inputs")
        if not 1 <= len(table) <= MAX_INPUTS:
            self._refuse(f"[inputs] has 1 to {MAX_INPUTS} entries; found {len(table)}")
        return tuple(self._input(name, entry, of) for name, entry in table.items())

    def _input(self, name: str, entry: object, of: str) -> WatchInput:
        where = f"inputs.{name[:40]}"
        if _WORD.fullmatch(name) is None or name == "limit":
            self._refuse(f"{where}: names are small letters, digits and _, at most 30, and not 'limit'")
        if not isinstance(entry, dict):
            self._refuse(f'{where} must be a table, such as {{ meaning = "cpu.usr", unit = "%" }}')
        self._only(entry, where, "meaning fields unit each own fact")
        if own := self._text(entry, "own", where, default=""):
            return self._own_input(name, own, where, of)
        if of == STREAM:
            self._refuse(f"{where}: of = {STREAM} goes with own inputs only")
        meaning = self._text(entry, "meaning", where, default="")
        fields = self._texts(entry, "fields", where)
        if bool(meaning) == bool(fields):
            self._refuse(f"{where} needs either a meaning or fields")
        if meaning and meaning not in load_rules().meanings:
            self._refuse(f"{where}: there is no meaning {shorten(meaning)}; docs/next-questions.md lists them")
        unit = self._text(entry, "unit", where)
        if unit not in UNITS:
            self._refuse(f"{where}: unit {shorten(unit)} must be one of {', '.join(UNITS)}")
        is_each = entry.get("each", bool(of))
        if not isinstance(is_each, bool):
            self._refuse(f"{where}: each must be true or false")
        fact = self._text(entry, "fact", where, default="")
        if fact and (fact not in COUNT_FACTS or not is_each or of):
            self._refuse(f"{where}: fact = {shorten(fact)}: one of {', '.join(COUNT_FACTS)}, with each = true and without of")
        return WatchInput(name, meaning, tuple(self._field(text, where) for text in fields), unit, is_each, fact=fact)

    def _own_input(self, name: str, own: str, where: str, of: str) -> WatchInput:
        if own not in OWN_INPUTS:
            self._refuse(f"{where}: own = {shorten(own)}: one of {', '.join(OWN_INPUTS)}")
        if own.startswith(f"{STREAM}.") != (of == STREAM):
            self._refuse(f"{where}: own = {own} needs of = {STREAM}, and only such inputs do")
        return WatchInput(name, "", (), OWN_INPUTS[own], is_each=of == STREAM, own=own)

    def _field(self, text: str, where: str) -> FieldPlace:
        place = parse_field(text)
        if place is None:
            self._refuse(
                f"{where}: {shorten(text)} is not a field; write it as STAT.FIELD, STAT.FIELD@INSTANCE or rate(STAT.FIELD), "
                "as docs/stats.md lists them"
            )
        return place

    def _limits(self, data: Mapping[str, object]) -> tuple[RuleLimit, ...]:
        limits = []
        for name, entry in self._table(data, "limits", is_needed=False).items():
            where = f"limits.{name[:40]}"
            if not isinstance(entry, dict):
                self._refuse(f'{where} must be a table, such as {{ value = 20, unit = "%", source = "..." }}')
            self._only(entry, where, "value unit source")
            value = entry.get("value")
            if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < 1e300:
                self._refuse(f"{where}: value must be a number")
            unit = self._text(entry, "unit", where, default="")
            limits.append(RuleLimit(name, float(value), unit, self._text(entry, "source", where)))
        return tuple(limits)

    def _states(
        self, data: Mapping[str, object], inputs: Sequence[WatchInput], limits: Sequence[RuleLimit], of: str
    ) -> tuple[RuleState, ...]:
        entries = data.get("states")
        if not isinstance(entries, list) or not 1 <= len(entries) <= MAX_STATES:
            self._refuse(f"[[states]] must appear 1 to {MAX_STATES} times")
        names = {each.name: each.is_each for each in inputs}
        states = [
            self._state(entry, f"states[{at}]", names, frozenset(limit.name for limit in limits), of)
            for at, entry in enumerate(entries, start=1)
        ]
        for each in inputs:
            if each.fact:
                self._check_is_counted(each.name, entries)
        levels = {each.name for each in inputs if not each.own and not any(place.is_rate for place in each.fields)}
        for state in states:
            for forecast in state.when.times_to if state.when is not None else ():
                if forecast.name not in levels:
                    self._refuse(f"{forecast.text}: time_to takes a recorded level, not a rate or what normstat itself knows")
        if any(state.when is None for state in states[:-1]) or states[-1].when is not None:
            self._refuse("only the last state has no 'when': it holds where no condition does")
        used = {name for state in states if state.when is not None for name in state.when.limits}
        if unused := sorted({limit.name for limit in limits} - used):
            self._refuse(f"no condition uses limit.{unused[0]}")
        return tuple(states)

    def _state(self, entry: object, where: str, names: Mapping[str, bool], limits: frozenset[str], of: str) -> RuleState:
        if not isinstance(entry, dict):
            self._refuse(f"{where} must be a table")
        self._only(entry, where, "state when for action explanation")
        colour = self._text(entry, "state", where)
        if colour not in COLOURS:
            self._refuse(f"{where}: state {shorten(colour)} must be one of {', '.join(COLOURS)}")
        text, lasting = self._text(entry, "when", where, default=""), self._text(entry, "for", where, default="")
        if lasting and not text:
            self._refuse(f"{where}: 'for' needs a 'when'")
        when = None
        if text:
            try:
                if lasting:
                    parse_span(lasting)
                    text = f"held({text}, '{lasting}')"
                when = parse_expression(text, names, limits)
            except BadExpression as error:
                self._refuse(f"{where}.when: {error}")
            if when.is_each and not of:
                self._refuse(f"{where}.when has a value for each instance; reduce it by max_of, count_of or the like")
        return RuleState(
            Colour(colour), when, self._text(entry, "action", where), self._text(entry, "explanation", where, default="")
        )

    def _check_is_counted(self, name: str, entries: Sequence[Mapping[str, object]]) -> None:
        """Refuse conditions that look at the values of an input which may have none: facts tell its number only."""
        conditions = [str(entry.get("when", "")) for entry in entries]
        uses = sum(len(re.findall(rf"(?<![.\w]){name}\b", text)) for text in conditions)
        if uses != sum(len(re.findall(rf"\bnumber_of\(\s*{name}\s*\)", text)) for text in conditions):
            self._refuse(f"inputs.{name}: an input with a fact has no values; use it as number_of({name})")

    def _table(self, data: Mapping[str, object], key: str, *, is_needed: bool = True) -> Mapping[str, object]:
        table = data.get(key, None if is_needed else {})
        if not isinstance(table, dict):
            self._refuse(f"[{key}] is missing" if table is None else f"[{key}] must be a table")
        return table

    def _text(self, table: Mapping[str, object], key: str, where: str, default: str | None = None) -> str:
        value = table.get(key, default)
        if value is None:
            self._refuse(f"{where}: {key} is missing")
        if not isinstance(value, str):
            self._refuse(f"{where}: {key} must be text")
        if not value.strip() and default is None:
            self._refuse(f"{where}: {key} is empty")
        return " ".join(value.split())

    def _texts(self, table: Mapping[str, object], key: str, where: str) -> list[str]:
        values = table.get(key, [])
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            self._refuse(f"{where}: {key} must be a list of texts")
        return values

    def _only(self, table: Mapping[str, object], where: str, keys: str) -> None:
        if unknown := sorted(set(table) - set(keys.split())):
            self._refuse(f"{where} has {shorten(unknown[0])}; known: {keys.replace(' ', ', ')}")

    def _refuse(self, why: str) -> NoReturn:
        raise BadRule(f"{self._origin}: {why}")
