"""A bundle that is opened on another server gives there, digit for digit, what the first server has of the window."""

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession

from normstat.artefacts.artefact_service import ArtefactDraft, load_parts, make_artefact
from normstat.auth import account_rows
from normstat.baselines.baseline_rows import BaselineChange, BaselineDraft, create_baseline, list_baselines, update_baseline
from normstat.baselines.baseline_versions import list_versions
from normstat.baselines.exclusion_rows import ExclusionCreate, create_exclusion, list_exclusions
from normstat.bundles.bundle_service import BundleRequest, OpenRequest, open_bundle, stream_bundle
from normstat.comparison.past_incident_rows import forget_orphans, list_past
from normstat.comparison.saved_comparison_rows import SavedComparisonDraft, create_saved, list_saved, read_saved_result
from normstat.db.row_budgets import BASELINE_VERSIONS, BASELINES, COMPARISONS, EVENTS, EXCLUSIONS, require_room
from normstat.db.schema.incident_models import PastIncidentRow
from normstat.db.session import make_engine, make_sessions, open_read_session, open_write_session
from normstat.errors import Conflict, TooManyRequests
from normstat.ingest.import_rows import ImportedFile
from normstat.query.export.csv_export import ExportRequest, stream_csv
from normstat.records.artefact_rows import ArtefactFilter, ArtefactSource, list_artefacts, read_text
from normstat.records.event_rows import EventDraft, EventFilter, EventSource, create_event, list_events
from normstat.samples.lookup import list_host_stats, require_host
from normstat.stats.fact_words import EventKind
from normstat.window import Window
from tests.compaction.raw_view import pack_all
from tests.databases import Sessions, TestServer, on_either_database
from tests.generated import PLOCKSTAT, mpstat_text, vmstat_text, vmstat_times
from tests.golden_captures import GOLDEN
from tests.ingest.rereading import ALWAYS
from tests.ingest.sending import Agent, gap
from tests.query.filling import seal_all

START = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)
WINDOW = Window(START + timedelta(seconds=60), START + timedelta(seconds=120))


@pytest.fixture
def other_url(server: TestServer) -> Iterator[str]:
    with server.fresh_database() as url:
        yield url


@pytest.fixture
async def other(other_url: str) -> AsyncIterator[AsyncEngine]:
    engine = make_engine(other_url, pool_size=4)
    yield engine
    await engine.dispose()


def proc_text(n: int, *, start: datetime = START, step_s: int = 1) -> bytes:
    """Counters of /proc/stat, /proc/diskstats and /proc/net/dev, as an agent's loop prints them."""
    parts = []
    for number in range(n):
        at = int(start.timestamp()) + number * step_s
        busy = 1000 + number * number
        parts.append(
            f"{at}\n==> /proc/uptime <==\n{5000 + number}.24 9000.18\n\n==> /proc/stat <==\n"
            f"cpu  {busy} 10 {number * 7} {90000 + 93 * number} 18 0 37 5 0 0\n"
            f"cpu0 {busy} 10 {number * 7} {90000 + 93 * number} 18 0 37 5 0 0\n"
            f"intr {1000 * number} 0\nctxt {146358867 + 977 * number * number}\nbtime 1795339985\nprocesses {2702225 + number}\n"
            "procs_running 4\nprocs_blocked 0\n\n==> /proc/diskstats <==\n"
            f" 253       0 vda {100 + 3 * number} 0 {800 + number * 31} 55 {70 + number} 0 {640 + number * 8} 99 0 {number * 5} 154"
            " 0 0 0 0 0 0\n\n"
        )
        # Some counters are printed every five seconds only.
        if number % 5 == 3:
            names = "RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets CurrEstab InSegs OutSegs"
            values = f"1 200 120000 -1 {number * 2} {number} 0 0 5 {number * 31} {number * 30} {number // 4}"
            parts.append(f"==> /proc/net/snmp <==\nTcp: {names} RetransSegs\nTcp: {values}\n\n")
    return "".join(parts).encode()


async def make(engine: AsyncEngine, path: Path, window: Window = WINDOW, *, baselines: tuple[str, ...] = ()) -> Path:
    pieces = await stream_bundle(engine, BundleRequest("alpha", window, "admin", baselines))
    path.write_bytes(b"".join([piece async for piece in pieces]))  # noqa: ASYNC240 (a test waits for nothing else)
    return path


