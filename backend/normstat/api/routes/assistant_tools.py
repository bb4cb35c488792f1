"""The tools that an assistant may call: what each takes, which routes it reads, and what it says of their answers.

A tool only reads, through the routes that the page reads (assistant_reader.py): rights, visible hosts and limits are theirs.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Protocol
from urllib.parse import urlencode

from pydantic import Field

from normstat.api.routes.assistant_texts import AssistantAnswer
from normstat.api.routes.comparison_inputs import ComparisonInputs
from normstat.api.routes.comparison_series import SeriesInputs
from normstat.incidents.incident_rows import IncidentKind
from normstat.runtime.body import Body, Instant, Name, Tag
from normstat.runtime.readable import count_of, format_clock, format_number, to_iso
from normstat.stats.fact_words import EventKind

NARROW_HOSTS: Final = "give `search`, part of a host's name."
NARROW_TIME: Final = "give one host, or a shorter time."
MAX_ROWS: Final = 200
MAX_COMMANDS: Final = 3
MAX_PROCESSES: Final = 3
MAX_APPEARED: Final = 20
# Findings and their questions that one answer looks at; the cut by bytes comes first.
MAX_FINDINGS: Final = 25
Row = Mapping[str, Any]


class Reader(Protocol):
    """Reads a route of the API."""

    async def get(self, path: str, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the JSON object that a route answers."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """Where an assistant asks: the reader, the address of the page, the time."""

    reader: Reader
    public_url: str
    now: datetime


class HostsAsked(Body):
    """Which hosts to list."""

    search: Annotated[str, Field(max_length=200, description="part of the name, the system or a tag; default: all hosts")] = ""


class MomentAsked(Body):
    """The moment that the answer is for."""

    at: Annotated[Instant | None, Field(description="the moment; default: now")] = None


class ProcessesAsked(Body):
    """Which processes to list."""

    host: Annotated[Name, Field(description="name of the host")]
    at: Annotated[Instant, Field(description="the moment; the last report before it is read")]
    baseline: Annotated[int | None, Field(ge=1, description="id of a baseline, to say what is normal for each command")] = None
    limit: Annotated[int, Field(ge=1, le=MAX_ROWS, description="most processes; those that use most come first")] = 25


class EventsAsked(Body):
    """Which events to list."""

    host: list[Name] = Field(default_factory=list, max_length=20, description="names of hosts; default: all events that were noted")
    start: Annotated[Instant | None, Field(description="events at this moment or later")] = None
    end: Annotated[Instant | None, Field(description="events before this moment")] = None
    kind: list[EventKind] = Field(default_factory=list, description="only of these kinds")
    tag: list[Tag] = Field(default_factory=list, max_length=20, description="only with all of these tags")
    search: Annotated[str, Field(max_length=200, description="words that are all in the text, the tags or the author's name")] = ""
    limit: Annotated[int, Field(ge=1, le=MAX_ROWS, description="most events, the newest first")] = 50


class IncidentsAsked(Body):
    """Which incidents to list."""

    host: Annotated[Name | None, Field(description="name of a host; default: all")] = None
    kind: list[IncidentKind] = Field(default_factory=list, max_length=5, description="only of these kinds")
    limit: Annotated[int, Field(ge=1, le=MAX_ROWS, description="most incidents, the newest first")] = 30


class QuestionsAsked(ComparisonInputs):
    """A comparison, and whose next questions are asked."""

    finding: Annotated[int, Field(ge=1, le=200, description="rank of a finding of `compare`; default: the strongest ones")] = 0


@dataclass(frozen=True, slots=True)
class AssistantTool:
    """A tool: its arguments are the members of `asked`."""

    name: str
    title: str
    text: str
    asked: type[Body]
    run: Callable[[Place, Any], Awaitable[AssistantAnswer]]


# --- hosts ---


async def list_hosts(place: Place, asked: HostsAsked) -> AssistantAnswer:
    """Return all visible hosts with their system, time zone, last sample and baselines."""
    hosts = (await place.reader.get("/hosts"))["hosts"]
    zones = {row["host"]: row["time_zone"] for row in (await place.reader.get("/host-zones"))["hosts"]}
    baselines = (await place.reader.get("/baselines"))["baselines"]
    wanted = asked.search.lower()
    found = [row for row in hosts if wanted in " ".join((row["name"], row["os"], *row["tags"])).lower()]
    lines = [_describe_host(row, zones.get(row["name"]), baselines) for row in found]
    lead = f"It is {to_iso(place.now, 'seconds')}. {count_of(len(found), 'host')} of {len(hosts):,}:"
    return AssistantAnswer(lead, lines, narrow=NARROW_HOSTS)


def _describe_host(host: Row, zone: str | None, baselines: list[Row]) -> str:
    own = [f'{row["id"]} "{row["name"]}"' for row in baselines if host["name"] in row["hosts"]]
    last = host["last_sample_at"]
    parts = [
        host["os"],
        f"time zone {zone}" if zone else "",
        f"samples from {host['first_sample_at']} to {last}" if last else "no samples",
        f"tags {', '.join(host['tags'])}" if host["tags"] else "",
        f"baselines {', '.join(own)}" if own else "no baseline marked by a person",
        f"stats {', '.join(host['stats'])}",
    ]
    return f"{host['name']}: {'; '.join(filter(None, parts))}"


async def unusual_now(place: Place, asked: MomentAsked) -> AssistantAnswer:
    """Return the hosts that are unlike their own normal in the hour before a moment, and what rules find now."""
    fleet = await place.reader.get("/fleet", {} if asked.at is None else {"at": to_iso(asked.at)})
    unusual = [row for row in fleet["hosts"] if row["level"] > 0]
    unusual.sort(key=lambda row: (-row["level"], -(row["change_ratio"] or 0.0)))
    n_judged = sum(row["verdict"] == "judged" for row in fleet["hosts"])
    lines = [_describe_unusual(row) for row in unusual]
    lines += [f"{row['name']}: not judged: {row['sentence']}" for row in fleet["hosts"] if row["verdict"] != "judged"]
    if asked.at is None:
        watch = await place.reader.get("/watch")
        lines += [
            f"rule {row['source']}: {row['host'] or 'this server'}: {row['colour']} since {row['since']}: {row['title']}."
            f" {row['sentence']}"
            for row in watch["on"]
        ]
    lead = (
        f"{len(unusual):,} of {count_of(n_judged, 'judged host')} unlike their normal at"
        f" {_to_time(fleet['end_ms'])}; then hosts without a normal, then what rules find."
    )
    notes = []
    if fleet["n_minutes_read"] < fleet["n_minutes"]:
        notes = [f"The server has read {fleet['n_minutes_read']} of {fleet['n_minutes']} minutes: ask again in some seconds."]
    return AssistantAnswer(lead, lines, notes, narrow="ask `compare` about one host.")


def _describe_unusual(host: Row) -> str:
    ratio = host["change_ratio"]
    moved = "" if ratio is None else f" ({format_number(ratio)} x its normal variation)"
    others = [
        f"{line['label']} {format_number(line['now'])} {line['unit']}".rstrip() for line in host["lines"] if line["level"] > 0
    ]
    listed = f" Unusual: {'; '.join(others)}." if others else ""
    return f"{host['name']}: level {host['level']} of 3: {host['sentence']}{moved}.{listed} Baseline: {host['baseline_name']}."


# --- comparisons ---


async def _with_baseline(place: Place, asked: ComparisonInputs) -> tuple[dict[str, Any], ComparisonInputs]:
    """Return the parameters of the comparison and its inputs, with a baseline of the first host where nothing is chosen.

    The newest one that covers all the hosts; without any, the same time a day earlier.
    """
    if not any((asked.baseline, asked.baseline_start, asked.baseline_end, asked.ago, asked.other_host, asked.group)):
        found = (await place.reader.get("/baselines", {"host": asked.host[0]}))["baselines"]
        fitting = next((row["id"] for row in found if row["windows"] and set(asked.host) <= set(row["hosts"])), None)
        chosen = {"ago": "day"} if fitting is None else {"baseline": fitting}
        asked = asked.model_copy(update=chosen)
    return asked.to_parameters(), asked


async def compare(place: Place, asked: ComparisonInputs) -> AssistantAnswer:
    """Return what changed in a window against normal: the verdict, who used what, causes, findings, circumstances."""
    parameters, chosen = await _with_baseline(place, asked)
    found = await place.reader.get("/comparison", parameters | {"limit": asked.limit})
    lead = f"What changed from {found['start']} to {found['end']}, the most important first:"
    notes = [
        f"On the page: {chosen.page_address(place.public_url)}",
        "Next: `next_questions` for commands that tell why, `processes_at` for who ran, `events` for what was changed.",
    ]
    narrow = "give one host; `ask_series` finds single series."
    return AssistantAnswer(lead, list(_comparison_lines(found)), notes, narrow)


def _comparison_lines(found: Row) -> Iterator[str]:
    """Yield a comparison line by line; a sentence that an earlier line has is not repeated."""
    said = ""
    for label, sentence, more in _comparison_sentences(found):
        if sentence.rstrip(".") not in said:
            yield f"{label}{sentence}{more}"
            said += f"{sentence}\n"


def _comparison_sentences(found: Row) -> Iterator[tuple[str, str, str]]:
    """Yield the parts of each line: what it is, the sentence, and what belongs to it."""
    against = found["against"]
    id_ = f" (id {against['baseline_id']})" if against["baseline_id"] else ""
    yield "Verdict: ", found["verdict"], ""
    yield "Compared with: ", against["name"], id_
    for note in filter(None, (found["seasonal_note"], found["divisor_note"], *found["notes"])):
        yield "Note: ", note, ""
    for story in found["stories"]:
        began = f", began {format_clock(story['onset_ms'])} UTC" if story["onset_ms"] is not None else ""
        yield f"Cause {story['rank']}: ", f"{story['title']} on {', '.join(story['hosts'])}{began}", ""
        yield "  ", story["sentence"], ""
        for process in story["processes"][:MAX_PROCESSES]:
            yield "  ", process["sentence"], f" ({process['origin']})" if process["origin"] else ""
    for one in found["circumstances"]:
        yield "Circumstance: ", one["sentence"], f" ({_to_time(one['start_ms'])})" if one["start_ms"] is not None else ""
    for line in found["ledger"]:
        if line["outside"] or line["is_full"]:
            yield f"Resource of {line['host']}: ", line["sentence"], ""
    for group in found["groups"]:
        series = f"{group['host']} {group['stat']}.{group['field']}"
        yield f"Finding {group['rank']} ({group['certainty']}, {series}): ", group["sentence"], ""
    for one in found["appeared"][:MAX_APPEARED]:
        yield "Appeared: ", one["sentence"], ""
    counts = found["counts"]
    total = (
        f"{found['n_findings']:,} changed, {found['n_unchanged']:,} unchanged, {counts['appeared']:,} appeared,"
        f" {counts['disappeared']:,} disappeared, {counts['insufficient_data']:,} with insufficient data,"
        f" {counts['muted']:,} muted."
    )
    yield f"{found['n_series']:,} series: ", total, ""


async def ask_series(place: Place, asked: SeriesInputs) -> AssistantAnswer:
    """Return series of a comparison that match words, ranked or not, with both values and the reason of the verdict."""
    parameters, _ = await _with_baseline(place, asked)
    found = await place.reader.get("/comparison/series", parameters | {"limit": asked.limit})
    lines = [
        f"{row['host']} {row['stat']}.{row['field']}: {row['title']}: {row['verdict']}. {row['reason']}" for row in found["series"]
    ]
    lead = f"{found['n_matched']:,} of {found['n_series']:,} series match; from number {found['offset'] + 1:,} on:"
    return AssistantAnswer(lead, lines, narrow="add words to `search`, name a `verdict`, or go on with `offset`.")


async def next_questions(place: Place, asked: QuestionsAsked) -> AssistantAnswer:
    """Return what to ask next about the findings of a comparison, with commands for the host."""
    parameters, _ = await _with_baseline(place, asked)
    parameters.pop("finding", None)
    found = await place.reader.get("/comparison", parameters)
    groups = [row for row in found["groups"] if asked.finding in (0, row["rank"])]
    lines: list[str] = []
    said: set[str] = set()
    for group in groups[:MAX_FINDINGS]:
        new = [one for one in group["questions"] if one["why"] not in said]
        if new:
            lines.append(f"Finding {group['rank']}: {group['sentence']}")
        for one in new:
            said.add(one["why"])
            lines.append(f"  {one['why']}")
            lines += [
                f"    on {group['host']}{' as root' if command['needs'] else ''}: {command['command']}   # {command['note']}"
                for command in one["commands"][:MAX_COMMANDS]
            ]
    lead = f"Questions about {count_of(len(groups), 'finding')}:" if lines else "No finding has a next question."
    notes = ["Nothing is run by this server: a person decides whether to run a command on the host."] if lines else []
    return AssistantAnswer(lead, lines, notes, narrow="give the rank of one `finding`.")


async def report_link(place: Place, asked: ComparisonInputs) -> AssistantAnswer:
    """Return the addresses of a comparison: on the page, as HTML and as PDF. Opening them needs a login."""
    parameters, chosen = await _with_baseline(place, asked)
    # It fails here rather than where a person opens the link.
    await place.reader.get("/comparison", parameters)
    base = f"{place.public_url.rstrip('/')}/api/v1/comparison/report"
    query = urlencode(parameters, doseq=True)
    links = [
        f"Page: {chosen.page_address(place.public_url)}",
        f"Report as HTML: {base}.html?{query}",
        f"Report as PDF: {base}.pdf?{query}",
    ]
    return AssistantAnswer("\n".join(links), notes=["Opening them needs a login of the reader's own."])


# --- what else is known ---


async def processes_at(place: Place, asked: ProcessesAsked) -> AssistantAnswer:
    """Return the processes of a host at a moment as one report of a tool printed them, each beside what is normal."""
    parameters = {"at": to_iso(asked.at), "limit": asked.limit}
    if asked.baseline is not None:
        parameters["baseline"] = asked.baseline
    found = await place.reader.get(f"/hosts/{asked.host}/process-report", parameters)
    if found["stat"] is None:
        return AssistantAnswer("No tool listed processes in the hour before that moment.")
    fields = found["fields"]
    names = [f"{field['quantity']} [{field['unit']}]" if field["unit"] else str(field["quantity"]) for field in fields]
    lines = [_describe_process(row, names) for row in found["rows"]]
    for normal in found["normals"]:
        bands = [
            f"{name} {format_number(total)}, normally {format_number(band['p5'])} to {format_number(band['p95'])}"
            for name, total, band in zip(names, normal["totals"], normal["bands"], strict=True)
            if total is not None and band is not None and not band["p5"] <= total <= band["p95"]
        ]
        if normal["is_new"]:
            lines.append(f"Not in the baseline: {normal['name']} ({count_of(normal['n_processes'], 'process', 'processes')})")
        elif bands:
            lines.append(f"Unlike its normal: {normal['name']}: {'; '.join(bands)}")
    lead = f"{found['stat']}, report of {found['reported_at']}: {len(found['rows']):,} of {found['n_found']:,} processes."
    return AssistantAnswer(lead, lines, narrow="give a smaller `limit`.")


def _describe_process(row: Row, names: list[str]) -> str:
    values = [f"{name} {format_number(value)}" for name, value in zip(names, row["values"], strict=True) if value]
    user = f" of {row['user']}" if row["user"] else ""
    return f"{row['instance']}{user}: {', '.join(values) or 'all zero'}"


async def events(place: Place, asked: EventsAsked) -> AssistantAnswer:
    """Return noted events, and of named hosts reboots and changes of facts: what was done to a host, and when."""
    parameters = asked.model_dump(exclude_defaults=True, mode="json") | {"limit": asked.limit}
    found = await place.reader.get("/events", parameters)
    lines = [_describe_event(row) for row in found["events"]]
    lead = f"{len(lines):,} of {count_of(found['n_total'], 'event')}, the newest first."
    notes = [] if found["has_facts"] else ["Reboots and changes of facts are listed only for hosts that are named in `host`."]
    return AssistantAnswer(lead, lines, notes, NARROW_TIME)


def _describe_event(event: Row) -> str:
    until = f" to {event['end']}" if event["end"] else ""
    since = f" (at the earliest {event['not_before']})" if event["not_before"] else ""
    hosts = "all hosts" if event["hosts"] is None else ", ".join(event["hosts"])
    tags = f" [{', '.join(event['tags'])}]" if event["tags"] else ""
    author = f" by {event['author']}" if event["author"] else ""
    return f"{event['at']}{until}{since} {hosts}: {event['kind']}: {event['text']}{tags}{author}"


async def past_incidents(place: Place, asked: IncidentsAsked) -> AssistantAnswer:
    """Return what was unusual before, what rules found, saved comparisons, noted incidents and reports."""
    parameters = asked.model_dump(exclude_defaults=True, mode="json") | {"limit": asked.limit}
    found = await place.reader.get("/incidents", parameters)
    lines = [_describe_incident(row) for row in found["incidents"]]
    lead = f"{len(lines):,} of {count_of(found['n_total'], 'incident')}, the newest first."
    return AssistantAnswer(lead, lines, narrow="give one `host`, one `kind`, or a smaller `limit`.")


def _describe_incident(row: Row) -> str:
    if row["episode"] is not None:
        one = row["episode"]
        where = f"{one['host'] or 'this server'}{' ' if one['instance'] else ''}{one['instance']}"
        text = f"{where}: {one['colour']}, {one['title']}: {one['sentence']} Until {one['ended_at'] or 'now'}. {one['note']}"
    elif row["comparison"] is not None:
        one = row["comparison"]
        inputs = one["inputs"]
        text = f"{', '.join(inputs['host'])} {inputs['start']} to {inputs['end']}: {one['name']}: {one['note']}"
    elif row["event"] is not None:
        text = _describe_event(row["event"])
    else:
        one = row["report"]
        text = f"{', '.join(one['hosts'])}: report {one['id']}: {one['title']}"
    return f"{row['at']} {row['kind']}: {text}".rstrip()


def _to_time(at_ms: float) -> str:
    return to_iso(datetime.fromtimestamp(at_ms / 1000, UTC), "seconds")


TOOLS: Final = (
    AssistantTool(
        "list_hosts",
        "List hosts",
        "List the hosts with system, time zone, span of samples, baselines and stats, and the time of the server. Call it first:"
        " other tools take these names and ids, and people mean the host's own time zone.",
        HostsAsked,
        list_hosts,
    ),
    AssistantTool(
        "unusual_now",
        "What is unusual",
        "Which hosts were unlike their own normal in the hour before a moment, the worst first, and what rules find now.",
        MomentAsked,
        unusual_now,
    ),
    AssistantTool(
        "compare",
        "Compare an incident with normal",
        "Rank what changed on hosts in the window [start, end) against what is normal there: a verdict with the culprit, causes"
        " with processes, findings with both values, and what else happened. Without a choice it compares with the newest"
        " baseline of the host, else with the same time a day earlier. Times are ISO 8601 with a zone.",
        ComparisonInputs,
        compare,
    ),
    AssistantTool(
        "ask_series",
        "Ask about single series",
        "Find series of the same comparison by words (`await sda`), whether they changed or not, with both values and the reason.",
        SeriesInputs,
        ask_series,
    ),
    AssistantTool(
        "processes_at",
        "Processes at a moment",
        "List the processes of a host at a moment, those that use most first, and with a baseline which of them are new or unlike"
        " their normal.",
        ProcessesAsked,
        processes_at,
    ),
    AssistantTool(
        "events",
        "Events",
        "List what happened to hosts: deployments, reboots, changed settings and hardware, maintenance, lines of watched logs.",
        EventsAsked,
        events,
    ),
    AssistantTool(
        "next_questions",
        "Next questions",
        "List what to ask next about the findings of a comparison, with commands ready to run on the host.",
        QuestionsAsked,
        next_questions,
    ),
    AssistantTool(
        "past_incidents",
        "Past incidents",
        "List earlier incidents, the newest first: unusual times, what rules found, saved comparisons with their notes, reports.",
        IncidentsAsked,
        past_incidents,
    ),
    AssistantTool(
        "report_link",
        "Link to a report",
        "Return links to a comparison: the page, a report as HTML, a report as PDF.",
        ComparisonInputs,
        report_link,
    ),
)
