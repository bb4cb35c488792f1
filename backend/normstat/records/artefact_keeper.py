"""The interface by which an import stores a file as an artefact too; artefacts themselves are a later step of the data flow."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from normstat.stats.spec import Spec


@dataclass(frozen=True, slots=True)
class ImportedText:
    """The text of a file that is one answer of a tool. `spec` may be a format of `find_format`. `start`: its time, where
    it was given; `modified`: of the file.
    """

    host: str
    name: str
    spec: str
    command: str
    title: str
    zone: str | None
    start: datetime | None
    modified: datetime | None


class ArtefactKeeper(Protocol):
    """Keeps texts as artefacts."""

    @property
    def max_bytes(self) -> int:
        """The size of the largest text that can be one."""
        ...

    def wants(self, spec: Spec) -> bool:
        """Return whether a file of this spec is an artefact."""
        ...

    def find_format(self, head: bytes) -> str:
        """Return the name of the format, one that no spec reads, of a text that begins like this. Missing: "" for any other."""
        ...

    async def keep(self, text: ImportedText, path: Path) -> int:
        """Return the number of the artefact of the text in a file, also if it was there already.

        Raises: NormstatError
        """
        ...
