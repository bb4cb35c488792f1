"""How long samples and raw bytes are kept, and what was removed."""

from fastapi import APIRouter

from normstat.api.deps import NEEDS_VIEWER, Administrator, ReadSession, WriteSession
from normstat.api.handlers import guarded_answers
from normstat.api.life_schemas import Retention, RetentionPut, RetentionRule, RetentionRun
from normstat.errors import BadRequest
from normstat.retention import retention_rules
from normstat.retention.retention_rules import RuleRecord, RuleRequest, RunRecord

router = APIRouter(prefix="/retention", tags=["retention"])


@router.get("", dependencies=[NEEDS_VIEWER], responses=guarded_answers())
async def get_retention(session: ReadSession) -> Retention:
    """Show the rules, and what their last runs removed."""
    return _to_body(await retention_rules.read_rules(session), await retention_rules.list_runs(session))


@router.put("", responses=guarded_answers(BadRequest))
async def put_retention(body: RetentionPut, principal: Administrator, session: WriteSession) -> Retention:
    """Replace all rules; what they let go is removed the next night, or by a run."""
    wishes = [RuleRequest(rule.stat, rule.samples_days, rule.chunks_days) for rule in body.rules]
    rules = await retention_rules.put_rules(session, wishes, updated_by=principal.name)
    return _to_body(rules, await retention_rules.list_runs(session))


@router.post("/runs", status_code=202, responses=guarded_answers())
async def create_retention_run(principal: Administrator, session: WriteSession) -> RetentionRun:
    """Have the rules applied now, in the background."""
    return RetentionRun.model_validate(await retention_rules.add_run(session, created_by=principal.name))


def _to_body(rules: list[RuleRecord], runs: list[RunRecord]) -> Retention:
    return Retention(
        rules=[RetentionRule.model_validate(rule) for rule in rules], runs=[RetentionRun.model_validate(run) for run in runs]
    )
