"""`normstat artefact`: keep, list, show and fetch what tools print once."""

import asyncio
import getpass
import sys
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from normstat.artefacts.artefact_service import ArtefactDraft, change_artefact, load_parts, make_artefact, now_utc, reparse_artefact
from normstat.artefacts.diff.artefact_diff import DiffRequest
from normstat.artefacts.diff.table_diff import Normalisation, TableDiffRequest
from normstat.artefacts.diff_service import ArtefactDiff, diff_stored
from normstat.artefacts.diff_text import render_diff
from normstat.artefacts.histogram_view import bucket_names, view_histogram
from normstat.artefacts.parts import HistogramPart, LogPart, Part, StackPart, TablePart
from normstat.artefacts.table_view import TableRequest, view_table
from normstat.artefacts.tools import Effect
from normstat.cli.db_session import exit_with, format_instant, parse_time, print_table, run_in_session, run_or_exit
from normstat.db.session import WriteSession, make_engine, make_sessions, open_read_session
from normstat.errors import BadRequest, NormstatError
from normstat.ingest.imports.import_run import require_host_name
from normstat.records import artefact_rows
from normstat.records.artefact_rows import Artefact, ArtefactFilter, ArtefactSource
from normstat.runtime.readable import count_of
from normstat.settings import load_settings

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Keep, list and show what tools print once: lockstat, perf, DTrace ..."
)

MAX_ROWS: Final = 20
BAR_WIDTH: Final = 40
NAME_WIDTH: Final = 70
READ_BYTES: Final = 1 << 20
IdArgument = Annotated[int, typer.Argument(metavar="ID", help="number of the artefact", min=1)]


@app.command("list")
def list_all(
    *,
    host: Annotated[list[str] | None, typer.Option(help="only of this host; repeatable")] = None,
    tool: Annotated[list[str] | None, typer.Option(help="only of this tool; repeatable")] = None,
    search: Annotated[str, typer.Option(help="words that the title, question, command or text must contain")] = "",
    limit: Annotated[int, typer.Option(help="maximum number of artefacts", min=1, max=500)] = 50,
) -> None:
    """List artefacts, the newest first."""
    wanted = ArtefactFilter(tuple(host or ()), tuple(tool or ()), words=tuple(search.split()))

    async def work(session: WriteSession) -> artefact_rows.ArtefactPage:
        return await artefact_rows.list_artefacts(session, wanted, limit=limit, offset=0)

    page = run_in_session(work)
    if not page.artefacts:
        typer.echo("No artefact matches; `normstat artefact put FILE --host NAME` keeps one.")
        return
    rows = [("id", "host", "start", "tool", "what")]
    rows += [(str(one.id), one.host, format_instant(one.start), one.tool or "-", _cut(_title(one))) for one in page.artefacts]
    print_table(rows)
    if page.n_total > len(page.artefacts):
        typer.echo(f"The first {len(page.artefacts)} of {page.n_total}.")


@app.command()
def put(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="the text that the tool printed; - for standard input")],
    *,
    host: Annotated[str, typer.Option(help="the host on which it was printed")],
    title: Annotated[str, typer.Option(help="a name for lists and reports")] = "",
    question: Annotated[str, typer.Option(help="what was asked: a sentence, or the program's text")] = "",
    command: Annotated[str, typer.Option(help="the command that printed it")] = "",
    start: Annotated[
        datetime | None,
        typer.Option(parser=parse_time, metavar="INSTANT", help="when the tool began; default: as printed, else now"),
    ] = None,
    end: Annotated[datetime | None, typer.Option(parser=parse_time, metavar="INSTANT", help="when it ended")] = None,
    spec: Annotated[str | None, typer.Option(help="the spec that reads it, instead of detecting it")] = None,
    zone: Annotated[str | None, typer.Option(help="zone of times that do not name theirs (default UTC)")] = None,
    effect: Annotated[Effect | None, typer.Option(help="how much the tool disturbed what it watched")] = None,
) -> None:
    """Keep a text as an artefact of a host, and read it. The same text at the same time is kept once."""

    def work() -> Artefact:
        require_host_name(host)
        draft = ArtefactDraft(
            host=host, source=ArtefactSource.CLI, author=getpass.getuser(), start=start, end=end, title=title, question=question,
            command=command, file_name="" if str(file) == "-" else file.name, spec=spec, zone=zone, effect=effect,
        )  # fmt: skip
        return asyncio.run(_put(file, draft))

    made = run_or_exit(work)
    kinds = ", ".join(f"{part.kind} {part.title}" for part in made.parts) or "no reader knows this text; it is kept as it is"
    typer.echo(f"Artefact {made.id}: {made.tool or 'unknown tool'} on {made.host} at {format_instant(made.start)}: {kinds}")
    if made.n_rejected:
        typer.echo(f"{count_of(made.n_rejected, 'line')} could not be read.", err=True)


