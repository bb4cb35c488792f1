"""When a host has samples, and when not."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.window import Window


@dataclass(frozen=True, slots=True)
class StatCoverage:
    """When a stat has samples inside the window. `interval_s`: the usual distance of two reports; None with fewer than two."""

    stat: str
    n_samples: int
    interval_s: float | None
    covered: list[Window]


@dataclass(frozen=True, slots=True)
class GapRecord:
    """Bytes that the agent had to drop before they could be sent."""

    spec: str
    key: str
    reported_at: datetime
    n_bytes: int


@dataclass(frozen=True, slots=True)
class CoverageResult:
    """What there is of a host; first and last sample are over all time."""

    host: str
    start: datetime
    end: datetime
    first_sample_at: datetime | None
    last_sample_at: datetime | None
    stats: list[StatCoverage]
    gaps: list[GapRecord]


async def read_coverage(session: AsyncSession, host: str, window: Window, width: int = 1000) -> CoverageResult:
    """Covered intervals of every stat of the host, as fine as a bar of `width` pixels can show.

    Raises: NotFound for an unknown host
    """
    raise NotImplementedError
