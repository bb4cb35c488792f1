"""Score every host that sends, each minute; a run continues where the last one ended, in this process or another."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.db.schema.watch_models import EpisodeRow
from normstat.db.session import open_read_session, open_write_session
from normstat.records.episode_rows import CONTINUOUS, WITHDRAWN, read_all_episodes_after, replace_episodes
from normstat.records.score_rows import (
    ScoreRow,
    clear_unscored,
    delete_other_scores,
    list_unscored,
    put_scores,
    read_last_scored,
    read_scores,
    read_sending_hosts,
)
from normstat.watch.fleet.minute_store import MINUTE_US, MinuteStore
from normstat.watch.rules.rule_file import Colour
from normstat.watch.scores.culprits import AskedSpells
from normstat.watch.scores.host_scoring import N_BEFORE, ScoreMemory, score_hosts
from normstat.watch.scores.spells import EarlierSpell, find_spells
from normstat.window import Window, from_us, to_us

log = structlog.get_logger()

Sessions = async_sessionmaker[AsyncSession]
# A minute is scored this long after its end: agents send every few seconds.
SETTLE: Final = timedelta(seconds=15)
# The latest minutes are scored again in each run: samples may arrive late, by as much as this.
N_LIVE_MINUTES: Final = 15
# A host that was not scored for longer than this starts again with the last minutes; `normstat scores backfill` fills the gap.
MAX_CATCH_UP: Final = timedelta(hours=24)
# Scoring late samples again takes this long at most in each run, one host more.
RESCORE_S: Final = 15.0
HOUR_MINUTES: Final = 60
WRITTEN_AT_ONCE: Final = 2000


@dataclass(slots=True)
class ContinuousComparison:
    """The state of the scheduled run between two minutes. `written`: the rows of the live minutes, which are not written twice"""

    memory: ScoreMemory
    culprits: AskedSpells = field(default_factory=AskedSpells)
    written: dict[tuple[int, datetime], ScoreRow] = field(default_factory=dict)

    async def run(self, sessions: Sessions, *, now: datetime | None = None) -> int:
        """Score what is due; return the number of minutes of hosts that were written."""
        at = datetime.now(UTC) if now is None else now
        stop = to_us(at - SETTLE) // MINUTE_US
        live = range(stop - N_LIVE_MINUTES, stop)
        async with open_read_session(sessions) as session:
            sending = await read_sending_hosts(session, from_us((live.start - N_BEFORE) * MINUTE_US))
            last = await read_last_scored(session, sending)
        n_written = await self._catch_up(sessions, sending, last, live, at)
        rows: list[ScoreRow] = []
        for piece in hours_of(live):
            async with open_read_session(sessions) as session:
                rows += await score_hosts(session, self.memory, sending, piece, now_us=to_us(at))
        await note_spells(sessions, rows, live, self.culprits, now=at)
        changed = [row for row in rows if self.written.get((row.host_id, row.minute_at)) != row]
        await _write(sessions, changed)
        self.written = {(row.host_id, row.minute_at): row for row in rows}
        return n_written + len(changed) + await _score_again(sessions, live, self.culprits, at)

    async def _catch_up(
        self, sessions: Sessions, host_ids: Sequence[int], last: dict[int, datetime], live: range, now: datetime
    ) -> int:  # fmt: skip
        """Score the minutes of a host that were not scored live: the server was down, or the agent could not reach it."""
        n_written = 0
        oldest = to_us(now - MAX_CATCH_UP) // MINUTE_US
        for host_id in host_ids:
            begin = None if host_id not in last else to_us(last[host_id]) // MINUTE_US + 1
            if begin is not None and oldest <= begin < live.start:
                missed = range(begin, live.start)
                n_written += await backfill(sessions, host_id, missed, now=now)
                async with open_read_session(sessions) as session:
                    rows = await read_scores(session, host_id, _to_window(missed))
                await note_spells(sessions, rows, missed, self.culprits, now=now, only=host_id)
        return n_written


async def _score_again(sessions: Sessions, live: range, culprits: AskedSpells, now: datetime) -> int:
    """Score the minutes again whose samples came later than the live ones reach, or were replaced; return how many have scores.

    Nothing older than MAX_CATCH_UP; what takes longer than RESCORE_S waits for the next run.
    """
    ends_at = time.monotonic() + RESCORE_S
    oldest = to_us(now - MAX_CATCH_UP) // MINUTE_US
    n_written = 0
    async with open_read_session(sessions) as session:
        unscored = await list_unscored(session)
    for host in unscored:
        if time.monotonic() > ends_at:
            log.info("rescoring_goes_on", n_hosts=len(unscored))
            break
        minutes = range(max(oldest, to_us(host.first_at) // MINUTE_US), live.start)
        if minutes:
            n_written += await _replace_scores(sessions, host.host_id, minutes, live.stop, culprits, now=now)
        async with open_write_session(sessions) as session:
            await clear_unscored(session, host.late)
    return n_written


async def _replace_scores(
    sessions: Sessions, host_id: int, minutes: range, until: int, culprits: AskedSpells, *, now: datetime
) -> int:  # fmt: skip
    """Score minutes again, and find the spells from the first of them up to now again."""
    scored = await _score_past(sessions, host_id, minutes, now)
    if not scored:
        # Without a normal today nothing can be scored again: the stored scores stay.
        return 0
    async with open_write_session(sessions) as session:
        await delete_other_scores(session, host_id, _to_window(minutes), scored)
    whole = range(minutes.start, until)
    async with open_read_session(sessions) as session:
        rows = await read_scores(session, host_id, _to_window(whole))
    await note_spells(sessions, rows, whole, culprits, now=now, only=host_id)
    return len(scored)


def _to_window(minutes: range) -> Window:
    return Window(from_us(minutes.start * MINUTE_US), from_us(minutes.stop * MINUTE_US))


async def note_spells(
    sessions: Sessions,
    rows: Sequence[ScoreRow],
    minutes: range,
    culprits: AskedSpells,
    *,
    now: datetime,
    only: int | None = None,
) -> None:
    """Store the spells of these minutes as episodes. `only`: the host that the rows are of; None: all that send"""
    start, until = from_us(minutes.start * MINUTE_US), from_us(minutes.stop * MINUTE_US)
    by_host: dict[int, list[ScoreRow]] = {}
    for row in rows:
        by_host.setdefault(row.host_id, []).append(row)
    async with open_read_session(sessions) as session:
        stored = await read_all_episodes_after(session, CONTINUOUS, start)
    stored = [row for row in stored if row.host_id is not None and only in {None, row.host_id}]
    known = {row.host_id for row in stored if row.host_id is not None}
    earlier: dict[int, list[EarlierSpell]] = {}
    for episode in stored:
        if episode.host_id is not None and episode.start_at < start and episode.ended_by != WITHDRAWN:
            earlier.setdefault(episode.host_id, []).append(_to_earlier(episode))
    found = {
        host_id: find_spells(
            sorted(by_host.get(host_id, ()), key=lambda row: row.minute_at), earlier.get(host_id, ()), start, until
        )
        for host_id in sorted(by_host.keys() | known)
    }
    named = await culprits.name_culprits(sessions, found, stored, now)
    async with open_write_session(sessions) as session:
        for host_id, spells in named.items():
            if spells or host_id in known:
                await replace_episodes(session, host_id, CONTINUOUS, spells, after=start, now=now)


def _to_earlier(row: EpisodeRow) -> EarlierSpell:
    saw = tuple(dict(item) for item in row.saw)
    return EarlierSpell(row.instance, row.start_at, row.last_at, Colour(row.colour), row.worst_at, row.sentence, saw)


async def backfill(sessions: Sessions, host_id: int, minutes: range, *, now: datetime) -> int:
    """Score these minutes (of the epoch) of a host, again where they were; return how many have scores."""
    return len(await _score_past(sessions, host_id, minutes, now))


async def _score_past(sessions: Sessions, host_id: int, minutes: range, now: datetime) -> list[datetime]:
    """Score these minutes of a host; return those that have scores."""
    # A memory of its own: the live minutes stay where they are.
    memory = ScoreMemory(MinuteStore(_BACKFILL_BYTES, lambda: 0.0))
    scored: list[datetime] = []
    for piece in hours_of(minutes):
        async with open_read_session(sessions) as session:
            rows = await score_hosts(session, memory, [host_id], piece, now_us=to_us(now))
        await _write(sessions, rows)
        scored += [row.minute_at for row in rows]
    return scored


def hours_of(minutes: range) -> list[range]:
    """Return minutes cut at whole hours, each with the seasonal slot of its own.

    >>> hours_of(range(118, 182))
    [range(118, 120), range(120, 180), range(180, 182)]
    """
    pieces = []
    start = minutes.start
    while start < minutes.stop:
        stop = min(minutes.stop, start // HOUR_MINUTES * HOUR_MINUTES + HOUR_MINUTES)
        pieces.append(range(start, stop))
        start = stop
    return pieces


_BACKFILL_BYTES: Final = 64 << 20


async def _write(sessions: Sessions, rows: Sequence[ScoreRow]) -> None:
    for begin in range(0, len(rows), WRITTEN_AT_ONCE):
        async with open_write_session(sessions) as session:
            await put_scores(session, rows[begin : begin + WRITTEN_AT_ONCE])
