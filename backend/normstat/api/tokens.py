"""Tokens: of scripts (they act for the account that made them) and of agents."""

from fastapi import APIRouter

from normstat.api.deps import Administrator, IdPath, ReadSession, State, Viewer, WriteSession
from normstat.api.handlers import guarded_answers
from normstat.api.schemas import AgentTokenCreate, ApiTokenCreate, Empty, NewToken, TokenList
from normstat.errors import NormstatError, NotFound

router = APIRouter(tags=["tokens"])


@router.get("/api-tokens", responses=guarded_answers())
async def list_api_tokens(principal: Viewer, session: ReadSession) -> TokenList:
    """Lists one's own API tokens; administrators see all."""
    raise NormstatError("not built yet")


@router.post("/api-tokens", status_code=201, responses=guarded_answers())
async def create_api_token(body: ApiTokenCreate, principal: Viewer, session: WriteSession) -> NewToken:
    """Makes a token that acts for one's account with this role, or with the account's where that is lower."""
    raise NormstatError("not built yet")


@router.delete("/api-tokens/{id}", responses=guarded_answers(NotFound))
async def revoke_api_token(id: IdPath, principal: Viewer, session: WriteSession) -> Empty:  # noqa: A002
    """Revokes one of one's own API tokens; administrators may revoke any."""
    raise NormstatError("not built yet")


@router.get("/agent-tokens", responses=guarded_answers())
async def list_agent_tokens(principal: Administrator, session: ReadSession) -> TokenList:
    """Lists all agent tokens."""
    raise NormstatError("not built yet")


@router.post("/agent-tokens", status_code=201, responses=guarded_answers())
async def create_agent_token(body: AgentTokenCreate, principal: Administrator, state: State, session: WriteSession) -> NewToken:
    """Makes a token for one host (which is made if it is new), or for any host."""
    raise NormstatError("not built yet")


@router.delete("/agent-tokens/{id}", responses=guarded_answers(NotFound))
async def revoke_agent_token(id: IdPath, principal: Administrator, session: WriteSession) -> Empty:  # noqa: A002
    """Revokes an agent token; its agent keeps its data and is answered 401 from now on."""
    raise NormstatError("not built yet")
