"""State shared by the requests of one server process."""

import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from fastapi import Request
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker

from normstat.api.http.backpressure import Gate, Lobby
from normstat.api.http.database_outage import DatabaseOutage
from normstat.api.http.fleet_answers import FleetAnswers
from normstat.api.http.host_list_answers import HostListAnswers
from normstat.api.http.slots import Slots
from normstat.auth.access import AgentTokenCache
from normstat.auth.allowed_hosts import AllowedHosts
from normstat.auth.audit_trail import AuditTrail
from normstat.auth.security_log import SecurityLog
from normstat.auth.throttle import Throttle
from normstat.db.heartbeats import Heartbeat
from normstat.db.probe import DatabaseProbe
from normstat.db.standby import StandbyReads
from normstat.ingest.imports.import_queue import ImportQueue
from normstat.ingest.receivers.type_memory import TypeMemory
from normstat.live.notify import LiveHub
from normstat.runtime.work_budget import MemoryPool
from normstat.settings import Settings

if TYPE_CHECKING:
    from normstat.api.http.comparison_cache import ComparisonCache
    from normstat.artefacts.tree_cache import TreeCache
    from normstat.auth.oidc_login import OidcLogin
    from normstat.ingest.batching import IngestQueue
    from normstat.query.disk_usage import StorageMonitor
    from normstat.watch.begun_episodes import BegunEpisodes
    from normstat.watch.fleet.fleet_service import FleetMemory

# Means by minute of the fleet: an hour of 1,000 hosts takes some 30 MB.
FLEET_MAX_BYTES: Final = 128 << 20


@dataclass(frozen=True)
class AppState:
    """Created by create_app, returned by `state_of`. `oidc`: the login provider, if there is one.

    `engine` is for people and jobs; `ingest_engine` and `probe` have connections of their own, so that agents are served and
    /health answers under any load. `agents_dir` is None where there are no agent files to download. `ingest_gate` bounds the memory
    held by agents' requests, `lobby` the requests whose token is not known yet.
    `preview_slots` bounds the spec previews read at once, each in a process of its own; `doctor_slots` the examinations of the
    installation, each in a thread; `export_slots` the running exports, each with a connection; `report_slots` the reports and
    previews of Markdown made at once, each in a thread; `artefact_slots` the texts of artefacts read at once; `comparison_slots`
    and `comparison_memory` the comparisons; `fleet_answers` keeps the answers made of
    `fleet_memory`, `use_answers` those of the fleet's USE matrices; `host_list` the list of all hosts.
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
    heartbeat: Heartbeat
    outage: DatabaseOutage
    throttle: Throttle
    oidc: "OidcLogin | None"
    audit_trail: AuditTrail
    security_log: SecurityLog
    allowed_hosts: AllowedHosts
    live: LiveHub
    agents_dir: Path | None
    ingest_gate: Gate
    lobby: Lobby
    agents: AgentTokenCache
    metric_types: TypeMemory
    imports: ImportQueue
    preview_slots: Slots
    doctor_slots: Slots
    export_slots: Slots
    report_slots: Slots
    artefact_slots: Slots
    comparison_slots: Slots
    comparison_memory: MemoryPool
    fleet_answers: FleetAnswers
    use_answers: FleetAnswers
    host_list: HostListAnswers

    # Made when a request first needs them: most of what they import is not needed by a server that starts.

    @cached_property
    def ingest_queue(self) -> "IngestQueue":
        """The queue that stores the posts of agents."""
        from normstat.ingest.batching import IngestQueue  # noqa: PLC0415

        return IngestQueue(self.ingest_engine, self.settings.ingest_limits)

    @cached_property
    def begun(self) -> "BegunEpisodes":
        """The episodes that began a moment ago, for the answers to agents."""
        from normstat.watch.begun_episodes import BegunEpisodes  # noqa: PLC0415

        return BegunEpisodes(self.sessions)

    @cached_property
    def storage(self) -> "StorageMonitor":
        """Measures disk usage."""
        from normstat.query.disk_usage import StorageMonitor  # noqa: PLC0415

        settings = self.settings
        return StorageMonitor(settings.database_url, settings.database_dir, settings.seal_after_days)

    @cached_property
    def trees(self) -> "TreeCache":
        """Cached stack trees of artefacts."""
        from normstat.artefacts.tree_cache import TreeCache  # noqa: PLC0415

        return TreeCache()

    @cached_property
    def comparisons(self) -> "ComparisonCache":
        """Cached results of comparisons."""
        from normstat.api.http.comparison_cache import ComparisonCache  # noqa: PLC0415

        return ComparisonCache(self.settings.compare_cache_max_bytes)

    @cached_property
    def fleet_memory(self) -> "FleetMemory":
        """Cached samples and normal ranges of the fleet."""
        from normstat.watch.fleet.baseline_normals import NormalsCache  # noqa: PLC0415
        from normstat.watch.fleet.fleet_service import FleetMemory  # noqa: PLC0415
        from normstat.watch.fleet.minute_store import MinuteStore  # noqa: PLC0415

        return FleetMemory(MinuteStore(FLEET_MAX_BYTES, time.monotonic), NormalsCache())

    async def close(self) -> None:
        """Close the connections to the database."""
        await self.probe.close()
        if "begun" in vars(self):
            await self.begun.close()
        await self.ingest_engine.dispose()
        if self.standby_engine is not None:
            await self.standby_engine.dispose()
        await self.engine.dispose()


async def state_of(request: Request) -> AppState:
    """Return the state of the application that serves this request."""
    # Async though it awaits nothing: a plain function would run in another thread for each request.
    return cast("AppState", request.app.state.normstat)
