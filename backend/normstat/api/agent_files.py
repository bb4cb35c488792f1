"""The agent itself, so that a host can be added in one line."""

from typing import Annotated

from fastapi import APIRouter, Path
from fastapi.responses import PlainTextResponse

from normstat.api.deps import State
from normstat.api.handlers import error_answers
from normstat.errors import NormstatError, NotFound

router = APIRouter(prefix="/agent", tags=["agent"])


@router.get(
    "/{file}",
    response_class=PlainTextResponse,
    responses=error_answers(NotFound)
    | {200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "the file"}},
)
async def get_agent_file(
    file: Annotated[str, Path(description="normstat-agent, install.sh, stats.conf.linux or stats.conf.sunos")], state: State
) -> PlainTextResponse:
    """Hands out the agent script, its installer or a list of commands; open to everybody, it holds no secret."""
    raise NormstatError("not built yet")
