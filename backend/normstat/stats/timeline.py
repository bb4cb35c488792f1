"""Clock readings -> instants: the day that a clock belongs to, and the way from a zone to UTC."""

import datetime as dt
import zoneinfo
from typing import Final

from normstat.errors import BadRequest
from normstat.stats.records import NO_TIME
from normstat.stats.stamp import SECONDS_A_DAY, Stamp, day_seconds

# A clock that goes back by less than this was set back (summer time, a corrected clock); by more, it passed midnight. So a pause of
# up to 18 hours between two rows is read rightly as well.
SET_BACK_LIMIT_S: Final = 6 * 3600
MICRO: Final = 1_000_000
UTC_NAMES: Final = ("UTC", "Etc/UTC", "GMT")


def require_zone(name: str) -> dt.tzinfo:
    """The zone of that name in the zone database.

    Raises: BadRequest when there is none.
    """
    if name in UTC_NAMES:
        return dt.UTC
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as trouble:
        message = f"there is no time zone {name!r}; use a name such as Europe/Berlin or UTC"
        raise BadRequest(message) from trouble


class Timeline:
    """Follows the times of a stream in the order of its lines.

    `day_s` is the day that clocks without a date belong to, None while nobody said; `last_s` the latest reading of a clock, as
    seconds since the epoch by the wall; `last_us` the latest instant. All three survive in the reader's state.
    """

    __slots__ = ("_is_utc", "_zone", "day_s", "last_s", "last_us")

    def __init__(self, zone: dt.tzinfo) -> None:
        self._zone = zone
        self._is_utc = zone is dt.UTC
        self.day_s: int | None = None
        self.last_s: float | None = None
        self.last_us: int | None = None

    def start_day(self, day: dt.date) -> None:
        """A banner named the day on which a run began."""
        self.day_s = day_seconds(day)
        self.last_s = None

    def see_clock(self, seconds: float) -> float | None:
        """The reading of the wall's clock for a time of the day: on the same day as the last one, or across midnight.

        Missing: None while no day is known.
        """
        if self.last_s is None:
            if self.day_s is None:
                return None
            self.last_s = self.day_s + seconds
            return self.last_s
        day_s = self.last_s // SECONDS_A_DAY * SECONDS_A_DAY
        reading = day_s + seconds
        if reading - self.last_s < -SET_BACK_LIMIT_S:
            reading += SECONDS_A_DAY
        elif reading - self.last_s >= SECONDS_A_DAY - SET_BACK_LIMIT_S:
            reading -= SECONDS_A_DAY
        self.last_s = reading
        return reading

    def clock_us(self, seconds: float) -> int:
        """The instant of a time of the day.

        Units: seconds -> microseconds since the epoch. Missing: NO_TIME while no day is known.
        """
        reading = self.see_clock(seconds)
        return NO_TIME if reading is None else self.local_us(reading)

    def local_us(self, reading: float) -> int:
        """The instant of a reading of the wall's clock in this stream's zone.

        An hour that summer time repeats is its first pass, unless the stream has been past it already.
        """
        if self._is_utc:
            self.last_us = round(reading * MICRO)
            return self.last_us
        whole = int(reading // 1)
        try:
            local = dt.datetime.fromtimestamp(whole, dt.UTC).replace(tzinfo=self._zone)
            offsets = [local.replace(fold=fold).utcoffset() for fold in (0, 1)]
        except (OverflowError, ValueError, OSError):
            return NO_TIME
        found = [round(reading * MICRO) - (offset or dt.timedelta()) // dt.timedelta(microseconds=1) for offset in offsets]
        is_past = self.last_us is not None and found[0] < self.last_us <= found[1] + SET_BACK_LIMIT_S * MICRO
        self.last_us = found[1] if found[1] > found[0] and is_past else found[0]
        return self.last_us

    def stamp_us(self, stamp: Stamp) -> int:
        """The instant of a stamp on a line of its own. Missing: NO_TIME for a clock while no day is known."""
        if stamp.is_clock_only:
            return self.clock_us(stamp.seconds)
        if stamp.offset_s is None:
            self.last_s = stamp.seconds
            return self.local_us(stamp.seconds)
        self.last_s = stamp.seconds
        self.last_us = round((stamp.seconds - stamp.offset_s) * MICRO)
        return self.last_us
