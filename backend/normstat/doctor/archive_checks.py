"""Checks of continuous backup: the archive of the write-ahead log. Pure."""

from datetime import timedelta
from typing import Final

from normstat.doctor.check_result import CheckResult, describe_age, error, not_checked, ok, warning
from normstat.doctor.database_facts import ArchiveFacts

CHECK: Final = "archiving"
MIB: Final = 1 << 20
# 16 segments of 16 MiB: an archive that far behind does not keep up.
MAX_BEHIND: Final = 16 * 16 * MIB
# Longest time from archive_timeout until a segment is archived.
SLACK: Final = timedelta(minutes=10)


def check_archiving(facts: ArchiveFacts) -> CheckResult:
    """Check that all of the log is archived soon: what is not archived cannot be recovered."""
    if not facts.is_on:
        found = "archive_mode is off: a lost disk costs all since the last backup, and there is no recovery to a point in time"
        return not_checked(CHECK, found, "see docs/recover.md, Continuous backup; a standby or pg_receivewal may do it, too")
    if facts.failed_at is not None and (facts.archived_at is None or facts.failed_at > facts.archived_at):
        times = f"{facts.n_failed} failures, the last one {describe_age(facts.now - facts.failed_at)} ago"
        found = f"{facts.failed_segment} cannot be archived ({times})"
        advice = "see PostgreSQL's log for what archive_command said; the log grows in pg_wal until the disk is full"
        return error(CHECK, found, "no failure since the last archived segment", advice)
    if facts.archived_at is None or facts.behind_bytes is None:
        return warning(CHECK, "nothing was archived yet", "segments are archived", "call pg_switch_wal(), and look again")
    last = describe_age(facts.now - facts.archived_at)
    behind = f"{facts.behind_bytes / MIB:.0f} MiB of log are not archived; the last segment was {last} ago"
    if facts.behind_bytes > MAX_BEHIND:
        return warning(CHECK, behind, f"at most {MAX_BEHIND // MIB} MiB", "make archive_command faster, or its destination")
    if facts.timeout_s == 0:
        advice = "set archive_timeout = 60 in postgresql.conf and reload PostgreSQL"
        return warning(CHECK, f"{behind}; archive_timeout is 0", "a limit: a segment waits until it is full", advice)
    if facts.behind_bytes and facts.now - facts.archived_at > timedelta(seconds=facts.timeout_s) + SLACK:
        advice = "see whether pg_stat_activity has a process of backend_type archiver"
        return warning(CHECK, behind, f"a segment each {facts.timeout_s} s (archive_timeout)", advice)
    return ok(CHECK, f"{behind}; archive_timeout is {facts.timeout_s} s")
