"""Raw samples as CSV and as Parquet.

An export is a stream: it begins at once. When the client disconnects, the running statement is cancelled.
"""

import re
import zlib
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import aclosing
from typing import Annotated, Final, Protocol

import zstandard
from anyio import to_thread
from fastapi import Depends, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import StringConstraints
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.api.http.deps import HostQuery, InWindow, State, Viewer
from normstat.api.http.encodings import GZIP_WINDOW_BITS, choose_encoding
from normstat.api.http.handlers import guarded_answers, text_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.streaming import PieceResponse, Pieces
from normstat.errors import BadRequest, NotFound, Overloaded
from normstat.query.export.chosen_lines import MAX_LINES, ExportedLine
from normstat.query.export.csv_export import ExportRequest, stream_csv
from normstat.runtime.body import NO_NUL
from normstat.window import Window

router = LazyRouter(tags=["export"])

# The fastest level of each: an export should arrive soon, and its digits shrink to a fifth even so.
ZSTD_LEVEL: Final = 1
GZIP_LEVEL: Final = 1
UNSAFE_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9._-]")

StatQuery = Annotated[
    str | None,
    Query(
        description="one stat, as a wide table; default: all stats, as a long table", min_length=1, max_length=63, pattern=NO_NUL
    ),
]
OneStatQuery = Annotated[str, Query(description="name of the stat", min_length=1, max_length=63, pattern=NO_NUL)]

FieldKey = Annotated[str, StringConstraints(min_length=1, max_length=63, pattern=NO_NUL)]
# A field has no colon; an instance may.
LineName = Annotated[str, StringConstraints(max_length=1064, pattern=r"^[^:\x00]{1,63}:[^\x00]*$")]
FieldsQuery = Annotated[
    list[FieldKey] | None, Query(max_length=100, description="keys of the fields; with `stat` only; default: those with a value")
]
LinesQuery = Annotated[
    list[LineName] | None,
    Query(
        max_length=MAX_LINES,
        description="single lines, as FIELD:INSTANCE (instance empty for a stat with one row per report); with `stat` only; other "
        "instances have no row, and other fields of an instance are empty",
    ),
]


def split_line(name: str) -> ExportedLine:
    """Return the line that is written FIELD:INSTANCE."""
    field, _, instance = name.partition(":")
    return ExportedLine(field, instance)


class Packer(Protocol):
    """A streaming compressor."""

    def compress(self, data: bytes, /) -> bytes:
        """Return the output available so far."""

    def flush(self) -> bytes:
        """Return the remaining output."""


class ExportResponse(PieceResponse):
    """An export sent as a file download."""

    def __init__(self, pieces: Pieces, *, media_type: str, name: str, encoding: str | None, stall_s: float) -> None:
        headers = {"Content-Disposition": f'attachment; filename="{UNSAFE_IN_NAMES.sub("_", name)}"'}
        if encoding is not None:
            headers |= {"Content-Encoding": encoding, "Vary": "Accept-Encoding"}
        super().__init__(pieces, media_type=media_type, headers=headers, stall_s=stall_s)


async def hold_export_slot(principal: Viewer, state: State) -> AsyncIterator[None]:
    """Hold an export slot until the answer is sent: each export uses a database connection.

    Raises: Overloaded
    """
    async with state.export_slots.hold(principal.name):
        yield


NEEDS_PLACE: Final = Depends(hold_export_slot)


async def pack(pieces: Pieces, encoding: str | None) -> Pieces:
    """Return the pieces compressed with that encoding."""
    async with aclosing(pieces):
        if encoding is None:
            async for piece in pieces:
                yield piece
            return
        packer: Packer = (
            zstandard.ZstdCompressor(level=ZSTD_LEVEL).compressobj()
            if encoding == "zstd"
            else zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, GZIP_WINDOW_BITS)
        )
        async for piece in pieces:
            # Both release the interpreter lock: the next page is made meanwhile.
            if packed := await to_thread.run_sync(packer.compress, piece):
                yield packed
        yield packer.flush()


