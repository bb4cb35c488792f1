"""Preview a spec on a sample: the first samples and rejected lines, for the person who writes the spec."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from normstat.stats.readers import read
from normstat.stats.records import NO_TIME, ReadResult, SampleBlock
from normstat.stats.spec import Spec

MAX_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """A sample; `time_us` is None if the time is unknown: such a row would be rejected."""

    stat: str
    time_us: int | None
    instance: str
    values: dict[str, int | float | None]


@dataclass(frozen=True, slots=True)
class PreviewLine:
    """A line that would be rejected."""

    line_no: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Preview:
    """At most MAX_SHOWN rows and lines; `n_lines` counts all lines by kind."""

    rows: list[PreviewRow]
    rejected: list[PreviewLine]
    n_lines: dict[str, int]
    n_rows: int
    n_rejected: int


def preview_spec(spec: Spec, sample: bytes) -> Preview:
    """Return what would be read from the sample, treating its last line as complete."""
    if not sample.endswith(b"\n"):
        sample += b"\n"
    result = read(spec, sample, state={}, offset=0, is_final=True)
    rows = sorted(_rows(result), key=lambda row: row[0])[:MAX_SHOWN]
    return Preview(
        rows=[row for _, row in rows],
        rejected=[PreviewLine(line.line_no, line.text, line.reason) for line in result.rejected[:MAX_SHOWN]],
        n_lines={kind.value: n for kind, n in result.accounts.n_lines.items() if n},
        n_rows=sum(map(len, result.blocks)),
        n_rejected=len(result.rejected),
    )


def _rows(result: ReadResult) -> Iterator[tuple[int, PreviewRow]]:
    for block in result.blocks:
        # The first rows of each block are enough to find the first of all.
        yield from _block_rows(block, min(len(block), MAX_SHOWN))


def _block_rows(block: SampleBlock, n_rows: int) -> Iterator[tuple[int, PreviewRow]]:
    for row in range(n_rows):
        values: dict[str, int | float | None] = {
            field.key: column[row].item() for field, column in zip(block.fields, block.values, strict=True)
        }
        for field, missing in zip(block.fields, block.missing, strict=False):
            if missing is not None and missing[row]:
                values[field.key] = None
        time_us = int(block.time_us[row])
        yield (
            int(block.line_offset[row]),
            PreviewRow(block.stat.name, None if time_us == NO_TIME else time_us, block.instances[row], values),
        )
