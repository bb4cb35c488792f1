"""Entries of the audit log outside of a transaction: logins, refusals, exports. The API notes changes in their own."""

import asyncio
from collections import deque
from typing import Final

import structlog
from sqlalchemy.exc import SQLAlchemyError

from normstat.auth.access import Sessions
from normstat.db.session import open_write_session
from normstat.records.audit_rows import AuditEntry, add_entries

log = structlog.get_logger()

FLUSH_S: Final = 0.5
# Maximum number of entries waiting while the database is away; those that strangers cause are already bounded by the security log.
MAX_WAITING: Final = 5000
MAX_AT_ONCE: Final = 500


class AuditTrail:
    """A queue of entries and the task that stores them. An entry that finds no place is counted and logged, never lost silently."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._waiting: deque[AuditEntry] = deque()
        self._n_dropped = 0
        self._news = asyncio.Event()

    def put(self, entry: AuditEntry) -> None:
        """Store the entry soon."""
        if len(self._waiting) >= MAX_WAITING:
            self._n_dropped += 1
            return
        self._waiting.append(entry)
        self._news.set()

    async def flush(self) -> None:
        """Store the waiting entries. While the database is away they keep waiting."""
        while self._waiting:
            batch = [self._waiting[place] for place in range(min(MAX_AT_ONCE, len(self._waiting)))]
            async with open_write_session(self._sessions) as session:
                await add_entries(session, batch)
            for _ in batch:
                self._waiting.popleft()
        if self._n_dropped:
            log.error("audit_entries_dropped", n=self._n_dropped)
            self._n_dropped = 0

    async def run(self) -> None:
        """Store entries as they come, until cancelled; then the last ones."""
        try:
            while True:
                await self._news.wait()
                # Logins of a morning arrive together.
                await asyncio.sleep(FLUSH_S)
                self._news.clear()
                try:
                    await self.flush()
                except (SQLAlchemyError, OSError) as error:
                    log.warning("audit_log_waits", n=len(self._waiting), cause=type(error).__name__)
                    self._news.set()
                    await asyncio.sleep(5)
        finally:
            try:
                await asyncio.wait_for(self.flush(), 3)
            except (SQLAlchemyError, OSError, TimeoutError) as error:
                log.error("audit_entries_dropped", n=len(self._waiting), cause=type(error).__name__)  # noqa: TRY400
