"""`normstat trace-log`: analyse, filter, format and plot the log of a trace, from a file or an artefact."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from inspect import Signature, signature
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from normstat.artefacts.trace_log.blocking import BlockingList, find_blocking
from normstat.artefacts.trace_log.lanes import LaneRequest, view_lanes
from normstat.artefacts.trace_log.latency import LatencySummary, measure_latencies
from normstat.artefacts.trace_log.log_export import filter_lines, write_log_csv, write_log_json, write_log_table
from normstat.artefacts.trace_log.log_filter import Mask
from normstat.artefacts.trace_log.pairing import available_rules, choose_rule, find_spans
from normstat.artefacts.trace_log.queue_depth import measure_queues
from normstat.cli.artefact_command import columns_of, printable
from normstat.cli.db_session import exit_with
from normstat.cli.log_input import EventChoice, LogInput, LogOrigin, read_log
from normstat.errors import BadRequest, NormstatError
from normstat.report.log_pictures import BINS, LogSource, describe_log, draw_lanes, draw_latencies, lanes_pdf, latencies_pdf
from normstat.runtime.readable import count_of, format_instant, format_span

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Analyse, filter, format and plot the log of a trace: of strace, perf, ftrace, LKST. FILE is - for standard input.",
)

NAME_WIDTH: Final = 44


class TextForm(StrEnum):
    """How `format` writes events."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


class Picture(StrEnum):
    """What `plot` draws."""

    LANES = "lanes"
    LATENCIES = "latencies"


class Lanes(StrEnum):
    """What has a lane."""

    THREAD = "thread"
    CPU = "cpu"
    COMMAND = "command"


FileArgument = Annotated[Path | None, typer.Argument(metavar="[FILE]", help="the tracer's text; - for standard input")]
ArtefactOption = Annotated[int | None, typer.Option("--artefact", metavar="ID", help="an artefact instead of a file", min=1)]
PartOption = Annotated[int | None, typer.Option(help="number of the artefact's part; default: its first log", min=0)]
SpecOption = Annotated[str | None, typer.Option(help="the spec that reads the file, instead of detecting it")]
FromOption = Annotated[
    str,
    typer.Option("--from", metavar="TIME", help="from here on: as in the log, in seconds, or +1.5s after the first event"),
]
ToOption = Annotated[str, typer.Option("--to", metavar="TIME", help="before this time")]
CpuOption = Annotated[list[int] | None, typer.Option(help="only this CPU; repeatable")]
PidOption = Annotated[list[int] | None, typer.Option(help="only this process or thread; repeatable")]
CommandOption = Annotated[list[str] | None, typer.Option(help="only this command; repeatable")]
EventOption = Annotated[list[str] | None, typer.Option(help="only this event; repeatable")]
WhereOption = Annotated[
    str,
    typer.Option(metavar="EXPRESSION", help="which events: cpu=1 and (event=lock,unlock or command~crond) and not duration<10us"),
]
PairOption = Annotated[str, typer.Option(help="name of a pair, or two events as A->B; default: the most telling")]
KeyOption = Annotated[list[str] | None, typer.Option(help="what both events of A->B must share: cpu, pid, object; repeatable")]
GroupOption = Annotated[str, typer.Option(help="object, function, event, command, pid or cpu; default: what the pair is about")]
QueueOption = Annotated[int | None, typer.Option(help="the end of a disk's queue, e.g. 512; default: the usual ones", min=1)]
RowsOption = Annotated[int, typer.Option(help="how many rows", min=1, max=1000)]
OutputOption = Annotated[Path | None, typer.Option("-o", "--output", help="output file; default: standard output")]


@dataclass(frozen=True, slots=True)
class AskedLog:
    """The log that a command is about, and the choice of its events."""

    origin: LogOrigin
    events: EventChoice

    def read(self) -> tuple[LogInput, Mask]:
        """Return the log, and which of its events are chosen."""
        log = read_log(self.origin)
        return log, self.events.mask(log.part)


def ask_log(
    file: FileArgument = None,
    *,
    artefact: ArtefactOption = None,
    part: PartOption = None,
    spec: SpecOption = None,
    start: FromOption = "",
    end: ToOption = "",
    cpu: CpuOption = None,
    pid: PidOption = None,
    command: CommandOption = None,
    event: EventOption = None,
    where: WhereOption = "",
) -> AskedLog:
    """Return the log that these options of all commands name, and the choice of its events."""
    chosen = EventChoice(start, end, cpu or (), pid or (), command or (), event or (), where)
    return AskedLog(LogOrigin(file, artefact, part, spec), chosen)


