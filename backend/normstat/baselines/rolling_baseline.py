"""Rolling baselines: the last days of each host that no person's baseline covers, without what was not normal in them.

Incidents are left out, as from every baseline, and so are unusual times. That alone would keep a change out of what is normal for
ever. So a change that recurs on several days at the same time of day counts as normal, such as a nightly backup, and so does one
that lasts longer than a day.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.baselines.baseline_versions import SETTLE, lock_baselines
from normstat.baselines.covering_rows import read_covering_baselines
from normstat.baselines.rolling_rows import (
    Recorded,
    RollingRecord,
    UnusualTime,
    count_queued,
    list_rolling,
    put_rolling,
    read_recorded,
    read_unusual_times,
    rest_rolling,
)
from normstat.baselines.window_sets import Windows, length_s, subtract
from normstat.db.session import open_read_session, open_write_session
from normstat.db.turns import Turns
from normstat.errors import BadRequest
from normstat.query.artefact_times import read_artefact_times
from normstat.query.host_zones import read_host_zones
from normstat.records.score_rows import read_sending_hosts
from normstat.samples.lookup import read_host_name
from normstat.stats.engine.times.timeline import require_zone
from normstat.stats.observer_effect import Effect
from normstat.window import Window

log = structlog.get_logger()

Sessions = async_sessionmaker[AsyncSession]
DAY: Final = timedelta(days=1)
# A whole week: its working days and its weekend.
LENGTH: Final = 7 * DAY
# Less says nothing about the missing hours.
MIN_RECORDED: Final = DAY
# Minimum length of a baseline with a profile.
MIN_PROFILED_S: Final = 8 * 60
# A host that has not sent for longer keeps its baseline.
SENDING: Final = timedelta(hours=1)
# Unusual times are known by the minute.
MARGIN: Final = timedelta(minutes=1)
# A change on this many days at about the same time of day is normal.
MIN_RECURRING_DAYS: Final = 3
SAME_TIME: Final = timedelta(minutes=30)
# Shorter pieces between unusual times carry no information.
MIN_PIECE_S: Final = 600.0
# If more than this share was unusual, nothing is left out: it is the normal state.
MAX_LEFT_OUT: Final = 0.5
# Maximum number of their queued profiles: a person's baseline must not wait for those of a whole fleet.
MAX_QUEUED: Final = 5
# Findings of the continuous comparison; of rules, only critical ones.
UNUSUAL_SOURCES: Final = ("comparison",)
SEVERE: Final = ("red", "black")


@dataclass(frozen=True, slots=True)
class RollingWindows:
    """The windows of a rolling baseline, and why they are these."""

    windows: Windows
    reason: str


def choose_rolling_windows(
    recorded: Recorded, unusual: Sequence[UnusualTime], now: datetime, observed: Windows = ()
) -> RollingWindows:
    """Return the last days up to the last whole hour, without what was unusual in them, or `observed` by a tool that slows a host
    down several times.
    """
    whole = whole_window(recorded, now)
    holes = [
        Window(time.start - MARGIN, time.last + MARGIN)
        for time in unusual
        if time.last - time.start <= DAY and not _is_recurring(time, unusual)
    ]
    left = tuple(window for window in subtract([whole], holes) if window.length_s >= MIN_PIECE_S)
    traced = [window for window in observed if window.end - window.start <= DAY and window.end > whole.start]
    if traced:
        left = tuple(window for window in subtract([whole], [*holes, *traced]) if window.length_s >= MIN_PIECE_S)
    days = max(1, round(whole.length_s / DAY.total_seconds()))
    reason = "the last day" if days == 1 else f"the last {days} days"
    if not holes and not traced:
        return RollingWindows((whole,), reason)
    if length_s(left) < (1 - MAX_LEFT_OUT) * whole.length_s:
        return RollingWindows((whole,), f"{reason}; most of them was unusual, so nothing is left out")
    times = "1 time that was" if len(holes) == 1 else f"{len(holes)} times that were"
    parts = [f"{times} unusual"] if holes else []
    if traced:
        parts.append("1 time under a tracer" if len(traced) == 1 else f"{len(traced)} times under tracers")
    return RollingWindows(left, f"{reason}, without {' and '.join(parts)}")


def whole_window(recorded: Recorded, now: datetime) -> Window:
    """Return the last days up to the last whole hour: from a whole hour on, because sketches are of hours."""
    end = (now - SETTLE).replace(minute=0, second=0, microsecond=0)
    first = recorded.first_at.replace(minute=0, second=0, microsecond=0)
    return Window(max(end - LENGTH, min(first, end - timedelta(hours=1))), end)


def _is_recurring(time: UnusualTime, unusual: Iterable[UnusualTime]) -> bool:
    """Return whether the same part was unusual at about the same time of day on several days."""
    days = set()
    for other in unusual:
        if (other.source, other.instance) != (time.source, time.instance):
            continue
        shift = round((other.start - time.start) / DAY)
        start, last = time.start + shift * DAY - SAME_TIME, time.last + shift * DAY + SAME_TIME
        if other.start <= last and other.last >= start:
            days.add(shift)
    return len(days) >= MIN_RECURRING_DAYS


async def update_rolling_baselines(sessions: Sessions, now: datetime | None = None, turns: Turns[int] | None = None) -> int:
    """Let the rolling baselines follow, each once a day, a few at a time; return how many have new windows. A periodic job.

    A host has one if no baseline of a person that is long enough for a profile covers it. Where a person's one covers it later, the
    rolling one is archived.
    """
    turns = Turns("rolling_baseline_failed") if turns is None else turns
    at = datetime.now(UTC) if now is None else now
    async with open_read_session(sessions) as session:
        covering = await read_covering_baselines(session, min_s=MIN_PROFILED_S, now=at)
        known = {record.host_id: record for record in await list_rolling(session)}
        covered = {host_id for host_id, own in covering.items() if not own.is_rolling}
        sending = [host_id for host_id in await read_sending_hosts(session, at - SENDING) if host_id not in covered]
        due = [host_id for host_id in sending if _is_due(known.get(host_id), at)]
        recorded = await read_recorded(session, due, Window(at - LENGTH, at))
        n_free = MAX_QUEUED - await count_queued(session)
    await _rest(sessions, [known[host_id] for host_id in sorted(known.keys() & covered)], at)
    n_changed = 0
    for host_id in turns.order([host_id for host_id in due if _is_enough(recorded.get(host_id))]):
        if n_changed >= n_free:
            break
        with turns.turn(host_id, host_id=host_id):
            n_changed += await _update(sessions, host_id, recorded[host_id], known.get(host_id), at)
    if n_changed:
        log.info("rolling_baselines_followed", n=n_changed)
    return n_changed


def _is_due(record: RollingRecord | None, now: datetime) -> bool:
    return record is None or record.is_archived or not record.windows or record.windows[-1].end <= now - SETTLE - DAY


def _is_enough(recorded: Recorded | None) -> bool:
    return recorded is not None and recorded.seconds >= MIN_RECORDED.total_seconds()


async def _rest(sessions: Sessions, records: Sequence[RollingRecord], now: datetime) -> None:
    """Archive the rolling baselines that are no longer needed."""
    wanted = [record.id for record in records if not record.is_archived]
    if wanted:
        async with open_write_session(sessions) as session:
            await lock_baselines(session)
            for baseline_id in wanted:
                await rest_rolling(session, baseline_id, now=now)


async def _update(sessions: Sessions, host_id: int, recorded: Recorded, record: RollingRecord | None, now: datetime) -> bool:
    async with open_write_session(sessions) as session:
        await lock_baselines(session)
        host = await read_host_name(session, host_id)
        if host is None:
            return False
        if record is not None and record.is_archived:
            await rest_rolling(session, record.id, now=None)
        unusual = await read_unusual_times(session, host_id, Window(now - LENGTH, now), UNUSUAL_SOURCES, SEVERE)
        heavy = await read_artefact_times(session, [host_id], start=now - LENGTH, end=now, effects=(Effect.HEAVY,))
        observed = tuple(Window(time.start - MARGIN, time.end + MARGIN) for time in heavy if time.window is not None)
        chosen = choose_rolling_windows(recorded, unusual, now, observed)
        zones = await read_host_zones(session, [host])
        if not zones:
            # It is being deleted.
            return False
        zone = usable_zone(zones[0].time_zone)
        return await put_rolling(session, host_id, host, windows=chosen.windows, time_zone=zone, reason=chosen.reason)


def usable_zone(name: str | None) -> str:
    """Return a zone by whose hours a profile can be made: an offset is none, because it changes with the season."""
    try:
        require_zone(name or "UTC")
    except BadRequest:
        return "UTC"
    return name or "UTC"
