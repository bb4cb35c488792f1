"""All routes under /api/v1."""

from typing import Final

from fastapi import APIRouter
from fastapi.routing import APIRoute

from normstat.api import (
    agent_files,
    alert_channels,
    alert_routes,
    alerts,
    artefact_diffs,
    artefact_log_files,
    artefact_logs,
    artefacts,
    audit,
    auth,
    bands,
    baselines,
    bundles,
    comparison,
    comparison_report,
    comparison_series,
    coverage,
    cpu_balance,
    doctor,
    document,
    enrolment,
    events,
    exclusions,
    experiments,
    exports,
    federate,
    flames,
    fleet,
    health,
    host_groups,
    host_scores,
    host_series,
    host_tags,
    host_zones,
    hosts,
    imports,
    ingest,
    jobs,
    join_tokens,
    live,
    mutes,
    oidc,
    otlp,
    processes,
    prometheus_write,
    reparses,
    reports,
    retention,
    rules,
    saved_comparisons,
    search,
    second_factors,
    series,
    sessions,
    share_links,
    specs,
    stats,
    storage,
    stream_accounts,
    tokens,
    use_matrix,
    users,
    views,
    watch,
    webhooks,
)

PREFIX: Final = "/api/v1"


def operation_id(route: APIRoute) -> str:
    """Return the route's function name in camel case, the convention of generated clients: list_hosts -> listHosts."""
    first, *rest = route.name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def build_router() -> APIRouter:
    """Return the routes, without `PREFIX`, in matching order: the one that agents call most comes first."""
    router = APIRouter()
    for noun in (
        ingest, prometheus_write, otlp, health, auth, oidc, sessions, second_factors,
        users, tokens, join_tokens, enrolment, hosts, fleet, events, processes, stream_accounts, stats, series, host_series,
        host_scores, artefact_diffs, artefacts, artefact_logs, artefact_log_files, experiments, reports, use_matrix, coverage,
        cpu_balance, bands, baselines, exclusions, mutes, host_groups, host_tags, host_zones,
        comparison, comparison_report, comparison_series, saved_comparisons, exports, federate,
        live, imports, bundles, reparses, jobs, specs,
        retention, storage, search, agent_files, views, rules, watch, alert_channels, alert_routes, alerts, webhooks,
        document, flames, audit, share_links, doctor,
    ):  # fmt: skip
        router.include_router(noun.router)
    return router
