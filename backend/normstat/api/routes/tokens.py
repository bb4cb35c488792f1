"""API tokens (they act for the account that created them) and agent tokens."""

import shlex
from datetime import timedelta

from normstat.api.http.body import Empty
from normstat.api.http.deps import NEEDS_ADMINISTRATOR, Administrator, IdPath, ReadSession, State, Viewer, WriteSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.row_budgets import makes_rows
from normstat.api.routes.schemas import AgentTokenCreate, AgentTokenRotation, ApiTokenCreate, NewToken, TokenInfo, TokenList
from normstat.auth import accounts
from normstat.auth.account_rows import list_agent_tokens as list_agent_token_rows
from normstat.auth.roles import Role
from normstat.auth.rotation import ask_rotation
from normstat.db import row_budgets
from normstat.db.schema.models import AgentToken, ApiToken
from normstat.errors import BadRequest, Conflict, NotFound, TooManyRequests

router = LazyRouter(tags=["tokens"])


@router.get("/api-tokens", responses=guarded_answers())
@open_to_limited()
async def list_api_tokens(principal: Viewer, session: ReadSession) -> TokenList:
    """List one's own API tokens; administrators see all."""
    return TokenList(tokens=[_to_info(row, None) for row in await accounts.list_api_tokens(session, principal)])


@router.post("/api-tokens", status_code=201, responses=guarded_answers(TooManyRequests))
@open_to_limited()
@makes_rows(row_budgets.API_TOKENS)
async def create_api_token(body: ApiTokenCreate, principal: Viewer, session: WriteSession) -> NewToken:
    """Create a token that acts for one's account, with this role or the account's role, whichever is lower."""
    token, row = await accounts.create_api_token(session, principal, name=body.name, role=body.role)
    return NewToken(token=token, info=_to_info(row, None), command=None)


@router.delete("/api-tokens/{id}", responses=guarded_answers(NotFound))
@open_to_limited()
async def revoke_api_token(id: IdPath, principal: Viewer, session: WriteSession) -> Empty:  # noqa: A002
    """Revoke one of one's own API tokens; administrators may revoke any."""
    await accounts.revoke_api_token(session, principal, id)
    return Empty()


@router.get("/agent-tokens", dependencies=[NEEDS_ADMINISTRATOR], responses=guarded_answers())
async def list_agent_tokens(session: ReadSession) -> TokenList:
    """List all agent tokens."""
    return TokenList(tokens=[_to_info(row, host) for row, host in await list_agent_token_rows(session)])


@router.post("/agent-tokens", status_code=201, responses=guarded_answers(BadRequest))
async def create_agent_token(body: AgentTokenCreate, principal: Administrator, state: State, session: WriteSession) -> NewToken:
    """Create an agent token for one host (created if new), or for any host."""
    token, row = await accounts.create_agent_token(session, name=body.name, host=body.host, created_by=principal.name)
    return NewToken(
        token=token, info=_to_info(row, body.host), command=install_command(state.settings.public_url, token, body.host)
    )


@router.delete("/agent-tokens/{id}", responses=guarded_answers(NotFound))
async def revoke_agent_token(id: IdPath, principal: Administrator, session: WriteSession, state: State) -> Empty:  # noqa: A002
    """Revoke an agent token; its agent keeps its data and gets 401 from now on."""
    await accounts.revoke_agent_token(session, principal, id)
    state.agents.forget(id)
    return Empty()


@router.post("/agent-tokens/{id}/rotation", responses=guarded_answers(BadRequest, Conflict, NotFound))
async def rotate_agent_token(
    id: IdPath,  # noqa: A002
    body: AgentTokenRotation,
    principal: Administrator,
    session: WriteSession,
    state: State,
) -> Empty:
    """Let the agent take a new token; the old one stays valid until the new one is used, or for `within_days`."""
    within = None if body.within_days is None else timedelta(days=body.within_days)
    await ask_rotation(session, id, by=principal.name, within=within)
    state.agents.forget(id)
    return Empty()


def install_command(public_url: str, token: str, host: str | None) -> str:
    """Return the command that installs and starts the agent on a host; the token is passed in the environment, which `ps` does not
    show.
    """
    url = shlex.quote(public_url.rstrip("/"))
    name = "" if host is None else f" --host {shlex.quote(host)}"
    return f"curl -fsS {url}/api/v1/agent/install.sh | NORMSTAT_TOKEN={token} sh -s -- --server {url}{name}"


def _to_info(row: ApiToken | AgentToken, host: str | None) -> TokenInfo:
    return TokenInfo(
        id=row.id,
        name=row.name,
        host=host,
        role=Role(row.role) if isinstance(row, ApiToken) else None,
        created_at=row.created_at,
        last_used_at=row.last_used_at,
        revoked_at=row.revoked_at,
        is_rotating=isinstance(row, AgentToken) and row.rotation_asked_at is not None,
        replaces_id=row.replaces_id if isinstance(row, AgentToken) else None,
        expires_at=row.expires_at if isinstance(row, AgentToken) else None,
    )