async def _put(file: Path, draft: ArtefactDraft) -> Artefact:
    engine = make_engine(load_settings().database_url, pool_size=1)
    try:
        with tempfile.NamedTemporaryFile(prefix="normstat-artefact-") as copy:
            path = file
            if str(file) == "-":
                while part := sys.stdin.buffer.read(READ_BYTES):
                    copy.write(part)
                copy.flush()
                path = Path(copy.name)
            try:
                return await make_artefact(make_sessions(engine), draft, path, now=now_utc())
            except OSError as error:
                raise BadRequest(f"Cannot read {file}: {error.strerror}") from None
    finally:
        await engine.dispose()


@app.command()
def show(
    number: IdArgument,
    *,
    rows: Annotated[int, typer.Option(help="rows of each table", min=1, max=1000)] = MAX_ROWS,
) -> None:
    """Show an artefact: its question, the costliest rows of tables, distributions, and the hottest functions of stacks."""

    async def work(session: WriteSession) -> tuple[Artefact, list[Part]]:
        known = await artefact_rows.read_artefact_row(session, number)
        return known, list(await load_parts(session, number))

    known, parts = run_in_session(work)
    typer.echo(f"Artefact {known.id}: {_title(known)}")
    lasted = f", {known.duration_s:g} s" if known.duration_s else ""
    tool = f"{known.tool or 'unknown tool'}, effect {known.effect}, by {known.author}"
    typer.echo(f"{known.host}, {format_instant(known.start)}{lasted}, {tool}")
    for name, text in (("Question", known.question), ("Command", known.command)):
        if text:
            typer.echo(f"{name}: {printable(text)}")
    for part in parts:
        typer.echo("")
        typer.echo(f"{part.title or part.stat} ({count_of(part.n_rows, 'row')})")
        for line in lines_of(part, rows):
            typer.echo(line)
    if not parts:
        typer.echo(
            f"\nNo parser recognises this text of {count_of(known.n_bytes, 'byte')}; `normstat artefact get {known.id}` prints it."
        )


@app.command()
def diff(
    before: Annotated[int, typer.Argument(metavar="BEFORE", help="number of the artefact before", min=1)],
    after: Annotated[int, typer.Argument(metavar="AFTER", help="number of the artefact after", min=1)],
    *,
    column: Annotated[str, typer.Option(help="key of the column to compare; default: the costs")] = "",
    group: Annotated[list[str] | None, typer.Option(help="sum the rows by this key, e.g. lock; repeatable")] = None,
    normalisation: Annotated[
        Normalisation | None, typer.Option(help="how totals are made comparable; default: per second if both durations are known")
    ] = None,
    search: Annotated[str, typer.Option(help="only rows whose key has these words")] = "",
    pair: Annotated[int | None, typer.Option(help="number of the pair of parts, from 0; default: the largest", min=0)] = None,
    rows: Annotated[int, typer.Option(help="how many rows", min=1, max=1000)] = MAX_ROWS,
) -> None:
    """Show what changed from one artefact to another: tables by key, distributions by bucket, the largest change first."""
    asked = DiffRequest(pair, TableDiffRequest(column, tuple(group or ()), normalisation, search, rows))

    async def work(session: WriteSession) -> ArtefactDiff:
        return await diff_stored(session, before, after, asked)

    found = run_in_session(work)
    for side, one in (("Before", found.before), ("After", found.after)):
        typer.echo(f"{side}: artefact {one.id}, {_cut(_title(one))}, on {one.host} at {format_instant(one.start)}")
    typer.echo(render_diff(found.diff, n_rows=rows), nl=False)
    if len(found.diff.pairs) > 1:
        typer.echo(f"Parts {found.diff.pair} of {len(found.diff.pairs)} are shown; --pair N shows others.")


