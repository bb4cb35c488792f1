"""All routes under /api/v1."""

from typing import Final

from fastapi import APIRouter
from fastapi.routing import APIRoute

from normstat.api import (
    agent_files,
    auth,
    bands,
    baselines,
    comparison,
    comparison_report,
    comparison_series,
    coverage,
    document,
    events,
    exclusions,
    exports,
    fleet,
    health,
    host_groups,
    host_series,
    hosts,
    imports,
    ingest,
    jobs,
    live,
    mutes,
    processes,
    reparses,
    retention,
    saved_comparisons,
    search,
    series,
    specs,
    stats,
    storage,
    stream_accounts,
    tokens,
    users,
    views,
)

PREFIX: Final = "/api/v1"


def operation_id(route: APIRoute) -> str:
    """Return the route's function name in camel case, the convention of generated clients: list_hosts -> listHosts."""
    first, *rest = route.name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def build_router() -> APIRouter:
    """Return the routes in matching order: the one that agents call most comes first."""
    router = APIRouter(prefix=PREFIX)
    for noun in (
        ingest, health, auth, users, tokens, hosts, fleet, events, processes, stream_accounts, stats, series, host_series,
        coverage, bands, baselines, exclusions, mutes, host_groups, comparison, comparison_report, comparison_series,
        saved_comparisons, exports, live, imports, reparses, jobs, specs, retention, storage, search, agent_files, views,
        document,
    ):  # fmt: skip
        router.include_router(noun.router)
    return router
