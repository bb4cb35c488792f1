"""Add-ons from the page: drafted, tried, added, sent by agents, seen in graphs, exported, compared; then changed and read again."""

import asyncio
import csv
import io
import json
import sys

import httpx
import pytest
from pydantic import TypeAdapter
from sqlalchemy import text

from normstat.api.http.state import AppState
from normstat.db.session import open_write_session
from normstat.ingest import preview_process
from normstat.ingest.reparse.reparse_worker import work_off
from normstat.query.spec_lists import SpecDetail, SpecInfo, SpecList
from normstat.records.reparse_rows import Reparse, ReparseList
from normstat.samples.user_specs import put_user_spec
from normstat.stats.catalogue import built_in_catalogue, load_catalogue
from normstat.stats.draft import SpecDraft
from normstat.stats.preview import SpecPreview
from tests.addons import APP_USER, app_time_spec, app_time_text, app_user_text
from tests.api.people import People, body_of
from tests.api.samples import HOST, VMSTAT, deliver_text, frames_of, send
from tests.api.test_access import assert_envelope

API = "/api/v1"
WINDOW = {"start": "2026-11-21T12:00:00Z", "end": "2026-11-21T12:10:00Z"}
APP_TIME = "\n".join(line for line in app_time_text(4).decode().splitlines() if " " in line)


async def put(admin: httpx.AsyncClient, name: str, toml: str) -> SpecInfo:
    return TypeAdapter(SpecInfo).validate_python(body_of(await admin.put(f"{API}/specs/{name}", json={"toml": toml})))


@pytest.fixture
def read_here(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Read specs in this process, and keep them. One of its own for each takes a second of CPU; the first test has those."""
    asked: list[bytes] = []

    async def ask(_module: str, given: bytes, **_limits: object) -> bytes:
        asked.append(given)
        with monkeypatch.context() as own, io.StringIO() as answer:
            own.setattr(preview_process, "_limit", lambda: None)
            own.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
            own.setattr(sys, "stdout", answer)
            preview_process.main()
            return answer.getvalue().encode()

    monkeypatch.setattr(preview_process, "ask_isolated", ask)
    return asked


async def deliver(people: People, spec: str, data: bytes, *, offset: int = 0) -> None:
    async with await people.agent() as agent:
        await deliver_text(agent, spec, data, offset=offset)


async def test_a_single_line_tool_from_sample_to_comparison(admin: httpx.AsyncClient, people: People) -> None:
    """dim_STAT's `app_time 10`."""
    wish = {"name": "app_time", "tool": "app_time", "command": "app_time 10", "sample": APP_TIME, "shape": "single"}
    drafted = TypeAdapter(SpecDraft).validate_python((await admin.post(f"{API}/specs/draft", json=wish)).json())
    assert [column.decimals for column in drafted.columns] == [2] * 6
    tried = {"toml": drafted.toml, "sample": APP_TIME}
    preview = TypeAdapter(SpecPreview).validate_python((await admin.post(f"{API}/specs/preview", json=tried)).json())
    assert (preview.n_rows, preview.n_rejected, preview.n_lines) == (4, 0, {"sample": 4})
    assert [row.time for row in preview.rows] == [None] * 4
    assert list(preview.rows[0].values.values()) == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]

    # The person names the columns and says what is worse; then it is added, and the tool's output comes live.
    info = await put(admin, "app_time", app_time_spec())
    assert (info.version, info.is_builtin, info.stats, info.n_streams) == (1, False, ["app_time"], 0)
    usual = app_time_text(30)
    await deliver(people, "app_time", usual)
    await deliver(people, "app_time", app_time_text(30, 1_795_262_700, slow=5.0), offset=len(usual))

    stats = {stat["name"]: stat for stat in (await admin.get(f"{API}/stats")).json()["stats"]}
    assert [field["key"] for field in stats["app_time"]["fields"]][:2] == ["login_s", "search_s"]
    assert stats["app_time"]["panels"][0]["title"] == "Response times"
    asked = WINDOW | {"host": HOST, "stat": "app_time"}
    params = httpx.QueryParams(asked).add("width", 1000).add("field", "login_s").add("field", "logout_s")
    block = (await admin.get(f"{API}/series", params=params)).json()
    assert [(series["field"], series["unit"], series["n_raw"]) for series in block["series"]] == [
        ("login_s", "s", 60),
        ("logout_s", "s", 60),
    ]
    exported = (await admin.get(f"{API}/export.csv", params=asked)).text
    rows = list(csv.reader(io.StringIO(exported)))
    assert rows[0][3:5] == ["login_s[s]", "search_s[s]"]
    assert rows[1] == ["2026-11-21T12:00:00Z", "1795262400", "", "0.00", "0.10", "0.20", "0.30", "0.40", "0.50"]
    assert len(rows) == 61

    middle = "2026-11-21T12:05:00Z"
    asked = {"host": HOST, "baseline_start": WINDOW["start"], "baseline_end": middle, "start": middle, "end": WINDOW["end"]}
    compared = body_of(await admin.get(f"{API}/comparison", params=asked))
    groups = compared["groups"]
    assert {group["field"] for group in groups} == {f"{name}_s" for name in ("login", "search", "order", "pay", "mail", "logout")}
    assert all(group["direction"] == "up" for group in groups)


