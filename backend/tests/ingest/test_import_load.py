"""An import is as exact as live delivery: the same samples, rejected lines and accounts, once, however often a file is loaded."""

import dataclasses
import datetime as dt
import gzip
import io
import random
import tarfile
from collections.abc import Collection
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.artefacts import import_keeper
from normstat.artefacts.import_keeper import ImportKeeper
from normstat.db.session import make_engine, make_sessions
from normstat.errors import DatabaseAway
from normstat.ingest.batching import Recording
from normstat.ingest.import_rows import ImportedFile
from normstat.ingest.imports import load
from normstat.ingest.imports.import_options import ImportOptions
from normstat.ingest.imports.import_run import ImportSource, run_import
from normstat.ingest.imports.unpacking import Stopped
from normstat.stats.catalogue import load_catalogue, require_spec
from normstat.stats.readers import read
from normstat.stats.records import NO_TIME, NO_TIMING
from normstat.window import to_us
from tests.database_access import Database, query
from tests.databases import on_either_database
from tests.generated import mpstat_text, vmstat_text, vmstat_times
from tests.golden_captures import Capture, captures, specs_of_families
from tests.ingest.rereading import export
from tests.ingest.sending import Agent, stream

NOTHING = ImportOptions()
# Of each capture.
MAX_ARTEFACT_BYTES = 10_000
COUNTERS = "n_header, n_sample, n_since_boot, n_timestamp, n_state_change, n_ignored, n_rejected, bytes_by_kind, acked_offset"


@dataclasses.dataclass
class Results:
    """Keeps what became of the files; stops after `stop_at` bytes."""

    stop_at: int | None = None
    files: dict[int, ImportedFile] = dataclasses.field(default_factory=dict)

    async def surveying(self, n_bytes: int, path: str) -> None:
        pass

    async def loading(self, n_bytes: int, n_bytes_done: int, path: str) -> None:
        assert n_bytes_done <= n_bytes
        if self.stop_at is not None and n_bytes_done >= self.stop_at:
            raise Stopped

    async def done(self, position: int, file: ImportedFile) -> None:
        self.files[position] = file


async def load_files(
    engine: AsyncEngine, *paths: Path, options: ImportOptions = NOTHING, host: str = "alpha"
) -> list[ImportedFile]:
    results = Results()
    await run_import(engine, ImportSource(host, paths, options, 1 << 40), results, ImportKeeper(make_sessions(engine)))
    return [results.files[position] for position in sorted(results.files)]


async def rows_of(engine: AsyncEngine, url: str, host: str) -> dict[str, object]:
    """All that the database has of a host's streams but their names and numbers."""
    streams = f"FROM streams s JOIN hosts h ON h.id = s.host_id AND h.name = '{host}'"
    lines = "s.spec, r.line_offset, r.line_no, r.n_bytes, r.line_text, r.reason"
    return {
        "samples": (await export(engine, host)).splitlines(),
        "rejected": query(url, f"SELECT {lines} {streams} JOIN rejected_lines r ON s.id = r.stream_id ORDER BY 1, 2, r.id"),
        "accounts": query(url, f"SELECT s.spec, {COUNTERS}, first_sample_at, last_sample_at, stat_names {streams} ORDER BY 1"),
    }


def richest_captures(specs: Collection[str]) -> dict[str, Capture]:
    """Return the capture with the most timed samples for each spec."""
    best: dict[str, tuple[int, Capture]] = {}
    for capture in captures():
        if capture.spec not in specs:
            continue
        result = read(require_spec(capture.spec), whole_lines(capture), state={}, offset=0)
        n_timed = sum(int((block.time_us != NO_TIME).sum()) for block in result.blocks)
        best[capture.spec] = max(best.get(capture.spec, (-1, capture)), (n_timed, capture), key=lambda item: item[0])
    return {spec: capture for spec, (_, capture) in best.items()}


def holds_its_end(spec: str, data: bytes) -> bool:
    n_rows = [
        sum(map(len, read(require_spec(spec), data, state={}, offset=0, is_final=is_final).blocks)) for is_final in (False, True)
    ]
    return n_rows[0] != n_rows[1]


def whole_lines(capture: Capture) -> bytes:
    """The beginning of a capture as an agent sends it: what follows the last newline waits for the next one."""
    return capture.data[: capture.data.rfind(b"\n", 0, MAX_ARTEFACT_BYTES) + 1]


FIRST_OF_EACH_FAMILY = [names[0] for names in specs_of_families().values()]


