"""Whether rules keep up with the hosts that send: each is judged within a minute, unless the server has more to do than it can."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import and_, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.limited_session import all_hosts
from normstat.db.schema.models import Host
from normstat.db.schema.retention_models import HostDeletionRow
from normstat.db.schema.watch_models import WatchedHost

# A host sends if a stream of it arrived within this time.
SENDING: Final = timedelta(minutes=3)
# A minute, and the time between two runs.
JUDGED_WITHIN: Final = timedelta(seconds=70)
# Hosts come and go, and a run may be late: fewer than this share of them were judged in time before it is said.
KEEPS_UP: Final = 0.95
KEPT: Final = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class JudgingPace:
    """How many hosts send, and how many of them rules judged in the last minute, or since their last samples came."""

    n_hosts: int
    n_judged: int

    @property
    def behind(self) -> str | None:
        """What is said where rules are behind. Missing: None where they keep up

        >>> JudgingPace(1000, 640).behind
        'judged 640 of 1,000 hosts in the last minute'
        """
        if self.n_judged >= KEEPS_UP * self.n_hosts:
            return None
        return f"judged {self.n_judged:,} of {self.n_hosts:,} hosts in the last minute"


async def read_pace(session: AsyncSession, now: datetime) -> JudgingPace:
    """Return how many of the hosts that send were judged lately."""
    is_in_time = or_(
        WatchedHost.judged_at >= now - JUDGED_WITHIN,
        # A host that sends once a minute has nothing to judge before its next samples.
        Host.last_seen_at - WatchedHost.judged_at < JUDGED_WITHIN,
        # A new host has its turn in the next run.
        and_(WatchedHost.judged_at.is_(None), Host.created_at >= now - JUDGED_WITHIN),
    )
    query = (
        select(func.count(), func.count().filter(is_in_time))
        .select_from(Host)
        .outerjoin(WatchedHost, WatchedHost.host_id == Host.id)
        .where(Host.last_seen_at >= now - SENDING, Host.id.not_in(select(HostDeletionRow.host_id)))
    )
    n_hosts, n_judged = (await session.execute(query)).one()
    return JudgingPace(n_hosts, n_judged)


class PaceNote:
    """What is said of the pace, read again after some seconds."""

    def __init__(self) -> None:
        self._read_at: datetime | None = None
        self._behind: str | None = None

    async def read(self, session: AsyncSession) -> str | None:
        """Return what is said where rules are behind. Missing: None where they keep up"""
        now = datetime.now(UTC)
        if self._read_at is None or now - self._read_at >= KEPT:
            # It is kept for the next account that asks.
            with all_hosts():
                self._behind = (await read_pace(session, now)).behind
            self._read_at = now
        return self._behind
