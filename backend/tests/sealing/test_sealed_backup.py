"""Backups of sealed samples: each sample once, whether it was a row or sealed when the backup before was made."""

from pathlib import Path

from sqlalchemy.ext.asyncio import AsyncEngine

from tests.databases import on_either_database
from tests.generated import vmstat_text, vmstat_times
from tests.ingest.rereading import export
from tests.ingest.sending import Agent, opened_engine
from tests.query.filling import Sessions, seal_all
from tests.storage.test_backup import bring, files_of, fill, other_url, save

pytestmark = on_either_database

__all__ = ["other_url"]


async def test_rows_that_were_sealed_since_are_not_restored_twice(
    engine: AsyncEngine, sessions: Sessions, database_url: str, other_url: str, tmp_path: Path
) -> None:
    await fill(engine)
    csv = await export(engine), await export(engine, "beta")
    await save(database_url, tmp_path)
    await seal_all(sessions, "alpha")
    manifest, _ = await save(database_url, tmp_path)
    assert any(piece.key.startswith("sealed/") for piece in manifest.pieces)
    again, progress = await save(database_url, tmp_path)
    assert [piece for piece in again.pieces if piece.mark] == [piece for piece in manifest.pieces if piece.mark]
    assert progress.n_kept >= sum(1 for piece in again.pieces if piece.mark)
    # Late, in a time that is sealed: a row, then part of the block.
    await Agent(engine).send_file(vmstat_text(vmstat_times(7)), key="late")
    await save(database_url, tmp_path)
    await seal_all(sessions, "alpha")
    last, _ = await save(database_url, tmp_path)
    assert files_of(tmp_path) == {piece.file for piece in last.pieces}
    csv = await export(engine), csv[1]
    await bring(other_url, tmp_path)
    async with opened_engine(other_url, pool_size=2) as other:
        assert (await export(other), await export(other, "beta")) == csv
