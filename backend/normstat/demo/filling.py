"""Fill an empty database with the demo: load what the tools printed, then do what people would, through the API."""

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import httpx
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.app import create_app
from normstat.artefacts.import_keeper import ImportKeeper
from normstat.auth import account_rows
from normstat.auth.access import to_principal
from normstat.auth.accounts import create_api_token
from normstat.auth.roles import Role
from normstat.db.session import make_engine, make_sessions, open_read_session, open_write_session
from normstat.demo import VISITOR, artefact_texts
from normstat.demo.day import Day
from normstat.demo.scene import APP, DB, HOSTS, WEB, Scene, make_scene, write_captures
from normstat.errors import Conflict
from normstat.ingest.batching import set_limits
from normstat.ingest.import_rows import ImportedFile
from normstat.ingest.imports.import_options import check_options
from normstat.ingest.imports.import_run import ImportSource, run_import
from normstat.profiles.profile_job import run_profiles
from normstat.runtime.readable import to_iso
from normstat.samples.lookup import require_host
from normstat.settings import Settings
from normstat.watch.scores.score_job import backfill
from normstat.window import Window, to_us

OPERATOR: Final = "anna"
BUDGET_S: Final = 60.0
MINUTE_US: Final = 60_000_000
# How long before an incident its score begins, and after it ends: an episode has both.
AROUND: Final = timedelta(minutes=10)
# The stretches that are marked as normal.
QUIET: Final = timedelta(hours=2)
QUIET_AFTER: Final = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class Filled:
    """What is in the database. `token`: an API token of the visitor, with which an assistant may ask."""

    scene: Scene
    token: str


async def fill_demo(settings: Settings, day: Day) -> Filled:
    """Fill the database of the settings with a day; return what is in it.

    Raises: Conflict where the database has hosts already; DatabaseAway
    """
    engine = make_engine(settings.database_url, pool_size=4)
    set_limits(engine, settings.ingest_limits)
    try:
        sessions = make_sessions(engine)
        async with open_read_session(sessions) as session:
            if await account_rows.list_users(session):
                raise Conflict("The demo needs a database of its own, and this one is in use; give --data another folder")
        scene = await asyncio.to_thread(make_scene, day)
        await _load(engine, settings, scene)
        token = await _do_what_people_did(settings, engine, scene)
        now = datetime.now(UTC)
        # The rollups of the day are left to the server, which makes them in the background.
        await run_profiles(sessions, budget_s=BUDGET_S)
        await _score(engine, scene, now)
        return Filled(scene, token)
    finally:
        await engine.dispose()


# --- what the hosts recorded ---


class _Quiet:
    """Ignores the progress; a file that cannot be read is a defect of the demo."""

    async def surveying(self, n_bytes: int, path: str) -> None:
        """Ignore the progress."""

    async def loading(self, n_bytes: int, n_bytes_done: int, path: str) -> None:
        """Ignore the progress."""

    async def done(self, position: int, file: ImportedFile) -> None:
        """Check that every line was read."""
        del position
        assert file.spec is not None, f"{file.path} was not recognised: {file.note}"
        assert not file.n_rejected, f"{file.path} has {file.n_rejected} rejected lines: {file.reasons}"


async def _load(engine: AsyncEngine, settings: Settings, scene: Scene) -> None:
    captures = await asyncio.to_thread(write_captures, scene)
    with tempfile.TemporaryDirectory(prefix="normstat-demo-") as name:
        for host, files in captures.items():
            folder = Path(name) / host
            folder.mkdir()
            for file, text in files.items():
                (folder / file).write_text(text, encoding="ascii")
            source = ImportSource(
                host,
                [folder],
                check_options(zone=None, date=None, start=None, interval_s=None, spec=None),
                settings.import_max_bytes,
            )
            await run_import(engine, source, _Quiet(), ImportKeeper(make_sessions(engine)))


