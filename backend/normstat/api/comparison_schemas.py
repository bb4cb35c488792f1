"""The bodies of saved comparisons. A result is serialised from normstat.comparison.model."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from normstat.api.comparison_inputs import ComparisonInputs
from normstat.api.schemas import Body, Name, Note
from normstat.comparison.model import Comparison


class SavedComparisonCreate(Body):
    """A comparison to run and save. Its result never changes afterwards."""

    name: Name
    note: Note = ""
    inputs: ComparisonInputs


class SavedComparisonUpdate(Body):
    """A new name or note."""

    name: Name | None = None
    note: Note | None = None


class SavedComparisonInfo(Body):
    """A saved comparison without its result. `inputs`: the parameters of GET /comparison."""

    id: int
    name: str
    note: str
    inputs: dict[str, Annotated[str | int | list[str] | None, Field(union_mode="left_to_right")]]
    created_by: str
    created_at: datetime


class SavedComparisonList(Body):
    """Saved comparisons, newest first."""

    comparisons: list[SavedComparisonInfo]


class SavedComparison(SavedComparisonInfo):
    """A saved comparison with its result."""

    result: Comparison
