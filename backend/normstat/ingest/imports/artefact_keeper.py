"""What an import needs to keep a file as an artefact too; artefacts themselves are a later step of the data's way."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from normstat.stats.spec import Spec


@dataclass(frozen=True, slots=True)
class ImportedText:
    """The text of a file that tells one answer of a tool. `start`: when it was, where somebody said it; `modified`: of the file."""

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

    def wants(self, spec: Spec, n_bytes: int) -> bool:
        """Return whether a file of this spec and size is an artefact."""
        ...

    async def keep(self, text: ImportedText, path: Path) -> int:
        """Return the number of the artefact of the text in a file, also if it was there already.

        Raises: NormstatError
        """
        ...
