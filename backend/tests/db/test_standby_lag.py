"""How far a standby and an archive are behind, and what follows from it; the real ones are in tests/failures."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from normstat.db.standby import LagGauge, StandbyPosition, StandbyState, judge
from normstat.doctor.check_result import CheckStatus
from normstat.doctor.database_facts import ArchiveFacts
from normstat.doctor.wal_checks import check_archiving, check_standby
from normstat.runtime.units import MIB

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
AT = StandbyPosition(True, True, 1000, 1000, NOW, NOW)


def test_a_lag_is_the_age_of_what_the_standby_has_reached() -> None:
    gauge = LagGauge()
    assert gauge.measure(replace(AT, last_commit_at=NOW - timedelta(hours=1)), 0.0) == 0.0, "nothing to replay is no lag"
    for second in range(1, 31):
        lag_s = gauge.measure(replace(AT, primary_at=1000 + second, last_commit_at=None), float(second))
    assert lag_s == 30.0
    assert gauge.measure(replace(AT, primary_at=1031, replayed_at=1025, last_commit_at=None), 31.0) == 6.0
    # The last replayed commit tells more than positions that were asked for seconds ago.
    assert gauge.measure(replace(AT, primary_at=1032, replayed_at=1031, last_commit_at=NOW - timedelta(seconds=0.25)), 32.0) == 0.25
    assert gauge.measure(replace(AT, primary_at=None), 33.0) is None


@pytest.mark.parametrize(
    ("found", "lag_s", "state", "status"),
    [
        (AT, 0.0, StandbyState.USED, CheckStatus.OK),
        (replace(AT, primary_at=5000, last_commit_at=NOW - timedelta(seconds=11)), 11.0, StandbyState.BEHIND, CheckStatus.WARNING),
        (replace(AT, is_standby=False), 0.0, StandbyState.NOT_A_STANDBY, CheckStatus.ERROR),
        (replace(AT, is_same_database=False), 0.0, StandbyState.OTHER_DATABASE, CheckStatus.ERROR),
        (replace(AT, primary_at=None), None, StandbyState.BEHIND, CheckStatus.ERROR),
    ],
)
def test_a_standby_is_used_where_it_is_one_and_not_far_behind(
    found: StandbyPosition, lag_s: float | None, state: StandbyState, status: CheckStatus
) -> None:
    info = judge(found, lag_s, 10.0)
    assert info.state is state
    assert (info.message == "") == (state is StandbyState.USED)
    check = check_standby(found, 10.0)
    assert check.status is status
    assert check_standby("connection refused", 10.0).status is CheckStatus.ERROR


ARCHIVED = ArchiveFacts(True, 60, NOW - timedelta(seconds=30), None, "", 0, 5 * MIB, NOW)
FAILED = replace(ARCHIVED, failed_at=NOW - timedelta(seconds=5), failed_segment="000000010000000000000007", n_failed=3)


@pytest.mark.parametrize(
    ("facts", "status", "words"),
    [
        (ARCHIVED, CheckStatus.OK, "5 MiB of log are not archived; the last segment was 30 s ago"),
        (replace(ARCHIVED, is_on=False), CheckStatus.NOT_CHECKED, "archive_mode is off"),
        (FAILED, CheckStatus.ERROR, "000000010000000000000007 cannot be archived (3 failures, the last one 5 s ago)"),
        (replace(FAILED, failed_at=NOW - timedelta(hours=1)), CheckStatus.OK, "5 MiB"),
        (replace(ARCHIVED, archived_at=None, behind_bytes=None), CheckStatus.WARNING, "nothing was archived yet"),
        (replace(ARCHIVED, behind_bytes=300 * MIB), CheckStatus.WARNING, "300 MiB"),
        (replace(ARCHIVED, timeout_s=0), CheckStatus.WARNING, "archive_timeout is 0"),
        (replace(ARCHIVED, archived_at=NOW - timedelta(minutes=12)), CheckStatus.WARNING, "12 min ago"),
        (replace(ARCHIVED, archived_at=NOW - timedelta(days=1), behind_bytes=0), CheckStatus.OK, "0 B of log"),
    ],
)
def test_an_archive_is_told_by_what_could_be_recovered(facts: ArchiveFacts, status: CheckStatus, words: str) -> None:
    found = check_archiving(facts)
    assert (found.status, words in found.found) == (status, True), found
