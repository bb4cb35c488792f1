"""Samples that arrive while rules watch, and what the rules found of them."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import numpy as np
from sqlalchemy import select, text

from normstat.db.schema.watch_models import EpisodeRow
from normstat.window import from_us, to_us
from tests.databases import Sessions
from tests.query.filling import fill_values

START = from_us(1_700_000_000_000_000)
STEP_S = 10


def at(step: int) -> datetime:
    """Return the instant of a report."""
    return START + timedelta(seconds=STEP_S * step)


async def send_mpstat(
    sessions: Sessions, host: str, steps: Sequence[int], contended: Sequence[int] = (), *, key: str = "1", late: bool = False
) -> None:
    """Two CPUs each ten seconds; CPU 1 spins in the contended reports."""
    n = len(steps)
    is_contended = np.isin(np.asarray(steps), np.asarray(contended))
    smtx, sys = np.full((n, 2), 100), np.full((n, 2), 5)
    smtx[is_contended, 1], sys[is_contended, 1] = 900, 40
    await send(
        sessions,
        (host, "mpstat_solaris"),
        steps,
        ("0", "1"),
        {"smtx": smtx.ravel(), "sys_pct": sys.ravel(), "usr_pct": np.full(2 * n, 10)},
        key=key,
        late=late,
    )


async def send(
    sessions: Sessions,
    place: tuple[str, str],
    steps: Sequence[int],
    instances: Sequence[str],
    values: Mapping[str, np.ndarray],
    *,
    key: str = "1",
    late: bool = False,
) -> None:
    """Store samples as if an agent had sent them: the stream knows of them. `place`: host and stat."""
    host, stat = place
    times = np.repeat([to_us(at(step)) for step in steps], len(instances))
    await fill_values(sessions, host, stat, time_us=times, instances=tuple(instances) * len(steps), values=values, key=key)
    async with sessions() as session, session.begin():
        grow = text("""
            UPDATE streams SET acked_offset = acked_offset + 1, stat_names = ARRAY[:stat],
                last_sample_at = greatest(last_sample_at, :last)
            WHERE key = :key AND host_id = (SELECT id FROM hosts WHERE name = :host)
        """)
        await session.execute(grow, {"stat": stat, "key": key, "host": host, "last": at(max(steps))})
        if late:
            note = text("""
                INSERT INTO stream_changes (stream_id, n_late, late_from) SELECT id, 1, :first FROM streams WHERE key = :key
                ON CONFLICT (stream_id) DO UPDATE SET n_late = stream_changes.n_late + 1, late_from = excluded.late_from
            """)
            await session.execute(note, {"first": at(min(steps)), "key": key})


async def read_found(sessions: Sessions) -> list[EpisodeRow]:
    """Return all episodes by their start."""
    async with sessions() as session:
        return list(await session.scalars(select(EpisodeRow).order_by(EpisodeRow.start_at, EpisodeRow.id)))


def step_of(instant: datetime | None) -> float | None:
    """Return the report of an instant."""
    return None if instant is None else (instant - START).total_seconds() / STEP_S
