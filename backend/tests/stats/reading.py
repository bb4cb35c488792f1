"""Reads a stream in any pieces and lays the result out so that two ways of reading can be compared."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from normstat.stats.catalogue import load_catalogue
from normstat.stats.engine.times.time_lines import parse_time_line
from normstat.stats.engine.times.timestamps import Timestamp
from normstat.stats.guess import guess_spec
from normstat.stats.readers import read, share_texts
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
    (reading,) = read_together([(spec, pieces)], command)
    return reading


def read_together(streams: Sequence[tuple[Spec, Sequence[bytes]]], command: str = "") -> list[Reading]:
    """The same of several streams, whose n-th pieces share texts; each has as many pieces as the others."""
    (n_pieces,) = {len(pieces) for _, pieces in streams}
    states: list[State] = [{} for _ in streams]
    offsets = [0 for _ in streams]
    rests = [b"" for _ in streams]
    had_rows: list[set[int]] = [set() for _ in streams]
    readings = [Reading([], [], Counter(), Counter(), {}) for _ in streams]
    for number in range(n_pieces):
        rests = [rest + pieces[number] for rest, (_, pieces) in zip(rests, streams, strict=True)]
        windows = share_texts([(spec, state, rest) for (spec, _), state, rest in zip(streams, states, rests, strict=True)])
        for at, (spec, _) in enumerate(streams):
            is_final = number + 1 == n_pieces
            result = read(
                spec, rests[at], state=states[at], offset=offsets[at], is_final=is_final, command=command, window=windows[at]
            )
            assert sum(result.accounts.n_bytes.values()) == result.n_taken
            named = {row.offset for row in rows_of_result(result) if row.stat not in SUMMARIES and not row.is_since_boot}
            # Ingest counts a line once that it rejects, whenever its rows come.
            assert not named & had_rows[at], "a line that may get another row in a later piece stands in open_lines"
            had_rows[at] = (had_rows[at] | named).difference(result.open_lines)
            readings[at].rows.extend(rows_of_result(result))
            readings[at].rejected.extend(result.rejected)
            readings[at].n_lines.update(result.accounts.n_lines)
            readings[at].n_bytes.update(result.accounts.n_bytes)
            states[at] = json.loads(json.dumps(result.state))
            offsets[at] += result.n_taken
            rests[at] = rests[at][result.n_taken :]
    assert not any(rests)
    # The sums of a report are made at its end: they stand after the row of the line that they begin with. Rows of several stats
    # of one line are in blocks of their own, whose order says nothing.
    return [
        Reading(
            sorted(reading.rows, key=lambda row: (row.offset, row.stat in SUMMARIES, row.stat)),
            reading.rejected,
            reading.n_lines,
            reading.n_bytes,
            state,
        )
        for reading, state in zip(readings, states, strict=True)
    ]


def guessed(data: bytes, path: str = "") -> str:
    """The name of the spec that output is taken for."""
    spec = guess_spec(data, path)
    assert spec is not None
    return spec.name


def stamp_of(text: str) -> Timestamp:
    """The time that a line is."""
    stamp = parse_time_line(text)
    assert stamp is not None
    return stamp
