"""The application: wiring only."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

import structlog
from fastapi import FastAPI
from sqlalchemy.exc import SQLAlchemyError
from starlette.middleware.gzip import GZipMiddleware

from normstat import __version__
from normstat.alerts.alert_rows import select_routing
from normstat.alerts.message_kind import MessageKind
from normstat.api.http.application import Application
from normstat.api.http.backpressure import Gate, GateLimits, Lobby
from normstat.api.http.body_limit import BodyBudget, BodyLimitMiddleware
from normstat.api.http.database_outage import DatabaseOutage
from normstat.api.http.fleet_answers import FleetAnswers
from normstat.api.http.handlers import EnvelopeMiddleware, install_handlers
from normstat.api.http.host_guard import HostGuard
from normstat.api.http.host_list_answers import HostListAnswers
from normstat.api.http.lazy_routing import PREFIX
from normstat.api.http.middleware import RequestContextMiddleware
from normstat.api.http.page_files import PageFiles
from normstat.api.http.router import list_routes
from normstat.api.http.slots import Slots
from normstat.api.http.state import AppState
from normstat.api.http.turnstile import TurnstileMiddleware, make_turnstile
from normstat.api.routes.direct_ingest import DirectIngest
from normstat.artefacts.import_keeper import ImportKeeper
from normstat.auth.access import AgentTokenCache
from normstat.auth.allowed_hosts import AllowedHosts
from normstat.auth.audit_trail import AuditTrail
from normstat.auth.client_address import TrustedProxies, parse_networks
from normstat.auth.security_log import SecurityLog
from normstat.auth.throttle import Throttle
from normstat.background_workers import make_workers
from normstat.bundles.bundle_job import BundleLoader
from normstat.db.heartbeats import BEAT_S, Heartbeat
from normstat.db.probe import DatabaseProbe
from normstat.db.session import make_engine, make_sessions, shrink_pool
from normstat.db.standby import StandbyReads
from normstat.db.turns import is_database_away
from normstat.ingest.imports.import_queue import ImportQueue
from normstat.ingest.receivers.type_memory import TypeMemory
from normstat.jobs.background import keep_running
from normstat.jobs.due_work import SELDOM_S, DueWork
from normstat.live.notify import LiveHub
from normstat.records.judging_pace import PaceNote
from normstat.runtime.input_limits import BATCHES_AT_ONCE, MAX_ARTEFACT_BYTES, MAX_REPORT_FILE_BYTES
from normstat.runtime.installed_files import find_agents_dir, find_page_dir
from normstat.runtime.memory import return_free_pages, return_large_blocks
from normstat.runtime.metrics import declare, is_multiprocess
from normstat.runtime.work_budget import MemoryPool
from normstat.samples.spec_refresh import reload_user_specs
from normstat.schedule import run_schedule
from normstat.settings import Settings
from normstat.stats.line_kind import LineKind

if TYPE_CHECKING:
    from normstat.auth.oidc_login import OidcLogin

log = structlog.get_logger()

# Users' bodies are small; those of agents have a limit in the settings.
MAX_BODY_BYTES = 1024 * 1024
# A sample of a MiB, with what JSON puts before signs that it cannot hold.
MAX_SAMPLE_BODY_BYTES = 4 * 1024 * 1024
# Connections reserved for agents, independent of users' requests: two batches that are stored, and two tokens that are looked up.
INGEST_POOL_SIZE = BATCHES_AT_ONCE + 2
LOOKUPS_AT_ONCE = 2
# Connections idle for this long are closed, and memory that is free goes back to the system.
UNNEEDED_S = 120.0
# For a last word to the database at the end.
END_S = 1.0
# Each is a process that reads for a second or two.
MAX_PREVIEWS = 2
# Texts of artefacts read at once; a large one takes gigabytes.
MAX_ARTEFACTS = 2
GZIP_FROM_BYTES = 1024
# Level 9 takes several times as long for a few percent.
GZIP_LEVEL = 5


def create_app(settings: Settings) -> FastAPI:
    """Return the application with all routes; nothing is connected before it is started."""
    app = Application(
        title="normstat",
        version=__version__,
        summary="Keeps every sample of the *stat tools, remembers what is normal, and ranks what changed",
        # The document is served by api/routes/document.py to those who are logged in; strangers learn nothing.
        openapi_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
        # Unused here; FastAPI looks for its providers in each request, which takes a twentieth of a small one.
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.state.normstat = make_state(settings)
    app.router.routes.extend(list_routes())
    app.router.default = PageFiles(find_page_dir(settings.page_dir))
    install_handlers(app)
    # The last one added is the outermost.
    app.add_middleware(DirectIngest, path=f"{PREFIX}/ingest")
    app.add_middleware(
        BodyLimitMiddleware,
        limit=MAX_BODY_BYTES,
        limits_by_path={
            f"{PREFIX}/specs/draft": MAX_SAMPLE_BODY_BYTES,
            f"{PREFIX}/specs/preview": MAX_SAMPLE_BODY_BYTES,
            f"{PREFIX}/report-files": MAX_REPORT_FILE_BYTES,
        },
        # The first ones are counted by the gate, the others go to the disk.
        limits_of_streams={
            f"{PREFIX}/ingest": settings.ingest_max_body_bytes,
            f"{PREFIX}/prometheus/write": settings.ingest_max_body_bytes,
            f"{PREFIX}/otlp/v1/metrics": settings.ingest_max_body_bytes,
            f"{PREFIX}/imports": settings.import_max_upload_bytes,
            f"{PREFIX}/bundles": settings.import_max_upload_bytes,
            f"{PREFIX}/artefacts": MAX_ARTEFACT_BYTES,
            f"{PREFIX}/ingest/artefacts": MAX_ARTEFACT_BYTES,
        },
        budget=BodyBudget(settings.max_body_bytes_at_once),
    )
    app.add_middleware(EnvelopeMiddleware)
    app.add_middleware(
        TurnstileMiddleware, turnstile=make_turnstile(settings.max_running_requests), open_paths=frozenset({f"{PREFIX}/health"})
    )
    app.add_middleware(GZipMiddleware, minimum_size=GZIP_FROM_BYTES, compresslevel=GZIP_LEVEL)
    app.add_middleware(
        HostGuard,
        open_paths=frozenset(
            f"{PREFIX}/{path}"
            for path in (
                "ingest",
                "ingest/events",
                "ingest/artefacts",
                "ingest/enrol",
                "ingest/token",
                "prometheus/write",
                "otlp/v1/metrics",
            )
        ),
    )
    app.add_middleware(
        RequestContextMiddleware,
        proxies=TrustedProxies(parse_networks(settings.trusted_proxies)),
        is_behind_tls=settings.cookie_secure or settings.public_url.lower().startswith("https:"),
    )
    return app


def make_state(settings: Settings) -> AppState:
    """Return the shared state of the requests of one process; nothing is connected yet."""
    engine = make_engine(settings.database_url, pool_size=settings.database_pool_size)
    sessions = make_sessions(engine)
    ingest_engine = make_engine(settings.database_url, pool_size=INGEST_POOL_SIZE)
    audit_trail = AuditTrail(sessions)
    probe = DatabaseProbe(settings.database_url, PaceNote().read)
    read_url = settings.database_read_url
    standby_engine = None if read_url is None else make_engine(read_url, pool_size=settings.database_pool_size)
    return AppState(
        settings=settings,
        engine=engine,
        sessions=sessions,
        ingest_engine=ingest_engine,
        ingest_sessions=make_sessions(ingest_engine),
        standby_engine=standby_engine,
        reads=StandbyReads(engine, standby_engine, max_lag_s=settings.database_read_max_lag_s),
        probe=probe,
        heartbeat=Heartbeat(probe.sessions),
        outage=DatabaseOutage(probe),
        throttle=Throttle(sessions),
        oidc=_make_login_provider(settings),
        audit_trail=audit_trail,
        security_log=SecurityLog(audit=audit_trail.put),
        allowed_hosts=AllowedHosts(settings.public_url, settings.allowed_hosts),
        live=LiveHub(settings.database_url, partial(reload_user_specs, sessions)),
        agents_dir=find_agents_dir(settings.agents_dir),
        ingest_gate=Gate(
            GateLimits(
                n_requests=settings.ingest_max_requests,
                n_bytes=settings.ingest_max_bytes,
                n_plain_bytes=settings.ingest_max_plain_bytes_at_once,
                max_body_bytes=settings.ingest_max_body_bytes,
                max_plain_bytes=settings.ingest_max_plain_bytes,
                token_share=settings.ingest_token_share,
            )
        ),
        # As many wait as may be inside: a whole fleet may come at once after the server was started.
        lobby=Lobby(n_at_once=LOOKUPS_AT_ONCE, n_waiting=settings.ingest_max_requests),
        agents=AgentTokenCache(max_age=settings.agent_token_max_age),
        metric_types=TypeMemory(),
        doctor_slots=Slots("examinations of the installation", n_at_once=1, max_wait_s=settings.busy_max_wait_s),
        preview_slots=Slots(
            "readings of specs", n_at_once=max(1, MAX_PREVIEWS // settings.workers), max_wait_s=settings.busy_max_wait_s
        ),
        export_slots=Slots(
            "exports",
            # Half of the connections are left for everybody else.
            n_at_once=min(settings.export_max_at_once, max(1, settings.database_pool_size // 2)),
            max_wait_s=settings.busy_max_wait_s,
        ),
        report_slots=Slots("reports", n_at_once=2, max_wait_s=settings.busy_max_wait_s),
        artefact_slots=Slots("readings of artefacts", n_at_once=MAX_ARTEFACTS, max_wait_s=settings.busy_max_wait_s),
        comparison_slots=Slots("comparisons", n_at_once=settings.compare_max_at_once, max_wait_s=settings.busy_max_wait_s),
        comparison_memory=MemoryPool(settings.compare_max_bytes),
        fleet_answers=FleetAnswers(time.monotonic),
        use_answers=FleetAnswers(time.monotonic),
        host_list=HostListAnswers(sessions, time.monotonic),
        imports=ImportQueue(
            engine,
            settings.database_url,
            settings.import_dir,
            settings.import_max_bytes,
            BundleLoader(engine, settings.import_max_bytes),
            keeper=ImportKeeper(sessions),
        ),
    )


def _make_login_provider(settings: Settings) -> "OidcLogin | None":
    if settings.oidc_issuer is None:
        return None
    # Its libraries take a while to import, and few servers have one.
    from normstat.api.routes.oidc import make_oidc_login  # noqa: PLC0415

    return make_oidc_login(settings, PREFIX)


async def _beat(state: AppState) -> None:
    try:
        await state.heartbeat.beat()
    except SQLAlchemyError as error:
        # Requests tell of it, and each loop that works.
        if not is_database_away(error):
            raise
    else:
        state.outage.end()


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    state: AppState = app.state.normstat
    return_large_blocks()
    declare((kind.value for kind in LineKind), (kind.value for kind in MessageKind))
    await reload_user_specs(state.sessions)
    settings = state.settings
    # A name server may take half a minute to answer; neither the start nor the end waits for it.
    threading.Thread(target=state.allowed_hosts.add_full_name, name="full_name", daemon=True).start()
    due = DueWork(settings.database_url)
    works: dict[str, Coroutine[None, None, None]] = {
        "audit_trail": keep_running("audit_trail", state.audit_trail.run),
        "security_log": keep_running("security_log", state.security_log.run),
        "live": keep_running("live", state.live.run),
        "heartbeat": keep_running("heartbeat", partial(_beat, state), every_s=BEAT_S, max_pause_s=BEAT_S),
        "host_list": keep_running("host_list", state.host_list.run),
        "schedule": run_schedule(state.engine, settings, may_route=due.follow(select_routing())),
        **dict(make_workers(state, due)),
        "due_work": keep_running("due_work", due.run, max_pause_s=SELDOM_S),
    }
    if is_multiprocess():
        # Alone, a process measures itself when it is asked.
        from normstat.api.routes import metrics  # noqa: PLC0415

        works["metrics"] = keep_running("metrics", partial(metrics.measure_often, state), every_s=metrics.MEASURE_S)
    works["memory"] = keep_running("memory", return_free_pages, every_s=UNNEEDED_S)
    pools = {"connections": state.engine, "ingest_connections": state.ingest_engine}
    if state.standby_engine is not None:
        pools["standby_connections"] = state.standby_engine
        works["standby"] = keep_running("standby", state.reads.run)
    for name, engine in pools.items():
        works[name] = keep_running(name, partial(shrink_pool, engine), every_s=UNNEEDED_S)
    tasks = [asyncio.create_task(work, name=name) for name, work in works.items()]
    try:
        yield
    finally:
        state.live.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # Without it, others find out by themselves.
        with suppress(SQLAlchemyError, TimeoutError):
            async with asyncio.timeout(END_S):
                await state.heartbeat.end()
        await state.close()
