"""Convert clock readings to instants: find the day of a clock, and convert from a zone to UTC."""

import datetime as dt
import zoneinfo
from dataclasses import dataclass, replace
from typing import Final, Self

from normstat.errors import BadRequest
from normstat.stats.engine.times.banner_day import parse_banner_day
from normstat.stats.engine.times.timestamps import SECONDS_A_DAY, Timestamp, day_seconds, parse_other_order, tells_day_first
from normstat.stats.records import NO_TIME, Timing

# A clock that goes back by less than this was set back: no summer time changes it by more (Antarctica/Troll). By more, it passed
# midnight. A clock that goes forward stays on its day, however long the host slept.
SET_BACK_LIMIT_S: Final = 2 * 3600
# A clock set back by less across midnight shows the day before again.
SET_BACK_OVER_MIDNIGHT_S: Final = 60
# Times farther apart than this are not compared when an hour is repeated.
REPEATED_HOUR_LIMIT_S: Final = 6 * 3600
# A clock that goes back by less was corrected; by more, in an hour that summer time repeats, that hour begins again.
CORRECTION_LIMIT_S: Final = 600
MICRO: Final = 1_000_000
UTC_NAMES: Final = ("UTC", "Etc/UTC", "GMT")


def require_zone(name: str) -> dt.tzinfo:
    """Return the zone of that name in the zone database.

    Raises: BadRequest for an unknown zone.
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

    `zone` is that of clocks which do not name theirs, None when unknown: then it is the zone of the latest stamp, else UTC.
    `day_s` is the day that clocks without a date belong to, None while unknown; `last_s` the latest reading of a clock, as
    seconds since the epoch by the wall; `last_us` the latest instant; `offset_s` the latest stamp's distance from UTC. All four
    survive in the reader's state.
    """

    __slots__ = (
        "_day_hint",
        "_is_known",
        "_zone",
        "day_s",
        "is_day_first",
        "is_order_guessed",
        "is_unclear",
        "last_s",
        "last_us",
        "offset_s",
    )

    def __init__(self, zone: dt.tzinfo | None) -> None:
        self._zone = None if zone is dt.UTC else zone
        self._is_known = zone is not None
        self.day_s: int | None = None
        self.last_s: float | None = None
        self.last_us: int | None = None
        self.offset_s = 0
        # The latest stamp named a zone by a name of several meanings: nothing after it has a known instant.
        self.is_unclear = False
        # The order of day and month in banners, once it is known, and whether a banner was read without knowing it.
        self._day_hint: dt.date | None = None
        self.is_day_first: bool | None = None
        self.is_order_guessed = False

    @classmethod
    def resume(cls, times: object, timing: Timing) -> Self:
        """Return the timeline that continues from a saved state; without a state it begins on the day that the timing names.

        Raises: BadRequest for an unknown zone
        """
        timeline = cls(require_zone(timing.zone) if timing.zone is not None else None)
        timeline._day_hint = timing.date
        if not timeline.load(times) and timing.date is not None:
            timeline.day_s = day_seconds(timing.date)
        return timeline

    def to_state(self) -> list[int | float | None]:
        """Return the state for `load`."""
        return [self.day_s, self.last_s, self.last_us, self.offset_s, *self._flags()]

    def _flags(self) -> list[int]:
        """Return the remaining state of the times, as one number. Missing: [] without any."""
        flags = self.is_unclear + 2 * self.is_order_guessed + (0 if self.is_day_first is None else 4 + 8 * self.is_day_first)
        return [flags] if flags else []

    def load(self, times: object) -> bool:
        """Continue from a saved state. Return False when it is invalid."""
        if not isinstance(times, list) or len(times) not in (3, 4, 5):
            return False
        day_s, last_s, last_us, offset_s = (*times, 0)[:4]
        flags = times[4] if len(times) == 5 and isinstance(times[4], int) else 0
        self.is_unclear, self.is_order_guessed = bool(flags & 1), bool(flags & 2)
        self.is_day_first = bool(flags & 8) if flags & 4 else None
        self.day_s = day_s if isinstance(day_s, int) else None
        self.last_s = float(last_s) if isinstance(last_s, int | float) else None
        self.last_us = last_us if isinstance(last_us, int) else None
        self.offset_s = offset_s if isinstance(offset_s, int) else 0
        return True

    def start_banner(self, text: str) -> None:
        """Set the day on which a run began, as a banner names it, if it names one.

        04/08/17 is either of two days. The day that is known from elsewhere decides, for all banners of the stream, or an earlier
        one of one meaning (31/07/17); without them the month is first, which is a guess.
        """
        day, other = parse_banner_day(text), parse_other_order(text.strip())
        if day is None:
            return
        if self.is_day_first is None:
            self.is_day_first = tells_day_first(text.strip())
        self.start_day(other if other is not None and self._takes_other(day, other) else day)

    def _takes_other(self, day: dt.date, other: dt.date) -> bool:
        """Return whether a date of two meanings has the second one, with the day before the month."""
        if self.is_day_first is None and self._day_hint in (day, other):
            self.is_day_first = self._day_hint == other
        self.is_order_guessed = self.is_order_guessed or self.is_day_first is None
        return self.is_day_first is True

    def start_day(self, day: dt.date) -> None:
        """Set the day on which a run began, as a banner named it."""
        self.day_s = day_seconds(day)
        self.last_s = None

    def see_clock(self, seconds: float) -> float | None:
        """Return the reading of the wall's clock for a time of the day: on the same day as the last one, or across midnight.

        Missing: None while no day is known.
        """
        if self.last_s is None:
            if self.day_s is None:
                return None
            self.last_s = self.day_s + seconds
            return self.last_s
        day_s = self.last_s // SECONDS_A_DAY * SECONDS_A_DAY
        reading = day_s + seconds
        if reading - self.last_s <= -SET_BACK_LIMIT_S:
            reading += SECONDS_A_DAY
        elif reading - self.last_s >= SECONDS_A_DAY - SET_BACK_OVER_MIDNIGHT_S and self.day_s != day_s:
            reading -= SECONDS_A_DAY
        self.last_s = reading
        return reading

    def clock_us(self, seconds: float) -> int:
        """Return the instant of a time of the day.

        Units: seconds -> microseconds since the epoch. Missing: NO_TIME while no day is known.
        """
        reading = self.see_clock(seconds)
        return NO_TIME if reading is None else self.local_us(reading)

    def local_us(self, reading: float) -> int:
        """Return the instant of a reading of the wall's clock in this stream's zone.

        An hour that summer time repeats is its first pass, until the clock goes back by more than a correction would.
        """
        if self._zone is None:
            if self.is_unclear:
                return NO_TIME
            self.last_us = round((reading - self.offset_s) * MICRO)
            return self.last_us
        found = [one.time_us for one in find_passes(self._zone, reading)]
        if not found:
            return NO_TIME
        is_second = found[1] > found[0] and self._is_past(found[0], found[1])
        self.last_us = found[1] if is_second else found[0]
        return self.last_us

    def peek_us(self, reading: float) -> int:
        """Return the instant of a reading of the wall's clock, without noting it as the last one."""
        last_us = self.last_us
        try:
            return self.local_us(reading)
        finally:
            self.last_us = last_us

    def _is_past(self, first_us: int, second_us: int) -> bool:
        """Return whether a reading with two instants means the second: so did the latest reading, or the clock went back."""
        last_us = self.last_us
        limit_us = REPEATED_HOUR_LIMIT_S * MICRO
        if last_us is None or not first_us < last_us + limit_us < second_us + 2 * limit_us:
            return False
        try:
            moment = dt.datetime.fromtimestamp(last_us // MICRO, self._zone)
        except (OverflowError, ValueError, OSError):
            return False
        if moment.fold or (not _is_repeated(moment) and last_us > second_us):
            return True
        return last_us - first_us > CORRECTION_LIMIT_S * MICRO

    def stamp_us(self, stamp: Timestamp) -> int:
        """Return the instant of a stamp on a separate line.

        Missing: NO_TIME for a clock while no day is known, and where the zone has a name of several meanings and is not known.
        """
        if stamp.is_clock_only:
            return self.clock_us(stamp.seconds)
        if stamp.other_s is not None and self._takes_other(_day_of(stamp.seconds), _day_of(stamp.other_s)):
            stamp = replace(stamp, seconds=stamp.other_s, other_s=None)
        named = self._named_us(stamp)
        if named is not None:
            self.last_s = stamp.seconds
            self.last_us = named
        elif stamp.offset_s is None:
            self.last_s = stamp.seconds
            self.is_unclear = bool(stamp.zone_name) and not self._is_known
            return self.local_us(stamp.seconds)
        else:
            if not self._is_known:
                self.offset_s = stamp.offset_s
                self.is_unclear = False
            self.last_us = round((stamp.seconds - stamp.offset_s) * MICRO)
            # Clocks after a stamp in UTC are those of the host's zone.
            self.last_s = self._reading_at(self.last_us) if self._is_known else stamp.seconds
        return self.last_us

    def see_instant(self, reading: float, offset_s: int) -> int:
        """Note a reading of the wall's clock that is that far ahead of UTC, and return its instant."""
        self.last_s = reading
        self.last_us = round((reading - offset_s) * MICRO)
        if not self._is_known:
            self.offset_s = offset_s
        return self.last_us

    @property
    def zone(self) -> dt.tzinfo | None:
        """The zone of clocks that do not name theirs. Missing: None when it is UTC or unknown."""
        return self._zone

    def _reading_at(self, time_us: int) -> float:
        """Return what the wall's clock shows at an instant, in this stream's zone."""
        try:
            offset = dt.datetime.fromtimestamp(time_us // MICRO, self._zone or dt.UTC).utcoffset()
        except (OverflowError, ValueError, OSError):
            offset = None
        return time_us / MICRO + (offset.total_seconds() if offset is not None else 0)

    def _named_us(self, stamp: Timestamp) -> int | None:
        """Return the instant of a stamp whose zone has the name that this stream's zone goes by then: CST is China's in
        Asia/Shanghai.
        """
        if not stamp.zone_name or self._zone is None:
            return None
        return next((one.time_us for one in find_passes(self._zone, stamp.seconds) if one.name == stamp.zone_name), None)


def _day_of(reading: float) -> dt.date:
    """Return the day on which the wall's clock shows a reading."""
    return dt.date.fromordinal(int(reading // SECONDS_A_DAY) + dt.date(1970, 1, 1).toordinal())


@dataclass(frozen=True, slots=True)
class ClockPass:
    """An instant that a reading of the wall's clock may mean: how far the zone is ahead of UTC then, and its name then."""

    time_us: int
    offset_s: int
    name: str


def find_passes(zone: dt.tzinfo, reading: float) -> list[ClockPass]:
    """Return the two instants that a reading of the wall's clock may mean in a zone; they are the same in all hours but a few.

    The second one is later in an hour that summer time repeats, and earlier in one that it skips.
    Missing: none beyond the years that Python's calendar has.
    """
    try:
        local = dt.datetime.fromtimestamp(int(reading // 1), dt.UTC).replace(tzinfo=zone)
        at = [local.replace(fold=fold) for fold in (0, 1)]
        offsets = [(moment.utcoffset() or dt.timedelta()) // dt.timedelta(microseconds=1) for moment in at]
        names = [moment.tzname() or "" for moment in at]
    except (OverflowError, ValueError, OSError):
        return []
    return [ClockPass(round(reading * MICRO) - offset, offset // MICRO, name) for offset, name in zip(offsets, names, strict=True)]


def _is_repeated(moment: dt.datetime) -> bool:
    """Return whether the clock shows this time twice."""
    first, second = (moment.replace(fold=fold).utcoffset() for fold in (0, 1))
    return first is not None and second is not None and second < first
