"""The application: FastAPI with lazy routes, and the OpenAPI document that describes them."""

from collections.abc import Iterator
from typing import Any, Final

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from normstat.api.http.deps import RoleGuard
from normstat.api.http.handlers import error_answers
from normstat.api.http.lazy_routing import LazyRoute
from normstat.errors import TooLarge

# Who may call an operation: a role, which includes those above it; hosts and senders with a token of theirs; anyone.
ROLE: Final = "x-role"
AGENT: Final = "agent"
OPEN: Final = "none"


class Application(FastAPI):
    """An application with lazy routes."""

    @property
    def routes(self) -> list[BaseRoute]:
        """All routes, prepared: the OpenAPI document describes them."""
        return [route.prepare() if isinstance(route, LazyRoute) else route for route in self.router.routes]

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document: the role of each operation, each kind of error answer once, and no titles made of names."""
        if self.openapi_schema is None:
            document = super().openapi()
            routes = {
                (route.path, method.lower()): route
                for route in self.routes
                if isinstance(route, APIRoute)
                for method in route.methods or ()
            }
            shared: dict[str, Any] = {}
            for path, operations in document["paths"].items():
                for method, operation in operations.items():
                    operation[ROLE] = role_of(routes[path, method]) or (AGENT if "security" in operation else OPEN)
                    # Every body has a limit (body_limit.py), whatever its route does.
                    if "requestBody" in operation:
                        operation["responses"].setdefault(str(TooLarge.status), error_answers(TooLarge)[TooLarge.status])
                    operation["responses"] = {
                        status: answer if int(status) < 400 else _share(answer, shared)
                        for status, answer in sorted(operation["responses"].items())
                    }
            document["components"]["responses"] = dict(sorted(shared.items()))
            _remove_titles(document["paths"])
            _remove_titles(document["components"])
        return self.openapi_schema or {}


def role_of(route: APIRoute) -> str | None:
    """Return the role that a route demands of people. Missing: None, it is not for people with accounts."""
    found = set(_roles(route.dependant))
    assert len(found) <= 1, f"{route.name} demands more than one role: {found}"
    return found.pop() if found else None


def _roles(dependant: Dependant) -> Iterator[str]:
    for inner in dependant.dependencies:
        if isinstance(inner.call, RoleGuard):
            yield inner.call.needed.value
        yield from _roles(inner)


def _share(answer: dict[str, Any], shared: dict[str, Any]) -> dict[str, str]:
    """Return a reference to an error answer that operations share, named by the codes in its description."""
    name = answer["description"].partition(": ")[2].replace(", ", "-")
    known = shared.setdefault(name, answer)
    assert known == answer, f"two error answers have the codes {name}"
    return {"$ref": f"#/components/responses/{name}"}


def _remove_titles(part: object) -> None:
    """Remove the titles that pydantic makes of the names of members and classes: `held_until` is `Held Until`."""
    if isinstance(part, dict):
        # A member of this name is described by an object.
        if isinstance(part.get("title"), str):
            del part["title"]
        for each in part.values():
            _remove_titles(each)
    elif isinstance(part, list):
        for each in part:
            _remove_titles(each)
