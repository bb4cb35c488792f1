"""The report: one HTML file without scripts that needs no server and no network, to read, archive and print."""

import base64
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import metadata, resources
from typing import Final

from normstat.comparison.model import Comparison, FindingGroup
from normstat.query.host_events import HostEvent
from normstat.report.charts import draw_finding
from normstat.report.event_section import circumstance_list, event_section
from normstat.report.ledger_section import ledger_section
from normstat.report.markup import Markup, join, tag
from normstat.report.numbers import write_csv
from normstat.report.stories import lead_of, story_section
from normstat.report.tables import ARROWS, WORSE, group_table, median_change, member_change, other_series, series_name, side_table
from normstat.runtime.readable import count_of, format_duration, format_instant, format_number
from normstat.window import Window

# Limits of what is described; the table of all findings has a row for each group, the CSV all numbers.
MAX_GROUPS: Final = 30
MAX_GRAPHS: Final = 4
MAX_MEMBERS: Final = 6
MAX_NAMES: Final = 40
MAX_WINDOWS: Final = 60
FIRST_SENTENCES: Final = 5
# A browser runs nothing of the file and fetches nothing.
POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True, slots=True)
class Cover:
    """The title of the report and its origin, and what happened meanwhile. `address`: of the comparison on the page, or ""."""

    title: str
    note: str
    made_by: str
    made_at: datetime
    address: str
    events: tuple[HostEvent, ...] = ()


