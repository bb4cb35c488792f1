"""Preview a spec on a sample: the first samples and rejected lines, for the person who writes the spec."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from normstat.runtime.field_docs import Documented
from normstat.stats.readers import read
from normstat.stats.records import ReadResult, SampleBlock
from normstat.stats.spec import Spec
from normstat.window import LATEST_US, from_us

MAX_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class SpecPreviewRow(Documented):
    """A sample as it would be read."""

    stat: str
    time: datetime | None
    """null: unknown, or outside the years 1970 to 2199, so ingest would reject the line."""

    instance: str
    values: dict[str, int | float | None]


@dataclass(frozen=True, slots=True)
class SpecPreviewLine(Documented):
    """A line that would be rejected."""

    line_no: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class SpecPreview(Documented):
    """The result of reading a sample with a spec."""

    rows: list[SpecPreviewRow]
    """At most 200."""

    rejected: list[SpecPreviewLine]
    """At most 200."""

    n_lines: dict[str, int]
    """All lines, by kind."""

    n_rows: int
    """All rows, also those not listed."""

    n_rejected: int
    """All rejected lines, also those not listed."""


def preview_spec(spec: Spec, sample: bytes) -> SpecPreview:
    """Return what would be read from the sample, treating its last line as complete."""
    if not sample.endswith(b"\n"):
        sample += b"\n"
    result = read(spec, sample, state={}, offset=0, is_final=True)
    rows = sorted(_rows(result), key=lambda row: row[0])[:MAX_SHOWN]
    return SpecPreview(
        rows=[row for _, row in rows],
        rejected=[SpecPreviewLine(line.line_no, line.text, line.reason) for line in result.rejected[:MAX_SHOWN]],
        n_lines={kind.value: n for kind, n in result.accounts.n_lines.items() if n},
        n_rows=sum(map(len, result.blocks)),
        n_rejected=len(result.rejected),
    )


def _rows(result: ReadResult) -> Iterator[tuple[int, SpecPreviewRow]]:
    for block in result.blocks:
        # The first rows of each block are enough to find the first of all.
        yield from _block_rows(block, min(len(block), MAX_SHOWN))


def _block_rows(block: SampleBlock, n_rows: int) -> Iterator[tuple[int, SpecPreviewRow]]:
    for row in range(n_rows):
        values: dict[str, int | float | None] = {
            field.key: column[row].item() for field, column in zip(block.fields, block.values, strict=True)
        }
        for field, missing in zip(block.fields, block.missing, strict=False):
            if missing is not None and missing[row]:
                values[field.key] = None
        time_us = int(block.time_us[row])
        time = from_us(time_us) if 0 <= time_us < LATEST_US else None
        yield int(block.line_offset[row]), SpecPreviewRow(block.stat.name, time, block.instances[row], values)
