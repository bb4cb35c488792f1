"""The samples of a file as JSON lines: what `normstat parse` prints.

Apart from the command, whose help and usage errors need neither numpy nor the readers.
"""

import datetime as dt
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

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

PIECE: Final = 4 << 20


@dataclass(slots=True)
class ParsedRows:
    """How many rows were read, printed or not: samples, and rows about the time since boot."""

    n_samples: int = 0
    n_since_boot: int = 0
    # Whether the name of a zone is ambiguous, and whether the order of day and month was guessed.
    is_zone_unclear: bool = False
    is_order_guessed: bool = False


def since_boot_message(rows: ParsedRows) -> str:
    """Return how many rows about the time since boot were not printed, and what prints them."""
    n_rows = rows.n_since_boot
    message = f"{n_rows} {'row is' if n_rows == 1 else 'rows are'} about the time since boot and not printed"
    hint = "--since-boot prints them, --first-is-real makes them samples"
    if rows.n_samples:
        return f"{message} ({hint})"
    return f"no samples: {message} ({hint}); call the tool with an interval and a count, as in vmstat 5 2"


def print_samples(
    stream: BinaryIO,
    file: str,
    spec_name: str | None,
    *,
    zone: str | None,
    date: dt.date | None,
    command: str,
    is_first_real: bool,
    with_since_boot: bool,
) -> ParsedRows:
    """Read the stream piece by piece and print its samples; return how many rows there were.

    `file`: its name may tell the tool's arguments and the day. `spec_name`: None guesses it from the headers. Raises NormstatError
    when no tool is known by that name or prints such headers, and what reading and printing raise.
    """
    timing = Timing(zone=zone, date=date or day_in_name(file), is_first_real=is_first_real)
    data = stream.read(PIECE)
    spec = require_spec(spec_name) if spec_name else _guess(data, file)
    command = command or command_in_name(Path(file).name, spec.tool)
    state: State = {}
    rows = ParsedRows()
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
