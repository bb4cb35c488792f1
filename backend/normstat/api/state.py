"""State shared by the requests of one server process."""

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from fastapi import Request
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker

from normstat.api.backpressure import Gate, Lobby
from normstat.api.comparison_cache import ComparisonCache
from normstat.api.fleet_answers import FleetAnswers
from normstat.api.host_list_answers import HostListAnswers
from normstat.api.slots import Slots
from normstat.artefacts.tree_cache import TreeCache
from normstat.auth.access import AgentTokenCache
from normstat.auth.allowed_hosts import AllowedHosts
from normstat.auth.audit_trail import AuditTrail
from normstat.auth.oidc_login import OidcLogin
from normstat.auth.security_log import SecurityLog
from normstat.auth.throttle import Throttle
from normstat.fleet.fleet_service import FleetMemory
from normstat.ingest.batching import IngestQueue
from normstat.ingest.imports.import_queue import ImportQueue
from normstat.ingest.receivers.type_memory import TypeMemory
from normstat.live.notify import LiveHub
from normstat.query.disk_usage import StorageMonitor
from normstat.settings import Settings
from normstat.storage.probe import DatabaseProbe
from normstat.storage.standby import StandbyReads
from normstat.work_budget import MemoryPool


@dataclass(frozen=True, slots=True)
class AppState:
    """Created by create_app, returned by `state_of`. `oidc`: the login provider, if there is one.

    `engine` is for people and jobs; `ingest_engine` and `probe` have connections of their own, so that agents are served and
    /health answers under any load. `agents_dir` is None where there are no agent files to download. `ingest_gate` bounds the memory
    held by agents' requests, `lobby` the requests whose token is not known yet; `ingest_queue` stores what agents send.
    `preview_slots` bounds the spec previews read at once, each in a process of its own; `doctor_slots` the examinations of the
    installation, each in a thread; `export_slots` the running exports, each with a connection; `artefact_slots` the texts of
    artefacts read at once, `trees` their stacks that somebody looks at; `comparison_slots` and `comparison_memory` the
    comparisons; `comparisons` keeps their results; `fleet_memory` what was read of the fleet, `fleet_answers` the answers made
    of it; `use_answers` those of the fleet's USE matrices; `host_list` the list of all hosts.
    `reads` chooses the database of graphs, comparisons and exports: `standby_engine`, where there is one, or `engine`.
    """

    settings: Settings
    engine: AsyncEngine
    sessions: async_sessionmaker[AsyncSession]
    ingest_engine: AsyncEngine
    ingest_sessions: async_sessionmaker[AsyncSession]
    standby_engine: AsyncEngine | None
    reads: StandbyReads
    probe: DatabaseProbe
    throttle: Throttle
    oidc: OidcLogin | None
    audit_trail: AuditTrail
    security_log: SecurityLog
    allowed_hosts: AllowedHosts
    live: LiveHub
    agents_dir: Path | None
    ingest_gate: Gate
    lobby: Lobby
    agents: AgentTokenCache
    ingest_queue: IngestQueue
    metric_types: TypeMemory
    imports: ImportQueue
    storage: StorageMonitor
    preview_slots: Slots
    doctor_slots: Slots
    export_slots: Slots
    artefact_slots: Slots
    trees: TreeCache
    comparison_slots: Slots
    comparison_memory: MemoryPool
    comparisons: ComparisonCache
    fleet_memory: FleetMemory
    fleet_answers: FleetAnswers
    use_answers: FleetAnswers
    host_list: HostListAnswers

    async def close(self) -> None:
        """Close the connections to the database."""
        await self.probe.close()
        await self.ingest_engine.dispose()
        if self.standby_engine is not None:
            await self.standby_engine.dispose()
        await self.engine.dispose()


async def state_of(request: Request) -> AppState:
    """Return the state of the application that serves this request."""
    # Async though it awaits nothing: a plain function would run in another thread for each request.
    return cast("AppState", request.app.state.normstat)
