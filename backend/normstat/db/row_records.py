"""Records of rows: what is read of a noun, made of the row that it is stored as."""

from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Record = TypeVar("Record", bound="DataclassInstance")


def to_record(kind: type[Record], row: object, /, **others: object) -> Record:
    """Return the record of a row. `others`: the members that the row does not have under their name, or not as they are shown."""
    return kind(**{name: getattr(row, name) for name in _names_of(kind) if name not in others}, **others)


@cache
def _names_of(kind: type["DataclassInstance"]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
