"""The notes of a report as people give them: one class for each kind, told apart by `kind`."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, model_validator

from normstat.runtime.body import NO_NUL

MAX_MARKDOWN: Final = 100_000
MAX_CSV: Final = 200_000
MAX_INSTANCES: Final = 50
Line = Annotated[str, StringConstraints(max_length=300, pattern=NO_NUL)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=63, pattern=NO_NUL)]
HostKey = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=NO_NUL)]
Words = Annotated[str, StringConstraints(max_length=20_000, pattern=NO_NUL)]
Id = Annotated[int, Field(ge=1, le=2**63 - 1)]
Moment = Annotated[datetime, Field(description="with a zone, e.g. 2026-11-21T10:00:00Z")]


class NoteBase(BaseModel):
    """What every note has: a title, and a comment in Markdown that is printed below it."""

    model_config = ConfigDict(extra="forbid")
    title: Line = ""
    comment: Words = ""


class WindowedNote(NoteBase):
    """A note about a window."""

    start: Moment
    end: Moment

    @model_validator(mode="after")
    def _require_order(self) -> "WindowedNote":
        for at in (self.start, self.end):
            if at.utcoffset() is None:
                raise ValueError(f"{at.isoformat()} has no time zone; write it with one, e.g. Z")
        if self.end <= self.start:
            raise ValueError(f"end {self.end.isoformat()} is not after start {self.start.isoformat()}")
        return self


class TextNote(NoteBase):
    """Text as Markdown."""

    kind: Literal["text"]
    markdown: Annotated[str, StringConstraints(max_length=MAX_MARKDOWN, pattern=NO_NUL)]


class GraphNote(WindowedNote):
    """A graph of series of a host: frozen with its data, or a link to the page."""

    kind: Literal["graph"]
    host: HostKey
    stat: Key
    fields: Annotated[list[Key], Field(min_length=1, max_length=20)]
    instances: Annotated[
        list[Annotated[str, StringConstraints(max_length=1000, pattern=NO_NUL)]], Field(max_length=MAX_INSTANCES)
    ] = []
    top: Annotated[int | None, Field(ge=1, le=24, description="the instances with the highest mean of the first field")] = None
    is_frozen: bool = True


class ComparisonNote(NoteBase):
    """A comparison: a saved one by its id, or the parameters of GET /comparison, run now. Always frozen."""

    kind: Literal["comparison"]
    comparison: Id | None = None
    inputs: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _require_one(self) -> "ComparisonNote":
        if (self.comparison is None) == (self.inputs is None):
            raise ValueError("give either `comparison`, the id of a saved one, or `inputs`, the parameters of a new one")
        return self


class ArtefactNote(NoteBase):
    """An artefact: frozen as it looks, or a link."""

    kind: Literal["artefact"]
    artefact: Id
    part: Annotated[int | None, Field(ge=0, le=10_000, description="one part; null: all")] = None
    limit: Annotated[int, Field(ge=1, le=200, description="rows of a table")] = 20
    is_frozen: bool = True


class ArtefactDiffNote(NoteBase):
    """Two artefacts of one tool, key by key with both values. Always frozen."""

    kind: Literal["artefact_diff"]
    baseline: Id
    incident: Id
    limit: Annotated[int, Field(ge=1, le=200)] = 20


class ExperimentNote(NoteBase):
    """An experiment: its sentence, its chart with the fitted models, and its levels; frozen, or a link."""

    kind: Literal["experiment"]
    experiment: Id
    result: Annotated[str | None, StringConstraints(max_length=200, pattern=NO_NUL)] = None
    factor: Annotated[str | None, StringConstraints(max_length=200, pattern=NO_NUL)] = None
    variant: Annotated[str | None, StringConstraints(max_length=200, pattern=NO_NUL)] = None
    work: Literal["fixed", "grows"] = "fixed"
    limit: Annotated[int, Field(ge=0, le=200, description="runs in the table")] = 20
    is_frozen: bool = True


class TableNote(NoteBase):
    """A table as CSV, its first line the head."""

    kind: Literal["table"]
    csv: Annotated[str, StringConstraints(min_length=1, max_length=MAX_CSV, pattern=NO_NUL)]


class ImageNote(NoteBase):
    """An uploaded image. `share`: of the width of the page."""

    kind: Literal["image"]
    file: Id
    share: Annotated[float, Field(ge=0.1, le=1)] = 1.0


class FileNote(NoteBase):
    """An uploaded file, to download."""

    kind: Literal["file"]
    file: Id


class FactsNote(NoteBase):
    """What a host was at an instant: system, CPUs, memory, disks. Always frozen."""

    kind: Literal["facts"]
    host: HostKey
    at: Moment


class EventsNote(WindowedNote):
    """The events of hosts in a window. Always frozen."""

    kind: Literal["events"]
    hosts: Annotated[list[HostKey], Field(min_length=1, max_length=20)]


ReportNoteContent = Annotated[
    TextNote
    | GraphNote
    | ComparisonNote
    | ArtefactNote
    | ArtefactDiffNote
    | ExperimentNote
    | TableNote
    | ImageNote
    | FileNote
    | FactsNote
    | EventsNote,
    Field(discriminator="kind"),
]
NOTE: Final[TypeAdapter[ReportNoteContent]] = TypeAdapter(ReportNoteContent)
