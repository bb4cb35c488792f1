"""Say what is unusual about a scored series, in the words of stories."""

from normstat.comparison.findings.human import describe_range, format_human
from normstat.comparison.findings.wording import tool_of
from normstat.comparison.next_questions.question_rules import load_rules
from normstat.comparison.stories.story_table import StoryPlace, find_place
from normstat.comparison.stories.story_words import Amount, field_of, is_plural, name_subject
from normstat.watch.scores.minute_scores import UnusualSeries


def describe_series(series: UnusualSeries) -> str:
    """Return a clause with what is normal: `vda was busy 86 % of the time (normally 0 to 6 %)`."""
    place = find_place(series.stat, series.field, series.instance)
    value = Amount(format_human(series.value, series.unit))
    normal = Amount(describe_range(series.low, series.high, series.unit))
    return f"{_describe_value(series, place, value)} (normally {normal:})"


def _describe_value(series: UnusualSeries, place: StoryPlace, value: Amount) -> str:
    who = name_subject(series.stat, series.instance, place)
    if place.words:
        return place.words.format(who=who, was="were" if is_plural(who) else "was", value=value)
    meaning = load_rules().meanings.get(place.meaning)
    if meaning is not None:
        return f"{who}: {meaning.words} {value:}" if series.instance else f"{meaning.words}: {value:}"
    field = field_of(series.stat, series.field)
    column = f"{series.field if field is None else field.column} ({tool_of(series.stat)})"
    return f"{who}: {column} {value:}" if series.instance else f"{column} {value:}"
