"""The checks of `normstat doctor`, for the page."""

import asyncio
import os
from dataclasses import asdict
from datetime import UTC, datetime

from normstat import __version__
from normstat.api.http.deps import Administrator, State
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.lazy_routing import LazyRouter
from normstat.doctor.check_result import CheckResult, CheckStatus, count_by_status
from normstat.doctor.examination import Installation, examine, find_data_dir
from normstat.errors import Overloaded
from normstat.runtime.body import Body
from normstat.settings import Settings

router = LazyRouter(tags=["doctor"])


class InstallationCheck(Body):
    """What a check found. `expected` and `advice` are "" where it is ok; if it was not checked, `found` says why."""

    check: str
    status: CheckStatus
    found: str
    expected: str
    advice: str


class InstallationReport(Body):
    """All checks of the installation, as seen by the server process that answers; the database's first."""

    version: str
    checked_at: datetime
    n_ok: int
    n_warning: int
    n_error: int
    n_not_checked: int
    checks: list[InstallationCheck]


@router.get("/doctor", responses=guarded_answers(Overloaded))
async def examine_installation(state: State, principal: Administrator) -> InstallationReport:
    """Check the installation now: database, jobs, agents, settings, files. Takes up to some seconds."""
    settings = state.settings
    async with state.doctor_slots.hold(principal.name):
        # In a thread with a loop of its own: it asks this server for its health, and reads files.
        results = await asyncio.to_thread(_examine, settings)
    counts = count_by_status(results)
    return InstallationReport(
        version=__version__,
        checked_at=datetime.now(UTC),
        n_ok=counts[CheckStatus.OK],
        n_warning=counts[CheckStatus.WARNING],
        n_error=counts[CheckStatus.ERROR],
        n_not_checked=counts[CheckStatus.NOT_CHECKED],
        checks=[InstallationCheck(**asdict(result)) for result in results],
    )


def _examine(settings: Settings) -> list[CheckResult]:
    place = Installation(settings, "the database of this server", "", find_data_dir(settings.import_dir), os.geteuid())
    return asyncio.run(examine(place))
