"""How long agents are asked to wait between two posts: longer where no one waits for them, and where ingest is busy.

A post costs a server much the same whether it brings 5 s of samples or 20. So a fleet that is too large for its server sends fewer
and larger posts, instead of being refused.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from normstat.runtime import metrics

# The default of the agent, which never posts more often: asked while a page of the host is open, or an episode has just begun.
URGENT_S: Final = 5
CALM_S: Final = 10
# Well below the 30 s after which a host counts as late.
MAX_S: Final = 20
# The share of time with a batch in work is judged that often. Between the limits nothing changes: asked for half as many posts
# again, a server that is above the upper one comes to lie between them.
JUDGED_EVERY_S: Final = 10.0
BUSY: Final = 0.7
IDLE: Final = 0.4
STEP: Final = 1.5
# With fewer, it is not the posts that keep ingest busy but a slow disk, and their rhythm must not change with an incident.
MIN_POSTS_PER_S: Final = 10


class PostIntervals:
    """Measures how busy the ingest of this process is, and says what to ask of an agent.

    Units: seconds
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since_s = clock()
        self._n_working = 0
        # Time with work in the present stretch, up to the last change.
        self._busy_s = 0.0
        self._changed_s = self._since_s
        self._n_posts = 0
        self._asked_s = float(CALM_S)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Count the time of the block as busy. Several may overlap: their time counts once."""
        self._advance()
        self._n_working += 1
        try:
            yield
        finally:
            self._advance()
            self._n_working -= 1

    def of_host(self, *, is_urgent: bool) -> int:
        """Return the pause to ask for, in whole seconds."""
        self._advance()
        self._n_posts += 1
        now_s = self._changed_s
        length_s = now_s - self._since_s
        if length_s >= JUDGED_EVERY_S:
            share = self._busy_s / length_s
            if share > BUSY and self._n_posts >= MIN_POSTS_PER_S * length_s:
                self._asked_s = min(MAX_S, self._asked_s * STEP)
            elif share < IDLE:
                self._asked_s = max(CALM_S, self._asked_s / STEP)
            self._since_s, self._busy_s, self._n_posts = now_s, 0.0, 0
            metrics.INGEST_POST_INTERVAL.set(self._asked_s)
        return URGENT_S if is_urgent else round(self._asked_s)

    def _advance(self) -> None:
        now_s = self._clock()
        if self._n_working:
            self._busy_s += now_s - self._changed_s
        self._changed_s = now_s
