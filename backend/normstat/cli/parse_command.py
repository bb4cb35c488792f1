"""`normstat parse`: prints the samples of a file as JSON lines, for scripts and for testing a spec."""

import datetime as dt
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from normstat.errors import NormstatError

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
STDIN: Final = "-"
GUESSED_ORDER: Final = "its banner names one of two days, and the month was taken to be first: else give --date"
UNCLEAR_ZONE: Final = "its zone has a name of several meanings, so times are missing: name the zone, as in --zone Asia/Kolkata"


@app.command()
def parse(
    file: Annotated[str, typer.Argument(help="The tool's output; - for standard input.")],
    spec: Annotated[str | None, typer.Option(help="Name of the spec; default: detected from the headers.")] = None,
    date: Annotated[
        str | None, typer.Option(help="YYYY-MM-DD: the day of the first time printed; default: a day in the file's name.")
    ] = None,
    zone: Annotated[str | None, typer.Option(help="Zone of times printed without one, e.g. Europe/Berlin (default UTC).")] = None,
    *,
    since_boot: Annotated[bool, typer.Option("--since-boot", help="Also print the since-boot report.")] = False,
    first_is_real: Annotated[
        bool,
        typer.Option("--first-is-real", help="The first report covers an interval, not the time since boot (as with vmstat -y)."),
    ] = False,
    command: Annotated[str, typer.Option(help="The command that printed the file, e.g. 'iostat -xy 1 5'.")] = "",
) -> None:
    """Print one JSON object for every sample of FILE; lines that cannot be read go to standard error."""
    try:
        day = dt.date.fromisoformat(date) if date else None
    except ValueError:
        sys.stderr.write(f"--date: {date!r} is not a date; expected e.g. 2026-11-21\n")
        raise typer.Exit(2) from None
    # Numpy and the readers take a quarter of a second: not for the help.
    from normstat.cli.parsed_samples import print_samples, since_boot_message  # noqa: PLC0415

    try:
        with sys.stdin.buffer if file == STDIN else Path(file).open("rb") as stream:
            rows = print_samples(
                stream,
                file,
                spec,
                zone=zone,
                date=day,
                command=command,
                is_first_real=first_is_real,
                with_since_boot=since_boot,
            )
        sys.stdout.flush()
    except NormstatError as trouble:
        sys.stderr.write(f"{file}: {trouble.message}\n")
        raise typer.Exit(1) from None
    except BrokenPipeError:
        # The reader of the output (head) has seen enough; keep Python from complaining when it flushes at the end.
        sys.stdout = None
        raise typer.Exit(0) from None
    except OSError as trouble:
        sys.stderr.write(f"{file}: {trouble.strerror or trouble}\n")
        raise typer.Exit(1) from None
    if rows.n_since_boot and not since_boot:
        sys.stderr.write(f"{file}: {since_boot_message(rows)}\n")
    elif not rows.n_samples + rows.n_since_boot:
        sys.stderr.write(f"{file}: no samples found\n")
    if rows.is_zone_unclear:
        sys.stderr.write(f"{file}: {UNCLEAR_ZONE}\n")
    if rows.is_order_guessed:
        sys.stderr.write(f"{file}: {GUESSED_ORDER}\n")
    if not rows.n_samples and not (since_boot and rows.n_since_boot):
        raise typer.Exit(1)
