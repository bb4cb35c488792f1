"""How evenly the CPUs of a host are used."""

from typing import Annotated

from fastapi import Query

from normstat.api.http.deps import NEEDS_VIEWER, HostPath, InWindow, LargeReadSession, StatQuery
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.comparison.next_questions.question_rules import load_rules
from normstat.errors import BadRequest, NotFound, shorten
from normstat.query import busy_cpus
from normstat.query.busy_cpus import CpuBalance
from normstat.samples.lookup import StatRef, find_stat, require_host
from normstat.stats.spec import Field

router = LazyRouter(prefix="/hosts", tags=["hosts"], dependencies=[NEEDS_VIEWER])


@router.get("/{host}/cpu-balance", responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def read_cpu_balance(
    *,
    host: HostPath,
    stat: StatQuery,
    window: InWindow,
    session: LargeReadSession,
    width: Annotated[int, Query(ge=1, le=2000, description="number of steps that the page can draw")],
) -> CpuBalance:
    """Return the busy share of each CPU in steps of time, and how unevenly the work is spread over them in each step.

    Each value is the mean of a step, from rollups where the window is long.
    """
    host_id = await require_host(session, host)
    found = await find_stat(session, stat)
    idle = None if found is None else _field_of(found, "cpu.idle")
    if found is None or idle is None:
        raise NotFound(f"{shorten(stat)} has no CPU idle time; use a stat such as mpstat_linux", {"stat": stat})
    wait = _field_of(found, "cpu.wait")
    return await busy_cpus.read_balance(session, host, host_id, found, idle=idle, wait=wait, window=window, width=width)


def _field_of(stat: StatRef, meaning: str) -> Field | None:
    """Return the field with a meaning, in percent."""
    known = load_rules().meanings[meaning]
    return next((field for field in stat.fields if field.unit == "%" and known.is_of_all(stat.name, field.key)), None)
