"""The list of all hosts; where they are too many to make it at each request, it is refreshed in the background while it is in use.

A list of ten thousand hosts takes a second to make: sums over all streams. Which hosts there are, and their tags, are checked at
each request, so what a person changed is seen at once, at each of several servers; what agents sent, within seconds.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import anyio.to_thread
import orjson
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.api.http.fleet_answers import FleetBody
from normstat.db.limited_session import limited_account
from normstat.db.session import open_read_session

if TYPE_CHECKING:
    from normstat.query.host_lists import HostsVersion

# A list of fewer hosts is made each time.
MANY: Final = 300
# Minimum age of a list before it is made again; later where it is slow, so that at most a tenth of the time goes into it.
FRESH_S: Final = 5.0
MAX_SHARE: Final = 0.1
# The list is not in use when no request asked for it within this time.
WATCHED_S: Final = 60.0

Sessions = async_sessionmaker[AsyncSession]


@dataclass(frozen=True, slots=True)
class _Kept:
    version: "HostsVersion"
    body: FleetBody
    made_at: float
    pause_s: float


class HostListAnswers:
    """The answers of one process."""

    def __init__(self, sessions: Sessions, clock: Callable[[], float], *, many: int = MANY) -> None:
        self._sessions = sessions
        self._clock = clock
        self._many = many
        self._kept: _Kept | None = None
        self._making = asyncio.Lock()
        self._asked_at = float("-inf")
        self._asked = asyncio.Event()

    async def find(self) -> FleetBody:
        """Return the list: made now where the hosts are few, else as it was some seconds ago, with the hosts and tags of now."""
        # Every server has a list, and it takes a while to import what makes it.
        from normstat.query import host_lists  # noqa: PLC0415

        async with open_read_session(self._sessions) as session:
            # A limited account sees few hosts, and its list fits no other account.
            if limited_account() is not None:
                return await _make_body(session)
            self._asked_at = self._clock()
            version = await host_lists.read_hosts_version(session)
            if version.n_hosts < self._many:
                return await _make_body(session)
        self._asked.set()
        kept = self._find(version)
        if kept is not None:
            return kept.body
        async with self._making:
            # Made while this request waited.
            kept = self._find(version)
            return (kept or await self._make()).body

    async def run(self, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Refresh the list before it is too old, while it is in use; until cancelled."""
        while True:
            await self._asked.wait()
            kept = self._kept
            wait_s = 0.0 if kept is None else kept.made_at + kept.pause_s - self._clock()
            if kept is None or wait_s > 0:
                await sleep(max(wait_s, 1.0))
            elif self._clock() - self._asked_at > WATCHED_S:
                self._asked.clear()
            else:
                async with self._making:
                    await self._make()

    def _find(self, version: "HostsVersion") -> _Kept | None:
        kept = self._kept
        # It is made again after one pause, and that takes a part of another.
        is_fresh = kept is not None and self._clock() < kept.made_at + 2 * kept.pause_s
        return kept if kept is not None and is_fresh and kept.version == version else None

    async def _make(self) -> _Kept:
        from normstat.query import host_lists  # noqa: PLC0415

        began = self._clock()
        async with open_read_session(self._sessions) as session:
            # In the same snapshot: the version is that of this list.
            version = await host_lists.read_hosts_version(session)
            body = await _make_body(session)
        took_s = self._clock() - began
        self._kept = _Kept(version, body, began, max(FRESH_S, took_s / MAX_SHARE))
        return self._kept


async def _make_body(session: AsyncSession) -> FleetBody:
    from normstat.query import host_lists  # noqa: PLC0415

    hosts = await host_lists.list_hosts(session, datetime.now(UTC))

    def dump() -> FleetBody:
        # Not by pydantic, which would check each value of ten thousand hosts once more.
        return FleetBody.of(orjson.dumps({"hosts": hosts}, option=orjson.OPT_UTC_Z))

    return dump() if len(hosts) < MANY else await anyio.to_thread.run_sync(dump)
