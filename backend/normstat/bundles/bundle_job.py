"""Open uploaded bundles in the background: the queue of imports hands them over, and shows their results as those of any import."""

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.ingest.import_rows import ImportedFile

if TYPE_CHECKING:
    from normstat.ingest.imports.import_run import Watch


class BundleLoader:
    """Loads files that are bundles, for the queue of imports."""

    def __init__(self, engine: AsyncEngine, max_bytes: int) -> None:
        self._engine = engine
        self._max_bytes = max_bytes

    def takes(self, path: Path) -> bool:
        """Return whether the file is a bundle. It blocks."""
        from normstat.bundles.bundle_format import is_bundle_file  # noqa: PLC0415

        return is_bundle_file(path)

    async def load(self, path: Path, host: str, asked_by: str, first_position: int, watch: "Watch") -> None:
        """Load a bundle into a host; whether it may merge into an existing host was decided at its upload.

        Raises: as open_bundle; what the watch raises
        """
        # Every server has a loader, few load a bundle.
        from normstat.bundles.bundle_service import OpenRequest, open_bundle  # noqa: PLC0415

        results: list[ImportedFile] = []
        n_told = 0

        async def moved(n_done: int, n_bytes: int) -> None:
            nonlocal n_told
            await watch.loading(n_bytes, n_done, path.name)
            while n_told < len(results):
                await watch.done(first_position + n_told, results[n_told])
                n_told += 1

        request = OpenRequest(path, asked_by, host, merges=True, max_bytes=self._max_bytes)
        manifest = await open_bundle(self._engine, request, told=results.append, moved=moved)
        await moved(manifest.n_bytes, manifest.n_bytes)
