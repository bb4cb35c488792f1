"""Describe what is unusual about a scored series, in the words of stories."""

from normstat.comparison.findings.stalls import Bouts, describe_bouts
from normstat.comparison.findings.wording import tool_of
from normstat.comparison.next_questions.question_rules import load_rules
from normstat.comparison.stories.story_table import find_place
from normstat.comparison.stories.story_words import Amount, field_of, is_plural, name_subject
from normstat.runtime.readable import describe_range, format_human
from normstat.watch.scores.minute_scores import Repetition, UnusualSeries


def describe_series(series: UnusualSeries) -> str:
    """Return a clause with what is normal: `vda was busy 16 % of the time (normally 0 to 6 %), 100 % for 5 s every 38 s`."""
    normal = Amount(describe_range(series.low, series.high, series.unit))
    often = ""
    if series.repetition is not None:
        reached = Amount(format_human(series.repetition.value, series.unit))
        often = f", {reached:} {_describe_often(series.repetition)}"
    return f"{_describe_value(series, series.value)} (normally {normal:}){often}"


def describe_repetition(series: UnusualSeries) -> str:
    """Return the recurring level of a series as a sentence: `vda was busy 100 % of the time for 5 s every 38 s.`"""
    assert series.repetition is not None
    return f"{_describe_value(series, series.repetition.value)} {_describe_often(series.repetition)}."


def _describe_often(own: Repetition) -> str:
    return describe_bouts(Bouts(0, own.length_s, own.period_s))


def _describe_value(series: UnusualSeries, number: float) -> str:
    place = find_place(series.stat, series.field, series.instance)
    value = Amount(format_human(number, series.unit))
    who = name_subject(series.stat, series.instance, place)
    if place.words:
        return place.words.format(who=who, was="were" if is_plural(who) else "was", value=value)
    meaning = load_rules().meanings.get(place.meaning)
    if meaning is not None:
        return f"{who}: {meaning.words} {value:}" if series.instance else f"{meaning.words}: {value:}"
    field = field_of(series.stat, series.field)
    column = f"{series.field if field is None else field.column} ({tool_of(series.stat)})"
    return f"{who}: {column} {value:}" if series.instance else f"{column} {value:}"
