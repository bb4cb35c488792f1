"""Many reads in one request."""

from collections.abc import AsyncGenerator
from typing import Annotated

from fastapi import Request
from fastapi.responses import StreamingResponse
from pydantic import Field, StringConstraints

from normstat.api.http.audit_notes import changes_nothing
from normstat.api.http.batch import answer_batch
from normstat.api.http.deps import State, ViewerInSetup
from normstat.api.http.encodings import StreamPacker, choose_encoding
from normstat.api.http.handlers import guarded_answers, text_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.streaming import PieceResponse
from normstat.errors import BadRequest
from normstat.runtime.body import Body

router = LazyRouter(tags=["batch"])

MAX_READS = 64
# Printable ASCII: an address as it is sent, percent-encoded.
Address = Annotated[str, StringConstraints(max_length=100_000, pattern=r"^/[\x21-\x7e]*$")]


class ReadBatch(Body):
    """Addresses of the API without `/api/v1`, such as `/series?host=web1&...`: only routes that answer with JSON."""

    get: Annotated[list[Address], Field(min_length=1, max_length=MAX_READS)]


@router.post(
    "/batch",
    response_class=StreamingResponse,
    responses=text_answers(
        guarded_answers(BadRequest),
        media_type="application/x-ndjson",
        description="lines of JSON in the order of completion: `index` of the address, its `status`, and the `body` of its route",
    ),
)
@open_to_limited()
@changes_nothing
async def read_batch(batch: ReadBatch, request: Request, _: ViewerInSetup, state: State) -> StreamingResponse:
    """Answer several reads at once, each as its own route does."""
    encoding = choose_encoding(request.headers.get("accept-encoding", ""))
    pieces = answer_batch(request, batch.get)
    # A buffering proxy would hold back the answers that are there.
    headers = {"X-Accel-Buffering": "no", "Cache-Control": "no-store", "Vary": "Accept-Encoding"}
    if encoding is not None:
        headers["Content-Encoding"] = encoding
        pieces = _packed(pieces, StreamPacker(encoding))
    return PieceResponse(pieces, media_type="application/x-ndjson", headers=headers, stall_s=state.settings.reader_stall_s)


async def _packed(pieces: AsyncGenerator[bytes], packer: StreamPacker) -> AsyncGenerator[bytes]:
    try:
        async for piece in pieces:
            yield packer.pack(piece) if piece else piece
        yield packer.finish()
    finally:
        await pieces.aclose()
