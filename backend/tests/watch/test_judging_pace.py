"""Whether rules keep up with the hosts that send."""

from datetime import timedelta

import pytest
from sqlalchemy import text

from normstat.db.session import open_read_session
from normstat.records.judging_pace import JudgingPace, read_pace
from tests.databases import Sessions, on_either_database
from tests.watch.live import at

pytestmark = on_either_database
NOW = at(0)


@pytest.mark.parametrize(
    ("age_s", "seen_s", "judged_s", "n_judged"),
    [
        pytest.param(9000, 3, 40, 1, id="judged in this minute"),
        pytest.param(9000, 3, 90, 0, id="samples wait for longer than a minute"),
        pytest.param(9000, 85, 90, 1, id="no samples since it was judged"),
        pytest.param(20, 3, None, 1, id="new, its turn comes"),
        pytest.param(9000, 3, None, 0, id="never judged"),
    ],
)
async def test_a_host_is_behind_while_samples_of_it_wait(
    sessions: Sessions, age_s: int, seen_s: int, judged_s: int | None, n_judged: int
) -> None:
    def ago(seconds: int) -> object:
        return NOW - timedelta(seconds=seconds)

    async with sessions() as session, session.begin():
        add = "INSERT INTO hosts (name, created_at, last_seen_at) VALUES ('web1', :created, :seen), ('silent', :created, :long_ago)"
        await session.execute(text(add), {"created": ago(age_s), "seen": ago(seen_s), "long_ago": ago(8000)})
        if judged_s is not None:
            note = "INSERT INTO watched_hosts (host_id, judged_at, progress) SELECT id, :judged, '{}' FROM hosts"
            await session.execute(text(note), {"judged": ago(judged_s)})
    async with open_read_session(sessions) as session:
        assert await read_pace(session, NOW) == JudgingPace(1, n_judged)


def test_a_few_late_hosts_are_nothing_to_say() -> None:
    assert JudgingPace(0, 0).behind is None
    assert JudgingPace(1000, 950).behind is None
    assert JudgingPace(1000, 949).behind == "judged 949 of 1,000 hosts in the last minute"
