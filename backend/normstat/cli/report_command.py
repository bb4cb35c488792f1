"""`normstat report`: a comparison as one HTML file, PDF or CSV; `list`, `show` and `export` for reports of people."""

import getpass
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from normstat.api.routes.comparison_inputs import ReportInputs
from normstat.api.routes.comparison_report import find_report
from normstat.api.routes.reports import find_document
from normstat.baselines.baseline_rows import find_baseline
from normstat.cli.db_session import run_in_session
from normstat.cli.local_database import find_public_url
from normstat.comparison.model import Comparison
from normstat.db.session import WriteSession
from normstat.report import report_rows
from normstat.report.block_html import render_document
from normstat.report.blocks import ReportDocument
from normstat.report.numbers import write_csv
from normstat.report.pdf import render_comparison_pdf, render_pdf
from normstat.report.report_page import Cover, render_report
from normstat.report.report_rows import ReportInfo, StoredNote
from normstat.runtime.body import check_body
from normstat.settings import load_settings

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


class Format(StrEnum):
    """Format of the file."""

    HTML = "html"
    PDF = "pdf"
    CSV = "csv"


@app.callback(invoke_without_command=True)
def report(
    context: typer.Context,
    *,
    comparison: Annotated[int | None, typer.Option(help="id of a saved comparison, instead of all other options")] = None,
    host: Annotated[list[str] | None, typer.Option(help="name of a host; may be given several times")] = None,
    start: Annotated[
        str | None, typer.Option("--from", metavar="INSTANT", help="first instant of the incident: 2026-11-21T10:00:00Z")
    ] = None,
    end: Annotated[str | None, typer.Option("--to", metavar="INSTANT", help="first instant after the incident")] = None,
    baseline: Annotated[str | None, typer.Option(help="name or id of the baseline")] = None,
    baseline_start: Annotated[
        str | None, typer.Option("--baseline-from", metavar="INSTANT", help="or the first instant of another window")
    ] = None,
    baseline_end: Annotated[
        str | None, typer.Option("--baseline-to", metavar="INSTANT", help="first instant after that window")
    ] = None,
    ago: Annotated[str | None, typer.Option(help="or the same time earlier: day or week")] = None,
    other_host: Annotated[str | None, typer.Option(help="or another host in the same window")] = None,
    group: Annotated[str | None, typer.Option(help="or the other hosts of this host group in the same window")] = None,
    note: Annotated[str, typer.Option(help="printed in the report")] = "",
    file_format: Annotated[Format, typer.Option("--format", help="html, pdf or csv")] = Format.HTML,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="output file; default: standard output")] = None,
) -> None:
    """Write a comparison, saved or new, as one self-contained file. The commands below are for reports that people wrote."""
    if context.invoked_subcommand is not None:
        return
    given = {
        "comparison": comparison,
        "host": host or None,
        "start": start,
        "end": end,
        "baseline_start": baseline_start,
        "baseline_end": baseline_end,
        "ago": ago,
        "other_host": other_host,
        "group": group,
        "note": note,
    }

    async def work(session: WriteSession) -> bytes:
        found = None if baseline is None else (await find_baseline(session, baseline)).id
        asked = _to_inputs(given | {"baseline": found})
        result, cover = await find_report(session, asked, _who(), load_settings())
        return _written(result, cover, file_format)

    _write(run_in_session(work), output)


def _written(result: Comparison, cover: Cover, file_format: Format) -> bytes:
    match file_format:
        case Format.CSV:
            return write_csv(result)
        case Format.PDF:
            return render_comparison_pdf(result, cover)
        case Format.HTML:
            return render_report(result, cover).encode()


def _write(body: bytes, output: Path | None) -> None:
    if output is None:
        typer.get_binary_stream("stdout").write(body)
    else:
        output.write_bytes(body)


@app.command("list")
def list_command() -> None:
    """List the reports that people wrote, last changed first."""

    async def work(session: WriteSession) -> list[ReportInfo]:
        return await report_rows.list_reports(session, templates=False)

    for each in run_in_session(work):
        typer.echo(f"{each.id}\t{each.updated_at:%Y-%m-%d %H:%M} UTC\t{each.n_notes} notes\t{each.author}\t{each.title}")


@app.command("show")
def show_command(report_id: Annotated[int, typer.Argument(metavar="ID", help="id of the report; `list` shows them")]) -> None:
    """Show the notes of a report."""

    async def work(session: WriteSession) -> tuple[ReportInfo, list[StoredNote]]:
        return await report_rows.read_report(session, report_id), await report_rows.list_notes(session, report_id)

    info, notes = run_in_session(work)
    typer.echo(f"{info.title} (id {info.id}) by {info.author}; hosts: {', '.join(info.hosts) or 'none'}")
    for place, note in enumerate(notes, 1):
        frozen = "" if note.frozen_at is None else f", frozen {note.frozen_at:%Y-%m-%d %H:%M:%S} UTC"
        typer.echo(f"{place}. {note.content['kind']}: {note.content.get('title') or 'without title'}{frozen}")


@app.command("export")
def export_command(
    report_id: Annotated[int, typer.Argument(metavar="ID", help="id of the report; `list` shows them")],
    *,
    pdf: Annotated[bool, typer.Option("--pdf/--html", help="PDF, or one self-contained HTML file")] = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="output file; default: standard output")] = None,
) -> None:
    """Write a report as one file."""

    async def work(session: WriteSession) -> ReportDocument:
        return await find_document(session, report_id, _who(), find_public_url())

    document = run_in_session(work)
    _write(render_pdf(document) if pdf else render_document(document).encode(), output)


def _to_inputs(given: Mapping[str, object]) -> ReportInputs:
    return check_body(ReportInputs, {name: value for name, value in given.items() if value is not None})


def _who() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "the command line"