def render_report(record: Comparison, cover: Cover) -> str:
    """Return the whole file as text."""
    body = tag(
        "body",
        _header(record, cover),
        ledger_section(record),
        _summary(record),
        story_section(record),
        event_section(record, cover.events),
        _details(record),
        _inputs(record, cover),
        _numbers(record),
        tag(
            "footer", f"Created by normstat {version()} on {format_instant(cover.made_at)} for {cover.made_by}. All times are UTC."
        ),
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", cover.title),
        tag("style", Markup(page_style())),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _details(record: Comparison) -> Markup:
    """Return all groups and the other series: below the stories on a screen only, or the report itself without stories."""
    parts = (_findings(record), group_table(record, MAX_GROUPS), other_series(record))
    if not record.stories:
        return join(*parts)
    summary = tag("summary", f"{count_of(record.n_groups, 'change')}, next questions and other series")
    return tag("details", summary, *parts, class_="screen")


def title_of(record: Comparison) -> str:
    """Return the title of a comparison without a name."""
    return f"{', '.join(record.hosts)}: {format_instant(record.start)} against {record.against.name}"


@functools.cache
def version() -> str:
    """Return the version of the program."""
    return metadata.version("normstat")


@functools.cache
def page_style() -> str:
    """Return the style sheet of reports."""
    return (resources.files("normstat.report") / "style.css").read_text(encoding="utf-8")


def _header(record: Comparison, cover: Cover) -> Markup:
    return tag(
        "header",
        tag("h1", cover.title),
        tag("p", f"{', '.join(record.hosts)} · {format_instant(record.start)} to {format_instant(record.end)}", class_="soft"),
        tag("p", lead_of(record), class_="verdict"),
        circumstance_list(record),
        tag("ul", *(tag("li", note) for note in record.notes), class_="soft small") if record.notes else None,
        tag("div", cover.note, class_="notes") if cover.note.strip() else None,
    )


def _summary(record: Comparison) -> Markup:
    # The stories say it better.
    told = [] if record.stories else record.groups[:FIRST_SENTENCES]
    first = [tag("li", tag("a", group.sentence, href=f"#g{group.rank}")) for group in told]
    return tag(
        "section",
        tag("h2", "Summary"),
        tag("p", _in_words(record)),
        tag("div", _baseline_side(record), _incident_side(record), class_="sides"),
        tag("p", record.seasonal_note) if record.seasonal_note else None,
        tag("p", record.divisor_note) if record.divisor_note else None,
        tag("p", f"All series are divided by {record.divisor}.") if record.divisor else None,
        tag("p", "Top findings:") if first else None,
        tag("ol", *first, class_="first") if first else None,
    )


def _in_words(record: Comparison) -> str:
    counts = record.counts
    parts = [f"{count_of(record.n_series, 'series', 'series')} compared: {record.n_unchanged:,} unchanged"]
    if record.n_findings:
        groups = count_of(record.n_groups, "group of related changes", "groups of related changes")
        parts.append(f"{record.n_findings:,} changed, in {groups}")
    for n, what in (
        (counts.appeared, "appeared"),
        (counts.disappeared, "disappeared"),
        (counts.insufficient_data, "with insufficient data"),
        (counts.muted, "muted"),
    ):
        if n:
            parts.append(f"{n:,} {what}")
    return f"{'; '.join(parts)}."


def _baseline_side(record: Comparison) -> Markup:
    against = record.against
    said = f"version {against.version}, " if against.version is not None else ""
    windows = against.windows
    return tag(
        "div",
        tag("b", "Baseline"),
        f" {against.name} ({said}{count_of(len(windows), 'window')})",
        tag("p", _span(windows), class_="soft"),
        tag("p", _covered(record.sides.baseline.covered_s, record.sides.baseline.n_samples), class_="soft"),
        class_="baseline",
    )


def _incident_side(record: Comparison) -> Markup:
    return tag(
        "div",
        tag("b", "Incident"),
        f" {format_duration((record.end - record.start).total_seconds())}",
        tag("p", f"{format_instant(record.start)} to {format_instant(record.end)}", class_="soft"),
        tag("p", _covered(record.sides.incident.covered_s, record.sides.incident.n_samples), class_="soft"),
        class_="incident",
    )


def _covered(seconds: float, n_samples: int) -> str:
    return f"{format_duration(seconds)} with samples, {count_of(n_samples, 'sample')}"


def _span(windows: Sequence[Window]) -> str:
    if not windows:
        return "no window"
    return f"{format_instant(windows[0].start)} to {format_instant(windows[-1].end)}"


def _findings(record: Comparison) -> Markup:
    shown = record.groups[:MAX_GROUPS]
    if not shown:
        return tag("section", tag("h2", "Findings"), tag("p", "No series changed more than its normal variation."))
    legend = (
        "Each graph shows the lowest and highest value of the incident over time (solid) over the band of the baseline (p5 to p95, "
        "median dashed). Beside it, the distribution of values: baseline left, incident right."
    )
    asked: set[str] = set()
    return tag(
        "section",
        tag("h2", "Findings"),
        tag("p", legend, class_="soft"),
        *(_group(group, asked) for group in shown),
        tag("p", f"{count_of(record.n_groups - len(shown), 'more group')} in the table below.", class_="soft")
        if record.n_groups > len(shown)
        else None,
    )


def _group(group: FindingGroup, asked: set[str]) -> Markup:
    """Return a group with its graphs, numbers and questions. A question is printed once per report."""
    instance = group.instances[0] if len(group.instances) == 1 else ""
    names = group.instances[:MAX_NAMES]
    more = max(group.n_members, len(group.instances)) - len(names)
    return tag(
        "article",
        tag(
            "div",
            tag("h3", tag("span", f"{group.rank}. ", class_="rank"), series_name(group.host, group.stat, group.field, instance)),
            _chips(group),
            tag("p", group.sentence),
            tag("p", group.help, class_="soft") if group.help else None,
            class_="head",
        ),
        tag("div", *_graphs(group), class_="graphs"),
        side_table(group, MAX_MEMBERS),
        tag("p", "Changed: ", tag("bdi", ", ".join(names)), f" and {more:,} more" if more > 0 else None, class_="soft")
        if len(names) > 1
        else None,
        tag("div", tag("h4", "Related groups"), tag("ul", *(tag("li", sentence) for sentence in group.related)))
        if group.related
        else None,
        _questions(group, asked),
        class_="group",
        id=f"g{group.rank}",
        data_worse=WORSE[group.is_worse] or None,
    )


def _chips(group: FindingGroup) -> Markup:
    said = (
        f"{ARROWS[group.direction]} {group.kind}",
        WORSE[group.is_worse],
        median_change(group),
        f"change ratio {format_number(group.change_ratio)}",
        f"impact {format_number(100 * group.impact)} %",
        f"{group.n_members:,} of {group.n_instances:,} changed" if group.n_instances > 1 else "",
        group.subsystem,
    )
    return tag("div", *(tag("span", text) for text in said if text), class_="chips")


def _graphs(group: FindingGroup) -> list[Markup]:
    drawn = []
    for member in group.members[:MAX_GRAPHS]:
        name = f"{group.stat} {group.field} {member.instance}".strip()
        graph = draw_finding(member, group.unit, name)
        if graph is not None:
            said = f": {member.kind}, {member_change(member, group.unit)}, change ratio {format_number(member.change_ratio)}"
            caption = tag("figcaption", tag("bdi", member.instance or group.column), said)
            drawn.append(tag("figure", caption, graph))
    return drawn


def _questions(group: FindingGroup, asked: set[str]) -> Markup | None:
    parts = []
    for question in group.questions:
        written = "\n".join((question.why, *(command.command for command in question.commands)))
        if written in asked:
            continue
        asked.add(written)
        commands = (
            tag(
                "li",
                tag("pre", command.command),
                tag("p", "Or keep what it prints, as evidence of its host:", class_="soft") if command.keep else None,
                tag("pre", command.keep) if command.keep else None,
                tag("span", f"{'As root. ' if command.needs else ''}{command.note} ", _source(command.source), class_="soft"),
            )
            for command in question.commands
        )
        parts.append(tag("div", tag("p", question.why, class_="ask"), tag("ul", *commands, class_="commands"), class_="question"))
    return tag("div", tag("h4", "Next questions"), *parts) if parts else None


def _source(source: str) -> Markup:
    if source.startswith("https://"):
        return tag("a", source.removeprefix("https://").partition("/")[0], href=source, rel="noreferrer noopener")
    return tag("span", source)


def _inputs(record: Comparison, cover: Cover) -> Markup:
    """Return the inputs that reproduce the comparison."""
    against = record.against
    windows = [f"{format_instant(window.start)} to {format_instant(window.end)}" for window in against.windows]
    more = len(windows) - MAX_WINDOWS
    facts = [
        ("Hosts", ", ".join(record.hosts)),
        ("Incident", f"{format_instant(record.start)} to {format_instant(record.end)}"),
        ("Compared with", f"{against.kind}: {against.name}"),
        ("Baseline", f"id {against.baseline_id}, version {against.version}" if against.baseline_id is not None else ""),
        ("Baseline host", against.host or ""),
        ("Baseline group", f"{against.group}: {', '.join(against.members)}" if against.group is not None else ""),
        ("Baseline windows", "; ".join(windows[:MAX_WINDOWS]) + (f"; {more} more" if more > 0 else "")),
        ("Divisor", record.divisor or ""),
        ("Method", f"version {record.method_version}"),
        ("Specs", ", ".join(f"{name} {n}" for name, n in sorted(record.spec_versions.items()))),
        ("Program", f"normstat {version()}"),
    ]
    listed = [part for name, value in facts if value for part in (tag("dt", name), tag("dd", value))]
    if cover.address.startswith(("http://", "https://")):
        listed += [tag("dt", "Address"), tag("dd", tag("a", cover.address, href=cover.address, rel="noreferrer noopener"))]
    said = tag("p", "The same inputs give the same numbers.", class_="soft")
    return tag("section", tag("h2", "Inputs"), said, tag("dl", *listed, class_="facts"))


def _numbers(record: Comparison) -> Markup:
    packed = base64.b64encode(write_csv(record)).decode("ascii")
    link = tag("a", "comparison.csv", href=f"data:text/csv;charset=utf-8;base64,{packed}", download="comparison.csv")
    return tag(
        "section",
        tag("h2", "Numbers"),
        tag("p", join("All numbers of this comparison, embedded in this file: ", link), class_="screen"),
        class_="screen",
    )
