"""The state of a reader is derived from the stored bytes again, chunk by chunk, as it was when they came."""

from pathlib import Path
from typing import cast

import pytest
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.db.schema.models import Chunk, Stream
from normstat.db.session import make_sessions
from normstat.ingest.imports import load
from normstat.ingest.imports.import_options import ImportOptions
from normstat.ingest.reparse import recover_state
from normstat.samples.ingest_rows import OpenStream
from normstat.stats.catalogue import require_spec
from tests.ingest.test_import_load import load_files

WIDTH = 60
HEADER = "12:00:00 PM  CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle\n"
ROW = "12:{:02}:00 PM  all   11.22    0.00    3.06    0.51    0.00    0.00    0.00    0.00    0.00   85.20\n"
MPSTAT = "Linux 6.1.0 (web1)  11/21/2026  _x86_64_ (2 CPU)\n\n" + HEADER + "".join(ROW.format(minute) for minute in range(1, 10))


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
        # A row of the table has the same columns as an open stream.
        opened = cast("OpenStream", stream)
        state = await recover_state._read_parts(session, opened, require_spec("mpstat_linux"), parts)
    assert state["fold"] == stream.reader_state["fold"]
    assert {key: value for key, value in state.items() if key != "line_no"} == {
        key: value for key, value in stream.reader_state.items() if key != "line_no"
    }
