"""Many reads as one request: each is answered by its own route, with the rights and limits that it has alone.

The page draws nine graphs at once, each with its bands. One by one they wait for a connection, of which a browser opens six.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import Final
from urllib.parse import unquote

import structlog
from fastapi import Request
from fastapi.datastructures import DefaultPlaceholder
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Scope

from normstat.api.http.handlers import error_response, request_id_of
from normstat.api.http.lazy_routing import PREFIX, LazyRoute
from normstat.errors import BadRequest, NormstatError, shorten

log = structlog.get_logger()

# Reads of one batch at once: a browser would send six, one of which follows the host's news.
N_AT_ONCE: Final = 4
JSON: Final = b"application/json"
# Headers that are about the body of the batch, or about the form of its answer.
OF_BATCH: Final = frozenset({
    b"content-length", b"content-type", b"transfer-encoding", b"accept", b"accept-encoding", b"if-none-match", b"x-request-id",
})  # fmt: skip


async def answer_batch(request: Request, addresses: Sequence[str]) -> AsyncGenerator[bytes]:
    """Yield the answer to each address as a line of JSON, `{"index": 3, "status": 200, "body": {...}}`, in the order of completion.

    The reads begin in the order of the addresses. The first piece is empty: it begins the answer of the batch, which gives up its
    place among the running requests (turnstile.py) before its reads take theirs.
    """
    yield b""
    lines: asyncio.Queue[bytes] = asyncio.Queue()
    places = asyncio.Semaphore(N_AT_ONCE)

    async def read(index: int, address: str) -> None:
        async with places:
            status, body = await _read(request, address)
        lines.put_nowait(b'{"index":%d,"status":%d,"body":%b}\n' % (index, status, body))

    tasks = [asyncio.create_task(read(index, address)) for index, address in enumerate(addresses)]
    try:
        for _ in tasks:
            yield await lines.get()
    finally:
        # The client is gone, if any of them still runs.
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _read(request: Request, address: str) -> tuple[int, bytes]:
    """Return status and body of the answer to GET of an address. An unexpected error is the envelope, and logged."""
    answer = _Answer()
    try:
        app: ASGIApp = request.app
        await app(_scope_of(request.scope, address, request_id_of(request)), answer.receive, answer.send)
        if answer.body and answer.is_json:
            # Outside of strings, where a line break is only a blank.
            return answer.status, bytes(answer.body).replace(b"\n", b" ")
        log.error("request_failed", error="a read of a batch gave no JSON", path=address.partition("?")[0], status=answer.status)
        error = NormstatError("Internal server error; the server's log has the details")
    except BadRequest as refused:
        error = refused
    response = error_response(request_id_of(request), error)
    return response.status_code, bytes(response.body)


def _scope_of(batch: Scope, address: str, request_id: str) -> Scope:
    """Return the scope of a request for an address of the API, by the client of the batch.

    Raises: BadRequest where a route answers with anything else than JSON, such as an export or what never ends
    """
    path, _, query = address.partition("?")
    scope: Scope = {
        "type": "http",
        "method": "GET",
        "path": PREFIX + unquote(path),
        "raw_path": (PREFIX + path).encode(),
        "query_string": query.encode(),
        "headers": [*_headers(batch["headers"]), (b"accept-encoding", b"identity"), (b"x-request-id", request_id.encode())],
        "state": {},
    } | {key: batch[key] for key in ("asgi", "http_version", "scheme", "client", "server", "root_path") if key in batch}
    for route in batch["app"].router.routes:
        match, _ = route.matches(scope)
        if match is Match.FULL and isinstance(route, LazyRoute):
            if not isinstance(route.prepare().response_class, DefaultPlaceholder):
                raise BadRequest(f"{shorten(path)} does not answer with JSON: ask for it alone")
            break
    return scope


def _headers(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, value in headers if name not in OF_BATCH]


class _Answer:
    """Takes what the application sends."""

    def __init__(self) -> None:
        self.status = 0
        self.is_json = False
        self.body = bytearray()
        self._is_asked = False

    async def receive(self) -> Message:
        """Return the request, which has no body, and then nothing more: a client that leaves cancels the batch."""
        if self._is_asked:
            await asyncio.Event().wait()
        self._is_asked = True
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(self, message: Message) -> None:
        """Keep the answer."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.is_json = any(name == b"content-type" and value.startswith(JSON) for name, value in message["headers"])
        else:
            self.body += message.get("body", b"")
