"""What agents are asked to wait between two posts, by how busy ingest is and by whether a page of the host is open."""

import httpx

from normstat.api.http.state import AppState
from normstat.ingest.post_intervals import CALM_S, JUDGED_EVERY_S, MAX_S, URGENT_S, PostIntervals
from tests.api.samples import HOST, VMSTAT, frames_of, send


class Load:
    """A clock, and batches that take a share of its time."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.intervals = PostIntervals(lambda: self.now_s)

    def run(self, share: float, n_posts: int = 200) -> int:
        """Take that many posts and work for this share of a stretch, and return what is asked then."""
        for _ in range(n_posts):
            self.intervals.of_host(is_urgent=False)
        with self.intervals.working(), self.intervals.working():
            self.now_s += share * JUDGED_EVERY_S
        self.now_s += (1 - share) * JUDGED_EVERY_S
        return self.intervals.of_host(is_urgent=False)


def test_the_busier_ingest_is_the_longer_agents_wait() -> None:
    load = Load()
    assert load.run(0.3) == CALM_S
    assert [load.run(0.9) for _ in range(4)] == [15, MAX_S, MAX_S, MAX_S]
    # Half as busy as before is neither too much nor too little.
    assert load.run(0.5) == MAX_S
    assert [load.run(0.1) for _ in range(3)] == [13, CALM_S, CALM_S]


def test_few_posts_on_a_slow_disk_keep_their_rhythm() -> None:
    load = Load()
    assert [load.run(1.0, n_posts=9) for _ in range(3)] == [CALM_S] * 3


def test_a_batch_that_lasts_counts_while_it_lasts() -> None:
    load = Load()
    with load.intervals.working():
        assert load.run(0.0) > CALM_S
        assert load.intervals.of_host(is_urgent=False) > CALM_S


def test_a_host_with_an_open_page_never_waits() -> None:
    load = Load()
    assert load.run(1.0) > CALM_S
    assert load.intervals.of_host(is_urgent=True) == URGENT_S


async def test_the_answer_to_a_post_says_it(agent: httpx.AsyncClient, state: AppState) -> None:
    with state.live.subscribe(None, watched=HOST):
        assert (await send(agent, frames_of(VMSTAT))).headers["Normstat-Interval"] == str(URGENT_S)
    assert (await send(agent, frames_of(VMSTAT))).headers["Normstat-Interval"] == str(CALM_S)
