"""The OpenAPI document, for clients that generate code from it."""

from fastapi import Request
from fastapi.responses import JSONResponse

from normstat.api.http.deps import NEEDS_VIEWER
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter

router = LazyRouter(tags=["health"], dependencies=[NEEDS_VIEWER])


@router.get("/openapi.json", responses=guarded_answers())
@open_to_limited()
async def get_document(request: Request) -> JSONResponse:
    """Return this OpenAPI document."""
    return JSONResponse(request.app.openapi())
