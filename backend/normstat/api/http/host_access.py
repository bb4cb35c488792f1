"""What an account that is limited to host groups may ask for: decided for each route, before it runs.

A route that is not in ALLOWED is refused to limited accounts, so that a new one shows nothing by oversight. The sessions of an
allowed route are limited (db/host_limits.py), and every host that its request names must be visible.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from fastapi import Request
from fastapi.routing import APIRoute
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.auth.access import Principal
from normstat.db.host_limits import Whole, find_hidden_names, has_hidden_host, is_group_hidden, limit_hosts
from normstat.db.session import open_read_session
from normstat.errors import NotAllowed, shorten

Sessions = async_sessionmaker[AsyncSession]

# The functions of the routes. Not among them: what is about all hosts, or about the server (storage, retention, alert routes and
# channels, webhooks, rules as such), and host groups, which decide who sees what.
ALLOWED: Final = frozenset({
    # the account itself
    "get_me", "log_out", "change_password", "get_second_factor", "begin_second_factor", "confirm_second_factor",
    "renew_recovery_codes", "remove_second_factor", "list_sessions", "end_session", "end_other_sessions",
    "list_api_tokens", "create_api_token", "revoke_api_token",
    # hosts and their samples
    "list_hosts", "get_host", "read_facts", "read_events", "list_rejected_lines", "read_accounts", "read_context",
    "list_instances", "list_stats", "update_host_tags", "list_host_zones", "list_host_groups", "read_fleet", "read_fleet_use",
    "read_use_matrix", "read_series", "read_series_of_hosts", "list_host_metrics", "read_statistics", "list_references",
    "read_coverage", "read_cpu_balance", "read_scores", "list_processes", "read_process", "read_process_report",
    "export_csv", "export_parquet", "federate", "search", "follow", "export_bundle",
    # normal and not
    "list_baselines", "create_baseline", "get_baseline", "update_baseline", "delete_baseline", "list_baseline_versions",
    "get_baseline_health", "copy_baseline", "archive_baseline", "stop_baseline_recording", "read_band",
    "list_exclusions", "create_exclusion", "delete_exclusion", "list_mutes", "create_mute", "delete_mute",
    "compare", "compare_with_progress", "list_compared_series", "report_comparison", "report_numbers", "report_pages",
    "list_comparisons", "save_comparison", "get_comparison", "update_comparison", "delete_comparison",
    "list_share_links", "create_share_link", "revoke_share_link",
    # what rules found
    "read_watch", "read_open", "read_timeline", "list_watch_mutes", "create_watch_mute", "end_watch_mute",
    "list_episodes", "get_episode", "acknowledge_episode", "take_back_acknowledgement", "mark_incident",
    "list_rules", "get_rule", "check_rule", "set_rule_limit", "remove_rule_limit",
    "create_backtest", "list_backtests", "get_backtest",
    "list_alerts", "get_alert", "acknowledge_alert", "take_back_alert_acknowledgement", "retry_alert_message",
    # notes, files, reports
    "list_events", "export_events", "create_event", "update_event", "delete_event", "restore_event",
    "list_artefacts", "create_artefact", "get_artefact", "update_artefact", "delete_artefact", "restore_artefact", "reparse_text",
    "download_artefact", "read_artefact_text", "read_artefact_table", "export_artefact_table", "read_artefact_histogram",
    "read_artefact_intervals", "read_artefact_diff", "export_artefact_diff", "read_artefact_answers", "read_artefact_flame",
    "list_artefact_functions", "diff_artefact_flames", "diff_artefact_functions",
    "list_log_events", "read_log_latencies", "read_log_lanes", "read_log_blocking", "export_log_lines", "export_log_events",
    "draw_log_lanes", "print_log_lanes", "draw_log_latencies", "print_log_latencies",
    "list_experiments", "get_experiment", "analyse_experiment", "export_runs", "create_experiment", "update_experiment",
    "delete_experiment", "restore_experiment", "create_run", "create_artefact_runs", "update_run", "delete_run", "restore_run",
    "list_reports", "list_report_templates", "create_report", "get_report", "update_report", "delete_report", "restore_report",
    "save_as_template", "add_note", "update_note", "delete_note", "restore_note", "order_notes", "preview_markdown",
    "export_report_html", "export_report_pdf", "upload_report_file", "download_report_file",
    "list_views", "create_view", "get_view", "update_view", "delete_view", "star_view",
    # data that comes in, and work in the background
    "create_import", "list_imports", "get_import", "delete_import", "retry_import", "undo_import",
    "create_reparse", "list_reparses", "get_reparse", "stop_reparse", "list_jobs", "get_job", "stop_job", "retry_job",
    "list_specs", "get_spec", "draft_spec", "preview_spec", "get_document",
})  # fmt: skip
# Without a host they would be about all of them.
NEEDS_HOST: Final = frozenset({
    "create_exclusion", "create_mute", "create_watch_mute", "create_event", "update_event", "set_rule_limit", "create_backtest",
    "create_report", "update_report", "create_reparse", "create_import", "create_artefact", "create_run",
})  # fmt: skip
# A group stands for all of its hosts, also for those that the account does not see.
NEEDS_WHOLE_GROUP: Final = frozenset({
    "create_baseline", "update_baseline", "set_rule_limit", "compare", "compare_with_progress", "list_compared_series",
    "report_comparison", "report_numbers", "report_pages", "save_comparison", "add_note", "update_note",
})  # fmt: skip
NEEDS_WHOLE: Final[Mapping[str, Whole]] = {
    "update_baseline": Whole.BASELINE,
    "delete_baseline": Whole.BASELINE,
    "copy_baseline": Whole.BASELINE,
    "archive_baseline": Whole.BASELINE,
    "stop_baseline_recording": Whole.BASELINE,
    "update_event": Whole.EVENT,
    "delete_event": Whole.EVENT,
    "restore_event": Whole.EVENT,
    "delete_exclusion": Whole.EXCLUSION,
    "delete_mute": Whole.MUTE,
    "end_watch_mute": Whole.WATCH_MUTE,
    "remove_rule_limit": Whole.RULE_LIMIT,
    "update_experiment": Whole.EXPERIMENT,
    "delete_experiment": Whole.EXPERIMENT,
    "restore_experiment": Whole.EXPERIMENT,
}
HOST_KEYS: Final = frozenset({"host", "hosts", "other_host"})
LIMITED: Final = "This account is limited to host groups"


async def limit_request(request: Request, sessions: Sessions, principal: Principal) -> None:
    """Limit the request to the hosts of the account's host groups, if the account is limited.

    Raises: NotAllowed
    """
    limit_hosts(principal.user_id if principal.is_limited else None)
    if not principal.is_limited:
        return
    route = request.scope["route"]
    assert isinstance(route, APIRoute)
    name = route.name
    if name not in ALLOWED:
        raise NotAllowed(f"{LIMITED}, and this is about all hosts or about the server; ask an administrator")
    body = await _read_json(request, route)
    hosts = [*_values(request, HOST_KEYS), *_find(body, HOST_KEYS)]
    if name in NEEDS_HOST and not hosts:
        raise NotAllowed(f"{LIMITED}: name the hosts, of those that it sees")
    async with open_read_session(sessions) as session:
        for hidden in await find_hidden_names(session, hosts):
            # The same for a host that does not exist.
            raise NotAllowed(f"{LIMITED}, and sees no host {shorten(hidden)}", {"host": hidden})
        if name in NEEDS_WHOLE_GROUP:
            await _require_whole_groups(session, [*_values(request, {"group"}), *_find(body, {"group"})])
        whole, id_ = NEEDS_WHOLE.get(name), request.path_params.get("id", "")
        if whole is not None and id_.isdecimal() and await has_hidden_host(session, whole, int(id_)):
            raise NotAllowed(
                f"{LIMITED}, and this {whole} is also for hosts that it does not see; only who sees them all can change it"
            )


async def _read_json(request: Request, route: APIRoute) -> object:
    """Return the body of a route that takes JSON, whatever it says it is. Missing: None for no JSON, which is refused later"""
    if route.body_field is None:
        return None
    try:
        return await request.json()
    except ValueError:
        return None


async def _require_whole_groups(session: AsyncSession, groups: list[str]) -> None:
    for group in groups:
        if await is_group_hidden(session, group):
            raise NotAllowed(f"{LIMITED}, and does not see all hosts of {shorten(group)}", {"group": group})


def _values(request: Request, keys: frozenset[str] | set[str]) -> Iterator[str]:
    """Yield what the path and the query say under these names."""
    for key in keys:
        if key in request.path_params:
            yield request.path_params[key]
        yield from request.query_params.getlist(key)


def _find(value: object, keys: frozenset[str] | set[str]) -> Iterator[str]:
    """Yield the texts that stand under these names anywhere in a JSON document, alone or in a list.

    >>> list(_find({"inputs": {"host": ["web1"], "limit": 3}, "host": "db1"}, {"host"}))
    ['web1', 'db1']
    """
    if isinstance(value, dict):
        for key, member in value.items():
            if key in keys:
                yield from (text for text in (member if isinstance(member, list) else [member]) if isinstance(text, str))
            yield from _find(member, keys)
    elif isinstance(value, list):
        for member in value:
            yield from _find(member, keys)