def of_a_log(work: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the options of `ask_log` before its own; it gets the log as its first argument."""
    shared = signature(ask_log).parameters
    _, *own = signature(work).parameters.values()

    def command(**given: Any) -> None:
        work(ask_log(**{name: given.pop(name) for name in shared}), **given)

    options = [*shared.values(), *own]
    command.__signature__ = Signature(options)  # type: ignore[attr-defined]
    command.__annotations__ = {option.name: option.annotation for option in options}
    command.__name__, command.__doc__ = work.__name__, work.__doc__
    return command


@app.command()
@of_a_log
def analyze(
    asked: AskedLog,
    *,
    pair: PairOption = "",
    key: KeyOption = None,
    group: GroupOption = "",
    queue_limit: QueueOption = None,
    rows: RowsOption = 20,
) -> None:
    """Show how long pairs of events took, over decades of time, and who blocked whom."""

    def work() -> Iterator[str]:
        log, mask = asked.read()
        for name, said in [*log.facts, *describe_log(log.part, mask, asked.events.words())]:
            yield f"{name}: {printable(said)}"
        rule = choose_rule(log.part, pair, key or (), group)
        known = available_rules(log.part)
        if rule is None:
            yield "\nThe log has no pair of events that is known, and no durations; name two events: --pair 'A->B'."
        else:
            summary = measure_latencies(log.part, find_spans(log.part, rule, mask), group, limit=rows)
            yield f"\nLatencies: {rule.title}"
            yield from latency_lines(summary)
            others = [each.name for each in known if each.name != rule.name]
            if others:
                yield f"Other pairs: --pair {', '.join(others)}"
        queues = measure_queues(log.part, mask, limit=queue_limit)
        if queues:
            yield "\nQueues"
            yield from (printable(each.sentence) for each in queues)
        yield "\nWho blocked whom"
        yield from blocking_lines(find_blocking(log.part, mask, limit=rows))

    _write(lambda: (f"{line}\n".encode() for line in work()), None)


@app.command("filter")
@of_a_log
def filter_log(
    asked: AskedLog,
    *,
    output: OutputOption = None,
) -> None:
    """Write the lines of the chosen events as the tracer printed them, with the titles above: what is written can be read again."""

    def work() -> Iterator[bytes]:
        log, mask = asked.read()
        yield from filter_lines(log.pieces, log.part, mask)
        typer.echo(f"{int(mask.sum()):,} of {count_of(log.part.n_rows, 'event')}", err=True)

    _write(work, output)


@app.command("format")
@of_a_log
def format_log(
    asked: AskedLog,
    *,
    form: Annotated[TextForm, typer.Option("--as", help="a table to read, CSV, or a JSON object a line")] = TextForm.TABLE,
    rows: Annotated[int, typer.Option(help="how many rows of a table; CSV and JSON have all", min=1, max=1_000_000)] = 1000,
    output: OutputOption = None,
) -> None:
    """Write the chosen events as a table, as CSV or as JSON lines, with all digits of their nanoseconds."""

    def work() -> Iterator[bytes]:
        found, mask = asked.read()
        log = found.part
        if form is TextForm.TABLE:
            yield from (f"{line}\n".encode() for line in write_log_table(log, mask, limit=rows, clean=printable))
            if int(mask.sum()) > rows:
                typer.echo(f"The first {rows:,} of {int(mask.sum()):,} events; --rows shows more.", err=True)
        else:
            yield from write_log_csv(log, mask) if form is TextForm.CSV else write_log_json(log, mask)

    _write(work, output)


@app.command()
@of_a_log
def plot(
    asked: AskedLog,
    *,
    what: Annotated[Picture, typer.Option("--what", help="lanes, or a histogram of latencies")] = Picture.LANES,
    by: Annotated[Lanes, typer.Option(help="what has a lane")] = Lanes.THREAD,
    pair: PairOption = "",
    key: KeyOption = None,
    group: GroupOption = "",
    output: Annotated[Path, typer.Option("-o", "--output", help="output file, .svg or .pdf")],
) -> None:
    """Draw the lanes of a log, or its latencies, as SVG or PDF."""
    if output.suffix.lower() not in {".svg", ".pdf"}:
        typer.echo(f"normstat: {output} ends in neither .svg nor .pdf, the pictures that this command draws", err=True)
        raise typer.Exit(2)
    is_pdf = output.suffix.lower() == ".pdf"

    def work() -> Iterator[bytes]:
        log, mask = asked.read()
        facts = [*log.facts, *describe_log(log.part, mask, asked.events.words())]
        source = LogSource(f"{log.part.title}: {log.name}", facts, "normstat trace-log", format_instant(datetime.now(UTC)))
        if what is Picture.LATENCIES:
            rule = choose_rule(log.part, pair, key or (), group)
            if rule is None:
                raise BadRequest("The log has no pair of events that is known, and no durations; name two events: --pair 'A->B'")
            summary = measure_latencies(log.part, find_spans(log.part, rule, mask), group)
            yield latencies_pdf(summary, rule.title, source) if is_pdf else str(draw_latencies(summary, rule.title)).encode()
            return
        # The window of the picture is that of the chosen events.
        times = log.part.time_ns[mask]
        window = (int(times[0]), int(times[-1]) + 1) if len(times) else (None, None)
        view = view_lanes(log.part, mask, LaneRequest(by, BINS, *window))
        blocking = find_blocking(log.part, mask)
        yield lanes_pdf(view, blocking, source) if is_pdf else str(draw_lanes(view, blocking.rows)).encode()

    _write(work, output)


def latency_lines(summary: LatencySummary) -> Iterator[str]:
    """Yield latencies as lines for a terminal: what they say, the decades of all, and a row for each key."""
    if not summary.count:
        yield "No such pair of events."
    for said in (summary.concentration, summary.spread):
        if said:
            yield f"{said}."
    used = [at for at, count in enumerate(summary.decades) if count]
    if used:
        titles = ("key", "count", "average", "longest", "total", "share %", *(summary.decade_labels[at] for at in used))
        rows = [titles]
        rows += [
            (
                _cut(printable(row.key)) or "(none)", f"{row.count:,}", format_span(row.avg_ns), format_span(row.max_ns),
                format_span(row.total_ns), f"{100 * row.share:.3g}", *(f"{row.decades[at]:,}" for at in used),
            )
            for row in summary.rows
        ]  # fmt: skip
        rows.append((
            "all", f"{summary.count:,}", format_span(summary.avg_ns or 0), format_span(summary.max_ns or 0),
            format_span(summary.total_ns), "100", *(f"{summary.decades[at]:,}" for at in used),
        ))  # fmt: skip
        yield from columns_of(rows)
        if summary.n_rows > len(summary.rows):
            yield f"The first {len(summary.rows)} of {summary.n_rows:,} keys; --rows shows more."
    if summary.n_unmatched_begin or summary.n_unmatched_end:
        yield (
            f"Not counted: {count_of(summary.n_unmatched_begin, 'beginning')} without an end,"
            f" {count_of(summary.n_unmatched_end, 'end')} without a beginning."
        )


def blocking_lines(found: BlockingList) -> Iterator[str]:
    """Yield who blocked whom as sentences, the longest wait first."""
    if not found.rows:
        yield "The log does not show that a thread waited for another one."
    for row in found.rows:
        most = "at most " if row.wait_is_limit else ""
        yield f"waited {most}{format_span(row.wait_ns)}: {printable(row.sentence)}"
    if found.n_rows > len(found.rows):
        yield f"The longest {len(found.rows)} of {found.n_rows:,}; --rows shows more."


def _cut(text: str) -> str:
    return text if len(text) <= NAME_WIDTH else f"{text[: NAME_WIDTH - 1]}…"


def _write(work: Callable[[], Iterator[bytes]], output: Path | None) -> None:
    """Write what the work yields; on error, print it and exit. A file is made only once there is something to write."""
    try:
        pieces = work()
        first = next(pieces, b"")
        if output is None:
            out = typer.get_binary_stream("stdout")
            out.write(first)
            out.writelines(pieces)
            out.flush()
            return
        with output.open("wb") as file:
            file.write(first)
            file.writelines(pieces)
    except NormstatError as error:
        raise exit_with(error) from None
    except BrokenPipeError:
        # The reader of the output (head) has seen enough; keep Python from complaining when it flushes at the end.
        sys.stdout = None
        raise typer.Exit(0) from None
    except OSError as error:
        raise exit_with(BadRequest(f"Cannot write {output or 'the output'}: {error.strerror}; choose a writable place")) from None
    if output is not None:
        typer.echo(f"Wrote {output}.", err=True)
