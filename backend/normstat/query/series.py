"""Series for drawing: every sample, or the envelope of each pixel column."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.window import Window


@dataclass(frozen=True, slots=True)
class SeriesRequest:
    """What to draw. `instances` empty: all, up to the limit of series; `top`: only the N with the highest mean of the first field."""

    host: str
    stat: str
    window: Window
    width: int
    fields: tuple[str, ...]
    instances: tuple[str, ...] = ()
    top: int | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one series, in order of time. Missing: a value None is a gap, nothing is joined across it. Units: times in ms."""

    instance: str
    field: str
    unit: str
    times: list[int]
    values: list[float | None]
    n_raw: int


@dataclass(frozen=True, slots=True)
class SeriesResult:
    """Series of one stat."""

    host: str
    stat: str
    start: datetime
    end: datetime
    resolution: Literal["raw", "envelope"]
    column_ms: int
    n_raw: int
    n_points: int
    n_instances_left_out: int
    series: list[Series]


async def read_series(session: AsyncSession, request: SeriesRequest) -> SeriesResult:
    """The series of the request.

    Raises: NotFound for an unknown host, stat, field or instance name
    """
    raise NotImplementedError
