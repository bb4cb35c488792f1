"""What happened, in a report: the circumstances of the incident, and other events of the hour before it and during it."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from normstat.comparison.circumstances import on_one_line, to_ms
from normstat.comparison.model import Circumstance, Comparison
from normstat.query.host_events import HostEvent
from normstat.report.markup import Markup, tag
from normstat.runtime.readable import format_clock, format_instant
from normstat.window import Window, from_us

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
    shown = [
        format_instant(from_us(at // 1000 * 1_000_000)).removesuffix(" UTC") if is_long else format_clock(at // 1000 * 1000)
        for at in ends
    ]
    return f"{' to '.join(dict.fromkeys(shown))} UTC"


# What happened this long before an incident may have led to it.
BEFORE: Final = timedelta(hours=1)
MAX_LISTED: Final = 60


def events_window(record: Comparison) -> Window:
    """Return the window whose events are reported."""
    return Window(record.start - BEFORE, record.end)


def event_section(record: Comparison, events: Sequence[HostEvent]) -> Markup | None:
    """Return the table of events that the circumstances do not list, oldest first. Missing: None without any."""
    n_told = len(events)
    events = [event for event in events if not _is_told(event, record)]
    n_told -= len(events)
    if not events:
        return None
    left_out = len(events) - MAX_LISTED
    head = tag("tr", *(tag("th", title) for title in ("Time", "Hosts", "Kind", "Event", "By")))
    rows = [_row(event, record) for event in events[-MAX_LISTED:]]
    return tag(
        "section",
        tag("h2", "Other events" if n_told else "Events"),
        tag("p", f"From {format_instant(events_window(record).start)} to the end of the incident.", class_="soft small"),
        tag("table", tag("thead", head), tag("tbody", *rows)),
        tag("p", f"{left_out} earlier events are not listed.") if left_out > 0 else None,
    )


def _is_told(event: HostEvent, record: Comparison) -> bool:
    """Return whether the circumstances below the answer list an event: at its time, with its text."""
    at_ms = to_ms(event.at if event.not_before is None else event.not_before)
    text = on_one_line(event.text)
    return any(one.kind == "event" and one.start_ms == at_ms and text in one.sentence for one in record.circumstances)


def _row(event: HostEvent, record: Comparison) -> Markup:
    time = format_instant(event.at) if event.end is None else f"{format_instant(event.at)} to {format_instant(event.end)}"
    if event.not_before is not None:
        time = f"{time} (after {format_instant(event.not_before)})"
    hosts = "all hosts" if event.hosts is None else ", ".join(host for host in event.hosts if host in record.hosts)
    text = " ".join((event.text, *(f"#{each}" for each in event.tags)))
    cells = (time, hosts, event.kind.value, text, event.author or event.source.value)
    return tag("tr", *(tag("td", cell) for cell in cells))