async def _score(engine: AsyncEngine, scene: Scene, now: datetime) -> None:
    """Score the hours with something unusual, as the server would have done minute by minute."""
    sessions = make_sessions(engine)
    for host, window in ((WEB, scene.backup.window), (DB, scene.lost_index.window), (APP, scene.lost_index.window)):
        async with open_read_session(sessions) as session:
            host_id = await require_host(session, host)
        whole = Window(window.start - AROUND, min(window.end + AROUND, scene.day.end))
        minutes = range(to_us(whole.start) // MINUTE_US, to_us(whole.end) // MINUTE_US)
        await backfill(sessions, host_id, minutes, now=now)


# --- what people did ---


async def _do_what_people_did(settings: Settings, engine: AsyncEngine, scene: Scene) -> str:
    """Do it; return the API token of the visitor."""
    async with open_write_session(make_sessions(engine)) as session:
        visitor = await account_rows.add_user(session, name=VISITOR, role=Role.VIEWER, password_hash=None)
        user = await account_rows.add_user(session, name=OPERATOR, role=Role.OPERATOR, password_hash=None)
        assert user is not None
        assert visitor is not None
        of_visitor = to_principal(visitor, b"", has_second_factor=False)
        visitor_token, _ = await create_api_token(session, of_visitor, name="assistant", role=Role.VIEWER)
        principal = to_principal(user, b"", has_second_factor=False)
        token, row = await create_api_token(session, principal, name="demo", role=Role.OPERATOR)
        token_id = row.id
    app = create_app(settings)
    transport = httpx.ASGITransport(app)
    headers = {"Authorization": f"Bearer {token}"}
    base = f"{settings.public_url.rstrip('/')}/api/v1"
    try:
        async with httpx.AsyncClient(transport=transport, base_url=base, headers=headers, timeout=BUDGET_S) as client:
            await _People(client, scene).work()
    finally:
        await app.state.normstat.close()
    async with open_write_session(make_sessions(engine)) as session:
        await account_rows.revoke_api_token(session, token_id, created_by=OPERATOR)
    return visitor_token


class _People:
    """An operator at work on the day."""

    def __init__(self, client: httpx.AsyncClient, scene: Scene) -> None:
        self._client = client
        self._scene = scene
        self._day = scene.day

    async def work(self) -> None:
        """Do it all."""
        await self._post("host-groups", {"name": "shop", "hosts": list(HOSTS), "note": "Everything an order passes through"})
        await self._note_events()
        baselines = {host: await self._mark_normal(host) for host in HOSTS}
        stacks = await self._keep_artefacts()
        await self._run_experiment()
        comparison = await self._compare_backup(baselines[WEB])
        await self._write_report(comparison, stacks)

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = await self._client.post(f"/{path}", json=body)
        assert answer.is_success, f"{path}: {answer.text}"
        found: dict[str, Any] = answer.json()
        return found

    async def _note_events(self) -> None:
        backup, release = self._scene.backup.start, self._scene.lost_index.start
        noted: Sequence[tuple[datetime, str, list[str], str, list[str]]] = (
            (
                backup - timedelta(minutes=1),
                "note",
                [WEB],
                "Backup of /export/www started by hand, the last one had failed",
                ["backup"],
            ),
            (backup + timedelta(minutes=40), "note", [WEB], "Backup ended", ["backup"]),
            (release - timedelta(hours=3), "maintenance", [APP], "Certificates of the payment provider renewed", []),
            (release - timedelta(minutes=2), "deployment", [APP, DB], "Release 4.8.1: order history, migration 211", ["release"]),
        )
        for at, kind, hosts, text, tags in noted:
            await self._post("events", {"at": to_iso(at), "kind": kind, "hosts": hosts, "text": text, "tags": tags})

    async def _mark_normal(self, host: str) -> int:
        """Mark two quiet stretches, one between the incidents and one before the release, as the baseline of a host."""
        scene = self._scene
        first, second = scene.backup.end + QUIET_AFTER, scene.lost_index.start - QUIET_AFTER
        windows = [(first, first + QUIET), (second - QUIET, second)]
        body = {
            "name": f"Normal day of {host}",
            "note": "Two stretches without complaints.",
            "hosts": [host],
            "windows": [{"start": to_iso(start), "end": to_iso(end)} for start, end in windows],
        }
        return int((await self._post("baselines", body))["id"])

    async def _keep_artefacts(self) -> int:
        """Keep what was traced in the two incidents; return the id of the locks of the backup."""
        kept = {}
        backup, release = self._scene.backup.start, self._scene.lost_index.start
        for host, at, traced in (
            (WEB, backup + timedelta(minutes=12), artefact_texts.CROSS_CALLS),
            (WEB, backup + timedelta(minutes=14), artefact_texts.KERNEL_LOCKS),
            (DB, release - timedelta(hours=2), artefact_texts.STACKS_BEFORE),
            (DB, release + timedelta(minutes=20), artefact_texts.STACKS_DURING),
        ):
            asked = {
                "host": host, "title": traced.title, "question": traced.question, "command": traced.command, "name": traced.file,
                "start": to_iso(at), "end": to_iso(at + timedelta(seconds=traced.seconds)),
            }  # fmt: skip
            answer = await self._client.post("/artefacts", params=asked, content=traced.text.encode())
            assert answer.is_success, answer.text
            kept[traced.file] = int(answer.json()["id"])
        return kept[artefact_texts.CROSS_CALLS.file]

    async def _run_experiment(self) -> None:
        """Keep what a benchmark of the order search measured, with and without the index."""
        begins = self._day.start + timedelta(hours=2)
        for number, (index, clients, latency_ms) in enumerate(artefact_texts.BENCHMARK):
            start = begins + timedelta(minutes=2 * number)
            rate = 1000 * clients / latency_ms
            run = {
                "experiment": "order search", "host": DB, "factors": {"index": index, "clients": str(clients)},
                "start": to_iso(start), "end": to_iso(start + timedelta(seconds=60)), "exit_status": 0,
                "command": f"pgbench -n -f order_search.sql -c {clients} -T 60 shop",
                "results": [
                    {"name": "throughput", "unit": "/s", "value": round(rate, 1)},
                    {"name": "time of a search", "unit": "ms", "value": latency_ms},
                ],
            }  # fmt: skip
            await self._post("experiments/runs", run)

    async def _compare_backup(self, baseline: int) -> int:
        window = self._scene.backup.window
        inputs = {"host": [WEB], "baseline": baseline, "start": to_iso(window.start), "end": to_iso(window.end)}
        body = {
            "name": "Backup by hand",
            "note": "gtar and gzip read the disk of the pages; now limited to 8 MiB/s",
            "inputs": inputs,
        }
        return int((await self._post("comparisons", body))["id"])

    async def _write_report(self, comparison: int, artefact: int) -> None:
        window = self._scene.backup.window
        begins, ends = to_iso(window.start - timedelta(minutes=20)), to_iso(window.end + timedelta(minutes=20))
        body = {"title": "Slow pages while the backup ran", "hosts": [WEB], "start": begins, "end": ends}
        report = int((await self._post("reports", body))["report"]["id"])
        graph = {"kind": "graph", "host": WEB, "stat": "iostat_solaris", "start": begins, "end": ends, "is_frozen": True}
        for note in (
            {
                "kind": "text", "title": "What happened",
                "markdown": "Pages of the shop came late for 40 minutes. A backup that had failed was started by hand. It read the"
                " disk of the pages as fast as it could.\n\nDone: cron starts it again, and it reads at most 8 MiB/s.",
            },
            {"kind": "comparison", "title": "What changed", "comparison": comparison},
            graph | {"title": "The disk of the pages", "fields": ["b_pct", "wsvc_t_ms"], "instances": ["c1t1d0"]},
            {"kind": "artefact", "title": "Who caused the cross-calls", "artefact": artefact, "is_frozen": True},
            {"kind": "events", "title": "Events", "hosts": [WEB], "start": begins, "end": ends},
        ):  # fmt: skip
            await self._post(f"reports/{report}/notes", {"note": note})
