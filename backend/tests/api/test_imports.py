"""Files handed to the server: kept, loaded in the background, told of, stopped; also across the end of a server."""

import asyncio
import gzip
import io
import tarfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from normstat.api.http.cookies import SESSION_COOKIE
from normstat.api.http.state import AppState
from normstat.app import create_app
from normstat.auth.roles import Role
from normstat.errors import DatabaseAway
from normstat.ingest.batching import ingest_request
from normstat.ingest.imports import import_queue, import_run, load
from normstat.ingest.imports.import_queue import ImportQueue
from normstat.settings import Settings
from tests.api.people import People, body_of, run_sql
from tests.api.samples import N_SAMPLES, VMSTAT
from tests.api.server import serving
from tests.api.test_access import assert_envelope
from tests.generated import vmstat_text, vmstat_times
from tests.ingest.test_import_command import MPSTAT
from tests.jobs.test_claims import running

HOST = "web1"


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    return settings.model_copy(update={"import_dir": tmp_path / "imports", "import_max_upload_bytes": 3 << 20})


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[FastAPI]:
    app = create_app(settings)
    state: AppState = app.state.normstat
    await run_sql(state, "TRUNCATE users, sessions, hosts, jobs CASCADE")
    yield app
    await state.close()


@pytest.fixture
async def at_work(state: AppState) -> AsyncIterator[None]:
    """The queue at work, as in a server."""
    async with running(state.imports.run()):
        yield


@pytest.fixture
async def operator(people: People) -> AsyncIterator[httpx.AsyncClient]:
    async with await people.enter(Role.OPERATOR) as client:
        yield client


async def hand_over(client: httpx.AsyncClient, data: bytes | AsyncIterator[bytes], **params: str | float) -> httpx.Response:
    headers = {"Content-Type": "application/octet-stream"}
    return await client.post(
        "/api/v1/imports", params={"host": HOST, "name": "vmstat.out", **params}, content=data, headers=headers
    )


async def until(client: httpx.AsyncClient, import_id: int, *states: str) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            found: dict[str, Any] = (await client.get(f"/api/v1/imports/{import_id}")).json()
            if found["state"] in (states or ("done", "failed", "stopped")):
                return found
            await asyncio.sleep(0.02)


async def loaded(client: httpx.AsyncClient, data: bytes, **params: str | float) -> dict[str, Any]:
    """The import of these bytes at its end."""
    return await until(client, body_of(await hand_over(client, data, **params), 202)["id"])


