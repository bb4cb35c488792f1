"""The application: wiring only."""

from fastapi import FastAPI

from normstat import __version__
from normstat.api.handlers import EnvelopeMiddleware, install_handlers
from normstat.api.middleware import RequestContextMiddleware
from normstat.api.router import build_router, operation_id
from normstat.settings import Settings


def create_app(settings: Settings) -> FastAPI:
    """The application with all routes; nothing is connected before it is started."""
    app = FastAPI(
        title="normstat",
        version=__version__,
        summary="Keeps every sample of the *stat tools, remembers what is normal, and ranks what changed",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=operation_id,
    )
    app.include_router(build_router())
    install_handlers(app)
    app.add_middleware(EnvelopeMiddleware)
    app.add_middleware(RequestContextMiddleware)
    return app
