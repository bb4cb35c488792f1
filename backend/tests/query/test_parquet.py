"""Parquet: the same rows, columns and values as the CSV, in row groups, from one snapshot."""

import csv
import io
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.errors import NotFound
from normstat.query.export import parquet_export
from normstat.query.export.csv_export import ExportRequest, stream_csv
from normstat.query.export.parquet_export import stream_parquet
from normstat.samples.printed_words import parse_printed
from normstat.window import Window
from tests.database_access import Database
from tests.databases import on_either_database
from tests.query.filling import fill_capture, fill_stat
from tests.query.test_export import DAY, MPSTAT, START, VMSTAT

pytestmark = on_either_database


async def read_file(engine: AsyncEngine, request: ExportRequest) -> pq.ParquetFile:
    return pq.ParquetFile(io.BytesIO(b"".join([piece async for piece in await stream_parquet(engine, request)])))


async def read_csv(engine: AsyncEngine, request: ExportRequest) -> list[list[str]]:
    body = b"".join([piece async for piece in await stream_csv(engine, request)])
    return list(csv.reader(io.StringIO(body.decode(), newline="")))


def to_lines(table: pa.Table) -> list[list[str]]:
    """What the CSV says, from the file and its metadata alone."""
    fields = [table.schema.field(name) for name in table.column_names[2:-1]]
    lines = []
    for row in table.to_pylist():
        words = parse_printed(row["printed"] or "")
        at = row["time"].isoformat().replace("+00:00", "Z")
        cells = [at, str(int(row["time"].timestamp())), row["instance"]]
        for field in fields:
            value = row[field.name]
            cells.append("" if value is None else words.get(field.name, format_as(value, int(field.metadata[b"decimals"]))))
        lines.append(cells)
    return lines


def format_as(value: float, decimals: int) -> str:
    return str(value) if isinstance(value, int) else f"{value:.{decimals}f}"


def headers_of(schema: pa.Schema) -> Sequence[str]:
    units = {name: schema.field(name).metadata[b"unit"].decode() for name in schema.names[2:-1]}
    return [f"{name}[{unit}]" if unit else name for name, unit in units.items()]


@pytest.mark.parametrize(("stat", "capture"), [("vmstat_linux", VMSTAT), ("mpstat_linux", MPSTAT)])
async def test_it_says_what_the_csv_says(db: Database, stat: str, capture: bytes) -> None:
    await fill_capture(db.sessions, "web1", stat, capture)
    request = ExportRequest("web1", DAY, stat)
    header, *lines = await read_csv(db.engine, request)
    table = (await read_file(db.engine, request)).read()
    assert header[3:] == headers_of(table.schema)
    assert to_lines(table) == lines
    assert len(lines) > 1
    assert table.schema.field("time").type == pa.timestamp("us", tz="UTC")
    assert (table.schema.metadata[b"normstat.host"], table.schema.metadata[b"normstat.stat"]) == (b"web1", stat.encode())


async def test_row_groups_of_many_pages_keep_every_row_and_every_gap(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    n_seconds, names = 3000, ("sda", "sdb", "=x,y")
    rng = np.random.default_rng(5)
    n = n_seconds * len(names)
    util = np.round(rng.uniform(0, 100, n), 2)
    util[rng.random(n) < 0.3] = np.nan
    # The first page has no value of this one, and the second some.
    late = np.where(np.arange(n) < n // 2, np.nan, 0.25)
    rkb = np.round(rng.gamma(2, 1e5, n), 2)
    await fill_stat(db.sessions, "iostat_linux", START, np.arange(n_seconds), names, util_pct=util, aqu_sz=late, rkb_per_s=rkb)
    monkeypatch.setattr(parquet_export, "VALUES_PER_PAGE", 1)
    monkeypatch.setattr(parquet_export, "VALUES_PER_GROUP", 1)
    request = ExportRequest("web1", DAY, "iostat_linux")
    file = await read_file(db.engine, request)
    assert file.metadata.num_row_groups > 5
    assert max(file.metadata.row_group(number).num_rows for number in range(file.metadata.num_row_groups)) <= 1000
    _, *lines = await read_csv(db.engine, request)
    assert to_lines(file.read()) == lines
    table = file.read()
    assert table.column("util_pct").null_count == np.isnan(util).sum()
    assert table.column("aqu_sz").null_count == n // 2


async def test_an_empty_window_is_an_empty_file(db: Database) -> None:
    await fill_capture(db.sessions, "web1", "vmstat_linux", VMSTAT)
    later = Window(DAY.end, datetime(2026, 12, 1, tzinfo=UTC))
    table = (await read_file(db.engine, ExportRequest("web1", later, "vmstat_linux"))).read()
    assert (table.num_rows, table.column_names[:3]) == (0, ["time", "instance", "procs_r"])
    # A stat of which no host has sent anything yet.
    nothing = (await read_file(db.engine, ExportRequest("web1", DAY, "iostat_linux"))).read()
    assert (nothing.num_rows, nothing.column_names) == (0, ["time", "instance", "printed"])
    with pytest.raises(NotFound, match="no host 'web9'"):
        await stream_parquet(db.engine, ExportRequest("web9", DAY, "vmstat_linux"))


async def test_a_file_that_fails_is_not_ended(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    await fill_capture(db.sessions, "web1", "vmstat_linux", VMSTAT)
    monkeypatch.setattr(parquet_export, "to_batch", lambda *_: 1 / 0)
    pieces = await stream_parquet(db.engine, ExportRequest("web1", DAY, "vmstat_linux"))
    with pytest.raises(ZeroDivisionError):
        await anext(pieces)