def archive_of(files: dict[str, bytes], compression: str = "") -> bytes:
    """A tar of these files."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=f"w:{compression}") as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return packed.getvalue()


class HeldPieces:
    """Imports go in small pieces, and the second one waits until it may go on."""

    def __init__(self) -> None:
        self.first_is_in = asyncio.Event()
        self.may_go_on = asyncio.Event()
        self._n_begun = 0

    async def ingest(self, *arguments: Any, **options: Any) -> Any:
        self._n_begun += 1
        if self._n_begun == 2:
            self.first_is_in.set()
            await self.may_go_on.wait()
        return await ingest_request(*arguments, **options)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> HeldPieces:
    held = HeldPieces()
    monkeypatch.setattr(load, "PIECE_BYTES", 4096)
    monkeypatch.setattr(load, "ingest_request", held.ingest)
    # A request to stop is seen after each piece.
    monkeypatch.setattr(import_queue, "PROGRESS_S", 0.0)
    return held


def waiting_files(settings: Settings) -> list[str]:
    assert settings.import_dir is not None
    return sorted(path.name for path in settings.import_dir.iterdir()) if settings.import_dir.exists() else []


async def test_a_file_is_kept_loaded_and_told_of(operator: httpx.AsyncClient, at_work: None, settings: Settings) -> None:
    handed = body_of(await hand_over(operator, gzip.compress(VMSTAT), name="folder/vmstat.out.gz"), 202)
    assert (handed["host"], handed["name"], handed["state"]) == (HOST, "folder/vmstat.out.gz", "queued")
    assert (handed["created_by"], handed["n_bytes"]) == ("operator", len(gzip.compress(VMSTAT)))
    done = await until(operator, handed["id"])
    assert (done["state"], done["message"], done["n_files"]) == ("done", "", 1)
    # The size of the upload, also after it was unpacked.
    assert done["n_bytes"] == done["n_bytes_done"] == len(gzip.compress(VMSTAT))
    assert done["finished_at"] >= done["created_at"]
    (file,) = done["files"]
    assert file == {
        "path": "folder/vmstat.out.gz", "spec": "vmstat_linux", "stats": ["vmstat_linux"], "n_reports": N_SAMPLES,
        "n_samples": N_SAMPLES, "n_samples_new": N_SAMPLES, "n_rejected": 0, "reasons": [], "note": "", "n_since_boot": 1,
        "first_sample_at": "2026-11-21T10:00:00Z", "last_sample_at": "2026-11-21T10:00:59Z", "missing": [], "position": 0,
        "stream_id": file["stream_id"], "is_undone": False, "artefact": None, "shift_s": 0.0,
        "modified_at": None, "date_of_change": None, "span_s": None,
    }  # fmt: skip
    assert waiting_files(settings) == []
    again = await loaded(operator, VMSTAT)
    assert again["files"][0]["note"] == "already loaded"
    listed = (await operator.get("/api/v1/imports", params={"host": HOST})).json()["imports"]
    assert [item["id"] for item in listed] == [again["id"], handed["id"]]
    assert listed[1] == done
    assert (await operator.get("/api/v1/imports", params={"host": "other"})).json() == {"imports": []}


async def test_every_file_of_an_archive_is_told_of_the_loaded_ones_first(operator: httpx.AsyncClient, at_work: None) -> None:
    packed = archive_of({"README": b"Dear customer\n", "vmstat.out": VMSTAT, "../outside": b"x"}, "xz")
    handed = (await hand_over(operator, packed, name="all.tar.xz")).json()
    done = await until(operator, handed["id"])
    assert [file["path"] for file in done["files"]] == ["all.tar.xz/vmstat.out", "all.tar.xz/README", "all.tar.xz/../outside"]
    assert "leads out of the archive" in done["files"][2]["note"]


async def test_impossible_wishes_keep_nothing(operator: httpx.AsyncClient, settings: Settings) -> None:
    for params, status, code in (
        ({"host": "a b"}, 400, "bad_request"),
        ({"zone": "Mars/Base"}, 400, "bad_request"),
        ({"start": "2026-11-21T12:00:00"}, 422, "invalid_request"),
        ({"interval_s": 1e9}, 400, "bad_request"),
        ({"spec": "nothing"}, 404, "not_found"),
    ):
        assert_envelope(await hand_over(operator, VMSTAT, **params), status, code)
        assert waiting_files(settings) == []


async def test_too_large_and_no_room_keep_nothing(
    operator: httpx.AsyncClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unannounced() -> AsyncIterator[bytes]:
        for _ in range(5):
            yield bytes(1 << 20)

    assert_envelope(await hand_over(operator, bytes((3 << 20) + 1)), 413, "too_large")
    assert_envelope(await hand_over(operator, unannounced()), 413, "too_large")
    monkeypatch.setattr(import_queue, "MIN_FREE_BYTES", 1 << 60)
    assert_envelope(await hand_over(operator, VMSTAT), 507, "no_space")
    assert waiting_files(settings) == []
    assert (await operator.get("/api/v1/imports")).json() == {"imports": []}


async def test_an_upload_that_breaks_off_keeps_nothing(operator: httpx.AsyncClient, app: FastAPI, settings: Settings) -> None:
    messages: list[dict[str, Any]] = [{"type": "http.request", "body": b"x" * 100, "more_body": True}, {"type": "http.disconnect"}]
    answers: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return messages.pop(0)

    async def send(message: dict[str, Any]) -> None:
        answers.append(message)

    cookie = f"{SESSION_COOKIE}={operator.cookies[SESSION_COOKIE]}"
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/v1/imports",
        "query_string": b"host=web1&name=x",
        "headers": [(b"cookie", cookie.encode()), (b"x-normstat-request", b"1"), (b"host", b"normstat.test")],
    }
    await app(scope, receive, send)  # type: ignore[arg-type]
    assert answers[0]["status"] == 400
    assert waiting_files(settings) == []
    assert (await operator.get("/api/v1/imports")).json() == {"imports": []}


async def test_forgetting_what_waits_removes_its_file(operator: httpx.AsyncClient, settings: Settings) -> None:
    handed = (await hand_over(operator, VMSTAT)).json()
    assert len(waiting_files(settings)) == 1
    answer = await operator.delete(f"/api/v1/imports/{handed['id']}")
    assert (answer.status_code, answer.content) == (204, b"")
    assert waiting_files(settings) == []
    assert_envelope(await operator.delete(f"/api/v1/imports/{handed['id']}"), 404, "not_found")
    assert_envelope(await operator.get(f"/api/v1/imports/{handed['id']}"), 404, "not_found")


async def test_forgetting_what_runs_stops_it_and_what_it_loaded_stays(
    operator: httpx.AsyncClient, at_work: None, state: AppState, held: HeldPieces
) -> None:
    data = vmstat_text(vmstat_times(200))
    handed = (await hand_over(operator, data)).json()
    await held.first_is_in.wait()
    await operator.delete(f"/api/v1/imports/{handed['id']}")
    held.may_go_on.set()
    await loaded(operator, VMSTAT, host="next")
    [(acked,)] = await run_sql(state, "SELECT acked_offset FROM streams JOIN hosts ON hosts.id = host_id WHERE name = 'web1'")
    assert 0 < acked < len(data)


async def test_a_running_import_goes_on_in_the_next_process(
    operator: httpx.AsyncClient, state: AppState, settings: Settings, held: HeldPieces
) -> None:
    first = asyncio.create_task(state.imports.run())
    handed = (await hand_over(operator, vmstat_text(vmstat_times(201)))).json()
    await held.first_is_in.wait()
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    assert (await until(operator, handed["id"], "running"))["finished_at"] is None
    held.may_go_on.set()
    second = ImportQueue(state.engine, settings.database_url, settings.import_dir, 1 << 40)
    async with running(second.run()):
        done = await until(operator, handed["id"])
    assert done["state"] == "done"
    # Those of the first process count as new too: it is one import.
    assert (done["files"][0]["n_samples"], done["files"][0]["n_samples_new"]) == (200, 200)


async def test_an_import_whose_file_is_gone_fails(operator: httpx.AsyncClient, state: AppState, settings: Settings) -> None:
    handed = (await hand_over(operator, VMSTAT)).json()
    assert settings.import_dir is not None
    for path in settings.import_dir.iterdir():
        path.unlink()
    # Another machine may hold it; only after a while nobody does.
    assert not await state.imports.run_next()
    assert (await operator.get(f"/api/v1/imports/{handed['id']}")).json()["state"] == "queued"
    await run_sql(state, "UPDATE jobs SET heartbeat_at = now() - interval '3 min'")
    await state.imports.run_next()
    failed = (await operator.get(f"/api/v1/imports/{handed['id']}")).json()
    assert (failed["state"], failed["message"]) == ("failed", "The server ended, and the uploaded file is gone; upload it again")


async def test_a_database_that_is_away_leaves_the_import_for_later(
    operator: httpx.AsyncClient, state: AppState, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*arguments: object, **options: object) -> None:
        raise DatabaseAway("away")

    handed = (await hand_over(operator, VMSTAT)).json()
    with monkeypatch.context() as patched:
        patched.setattr(import_run, "run_import", away)
        assert not await state.imports.run_next()
    assert (await operator.get(f"/api/v1/imports/{handed['id']}")).json()["state"] == "running"
    assert await state.imports.run_next()
    assert (await operator.get(f"/api/v1/imports/{handed['id']}")).json()["state"] == "done"


async def test_a_defect_ends_the_import_and_not_the_queue(
    operator: httpx.AsyncClient, state: AppState, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*arguments: object, **options: object) -> None:
        raise ZeroDivisionError

    handed = (await hand_over(operator, VMSTAT)).json()
    monkeypatch.setattr(import_run, "run_import", broken)
    assert await state.imports.run_next()
    failed = (await operator.get(f"/api/v1/imports/{handed['id']}")).json()
    assert (failed["state"], failed["message"]) == ("failed", "Internal server error; the server's log has the details")
    assert waiting_files(settings) == []


IOSTAT = b"2026-11-21T12:00:01Z\nDevice            r/s     rkB/s\nsda              1.00      2.00\n"
UNDATED = (
    b"""\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
