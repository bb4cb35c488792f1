"""Read the sides of a comparison: what takes long with a second connection, which sees the same state of the database."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.window_sets import Windows
from normstat.comparison.read_side import StatSide, read_side
from normstat.db.session import driver_of, open_second_session
from normstat.runtime import work_budget
from normstat.samples.lookup import StatRef
from normstat.stats.spec import Field

# A shorter comparison takes one connection: opening a second one costs as much as it saves.
JOIN_AFTER_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class SideRequest:
    """A side to read; see `read_side`."""

    host_id: int
    stat: StatRef
    windows: Windows
    fields: Sequence[Field]
    max_rows: int


async def read_sides(
    session: AsyncSession, wanted: Sequence[SideRequest], tell: Callable[[SideRequest], Awaitable[None]] | None = None
) -> list[StatSide]:
    """Return the sides in the order of the requests. `tell` is called when one is begun."""
    if not wanted:
        return []
    connection = await driver_of(session)
    found: dict[int, StatSide] = {}
    waiting = deque(enumerate(wanted))

    async def work(own: AsyncSession) -> None:
        while waiting:
            number, asked = waiting.popleft()
            if tell is not None:
                await tell(asked)
            found[number] = await read_side(
                own, asked.host_id, asked.stat, asked.windows, fields=asked.fields, max_rows=asked.max_rows
            )

    async def join() -> None:
        await asyncio.sleep(JOIN_AFTER_S)
        if waiting:
            async with open_second_session(session, connection) as second:
                if second is not None:
                    await work(second)

    with work_budget.side_by_side(2):
        tasks = [asyncio.create_task(work(session)), asyncio.create_task(join())]
    try:
        await tasks[0]
        if len(found) < len(wanted):
            await tasks[1]
    finally:
        for task in tasks:
            task.cancel()
        # When the first one failed, the error of the second does not matter.
        await asyncio.gather(*tasks, return_exceptions=True)
        # An error would keep this frame, which would keep the error, and all that was read.
        tasks.clear()
    return [found[number] for number in range(len(wanted))]
