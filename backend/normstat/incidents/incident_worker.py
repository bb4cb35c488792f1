"""Compare in the background what no request has asked for: hosts after changes, and incidents to remember.

One worker of all processes works at a time, holding an advisory lock. What it plans is stored before it begins, so a restart goes
on with it, and a plan exists once for an event and host, or for an episode.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

import structlog
from sqlalchemy import SelectBase
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.baselines.covering_rows import read_covering_baselines
from normstat.baselines.window_sets import intersect
from normstat.comparison.past_incident_rows import forget_orphans, select_orphans
from normstat.comparison.service import BaselineChoice, ComparisonRequest, WholeComparison
from normstat.comparison.signature import Signature, signature_of
from normstat.db.session import open_locked_sessions, open_read_session, open_write_session
from normstat.errors import BadRequest, NoData, NormstatError, NotFound
from normstat.incidents.change_verdict import Judgement, judge_change, sides_of
from normstat.incidents.change_verdict_answer import read_change_verdict
from normstat.incidents.unremembered_rows import (
    PendingIncident,
    has_any,
    list_pending_incidents,
    note_incident_try,
    plan_incidents,
    select_pending_incidents,
    select_unplanned,
    store_signature,
)
from normstat.jobs.background import keep_running
from normstat.jobs.due_work import SELDOM_S
from normstat.query.fact_history import list_hosts_with_facts, read_snapshots, select_hosts_with_facts
from normstat.query.host_events import find_events
from normstat.query.report_coverage import read_first_and_last
from normstat.records import change_verdict_rows
from normstat.records.change_verdict_rows import LOOK_BACK, PendingVerdict, Verdict
from normstat.records.webhook_rows import Topic, is_topic_wanted, tell_webhooks
from normstat.samples.lookup import require_host
from normstat.samples.spec_refresh import refresh_catalogue
from normstat.stats.fact_words import EventKind
from normstat.window import Window

log = structlog.get_logger()

Sessions = async_sessionmaker[AsyncSession]
Compare = Callable[[ComparisonRequest], Awaitable[WholeComparison]]

INCIDENT_LOCK: Final = 0x6E6F726D_00000019
# Comparisons of one round; the rest waits for the next one.
MAX_AT_ONCE: Final = 20
# A baseline with less shows too little of what is normal; the time before serves then.
MIN_BASELINE_S: Final = 480.0
# Facts that arrived this long before the last round are looked at once more: their transaction may have been open.
SLACK: Final = timedelta(minutes=2)
# Facts are printed when they change, and once an hour in two kilobytes: this is more than a day of them.
FACTS_BYTES: Final = 128 << 10
# What an agent or a host reports of itself is no change of the host.
UNJUDGED_FACTS: Final = frozenset({EventKind.TOOL, EventKind.LOSS, EventKind.CLOCK})
# Times a window's length that is read before it where no baseline covers the host, and the bounds of that.
BEFORE_FACTOR: Final = 8
BEFORE_BOUNDS: Final = (timedelta(minutes=10), timedelta(hours=2))


@dataclass(frozen=True, slots=True)
class IncidentSettings:
    """When changes are judged. `judge_after`: how long after a change; None: never"""

    judge_after: timedelta | None


async def run_incident_work(
    database_url: str,
    sessions: Sessions,
    compare: Compare,
    settings: IncidentSettings,
    *,
    wake: asyncio.Event | None = None,
    poll_s: float = SELDOM_S,
) -> None:
    """Judge changes and remember incidents, until cancelled: every `poll_s`, and whenever `wake` is set."""
    worker = IncidentWorker(sessions, compare, settings)
    await keep_running("incidents", partial(worker.work, database_url), every_s=poll_s, wake=wake)


class IncidentWorker:
    """What a process compares in the background, and how far it has looked at the facts of hosts."""

    def __init__(self, sessions: Sessions, compare: Compare, settings: IncidentSettings) -> None:
        self._sessions = sessions
        self._compare = compare
        self._settings = settings
        self._facts_seen_until: datetime | None = None

    async def work(self, database_url: str) -> bool:
        """Do what is due; return False when another process does it."""
        if not await self._is_due():
            return True
        async with open_locked_sessions(database_url, INCIDENT_LOCK) as holder:
            if holder is None:
                return False
            if self._settings.judge_after is not None:
                await self._plan_verdicts(self._settings.judge_after)
                await self._judge_pending()
            await self._remember()
        return True

    async def _is_due(self) -> bool:
        """Return whether there may be work. Most rounds end with this one statement: the lock takes a connection of its own."""
        due: list[SelectBase] = [select_pending_incidents(), *select_unplanned(), select_orphans()]
        after = self._settings.judge_after
        if after is not None:
            due += [change_verdict_rows.select_due_events(after), change_verdict_rows.select_pending()]
            due.append(select_hosts_with_facts(self._facts_since(datetime.now(UTC))))
        async with open_read_session(self._sessions) as session:
            return await has_any(session, due)

    # --- changes ---

    def _facts_since(self, now: datetime) -> datetime:
        return now - LOOK_BACK if self._facts_seen_until is None else self._facts_seen_until - SLACK

    async def _plan_verdicts(self, after: timedelta) -> None:
        now = datetime.now(UTC)
        async with open_write_session(self._sessions) as session:
            await change_verdict_rows.give_up(session)
            for event_id, at, host_ids in await change_verdict_rows.list_due_events(session, after):
                for host_id in host_ids:
                    await change_verdict_rows.plan_verdict(session, host_id, at, sides_of(at, after), event_id=event_id)
        await self._plan_for_facts(after, now)

    async def _plan_for_facts(self, after: timedelta, now: datetime) -> None:
        """Plan the verdicts of hosts whose facts changed since the last round; they are judged when it is time."""
        async with open_read_session(self._sessions) as session:
            hosts = await list_hosts_with_facts(session, self._facts_since(now))
        for host_id, host in hosts:
            async with open_write_session(self._sessions) as session:
                # A new host has booted some time, but that is no change of what is known of it.
                first, _ = await read_first_and_last(session, host_id)
                for event in find_events(await read_snapshots(session, host_id, max_bytes=FACTS_BYTES), host):
                    is_known = first is not None and first < (event.not_before or event.at)
                    if event.at > now - LOOK_BACK and is_known and event.kind not in UNJUDGED_FACTS:
                        sides = sides_of(event.at, after, not_before=event.not_before)
                        await change_verdict_rows.plan_verdict(session, host_id, event.at, sides, event_id=None)
        self._facts_seen_until = now

    async def _judge_pending(self) -> None:
        async with open_read_session(self._sessions) as session:
            pending = await change_verdict_rows.list_pending(session, limit=MAX_AT_ONCE)
        for one in pending:
            async with open_write_session(self._sessions) as session:
                await change_verdict_rows.note_try(session, one.id)
            try:
                judgement, baseline = await self._judge(one)
            except (NoData, NotFound, BadRequest) as error:
                judgement, baseline = Judgement(Verdict.TOO_LITTLE_DATA, f"{error.message}.", []), None
            except NormstatError as error:
                # Another try may have the memory or the time.
                log.warning("change_not_judged", host=one.host, event_id=one.event_id, cause=error.message)
                continue
            async with open_write_session(self._sessions) as session:
                await change_verdict_rows.store_verdict(
                    session, one.id, judgement.verdict, judgement.sentence, changes=judgement.changes, baseline=baseline
                )
                await self._tell(session, one)
            log.info("change_judged", host=one.host, event_id=one.event_id, verdict=judgement.verdict.value)

    async def _judge(self, one: PendingVerdict) -> tuple[Judgement, int | None]:
        # The time right before it is that in which programs start after the change, not what was there already.
        ask = partial(ComparisonRequest, [one.host], one.sides.after, looks_before=False)
        found = await self._compare(ask(BaselineChoice(window=one.sides.before)))
        async with open_read_session(self._sessions) as session:
            baseline = await find_baseline(session, one.host_id, one.sides.after)
        normal = None
        if baseline is not None:
            normal = (await self._compare(ask(baseline))).comparison
        return judge_change(found.comparison, normal), None if baseline is None else baseline.baseline

    async def _tell(self, session: AsyncSession, one: PendingVerdict) -> None:
        """Send the verdict of an event to webhooks once its last host is judged."""
        after = self._settings.judge_after
        if one.event_id is None or after is None or not await is_topic_wanted(session, Topic.EVENT_JUDGED):
            return
        # It may have been deleted or changed meanwhile.
        with suppress(NotFound, BadRequest):
            judged = await read_change_verdict(session, one.event_id, after)
            if judged.verdict is not None:
                await tell_webhooks(session, Topic.EVENT_JUDGED, judged)

    # --- incidents ---

    async def _remember(self) -> None:
        async with open_write_session(self._sessions) as session:
            await forget_orphans(session)
            await plan_incidents(session, limit=MAX_AT_ONCE)
            pending = await list_pending_incidents(session, limit=MAX_AT_ONCE)
        for one in pending:
            async with open_write_session(self._sessions) as session:
                await note_incident_try(session, one.id)
            try:
                signature, sentence = await self._find_signature(one)
            except (NoData, NotFound, BadRequest) as error:
                signature, sentence = {}, f"{error.message}."
            except NormstatError as error:
                log.warning("incident_not_remembered", incident=one.id, cause=error.message)
                continue
            async with open_write_session(self._sessions) as session:
                await store_signature(session, one.id, signature, sentence)

    async def _find_signature(self, one: PendingIncident) -> tuple[Signature, str]:
        async with open_read_session(self._sessions) as session:
            await refresh_catalogue(session)
            baseline = await find_baseline(session, await require_host(session, one.host), one.window)
        whole = await self._compare(ComparisonRequest([one.host], one.window, baseline or _time_before(one.window)))
        return signature_of(whole.rows), whole.comparison.verdict


async def find_baseline(session: AsyncSession, host_id: int, window: Window) -> BaselineChoice | None:
    """Return the baseline that covers a host, unless it contains the window itself. Missing: None without one."""
    found = (await read_covering_baselines(session, min_s=MIN_BASELINE_S, now=window.start)).get(host_id)
    if found is None or intersect(found.windows, [window]):
        return None
    return BaselineChoice(found.id, found.version)


def _time_before(window: Window) -> BaselineChoice:
    least, most = BEFORE_BOUNDS
    length = max(least, min(most, BEFORE_FACTOR * (window.end - window.start)))
    return BaselineChoice(window=Window(window.start - length, window.start))
