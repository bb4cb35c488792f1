"""A measured value with its unit."""

from dataclasses import dataclass

from normstat.runtime.field_docs import Documented


@dataclass(frozen=True, slots=True)
class MeasuredValue(Documented):
    """A value that a run measured."""

    name: str
    value: float
    unit: str
    """Empty for a plain count."""
