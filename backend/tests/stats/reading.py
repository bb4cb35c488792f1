"""Reads a stream in any pieces and lays the result out so that two ways of reading can be compared."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from normstat.stats.catalogue import load_catalogue
from normstat.stats.readers import read
from normstat.stats.records import ReadResult, RejectedLine, SampleBlock, State
from normstat.stats.spec import Spec

SUMMARIES = {name for name, (_, stat) in load_catalogue().stats.items() if stat.summary_of}


@dataclass(frozen=True, slots=True)
class Row:
    """A sample with all that is known of it."""

    offset: int
    is_since_boot: bool
    stat: str
    time_us: int
    instance: str
    columns: tuple[tuple[str, int], ...]
    values: tuple[float, ...]
    missing: tuple[bool, ...]
    printed: str | None


@dataclass(frozen=True, slots=True)
class Reading:
    """All that was read, in the order of the lines."""

    rows: list[Row]
    rejected: list[RejectedLine]
    n_lines: Counter[str]
    n_bytes: Counter[str]
    state: State


def rows_of(block: SampleBlock, *, is_since_boot: bool = False) -> list[Row]:
    columns = [values.tolist() for values in block.values]
    names = tuple((field.key, field.decimals) for field in block.fields)
    return [
        Row(
            offset=int(block.line_offset[row]),
            is_since_boot=is_since_boot,
            stat=block.stat.name,
            time_us=int(block.time_us[row]),
            instance=block.instances[row],
            columns=names,
            values=tuple(column[row] for column in columns),
            missing=tuple(bool(mask is not None and mask[row]) for mask in block.missing),
            printed=block.printed.get(row),
        )
        for row in range(len(block))
    ]


def rows_of_result(result: ReadResult) -> list[Row]:
    rows = [row for block in result.blocks for row in rows_of(block)]
    rows += [row for block in result.since_boot for row in rows_of(block, is_since_boot=True)]
    return sorted(rows, key=lambda row: row.offset)


def read_pieces(spec: Spec, pieces: Sequence[bytes], command: str = "") -> Reading:
    """Gives the pieces to the reader one after another, the state through JSON between them, as a server does."""
    state: State = {}
    offset = 0
    rest = b""
    reading = Reading([], [], Counter(), Counter(), {})
    for number, piece in enumerate(pieces, start=1):
        rest += piece
        result = read(spec, rest, state=state, offset=offset, is_final=number == len(pieces), command=command)
        assert sum(result.accounts.n_bytes.values()) == result.n_taken
        reading.rows.extend(rows_of_result(result))
        reading.rejected.extend(result.rejected)
        reading.n_lines.update(result.accounts.n_lines)
        reading.n_bytes.update(result.accounts.n_bytes)
        state = json.loads(json.dumps(result.state))
        offset += result.n_taken
        rest = rest[result.n_taken :]
    assert not rest
    # The sums of a report are made at its end: they stand after the row of the line that they begin with. Rows of several stats
    # of one line are in blocks of their own, whose order says nothing.
    rows = sorted(reading.rows, key=lambda row: (row.offset, row.stat in SUMMARIES, row.stat))
    return Reading(rows, reading.rejected, reading.n_lines, reading.n_bytes, state)
