"""Events that repeat: what follows the same within a minute is one burst, which its first one tells.

>>> bursts = Bursts()
>>> [bursts.begins("disk", seconds * MICRO) for seconds in (0, 50, 100, 161)]
[True, False, False, True]
"""

from typing import Final

from normstat.stats.engine.timeline import MICRO

QUIET_US: Final = 60 * MICRO
# So many different ones may go on at once; the one that was silent for the longest time is forgotten.
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
