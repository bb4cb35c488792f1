"""Repeated events: repeats within a minute are one burst, reported once.

>>> bursts = Bursts()
>>> [bursts.begins("disk", seconds * MICRO) for seconds in (0, 50, 100, 161)]
[True, False, False, True]
"""

from typing import Final

from normstat.stats.engine.times.timeline import MICRO

QUIET_US: Final = 60 * MICRO
# Maximum number of concurrent bursts; the one silent for longest is dropped.
MAX_BURSTS: Final = 200


class Bursts:
    """The latest time of each burst; a reader keeps it in its state."""

    def __init__(self, saved: object = None) -> None:
        self._last = {str(key): int(value) for key, value in saved.items()} if isinstance(saved, dict) else {}

    def to_state(self) -> dict[str, int]:
        """Return the state for a new one."""
        return dict(self._last)

    def begins(self, key: str, time_us: int) -> bool:
        """Note one of them. Return whether it begins a burst. Units: microseconds since the epoch."""
        last = self._last.pop(key, None)
        # In the order of their latest time, so that the oldest one comes first.
        self._last[key] = time_us
        if len(self._last) > MAX_BURSTS:
            del self._last[next(iter(self._last))]
        return last is None or not 0 <= time_us - last <= QUIET_US
