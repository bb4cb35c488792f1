"""The samples that a rule is evaluated on: the fields of a host that supply its inputs, and their values by report and instance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

import numpy as np

from normstat.comparison.next_questions.question_rules import Meaning, load_rules
from normstat.comparison.read_side import StatSide
from normstat.runtime.units import BYTES, MILLISECONDS, to_base
from normstat.scoring.summary import FloatArray
from normstat.stats.catalogue import load_catalogue
from normstat.stats.spec import Field, Semantics
from normstat.stats.summaries import is_summary
from normstat.watch.rules.expression import Samples
from normstat.watch.rules.rolling import Timeline, usual_distance
from normstat.watch.rules.rule_file import FieldPlace, WatchInput, WatchRule

# A value of another tool counts for this many of that tool's intervals after its report.
MAX_AGE_DISTANCES: Final = 2.0
WHOLE_HOST: Final = ""
NOTHING: Final = np.empty(0)
NO_COUNTS: Final[Mapping[str, int]] = {}


@dataclass(frozen=True, slots=True)
class FieldSource:
    """A field of a stat that supplies an input. `instance`, `is_rate`: see FieldPlace"""

    stat: str
    field: Field
    instance: str | None = None
    is_rate: bool = False

    def __str__(self) -> str:
        return str(FieldPlace(self.stat, self.field.key, self.instance, self.is_rate))

    def has_values(self, side: StatSide) -> bool:
        """Return whether these samples have a value of it."""
        key = self.field.key
        own = slice(None) if self.instance is None else side.span(self.instance)
        values = NOTHING if own is None or key not in side.values else side.part(key, own)
        return not np.isnan(values).all()


@dataclass(frozen=True, slots=True)
class ChosenInput:
    """Where a host has an input of a rule.

    `sources`: the preferred one first; what a tool prints depends on its version and options, so the first one with values counts
    """

    name: str
    stat: str
    sources: tuple[FieldSource, ...]
    unit: str
    is_each: bool

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields to read."""
        return tuple(source.field for source in self.sources)

    def source_with_values(self, side: StatSide) -> FieldSource | None:
        """Return the first source in these samples. Missing: None without any"""
        if self.is_each and all(is_summary(self.stat, name) for name in side.names):
            return None
        return next((source for source in self.sources if source.has_values(side)), None)


@dataclass(frozen=True, slots=True)
class HourlyForecast:
    """The seconds until each instance reaches a limit, forecast again each hour.

    `starts_s`: from when on each forecast holds, ascending; `names`: the instances, one empty name for the whole host.
    Shape: starts_s (n,), seconds (n, n_instances), infinite where an instance does not come nearer to it
    """

    starts_s: FloatArray
    names: tuple[str, ...]
    seconds: FloatArray

    def at(self, times_s: FloatArray, names: Sequence[str]) -> FloatArray:
        """Return the seconds at each report. Infinite for an instance without a forecast, which has too short a past.

        Shape: -> (n_reports, n_names)
        """
        result = np.full((len(times_s), len(names)), np.inf)
        places = np.searchsorted(self.starts_s, times_s, side="right") - 1
        known = {name: number for number, name in enumerate(self.names)}
        for column, name in enumerate(names):
            if name in known and len(self.starts_s):
                own = self.seconds[np.maximum(places, 0), known[name]]
                result[:, column] = np.where(places >= 0, own, np.inf)
        return result


NO_FORECAST: Final = HourlyForecast(np.empty(0), (), np.empty((0, 0)))
NO_FORECASTS: Final[Mapping[str, HourlyForecast]] = {}


@dataclass(frozen=True, slots=True)
class RuleFrame:
    """The samples of a rule's inputs. `instances`: the columns, or one empty name for the whole host"""

    samples: Samples
    instances: tuple[str, ...]


def dimension_of(unit: str) -> str:
    """Return what a unit measures, as inputs of rules name it.

    >>> dimension_of("KiB/s"), dimension_of("us"), dimension_of("packets/s"), dimension_of("threads"), dimension_of("%")
    ('bytes/s', 'ms', '1/s', '1', '%')
    """
    name, is_rate = unit.removesuffix("/s"), unit.endswith("/s")
    if name in BYTES:
        return "bytes/s" if is_rate else "bytes"
    if name in MILLISECONDS and not is_rate:
        return "ms"
    if unit == "%":
        return "%"
    return "1/s" if is_rate else "1"


