"""The format of a bundle: a zip file of stored members, the last of which says what they are.

normstat-bundle.txt      first, so that the first bytes of the file tell a bundle from any other zip file
streams/000001.zst ...   members of the sections, each compressed with zstd
events.json.zst ...
manifest.json            versions, where it comes from, and of each member its size and SHA-256
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from normstat.window import Window

FORMAT: Final = "normstat bundle"
# Raised when an older normstat would misread a newer bundle. A section that it does not know is left out and reported.
VERSION: Final = 1
MARK: Final = "normstat-bundle.txt"
MARK_TEXT: Final = "A bundle of normstat, format 1. `normstat bundle show FILE` lists it, `normstat bundle open FILE` loads it.\n"
MANIFEST: Final = "manifest.json"
ENDING: Final = ".normstat.zip"
ZIP_MAGIC: Final = b"PK\x03\x04"
# Where the name begins in a member's header in a zip file.
NAME_AT: Final = 30
MAX_MANIFEST_BYTES: Final = 64 << 20
MAX_MEMBERS: Final = 200_000
LEVEL: Final = 6


@dataclass(frozen=True, slots=True)
class BundleMember:
    """A member: its name, its bytes after decompression, and their SHA-256 in hexadecimal."""

    name: str
    n_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class BundleSection:
    """A named part of a bundle. `counts`: what is in it, for people; `notes`: what could not go into it, in words.

    `index` is the section's own: what its members are.
    """

    name: str
    version: int
    members: Sequence[BundleMember]
    counts: Mapping[str, int]
    notes: Sequence[str] = ()
    index: Sequence[dict[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class BundleManifest:
    """What a bundle holds, and where it comes from.

    `id` is that of the bundle; `server` and `server_id` name where it was made. `windows`: the window first, then those of
    baselines whose samples came too.
    """

    format: str
    version: int
    id: str
    made_at: datetime
    made_by: str
    normstat: str
    server: str
    server_id: str
    host: str
    os: str
    agent_version: str
    tags: Sequence[str]
    windows: Sequence[Window]
    sections: Sequence[BundleSection]
    comment: str = field(default="")

    @property
    def n_bytes(self) -> int:
        """Bytes of all members after decompression."""
        return sum(member.n_bytes for section in self.sections for member in section.members)


MANIFEST_ADAPTER: Final = TypeAdapter(BundleManifest)


def looks_like_bundle(head: bytes) -> bool:
    """Return whether a file that begins with these bytes is a bundle.

    >>> looks_like_bundle(ZIP_MAGIC + bytes(26) + b"normstat-bundle.txtA bundle"), looks_like_bundle(b"vmstat 1")
    (True, False)
    """
    return head.startswith(ZIP_MAGIC) and head[NAME_AT : NAME_AT + len(MARK)] == MARK.encode()


def is_bundle_file(path: Path) -> bool:
    """Return whether the file is a bundle, by its first bytes."""
    try:
        with path.open("rb") as file:
            return looks_like_bundle(file.read(NAME_AT + len(MARK)))
    except OSError:
        return False


def bundle_file_name(host: str, window: Window) -> str:
    """Return the usual name of a bundle's file."""
    name = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in host)
    return f"{name}-{window.start:%Y%m%dT%H%M%SZ}-{window.end:%Y%m%dT%H%M%SZ}{ENDING}"