# On one kind of database: what differs between specs is the same on both.
@pytest.mark.slow
@pytest.mark.parametrize("server", ["postgresql"], indirect=True)
@pytest.mark.parametrize(
    "specs",
    [
        pytest.param(FIRST_OF_EACH_FAMILY, id="one of each family"),
        pytest.param(list(load_catalogue().specs), id="all", marks=pytest.mark.matrix),
    ],
)
async def test_an_import_is_the_same_as_live_streaming_of_the_same_bytes(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, specs: list[str]
) -> None:
    monkeypatch.setattr(load, "PIECE_BYTES", 3000)
    rng = random.Random(1)
    live = Agent(db.engine, host="live")
    for spec, capture in richest_captures(specs).items():
        data = whole_lines(capture)
        at = 0
        while at < len(data):
            end = min(len(data), at + rng.randrange(1, 4000))
            at = (await live.send(stream(data[at:end], spec, f"{spec}.1", offset=at, command="")))[f"{spec}.1"] if end > at else at
            if end < len(data) and at < end:
                # An agent that has no whole line yet comes back with more.
                end = min(len(data), at + 70_000)
                at = (await live.send(stream(data[at:end], spec, f"{spec}.1", offset=at, command="")))[f"{spec}.1"]
        if holds_its_end(spec, data):
            # Its reader waits for more before it gives the last sample; a file ends, and a live stream does not.
            last = stream(b"", spec, f"{spec}.1", offset=at, command="")
            await live.send(last, recording=Recording(NO_TIMING, is_final=True))
        path = tmp_path / f"{spec}.capture"
        path.write_bytes(data)
        (result,) = await load_files(db.engine, path, options=ImportOptions(spec=spec), host="imported")
        assert result.spec == spec
    of_live, of_import = await rows_of(db.engine, db.url, "live"), await rows_of(db.engine, db.url, "imported")
    for name, rows in of_live.items():
        assert of_import[name] == rows, name
    assert len((await export(db.engine, "live")).splitlines()) > 100
    hosts: dict[str, object] = dict(db.query("SELECT name, last_seen_at FROM hosts"))
    assert hosts["imported"] is None
    assert hosts["live"] is not None


async def test_loading_twice_changes_nothing(db: Database, tmp_path: Path) -> None:
    text = vmstat_text(vmstat_times(301))
    (tmp_path / "vmstat.out").write_bytes(text)
    (first,) = await load_files(db.engine, tmp_path)
    assert (first.n_samples, first.n_samples_new, first.n_reports, first.n_rejected, first.note) == (300, 300, 300, 0, "")
    before = await rows_of(db.engine, db.url, "alpha")
    (again,) = await load_files(db.engine, tmp_path)
    assert (again.n_samples, again.n_samples_new, again.note) == (300, 0, "already loaded")
    # The same content in another form and under another name is the same content.
    (tmp_path / "other").mkdir()
    (tmp_path / "other/x.gz").write_bytes(gzip.compress(text))
    (packed,) = await load_files(db.engine, tmp_path / "other")
    assert (packed.n_samples_new, packed.note) == (0, "already loaded")
    assert await rows_of(db.engine, db.url, "alpha") == before
    # Another host is another story, and so are other times.
    (elsewhere,) = await load_files(db.engine, tmp_path / "vmstat.out", host="beta")
    assert elsewhere.n_samples_new == 300


@on_either_database
async def test_the_same_file_twice_in_one_archive_is_loaded_once(engine: AsyncEngine, tmp_path: Path) -> None:
    text = vmstat_text(vmstat_times(21))
    with tarfile.open(tmp_path / "a.tar.xz", "w:xz") as archive:
        for name in ("one/vmstat.out", "two/vmstat.out"):
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text))
    one, two = await load_files(engine, tmp_path / "a.tar.xz")
    assert (one.n_samples_new, two.n_samples_new, two.note) == (20, 0, "already loaded")
    assert one.path == f"{tmp_path}/a.tar.xz/one/vmstat.out"


