"""The bodies of requests about specs, drafts, previews and reparses. Answers are serialised where they are made."""

from typing import Annotated

from pydantic import StringConstraints

from normstat.runtime.body import NO_NUL, Body, Name
from normstat.stats.draft import Form

# Pasted by a person: some reports. The server reads a MiB of it in a second or two.
Sample = Annotated[str, StringConstraints(max_length=1 << 20)]
Toml = Annotated[str, StringConstraints(max_length=256 * 1024)]
Word = Annotated[str, StringConstraints(max_length=1000)]
SpecName = Annotated[str, StringConstraints(min_length=1, max_length=63, pattern=NO_NUL)]


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


class SpecPreviewRequest(Body):
    """A spec as TOML text, and the sample to try it on."""

    toml: Toml
    sample: Sample


class ReparseCreate(Body):
    """Which streams to read again: those of a host, of a spec, a single one, or all; optionally only outdated ones."""

    host: Name | None = None
    stream_id: int | None = None
    spec: SpecName | None = None
    is_outdated_only: bool = False
