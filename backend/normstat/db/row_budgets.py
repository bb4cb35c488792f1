"""How many rows one account or one agent token may make: so that a leaked token or a runaway script cannot fill a table.

Every kind of row that people and agents make by the API is in one of these budgets; which route counts against which one is in
api/http/row_budgets.py, and the limits are in settings.py. Rows from streams have limits of their own (ingest_limits.py).
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from sqlalchemy import and_, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.account_models import ShareLink
from normstat.db.schema.all_models import Base
from normstat.db.schema.artefact_models import ArtefactRow
from normstat.db.schema.baseline_models import (
    Baseline,
    BaselineVersion,
    Exclusion,
    HostGroup,
    MutedSeries,
    SavedComparisonRow,
)
from normstat.db.schema.event_models import EventRow
from normstat.db.schema.experiment_models import ExperimentRow, ExperimentRunRow
from normstat.db.schema.job_models import Job
from normstat.db.schema.models import ApiToken, Host
from normstat.db.schema.report_models import ReportFileRow, ReportNoteRow, ReportRow
from normstat.db.schema.view_models import SavedView
from normstat.db.schema.watch_models import RuleLimitRow, WatchMute
from normstat.errors import TooManyRequests, shorten
from normstat.runtime.input_limits import too_many_hosts

DAY: Final = timedelta(days=1)
# Deleted or revoked rows stay for a while. In a day, this multiple of the limit may be made, these included.
CHURN: Final = 10
RETRY_AFTER_S: Final = 3600


@dataclass(frozen=True, slots=True)
class RowBudget:
    """A kind of row, and whose rows count together: those with the same name in the column `owner`.

    `setting`: the field of the settings that has the limit. `made_at`: when a row was made. `ended_at`: from the first of these
    instants on, the row no longer counts. `per_day`: the limit is for the rows of the last 24 hours, whether they ended or not,
    else for those that have not ended.
    """

    what: str
    setting: str
    rows: type[Base]
    owner: str
    made_at: str
    ended_at: tuple[str, ...] = ()
    per_day: bool = False
    verb: str = "Delete"

    @property
    def variable(self) -> str:
        """Return the environment variable of the limit."""
        return f"NORMSTAT_{self.setting.upper()}"


_DELETED: Final = ("deleted_at",)

EVENTS: Final = RowBudget("events", "max_events_per_day", EventRow, "author", "created_at", per_day=True)
ARTEFACTS: Final = RowBudget("artefacts", "max_artefacts_per_day", ArtefactRow, "author", "created_at", per_day=True)
RUNS: Final = RowBudget("runs of experiments", "max_runs_per_day", ExperimentRunRow, "author", "created_at", per_day=True)
JOBS: Final = RowBudget("imports, reparses and backtests", "max_jobs_per_day", Job, "asked_by", "queued_at", per_day=True)
BASELINE_VERSIONS: Final = RowBudget(
    "versions of baselines", "max_baseline_versions_per_day", BaselineVersion, "made_by", "made_at", per_day=True
)
EXPERIMENTS: Final = RowBudget("experiments", "max_experiments", ExperimentRow, "author", "created_at", _DELETED)
REPORTS: Final = RowBudget("reports and templates", "max_reports", ReportRow, "author", "created_at", _DELETED)
NOTES: Final = RowBudget("notes of reports", "max_report_notes", ReportNoteRow, "author", "updated_at", _DELETED)
REPORT_FILES: Final = RowBudget("files of reports", "max_report_files", ReportFileRow, "author", "created_at")
BASELINES: Final = RowBudget("baselines", "max_baselines", Baseline, "created_by", "created_at")
EXCLUSIONS: Final = RowBudget("excluded periods", "max_exclusions", Exclusion, "created_by", "created_at")
MUTES: Final = RowBudget("muted series", "max_mutes", MutedSeries, "created_by", "created_at")
WATCH_MUTES: Final = RowBudget(
    "mutes of rules", "max_watch_mutes", WatchMute, "created_by", "created_at", ("until_at",), verb="End"
)
RULE_LIMITS: Final = RowBudget("limits of rules", "max_rule_limits", RuleLimitRow, "created_by", "created_at")
COMPARISONS: Final = RowBudget("saved comparisons", "max_saved_comparisons", SavedComparisonRow, "created_by", "created_at")
VIEWS: Final = RowBudget("views", "max_views", SavedView, "created_by", "created_at")
API_TOKENS: Final = RowBudget("API tokens", "max_api_tokens", ApiToken, "created_by", "created_at", ("revoked_at",), verb="Revoke")
SHARE_LINKS: Final = RowBudget(
    "share links", "max_share_links", ShareLink, "created_by", "created_at", ("revoked_at", "expires_at"), verb="Revoke"
)
HOST_GROUPS: Final = RowBudget("host groups", "max_host_groups", HostGroup, "created_by", "created_at")


async def require_room(session: AsyncSession, budget: RowBudget, owner: str, limit: int) -> None:
    """Check that the account or agent token of this name may make another row.

    Raises: TooManyRequests
    """
    n_living, n_made = await _count(session, budget, owner)
    whose = f"{shorten(owner)} has"
    if budget.per_day and n_made >= limit:
        text = f"{whose} made {n_made} {budget.what} in 24 hours; the limit is {limit} ({budget.variable}). Make others later"
    elif budget.per_day or (n_living < limit and n_made < CHURN * limit):
        return
    elif n_living >= limit:
        text = f"{whose} {n_living} {budget.what}; the limit is {limit} ({budget.variable}). {budget.verb} some that are not needed"
    else:
        text = f"{whose} made {n_made} {budget.what} in 24 hours; the limit is {CHURN * limit}, {CHURN} times {budget.variable}"
    raise TooManyRequests(text, {"limit": limit, "setting": budget.variable, "retry_after_s": RETRY_AFTER_S})


async def require_room_for_host(session: AsyncSession, name: str, limit: int) -> None:
    """Check that the host exists, or may be made.

    Raises: TooManyRequests
    """
    if await session.scalar(select(Host.id).where(Host.name == name)) is None:
        n_hosts = await session.scalar(select(func.count()).select_from(Host))
        if n_hosts is not None and n_hosts >= limit:
            raise too_many_hosts(limit)


async def _count(session: AsyncSession, budget: RowBudget, owner: str) -> tuple[int, int]:
    """Return how many rows count now, and how many were made in 24 hours."""
    # Of the table, not of the model: rows of hosts that a limited account does not see any more count, too.
    rows = budget.rows.__table__.c
    living = and_(True, *(or_(rows[name].is_(None), rows[name] > func.now()) for name in budget.ended_at))  # noqa: FBT003
    was_made = rows[budget.made_at] > func.now() - DAY
    query = select(func.count().filter(living), func.count().filter(was_made)).select_from(budget.rows.__table__)
    # Rows without an author are of streams and of the server, and not in the indexes.
    query = query.where(rows[budget.owner] == owner, rows[budget.owner] != "")
    if budget.per_day:
        query = query.where(was_made)
    n_living, n_made = (await session.execute(query)).one()
    return n_living, n_made
