"""Whether the server can do its work."""

from fastapi import APIRouter

from normstat import __version__
from normstat.api.deps import ReadSession
from normstat.api.handlers import error_answers
from normstat.api.schemas import Health
from normstat.store.hypertables import read_storage

router = APIRouter(tags=["health"])


@router.get("/health", responses=error_answers())
async def get_health(session: ReadSession) -> Health:
    """Says that the database answers, and what it is; 503 when it does not."""
    return Health(status="ok", version=__version__, storage=await read_storage(session))
