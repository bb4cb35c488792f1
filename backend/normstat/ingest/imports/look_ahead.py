"""Tell what a file is by its beginning, before it is uploaded."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from normstat.ingest.import_rows import MissingOption
from normstat.ingest.imports.import_options import ImportOptions
from normstat.ingest.imports.scan import Found, Survey
from normstat.ingest.imports.unpacking import Budget
from normstat.records.artefact_keeper import ArtefactKeeper
from normstat.runtime.field_docs import Documented

# A report of JSON is one line, and may be long; a few thousand lines tell the rest.
MAX_LOOK_BYTES: Final = 1 << 18
MAX_UNPACKED_BYTES: Final = 1 << 24
MAX_MEMBERS: Final = 20
ZIP: Final = b"PK\x03\x04"
SPEC_TABLE: Final = b"[[stats]]"


class FileKind(StrEnum):
    """What a file holds."""

    SAMPLES = "samples"
    ARTEFACT = "artefact"
    BUNDLE = "bundle"
    SPEC = "spec"
    ARCHIVE = "archive"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class FileLook(Documented):
    """What the beginning of a file tells."""

    kind: FileKind
    spec: str | None
    """The spec that reads it. Missing: null for an archive, a bundle and an unknown text."""

    has_samples: bool
    """Whether it has samples, also beside an artefact."""

    note: str
    """Why it is not loaded as it is, or ""."""

    missing: list[MissingOption]
    """The options that would yield samples, or more of them."""


def look_ahead(path: Path, name: str, options: ImportOptions, keeper: ArtefactKeeper | None, *, is_bundle: bool) -> FileLook:
    """Return what the first bytes of a file of that name, in a file of ours, tell. It blocks."""
    if is_bundle:
        return _only(FileKind.BUNDLE)
    with path.open("rb") as file:
        head = file.read(MAX_LOOK_BYTES)
    if name.lower().endswith(".toml") and SPEC_TABLE in head:
        return _only(FileKind.SPEC)
    if head.startswith(ZIP):
        return _only(FileKind.ARCHIVE)
    found = Survey(options, Budget(MAX_UNPACKED_BYTES, MAX_MEMBERS), {}, keeper).run([path], name)
    if not found or any(not _is_of(file, name) for file in found):
        return _only(FileKind.ARCHIVE)
    return _describe(found[0], keeper)


def _only(kind: FileKind) -> FileLook:
    return FileLook(kind, None, has_samples=False, note="", missing=[])


def _is_of(file: Found, name: str) -> bool:
    """Return whether it is the file itself, or a section of it."""
    return file.path == name or file.path.startswith(f"{name}#") or file.path.startswith(f"{name} (")


def _describe(file: Found, keeper: ArtefactKeeper | None) -> FileLook:
    look = file.look
    if look.artefact:
        return FileLook(FileKind.ARTEFACT, look.artefact, has_samples=False, note="", missing=[])
    if look.spec is None:
        return FileLook(FileKind.UNKNOWN, None, has_samples=False, note=look.note, missing=list(look.missing))
    is_artefact = keeper is not None and keeper.wants(look.spec)
    # The beginning of a packed file ends too early; only what is missing counts here.
    note = look.note if look.missing else ""
    kind = FileKind.ARTEFACT if is_artefact else FileKind.SAMPLES
    return FileLook(kind, look.spec.name, has_samples=not look.lacks_times, note=note, missing=list(look.missing))
