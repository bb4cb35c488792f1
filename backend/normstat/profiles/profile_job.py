"""The job that builds the profiles of baselines: first the missing sketches, then the profiles from them.

Everything follows from the database: a process that dies leaves claimed sketches without bodies, and the next one continues.
Each sketch is a short transaction; samples are read without a lock, and all arithmetic is done off the event loop, one sketch
at a time.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Final

import anyio.to_thread
import numpy as np
import structlog
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.baselines.baseline_versions import SETTLE, effective_windows
from normstat.baselines.window_sets import Windows, intersect, length_s
from normstat.codecs.array_codec import BrokenBytes
from normstat.db.schema.baseline_models import Baseline
from normstat.db.schema.job_models import Job
from normstat.db.session import open_read_session, open_write_session
from normstat.db.turns import describe, is_database_away
from normstat.jobs.claims import PROFILES, Claim, JobStopped, open_claims_in
from normstat.profiles import profile_rows
from normstat.profiles.profile_builder import BuiltProfile, StatSketches, TooShort, build_profile
from normstat.profiles.profile_codec import METHOD, pack_profile
from normstat.profiles.profile_jobs import ask_for_outdated, find_host_id
from normstat.profiles.profile_rows import WHOLE_SLOT, PieceKey, ProfileKey, ProfileRow, StoredPiece, hash_sources
from normstat.profiles.seasonality import find_slots
from normstat.profiles.sketch import PackedSketch, sketch_spans
from normstat.profiles.sketch_reader import read_sketch
from normstat.runtime.arrays import distinct_values
from normstat.samples.lookup import StatRef, list_host_stats
from normstat.stats.engine.times.timeline import require_zone
from normstat.stats.spec import Kind
from normstat.window import Window

log = structlog.get_logger()

Sessions = async_sessionmaker[AsyncSession]
# The shortest window of a profile is a minute, and at most an eighth of the baseline.
MIN_S: Final = 8 * 60
# Maximum bytes of sketches for one profile; for longer baselines, evenly spread sketches are used.
MAX_BYTES: Final = 400 << 20
MIN_SPANS: Final = 24
TOO_SHORT: Final = "Shorter than 8 minutes so far: comparisons read its samples."


async def run_profiles(sessions: Sessions, *, budget_s: float, now: datetime | None = None, host: str | None = None) -> int | None:
    """Build queued and outdated profiles for about this many seconds; return how many were built.

    A profile that is not finished in its turn (for example because its samples keep changing) goes to the end of the queue.
    Missing: None when another process makes profiles
    """
    async with open_claims_in(sessions, PROFILES) as claims:
        if claims is None:
            return None
        at = datetime.now(UTC) if now is None else now
        ends_at = time.monotonic() + budget_s
        async with open_write_session(sessions) as session:
            await ask_for_outdated(session, METHOD, at)
            host_id = None if host is None else await find_host_id(session, host)
        n_made = 0
        if host is not None and host_id is None:
            return 0
        while (claim := await claims.next(host_id=host_id)) is not None:
            n_made += await make_profile(sessions, claim, ends_at)
            if time.monotonic() > ends_at:
                break
        return n_made


async def make_profile(sessions: Sessions, claim: Claim, ends_at: float) -> bool:
    """Build the profile of a baseline for a host; return False when it failed or is not finished."""
    began = time.monotonic()
    try:
        message = await _Making(sessions, claim, ends_at).work()
    except JobStopped:
        return False
    except Exception as error:
        if is_database_away(error):
            raise
        text = describe(error)
        log.warning("profile_failed", baseline=claim.baseline_id, host_id=claim.host_id, error=text, exc_info=error)
        async with open_write_session(sessions) as session:
            await claim.fail(session, text)
        return False
    async with open_write_session(sessions) as session:
        if message is None:
            # Out of time, or the samples changed.
            await claim.release(session)
            return False
        await claim.report(session, n_done=Job.n_total)
        await claim.finish(session, message)
    seconds = round(time.monotonic() - began, 1)
    log.info("profile_made", baseline=claim.baseline_id, host_id=claim.host_id, message=message, seconds=seconds)
    return True


class _Changed(Exception):
    """The inputs of a profile changed before it was stored: discard it."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """The inputs of a profile. `spans`: the effective windows before `until`, cut into pieces"""

    version: int
    zone: tzinfo
    until: datetime
    effective: Windows
    spans: list[Window]
    stats: list[StatRef]
    spec_versions: Mapping[str, int]


class _Making:
    """One profile and its slots."""

    def __init__(self, sessions: Sessions, claim: Claim, ends_at: float) -> None:
        self._sessions = sessions
        assert claim.baseline_id is not None
        assert claim.host_id is not None
        self._claim = claim
        self._baseline_id = claim.baseline_id
        self._host_id = claim.host_id
        self._ends_at = ends_at
        self._n_done = self._n_total = 0

    async def work(self) -> str | None:
        """Build it; return why there is none, or "".

        Missing: None when it is not finished
        Raises: JobStopped when it was stopped or queued again
        """
        plan = await self._plan()
        if plan is None:
            return "Archived: it is made when the baseline is brought back."
        if length_s(plan.effective) < MIN_S:
            await self._keep([])
            return TOO_SHORT
        if not await self._make_sketches(plan):
            return None
        try:
            kept = await self._make_profiles(plan)
        except TooShort as error:
            await self._keep([])
            return str(error)
        if kept is None:
            return None
        await self._keep(kept)
        await self._forget_sketches(plan)
        return ""

    async def _plan(self) -> _Plan | None:
        async with open_read_session(self._sessions) as session:
            baseline = await session.get(Baseline, self._baseline_id)
            if baseline is None or baseline.archived_at is not None:
                return None
            # By the time it was queued, not by the clock: the next try must find the sketches of this one.
            until = self._claim.queued_at - SETTLE
            effective = await effective_windows(session, baseline.id, self._host_id, baseline.version)
            effective = clip_at(effective, until)
            stats = await list_host_stats(session, self._host_id)
            zone = require_zone(baseline.time_zone)
            versions = await profile_rows.read_spec_versions(session, {stat.spec for stat in stats})
            return _Plan(baseline.version, zone, until, effective, sketch_spans(effective), stats, versions)

    async def _make_sketches(self, plan: _Plan) -> bool:
        """Build the missing sketches; return False when the time is over."""
        there = await self._list_sketches(plan)
        missing: list[tuple[Window, list[StatRef]]] = []
        for span in plan.spans:
            lacking = [stat for stat in plan.stats if not _is_good(there.get(PieceKey(stat.id, span.start, span.end)), stat)]
            if lacking:
                missing.append((span, lacking))
        n_pieces = len(plan.spans) * len(plan.stats)
        self._n_total = n_pieces + 1 + len(find_slots(plan.spans, plan.zone))
        await self._note(n_pieces - sum(len(stats) for _, stats in missing))
        for span, stats in missing:
            if time.monotonic() > self._ends_at:
                return False
            async with open_write_session(self._sessions) as session:
                versions = {stat.id: stat.spec_version for stat in stats}
                claims = await profile_rows.claim_pieces(session, self._host_id, span, versions, METHOD)
            for stat in stats:
                if stat.id in claims:
                    await self._make_sketch(stat, span, claims[stat.id])
            await self._note(len(stats))
        return True

    async def _make_sketch(self, stat: StatRef, span: Window, claim: datetime) -> None:
        n_rows, body = await read_sketch(self._sessions, self._host_id, stat, span)
        key = PieceKey(stat.id, span.start, span.end)
        async with open_write_session(self._sessions) as session:
            await profile_rows.put_piece(session, self._host_id, key, claim, method=METHOD, n_rows=n_rows, body=body)

    async def _make_profiles(self, plan: _Plan) -> list[ProfileKey] | None:
        """Return the profile of all hours and those of each seasonal slot. Missing: None when sketches were invalidated, and as
        above.
        """
        there = await self._list_sketches(plan)
        if not all(PieceKey(stat.id, span.start, span.end) in there for stat in plan.stats for span in plan.spans):
            # Invalidated while it was being built.
            return None
        async with open_read_session(self._sessions) as session:
            old = await profile_rows.list_slots(session, self._key(plan, WHOLE_SLOT))
        wanted: list[tuple[int, Sequence[Window], str]] = [(WHOLE_SLOT, plan.spans, "")]
        wanted += [(slot.number, slot.spans, slot.days) for slot in find_slots(plan.spans, plan.zone).values()]
        kept = []
        for slot, spans, days in wanted:
            key = self._key(plan, slot)
            sketches = [
                there[sketch]
                for stat in plan.stats
                for span in spans
                if (sketch := PieceKey(stat.id, span.start, span.end)) in there
            ]
            known = old.get(slot)
            if known is not None and known.sources == hash_sources(sketches):
                is_good = await self._confirm(plan, key, sketches)
            elif time.monotonic() > self._ends_at:
                return None
            else:
                try:
                    is_good = await self._make_one(plan, key, spans, sketches, days)
                except TooShort:
                    if slot == WHOLE_SLOT:
                        raise
                    continue
            if not is_good:
                return None
            kept.append(key)
            await self._note(1)
        return kept

    async def _make_one(
        self, plan: _Plan, key: ProfileKey, spans: Sequence[Window], sketches: Sequence[StoredPiece], days: str
    ) -> bool:  # fmt: skip
        chosen = _choose(spans, sketches)
        by_stat: list[tuple[StatRef, list[bytes]]] = []
        async with open_read_session(self._sessions) as session:
            for stat in plan.stats:
                bodies = await profile_rows.read_bodies(session, self._host_id, stat.id, chosen, METHOD)
                by_stat.append((stat, bodies))
        try:
            body, band = await anyio.to_thread.run_sync(_build_profile, by_stat, days)
        except BrokenBytes:
            await self._delete_broken(by_stat, sketches)
            raise
        return await self._store(plan, self._to_row(plan, key, sketches, body), sketches, band)

    async def _confirm(self, plan: _Plan, key: ProfileKey, sketches: Sequence[StoredPiece]) -> bool:
        """Confirm that the stored profile is still valid, because its sketches are unchanged."""
        return await self._store(plan, self._to_row(plan, key, sketches, b""), sketches, None)

    async def _store(self, plan: _Plan, row: ProfileRow, sketches: Sequence[StoredPiece], band: bytes | None) -> bool:
        try:
            async with open_write_session(self._sessions) as session:
                if band is None:
                    is_good = await profile_rows.confirm_profile(session, row, sketches)
                else:
                    is_good = await profile_rows.put_profile(session, row, sketches, band)
                # The host's row is locked now: a stat that is not in the plan may have arrived before.
                _require_same(plan.stats, await list_host_stats(session, self._host_id) if is_good else [])
        except _Changed:
            return False
        return True

    def _to_row(self, plan: _Plan, key: ProfileKey, sketches: Sequence[StoredPiece], body: bytes) -> ProfileRow:
        return ProfileRow(
            key=key,
            made_at=plan.until,
            until=plan.until,
            effective=plan.effective,
            is_stale=False,
            spec_versions=plan.spec_versions,
            sources=hash_sources(sketches),
            body=body,
        )

    async def _delete_broken(self, by_stat: Sequence[tuple[StatRef, list[bytes]]], sketches: Sequence[StoredPiece]) -> None:
        """Remove the sketches of stats with an unreadable one: they are built again at the next try."""
        broken = {stat.id for stat, bodies in by_stat if not all(map(_is_readable, bodies))}
        async with open_write_session(self._sessions) as session:
            for sketch in sketches:
                if sketch.key.stat_id in broken:
                    await profile_rows.delete_piece(session, self._host_id, sketch.key, METHOD)

    async def _list_sketches(self, plan: _Plan) -> dict[PieceKey, StoredPiece]:
        if not plan.spans:
            return {}
        window = Window(plan.spans[0].start, plan.spans[-1].end)
        async with open_read_session(self._sessions) as session:
            found = await profile_rows.list_pieces(session, self._host_id, window, METHOD)
        return {key: sketch for key, sketch in found.items() if sketch.n_bytes}

    async def _keep(self, keys: Sequence[ProfileKey]) -> None:
        async with open_write_session(self._sessions) as session:
            await profile_rows.delete_profiles(session, self._baseline_id, self._host_id, keys)

    async def _forget_sketches(self, plan: _Plan) -> None:
        """Remove sketches that no baseline of the host uses any longer."""
        host_id = self._host_id
        wanted: set[tuple[datetime, datetime]] = set()
        async with open_read_session(self._sessions) as session:
            for baseline_id in await profile_rows.list_baselines_of(session, host_id):
                effective = clip_at(await effective_windows(session, baseline_id, host_id), plan.until)
                wanted |= {(span.start, span.end) for span in sketch_spans(effective)}
        async with open_write_session(self._sessions) as session:
            n = await profile_rows.keep_pieces(session, host_id, wanted, METHOD)
        if n:
            log.info("pieces_forgotten", host_id=host_id, n=n)

    async def _note(self, n: int) -> None:
        """Record progress.

        Raises: JobStopped
        """
        self._n_done += n
        async with open_write_session(self._sessions) as session:
            await self._claim.report(session, n_done=self._n_done, n_total=self._n_total)

    def _key(self, plan: _Plan, slot: int) -> ProfileKey:
        return ProfileKey(self._baseline_id, plan.version, self._host_id, slot, METHOD)


def _build_profile(by_stat: Sequence[tuple[StatRef, Sequence[bytes]]], days: str) -> tuple[bytes, bytes]:
    stats = [
        StatSketches(
            stat.name,
            [PackedSketch(body) for body in bodies],
            frozenset(field.key for field in stat.fields if field.kind is Kind.PERCENT),
            {field.key: 10.0**-field.decimals for field in stat.fields},
        )
        for stat, bodies in by_stat
        if bodies
    ]
    built: BuiltProfile = build_profile(stats)
    return pack_profile(built, days)


def _require_same(planned: Sequence[StatRef], there: Sequence[StatRef]) -> None:
    if {stat.id for stat in planned} != {stat.id for stat in there}:
        raise _Changed


def _choose(spans: Sequence[Window], sketches: Sequence[StoredPiece]) -> list[Window]:
    """Return all spans, or evenly spread ones if their sketches take too much memory."""
    n_bytes = sum(sketch.n_bytes for sketch in sketches)
    n = max(MIN_SPANS, int(len(spans) * MAX_BYTES / max(n_bytes, 1)))
    if n >= len(spans):
        return list(spans)
    return [spans[place] for place in distinct_values(np.linspace(0, len(spans) - 1, n).astype(np.intp)).tolist()]


def _is_good(sketch: StoredPiece | None, stat: StatRef) -> bool:
    return sketch is not None and sketch.spec_version == stat.spec_version


def _is_readable(body: bytes) -> bool:
    try:
        PackedSketch(body).unpack()
    except BrokenBytes:
        return False
    return True


def clip_at(effective: Windows, until: datetime) -> Windows:
    """Clip the windows at an instant."""
    if not effective or effective[0].start >= until:
        return ()
    return intersect(effective, (Window(effective[0].start, until),))