@pytest.mark.usefixtures("read_here")
async def test_a_changed_spec_offers_a_reparse_that_changes_the_samples(
    admin: httpx.AsyncClient, people: People, operator: httpx.AsyncClient, state: AppState
) -> None:
    await put(admin, "app_user", APP_USER)
    await deliver(people, "app_user", app_user_text(20))
    changed = await put(admin, "app_user", APP_USER.replace('key = "wait"', 'key = "waited"'))
    assert (changed.version, changed.n_streams, changed.n_streams_outdated) == (2, 1, 1)
    listed = TypeAdapter(SpecList).validate_python((await admin.get(f"{API}/specs")).json()).specs
    assert next(spec for spec in listed if spec.name == "app_user") == changed
    accounts = (await admin.get(f"{API}/hosts/{HOST}/accounts")).json()
    assert [stream["is_outdated"] for stream in accounts["streams"]] == [True]

    wished = body_of(await operator.post(f"{API}/reparses", json={"spec": "app_user"}), 202)
    reparse = TypeAdapter(Reparse).validate_python(wished)
    assert (reparse.state, reparse.spec, reparse.host, reparse.n_streams) == ("queued", "app_user", None, 1)
    assert reparse.created_by == "operator"
    assert reparse.n_bytes == len(app_user_text(20))
    assert await work_off(state.settings.database_url)
    done = TypeAdapter(Reparse).validate_python((await admin.get(f"{API}/reparses/{reparse.id}")).json())
    assert (done.state, done.message, done.n_streams_done, done.n_bytes_done) == ("done", "", 1, reparse.n_bytes)
    assert done.n_samples_before == done.n_samples_after > 0
    assert TypeAdapter(ReparseList).validate_python((await admin.get(f"{API}/reparses")).json()).reparses == [done]
    exported = (await admin.get(f"{API}/export.csv", params=WINDOW | {"host": HOST, "stat": "app_user"})).text
    assert exported.splitlines()[0] == "time,epoch,instance,calls,waited[ms]"
    again = TypeAdapter(SpecDetail).validate_python((await admin.get(f"{API}/specs/app_user")).json())
    assert (again.version, again.n_streams_outdated, again.toml) == (2, 0, APP_USER.replace('key = "wait"', 'key = "waited"'))


async def test_a_reparse_is_stopped(admin: httpx.AsyncClient, agent: httpx.AsyncClient, state: AppState) -> None:
    await send(agent, frames_of(VMSTAT))
    reparse = (await admin.post(f"{API}/reparses", json={"host": HOST})).json()
    assert reparse["host"] == HOST
    stopped = await admin.delete(f"{API}/reparses/{reparse['id']}")
    assert (stopped.status_code, stopped.content) == (204, b"")
    assert await work_off(state.settings.database_url)
    after = (await admin.get(f"{API}/reparses/{reparse['id']}")).json()
    assert (after["state"], after["message"], after["n_streams_done"]) == ("stopped", "stopped by administrator", 0)
    assert_envelope(await admin.delete(f"{API}/reparses/999999"), 404, "not_found")
    assert_envelope(await admin.post(f"{API}/reparses", json={"host": "nobody"}), 404, "not_found")
    assert_envelope(await admin.post(f"{API}/reparses", json={"spec": "nothing"}), 400, "bad_request")


async def test_built_in_specs_are_shown_and_never_changed(admin: httpx.AsyncClient) -> None:
    specs = TypeAdapter(SpecList).validate_python((await admin.get(f"{API}/specs")).json()).specs
    assert [spec.name for spec in specs] == sorted(built_in_catalogue().specs)
    detail = TypeAdapter(SpecDetail).validate_python((await admin.get(f"{API}/specs/vmstat_linux")).json())
    assert detail.is_builtin
    assert 'name = "vmstat_linux"' in detail.toml
    refused = await admin.put(f"{API}/specs/vmstat_linux", json={"toml": detail.toml})
    assert_envelope(refused, 400, "bad_request")
    assert_envelope(await admin.delete(f"{API}/specs/vmstat_linux"), 409, "conflict")
    assert_envelope(await admin.get(f"{API}/specs/nothing"), 404, "not_found")


