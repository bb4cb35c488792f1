"""Tokens that agents ask for: the first one with a join token, and new ones in place of old ones (docs/wire-format.md)."""

from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from normstat.api.http.deps import Agent, State, noting_refused_tokens, require_certificate, require_writable
from normstat.api.http.handlers import guarded_answers, request_id_of
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.middleware import client_address
from normstat.api.routes.schemas import AgentSecret
from normstat.auth.access import TokenRefused
from normstat.auth.enrolment import enrol_host as enrol
from normstat.auth.rotation import issue_successor
from normstat.db.session import open_write_session
from normstat.errors import BadRequest, Conflict, NormstatError, NotAuthenticated, Overloaded, TooManyRequests

router = LazyRouter(prefix="/ingest", tags=["ingest"])
join_token_scheme = HTTPBearer(scheme_name="join_token", description="a token created under /join-tokens", auto_error=False)


@router.post("/enrol", status_code=201, responses=guarded_answers(BadRequest, Conflict, Overloaded, TooManyRequests))
async def enrol_host(
    request: Request, state: State, bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(join_token_scheme)]
) -> AgentSecret:
    """Exchange a join token for an agent token of the host that the header `Normstat-Host` names; the body is ignored."""
    if bearer is None:
        raise NotAuthenticated("Expected the header `Authorization: Bearer <join token>`; create a token under /join-tokens")
    require_certificate(request, state)
    require_writable(state)
    host, address = request.headers.get("normstat-host", ""), client_address(request)
    try:
        with noting_refused_tokens(request, state):
            async with state.lobby.wait(), open_write_session(state.ingest_sessions) as session:
                made = await enrol(
                    session,
                    bearer.credentials,
                    host,
                    address=address,
                    request_id=request_id_of(request),
                    max_hosts=state.settings.ingest_max_hosts,
                )
    except TokenRefused as refused:
        if refused.token_id is None:
            await state.throttle.count_wrong_join_token(address)
        raise
    except NormstatError as error:
        if error.code in {"conflict", "not_allowed"}:
            state.security_log.note("enrolment_refused", address, host=host[:200], reason=error.code)
        raise
    return AgentSecret(token=made.token, host=made.host)


@router.post("/token", status_code=201, responses=guarded_answers(Conflict, Overloaded))
async def replace_agent_token(request: Request, agent: Agent, state: State) -> AgentSecret:
    """Give the agent a token in place of its own, which stays valid until the new one is used; the body is ignored."""
    host = request.headers.get("normstat-host", "")
    with noting_refused_tokens(request, state):
        async with state.lobby.wait(), open_write_session(state.ingest_sessions) as session:
            made = await issue_successor(session, agent, host, max_age=state.settings.agent_token_max_age)
    return AgentSecret(token=made.token, host=made.host)
