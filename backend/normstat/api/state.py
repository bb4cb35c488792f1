"""What one server process shares between its requests."""

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from fastapi import Request
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker

from normstat.api.backpressure import Gate, Lobby
from normstat.api.slots import Slots
from normstat.auth.access import AgentMemory
from normstat.auth.allowed_hosts import AllowedHosts
from normstat.auth.security_log import SecurityLog
from normstat.auth.throttle import Throttle
from normstat.ingest.batching import Intake
from normstat.ingest.imports.import_queue import ImportQueue
from normstat.live.notify import LiveHub
from normstat.query.disk_usage import StorageMonitor
from normstat.settings import Settings
from normstat.storage.probe import DatabaseProbe
from normstat.work_budget import MemoryPool


@dataclass(frozen=True, slots=True)
class AppState:
    """Made by create_app, reached by `state_of`.

    `engine` is for people and jobs; `ingest_engine` and `probe` have connections of their own, so that agents are served and
    /health answers whatever people ask for. `agents_dir` is None where there are no agent files to hand out. `ingest_gate` bounds
    what agents' requests hold of this process's memory, `lobby` those whose token is not known yet; `intake` stores what agents
    send. `preview_slots` bounds how many previews of specs are read at once, each by a process of its own;
    `export_slots` how many exports run, each with a connection; `comparison_slots` and `comparison_memory` what comparisons take.
    """

    settings: Settings
    engine: AsyncEngine
    sessions: async_sessionmaker[AsyncSession]
    ingest_engine: AsyncEngine
    ingest_sessions: async_sessionmaker[AsyncSession]
    probe: DatabaseProbe
    throttle: Throttle
    security_log: SecurityLog
    allowed_hosts: AllowedHosts
    live: LiveHub
    agents_dir: Path | None
    ingest_gate: Gate
    lobby: Lobby
    agents: AgentMemory
    intake: Intake
    imports: ImportQueue
    storage: StorageMonitor
    preview_slots: Slots
    export_slots: Slots
    comparison_slots: Slots
    comparison_memory: MemoryPool

    async def close(self) -> None:
        """Close the connections to the database."""
        await self.probe.close()
        await self.ingest_engine.dispose()
        await self.engine.dispose()


async def state_of(request: Request) -> AppState:
    """Return the shared things of the application that serves this request."""
    # Awaits nothing: a plain function would be run in another thread, for each request.
    return cast("AppState", request.app.state.normstat)
