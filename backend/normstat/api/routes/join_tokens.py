"""Join tokens, which hosts exchange for an agent token of their own."""

from collections import defaultdict
from datetime import timedelta
from typing import Final

from normstat.api.http.body import Empty
from normstat.api.http.deps import NEEDS_ADMINISTRATOR, Administrator, IdPath, ReadSession, State, WriteSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.routes.schemas import EnrolledHostInfo, JoinTokenCreate, JoinTokenInfo, JoinTokenList, NewJoinToken
from normstat.auth import enrolment, join_token_rows
from normstat.auth.enrolment import JoinTokenRequest
from normstat.auth.join_token_rows import EnrolledHost
from normstat.db.schema.account_models import JoinToken
from normstat.errors import BadRequest, Conflict, NotFound

router = LazyRouter(prefix="/join-tokens", tags=["tokens"])

MAX_LISTED: Final = 200
MAX_HOSTS_LISTED: Final = 2000


@router.get("", dependencies=[NEEDS_ADMINISTRATOR], responses=guarded_answers())
async def list_join_tokens(session: ReadSession) -> JoinTokenList:
    """List join tokens, the newest first, with the latest hosts that enrolled with them."""
    tokens = await join_token_rows.list_join_tokens(session, limit=MAX_LISTED)
    hosts: dict[int, list[EnrolledHost]] = defaultdict(list)
    for each in await join_token_rows.list_enrolled(session, [token.id for token in tokens], limit=MAX_HOSTS_LISTED):
        hosts[each.join_token_id].append(each)
    return JoinTokenList(tokens=[_to_info(token, hosts[token.id]) for token in tokens])


@router.post("", status_code=201, responses=guarded_answers(BadRequest, Conflict))
async def create_join_token(body: JoinTokenCreate, principal: Administrator, state: State, session: WriteSession) -> NewJoinToken:
    """Create a token that a limited number of hosts can enrol with, until it expires."""
    wanted = JoinTokenRequest(
        name=body.name,
        lifetime=timedelta(seconds=body.lifetime_s),
        max_uses=body.max_uses,
        host_pattern=body.host_pattern,
        tags=body.tags,
        allows_takeover=body.allows_takeover,
    )
    token, row = await enrolment.create_join_token(session, wanted, created_by=principal.name)
    return NewJoinToken(token=token, info=_to_info(row, []), command=enrolment.join_command(state.settings.public_url, token))


@router.delete("/{id}", responses=guarded_answers(NotFound))
async def revoke_join_token(id: IdPath, principal: Administrator, session: WriteSession) -> Empty:  # noqa: A002
    """Revoke a join token; hosts that enrolled with it keep their own tokens."""
    await enrolment.revoke_join_token(session, id, by=principal.name)
    return Empty()


def _to_info(row: JoinToken, hosts: list[EnrolledHost]) -> JoinTokenInfo:
    return JoinTokenInfo(
        id=row.id,
        name=row.name,
        host_pattern=row.host_pattern,
        tags=row.tags,
        allows_takeover=row.allows_takeover,
        max_uses=row.max_uses,
        n_uses=row.n_uses,
        created_by=row.created_by,
        created_at=row.created_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        hosts=[
            EnrolledHostInfo(host=each.host, agent_token_id=each.token_id, at=each.at, is_active=each.is_active) for each in hosts
        ],
    )
