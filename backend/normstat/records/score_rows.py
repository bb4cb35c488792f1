"""The rows of the continuous comparison: the scores of each host, minute by minute."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from psycopg.types.json import Jsonb
from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.score_models import HostScore
from normstat.db.session import WriteSession, driver_of
from normstat.window import Window

PUT: Final = """
    INSERT INTO host_scores
        (host_id, minute_at, method, baseline_id, version, n_judged, scores_1, scores_5, scores_15, findings)
    SELECT %s, %s, %s, %s, %s, %s, %s::real[], %s::real[], %s::real[], %s
    -- A host that is deleted meanwhile has no scores.
    WHERE EXISTS (SELECT FROM hosts WHERE id = %s)
    ON CONFLICT (host_id, minute_at) DO UPDATE SET
        method = excluded.method, baseline_id = excluded.baseline_id, version = excluded.version, n_judged = excluded.n_judged,
        scores_1 = excluded.scores_1, scores_5 = excluded.scores_5, scores_15 = excluded.scores_15, findings = excluded.findings
"""
# One lookup in the index for each host.
READ_LAST: Final = """
    SELECT asked.host_id, last.minute_at FROM unnest(%(host_ids)s::int8[]) AS asked(host_id),
        LATERAL (SELECT minute_at FROM host_scores AS s WHERE s.host_id = asked.host_id ORDER BY minute_at DESC LIMIT 1) AS last
"""
READ_UNSCORED: Final = """
    SELECT s.host_id, min(c.unscored_from), array_agg(c.stream_id), array_agg(c.n_late)
    FROM stream_changes AS c JOIN streams AS s ON s.id = c.stream_id
    WHERE c.unscored_from IS NOT NULL GROUP BY s.host_id ORDER BY s.host_id
"""
CLEAR_UNSCORED: Final = """
    UPDATE stream_changes AS c SET unscored_from = NULL
    FROM unnest(%(ids)s::int8[], %(counts)s::int8[]) AS seen(id, n_late) WHERE c.stream_id = seen.id AND c.n_late = seen.n_late
"""
READ_SENDING: Final = "SELECT DISTINCT host_id FROM streams WHERE last_sample_at >= %(since)s ORDER BY host_id"


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """The scores of a host in the windows that end with a minute; None for a subsystem of which nothing could be judged."""

    host_id: int
    minute_at: datetime
    method: int
    baseline_id: int
    version: int
    n_judged: int
    scores_1: tuple[float | None, ...]
    scores_5: tuple[float | None, ...]
    scores_15: tuple[float | None, ...]
    findings: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class UnscoredHost:
    """A host with samples that came late or were replaced since their minutes were scored: the first of them.

    `late`: by stream, how often that had happened when it was read
    """

    host_id: int
    first_at: datetime
    late: Mapping[int, int]


async def list_unscored(session: AsyncSession) -> list[UnscoredHost]:
    """Return the hosts with samples that came late or were replaced since their minutes were scored."""
    cursor = await (await driver_of(session)).execute(READ_UNSCORED)
    return [
        UnscoredHost(int(str(host_id)), first_at, dict(zip(ids, counts, strict=True)))  # type: ignore[call-overload]
        for host_id, first_at, ids, counts in await cursor.fetchall()
        if isinstance(first_at, datetime)
    ]


async def clear_unscored(session: WriteSession, late: Mapping[int, int]) -> None:
    """Note that late samples were scored, unless more came since."""
    await (await driver_of(session)).execute(CLEAR_UNSCORED, {"ids": list(late), "counts": list(late.values())})


async def delete_other_scores(session: WriteSession, host_id: int, window: Window, kept: Sequence[datetime]) -> None:
    """Delete the scores of the minutes that begin in the window, except `kept`: those have no samples any more."""
    own = (HostScore.host_id == host_id, HostScore.minute_at >= window.start, HostScore.minute_at < window.end)
    await session.execute(delete(HostScore).where(*own, HostScore.minute_at.not_in(kept)))


async def put_scores(session: WriteSession, rows: Sequence[ScoreRow]) -> None:
    """Write scores, in place of earlier ones of the same minutes."""
    connection = await driver_of(session)
    async with connection.cursor() as cursor:
        await cursor.executemany(
            PUT,
            [
                (
                    row.host_id,
                    row.minute_at,
                    row.method,
                    row.baseline_id,
                    row.version,
                    row.n_judged,
                    list(row.scores_1),
                    list(row.scores_5),
                    list(row.scores_15),
                    Jsonb(list(row.findings)),
                    row.host_id,
                )
                for row in rows
            ],
        )


async def read_scores(session: AsyncSession, host_id: int, window: Window) -> list[ScoreRow]:
    """Return the scores of the minutes that begin in the window, in order."""
    statement = (
        select(HostScore)
        .where(HostScore.host_id == host_id, HostScore.minute_at >= window.start, HostScore.minute_at < window.end)
        .order_by(HostScore.minute_at)
    )
    return [
        ScoreRow(
            row.host_id,
            row.minute_at,
            row.method,
            row.baseline_id,
            row.version,
            row.n_judged,
            tuple(row.scores_1),
            tuple(row.scores_5),
            tuple(row.scores_15),
            tuple(row.findings),
        )
        for row in await session.scalars(statement)
    ]


async def read_last_scored(session: AsyncSession, host_ids: Sequence[int]) -> dict[int, datetime]:
    """Return the last minute with scores of each host that has some."""
    cursor = await (await driver_of(session)).execute(READ_LAST, {"host_ids": list(host_ids)})
    return {int(str(host_id)): at for host_id, at in await cursor.fetchall() if isinstance(at, datetime)}


async def read_sending_hosts(session: AsyncSession, since: datetime) -> list[int]:
    """Return the ids of the hosts with a sample since then."""
    cursor = await (await driver_of(session)).execute(READ_SENDING, {"since": since})
    return [int(str(host_id)) for (host_id,) in await cursor.fetchall()]
