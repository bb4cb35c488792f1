"""What one server process shares between its requests."""

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from fastapi import Request
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker

from normstat.auth.throttle import Throttle
from normstat.live.notify import LiveHub
from normstat.settings import Settings


@dataclass(frozen=True, slots=True)
class AppState:
    """Made by create_app, reached by `state_of`. `agents_dir` is None where there are no agent files to hand out."""

    settings: Settings
    engine: AsyncEngine
    sessions: async_sessionmaker[AsyncSession]
    throttle: Throttle
    live: LiveHub
    agents_dir: Path | None


def state_of(request: Request) -> AppState:
    """The shared things of the application that serves this request."""
    return cast("AppState", request.app.state.normstat)
