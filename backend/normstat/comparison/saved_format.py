"""The JSON of saved comparisons: what `model.Comparison` serialises to."""

from dataclasses import dataclass
from functools import cache

from pydantic import TypeAdapter

from normstat.comparison.model import Comparison
from normstat.comparison.saved_comparison_rows import SavedComparisonInfo


@dataclass(frozen=True, slots=True)
class SavedComparison(SavedComparisonInfo):
    """A saved comparison with its result."""

    result: Comparison


def to_json(result: Comparison, *, indent: int | None = None) -> bytes:
    """Return a comparison as JSON, in the form of GET /comparison."""
    return _adapter().dump_json(result, indent=indent)


def read_json(body: bytes) -> Comparison:
    """Return a comparison from its JSON.

    Raises: ValueError (pydantic's ValidationError) for any other JSON
    """
    return _adapter().validate_json(body)


@cache
def _adapter() -> TypeAdapter[Comparison]:
    # Takes longer to make than to import all of this package; a command that prints a table needs none.
    return TypeAdapter(Comparison)
