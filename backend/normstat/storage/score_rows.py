"""The rows of the continuous comparison: the scores of each host, minute by minute."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from psycopg.types.json import Jsonb
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.storage.schema.score_models import HostScore
from normstat.storage.session import WriteSession, driver_of
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
