"""Routes that are imported and prepared when a request first needs them.

To import the modules of all routes, and to have FastAPI make their validators, takes two seconds of CPU: each start of a server
would pay for all of them, and most servers use few. `route_table.py`, which `make gen` writes, says which module has which route.
"""

import functools
import importlib
import re
from collections.abc import Callable
from typing import Any, Final

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute, Match, compile_path
from starlette.types import Receive, Scope, Send

from normstat.runtime.memory import collector_paused

PREFIX: Final = "/api/v1"


def operation_id(route: APIRoute) -> str:
    """Return the route's function name in camel case, the convention of generated clients: list_hosts -> listHosts."""
    first, *rest = route.name.split("_")
    return first + "".join(word.capitalize() for word in rest)


class LazyRouter(APIRouter):
    """Keeps the arguments of its routes, by the names of their functions, until one is asked for."""

    def __init__(self, *, root: str = PREFIX, prefix: str = "", **options: Any) -> None:
        super().__init__(prefix=root + prefix, generate_unique_id_function=operation_id, **options)
        self.declared: Final[dict[str, tuple[str, Callable[..., Any], dict[str, Any]]]] = {}

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        """Keep a route. The decorators call this."""
        assert endpoint.__name__ not in self.declared, f"two routes of one module are named {endpoint.__name__}"
        self.declared[endpoint.__name__] = (path, endpoint, options)

    def prepare(self, name: str) -> APIRoute:
        """Return the route as FastAPI makes it, which takes a few milliseconds."""
        path, endpoint, options = self.declared[name]
        super().add_api_route(path, endpoint, **options)
        route = self.routes[-1]
        assert isinstance(route, APIRoute)
        return route


class LazyRoute(BaseRoute):
    """Matches the path of a route, and leaves all else to the route, which is prepared for the first request that it matches."""

    def __init__(self, path: str, module: str, name: str) -> None:
        self.path: Final = path
        self.module: Final = module
        self.name: Final = name
        self._literal: Final = path.partition("{")[0]

    @functools.cached_property
    def _pattern(self) -> re.Pattern[str]:
        return compile_path(self.path)[0]

    def prepare(self) -> APIRoute:
        """Return the route as FastAPI makes it."""
        return prepare_route(self.module, self.name)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether path and method are the route's, and what the route adds to the scope."""
        # Most routes are other ones: their patterns need not be compiled.
        if scope["type"] != "http" or not scope["path"].startswith(self._literal) or not self._pattern.match(scope["path"]):
            return Match.NONE, {}
        return self.prepare().matches(scope)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request."""
        await self.prepare().handle(scope, receive, send)


@functools.cache
def prepare_route(module: str, name: str) -> APIRoute:
    """Return the route of that function of a module of the API. It is the same for all applications of this process."""
    with collector_paused():
        router: LazyRouter = importlib.import_module(f"normstat.api.routes.{module}").router
        return router.prepare(name)