@app.command()
def get(
    number: IdArgument,
    *,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="output file; default: standard output")] = None,
) -> None:
    """Write the raw text, byte for byte as the tool printed it."""

    async def work(session: WriteSession) -> list[bytes]:
        await artefact_rows.read_artefact_row(session, number)
        return [piece async for piece in artefact_rows.read_text(session, number)]

    pieces = run_in_session(work)
    if output is None:
        typer.get_binary_stream("stdout").writelines(pieces)
        return
    try:
        output.write_bytes(b"".join(pieces))
    except OSError as error:
        raise exit_with(BadRequest(f"Cannot write {output}: {error.strerror}; choose a writable place")) from None


@app.command("set")
def set_facts(
    number: IdArgument,
    *,
    command: Annotated[str | None, typer.Option(help="the command that printed it")] = None,
    title: Annotated[str | None, typer.Option(help="a name for lists and reports")] = None,
    question: Annotated[str | None, typer.Option(help="what was asked: a sentence, or the program's text")] = None,
    duration: Annotated[float | None, typer.Option(help="seconds that the tool watched", min=0.001, max=1e9)] = None,
    start: Annotated[datetime | None, typer.Option(parser=parse_time, metavar="INSTANT", help="when the tool began")] = None,
    end: Annotated[datetime | None, typer.Option(parser=parse_time, metavar="INSTANT", help="when it ended")] = None,
    effect: Annotated[Effect | None, typer.Option(help="how much the tool disturbed what it watched")] = None,
) -> None:
    """Change the facts of an artefact. With another command its text is read again."""

    async def change() -> Artefact:
        engine = make_engine(load_settings().database_url, pool_size=2)
        try:
            sessions = make_sessions(engine)
            async with open_read_session(sessions) as session:
                known = await artefact_rows.read_artefact_row(session, number)
            return await change_artefact(
                sessions,
                number,
                artefact_rows.ArtefactChange(
                    start or known.start,
                    end or known.end,
                    duration or known.duration_s,
                    known.title if title is None else title,
                    known.question if question is None else question,
                    known.command if command is None else command,
                    effect or known.effect,
                ),
            )
        finally:
            await engine.dispose()

    made = run_or_exit(lambda: asyncio.run(change()))
    lasted = f", {made.duration_s:g} s" if made.duration_s else ""
    typer.echo(f"Artefact {made.id}: {_title(made)}, {made.tool or 'unknown tool'} at {format_instant(made.start)}{lasted}")


@app.command()
def reparse(number: IdArgument, *, spec: Annotated[str | None, typer.Option(help="the spec that reads it")] = None) -> None:
    """Read the raw text again with the readers of this version."""

    async def again() -> Artefact:
        engine = make_engine(load_settings().database_url, pool_size=2)
        try:
            return await reparse_artefact(make_sessions(engine), number, spec=spec)
        finally:
            await engine.dispose()

    made = run_or_exit(lambda: asyncio.run(again()))
    typer.echo(f"Artefact {made.id}: {made.tool or 'unknown tool'}, {count_of(len(made.parts), 'part')}")


@app.command()
def delete(number: IdArgument) -> None:
    """Delete an artefact; `restore` undoes it for a day."""
    run_in_session(lambda session: artefact_rows.delete_artefact(session, number))
    typer.echo(f"Deleted artefact {number}; `normstat artefact restore {number}` brings it back within a day.")


