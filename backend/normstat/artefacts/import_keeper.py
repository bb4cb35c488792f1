"""Keep imported files of tools that answer a question once as artefacts, beside their samples."""

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.runtime.input_limits import MAX_ARTEFACT_BYTES

if TYPE_CHECKING:
    from normstat.records.artefact_keeper import ImportedText
    from normstat.stats.spec import Spec


class ImportKeeper:
    """Makes artefacts of imported files; see ArtefactKeeper.

    Every server has one, few use it: its modules are imported on first use.
    """

    def __init__(self, sessions: async_sessionmaker[AsyncSession]) -> None:
        self._sessions = sessions

    @property
    def max_bytes(self) -> int:
        """The size of the largest text that can be an artefact."""
        return MAX_ARTEFACT_BYTES

    @staticmethod
    def wants(spec: "Spec") -> bool:
        """Return whether a file of this spec is an artefact."""
        from normstat.artefacts.tools import is_artefact  # noqa: PLC0415

        return is_artefact(spec)

    @staticmethod
    def find_format(head: bytes) -> str:
        """Return the format of stacks that begin like this. Missing: "" for any other text."""
        from normstat.artefacts.stack_formats import find_stack_format  # noqa: PLC0415

        found = find_stack_format(head)
        return "" if found is None else found.spec

    async def keep(self, text: "ImportedText", path: Path) -> int:
        """Return the number of the artefact of the text in a file. A text without times has that of its file.

        Raises: NormstatError
        """
        from normstat.artefacts.artefact_service import ArtefactDraft, make_artefact, now_utc  # noqa: PLC0415
        from normstat.records.artefact_rows import ArtefactSource  # noqa: PLC0415

        draft = ArtefactDraft(
            host=text.host, source=ArtefactSource.IMPORT, author="", start=text.start, title=text.title, command=text.command,
            file_name=text.name, spec=text.spec, zone=text.zone,
        )  # fmt: skip
        return (await make_artefact(self._sessions, draft, path, now=text.modified or now_utc())).id
