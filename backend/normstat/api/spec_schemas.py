"""The bodies of specs, drafts and previews of them, and of reparses."""

from datetime import datetime
from typing import Annotated

from pydantic import StringConstraints

from normstat.api.schemas import NO_NUL, Body, Name
from normstat.stats.draft import Form
from normstat.storage.schema.job_models import JobState

# What a person pastes: some reports. The server reads a MiB of it in a second or two.
Sample = Annotated[str, StringConstraints(max_length=1 << 20)]
Toml = Annotated[str, StringConstraints(max_length=256 * 1024)]
Word = Annotated[str, StringConstraints(max_length=1000)]
SpecName = Annotated[str, StringConstraints(min_length=1, max_length=63, pattern=NO_NUL)]


class SpecInfo(Body):
    """A spec. `n_streams_outdated` streams have samples that were read with another version of it; a reparse reads them again.

    `disabled_reason`: why an added spec is not read any more; its streams are kept until it is changed. Empty for all others.
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
    """All specs by name: the built-in ones and those that were added."""

    specs: list[SpecInfo]


class SpecDetail(SpecInfo):
    """A spec with its text."""

    toml: str


class SpecPut(Body):
    """A spec as text; its version is counted by the server."""

    toml: Toml


class SpecDraftRequest(Body):
    """A sample of what a tool prints. `instance_column`, a header or a place from 1, says what the rows of a report are about."""

    name: SpecName
    tool: Word | None = None
    command: Word | None = None
    sample: Sample
    shape: Form
    instance_column: Word | None = None


class DraftColumn(Body):
    """A column of numbers as the draft understood it."""

    key: str
    column: str
    kind: str
    unit: str
    decimals: int


class SpecDraft(Body):
    """A spec to be corrected and added."""

    toml: str
    columns: list[DraftColumn]


class SpecPreviewRequest(Body):
    """A spec as text, and what it is to be tried on."""

    toml: Toml
    sample: Sample


class PreviewRow(Body):
    """A sample as it would be read; `time` null: nothing tells it, so that ingest would reject the line."""

    stat: str
    time: datetime | None
    instance: str
    values: dict[str, int | float | None]


class PreviewLine(Body):
    """A line that would be rejected."""

    line_no: int
    text: str
    reason: str


class SpecPreview(Body):
    """At most 200 rows and rejected lines, of `n_rows` and `n_rejected`; `n_lines` counts all lines by what they are."""

    rows: list[PreviewRow]
    rejected: list[PreviewLine]
    n_lines: dict[str, int]
    n_rows: int
    n_rejected: int


class ReparseCreate(Body):
    """What to read again: streams of a host, of a spec, one alone, or all; of these only the outdated ones, if that is wished."""

    host: Name | None = None
    stream_id: int | None = None
    spec: SpecName | None = None
    is_outdated_only: bool = False


class Reparse(Body):
    """A reparse. `n_bytes` were stored when it was queued; samples and rejected lines are those of the streams that are done."""

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
    """The newest reparses, the newest first; at most 100."""

    reparses: list[Reparse]
