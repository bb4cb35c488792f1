"""The bodies of specs, their drafts and previews, and reparses."""

from datetime import datetime
from typing import Annotated

from pydantic import StringConstraints

from normstat.api.schemas import NO_NUL, Body, Name
from normstat.stats.draft import Form
from normstat.storage.schema.job_models import JobState

# Pasted by a person: some reports. The server reads a MiB of it in a second or two.
Sample = Annotated[str, StringConstraints(max_length=1 << 20)]
Toml = Annotated[str, StringConstraints(max_length=256 * 1024)]
Word = Annotated[str, StringConstraints(max_length=1000)]
SpecName = Annotated[str, StringConstraints(min_length=1, max_length=63, pattern=NO_NUL)]


class SpecInfo(Body):
    """A spec. `n_streams_outdated` streams have samples read with another version of it; a reparse reads them again.

    `disabled_reason`: why a user spec cannot be read any more; its streams are stored until it is corrected. Empty otherwise.
    """

    name: str
    title: str
    tool: str
    os: str
    version: int
    is_builtin: bool
    stats: list[str]
    n_streams: int
    n_streams_outdated: int
    disabled_reason: str


class SpecList(Body):
    """All specs by name: built-in and user specs."""

    specs: list[SpecInfo]


class SpecDetail(SpecInfo):
    """A spec with its text."""

    toml: str


class SpecPut(Body):
    """A spec as TOML text; the server assigns its version."""

    toml: Toml


class SpecDraftRequest(Body):
    """A sample of a tool's output. `instance_column`, a header or a position from 1, tells which column names the instance."""

    name: SpecName
    tool: Word | None = None
    command: Word | None = None
    sample: Sample
    shape: Form
    instance_column: Word | None = None


class SpecDraftColumn(Body):
    """A column of numbers, as the draft interprets it."""

    key: str
    column: str
    kind: str
    unit: str
    decimals: int


class SpecDraft(Body):
    """A draft spec, to be corrected and added."""

    toml: str
    columns: list[SpecDraftColumn]


class SpecPreviewRequest(Body):
    """A spec as TOML text, and the sample to try it on."""

    toml: Toml
    sample: Sample


class SpecPreviewRow(Body):
    """A sample as it would be read; `time` null: unknown, so ingest would reject the line."""

    stat: str
    time: datetime | None
    instance: str
    values: dict[str, int | float | None]


class SpecPreviewLine(Body):
    """A line that would be rejected."""

    line_no: int
    text: str
    reason: str


class SpecPreview(Body):
    """At most 200 rows and rejected lines, of `n_rows` and `n_rejected`; `n_lines` counts all lines by kind."""

    rows: list[SpecPreviewRow]
    rejected: list[SpecPreviewLine]
    n_lines: dict[str, int]
    n_rows: int
    n_rejected: int


class ReparseCreate(Body):
    """Which streams to read again: those of a host, of a spec, a single one, or all; optionally only outdated ones."""

    host: Name | None = None
    stream_id: int | None = None
    spec: SpecName | None = None
    is_outdated_only: bool = False


class Reparse(Body):
    """A reparse. `n_bytes`: size when it was queued; samples and rejected lines are those of the finished streams."""

    id: int
    job_id: int
    host: str | None
    stream_id: int | None
    spec: str | None
    is_outdated_only: bool
    state: JobState
    message: str
    n_streams: int
    n_streams_done: int
    n_bytes: int
    n_bytes_done: int
    n_samples_before: int
    n_samples_after: int
    n_rejected_after: int
    created_at: datetime
    created_by: str
    finished_at: datetime | None


class ReparseList(Body):
    """The newest reparses, newest first; at most 100."""

    reparses: list[Reparse]