async def load(engine: AsyncEngine, path: Path, host: str | None = None, *, merges: bool = False) -> list[ImportedFile]:
    told: list[ImportedFile] = []

    async def moved(n_done: int, n_all: int) -> None:
        assert 0 <= n_done <= n_all

    await open_bundle(engine, OpenRequest(path, "admin", host, merges), told=told.append, moved=moved)
    return told


async def csv_of(engine: AsyncEngine, window: Window = WINDOW, host: str = "alpha") -> dict[str, bytes]:
    """The export of every stat, wide, and of all, long."""
    async with AsyncSession(engine) as session:
        stats = [stat.name for stat in await list_host_stats(session, await require_host(session, host))]
    found = {}
    for stat in [None, *stats]:
        pieces = await stream_csv(engine, ExportRequest(host=host, window=window, stat=stat))
        text = b"".join([piece async for piece in pieces])
        if stat is None or text.count(b"\n") > 1:
            found[stat or ""] = text
    return found


async def fill(agent: Agent) -> None:
    """Counters, reports with headers that come once, several streams of one stat, CPUs that come, bytes that were lost."""
    await agent.send_file(proc_text(200), "proc_linux", "proc_linux.1.1-1")
    await agent.send_file(vmstat_text(vmstat_times(200)), key="vmstat_linux.1.1-2")
    cpus = mpstat_text(90, 2) + mpstat_text(90, 4, start=START + timedelta(seconds=90))
    await agent.send_file(cpus, "mpstat_linux", "mpstat_linux.1.1-3")
    lossy = vmstat_text(vmstat_times(150), seed=7)
    half = lossy.find(b"\n", len(lossy) // 2) + 1
    end = await agent.send_file(lossy[:half], key="vmstat_linux.1.1-4")
    await agent.send(gap(end, 400, key="vmstat_linux.1.1-4"))
    await agent.send_file(lossy[half + 400 :], key="vmstat_linux.1.1-4", offset=end + 400)


async def write_notes(sessions: Sessions) -> None:
    """What people add: an event, a baseline of two versions, an exclusion, an artefact, a saved comparison."""
    async with open_write_session(sessions) as session:
        at = WINDOW.start + timedelta(seconds=7)
        draft = EventDraft(at, None, EventKind.NOTE, "v2 <b>out</b>", ("prod",), ("alpha",), EventSource.USER, "ann")
        await create_event(session, draft)
        baseline = await create_baseline(
            session, BaselineDraft("quiet", "before the change", ("alpha",), (Window(START, WINDOW.start),), "ann")
        )
        windows = (Window(START + timedelta(seconds=5), WINDOW.start + timedelta(seconds=9)),)
        await update_baseline(session, baseline.id, BaselineChange(changed_by="bob", windows=windows, reason="without the start"))
        excluded = Window(WINDOW.start + timedelta(seconds=2), WINDOW.start + timedelta(seconds=4))
        await create_exclusion(
            session, ExclusionCreate(name="backup", start=excluded.start, end=excluded.end, host="alpha"), by="ann"
        )
        inputs = {"host": ["alpha"], "start": WINDOW.start.isoformat(), "end": WINDOW.end.isoformat(), "baseline": baseline.id}
        await create_saved(session, SavedComparisonDraft("incident 7", "", inputs, b'{"verdict": "x"}', "ann"))


async def notes_of(engine: AsyncEngine, host: str = "alpha") -> dict[str, object]:
    """What people added, without the ids of this database."""
    async with open_read_session(make_sessions(engine)) as session:
        host_id = await require_host(session, host)
        # That a gap was told of is an event of today, outside the window.
        of_that_day = EventFilter(hosts=(host_id,), end=START + timedelta(days=1))
        events, _ = await list_events(session, of_that_day, limit=100)
        baselines = await list_baselines(session, host)
        saved = (await list_saved(session)).comparisons
        names = {baseline.id: baseline.name for baseline in baselines}
        page = await list_artefacts(session, ArtefactFilter(hosts=(host,)), limit=100, offset=0)
        return {
            "events": [(one.at, one.end, one.kind, one.text, one.tags, one.source, one.author) for one in events],
            "baselines": [
                (one.name, one.note, one.windows, one.version, one.created_by, one.created_at, one.time_zone) for one in baselines
            ],
            "versions": [await list_versions(session, one.id) for one in baselines],
            "exclusions": [(one.name, one.start, one.end, one.created_at) for one in await list_exclusions(session, host=host)],
            "saved": [
                (one.name, one.inputs | {"baseline": names[int(str(one.inputs["baseline"]))]}, one.created_at,
                 await read_saved_result(session, one.id))
                for one in saved
            ],
            "artefacts": [
                (one.start, one.end, one.duration_s, one.tool, one.title, one.command, one.question, one.effect, one.author,
                 one.created, one.sha256, b"".join([part async for part in read_text(session, one.id)]),
                 list(await load_parts(session, one.id)))
                for one in page.artefacts
            ],
        }  # fmt: skip


async def test_a_bundle_uses_up_no_budget_of_an_account_or_token_here(
    engine: AsyncEngine, sessions: Sessions, other: AsyncEngine, tmp_path: Path
) -> None:
    """Its names are those of the other server, and who made the bundle chose them."""
    await Agent(engine).send_file(vmstat_text(vmstat_times(150)), key="vmstat_linux.1.1-2")
    await write_notes(sessions)
    budgets = (BASELINES, BASELINE_VERSIONS, EXCLUSIONS, COMPARISONS)
    async with open_write_session(make_sessions(other)) as session:
        await account_rows.add_user(session, name="ann", role="viewer", password_hash=None)
        await account_rows.add_agent_token(session, name="bob", host=None, token_hash=b"x", created_by="root")
    await load(other, await make(engine, tmp_path / "b.zip"))
    notes = await notes_of(other)
    assert {row[-1] for row in notes["events"]} == {"ann (bundle)"}  # type: ignore[attr-defined]
    for name in ("ann", "bob"):
        async with open_read_session(make_sessions(other)) as session:
            for budget in (EVENTS, *budgets):
                await require_room(session, budget, name, 1)
    async with open_read_session(sessions) as session:
        for budget in budgets:
            with pytest.raises(TooManyRequests):
                await require_room(session, budget, "ann", 1)


@pytest.mark.slow
async def test_everything_of_the_window_comes_back(
    engine: AsyncEngine, sessions: Sessions, other: AsyncEngine, tmp_path: Path
) -> None:
    await fill(Agent(engine))
    await write_notes(sessions)
    text = tmp_path / "lock.txt"
    text.write_bytes(PLOCKSTAT)
    draft = ArtefactDraft(
        "alpha", ArtefactSource.API, "ann", start=WINDOW.start, command="plockstat -A -e 10 -p 4711", title="locks"
    )
    await make_artefact(sessions, draft, text, now=START + timedelta(hours=1))
    bundle = await make(engine, tmp_path / "b.zip")
    here, notes = await csv_of(engine), await notes_of(engine)
    assert {"linux_tcp", "linux_kernel", "vmstat_linux", "mpstat_linux"} < here.keys()
    assert all(notes.values())
    told = await load(other, bundle)
    assert await csv_of(other) == here
    assert await notes_of(other) == notes
    assert all("from bundle" in one.note for one in told)
    # Twice is once.
    with pytest.raises(Conflict, match="--as"):
        await load(other, bundle)
    again = await load(other, bundle, merges=True)
    assert sum(one.n_samples_new for one in again) == 0
    # Only the line that ends the gap before the cut, and what the agent's loss cut, is rejected.
    assert {one.spec: one.n_rejected for one in again if one.stats}["proc_linux"] <= 1
    assert await csv_of(other) == here
    assert await notes_of(other) == notes
    # Little comes from outside of the window: a report on each side.
    outside = (await csv_of(other, Window(START, WINDOW.start)))["proc_cpu_linux" if "proc_cpu_linux" in here else ""]
    assert outside.count(b"\n") < here[""].count(b"\n") / 20
    # And it is sealed and packed where it was made: the same bundle but for what it says of itself.
    assert await seal_all(sessions, "alpha") > 0
    assert (await pack_all(sessions)).n_bytes > 0
    packed = await make(engine, tmp_path / "c.zip")
    await load(other, packed, "alpha2")
    assert await csv_of(other, host="alpha2") == here


@on_either_database
async def test_a_pattern_travels_without_its_comparison(
    engine: AsyncEngine, sessions: Sessions, other: AsyncEngine, tmp_path: Path
) -> None:
    await Agent(engine).send_file(vmstat_text(vmstat_times(150)), key="vmstat_linux.1.1-2")
    signature = {"cpu.usr": 3.25, "cpu.idle": -2.0}
    async with open_write_session(sessions) as session:
        for window in (WINDOW, Window(WINDOW.end, WINDOW.end + timedelta(seconds=9))):
            incident = PastIncidentRow(
                hosts=["alpha"], start_at=window.start, end_at=window.end, title="Slow", sentence="dd wrote.", signature=signature,
                computed_at=WINDOW.end, cause="a backup", remedy="moved it", named_by="ann", named_at=WINDOW.end,
            )  # fmt: skip
            session.add(incident)
        session.add(
            PastIncidentRow(hosts=["alpha"], start_at=WINDOW.start, end_at=WINDOW.end, title="No cause", computed_at=WINDOW.end)
        )
    bundle = await make(engine, tmp_path / "b.zip")
    told = await load(other, bundle, "beta")
    [row] = [one for one in told if one.path == "patterns"]
    assert (row.spec, row.n_samples_new) == ("1 pattern", 1)
    await load(other, bundle, "beta", merges=True)
    async with open_write_session(make_sessions(other)) as session:
        page = await list_past(session, has_cause=False, limit=10)
        [pattern] = page.incidents
        assert (pattern.hosts, pattern.start, pattern.cause, pattern.remedy, pattern.named_by) == (
            ["beta"], WINDOW.start, "a backup", "moved it", "ann",
        )  # fmt: skip
        assert pattern.origin.startswith("from bundle ")
        # It is of no comparison here, and stays all the same.
        await forget_orphans(session)
        past = await session.scalar(select(PastIncidentRow.signature))
        assert past == signature


@on_either_database
async def test_counters_at_the_cut_have_their_first_rate(engine: AsyncEngine, other: AsyncEngine, tmp_path: Path) -> None:
    await Agent(engine).send_file(proc_text(200), "proc_linux", "proc_linux.1.1-1")
    bundle = await make(engine, tmp_path / "b.zip")
    await load(other, bundle)
    here = await csv_of(engine)
    assert await csv_of(other) == here
    # The first line of the window is a rate, and a rate needs the report before.
    stat = "linux_kernel"
    header, first = (line.decode().split(",") for line in here[stat].split(b"\r\n")[:2])
    column = next(number for number, name in enumerate(header) if "cswch" in name)
    assert first[0] == "2026-11-21T12:01:00Z"
    assert float(first[column]) == 977 * (60**2 - 59**2)


@pytest.mark.matrix
@on_either_database
async def test_windows_that_overlap_load_each_byte_once(engine: AsyncEngine, other: AsyncEngine, tmp_path: Path) -> None:
    await fill(Agent(engine))
    windows = [
        Window(START + timedelta(seconds=begin), START + timedelta(seconds=end)) for begin, end in ((80, 110), (20, 90), (100, 170))
    ]
    for number, window in enumerate(windows):
        await load(other, await make(engine, tmp_path / f"{number}.zip", window), merges=number > 0)
    whole = Window(START + timedelta(seconds=20), START + timedelta(seconds=170))
    assert await csv_of(other, whole) == await csv_of(engine, whole)


@pytest.mark.matrix
@on_either_database
async def test_captures_of_many_tools_survive_a_cut(engine: AsyncEngine, other: AsyncEngine, tmp_path: Path) -> None:
    agent = Agent(engine)
    tools = ("mpstat_linux", "iostat_linux", "proc_linux", "proc_pid_linux", "vmstat_solaris")
    paths = [path for tool in tools for path in sorted(GOLDEN.glob(f"*/{tool}/*.txt"), key=lambda path: path.name)]
    for number, path in enumerate(paths):
        await agent.send_file(path.read_bytes(), path.parent.name, f"k{number}")
    async with AsyncSession(engine) as session:
        host_id = await require_host(session, "alpha")
    assert host_id
    here = await csv_of(engine, ALWAYS)
    times = sorted({line.split(b",")[0].decode() for line in here[""].split(b"\r\n")[1:-1]})
    middle = datetime.fromisoformat(times[len(times) // 2])
    window = Window(middle, ALWAYS.end)
    await load(other, await make(engine, tmp_path / "b.zip", window))
    assert await csv_of(other, window) == await csv_of(engine, window)
