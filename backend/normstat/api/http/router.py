"""All routes, in matching order."""

import functools
import importlib
from collections.abc import Iterator
from typing import Final

from normstat.api.http.lazy_routing import LazyRoute, LazyRouter
from normstat.api.http.route_table import ROUTES

# The modules of routes in matching order: the one that agents call most comes first.
MODULES: Final = (
    "ingest", "prometheus_write", "otlp", "health", "auth", "oidc", "sessions", "second_factors", "users", "tokens",
    "join_tokens", "enrolment", "hosts", "fleet", "events", "incidents", "processes", "stream_accounts", "stats", "series",
    "references", "host_series", "host_scores", "artefact_diffs", "artefacts", "artefact_logs", "artefact_log_files",
    "experiments", "reports", "use_matrix", "forecasts", "normal_changes", "coverage", "cpu_balance", "related_series", "bands",
    "baselines", "exclusions", "mutes", "host_groups", "host_tags", "host_zones", "comparison", "comparison_report",
    "comparison_series", "saved_comparisons", "past_incidents", "exports", "federate", "live", "imports", "bundles", "reparses",
    "jobs", "specs", "retention", "storage", "search", "agent_files", "views", "rules", "watch", "alert_channels",
    "alert_routes", "alerts", "webhooks", "document", "flames", "audit", "share_links", "doctor", "assistants", "documentation",
    "metrics", "batch",
)  # fmt: skip
TABLE_HEAD: Final = '''\
"""Path, module and function of each route, in matching order. `make gen` writes this file: change the modules, not this."""

from typing import Final

ROUTES: Final = (
'''


@functools.cache
def list_routes() -> tuple[LazyRoute, ...]:
    """Return the routes, none of them imported. They are the same for all applications of this process."""
    return tuple(LazyRoute(path, module, name) for path, module, name in ROUTES)


def render_route_table() -> str:
    """Return route_table.py as the modules have it."""
    return TABLE_HEAD + "".join(f"    {line},\n" for line in _table_lines()) + ")\n"


def _table_lines() -> Iterator[str]:
    for module in MODULES:
        router: LazyRouter = importlib.import_module(f"normstat.api.routes.{module}").router
        for name, (path, _, _) in router.declared.items():
            yield f'("{router.prefix}{path}", "{module}", "{name}")'
