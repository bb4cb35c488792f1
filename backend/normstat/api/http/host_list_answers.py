"""The list of all hosts; where they are too many to read it at each request, it is refreshed in the background while it is in use.

Which hosts there are, and their tags, are checked at each request, so what a person changed is seen at once, at each of several
servers; what agents sent, within seconds.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import anyio.to_thread
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.api.http.fleet_answers import FleetBody
from normstat.db.host_limits import read_visible_names
from normstat.db.limited_session import all_hosts, limited_account
from normstat.db.session import open_read_session

if TYPE_CHECKING:
    from normstat.query.host_list_rows import HostListRows
    from normstat.query.host_numbers import HostsVersion

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
    hosts: "HostListRows"
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
        """Return the list that the account of this request sees: read now where the hosts are few, else as it was some seconds ago,
        with the hosts and tags of now.
        """
        if limited_account() is None:
            return (await self._find_all()).body
        async with open_read_session(self._sessions) as session:
            visible = await read_visible_names(session)
        # It is kept for all accounts.
        with all_hosts():
            hosts = (await self._find_all()).hosts
        return _make_body([row for name, row in zip(hosts.names, hosts.rows, strict=True) if name in visible])

    async def _find_all(self) -> _Kept:
        # Every server has a list, and it takes a while to import what makes it.
        from normstat.query.host_numbers import read_hosts_version  # noqa: PLC0415

        self._asked_at = self._clock()
        async with open_read_session(self._sessions) as session:
            version = await read_hosts_version(session)
            if version.n_hosts < self._many:
                return await self._make(session)
        self._asked.set()
        kept = self._find_fresh(version)
        if kept is not None:
            return kept
        async with self._making:
            # Made while this request waited.
            return self._find_fresh(version) or await self._refresh()

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
                    await self._refresh()

    def _find_fresh(self, version: "HostsVersion") -> _Kept | None:
        kept = self._kept
        # It is made again after one pause, and that takes a part of another.
        is_fresh = kept is not None and self._clock() < kept.made_at + 2 * kept.pause_s
        return kept if kept is not None and is_fresh and kept.hosts.version == version else None

    async def _refresh(self) -> _Kept:
        async with open_read_session(self._sessions) as session:
            return await self._make(session)

    async def _make(self, session: AsyncSession) -> _Kept:
        from normstat.query.host_list_rows import read_rows  # noqa: PLC0415

        began = self._clock()
        hosts = await read_rows(session, datetime.now(UTC), None if self._kept is None else self._kept.hosts)
        body = await anyio.to_thread.run_sync(_make_body, hosts.rows)
        took_s = self._clock() - began
        self._kept = _Kept(hosts, body, began, max(FRESH_S, took_s / MAX_SHARE))
        return self._kept


def _make_body(rows: list[bytes]) -> FleetBody:
    return FleetBody.of(b'{"hosts":[' + b",".join(rows) + b"]}")