def choose_inputs(
    rule: WatchRule, stats: Sequence[str], counts: Mapping[str, int] = NO_COUNTS
) -> tuple[list[ChosenInput], list[WatchInput]]:
    """Return where a host with these stats has the inputs of a rule, and the inputs that it lacks. `counts`: by fact, what its
    facts say of the number of instances; an input without a stat is not lacking then.

    Inputs of one tool are taken together where one has all: two tools do not print at the same moments.
    """
    candidates = {each.name: find_sources(each, stats) for each in rule.inputs}
    # By the number of inputs that a stat gives; then as the rule prefers them.
    gives: dict[str, int] = {}
    for found in candidates.values():
        for stat in dict.fromkeys(source.stat for source in found):
            gives[stat] = gives.get(stat, 0) + 1
    chosen, missing = [], []
    for each in rule.inputs:
        found = candidates[each.name]
        if not found:
            if each.fact not in counts:
                missing.append(each)
            continue
        stat = max(found, key=lambda source: gives[source.stat]).stat
        sources = tuple(source for source in found if source.stat == stat)
        chosen.append(ChosenInput(each.name, stat, sources, each.unit, each.is_each))
    return chosen, missing


def name_sources(wanted: WatchInput) -> list[str]:
    """Return the fields of the catalogue that can give an input, as rules name them, the preferred one first."""
    return [str(source) for source in find_sources(wanted, list(load_catalogue().stats))]


def build_frame(
    rule: WatchRule,
    chosen: Sequence[ChosenInput],
    sides: Mapping[str, StatSide],
    counts: Mapping[str, int] = NO_COUNTS,
    forecasts: Mapping[str, HourlyForecast] = NO_FORECASTS,
) -> RuleFrame:
    """Return the samples of the chosen inputs, at the reports of the stat that supplies most of them.

    Values of other stats are those of their last report; one that is too old is missing. `sides`: by stat; `counts`: by fact, the
    number of instances of inputs that no stat gives; `forecasts`: of each `time_to` of the rule, by its text
    """
    n_inputs = {stat: sum(each.stat == stat for each in chosen) for stat in dict.fromkeys(each.stat for each in chosen)}
    first = max(n_inputs, key=lambda stat: n_inputs[stat])
    times_s = sides[first].times_s
    each = [item for item in chosen if item.is_each]
    names: tuple[str, ...] = ()
    if each:
        # The same CPUs by whichever tool: those of any input are columns.
        found = {name for item in each for name in sides[item.stat].names if not is_summary(item.stat, name)}
        names = tuple(sorted((name for name in found if not _is_excluded(rule, name)), key=_natural))
    values = {item.name: _column(item, sides[item.stat], times_s, names if item.is_each else None) for item in chosen}
    for each_forecast in rule.times_to:
        found_forecast = forecasts.get(each_forecast.text, NO_FORECAST)
        level = values[each_forecast.name]
        columns = found_forecast.at(times_s, names if level.shape[1] == len(names) and names else (WHOLE_HOST,))
        values[each_forecast.text] = np.where(np.isnan(level), np.nan, columns)
    for wanted in rule.inputs:
        if wanted.fact in counts and wanted.name not in values:
            # It is only counted: what each would be is not looked at.
            values[wanted.name] = np.zeros((len(times_s), counts[wanted.fact]))
    return RuleFrame(Samples(Timeline(times_s), values), names if rule.of else (WHOLE_HOST,))


def _is_excluded(rule: WatchRule, name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in rule.excluded)


def _column(item: ChosenInput, side: StatSide, times_s: FloatArray, names: tuple[str, ...] | None) -> FloatArray:
    source = item.source_with_values(side)
    if source is None:
        return np.full((len(times_s), 1 if names is None else len(names)), np.nan)
    key = source.field.key
    if names is None:
        own = source.instance if source.instance is not None else host_instance(item.stat, side.names)
        grid = np.full((1, len(side.times_s)), np.nan) if own is None else side.grid([(own, key)])
    else:
        grid = side.grid([(name, key) for name in names]) if names else np.empty((0, len(side.times_s)))
    values = factor_of(item.unit, source.field.unit) * (_rates(side.times_s, grid.T) if source.is_rate else grid.T)
    if len(side.times_s) == len(times_s) and np.array_equal(side.times_s, times_s):
        return values
    return _as_of(side.times_s, values, times_s)


