"""What a report consists of once its notes are frozen: blocks, which HTML and PDF draw alike.

A frozen note is kept as its blocks, as JSON: it looks the same in ten years, whatever has become of the data.
"""

from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from pydantic import Field, TypeAdapter

from normstat.errors import BadRequest

# The largest width of a column, relative to the others.
MAX_SHARE: Final = 1000.0


@dataclass(frozen=True, slots=True)
class HeadingBlock:
    """A heading inside a note."""

    text: str
    kind: Literal["heading"] = "heading"


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Markdown."""

    markdown: str
    kind: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class SaidBlock:
    """A sentence as plain text. `tone`: the answer (lead), a remark (soft), or what is wrong (warning)."""

    text: str
    tone: Literal["lead", "plain", "soft", "warning"] = "plain"
    kind: Literal["said"] = "said"


@dataclass(frozen=True, slots=True)
class FigureBlock:
    """A graph as SVG, with its numbers as CSV, where there are some."""

    svg: str
    caption: str
    csv: str = ""
    csv_name: str = ""
    kind: Literal["figure"] = "figure"


@dataclass(frozen=True, slots=True)
class BlockColumn:
    """A column of a table; `share` of the width relative to the others."""

    title: str
    is_number: bool = False
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A table of texts; numbers are formatted already. `bars`: one for each row, 0 to 1, or none."""

    columns: list[BlockColumn]
    rows: list[list[str]]
    caption: str = ""
    bars: list[float] = field(default_factory=list)
    csv: str = ""
    csv_name: str = ""
    kind: Literal["table"] = "table"

    def __post_init__(self) -> None:
        """Raise ValueError for rows that do not fit the columns: a bundle may bring any."""
        if not self.columns or any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError("a table has rows that do not fit its columns")
        if not all(0 < column.share < MAX_SHARE for column in self.columns):
            raise ValueError("a table has a column without a width")


@dataclass(frozen=True, slots=True)
class PairsBlock:
    """Names and values."""

    pairs: list[tuple[str, str]]
    kind: Literal["pairs"] = "pairs"


@dataclass(frozen=True, slots=True)
class SidesBlock:
    """Baseline and incident beside each other, each a title and lines."""

    baseline: list[str]
    incident: list[str]
    kind: Literal["sides"] = "sides"

    def __post_init__(self) -> None:
        """Raise ValueError for a side without a title."""
        if not self.baseline or not self.incident:
            raise ValueError("a side has no title")


@dataclass(frozen=True, slots=True)
class StoryBlock:
    """A story of a comparison: what happened, with both values, evidence, and its graph ("" without)."""

    title: str
    facts: str
    sentence: str
    values: str
    lines: list[str]
    svg: str
    caption: str
    kind: Literal["story"] = "story"


@dataclass(frozen=True, slots=True)
class ListBlock:
    """Lines with bullets, as plain text."""

    lines: list[str]
    kind: Literal["list"] = "list"


@dataclass(frozen=True, slots=True)
class PrintedBlock:
    """Text as a tool printed it."""

    text: str
    kind: Literal["printed"] = "printed"


@dataclass(frozen=True, slots=True)
class LinkBlock:
    """A link to a page of normstat (beginning with a slash), with what it shows."""

    text: str
    path: str
    kind: Literal["link"] = "link"


@dataclass(frozen=True, slots=True)
class ImageBlock:
    """An image that was uploaded. `share` of the width of the page."""

    file: int
    alt: str
    share: float
    kind: Literal["image"] = "image"

    def __post_init__(self) -> None:
        """Raise ValueError for an image without a size."""
        if not 0 < self.share <= 1:
            raise ValueError("an image has no size")


@dataclass(frozen=True, slots=True)
class FileBlock:
    """A file to download."""

    file: int
    kind: Literal["file"] = "file"


Block = Annotated[
    HeadingBlock
    | TextBlock
    | SaidBlock
    | FigureBlock
    | TableBlock
    | PairsBlock
    | SidesBlock
    | StoryBlock
    | ListBlock
    | PrintedBlock
    | LinkBlock
    | ImageBlock
    | FileBlock,
    Field(discriminator="kind"),
]
_BLOCKS: Final = TypeAdapter(list[Block])


def pack_blocks(blocks: list[Block]) -> bytes:
    """Return blocks as JSON."""
    return _BLOCKS.dump_json(blocks)


def unpack_blocks(body: bytes) -> list[Block]:
    """Return the blocks of JSON.

    Raises: BadRequest where it is none, or a newer normstat wrote it
    """
    try:
        return _BLOCKS.validate_json(body)
    except ValueError as error:
        raise BadRequest("The frozen content of this note cannot be read: it is damaged, or a newer normstat wrote it") from error


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A note as it is drawn: its title, where it is from, and its blocks."""

    title: str
    blocks: list[Block]
    kind: str = ""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """An uploaded file with its bytes."""

    id: int
    name: str
    media_type: str
    body: bytes


@dataclass(frozen=True, slots=True)
class ReportDocument:
    """A whole report as it is drawn. `address` of it on the page, or ""; `base` for links to pages, or ""."""

    title: str
    facts: list[tuple[str, str]]
    sections: list[ReportSection]
    files: dict[int, StoredFile]
    made_by: str
    made_at: str
    address: str
    base: str
