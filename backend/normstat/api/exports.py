"""Raw samples as CSV and as Parquet.

An export is a stream: it begins at once. When the client disconnects, the running statement is cancelled.
"""

import re
import zlib
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import aclosing
from typing import Annotated, Final, Protocol

import zstandard
from anyio import to_thread
from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import StreamingResponse
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.api.deps import HostQuery, InWindow, State, Viewer
from normstat.api.handlers import guarded_answers, text_answers
from normstat.api.schemas import NO_NUL
from normstat.api.streaming import PieceResponse, Pieces
from normstat.errors import BadRequest, NotFound, Overloaded
from normstat.query.export.csv_export import ExportRequest, stream_csv
from normstat.window import Window

router = APIRouter(tags=["export"])

# The fastest level of each: an export should arrive soon, and its digits shrink to a fifth even so.
ZSTD_LEVEL: Final = 1
GZIP_LEVEL: Final = 1
# A window of 15 bits, in the gzip format.
GZIP_WBITS: Final = 31
# A value such as: zstd, gzip with a weight (;q=0.5).
ACCEPTED: Final = re.compile(r"([a-z0-9-]+)\s*(?:;\s*q\s*=\s*([0-9]*\.?[0-9]+))?")
UNSAFE_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9._-]")

StatQuery = Annotated[
    str | None,
    Query(
        description="one stat, as a wide table; default: all stats, as a long table", min_length=1, max_length=63, pattern=NO_NUL
    ),
]
OneStatQuery = Annotated[str, Query(description="name of the stat", min_length=1, max_length=63, pattern=NO_NUL)]


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


def choose_encoding(accepted: str) -> str | None:
    """Return zstd, which costs least, or gzip, if the client accepts it at least as readily as plain text. Missing: None if it does
    not.
    """
    weights = {name: float(weight or 1) for name, weight in ACCEPTED.findall(accepted.lower())}
    known = [(weights.get(name, 0.0), name) for name in ("zstd", "gzip")]
    best = max(weight for weight, _ in known)
    if best == 0 or best < weights.get("identity", 0.0):
        return None
    return next(name for weight, name in known if weight == best)


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
            else zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, GZIP_WBITS)
        )
        async for piece in pieces:
            # Both release the interpreter lock: the next page is made meanwhile.
            if packed := await to_thread.run_sync(packer.compress, piece):
                yield packed
        yield packer.flush()


def to_file_name(host: str, stat: str | None, window: Window, ending: str) -> str:
    """Return the file name that a browser saves it under."""
    return f"{host}-{stat or 'all'}-{window.start:%Y%m%dT%H%M%SZ}-{window.end:%Y%m%dT%H%M%SZ}.{ending}"


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
async def export_csv(
    request: Request, host: HostQuery, window: InWindow, state: State, stat: StatQuery = None
) -> StreamingResponse:
    """Export every raw sample of the window, digit for digit as the tool printed it.

    With `stat`: time, epoch, instance and a column for each field. Without: time, epoch, stat, instance, field, value, unit.
    Compressed with zstd or gzip, fast rather than small, for clients that accept it.
    """
    # An unknown name is an error here; a later error aborts the answer, so that a short file does not look whole.
    pieces = await stream_csv(state.engine, ExportRequest(host=host, window=window, stat=stat))
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
async def export_parquet(
    request: Request, host: HostQuery, window: InWindow, state: State, stat: OneStatQuery
) -> StreamingResponse:
    """Export every raw sample of one stat as Parquet: time, instance, the fields (unit and help in their metadata), printed.

    Decimals are doubles; the metadata give the number of decimal places that the tool printed.
    """
    stream_parquet = await to_thread.run_sync(load_parquet)
    pieces = await stream_parquet(state.engine, ExportRequest(host=host, window=window, stat=stat))
    return ExportResponse(
        pieces,
        media_type="application/vnd.apache.parquet",
        name=to_file_name(host, stat, window, "parquet"),
        # Parquet is compressed already; naming an encoding keeps the middleware from compressing it again.
        encoding="identity" if choose_encoding(request.headers.get("accept-encoding", "")) else None,
        stall_s=state.settings.reader_stall_s,
    )
