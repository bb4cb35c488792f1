"""Marks dataclasses that are also bodies of the API: FastAPI serialises them as they are.

In a dataclass with `__pydantic_config__ = FIELD_DOCS`, a string under a field documents it, also in OpenAPI.
Missing values are None in Python and null in JSON.
"""

from typing import Final

FIELD_DOCS: Final = {"use_attribute_docstrings": True}
