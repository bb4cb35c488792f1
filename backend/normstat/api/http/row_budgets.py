"""The budget of rows that a route counts against before it runs (db/row_budgets.py)."""

from collections.abc import Callable
from typing import Final

from fastapi import Request
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.api.http.route_marks import Endpoint, mark_of, marking
from normstat.api.http.state import AppState
from normstat.auth.access import Principal
from normstat.db.row_budgets import RowBudget, require_room
from normstat.db.session import open_read_session

MARK: Final = "row_budget"


def makes_rows(budget: RowBudget) -> Callable[[Endpoint], Endpoint]:
    """Count the rows that the route below makes against a budget. It stands between the decorator of the route and the function.

    Routes of agents check the budget themselves, and so do runs, which may create an experiment.
    """
    return marking(MARK, budget)


async def check_budget(request: Request, state: AppState, principal: Principal) -> None:
    """Check that the account may make another row of the kind that the route makes, if it makes any.

    Raises: TooManyRequests
    """
    budget: RowBudget | None = mark_of(request.scope, MARK)
    if budget is not None:
        async with open_read_session(state.sessions) as session:
            await check_room(session, state, budget, principal.name)


async def check_room(session: AsyncSession, state: AppState, budget: RowBudget, owner: str) -> None:
    """Check that the account or agent token of this name may make another row.

    Raises: TooManyRequests
    """
    await require_room(session, budget, owner, getattr(state.settings, budget.setting))
