"""Checks of what gets the write-ahead log: the standby that large reads go to, and the archive for recovery. Pure."""

from datetime import timedelta
from typing import Final

from normstat.db.standby import LagGauge, StandbyPosition, StandbyState, judge
from normstat.doctor.check_result import CheckResult, error, not_checked, ok, warning
from normstat.doctor.database_facts import ArchiveFacts
from normstat.runtime.readable import format_bytes, format_seconds
from normstat.runtime.units import MIB

STANDBY: Final = "standby"


def check_standby(found: StandbyPosition | str, max_lag_s: float) -> CheckResult:
    """Check the standby that NORMSTAT_DATABASE_READ_URL names. `found`: where it is, or why it does not answer."""
    fallback = "graphs, comparisons and exports are read from the primary meanwhile"
    if isinstance(found, str):
        advice = "start the standby, or correct NORMSTAT_DATABASE_READ_URL"
        return error(STANDBY, f"it does not answer: {found}; {fallback}", "it answers", advice)
    lag_s = LagGauge().measure(found, 0.0)
    judged = judge(found, lag_s, max_lag_s)
    if judged.state is StandbyState.USED:
        return ok(STANDBY, f"{_lag(found, lag_s)}; graphs, comparisons and exports are read from it")
    if judged.state is StandbyState.BEHIND and lag_s is not None:
        expected = f"at most {max_lag_s:g} s (NORMSTAT_DATABASE_READ_MAX_LAG_S)"
        advice = "see pg_stat_replication on the primary, and long queries or slow disks of the standby"
        return warning(STANDBY, f"{_lag(found, lag_s)}; {fallback}", expected, advice)
    return error(
        STANDBY, f"{judged.message}; {fallback}", "a standby of the database in NORMSTAT_DATABASE_URL", "correct the two URLs"
    )


def _lag(found: StandbyPosition, lag_s: float | None) -> str:
    return f"the standby is {lag_s or 0:.0f} s ({found.lag_bytes or 0:,} bytes of log) behind"


ARCHIVING: Final = "archiving"
# 16 segments of 16 MiB: an archive that far behind does not keep up.
MAX_BEHIND: Final = 16 * 16 * MIB
# Longest time from archive_timeout until a segment is archived.
SLACK: Final = timedelta(minutes=10)


def check_archiving(facts: ArchiveFacts) -> CheckResult:
    """Check that all of the log is archived soon: what is not archived cannot be recovered."""
    if not facts.is_on:
        found = "archive_mode is off: a lost disk costs all since the last backup, and there is no recovery to a point in time"
        return not_checked(ARCHIVING, found, "see docs/recover.md, Continuous backup; a standby or pg_receivewal may do it, too")
    if facts.failed_at is not None and (facts.archived_at is None or facts.failed_at > facts.archived_at):
        times = f"{facts.n_failed} failures, the last one {format_seconds(facts.now - facts.failed_at)} ago"
        found = f"{facts.failed_segment} cannot be archived ({times})"
        advice = "see PostgreSQL's log for what archive_command said; the log grows in pg_wal until the disk is full"
        return error(ARCHIVING, found, "no failure since the last archived segment", advice)
    if facts.archived_at is None or facts.behind_bytes is None:
        return warning(ARCHIVING, "nothing was archived yet", "segments are archived", "call pg_switch_wal(), and look again")
    last = format_seconds(facts.now - facts.archived_at)
    behind = f"{format_bytes(facts.behind_bytes)} of log are not archived; the last segment was {last} ago"
    if facts.behind_bytes > MAX_BEHIND:
        return warning(ARCHIVING, behind, f"at most {format_bytes(MAX_BEHIND)}", "make archive_command faster, or its destination")
    if facts.timeout_s == 0:
        advice = "set archive_timeout = 60 in postgresql.conf and reload PostgreSQL"
        return warning(ARCHIVING, f"{behind}; archive_timeout is 0", "a limit: a segment waits until it is full", advice)
    if facts.behind_bytes and facts.now - facts.archived_at > timedelta(seconds=facts.timeout_s) + SLACK:
        advice = "see whether pg_stat_activity has a process of backend_type archiver"
        return warning(ARCHIVING, behind, f"a segment each {facts.timeout_s} s (archive_timeout)", advice)
    return ok(ARCHIVING, f"{behind}; archive_timeout is {facts.timeout_s} s")
