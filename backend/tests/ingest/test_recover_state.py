"""The state of a reader is derived from the stored bytes again, chunk by chunk, as it was when they came."""

from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.ingest.imports import load
from normstat.ingest.imports.import_options import ImportOptions
from normstat.ingest.reparse import recover_state
from normstat.stats.catalogue import require_spec
from normstat.storage.schema.models import Chunk, Stream
from normstat.storage.session import make_sessions
from tests.ingest.test_import_load import load_files
from tests.stats.test_folded_lines import MPSTAT

WIDTH = 60


def fold(text: str) -> str:
    return "".join(f"{line[at : at + WIDTH]}\n" for line in text.split("\n")[:-1] for at in range(0, max(1, len(line)), WIDTH))


@pytest.mark.parametrize("server", ["postgresql"], indirect=True)
async def test_folded_lines_go_on_in_the_next_chunk(engine: AsyncEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "PIECE_BYTES", 200)
    path = tmp_path / "mpstat.out"
    path.write_text(fold(MPSTAT))
    (result,) = await load_files(engine, path, options=ImportOptions(spec="mpstat_linux"), host="web1")
    assert result.n_samples > 0
    async with make_sessions(engine)() as session:
        stream = (await session.scalars(select(Stream))).one()
        assert len((await session.scalars(select(Chunk.start_offset))).all()) > 3
        parts = [(0, stream.acked_offset)]
        state = await recover_state._read_parts(session, stream, require_spec("mpstat_linux"), parts)
    assert state["fold"] == stream.reader_state["fold"]
    assert {key: value for key, value in state.items() if key != "line_no"} == {
        key: value for key, value in stream.reader_state.items() if key != "line_no"
    }
