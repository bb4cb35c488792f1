"""Keep imported files of tools that answer a question once as artefacts, beside their samples."""

from pathlib import Path

from normstat.artefacts.artefact_service import ArtefactDraft, Sessions, make_artefact, now_utc
from normstat.artefacts.reading import MAX_BYTES
from normstat.artefacts.stack_formats import find_stack_format
from normstat.artefacts.tools import is_artefact
from normstat.ingest.imports.artefact_keeper import ImportedText
from normstat.stats.spec import Spec
from normstat.storage.artefact_rows import ArtefactSource


class ImportKeeper:
    """Makes artefacts of imported files; see ArtefactKeeper."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    @property
    def max_bytes(self) -> int:
        """The size of the largest text that can be an artefact."""
        return MAX_BYTES

    @staticmethod
    def wants(spec: Spec) -> bool:
        """Return whether a file of this spec is an artefact."""
        return is_artefact(spec)

    @staticmethod
    def find_format(head: bytes) -> str:
        """Return the format of stacks that begin like this. Missing: "" for any other text."""
        found = find_stack_format(head)
        return "" if found is None else found.spec

    async def keep(self, text: ImportedText, path: Path) -> int:
        """Return the number of the artefact of the text in a file. A text without times has that of its file.

        Raises: NormstatError
        """
        draft = ArtefactDraft(
            host=text.host, source=ArtefactSource.IMPORT, author="", start=text.start, title=text.title, command=text.command,
            file_name=text.name, spec=text.spec, zone=text.zone,
        )  # fmt: skip
        return (await make_artefact(self._sessions, draft, path, now=text.modified or now_utc())).id
