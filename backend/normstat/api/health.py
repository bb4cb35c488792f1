"""Whether the server can do its work."""

from fastapi import APIRouter

from normstat import __version__
from normstat.api.deps import State
from normstat.api.handlers import error_answers
from normstat.api.schemas import Health
from normstat.errors import NormstatError

router = APIRouter(tags=["health"])


@router.get("/health", responses=error_answers())
async def get_health(state: State) -> Health:
    """Says whether the database answers, and what it is."""
    raise NormstatError("not built yet")
