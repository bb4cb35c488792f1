"""Answers of the fleet page, cached for a few seconds: all open screens ask for the same."""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from typing import Final

import anyio.to_thread
import orjson
from fastapi import Response
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.api.http.encodings import choose_encoding, compress, has_answer
from normstat.db.host_limits import read_visible_names
from normstat.db.limited_session import all_hosts, limited_account
from normstat.db.session import open_read_session

# For the present, and for a moment in the past, for which late samples are rare.
LIVE_S: Final = 3.0
PAST_S: Final = 30.0
MAX_ANSWERS: Final = 16


@dataclass(frozen=True, slots=True)
class FleetBody:
    """The JSON of an answer and its ETag; it is kept in each encoding that it was asked for in."""

    plain: bytes
    etag: str
    _packed: dict[str, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, plain: bytes) -> "FleetBody":
        """Return the body of this JSON."""
        return cls(plain, f'"{hashlib.sha256(plain).hexdigest()[:32]}"')

    def limited_to(self, names: frozenset[str], key: str) -> "FleetBody":
        """Return the same with the hosts of these names alone; `key`: the member of a host that is its name."""
        answer = orjson.loads(self.plain)
        answer["hosts"] = [host for host in answer["hosts"] if host[key] in names]
        return FleetBody.of(orjson.dumps(answer))

    def pack(self, encoding: str) -> bytes:
        """Return the JSON in this encoding: most screens ask for the same."""
        found = self._packed.get(encoding)
        if found is None:
            found = self._packed[encoding] = compress(self.plain, encoding)
        return found


class FleetAnswers:
    """The answers of one process, by moment (None: now); one is made at a time."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._kept: OrderedDict[datetime | None, tuple[float, FleetBody]] = OrderedDict()
        self._making = asyncio.Lock()

    async def find(self, at: datetime | None, make: Callable[[], Awaitable[tuple[FleetBody, bool]]]) -> FleetBody:
        """Return the answer of this moment: a kept one, or what `make` gives, which says whether to keep it.

        Raises: what `make` raises
        """
        found = self._find(at)
        if found is not None:
            return found
        async with self._making:
            # Made while this request waited.
            found = self._find(at)
            if found is not None:
                return found
            # It is given to all accounts, see `limit_body`.
            with all_hosts():
                body, is_whole = await make()
            if is_whole:
                self._kept[at] = (self._clock() + (LIVE_S if at is None else PAST_S), body)
                self._kept.move_to_end(at)
                while len(self._kept) > MAX_ANSWERS:
                    self._kept.popitem(last=False)
            return body

    def _find(self, at: datetime | None) -> FleetBody | None:
        ends_at, body = self._kept.get(at, (0.0, None))
        return body if body is not None and self._clock() < ends_at else None


async def limit_body(sessions: async_sessionmaker[AsyncSession], body: FleetBody, key: str) -> FleetBody:
    """Return the answer with the hosts that the account of this request sees; `key`: the member of a host that is its name."""
    if limited_account() is None:
        return body
    async with open_read_session(sessions) as session:
        names = await read_visible_names(session)
    return await anyio.to_thread.run_sync(body.limited_to, names, key)


async def respond(body: FleetBody, if_none_match: str | None, accept_encoding: str) -> Response:
    """Return an answer in an encoding that the client accepts, or 304 with its ETag if the client has it."""
    headers = {"ETag": body.etag, "Cache-Control": "private, no-cache", "Vary": "Accept-Encoding, Authorization, Cookie"}
    if has_answer(if_none_match, body.etag):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    encoding = choose_encoding(accept_encoding)
    if encoding is not None:
        packed = await anyio.to_thread.run_sync(body.pack, encoding)
        return Response(packed, media_type="application/json", headers=headers | {"Content-Encoding": encoding})
    return Response(body.plain, media_type="application/json", headers=headers)
