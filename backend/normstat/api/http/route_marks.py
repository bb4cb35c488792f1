"""Metadata of a route besides its path: marks on its function, set by decorators that stand under that of the route.

Marks: `host_access.open_to_limited`, `row_budgets.makes_rows`, `audit_notes.changes_nothing`, `audit_notes.permitted_by_link`.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from starlette.types import Scope

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


def marking(name: str, value: object) -> Callable[[Endpoint], Endpoint]:
    """Return a decorator that gives a function the mark."""

    def mark(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, name, value)
        return endpoint

    return mark


def mark_of(scope: Scope, name: str) -> Any:
    """Return the mark of the route that was found for a request. Missing: None where it has none, or no route was found."""
    return getattr(getattr(scope.get("route"), "endpoint", None), name, None)