@on_either_database
async def test_a_file_that_grows_is_one_stream(db: Database, tmp_path: Path) -> None:
    text = vmstat_text(vmstat_times(201))
    whole = tmp_path / "whole"
    whole.write_bytes(text)
    await load_files(db.engine, whole, host="whole")
    growing = tmp_path / "growing"
    bounds = [text.rfind(b"\n", 0, int(len(text) * cut)) + 1 for cut in (0.5, 0.501, 0.9)]
    total = 0
    for bound in [*bounds, len(text)]:
        growing.write_bytes(text[:bound])
        (result,) = await load_files(db.engine, growing)
        total += result.n_samples_new
    assert total == result.n_samples == 200
    assert "were already loaded" in result.note
    grown, at_once = await rows_of(db.engine, db.url, "alpha"), await rows_of(db.engine, db.url, "whole")
    assert grown == at_once
    # What it was earlier is known too.
    growing.write_bytes(text[: bounds[0]])
    (earlier,) = await load_files(db.engine, growing)
    assert (earlier.n_samples_new, earlier.note) == (0, "already loaded")
    assert await rows_of(db.engine, db.url, "alpha") == grown


@on_either_database
async def test_a_file_that_grew_behind_a_cut_line_loses_that_line_alone(db: Database, tmp_path: Path) -> None:
    text = vmstat_text(vmstat_times(50))
    middle = text.rfind(b"\n", 0, len(text) // 2) + 30
    path = tmp_path / "vmstat.out"
    path.write_bytes(text[:middle])
    (first,) = await load_files(db.engine, path)
    path.write_bytes(text)
    (second,) = await load_files(db.engine, path)
    assert first.n_rejected == 1
    assert second.n_samples == 48
    # Its beginning was refused as cut off; its rest is refused, not read as a row of its own.
    assert [total.reason for total in second.reasons] == ["cut off: the last line has no newline and may be incomplete"]
    ((n_bytes,),) = db.query("SELECT sum(v::bigint) FROM streams, jsonb_each_text(bytes_by_kind) AS b(k, v)")
    assert int(str(n_bytes)) == len(text)


@on_either_database
async def test_different_endings_of_one_beginning_are_different_streams(engine: AsyncEngine, tmp_path: Path) -> None:
    head = vmstat_text(vmstat_times(10))
    one, other = (vmstat_text(vmstat_times(30))[len(head) :], vmstat_text([*vmstat_times(10), *vmstat_times(90)[60:]])[len(head) :])
    results = []
    for ending in (b"", one, other):
        (tmp_path / "x").write_bytes(head + ending)
        results += await load_files(engine, tmp_path / "x")
    assert [result.n_samples for result in results] == [9, 29, 39]
    assert [result.n_samples_new for result in results] == [9, 20, 39]


@on_either_database
async def test_an_import_that_was_stopped_goes_on(db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "PIECE_BYTES", 4000)
    text = vmstat_text(vmstat_times(401))
    (tmp_path / "vmstat.out").write_bytes(text)
    await load_files(db.engine, tmp_path, host="whole")
    with pytest.raises(Stopped):
        await run_import(db.engine, ImportSource("alpha", [tmp_path], NOTHING, 1 << 40), Results(stop_at=len(text) // 2))
    ((n_there,),) = db.query("SELECT acked_offset FROM streams JOIN hosts h ON h.id = host_id WHERE h.name = 'alpha'")
    assert 0 < int(str(n_there)) < len(text)
    (result,) = await load_files(db.engine, tmp_path)
    assert result.n_samples == 400
    assert await rows_of(db.engine, db.url, "alpha") == await rows_of(db.engine, db.url, "whole")


@on_either_database
async def test_what_was_said_of_the_times_stays_with_the_stream(db: Database, tmp_path: Path) -> None:
    lines = mpstat_text(3, 2).decode().splitlines()[2:]
    (tmp_path / "mpstat.out").write_text("\n".join(lines) + "\n")
    options = ImportOptions(zone="Europe/Berlin", date=dt.date(2026, 11, 21))
    (result,) = await load_files(db.engine, tmp_path, options=options)
    assert result.n_samples
    assert result.first_sample_at is not None
    assert result.first_sample_at.date() == dt.date(2026, 11, 21)
    (told,) = db.query("SELECT time_zone, first_day, start_at, interval_s, is_finished FROM streams")
    assert told == ("Europe/Berlin", dt.date(2026, 11, 21), None, None, True)


SAMPLES = b"""java 4711/4712 [001] 1000.000001:     250000 cpu-clock:
\t    7f0000001000 read+0x10 (/lib/libc.so.6)
\t    7f0000002000 main+0x20 (/usr/bin/java)

"""
LOCKS = b"""Mutex block

Count     nsec Lock                         Caller
-------------------------------------------------------------------------------
   78    69427 libc.so.1`libc_malloc_lock   libzip.so`deflate+0x29c
"""


@on_either_database
async def test_what_answers_a_question_once_is_an_artefact_too(db: Database, tmp_path: Path) -> None:
    (tmp_path / "plockstat.txt").write_bytes(LOCKS)
    (tmp_path / "vmstat.out").write_bytes(vmstat_text(vmstat_times(5)))
    with tarfile.open(tmp_path / "all.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "plockstat.txt", "deep/plockstat.txt")
    start = dt.datetime(2026, 11, 21, 10, tzinfo=dt.UTC)
    options = ImportOptions(start_us=to_us(start))
    results = {
        Path(result.path).name: result for result in await load_files(db.engine, tmp_path / "plockstat.txt", options=options)
    }
    made = results["plockstat.txt"].artefact
    assert made is not None
    rows = db.query("SELECT id, file_name, source, tool, n_bytes, start_at FROM artefacts")
    assert rows == [(made, str(tmp_path / "plockstat.txt"), "import", "plockstat", len(LOCKS), start)]
    # Again, and within an archive, it is the same one.
    for path in (tmp_path / "plockstat.txt", tmp_path / "all.tar.gz"):
        [again] = await load_files(db.engine, path, options=options)
        assert again.artefact == made
    [other] = await load_files(db.engine, tmp_path / "vmstat.out")
    assert other.artefact is None
    assert db.query("SELECT count(*) FROM artefacts") == [(1,)]


@on_either_database
async def test_stacks_that_no_spec_reads_are_artefacts(db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folded = b"java;main;run 12\njava;main;stop 3\n"
    (tmp_path / "out.folded").write_bytes(folded)
    (tmp_path / "perf.txt").write_bytes(SAMPLES * 2)
    (tmp_path / "letter.txt").write_bytes(b"Dear all,\nnothing; of note 5\nYours\n")
    with tarfile.open(tmp_path / "all.tar.gz", "w:gz") as archive:
        for name in ("letter.txt", "out.folded", "perf.txt"):
            archive.add(tmp_path / name, f"deep/{name}")
    found = {Path(file.path).name: file for file in await load_files(db.engine, tmp_path / "all.tar.gz")}
    assert {name: file.spec for name, file in found.items()} == {
        "letter.txt": None, "out.folded": "folded", "perf.txt": "perf_script",
    }  # fmt: skip
    assert [(file.note, file.missing, file.n_samples) for name, file in found.items() if name != "letter.txt"] == [("", [], 0)] * 2
    assert found["letter.txt"].artefact is None
    rows = db.query("SELECT id, spec, source, n_bytes FROM artefacts ORDER BY spec")
    assert rows == [
        (found["out.folded"].artefact, "folded", "import", len(folded)),
        (found["perf.txt"].artefact, "perf_script", "import", 2 * len(SAMPLES)),
    ]
    # What is too large for an artefact says so.
    monkeypatch.setattr(import_keeper, "MAX_ARTEFACT_BYTES", 40)
    (tmp_path / "plockstat.txt").write_bytes(LOCKS)
    (tmp_path / "more.folded").write_bytes(folded * 2)
    start = dt.datetime(2026, 11, 21, 10, tzinfo=dt.UTC)
    for name in ("plockstat.txt", "more.folded"):
        [file] = await load_files(db.engine, tmp_path / name, options=ImportOptions(start_us=to_us(start)))
        assert file.artefact is None
        assert "not stored as an artefact: it has " in file.note
    assert db.query("SELECT count(*) FROM artefacts") == [(2,)]


@on_either_database
@pytest.mark.slow
async def test_samples_of_too_many_days_are_loaded_in_smaller_pieces(engine: AsyncEngine, tmp_path: Path) -> None:
    times = [dt.datetime(2020, 1, 1, tzinfo=dt.UTC) + dt.timedelta(days=number) for number in range(600)]
    (tmp_path / "years.out").write_bytes(vmstat_text(times))
    (result,) = await load_files(engine, tmp_path)
    assert (result.n_samples, result.n_rejected) == (599, 0)


async def test_a_database_that_stays_away_ends_the_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "WAIT_S", 0.01)
    engine = make_engine("postgresql://nobody@127.0.0.1:9/nothing", pool_size=1)
    loader = load.Loader(engine, "alpha")
    try:
        with pytest.raises(DatabaseAway):
            await loader._take(stream(b"x\n"), Recording(NO_TIMING))
    finally:
        await engine.dispose()
