"""How long samples and raw bytes are kept, and what was removed."""

from typing import Annotated

from pydantic import Field

from normstat.api.http.deps import NEEDS_VIEWER, Administrator, ReadSession, WriteSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.lazy_routing import LazyRouter
from normstat.errors import BadRequest
from normstat.retention import retention_rules
from normstat.retention.retention_rules import Retention, RetentionRulePut, RetentionRun
from normstat.runtime.body import Body

router = LazyRouter(prefix="/retention", tags=["retention"])


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
    await retention_rules.put_rules(session, body.rules, updated_by=principal.name)
    return await retention_rules.read_retention(session)


@router.post("/runs", status_code=202, responses=guarded_answers())
async def create_retention_run(principal: Administrator, session: WriteSession) -> RetentionRun:
    """Apply the rules now, in the background."""
    return await retention_rules.add_run(session, created_by=principal.name)
