"""Which routes make rows, and the budget that each counts against before it runs (db/row_budgets.py)."""

from collections.abc import Mapping
from typing import Final

from fastapi import Request
from fastapi.routing import APIRoute
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.api.http.state import AppState
from normstat.auth.access import Principal
from normstat.db import row_budgets as budgets
from normstat.db.row_budgets import RowBudget, require_room
from normstat.db.session import open_read_session

# The functions of the routes of people. Those of agents, and runs, which may make an experiment, ask for themselves.
BUDGETS: Final[Mapping[str, RowBudget]] = {
    "create_event": budgets.EVENTS,
    "create_artefact": budgets.ARTEFACTS,
    "create_run": budgets.RUNS,
    "create_artefact_runs": budgets.RUNS,
    "create_import": budgets.JOBS,
    "create_bundle_import": budgets.JOBS,
    "retry_import": budgets.JOBS,
    "create_reparse": budgets.JOBS,
    "create_backtest": budgets.JOBS,
    "update_baseline": budgets.BASELINE_VERSIONS,
    "update_host_group": budgets.BASELINE_VERSIONS,
    "create_experiment": budgets.EXPERIMENTS,
    "create_report": budgets.REPORTS,
    "save_as_template": budgets.REPORTS,
    "add_note": budgets.NOTES,
    "upload_report_file": budgets.REPORT_FILES,
    "create_baseline": budgets.BASELINES,
    "copy_baseline": budgets.BASELINES,
    "create_exclusion": budgets.EXCLUSIONS,
    "mark_incident": budgets.EXCLUSIONS,
    "create_mute": budgets.MUTES,
    "create_watch_mute": budgets.WATCH_MUTES,
    "set_rule_limit": budgets.RULE_LIMITS,
    "save_comparison": budgets.COMPARISONS,
    "create_view": budgets.VIEWS,
    "create_api_token": budgets.API_TOKENS,
    "create_share_link": budgets.SHARE_LINKS,
    "create_host_group": budgets.HOST_GROUPS,
}


async def check_budget(request: Request, state: AppState, principal: Principal) -> None:
    """Check that the account may make another row of the kind that the route makes, if it makes any.

    Raises: TooManyRequests
    """
    route = request.scope["route"]
    assert isinstance(route, APIRoute)
    budget = BUDGETS.get(route.name)
    if budget is not None:
        async with open_read_session(state.sessions) as session:
            await check_room(session, state, budget, principal.name)


async def check_room(session: AsyncSession, state: AppState, budget: RowBudget, owner: str) -> None:
    """Check that the account or agent token of this name may make another row.

    Raises: TooManyRequests
    """
    await require_room(session, budget, owner, getattr(state.settings, budget.setting))