"""
    + 4 * b" 1  0      0 402312 267968 846360    0    0  1444  4554  647 1297 34  8 57  1  1\n"
)


DTRACE = b"""
  java                                                            100
  oracle                                                            7
"""


async def retry(client: httpx.AsyncClient, import_id: int, **body: object) -> httpx.Response:
    return await client.post(f"/api/v1/imports/{import_id}/retry", json=body)


async def test_a_file_that_lacks_something_is_tried_again_without_its_upload(
    operator: httpx.AsyncClient, at_work: None, settings: Settings
) -> None:
    packed = archive_of({"README": b"Dear customer\n", "vmstat.out": UNDATED, "dated.out": VMSTAT})
    done = await loaded(operator, packed, name="a.tar")
    lacking = [file for file in done["files"] if file["missing"]]
    assert [(file["path"], file["missing"], file["position"]) for file in lacking] == [
        ("a.tar/vmstat.out", ["start", "interval_s"], 1)
    ]
    assert done["can_retry"]
    assert len(waiting_files(settings)) == 1
    wrong = await retry(operator, done["id"], position=1, interval_s=1e12)
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (400, "bad_request")
    queued = body_of(await retry(operator, done["id"], position=1, start="2026-11-21T12:00:00Z", interval_s=5), 202)
    again = await until(operator, queued["id"])
    (file,) = again["files"]
    assert (file["path"], file["n_samples"], file["last_sample_at"]) == ("a.tar/vmstat.out", 3, "2026-11-21T12:00:15Z")
    first = (await operator.get(f"/api/v1/imports/{done['id']}")).json()
    assert [(file["missing"], file["note"]) for file in first["files"] if file["position"] == 1] == [
        ([], f"tried again: import {again['id']}")
    ]
    assert not again["can_retry"]
    assert (await operator.delete(f"/api/v1/imports/{done['id']}")).status_code == 204
    assert waiting_files(settings) == []


async def test_the_result_tells_what_follows_from_the_time_of_a_file(operator: httpx.AsyncClient, at_work: None) -> None:
    changed = "2026-11-21T12:00:15Z"
    (timeless,) = (await loaded(operator, UNDATED, name="vmstat.out", modified_at=changed))["files"]
    assert (timeless["modified_at"], timeless["span_s"], timeless["date_of_change"]) == (changed, 3.0, None)
    past_midnight = MPSTAT.replace("12:00:01", "23:59:57").replace("12:00:02", "23:59:58").replace("12:00:03", "00:00:04").encode()
    (clocks,) = (await loaded(operator, past_midnight, name="mpstat.out", modified_at="2026-11-22T00:00:05Z"))["files"]
    assert (clocks["missing"], clocks["date_of_change"], clocks["span_s"]) == (["date"], "2026-11-21", None)
    (unknown,) = (await loaded(operator, UNDATED + UNDATED, name="later.out"))["files"]
    assert (unknown["missing"], unknown["modified_at"]) == (["start", "interval_s"], None)


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("vmstat.out", VMSTAT, ("samples", "vmstat_linux", True, [])),
        ("vmstat.gz", gzip.compress(VMSTAT * 50)[:-20], ("samples", "vmstat_linux", True, [])),
        ("vmstat.out", UNDATED, ("samples", "vmstat_linux", False, ["start", "interval_s"])),
        ("out.folded", b"java;run 12\njava;stop 3\n", ("artefact", "folded", False, [])),
        ("dtrace/README.md", DTRACE, ("unknown", None, False, ["spec"])),
        ("a.tar", archive_of({"vmstat.out": VMSTAT, "x": b"y"}), ("archive", None, False, [])),
        ("a.tar", archive_of({"vmstat.out": VMSTAT * 500})[:2000], ("archive", None, False, [])),
        ("a.zip", b"PK\x03\x04 and so on", ("archive", None, False, [])),
        ("own.toml", b'name = "own"\n\n[[stats]]\n', ("spec", None, False, [])),
    ],
)
async def test_a_file_is_recognised_by_its_beginning(
    operator: httpx.AsyncClient, name: str, data: bytes, expected: tuple[object, ...]
) -> None:
    answer = await operator.post("/api/v1/imports/look", params={"name": name}, content=data)
    look = body_of(answer)
    assert (look["kind"], look["spec"], look["has_samples"], look["missing"]) == expected
    assert (await operator.get("/api/v1/imports")).json()["imports"] == []


async def test_a_file_of_two_hosts_is_loaded_into_each_when_somebody_says_so(operator: httpx.AsyncClient, at_work: None) -> None:
    day = "2026-11-21\t_x86_64_\t(2 CPU)\n\n"
    data = "".join(f"Linux 6.1.0 ({name})\t{day}{MPSTAT}" for name in ("web7", "web8")).encode()
    alone = await loaded(operator, data, name="all.out")
    assert [reason["reason"][-26:] for reason in alone["files"][0]["reasons"]] == ["import it with --each-host"]
    each = await loaded(operator, data, name="all.out", each_host="true")
    assert [(file["path"], file["n_samples_new"]) for file in each["files"]] == [("all.out (web7)", 2), ("all.out (web8)", 2)]
    names = [host["name"] for host in (await operator.get("/api/v1/hosts")).json()["hosts"]]
    assert names == [HOST, "web7", "web8"]


async def test_a_first_report_that_is_real_is_loaded_when_somebody_says_so(operator: httpx.AsyncClient, at_work: None) -> None:
    done = await loaded(operator, IOSTAT, name="iostat.out")
    (file,) = done["files"]
    assert (file["n_samples"], file["n_since_boot"], file["missing"]) == (0, 1, ["first_is_real"])
    assert "since boot" in file["note"]
    again = await until(operator, (await retry(operator, done["id"], position=0, first_is_real=True)).json()["id"])
    assert again["files"][0]["n_samples"] == 1
    given = await loaded(operator, IOSTAT, name="x", first_is_real="true")
    assert (given["files"][0]["n_samples"], given["files"][0]["note"]) == (1, "already loaded")
    assert (await retry(operator, given["id"], position=0)).json()["error"]["code"] == "conflict"
    assert (await retry(operator, given["id"], position=7)).status_code == 404
    assert (await retry(operator, 10**9, position=0)).status_code == 404


async def test_the_question_of_a_tracer_is_given_with_the_upload_or_with_retry(operator: httpx.AsyncClient, at_work: None) -> None:
    async def instances() -> list[str]:
        window = {"start": "2026-11-21T00:00:00Z", "end": "2026-11-22T00:00:00Z"}
        answer = await operator.get(f"/api/v1/hosts/{HOST}/stats/dtrace_keys/instances", params=window)
        return sorted(instance["name"] for instance in answer.json()["instances"])

    known = {"name": "dtrace.out", "spec": "dtrace", "title": "reads  by size"}
    lacking = await loaded(operator, DTRACE, **known)
    assert (lacking["files"][0]["n_samples"], lacking["files"][0]["missing"]) == (0, ["start"])
    # What the upload said counts, unless the request says something else.
    again = await retry(operator, lacking["id"], position=0, start="2026-11-21T12:00:00Z")
    assert (await until(operator, again.json()["id"]))["files"][0]["n_samples"] == 2
    assert await instances() == ["reads by size: java", "reads by size: oracle"]
    lacking = await loaded(operator, DTRACE.replace(b"100", b"101"), **known)
    again = await retry(operator, lacking["id"], position=0, start="2026-11-21T13:00:00Z", title="writes")
    assert (await until(operator, again.json()["id"]))["files"][0]["n_samples"] == 2
    assert await instances() == ["reads by size: java", "reads by size: oracle", "writes: java", "writes: oracle"]


async def test_undo_removes_what_the_import_loaded_and_nothing_else(
    operator: httpx.AsyncClient, at_work: None, state: AppState
) -> None:
    before = await loaded(operator, VMSTAT)
    packed = archive_of({"vmstat.out": VMSTAT, "iostat.out": IOSTAT + IOSTAT})
    done = await loaded(operator, packed, name="b.tar")
    assert [file["n_samples_new"] for file in done["files"]] == [0, 1]
    queued = await operator.post(f"/api/v1/imports/{done['id']}/undo")
    assert (queued.status_code, queued.json()["is_undo"]) == (202, True)
    undone = await until(operator, done["id"])
    assert undone["state"] == "done"
    assert undone["message"] == "undone: 1 sample removed; 1 of the files was loaded by another import too, and stays"
    by_path = {file["path"]: file for file in undone["files"]}
    assert by_path["b.tar/vmstat.out"]["note"] == "not undone: an earlier import loaded it"
    assert (by_path["b.tar/iostat.out"]["note"], by_path["b.tar/iostat.out"]["is_undone"]) == ("undone", True)
    of_host = "WHERE host_id = (SELECT id FROM hosts WHERE name = 'web1')"
    for table, n in (("samples.iostat_linux", 0), ("samples.vmstat_linux", N_SAMPLES)):
        assert await run_sql(state, f"SELECT count(*) FROM {table} {of_host}") == [(n,)]
    assert await run_sql(state, "SELECT count(*) FROM instances WHERE name = 'sda'") == [(0,)]
    # What was undone can be loaded again.
    again = await loaded(operator, IOSTAT + IOSTAT, name="iostat.out")
    assert again["files"][0]["n_samples_new"] == 1
    await operator.post(f"/api/v1/imports/{before['id']}/undo")
    assert (await until(operator, before["id"]))["message"] == f"undone: {N_SAMPLES} samples removed"


async def test_undo_deletes_an_artefact_without_samples(operator: httpx.AsyncClient, at_work: None) -> None:
    done = await loaded(operator, b"java;run 12\njava;stop 3\n", name="out.folded")
    [file] = done["files"]
    assert (file["spec"], file["n_samples"], file["missing"]) == ("folded", 0, [])
    path = f"/api/v1/artefacts/{file['artefact']}"
    assert (await operator.get(path)).status_code == 200
    await operator.post(f"/api/v1/imports/{done['id']}/undo")
    [undone] = (await until(operator, done["id"]))["files"]
    assert (undone["artefact"], undone["is_undone"]) == (None, True)
    assert (await operator.get(path)).status_code == 404


@pytest.mark.matrix
def test_a_server_that_is_killed_goes_on_with_its_imports(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, app: FastAPI, people: People
) -> None:
    monkeypatch.setenv("NORMSTAT_IMPORT_DIR", str(tmp_path / "imports"))
    data = vmstat_text(vmstat_times(20_001))
    token = asyncio.run(_make_token(people))
    asking: dict[str, Any] = {"headers": {"Authorization": f"Bearer {token}"}, "timeout": 60}
    with serving(database_url, tmp_path / "log1") as (address, process), httpx.Client(base_url=address, **asking) as client:
        handed = client.post("/api/v1/imports", params={"host": "killed", "name": "vmstat.out"}, content=data)
        assert handed.status_code == 202, handed.text
        import_id = handed.json()["id"]
        _wait(client, import_id, lambda found: found["n_bytes_done"] > 0)
        process.kill()
        process.wait()
    with serving(database_url, tmp_path / "log2") as (address, _), httpx.Client(base_url=address, **asking) as client:
        done = _wait(client, import_id, lambda found: found["state"] == "done")
    assert done["files"][0]["n_samples"] == 20_000


async def _make_token(people: People) -> str:
    async with await people.enter(Role.OPERATOR) as client:
        made = await client.post("/api/v1/api-tokens", json={"name": "script", "role": "operator"})
        return str(made.json()["token"])


def _wait(client: httpx.Client, import_id: int, is_it: Any) -> dict[str, Any]:
    for _ in range(2400):
        found: dict[str, Any] = client.get(f"/api/v1/imports/{import_id}").json()
        if is_it(found):
            return found
        time.sleep(0.05)
    raise AssertionError(found)


async def test_an_import_gets_another_title_host_and_date(operator: httpx.AsyncClient, at_work: None) -> None:
    done = await loaded(operator, VMSTAT)
    path = f"/api/v1/imports/{done['id']}"
    # A title alone moves nothing, and there is no work to wait for.
    named = body_of(await operator.put(path, json={"label": "before the patch"}), 202)
    assert (named["label"], named["state"], named["earlier"]) == (
        "before the patch", "done", {"label": "", "host": HOST, "shift_s": 0.0},
    )  # fmt: skip
    assert body_of(await operator.put(path, json={"host": "db2", "start": "2026-11-20T10:00:00Z"}), 202)["is_change"]
    moved = await until(operator, done["id"])
    assert (moved["label"], moved["host"], moved["shift_s"], moved["state"]) == ("before the patch", "db2", -86400.0, "done")
    assert (moved["files"][0]["first_sample_at"], moved["files"][0]["n_samples"]) == ("2026-11-20T10:00:00Z", N_SAMPLES)
    body_of(await operator.post(f"{path}/undo-change"), 202)
    assert (await until(operator, done["id"]))["host"] == HOST
    assert_envelope(await operator.put(path, json={"host": "no host"}), 400, "bad_request")
    assert_envelope(await operator.put(path, json={"shift_s": 1e12}), 422, "invalid_request")
    assert_envelope(await operator.put("/api/v1/imports/999", json={"label": "x"}), 404, "not_found")
