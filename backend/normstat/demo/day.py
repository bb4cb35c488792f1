"""The clock of the demo, and what every host of it has: a load that breathes, noise, and incidents that begin and end."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np
from numpy.typing import NDArray

from normstat.window import Window

Values = NDArray[np.float64]

INTERVAL_S: Final = 30
# Lists of processes are longer: every second report, which halves the time to load the day.
PROCESSES_EVERY: Final = 2
LENGTH: Final = timedelta(hours=24)
# The load follows the demo's end, not the clock: at some hours its last part would look unusual against the baseline.
BUSIEST_BEFORE_END_S: Final = 6 * 3600
DAY_S: Final = 86_400
# Share of the load that the time of day changes.
SWING: Final = 0.22


@dataclass(frozen=True, slots=True)
class Incident:
    """When something is wrong: [start, end), with the seconds that it takes to build up."""

    start: datetime
    end: datetime
    ramp_s: float = 60.0

    @property
    def window(self) -> Window:
        """The window of the incident."""
        return Window(self.start, self.end)


class Day:
    """A day of reports, one every `interval_s` seconds; the last one is not after `end`. Processes are in every second one."""

    def __init__(self, end: datetime, *, interval_s: int = INTERVAL_S) -> None:
        self.interval_s = interval_s
        self.process_interval_s = PROCESSES_EVERY * interval_s
        whole = int(end.astimezone(UTC).timestamp()) // interval_s * interval_s
        self.end = datetime.fromtimestamp(whole, UTC)
        self.start = self.end - LENGTH
        self.n = int(LENGTH.total_seconds()) // interval_s
        self.epochs: Sequence[int] = [whole - (self.n - 1 - number) * interval_s for number in range(self.n)]
        self.times = [datetime.fromtimestamp(epoch, UTC) for epoch in self.epochs]

    def load(self, rng: np.random.Generator) -> Values:
        """Return the load of a host, around 1: the time of day, slow drifts, and noise from report to report.

        Shape: (n,) float64
        """
        before_end_s = self.epochs[-1] - np.array(self.epochs)
        angle = (before_end_s - BUSIEST_BEFORE_END_S) / DAY_S * 2 * np.pi
        # What an hour looks like differs from hour to hour.
        drift = np.interp(np.arange(self.n), np.linspace(0, self.n, 49), rng.normal(0, 0.05, 49))
        return np.clip(1 + SWING * np.cos(angle) + drift + rng.normal(0, 0.06, self.n), 0.2, None)

    def strength(self, incident: Incident) -> Values:
        """Return how much of the incident there is at each report: 0 outside of it, 1 after its ramp.

        Shape: (n,) float64
        """
        since = np.array(self.epochs) - incident.start.timestamp()
        inside = (since >= 0) & (np.array(self.epochs) < incident.end.timestamp())
        return np.where(inside, np.clip((since + self.interval_s) / incident.ramp_s, 0, 1), 0.0)
