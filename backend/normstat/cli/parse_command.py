"""`normstat parse`: prints the samples of a file as JSON lines, for scripts and for testing a spec."""

import datetime as dt
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, BinaryIO, Final

import typer

from normstat.errors import NormstatError, shorten
from normstat.runtime import readable
from normstat.stats.catalogue import load_catalogue, require_spec
from normstat.stats.engine.histogram import split_bucket
from normstat.stats.engine.times.timeline import Timeline
from normstat.stats.file_names import command_in_name, day_in_name
from normstat.stats.guess import guess_spec
from normstat.stats.readers import read
from normstat.stats.records import ReadResult, SampleBlock, State, Timing
from normstat.stats.spec import Shape, Spec
from normstat.window import LATEST_US, from_us

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
PIECE: Final = 4 << 20
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
    try:
        with sys.stdin.buffer if file == STDIN else Path(file).open("rb") as stream:
            timing = Timing(zone=zone, date=day or day_in_name(file), is_first_real=first_is_real)
            rows = _parse(stream, file, spec, timing=timing, command=command, with_since_boot=since_boot)
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
        sys.stderr.write(f"{file}: {_since_boot_message(rows)}\n")
    elif not rows.n_samples + rows.n_since_boot:
        sys.stderr.write(f"{file}: no samples found\n")
    if rows.is_zone_unclear:
        sys.stderr.write(f"{file}: {UNCLEAR_ZONE}\n")
    if rows.is_order_guessed:
        sys.stderr.write(f"{file}: {GUESSED_ORDER}\n")
    if not rows.n_samples and not (since_boot and rows.n_since_boot):
        raise typer.Exit(1)


@dataclass(slots=True)
class _Rows:
    """How many rows were read: samples, and rows about the time since boot."""

    n_samples: int = 0
    n_since_boot: int = 0
    # Whether the name of a zone is ambiguous, and whether the order of day and month was guessed.
    is_zone_unclear: bool = False
    is_order_guessed: bool = False


def _since_boot_message(rows: _Rows) -> str:
    n_rows = rows.n_since_boot
    message = f"{n_rows} {'row is' if n_rows == 1 else 'rows are'} about the time since boot and not printed"
    hint = "--since-boot prints them, --first-is-real makes them samples"
    if rows.n_samples:
        return f"{message} ({hint})"
    return f"no samples: {message} ({hint}); call the tool with an interval and a count, as in vmstat 5 2"


def _parse(stream: BinaryIO, file: str, name: str | None, *, timing: Timing, command: str, with_since_boot: bool) -> _Rows:
    """Read the stream piece by piece; return the number of rows read, printed or not."""
    data = stream.read(PIECE)
    spec = require_spec(name) if name else _guess(data, file)
    command = command or command_in_name(Path(file).name, spec.tool)
    state: State = {}
    rows = _Rows()
    offset = 0
    is_final = False
    while not is_final:
        more = stream.read(PIECE)
        is_final = not more
        result = read(spec, data, state=state, offset=offset, is_final=is_final, timing=timing, command=command)
        blocks = [*result.blocks, *result.since_boot]
        rows.n_samples += sum(map(len, result.blocks))
        rows.n_since_boot += sum(map(len, result.since_boot))
        for _, line in sorted(to_json_lines(blocks if with_since_boot else result.blocks), key=lambda item: item[0]):
            sys.stdout.write(line)
        _print_rejected(result, file)
        state = result.state
        offset += result.n_taken
        data = data[result.n_taken :] + more
    timeline = Timeline.resume(state.get("times"), timing)
    rows.is_zone_unclear, rows.is_order_guessed = timeline.is_unclear, timeline.is_order_guessed
    return rows


def _guess(data: bytes, file: str) -> Spec:
    spec = guess_spec(data, file)
    if spec is None:
        message = f"no header of a known tool found; name the spec with --spec ({', '.join(load_catalogue().specs)})"
        raise NormstatError(message)
    return spec


def _print_rejected(result: ReadResult, file: str) -> None:
    for line in result.rejected:
        sys.stderr.write(f"{file}:{line.line_no}: {line.reason}: {shorten(line.text)}\n")


def to_json_lines(blocks: Iterable[SampleBlock]) -> Iterator[tuple[int, str]]:
    """Yield line offset and JSON line of every sample; values without a number are null.

    The buckets of one distribution are one object: its key is the instance, its labels are the names of the values.
    """
    for block in blocks:
        rows = _to_rows(block)
        for row in _join_buckets(rows) if block.stat.shape is Shape.HISTOGRAM else rows:
            sample = {"stat": block.stat.name, "time": to_iso(row.time_us), "instance": row.instance, "values": row.values}
            yield row.offset, json.dumps(sample, ensure_ascii=False) + "\n"


@dataclass(frozen=True, slots=True)
class PrintedRow:
    """A sample to print."""

    offset: int
    time_us: int
    instance: str
    values: dict[str, int | float | None]


def _to_rows(block: SampleBlock) -> Iterator[PrintedRow]:
    columns: list[list[int | float | None]] = [column.tolist() for column in block.values]
    for column, mask in zip(columns, block.missing, strict=True):
        if mask is not None:
            for row in mask.nonzero()[0].tolist():
                column[row] = None
    names = [field.printed_key for field in block.fields]
    rows = zip(block.line_offset.tolist(), block.time_us.tolist(), block.instances, zip(*columns, strict=True), strict=True)
    for offset, time_us, instance, values in rows:
        yield PrintedRow(offset, time_us, instance, dict(zip(names, values, strict=True)))


def _join_buckets(rows: Iterable[PrintedRow]) -> Iterator[PrintedRow]:
    """Yield one row for each distribution: a repeated label, another key or another time begins the next one."""
    present: PrintedRow | None = None
    for row in rows:
        key, label = split_bucket(row.instance)
        if present is None or present.instance != key or present.time_us != row.time_us or label in present.values:
            if present is not None:
                yield present
            present = PrintedRow(row.offset, row.time_us, key, {})
        present.values[label] = row.values["count"]
    if present is not None:
        yield present


def to_iso(time_us: int) -> str | None:
    """Return ISO 8601 with Z, with a fraction only if there is one. Missing: None for NO_TIME, and outside the years 1970 to
    2199.
    """
    if not 0 <= time_us < LATEST_US:
        return None
    return readable.to_iso(from_us(time_us))
