"""How long samples and raw bytes are kept, and what was removed."""

from typing import Annotated

from pydantic import Field, StringConstraints

from normstat.api.http.deps import NEEDS_VIEWER, Administrator, ReadSession, WriteSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.lazy_routing import LazyRouter
from normstat.errors import BadRequest
from normstat.retention import retention_rules
from normstat.retention.retention_rules import MAX_DAYS, Retention, RetentionRuleRequest, RetentionRun
from normstat.runtime.body import NO_NUL, Body

router = LazyRouter(prefix="/retention", tags=["retention"])
StatName = Annotated[str, StringConstraints(min_length=1, max_length=63, pattern=NO_NUL)]
Days = Annotated[int, Field(ge=1, le=MAX_DAYS)]


class RetentionRulePut(Body):
    """For how many days the samples and the raw bytes of a stat are kept (null: for ever); stat null: all that have no rule;
    `@scores`, `@states`, `@episodes`, `@backtests`: the results of watching, for at least 8 days.
    """

    stat: StatName | None
    samples_days: Days | None
    chunks_days: Days | None


class RetentionPut(Body):
    """All rules; without any, everything is kept for ever."""

    rules: Annotated[list[RetentionRulePut], Field(max_length=1000)]


@router.get("", dependencies=[NEEDS_VIEWER], responses=guarded_answers())
async def get_retention(session: ReadSession) -> Retention:
    """Show the rules, and what their last runs removed."""
    return await retention_rules.read_retention(session)


@router.put("", responses=guarded_answers(BadRequest))
async def put_retention(body: RetentionPut, principal: Administrator, session: WriteSession) -> Retention:
    """Replace all rules; expired data is removed the next night, or by a run."""
    requests = [RetentionRuleRequest(rule.stat, rule.samples_days, rule.chunks_days) for rule in body.rules]
    await retention_rules.put_rules(session, requests, updated_by=principal.name)
    return await retention_rules.read_retention(session)


@router.post("/runs", status_code=202, responses=guarded_answers())
async def create_retention_run(principal: Administrator, session: WriteSession) -> RetentionRun:
    """Apply the rules now, in the background."""
    return await retention_rules.add_run(session, created_by=principal.name)
