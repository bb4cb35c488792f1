"""A window of time: half-open [start, end) in UTC."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from normstat.errors import BadRequest

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
# The years that samples, and the windows of requests, can have: half-open [EPOCH, LATEST). Anything outside is a mistake or an
# attack, and near the limits of datetime every calculation overflows.
LATEST: Final = datetime(2200, 1, 1, tzinfo=UTC)


def to_us(instant: datetime) -> int:
    """Return microseconds since the epoch, exactly."""
    return (instant - EPOCH) // MICROSECOND


def from_us(time_us: int) -> datetime:
    """Return the instant of microseconds since the epoch."""
    return EPOCH + time_us * MICROSECOND


LATEST_US: Final = to_us(LATEST)


def clamp(instant: datetime) -> datetime:
    """Return the instant, or the nearest end of [EPOCH, LATEST]."""
    return min(max(instant, EPOCH), LATEST)


def begin_of_day(instant: datetime) -> datetime:
    """Return the midnight (UTC) with which the instant's day began."""
    return instant.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


@dataclass(frozen=True, slots=True, order=True)
class Window:
    """Half-open [start, end); never empty, both ends aware and in UTC."""

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        """Raise BadRequest when it is empty, ends before it starts, or has a naive end."""
        if self.start.utcoffset() is None or self.end.utcoffset() is None:
            raise BadRequest(f"The window {self.start} to {self.end} has no time zone; give both instants with a zone, e.g. Z")
        object.__setattr__(self, "start", self.start.astimezone(UTC))
        object.__setattr__(self, "end", self.end.astimezone(UTC))
        if self.start >= self.end:
            raise BadRequest(f"The window is empty: start {self.start.isoformat()} is not before end {self.end.isoformat()}")

    @property
    def start_us(self) -> int:
        """The first instant, in microseconds since the epoch."""
        return to_us(self.start)

    @property
    def end_us(self) -> int:
        """The first instant after the window, in microseconds since the epoch."""
        return to_us(self.end)

    @property
    def length_s(self) -> float:
        """The length in seconds."""
        return (self.end - self.start).total_seconds()


def open_window(start: datetime | None, end: datetime | None) -> Window | None:
    """Return the window from `start`, or from the beginning, to `end`, or without end. Missing: None without both

    Raises: BadRequest for an end before the start
    """
    return None if start is None and end is None else Window(start or EPOCH, end or LATEST)
