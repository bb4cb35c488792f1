"""The circumstances of an incident in a report: a list below the answer, each with its time."""

from typing import Final

from normstat.comparison.model import Circumstance, Comparison
from normstat.report.markup import Markup, tag
from normstat.report.words import clock, instant_of

DAY_S: Final = 86_400


def circumstance_list(record: Comparison) -> Markup | None:
    """Return the list. Missing: None without circumstances."""
    if not record.circumstances:
        return None
    items = [tag("li", _time(one, record), f"{one.sentence}.") for one in record.circumstances]
    return tag("ul", *items, class_="circumstances small")


def _time(one: Circumstance, record: Comparison) -> Markup | None:
    times = describe_times(one, record)
    return tag("span", f"{times} ", class_="soft") if times else None


def describe_times(one: Circumstance, record: Comparison) -> str:
    """Return when it was, in UTC: `12:01:10 to 12:03:02 UTC`, with the date where the incident is longer than a day. Empty where
    the time is not known.
    """
    if one.start_ms is None:
        return ""
    is_long = (record.end - record.start).total_seconds() > DAY_S
    ends = [at for at in (one.start_ms, one.end_ms) if at is not None]
    shown = [instant_of(at).removesuffix(" UTC") if is_long else clock(at // 1000 * 1000) for at in ends]
    return f"{' to '.join(dict.fromkeys(shown))} UTC"
