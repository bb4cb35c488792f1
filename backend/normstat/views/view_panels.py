"""The contents of a view: panels, each with the stats that can fill it."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, ClassVar, Final

from pydantic import ConfigDict, Field, StringConstraints

from normstat.runtime.field_docs import Documented

MAX_PANELS: Final = 200
MAX_SOURCES: Final = 40
MAX_FIELDS: Final = 100
NO_NUL: Final = r"^[^\x00]*$"
# As in frontend/src/logic/look.ts.
MIN_HEIGHT: Final = 120
MAX_HEIGHT: Final = 1_200
# The page writes and reads it: frontend/src/logic/panel.ts, formatChoice.
INSTANCES: Final = r"^(|all|balance|top:[1-9][0-9]{0,2}|heatmap:[a-z][a-z0-9_]{0,62}|only:[^\x00]+)$"

Key = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,62}$")]


class PanelWidth(StrEnum):
    """How much of the page's width a panel takes."""

    HALF = "half"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class PanelSource(Documented):
    """Where a panel's lines come from: a panel of the catalogue, or fields of a stat."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    stat: Key
    panel: Key | None = None
    """The key of one of the stat's own panels; null if `fields` are given."""

    fields: Annotated[tuple[Key, ...], Field(max_length=MAX_FIELDS)] = ()
    """The fields to draw; empty if `panel` is given."""

    instances: Annotated[str, StringConstraints(max_length=20_000, pattern=INSTANCES)] = ""
    """`all`, `top:5`, `only:sda,sdb` (commas in names as %2C), `heatmap:FIELD`, `balance` (busy CPUs); empty for the
    catalogue's choice."""

    def __post_init__(self) -> None:
        """Check that the lines are named in one way.

        Raises: ValueError
        """
        if (self.panel is None) == (not self.fields):
            raise ValueError(f"A source of {self.stat} needs either `panel` or `fields`")


@dataclass(frozen=True, slots=True)
class ViewPanel(Documented):
    """A panel of a view. On a host, the first source that it recorded is drawn."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    sources: Annotated[tuple[PanelSource, ...], Field(min_length=1, max_length=MAX_SOURCES)]
    title: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200, pattern=NO_NUL)] = ""
    """Empty: the title of the source."""

    width: PanelWidth = field(default=PanelWidth.HALF)
    height: Annotated[int, Field(ge=MIN_HEIGHT, le=MAX_HEIGHT)] | None = None
    """Pixels of the graph; null: as usual."""


ViewPanels = Annotated[tuple[ViewPanel, ...], Field(max_length=MAX_PANELS)]