def to_file_name(host: str, stat: str | None, window: Window, ending: str) -> str:
    """Return the file name that a browser saves it under."""
    return f"{host}-{stat or 'all'}-{window.start:%Y%m%dT%H%M%SZ}-{window.end:%Y%m%dT%H%M%SZ}.{ending}"


def to_request(
    host: str, window: Window, stat: str | None, fields: Sequence[str] | None, lines: Sequence[str] | None
) -> ExportRequest:
    """Return the export that the parameters name.

    Raises: BadRequest for fields or lines without a stat, or both
    """
    if stat is None and (fields or lines):
        raise BadRequest("`field` and `line` need `stat`, the stat that they are of")
    if fields and lines:
        raise BadRequest("Give `field` (all instances) or `line` (FIELD:INSTANCE), not both")
    return ExportRequest(host, window, stat, tuple(fields or ()), tuple(map(split_line, lines or ())))


def load_parquet() -> Callable[[AsyncEngine, ExportRequest], Coroutine[None, None, Pieces]]:
    """Return `stream_parquet`; pyarrow takes a third of a second to import and is loaded on first use."""
    from normstat.query.export.parquet_export import stream_parquet  # noqa: PLC0415 (see above)

    return stream_parquet


@router.get(
    "/export.csv",
    response_class=StreamingResponse,
    dependencies=[NEEDS_PLACE],
    responses=text_answers(
        guarded_answers(BadRequest, NotFound, Overloaded),
        media_type="text/csv",
        description="UTF-8, CRLF, a header line, then samples",
    ),
)
@open_to_limited()
async def export_csv(
    *,
    request: Request,
    host: HostQuery,
    window: InWindow,
    principal: Viewer,
    state: State,
    stat: StatQuery = None,
    field: FieldsQuery = None,
    line: LinesQuery = None,
) -> StreamingResponse:
    """Export every raw sample of the window, digit for digit as the tool printed it.

    With `stat`: time, epoch, instance and a column for each field. Without: time, epoch, stat, instance, field, value, unit.
    Compressed with zstd or gzip, fast rather than small, for clients that accept it.
    """
    # An unknown name is an error here; a later error aborts the answer, so that a short file does not look whole.
    engine = await state.reads.choose(principal.name)
    pieces = await stream_csv(engine, to_request(host, window, stat, field, line))
    encoding = choose_encoding(request.headers.get("accept-encoding", ""))
    return ExportResponse(
        pack(pieces, encoding),
        media_type="text/csv; charset=utf-8",
        name=to_file_name(host, stat, window, "csv"),
        encoding=encoding,
        stall_s=state.settings.reader_stall_s,
    )


@router.get(
    "/export.parquet",
    response_class=StreamingResponse,
    dependencies=[NEEDS_PLACE],
    responses=text_answers(
        guarded_answers(BadRequest, NotFound, Overloaded), media_type="application/vnd.apache.parquet", description="a Parquet file"
    ),
)
@open_to_limited()
async def export_parquet(
    *,
    request: Request,
    host: HostQuery,
    window: InWindow,
    principal: Viewer,
    state: State,
    stat: OneStatQuery,
    field: FieldsQuery = None,
    line: LinesQuery = None,
) -> StreamingResponse:
    """Export every raw sample of one stat as Parquet: time, instance, the fields (unit and help in their metadata), printed.

    Decimals are doubles; the metadata give the number of decimal places that the tool printed.
    """
    stream_parquet = await to_thread.run_sync(load_parquet)
    engine = await state.reads.choose(principal.name)
    pieces = await stream_parquet(engine, to_request(host, window, stat, field, line))
    return ExportResponse(
        pieces,
        media_type="application/vnd.apache.parquet",
        name=to_file_name(host, stat, window, "parquet"),
        # Parquet is compressed already; naming an encoding keeps the middleware from compressing it again.
        encoding="identity" if choose_encoding(request.headers.get("accept-encoding", "")) else None,
        stall_s=state.settings.reader_stall_s,
    )
