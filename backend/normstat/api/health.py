"""Health check: whether the server can do its work."""

from typing import Final

from fastapi import APIRouter

from normstat import __version__
from normstat.api.deps import State
from normstat.api.handlers import error_answers
from normstat.api.schemas import Health

router = APIRouter(tags=["health"])

# Monitoring needs an answer within a second, above all when the database hangs.
MAX_WAIT_S: Final = 0.8


@router.get("/health", responses=error_answers())
async def get_health(state: State) -> Health:
    """Report that the database answers, and its version; 503 when it does not."""
    return Health(status="ok", version=__version__, storage=await state.probe.read_storage(MAX_WAIT_S))
