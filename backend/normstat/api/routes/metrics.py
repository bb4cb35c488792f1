"""`/metrics`: the metrics of the server, as OpenMetrics or as text, for clients on this machine or with the metrics token."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Final

from fastapi import Depends, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.pool import QueuePool

from normstat.api.http.deps import State
from normstat.api.http.encodings import choose_media_type
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.state import AppState
from normstat.auth.client_address import is_loopback
from normstat.db.schema.job_models import JobKind, JobState
from normstat.db.session import open_read_session
from normstat.db.standby import StandbyInfo, StandbyState
from normstat.errors import NotAuthenticated, NotFound
from normstat.jobs.job_list import JobCount, count_jobs
from normstat.query.storage_sizes import read_database_bytes
from normstat.runtime import metrics

router = LazyRouter(root="")
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))]

PATH: Final = "/metrics"
MEASURE_S: Final = 5.0
FORWARDED: Final = ("forwarded", "x-forwarded-for", "x-real-ip")


@router.get(PATH, include_in_schema=False)
async def get_metrics(request: Request, state: State, credentials: Credentials) -> Response:
    """Return the metrics of all processes of this server."""
    _require_access(request, state, credentials)
    measure(state)
    async with open_read_session(state.sessions) as session:
        counts = await count_jobs(session)
        n_bytes = await read_database_bytes(session)
    found = _OfDatabase(counts, n_bytes, datetime.now(UTC), state.reads.info)
    media_type = choose_media_type(request.headers.get("accept", ""), (metrics.TEXT, metrics.OPENMETRICS))
    return Response(metrics.render(media_type, found), media_type=media_type, headers={"Vary": "Accept"})


def _require_access(request: Request, state: AppState, credentials: HTTPAuthorizationCredentials | None) -> None:
    """Require the token if one is set; otherwise a client on this machine without a proxy in between.

    Raises: NotAuthenticated, NotFound
    """
    token = state.settings.metrics_token
    if token is not None:
        given = b"" if credentials is None else credentials.credentials.encode()
        if not secrets.compare_digest(given, token.get_secret_value().encode()):
            raise NotAuthenticated("Expected the header `Authorization: Bearer <NORMSTAT_METRICS_TOKEN>`")
        return
    peer = request.client.host if request.client is not None else ""
    if not is_loopback(peer) or any(name in request.headers for name in FORWARDED):
        raise NotFound("/metrics is served to this machine only; set NORMSTAT_METRICS_TOKEN to read it from elsewhere")


async def measure_often(state: AppState) -> None:
    """Set the gauges of this process, so that other processes can answer for it."""
    measure(state)


def measure(state: AppState) -> None:
    """Set the gauges of this process."""
    metrics.measure_process()
    metrics.INGEST_WAITING.set(state.ingest_queue.n_waiting)
    metrics.INGEST_INSIDE.set(state.ingest_gate.n_inside)
    for kind, slots in (
        ("exports", state.export_slots),
        ("reports", state.report_slots),
        ("comparisons", state.comparison_slots),
        ("previews", state.preview_slots),
        ("artefacts", state.artefact_slots),
    ):
        metrics.RUNNING.labels(kind).set(slots.n_held)
    engines = {"people": state.engine, "ingest": state.ingest_engine}
    if state.standby_engine is not None:
        engines["standby"] = state.standby_engine
    for name, engine in engines.items():
        used, free = _count_connections(engine)
        metrics.POOL.labels(name, "used").set(used)
        metrics.POOL.labels(name, "free").set(free)


def _count_connections(engine: AsyncEngine) -> tuple[int, int]:
    """Return the number of connections in use, and of those still available."""
    pool = engine.pool
    assert isinstance(pool, QueuePool)
    return pool.checkedout(), pool.size() - pool.checkedout()


@dataclass(frozen=True, slots=True, eq=False)
class _OfDatabase(Collector):
    """Figures that are the same for every process: the jobs, the size of the database, and its standby."""

    counts: Sequence[JobCount]
    n_bytes: int
    now: datetime
    standby: StandbyInfo | None

    def collect(self) -> Iterable[Metric]:
        known = {(count.kind, count.state): count for count in self.counts}
        jobs = GaugeMetricFamily("normstat_jobs", "Background jobs by kind and state", labels=["kind", "state"])
        ages = GaugeMetricFamily("normstat_jobs_oldest_queued_seconds", "Age of the oldest queued job by kind", labels=["kind"])
        for kind in JobKind:
            for state in JobState:
                count = known.get((kind, state))
                jobs.add_metric([kind, state], 0 if count is None else count.n)
            queued = known.get((kind, JobState.QUEUED))
            age_s = 0.0 if queued is None else max(0.0, (self.now - queued.oldest_queued_at).total_seconds())
            ages.add_metric([kind], age_s)
        yield jobs
        yield ages
        size = GaugeMetricFamily("normstat_database_bytes", "Size of the database on disk")
        size.add_metric([], self.n_bytes)
        yield size
        if self.standby is not None:
            used = GaugeMetricFamily("normstat_standby_used", "1 while graphs, comparisons and exports are read from the standby")
            used.add_metric([], self.standby.state is StandbyState.USED)
            yield used
            # No value while it is unknown: 0 would be a value.
            for name, text, value in (
                ("normstat_standby_lag_seconds", "How far the data of the standby are behind", self.standby.lag_s),
                ("normstat_standby_lag_bytes", "Write-ahead log that the standby has not replayed", self.standby.lag_bytes),
            ):
                lag = GaugeMetricFamily(name, text)
                if value is not None:
                    lag.add_metric([], value)
                yield lag
