"""What is known about the times of a stream.

Separate from the records, which need numpy, because the models of the tables use it.
"""

import datetime as dt
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Timing:
    """Facts about a stream's times that its text does not have.

    `zone` names the zone of times that do not say theirs (UTC when None); `date` is the day of the first clock where the tool
    prints no day; `start_us` the instant of the first report of a tool that prints no times at all. `interval_us` is the time
    from one report to the next: a report without its own time is that much later than the previous one. `is_first_real`: the first
    report covers one interval like the others; without options, the tool's first report covers the time since boot.
    `is_live`: an agent sends the stream, through a pipe, where nothing folds lines. `shift_us` is added to every time that is read:
    a person dated the recording again.
    Units: microseconds since the epoch, microseconds.
    """

    zone: str | None = None
    date: dt.date | None = None
    start_us: int | None = None
    interval_us: int | None = None
    is_first_real: bool = False
    is_live: bool = False
    shift_us: int = 0


NO_TIMING: Final = Timing()
