"""Health check: whether the server can do its work."""

from typing import Final, Literal

from normstat import __version__
from normstat.api.http.deps import State
from normstat.api.http.handlers import error_answers
from normstat.api.http.lazy_routing import LazyRouter
from normstat.runtime.body import Body

router = LazyRouter(tags=["health"])

# Monitoring needs an answer within a second, above all when the database hangs.
MAX_WAIT_S: Final = 0.8


class Health(Body):
    """The server can do its work (otherwise 503 `database_away`); readable without an account."""

    status: Literal["ok"]
    version: str
    storage: Literal["timescaledb-community", "timescaledb-apache", "postgresql", "unknown"]
    behind: str | None
    """What the server is behind with: `judged 640 of 1,000 hosts in the last minute`. Null: it keeps up."""


@router.get("/health", responses=error_answers())
async def get_health(state: State) -> Health:
    """Report that the database answers, and its version; 503 when it does not."""
    storage = await state.probe.read_storage(MAX_WAIT_S)
    return Health(status="ok", version=__version__, storage=storage, behind=state.probe.note)