@app.command()
def restore(number: IdArgument) -> None:
    """Bring back a deleted artefact."""
    made = run_in_session(lambda session: artefact_rows.restore_artefact(session, number))
    typer.echo(f"Artefact {made.id} is back.")


def lines_of(part: Part, n_rows: int) -> list[str]:
    """Return a part as lines for a terminal."""
    if isinstance(part, TablePart):
        return _table_lines(part, n_rows)
    if isinstance(part, HistogramPart):
        return _histogram_lines(part, n_rows)
    if isinstance(part, StackPart):
        return _stack_lines(part, n_rows)
    return _log_lines(part, n_rows)


def _table_lines(part: TablePart, n_rows: int) -> list[str]:
    try:
        view = view_table(part, TableRequest("", (), "", None, n_rows, 0))
    except NormstatError as error:
        return [error.message]
    titles = [f"{column.title} [{column.unit}]" if column.unit else column.title for column in part.columns]
    rows = [("share", *titles, *part.key_names)]
    for row in view.rows:
        share = "" if row.share is None else f"{row.share:.1%}"
        values = ["" if value is None else f"{value:,.6g}" if isinstance(value, float) else f"{value:,}" for value in row.values]
        rows.append((share, *values, *(_cut(key) for key in row.key)))
    return columns_of(rows)


def _histogram_lines(part: HistogramPart, n_rows: int) -> list[str]:
    lines = []
    view = view_histogram(part)
    names = bucket_names(part.buckets, view.unit)
    for one in view.distributions[:n_rows]:
        largest = max((float(count or 0) for count in one.counts), default=0.0)
        lines.append(_cut(one.key) or "all")
        for name, count in zip(names, one.counts, strict=True):
            bar = "#" * round(BAR_WIDTH * float(count or 0) / largest) if largest else ""
            lines.append(f"  {name:>20} |{bar:<{BAR_WIDTH}}| {count:,}")
    return lines


def _stack_lines(part: StackPart, n_rows: int) -> list[str]:
    """Return the functions in which the most weight is spent, without their callees."""
    place = next((number for number, column in enumerate(part.columns) if column.key == part.weight), 0)
    own = part.values[place]
    totals: dict[str, float] = {}
    for node in range(1, len(part.parent)):
        name = part.names[int(part.name[node])]
        totals[name] = totals.get(name, 0) + float(own[node])
    whole = float(own.sum())
    ranked = sorted(totals.items(), key=lambda item: (-item[1], item[0]))[:n_rows]
    unit = part.columns[place].unit or part.columns[place].title
    return columns_of(
        [("share", unit, "function"), *((f"{n / whole:.1%}" if whole else "", f"{n:,.10g}", _cut(name)) for name, n in ranked)]
    )


def _log_lines(part: LogPart, n_rows: int) -> list[str]:
    rows: list[tuple[str, ...]] = [("time [ns]", "cpu", "pid", "event", "function")]
    for number in range(min(n_rows, part.n_rows)):
        cpu, pid = part.cpu[number], part.pid[number]
        rows.append(
            (
                str(part.time_ns[number]),
                "" if cpu is None else str(cpu),
                "" if pid is None else str(pid),
                _cut(part.event[number]),
                _cut(part.function[number]),
            )
        )
    more = [f"The first {n_rows} of {part.n_rows:,} events."] if part.n_rows > n_rows else []
    return columns_of(rows) + more


def columns_of(rows: list[tuple[str, ...]]) -> list[str]:
    """Return rows as lines in columns; the first is the header."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def printable(text: str) -> str:
    """Return untrusted text without control characters, which could do anything to a terminal.

    >>> printable("a\\x1b[31mb\\nc")
    'a?[31mb c'
    """
    return "".join(letter if letter.isprintable() else " " if letter in "\t\r\n" else "?" for letter in text)


def _cut(text: str) -> str:
    text = printable(text)
    return text if len(text) <= NAME_WIDTH else text[: NAME_WIDTH - 1] + "…"


def _title(one: Artefact) -> str:
    return printable(one.title or one.question or one.command or one.file_name or one.tool or "a text")
