"""Dataclasses that are also bodies of the API: FastAPI serialises them as they are.

In a dataclass that derives from `Documented`, a string under a field documents it, also in OpenAPI. The sources are read when the
document is asked for, not when the server starts. Missing values are None in Python and null in JSON.
"""

import ast
import importlib
import inspect
from functools import cache
from typing import Any, Protocol

from normstat.runtime.memory import collector_paused


class SchemaHandler(Protocol):
    """What pydantic hands to `__get_pydantic_json_schema__`."""

    def __call__(self, core_schema: Any, /) -> dict[str, Any]:
        """Return the JSON schema as pydantic makes it."""

    def resolve_ref_schema(self, maybe_ref_json_schema: dict[str, Any], /) -> dict[str, Any]:
        """Return the schema that a reference means."""


class Documented:
    """Base of dataclasses whose fields are documented by the strings under them."""

    __slots__ = ()

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: SchemaHandler) -> dict[str, Any]:
        """Return the JSON schema with a description for each documented field."""
        schema = handler(core_schema)
        body = handler.resolve_ref_schema(schema)
        # Bodies may grow.
        body.pop("additionalProperties", None)
        properties = body["properties"]
        for ancestor in (ancestor for ancestor in reversed(cls.__mro__) if issubclass(ancestor, Documented)):
            for name, text in read_field_docs(ancestor.__module__).get(ancestor.__name__, {}).items():
                properties[name].setdefault("description", text)
        return schema


@cache
def read_field_docs(module: str) -> dict[str, dict[str, str]]:
    """Return the strings under the fields of each class of a module."""
    source = inspect.getsource(importlib.import_module(module))
    # CPython 3.11 loses count of its recursion when the garbage collector calls Python while it builds a tree.
    with collector_paused():
        tree = ast.parse(source)
    return {node.name: _docs_of(node) for node in tree.body if isinstance(node, ast.ClassDef)}


def _docs_of(node: ast.ClassDef) -> dict[str, str]:
    docs = {}
    for field, following in zip(node.body, node.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(following, ast.Expr):
            text = following.value
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                docs[field.target.id] = inspect.cleandoc(text.value)
    return docs
