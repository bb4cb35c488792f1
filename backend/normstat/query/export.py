"""Raw samples as CSV, digit for digit, in constant memory."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.window import Window


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What to export: one stat wide, or (stat None) all stats of the host long."""

    host: str
    window: Window
    stat: str | None = None


async def stream_csv(engine: AsyncEngine, request: ExportRequest) -> AsyncIterator[bytes]:
    """The CSV in pieces: `pieces = await stream_csv(...)` checks the names, so that a 404 is one; then iterate.

    The pieces come from a connection of their own, opened at the first one and closed after the last. An error in between is raised
    out of the iterator: the answer is cut off, never ended as if it were whole.

    Raises: NotFound for an unknown host or stat
    """
    raise NotImplementedError
