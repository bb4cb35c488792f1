"""The workers of a server process that look for work in the database. Each is imported when there is work for it the first time."""

# ruff: noqa: PLC0415

from collections.abc import Coroutine, Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from normstat.alerts.alert_outbox import select_unsent
from normstat.api.http.state import AppState
from normstat.db.session import open_read_session
from normstat.incidents.unremembered_rows import select_pending_incidents
from normstat.ingest.import_rows import select_open_imports
from normstat.jobs.claims import BACKTESTS, REMOVALS, REPARSES, select_due
from normstat.jobs.due_work import (
    BACKTESTS_S,
    IMPORTS_S,
    INCIDENTS_S,
    MESSAGES_S,
    REMOVALS_S,
    REPARSES_S,
    SELDOM_S,
    DueWork,
    start_when_due,
)
from normstat.records.change_verdict_rows import select_due_events, select_pending
from normstat.records.webhook_rows import select_unsent_deliveries

if TYPE_CHECKING:
    from normstat.comparison.service import ComparisonRequest, WholeComparison

# In the queue of comparisons, where each account has its turns.
UNASKED: Final = "the server"


def make_workers(state: AppState, due: DueWork) -> Iterator[tuple[str, Coroutine[None, None, None]]]:
    """Yield the workers by name, which `due` wakes when they have work."""
    settings, sessions = state.settings, state.sessions
    database_url = settings.database_url
    reparses = due.watch(select_due(REPARSES), every_s=REPARSES_S)
    removals = due.watch(select_due(REMOVALS), every_s=REMOVALS_S)
    backtests = due.watch(select_due(BACKTESTS), every_s=BACKTESTS_S)
    messages = due.watch(select_unsent(), every_s=MESSAGES_S)
    deliveries = due.watch(select_unsent_deliveries(), every_s=MESSAGES_S)
    incidents = due.watch(select_pending_incidents(), every_s=INCIDENTS_S)
    if settings.change_verdict_after is not None:
        due.watch(select_due_events(settings.change_verdict_after), every_s=INCIDENTS_S, wake=incidents)
        due.watch(select_pending(), every_s=INCIDENTS_S, wake=incidents)
    due.watch(select_open_imports(), every_s=IMPORTS_S, wake=state.imports.has_news)

    async def run_reparses() -> None:
        from normstat.ingest.reparse import reparse_worker

        await reparse_worker.run_reparses(database_url, sessions, settings.ingest_limits, wake=reparses, poll_s=SELDOM_S)

    async def run_removals() -> None:
        from normstat.retention import deletion_worker

        await deletion_worker.run_removals(database_url, sessions, wake=removals, poll_s=SELDOM_S)

    async def run_backtests() -> None:
        from normstat.watch import backtest_job

        await backtest_job.run_backtests(database_url, sessions, wake=backtests, poll_s=SELDOM_S)

    async def run_delivery() -> None:
        from normstat.alerts import alert_delivery

        await alert_delivery.run_delivery(settings, sessions, wake=messages, poll_s=SELDOM_S)

    async def run_webhooks() -> None:
        from normstat.alerts import webhook_delivery

        await webhook_delivery.run_webhooks(settings, sessions, wake=deliveries, poll_s=SELDOM_S)

    async def run_incidents() -> None:
        from normstat.incidents import incident_worker

        judging = incident_worker.IncidentSettings(settings.change_verdict_after)
        compare = partial(compare_unasked, state)
        await incident_worker.run_incident_work(database_url, sessions, compare, judging, wake=incidents, poll_s=SELDOM_S)

    # It also removes what an earlier process left, and so begins at once.
    yield "imports", state.imports.run(check_s=SELDOM_S)
    yield "reparses", start_when_due(reparses, run_reparses)
    yield "removals", start_when_due(removals, run_removals)
    yield "backtests", start_when_due(backtests, run_backtests)
    yield "alert_delivery", start_when_due(messages, run_delivery)
    yield "webhooks", start_when_due(deliveries, run_webhooks)
    # It also looks for what only it knows: facts of hosts that have changed, and incidents that are over.
    yield "incidents", start_when_due(incidents, run_incidents, within_s=SELDOM_S)


async def compare_unasked(state: AppState, request: "ComparisonRequest") -> "WholeComparison":
    """Return a comparison that no one waits for: in its turn among those of accounts, in the memory that comparisons share."""
    from normstat.comparison.service import run_whole_comparison
    from normstat.runtime.work_budget import working

    async with state.comparison_slots.hold(UNASKED):
        with working(state.comparison_memory):
            async with open_read_session(state.sessions) as session:
                return await run_whole_comparison(session, request, max_rows=state.settings.compare_max_rows)
