"""`normstat report`: a comparison as one HTML file, or its numbers as CSV."""

import getpass
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from normstat.api.comparison_inputs import ReportInputs
from normstat.api.comparison_report import find_report
from normstat.cli.db_session import run_in_session
from normstat.errors import BadRequest
from normstat.report.numbers import write_csv
from normstat.report.report_page import render_report
from normstat.settings import load_settings
from normstat.storage.baseline_rows import find_baseline
from normstat.storage.session import WriteSession

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


class Format(StrEnum):
    """Format of the file."""

    HTML = "html"
    CSV = "csv"


@app.command()
def report(
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
    file_format: Annotated[Format, typer.Option("--format", help="html or csv")] = Format.HTML,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="output file; default: standard output")] = None,
) -> None:
    """Write a comparison, saved or new, as one self-contained file."""
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
        return write_csv(result) if file_format is Format.CSV else render_report(result, cover).encode()

    body = run_in_session(work)
    if output is None:
        typer.get_binary_stream("stdout").write(body)
    else:
        output.write_bytes(body)


def _to_inputs(given: Mapping[str, object]) -> ReportInputs:
    try:
        return ReportInputs.model_validate({name: value for name, value in given.items() if value is not None})
    except ValidationError as trouble:
        problems = "; ".join(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in trouble.errors())
        raise BadRequest(problems) from None


def _who() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "the command line"
