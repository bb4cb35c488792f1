"""Rows of streams as this process wrote them last: they are not read or parsed again while they are unchanged.

A row's `xmin` is the transaction that wrote it. A row with the same one is the row that was cached, whichever process looks; after
another process, a reparse or an import has written it, it has another one, and is read. The rows' hosts are locked meanwhile.
The state of the reader is kept as its JSON: bounded, invisible to the garbage collector, and what comes back is what the database
would give.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import orjson
import psycopg

from normstat.samples.ingest_rows import OpenStream, SavedStream
from normstat.samples.stream_rows import StreamName

# For all hosts together. A stream takes some 2 kB beside its state, and a state has up to 2 kB, or 50 kB with 2,000 processes.
MAX_STREAMS: Final = 20_000
MAX_STATE_BYTES: Final = 24 << 20

VERSIONS: Final = "SELECT id, xmin::text FROM streams WHERE id = ANY(%(ids)s::int8[])"

StreamPlace = tuple[int, StreamName]


@dataclass(frozen=True, slots=True)
class _CachedStream:
    stream: OpenStream
    version: str
    state: bytes


class StreamCache:
    """The cache of one process."""

    def __init__(self) -> None:
        # The one used longest ago comes first.
        self._by_place: dict[StreamPlace, _CachedStream] = {}
        self._n_state_bytes = 0

    def clear(self) -> None:
        """Clear the cache: after a lost connection the database may be another one, or an older state of it."""
        self._by_place.clear()
        self._n_state_bytes = 0

    async def take(self, connection: psycopg.AsyncConnection, places: Iterable[StreamPlace]) -> dict[StreamPlace, OpenStream]:
        """Return those of the streams whose rows are still as they were cached; the rows of their hosts must be locked.

        They leave the cache, because the caller changes them: `keep` brings them back once that is committed.
        """
        found = {place: cached for place in places if (cached := self._pop(place)) is not None}
        if not found:
            return {}
        cursor = await connection.execute(VERSIONS, {"ids": [cached.stream.id for cached in found.values()]})
        versions: Mapping[object, object] = dict(await cursor.fetchall())
        taken: dict[StreamPlace, OpenStream] = {}
        for place, cached in found.items():
            if versions.get(cached.stream.id) == cached.version:
                cached.stream.reader_state = orjson.loads(cached.state)
                taken[place] = cached.stream
        return taken

    def keep(self, saved: Iterable[SavedStream]) -> None:
        """Cache streams as they were written; call it after the commit."""
        for each in saved:
            if each.state is None:
                continue
            stream = each.stream
            stream.reader_state = {}
            stream.has_new_stats = False
            place = (stream.host_id, (stream.spec, stream.key))
            self._pop(place)
            self._by_place[place] = _CachedStream(stream, each.version, each.state)
            self._n_state_bytes += len(each.state)
        while len(self._by_place) > MAX_STREAMS or self._n_state_bytes > MAX_STATE_BYTES:
            self._pop(next(iter(self._by_place)))

    def _pop(self, place: StreamPlace) -> _CachedStream | None:
        cached = self._by_place.pop(place, None)
        if cached is not None:
            self._n_state_bytes -= len(cached.state)
        return cached
