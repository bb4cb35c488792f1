"""Options for imported files."""

import datetime as dt
from dataclasses import dataclass
from typing import Final

from normstat.errors import BadRequest, shorten
from normstat.stats.catalogue import require_spec
from normstat.stats.engine.times.timeline import require_zone
from normstat.window import EPOCH, LATEST, to_us

MICRO: Final = 1_000_000
# A year from one report to the next is a mistake, and so is less than a millisecond.
MIN_INTERVAL_S: Final = 0.001
MAX_INTERVAL_S: Final = 366 * 86400.0


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Facts about times that the files do not have, see docs/import.md; `spec` names the tool if it cannot be detected,
    `title` the question that a tracer was asked.

    `is_first_real`: the first report covers an interval, not the time since boot. `is_each_host`: a file with several hosts is
    loaded into each of them, by the names that it has.
    Units: start_us microseconds since the epoch, interval_us microseconds.
    """

    zone: str | None = None
    date: dt.date | None = None
    start_us: int | None = None
    interval_us: int | None = None
    spec: str | None = None
    takes_date_from_mtime: bool = False
    title: str | None = None
    is_first_real: bool = False
    is_each_host: bool = False


def check_options(
    *,
    zone: str | None,
    date: dt.date | None,
    start: dt.datetime | None,
    interval_s: float | None,
    spec: str | None,
    title: str | None = None,
    is_first_real: bool = False,
    is_each_host: bool = False,
) -> ImportOptions:
    """Return the options, when all of them make sense. A `start` without a zone is in `zone`.

    Raises: BadRequest for an unknown zone, an interval that cannot be, and a start outside the years 1970 to 2199; NotFound for an
    unknown spec
    """
    tzinfo = require_zone(zone) if zone is not None else dt.UTC
    if spec is not None:
        require_spec(spec)
    if interval_s is not None and not MIN_INTERVAL_S <= interval_s <= MAX_INTERVAL_S:
        raise BadRequest(f"The interval is {interval_s:g} s; it is the time between two reports, from 0.001 s to a year")
    if start is not None and start.tzinfo is None:
        start = start.replace(tzinfo=tzinfo)
    if start is not None and not EPOCH <= start < LATEST:
        raise BadRequest(f"The first report is of {start.isoformat()}; samples are of the years 1970 to 2199")
    return ImportOptions(
        zone=zone,
        date=date,
        start_us=to_us(start) if start is not None else None,
        interval_us=round(interval_s * MICRO) if interval_s is not None else None,
        spec=spec,
        title=" ".join(title.split()) or None if title is not None else None,
        is_first_real=is_first_real,
        is_each_host=is_each_host,
    )


def parse_instant(text: str) -> dt.datetime:
    """Return an ISO 8601 instant, with a zone or without.

    Raises: BadRequest
    """
    try:
        return dt.datetime.fromisoformat(text)
    except ValueError:
        raise BadRequest(
            f"{shorten(text)} is not an instant; write it as 2026-11-21T12:00:00 or 2026-11-21T12:00:00+01:00"
        ) from None


def parse_day(text: str) -> dt.date:
    """Return an ISO 8601 day.

    Raises: BadRequest
    """
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        raise BadRequest(f"{shorten(text)} is not a day; write it as 2026-11-21") from None
