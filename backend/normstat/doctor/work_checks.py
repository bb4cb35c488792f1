"""Checks of what the installation does: servers, jobs, agents, rejected lines. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from normstat.backup.damage import CheckSource
from normstat.db.heartbeats import HUNG_AFTER_S
from normstat.doctor.check_result import MAX_NAMED, CheckResult, error, not_checked, ok, warning
from normstat.doctor.database_facts import FoundDamage, JobFacts
from normstat.query.reject_rise import RejectCounts
from normstat.records.judging_pace import SENDING, JudgingPace
from normstat.runtime.readable import format_seconds, name_some
from normstat.watch.own_figures import BEHIND_S, HostLoss, SeenHost, StreamFigures

JOB_WAIT_WARNING_S: Final = 300.0
AGENT_CLOCK_S: Final = 5.0
# Hosts that have been silent for longer are gone rather than broken.
GONE: Final = timedelta(days=7)
# Damage that is found while the raw text and the last backups are still kept can be repaired.
CHECK_AGAIN: Final = timedelta(days=30)
# If half of the hosts are behind, the cause is not the hosts.
SERVER_SHARE: Final = 0.5
OF_SENDING: Final = ("agents_behind", "agent_clocks", "dated_ahead", "machines", "rejected_lines")
# Rules look at each host that sends at least once a minute.
JUDGED_LATE: Final = timedelta(minutes=5)
# A second machine keeps trying; a machine that replaced another is soon no longer refused.
OF_LATE: Final = timedelta(hours=1)
# Rows are dated when a tool prints them, and the clock is read when they are sent.
AHEAD_S: Final = 60.0


def check_jobs(facts: JobFacts) -> Iterator[CheckResult]:
    """Yield the checks of the leader, of background work and of administrators."""
    if facts.leader_since is None:
        advice = "start a server: systemctl start normstat, normstat serve, or make run"
        yield error("leader", "no server process holds the leader's lock: no rollups, sealing, rules or alerts", "one", advice)
    else:
        yield _check_leader(facts, facts.leader_since)
    waits = "" if facts.wait_s <= 0 else f"; the oldest that is due waits since {format_seconds(facts.wait_s)}"
    advice = "see normstat jobs list, and the server's log; normstat jobs retry N queues one again"
    if facts.failed:
        kinds = ", ".join(f"{n} {kind}{f' ({message[:120]})' if message else ''}" for kind, n, message in facts.failed)
        yield warning("jobs", f"failed in the last week: {kinds}{waits}", "none", advice)
    elif facts.wait_s > JOB_WAIT_WARNING_S:
        yield warning("jobs", f"none failed{waits}", f"at most {JOB_WAIT_WARNING_S / 60:.0f} minutes", advice)
    else:
        yield ok("jobs", f"none failed in the last week{waits}")
    if facts.n_administrators:
        yield ok("administrators", f"{facts.n_administrators} enabled")
    else:
        yield warning("administrators", "no enabled administrator", "at least one", "run normstat login-link, which creates one")


def _check_leader(facts: JobFacts, since: timedelta) -> CheckResult:
    found = f"the server process {facts.leader_place or 'of an older version'} has led for {format_seconds(since)}"
    if facts.leader_beat_age is None:
        return ok("leader", found)
    found = f"{found}; its last heartbeat was {format_seconds(facts.leader_beat_age)} ago"
    if facts.leader_beat_age <= timedelta(seconds=HUNG_AFTER_S):
        return ok("leader", found)
    advice = "it hangs, and no other server is there to take over: restart it, or resume it (kill -CONT)"
    return error("leader", found, f"within {HUNG_AFTER_S:.0f} s", advice)


def check_stored_data(found: Sequence[FoundDamage], now: datetime) -> CheckResult:
    """Check that the latest check of all stored data found no damage, and no backup since."""
    by_source = {one.source: one for one in found}
    checked, backup = by_source.get(CheckSource.STORAGE_CHECK), by_source.get(CheckSource.BACKUP)
    damaged = [
        one
        for one in (backup, checked)
        if one is not None and one.n_damaged and (checked is None or one.checked_at >= checked.checked_at)
    ]
    if damaged:
        latest = damaged[0]
        said = f"{latest.n_damaged} damaged, found {format_seconds(now - latest.checked_at)} ago: {latest.damaged[0]}"
        advice = "normstat storage check names all of it, and what helps; run it again when that is done"
        return error("stored_data", said, "nothing damaged", advice)
    if checked is None:
        return not_checked(
            "stored_data", "the stored data has never been checked for damage", "run normstat storage check, and again every week"
        )
    age = now - checked.checked_at
    if age > CHECK_AGAIN:
        found_ = f"the last normstat storage check was {format_seconds(age)} ago"
        return warning("stored_data", found_, f"one in {CHECK_AGAIN.days} days", "run normstat storage check, every week")
    return ok("stored_data", f"nothing damaged, as of {format_seconds(age)} ago")


def check_versions(n_sessions: Mapping[str, int], own_version: str) -> CheckResult:
    """Check that all connected programs have the same version. `n_sessions`: sessions by application name."""
    versions = sorted({name.partition(" ")[2] for name in n_sessions})
    if not versions:
        return not_checked("versions", "no other normstat is connected to the database")
    if versions == [own_version]:
        return ok("versions", f"all that are connected have version {own_version}")
    found = f"connected to the database: {', '.join(versions)}; this command is {own_version}"
    return warning("versions", found, "one version on all machines", "install the same version everywhere and restart the servers")


def check_agents(hosts: Sequence[SeenHost], streams: Mapping[int, StreamFigures], now: datetime) -> Iterator[CheckResult]:
    """Yield the checks of the hosts with agents."""
    if not hosts:
        yield not_checked("agents", "no agent has sent anything yet", "add a host: the page Hosts, Add a host")
        for check in OF_SENDING:
            yield not_checked(check, "no host sends")
        return
    sending = [host for host in hosts if now - host.last_seen_at <= SENDING]
    silent = [host for host in hosts if SENDING < now - host.last_seen_at <= GONE]
    n_gone = len(hosts) - len(sending) - len(silent)
    gone = f"; {n_gone} not seen for more than {GONE.days} days" if n_gone else ""
    if silent:
        names = name_some([f"{host.name} (since {format_seconds(now - host.last_seen_at)})" for host in silent], MAX_NAMED)
        found = f"{len(silent)} of {len(hosts)} silent: {names}{gone}"
        yield warning("agents", found, "all send", "on these hosts: normstat-agent status; delete hosts that are gone")
    elif not sending:
        yield warning("agents", f"none of {len(hosts)} hosts sends{gone}", "all send", "on these hosts: normstat-agent status")
    else:
        yield ok("agents", f"{len(sending)} of {len(hosts)} hosts send{gone}")
    if not sending:
        for check in OF_SENDING:
            yield not_checked(check, "no host sends")
        return
    yield _check_backlogs(sending, streams)
    yield _check_agent_clocks(sending)
    yield _check_dates(sending, streams)
    yield _check_machines(sending, now)
    yield _check_rejects(sending, streams)


def _check_backlogs(sending: Sequence[SeenHost], streams: Mapping[int, StreamFigures]) -> CheckResult:
    lags = [(streams[host.id].host["host.backlog"], host.name) for host in sending if _knows_backlog(streams, host)]
    if not lags:
        return not_checked("agents_behind", "no host sends a tool whose interval is known")
    behind = sorted(((lag_s, name) for lag_s, name in lags if lag_s > BEHIND_S), reverse=True)
    if not behind:
        return ok("agents_behind", f"none of {len(lags)} is more than {BEHIND_S / 60:.0f} minutes behind")
    found = (
        f"{len(behind)} of {len(lags)} behind: {name_some([f'{name} ({lag_s / 60:.0f} min)' for lag_s, name in behind], MAX_NAMED)}"
    )
    expected = f"at most {BEHIND_S / 60:.0f} minutes"
    if len(lags) > 1 and len(behind) >= SERVER_SHARE * len(lags):
        return error("agents_behind", found, expected, "the server or its disk is too slow: see /metrics and docs/performance.md")
    return warning("agents_behind", found, expected, "an agent catches up after an outage; otherwise look at its network")


def _knows_backlog(streams: Mapping[int, StreamFigures], host: SeenHost) -> bool:
    return host.id in streams and "host.backlog" in streams[host.id].host


def _check_agent_clocks(sending: Sequence[SeenHost]) -> CheckResult:
    wrong = sorted(
        ((host.clock_offset_s, host.name) for host in sending if abs(host.clock_offset_s) > AGENT_CLOCK_S),
        key=lambda pair: -abs(pair[0]),
    )
    if not wrong:
        return ok("agent_clocks", f"hosts: {len(sending)}, all agree with the server's within {AGENT_CLOCK_S:.0f} s")
    names = name_some([f"{name} ({offset_s:+.0f} s)" for offset_s, name in wrong], MAX_NAMED)
    found = f"{len(wrong)} of {len(sending)} hosts differ from the server's clock: {names}"
    if len(wrong) > 1 and len(wrong) == len(sending):
        return warning("agent_clocks", found, f"at most {AGENT_CLOCK_S:.0f} s", "all differ: look at the server's own clock first")
    return warning("agent_clocks", found, f"at most {AGENT_CLOCK_S:.0f} s", "synchronise these hosts by NTP or chrony")


def _check_dates(sending: Sequence[SeenHost], streams: Mapping[int, StreamFigures]) -> CheckResult:
    ahead = [(streams[host.id].ahead_s, host.name) for host in sending if host.id in streams and streams[host.id].ahead_s > AHEAD_S]
    if not ahead:
        return ok("dated_ahead", f"hosts: {len(sending)}, none sent rows of the future")
    names = name_some([f"{name} ({format_seconds(ahead_s)})" for ahead_s, name in sorted(ahead, reverse=True)], MAX_NAMED)
    found = f"{len(ahead)} of {len(sending)} hosts sent rows that are dated ahead of their own clock: {names}"
    advice = "correct what dates them; rules judge them when their time comes"
    return warning("dated_ahead", found, f"at most {AHEAD_S:.0f} s", advice)


def _check_machines(sending: Sequence[SeenHost], now: datetime) -> CheckResult:
    doubles = [host.name for host in sending if host.other_machine_at is not None and now - host.other_machine_at <= OF_LATE]
    if not doubles:
        return ok("machines", f"hosts: {len(sending)}, one machine sends as each")
    found = f"another machine tried to send as {name_some(doubles, MAX_NAMED)}, and was refused"
    return warning(
        "machines", found, "one machine for each host", "give it a name and a token of its own; its log names the server"
    )


def check_losses(losses: Sequence[HostLoss], now: datetime) -> CheckResult:
    """Check that no host lost bytes in the last week before they could be sent. `losses`: largest first."""
    if not losses:
        return ok("lost_bytes", "no host lost bytes in the last week")
    names = name_some(
        [f"{loss.host} ({loss.n_bytes:,} bytes, the last {format_seconds(now - loss.last_at)} ago)" for loss in losses], MAX_NAMED
    )
    advice = "an event on the host says why; a larger --spool-limit lets its agent keep more while it cannot send"
    return warning("lost_bytes", f"hosts lost output before it could be sent: {names}", "none in the last week", advice)


def check_rules(judged_at: Mapping[str, datetime], hosts: Sequence[SeenHost], pace: JudgingPace, now: datetime) -> CheckResult:
    """Check that rules judge the hosts that send, and keep up with them. `judged_at`: when they last did, by host."""
    sending = [host for host in hosts if now - host.last_seen_at <= SENDING]
    if not sending:
        return not_checked("rules", "no host sends")
    expected = f"each host within {JUDGED_LATE.seconds // 60} minutes"
    ages = sorted(((now - judged_at[host.name], host.name) for host in sending if host.name in judged_at), reverse=True)
    if not ages:
        return warning(
            "rules", "rules have judged none of the hosts that send", expected, "wait a minute; then see the server's log"
        )
    late = [f"{name} ({format_seconds(age)} ago)" for age, name in ages if age > JUDGED_LATE]
    if late:
        found = f"{len(late)} of {len(sending)} hosts that send were judged last: {name_some(late, MAX_NAMED)}"
        return error("rules", found, expected, "search the server's log for watch_failed, and restart the server")
    if pace.behind is not None:
        advice = "give the server more CPU time; rules that are not needed can be switched off"
        return warning("rules", f"rules are behind: {pace.behind}", "each host within a minute", advice)
    return ok("rules", f"hosts that send: {len(ages)}, the one judged longest ago {format_seconds(ages[0][0])} ago")


def _check_rejects(sending: Sequence[SeenHost], streams: Mapping[int, StreamFigures]) -> CheckResult:
    rises, n_lines = [], 0
    for host in sending:
        own = streams[host.id].host if host.id in streams else {}
        counts = RejectCounts(int(own.get("host.rejected", 0)), int(own.get("host.rejected_before", 0)))
        n_lines += counts.last_hour
        if counts.is_rise:
            rises.append(f"{host.name} ({counts.hour_before} -> {counts.last_hour})")
    if not rises:
        return ok("rejected_lines", f"no rise ({n_lines} in the last hour)")
    found = f"rising on {len(rises)} hosts, lines an hour: {name_some(rises, MAX_NAMED)}"
    return warning(
        "rejected_lines", found, "no sudden rise", "the host's tab Streams names the reasons; a tool may have been updated"
    )
