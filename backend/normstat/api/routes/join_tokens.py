"""Join tokens, which hosts exchange for an agent token of their own."""

from typing import Final

from normstat.api.http.body import Empty
from normstat.api.http.deps import NEEDS_ADMINISTRATOR, Administrator, IdPath, ReadSession, State, WriteSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.routes.schemas import JoinTokenList, NewJoinToken
from normstat.auth import enrolment, join_token_rows
from normstat.auth.enrolment import JoinTokenCreate
from normstat.auth.join_token_rows import JoinTokenInfo
from normstat.db.row_records import to_record
from normstat.errors import BadRequest, Conflict, NotFound

router = LazyRouter(prefix="/join-tokens", tags=["tokens"])

MAX_LISTED: Final = 200
MAX_HOSTS_LISTED: Final = 2000


@router.get("", dependencies=[NEEDS_ADMINISTRATOR], responses=guarded_answers())
async def list_join_tokens(session: ReadSession) -> JoinTokenList:
    """List join tokens, the newest first, with the latest hosts that enrolled with them."""
    return JoinTokenList(tokens=await join_token_rows.show_join_tokens(session, limit=MAX_LISTED, max_hosts=MAX_HOSTS_LISTED))


@router.post("", status_code=201, responses=guarded_answers(BadRequest, Conflict))
async def create_join_token(body: JoinTokenCreate, principal: Administrator, state: State, session: WriteSession) -> NewJoinToken:
    """Create a token that a limited number of hosts can enrol with, until it expires."""
    token, row = await enrolment.create_join_token(session, body, created_by=principal.name)
    return NewJoinToken(
        token=token, info=to_record(JoinTokenInfo, row, hosts=[]), command=enrolment.join_command(state.settings.public_url, token)
    )


@router.delete("/{id}", responses=guarded_answers(NotFound))
async def revoke_join_token(id: IdPath, principal: Administrator, session: WriteSession) -> Empty:  # noqa: A002
    """Revoke a join token; hosts that enrolled with it keep their own tokens."""
    await enrolment.revoke_join_token(session, id, by=principal.name)
    return Empty()
