"""The events of a report: what happened on its hosts in the hour before the incident and during it."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from normstat.comparison.circumstances import on_one_line, to_ms
from normstat.comparison.model import Comparison
from normstat.query.host_events import HostEvent
from normstat.report.markup import Markup, tag
from normstat.report.words import instant
from normstat.window import Window

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
        tag("p", f"From {instant(events_window(record).start)} to the end of the incident.", class_="soft small"),
        tag("table", tag("thead", head), tag("tbody", *rows)),
        tag("p", f"{left_out} earlier events are not listed.") if left_out > 0 else None,
    )


def _is_told(event: HostEvent, record: Comparison) -> bool:
    """Return whether the circumstances below the answer list an event: at its time, with its text."""
    at_ms = to_ms(event.at if event.not_before is None else event.not_before)
    text = on_one_line(event.text)
    return any(one.kind == "event" and one.start_ms == at_ms and text in one.sentence for one in record.circumstances)


def _row(event: HostEvent, record: Comparison) -> Markup:
    time = instant(event.at) if event.end is None else f"{instant(event.at)} to {instant(event.end)}"
    if event.not_before is not None:
        time = f"{time} (after {instant(event.not_before)})"
    hosts = "all hosts" if event.hosts is None else ", ".join(host for host in event.hosts if host in record.hosts)
    text = " ".join((event.text, *(f"#{each}" for each in event.tags)))
    cells = (time, hosts, event.kind.value, text, event.author or event.source.value)
    return tag("tr", *(tag("td", cell) for cell in cells))
