"""`normstat export`: writes the raw samples of a host to a file."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from normstat.cli.db_session import parse_time, run_or_exit
from normstat.db.session import make_engine
from normstat.errors import BadRequest
from normstat.query.export.csv_export import ExportRequest, stream_csv
from normstat.settings import load_settings
from normstat.window import Window

app = typer.Typer(add_completion=False)


class ExportFormat(StrEnum):
    """Format of the file."""

    CSV = "csv"
    PARQUET = "parquet"


@app.command()
def export(
    *,
    host: Annotated[str, typer.Option(help="name of the host")],
    start: Annotated[
        datetime, typer.Option("--from", parser=parse_time, metavar="INSTANT", help="first instant: 2026-11-21T10:00:00Z")
    ],
    end: Annotated[datetime, typer.Option("--to", parser=parse_time, metavar="INSTANT", help="first instant after the window")],
    stat: Annotated[str | None, typer.Option(help="name of the stat; default: all stats, as long CSV")] = None,
    file_format: Annotated[ExportFormat, typer.Option("--format", help="csv, or parquet for one stat")] = ExportFormat.CSV,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="output file; default: standard output")] = None,
) -> None:
    """Write the raw samples of a host, digit for digit as its tools printed them. The file appears only when complete."""
    if file_format is ExportFormat.PARQUET and stat is None:
        typer.echo("normstat: a Parquet file holds one stat; name it with --stat", err=True)
        raise typer.Exit(2)
    if output is None and file_format is ExportFormat.PARQUET and sys.stdout.isatty():
        typer.echo("normstat: Parquet cannot be printed to a terminal; name a file with -o", err=True)
        raise typer.Exit(2)

    def work() -> None:
        request = ExportRequest(host=host, window=Window(start, end), stat=stat)
        with _open(output) as file:
            asyncio.run(_write(load_settings().database_url, request, file_format, file))

    run_or_exit(work)


@contextlib.contextmanager
def _open(output: Path | None) -> Iterator[BinaryIO]:
    """Provide the output; a file has a temporary name until it is complete."""
    if output is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    part = output.with_name(f"{output.name}.part")
    try:
        with part.open("wb") as file:
            yield file
        part.replace(output)
    except OSError as error:
        raise BadRequest(f"Cannot write {output}: {error.strerror}; choose a writable place with enough room") from None
    finally:
        part.unlink(missing_ok=True)


async def _write(database_url: str, request: ExportRequest, file_format: ExportFormat, file: BinaryIO) -> None:
    engine = make_engine(database_url, pool_size=1)
    try:
        pieces: AsyncGenerator[bytes]
        if file_format is ExportFormat.PARQUET:
            # Importing pyarrow takes a third of a second.
            from normstat.query.export.parquet_export import stream_parquet  # noqa: PLC0415

            pieces = await stream_parquet(engine, request)
        else:
            pieces = await stream_csv(engine, request)
        async with aclosing(pieces):
            async for piece in pieces:
                await asyncio.to_thread(file.write, piece)
    finally:
        await engine.dispose()
