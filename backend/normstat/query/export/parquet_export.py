"""Raw samples of one stat as Parquet, in constant memory and without a file: for pandas, DuckDB, Spark and the like.

Columns: `time` (microseconds, UTC), `instance` (dictionary), the fields that the CSV has, and `printed`: the words of a row that
its numbers cannot reproduce digit for digit (`usr_pct=007`), almost always NULL. Rows have the order of the CSV's lines.

Whole numbers are int32 or int64. Decimals are float64, the double nearest to what the tool printed, and their metadata give the
number of decimals: so `format(value, ".2f")` is the printed text. (decimal128 would carry that itself, but pandas makes objects of
it, at fifty times the cost.) A missing value is NULL.

Importing this module imports pyarrow, which takes a third of a second: import it on demand.
"""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Final

import anyio.to_thread
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.query.export.csv_export import ExportRequest, find_lines, find_stats, open_export, sort_lines, to_query
from normstat.samples.lookup import InstanceNames
from normstat.samples.sample_pages import Page, StoredArray, read_pages, to_codes, to_floats, to_missing
from normstat.stats.spec import Field, Storage

# A row group has at least half of this, and at most one page more: about 50 MB while it is written.
VALUES_PER_GROUP: Final = 3_000_000
VALUES_PER_PAGE: Final = 500_000
COMPRESSION: Final = "zstd"


async def stream_parquet(engine: AsyncEngine, request: ExportRequest) -> AsyncGenerator[bytes]:
    """Yield the file in pieces: `pieces = await stream_parquet(...)` checks the names; then iterate, and close the iterator.

    An error in between is raised from the iterator; the partial output has no footer, so no program takes it for a complete file.
    Raises: NotFound for an unknown host, stat or field
    """
    host_id, stats = await find_stats(engine, request)

    async def stream() -> AsyncGenerator[bytes]:
        async with open_export(engine) as session:
            if not stats:
                yield _File(request, ()).close()
                return
            [stat] = stats
            chosen = await find_lines(session, host_id, stat, request)
            names = InstanceNames()
            query = to_query(host_id, stat, request.window, chosen, VALUES_PER_PAGE)
            file = _File(request, chosen.fields)
            async with aclosing(read_pages(session, query)) as pages:
                async for page in pages:
                    found = await names.of(session, to_codes(page.instance_id)[0].tolist())
                    if piece := await anyio.to_thread.run_sync(file.write, chosen.clear(page), found):
                        yield piece
            yield await anyio.to_thread.run_sync(file.close)

    return stream()


class _Sink:
    """The writer's output file: buffers what was written until it is taken."""

    closed = False

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing: the buffer is taken by `take`."""

    def close(self) -> None:
        self.closed = True

    def take(self) -> bytes:
        parts, self._parts = self._parts, []
        return b"".join(parts)


class _File:
    """A Parquet file being written: pages in, pieces of the file out."""

    def __init__(self, request: ExportRequest, fields: Sequence[Field]) -> None:
        self._fields = fields
        self._schema = to_schema(request, fields)
        self._sink = _Sink()
        self._writer = pq.ParquetWriter(self._sink, self._schema, compression=COMPRESSION)
        self._waiting: list[pa.RecordBatch] = []
        self._rows_per_group = max(1000, VALUES_PER_GROUP // len(self._schema))

    def write(self, page: Page, names: Mapping[int, str]) -> bytes:
        """Write a page; return the output available so far."""
        self._waiting.append(to_batch(sort_lines(page, names), names, self._fields, self._schema))
        if sum(batch.num_rows for batch in self._waiting) >= self._rows_per_group // 2:
            self._write_group()
        return self._sink.take()

    def close(self) -> bytes:
        """Return the end of the file."""
        if self._waiting:
            self._write_group()
        self._writer.close()
        return self._sink.take()

    def _write_group(self) -> None:
        # Each page has a dictionary of its own; a row group has one.
        table = pa.Table.from_batches(self._waiting, self._schema).unify_dictionaries()
        self._waiting = []
        self._writer.write_table(table, row_group_size=max(1, table.num_rows))


def to_schema(request: ExportRequest, fields: Sequence[Field]) -> pa.Schema:
    """Return the columns, with unit, help and decimals of each field; the file metadata name its host, stat and window."""
    columns = [
        pa.field("time", pa.timestamp("us", tz="UTC"), nullable=False),
        pa.field("instance", pa.dictionary(pa.int32(), pa.string()), nullable=False),
        *(pa.field(field.key, _arrow_type(field), metadata=_describe(field)) for field in fields),
        pa.field("printed", pa.string()),
    ]
    about = {
        "host": request.host,
        "stat": request.stat or "",
        "start": request.window.start.isoformat(),
        "end": request.window.end.isoformat(),
        # The column metadata again, for programs that do not read Arrow's schema.
        "fields": json.dumps({field.key: _describe(field) for field in fields}, ensure_ascii=False),
    }
    return pa.schema(columns, metadata={f"normstat.{key}": text for key, text in about.items()})


def to_batch(page: Page, names: Mapping[int, str], fields: Sequence[Field], schema: pa.Schema) -> pa.RecordBatch:
    """Return the rows of the page."""
    ids, places = to_codes(page.instance_id)
    instances = pa.DictionaryArray.from_arrays(
        pa.array(places.astype(np.int32)), pa.array([names[id_] for id_ in ids.tolist()], pa.string())
    )
    printed = [page.printed.get(row) for row in range(len(page))] if page.printed else pa.nulls(len(page), pa.string())
    columns = [pa.array(page.time_us, pa.timestamp("us", tz="UTC")), instances]
    for field, column, has_values in zip(fields, page.values, page.has_values, strict=True):
        columns.append(_to_array(field, column) if has_values else pa.nulls(len(page), _arrow_type(field)))
    return pa.record_batch([*columns, pa.array(printed, pa.string())], schema=schema)


def _to_array(field: Field, column: StoredArray) -> pa.Array:
    numbers = column if field.storage.is_whole else to_floats(field, column)
    missing = to_missing(column)
    return pa.array(numbers, _arrow_type(field), mask=missing if missing.any() else None)


def _arrow_type(field: Field) -> pa.DataType:
    match field.storage:
        case Storage.INT4:
            return pa.int32()
        case Storage.INT8:
            return pa.int64()
        case Storage.DEC4 | Storage.FLOAT4 | Storage.FLOAT8:
            return pa.float64()


def _describe(field: Field) -> dict[str, str]:
    decimals = 0 if field.storage.is_whole else field.decimals
    return {
        "unit": field.unit,
        "help": field.help,
        "column": field.column,
        "kind": field.kind.value,
        "decimals": str(decimals),
    }