def factor_of(unit: str, recorded: str) -> float:
    """Return what a recorded value is multiplied by to have the unit of an input."""
    return (to_base(1.0, recorded) if unit in ("ms", "bytes", "bytes/s") else 1.0) or 1.0


def _rates(times_s: FloatArray, values: FloatArray) -> FloatArray:
    """Return the change since the report before, for each second. Missing: NaN at the first one, and where a counter began again"""
    if len(times_s) == 0:
        return values
    rates = np.diff(values, axis=0) / np.diff(times_s)[:, None]
    return np.concatenate([np.full((1, values.shape[1]), np.nan), np.where(rates >= 0, rates, np.nan)])


def _as_of(own_s: FloatArray, values: FloatArray, times_s: FloatArray) -> FloatArray:
    """Return the values of the last report at or before each time. Missing: NaN where that is too long ago"""
    if len(own_s) == 0:
        return np.full((len(times_s), values.shape[1]), np.nan)
    place = np.searchsorted(own_s, times_s, side="right") - 1
    age = times_s - own_s[np.maximum(place, 0)]
    is_fresh = (place >= 0) & (age <= MAX_AGE_DISTANCES * max(usual_distance(own_s), 1.0))
    return np.where(is_fresh[:, None], values[np.maximum(place, 0)], np.nan)


def host_instance(stat: str, names: Sequence[str]) -> str | None:
    """Return the instance that stands for the whole host. Missing: None where only parts of it are reported"""
    return next((name for name in names if name == WHOLE_HOST or is_summary(stat, name)), None)


def find_fields(wanted: WatchInput, stats: Sequence[str]) -> list[tuple[str, Field]]:
    """Return the fields of these stats that give an input as they are, the preferred one first. Counters since boot are none."""
    return [(source.stat, source.field) for source in find_sources(wanted, stats) if not source.is_rate]


def find_sources(wanted: WatchInput, stats: Sequence[str]) -> list[FieldSource]:
    """Return the sources of an input in these stats, the preferred one first. A counter since boot is one for its rate."""
    known = load_catalogue().stats
    own = [stat for stat in stats if stat in known]
    if wanted.meaning:
        places = [FieldPlace(stat, key) for stat, key in _of_meaning(load_rules().meanings[wanted.meaning], own)]
    else:
        places = [place for place in wanted.fields if place.stat in own]
    sources = [
        FieldSource(place.stat, field, place.instance, place.is_rate)
        for place in places
        for field in known[place.stat][1].fields
        if field.key == place.key
    ]
    return [source for source in sources if _gives(source, wanted, has_instances=bool(known[source.stat][1].instance_title))]


def _gives(source: FieldSource, wanted: WatchInput, *, has_instances: bool) -> bool:
    if wanted.is_each and (source.instance is not None or not has_instances):
        return False
    if wanted.fact:
        # It is only counted.
        return True
    if source.is_rate:
        return source.field.semantics is not Semantics.RATE and dimension_of(f"{source.field.unit}/s") == wanted.unit
    return source.field.semantics is not Semantics.COUNTER and dimension_of(source.field.unit) == wanted.unit


def _of_meaning(meaning: Meaning, stats: Sequence[str]) -> list[tuple[str, str]]:
    known = load_catalogue().stats
    # In the order of the file: what it names first measures the meaning best.
    return list(
        dict.fromkeys(
            (stat, field.key)
            for pattern in meaning.patterns
            if not pattern.instances
            for stat in stats
            if pattern.matches_stat(stat)
            for field in known[stat][1].fields
            if pattern.matches_field(field.key)
        )
    )


def _natural(name: str) -> tuple[bool, int, str]:
    return (not name.isdecimal(), int(name) if name.isdecimal() and len(name) < 18 else 0, name)