@pytest.mark.usefixtures("read_here")
async def test_a_stored_spec_that_is_not_taken_any_more_is_disabled_until_it_is_mended(
    admin: httpx.AsyncClient, state: AppState
) -> None:
    reason = "cannot be matched in linear time"
    bad = APP_USER.replace("[layout]\n", "[layout]\nbanner = '(?!x)y'\n")
    async with open_write_session(state.sessions) as session:
        put = "INSERT INTO user_specs (name, toml, version, created_by) VALUES ('app_user', :toml, 1, 'another release')"
        await session.execute(text(put), {"toml": bad})
    listed = {spec["name"]: spec for spec in (await admin.get(f"{API}/specs")).json()["specs"]}
    assert reason in listed["app_user"]["disabled_reason"]
    assert listed["app_user"]["title"].startswith("Disabled: ")
    detail = (await admin.get(f"{API}/specs/app_user")).json()
    assert (reason in detail["disabled_reason"], detail["toml"]) == (True, bad)
    mended = await admin.put(f"{API}/specs/app_user", json={"toml": APP_USER})
    assert (mended.status_code, mended.json()["disabled_reason"], mended.json()["version"]) == (200, "", 2)


async def test_a_spec_is_removed_unless_streams_need_it(admin: httpx.AsyncClient, people: People, read_here: list[bytes]) -> None:
    await put(admin, "app_user", APP_USER)
    assert [json.loads(given) for given in read_here] == [{"toml": APP_USER}], "nobody has read it before another process"
    removed = await admin.delete(f"{API}/specs/app_user")
    assert (removed.status_code, removed.content) == (204, b"")
    assert_envelope(await admin.get(f"{API}/specs/app_user"), 404, "not_found")
    await put(admin, "app_user", APP_USER)
    await deliver(people, "app_user", app_user_text(2))
    assert_envelope(await admin.delete(f"{API}/specs/app_user"), 409, "conflict")


@pytest.mark.usefixtures("read_here")
async def test_what_is_wrong_with_a_spec_or_its_sample_is_said(admin: httpx.AsyncClient) -> None:
    """All that can be: tests/stats, test_catalogue.py, test_toml_text.py and test_user_spec.py."""
    for toml, words in (
        ("[" * 5000, "more than 16 brackets within each other in line 1"),
        (APP_USER.replace("'^.{0,3}$'", "'(?!a)b'"), "cannot be matched in linear time"),
    ):
        response = await admin.post(f"{API}/specs/preview", json={"toml": toml, "sample": "1 2\n"})
        assert_envelope(response, 400, "bad_request")
        assert words in response.json()["error"]["message"]
    body = json.dumps({"name": "app", "sample": "hello\ud800\0", "shape": "single"})
    response = await admin.post(f"{API}/specs/draft", content=body, headers={"Content-Type": "application/json"})
    assert_envelope(response, 422, "invalid_request")
    response = await admin.post(f"{API}/specs/draft", json={"name": "app", "sample": "hello\0\n", "shape": "single"})
    assert_envelope(response, 400, "bad_request")


@pytest.mark.usefixtures("read_here")
async def test_a_large_sample_is_taken(admin: httpx.AsyncClient) -> None:
    sample = app_user_text(50_000).decode()[: (1 << 20) - 30]
    sample = sample[: sample.rindex("\n") + 1]
    response = body_of(await admin.post(f"{API}/specs/preview", json={"toml": APP_USER, "sample": sample}))
    preview = TypeAdapter(SpecPreview).validate_python(response)
    assert (len(preview.rows), preview.n_rejected) == (200, 0)
    assert preview.n_rows > 30_000


@pytest.mark.usefixtures("read_here")
async def test_what_a_changed_spec_says_of_a_field_is_shown_at_once(admin: httpx.AsyncClient, people: People) -> None:
    """Unit, help and direction are today's, whatever they were when the column was made."""
    await put(admin, "app_user", APP_USER)
    await deliver(people, "app_user", app_user_text(5))
    await put(admin, "app_user", APP_USER.replace('unit = "ms"', 'unit = "s"').replace('worse = "higher"', 'worse = "lower"'))
    stats = {stat["name"]: stat for stat in (await admin.get(f"{API}/stats")).json()["stats"]}
    wait = next(field for field in stats["app_user"]["fields"] if field["key"] == "wait")
    assert (wait["unit"], wait["worse"]) == ("s", "lower")
    exported = (await admin.get(f"{API}/export.csv", params=WINDOW | {"host": HOST, "stat": "app_user"})).text
    assert exported.splitlines()[0] == "time,epoch,instance,calls,wait[s]"


async def test_other_server_processes_hear_of_a_changed_spec(admin: httpx.AsyncClient, state: AppState) -> None:
    listening = asyncio.create_task(state.live.run())
    await asyncio.wait_for(state.live.is_listening.wait(), 60)
    # A request that reads no specs: only the announcement tells this process.
    async with open_write_session(state.sessions) as session:
        await put_user_spec(session, name="app_user", toml=APP_USER, created_by="another process")
    async with asyncio.timeout(60):
        while "app_user" not in load_catalogue().specs:  # noqa: ASYNC110 (a catalogue has no event)
            await asyncio.sleep(0.01)
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
    names = [spec["name"] for spec in (await admin.get(f"{API}/specs")).json()["specs"]]
    assert "app_user" in names
