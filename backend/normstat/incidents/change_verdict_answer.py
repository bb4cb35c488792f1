"""How an event was judged, or when it will be: what the API, the command and webhooks say."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.errors import BadRequest
from normstat.query.host_events import HostEvent, to_host_event
from normstat.records.change_verdict_rows import JUDGED_KINDS, EventVerdict, HostVerdict, read_host_verdicts
from normstat.records.event_rows import read_event
from normstat.runtime.field_docs import Documented
from normstat.runtime.readable import join_words


@dataclass(frozen=True, slots=True)
class ChangeVerdict(Documented):
    """How an event was judged."""

    event: HostEvent
    verdict: EventVerdict | None
    """Over all hosts: the worst. Null: not judged yet."""

    due_at: datetime
    """When the time after it is over. The verdict comes within a minute of it, if a server runs."""

    hosts: list[HostVerdict]


def require_judging(after: timedelta | None) -> timedelta:
    """Return how long after an event it is judged.

    Raises: BadRequest where it is switched off
    """
    if after is None:
        raise BadRequest("This server judges no changes: NORMSTAT_CHANGE_VERDICT_MINUTES is 0")
    return after


async def read_change_verdict(session: AsyncSession, event_id: int, after: timedelta) -> ChangeVerdict:
    """Return how an event was judged. `after`: how long after an event it is judged

    Raises: NotFound; BadRequest for an event of a kind that is not judged
    """
    record = await read_event(session, event_id)
    if record.kind not in JUDGED_KINDS:
        kinds = join_words(list(JUDGED_KINDS))
        raise BadRequest(f"Event {event_id} is of kind {record.kind}; only events of kind {kinds} are judged")
    return ChangeVerdict(to_host_event(record), record.verdict, record.at + after, await read_host_verdicts(session, event_id))
