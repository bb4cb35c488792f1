"""Reports over HTTP: notes added, changed, ordered, frozen, deleted and restored; files; templates; HTML and PDF."""

import base64
import io
import re
from typing import Any

import httpx
import pytest
from PIL import Image
from pypdf import PdfReader

from normstat.api.http.state import AppState
from tests.api.people import People, body_of
from tests.api.samples import HOST, VMSTAT, frames_of, send
from tests.api.test_access import assert_envelope
from tests.api.test_artefacts import ARTEFACTS, DISTRIBUTION
from tests.generated import PLOCKSTAT

REPORTS = "/api/v1/reports"
FILES = "/api/v1/report-files"
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> [a](javascript:alert(3)) ![b](http://e.example/x.png)"


async def start_report(client: httpx.AsyncClient, **body: Any) -> int:
    return int(body_of(await client.post(REPORTS, json={"title": "Web shop slow"} | body), 201)["report"]["id"])


async def add(client: httpx.AsyncClient, report: int, note: dict[str, Any], place: int | None = None) -> int:
    response = body_of(await client.post(f"{REPORTS}/{report}/notes", json={"note": note, "place": place}), 201)
    return int(response["id"])


def text(markdown: str, title: str = "") -> dict[str, Any]:
    return {"kind": "text", "title": title, "markdown": markdown}


async def page_of(client: httpx.AsyncClient, report: int) -> str:
    response = await client.get(f"{REPORTS}/{report}/export.html")
    assert response.status_code == 200, response.text
    return response.text


def png(width: int = 20, height: int = 10) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height), "red").save(out, "PNG")
    return out.getvalue()


async def test_a_template_is_filled_ordered_and_exported(operator: httpx.AsyncClient) -> None:
    templates = (await operator.get("/api/v1/report-templates")).json()["templates"]
    assert [each["key"] for each in templates] == ["incident", "before_after", "experiment", "handover"]
    report = await start_report(operator, template="incident", hosts=[HOST])
    found = (await operator.get(f"{REPORTS}/{report}")).json()
    titles = [each["note"]["title"] for each in found["notes"]]
    assert titles[:3] == ["What happened", "The first five minutes", "What was different"]
    new = await add(operator, report, text("**Größe** 12 µs", "In front"), place=0)
    found = (await operator.get(f"{REPORTS}/{report}")).json()
    assert found["notes"][0]["id"] == new
    order = [each["id"] for each in found["notes"]][::-1]
    assert_envelope(await operator.put(f"{REPORTS}/{report}/order", json={"revision": 1, "notes": order}), 409, "conflict")
    seen = found["report"]["revision"]
    short = {"revision": seen, "notes": order[1:]}
    assert_envelope(await operator.put(f"{REPORTS}/{report}/order", json=short), 400, "bad_request")
    moved = await operator.put(f"{REPORTS}/{report}/order", json={"revision": seen, "notes": order})
    assert [each["id"] for each in moved.json()["notes"]] == order
    cause = next(each for each in found["notes"] if each["note"]["title"] == "Cause")
    written = text("[What caused it, and how we know. What we ruled out.]\n\nA [full](https://x.test) disk.", "Cause")
    address = f"{REPORTS}/{report}/notes/{cause['id']}"
    body_of(await operator.put(address, json={"revision": cause["revision"], "note": written}))
    page = await page_of(operator, report)
    assert "<strong>Größe</strong> 12 µs" in page
    assert page.index("Cause") < page.index("In front")
    # Prompts of the template that were left as they are do not appear in the report.
    assert "A <a " in page
    assert not [word for word in ("Afterwards", "What happened", "[What", "how we know") if word in page]
    pdf = await operator.get(f"{REPORTS}/{report}/export.pdf")
    assert (pdf.content[:5], pdf.headers["content-type"]) == (b"%PDF-", "application/pdf")
    assert_envelope(await operator.post(REPORTS, json={"title": "x", "template": "nothing"}), 404, "not_found")


async def test_two_editors_do_not_overwrite_each_other(viewer: httpx.AsyncClient, operator: httpx.AsyncClient) -> None:
    report = await start_report(operator)
    note = await add(operator, report, text("first"))
    address = f"{REPORTS}/{report}/notes/{note}"
    assert (await operator.put(address, json={"revision": 1, "note": text("second")})).status_code == 200
    refused = await operator.put(address, json={"revision": 1, "note": text("third")})
    assert_envelope(refused, 409, "conflict")
    assert "Load it again" in refused.json()["error"]["message"]
    assert "second" in await page_of(operator, report)
    body = {"revision": 99, "title": "x", "hosts": [], "start": None, "end": None}
    assert_envelope(await operator.put(f"{REPORTS}/{report}", json=body), 409, "conflict")
    assert "second" in await page_of(viewer, report)
    assert_envelope(await viewer.put(address, json={"revision": 2, "note": text("no")}), 403, "not_allowed")


async def test_deleted_notes_and_reports_come_back(operator: httpx.AsyncClient) -> None:
    report = await start_report(operator)
    first, second = [await add(operator, report, text(each)) for each in ("first words", "second words")]
    assert (await operator.delete(f"{REPORTS}/{report}/notes/{first}")).status_code == 200
    assert "first words" not in await page_of(operator, report)
    back = (await operator.post(f"{REPORTS}/{report}/notes/{first}/restore")).json()
    assert [each["id"] for each in back["notes"]] == [first, second]
    assert (await operator.delete(f"{REPORTS}/{report}")).status_code == 200
    assert_envelope(await operator.get(f"{REPORTS}/{report}"), 404, "not_found")
    assert (await operator.post(f"{REPORTS}/{report}/restore")).json()["n_notes"] == 2
    other = await start_report(operator)
    assert_envelope(await operator.delete(f"{REPORTS}/{other}/notes/{first}"), 404, "not_found")


async def test_a_report_becomes_a_template(operator: httpx.AsyncClient) -> None:
    report = await start_report(operator)
    await add(operator, report, text("Check [host]", "First"))
    await add(operator, report, {"kind": "table", "title": "Runs", "csv": "n,s\n1,2"})
    made = await operator.post(f"{REPORTS}/{report}/template", json={"title": "Ours"})
    assert made.json()["is_template"]
    keys = {each["title"]: each["key"] for each in (await operator.get("/api/v1/report-templates")).json()["templates"]}
    again = await start_report(operator, template=keys["Ours"])
    notes = [each["note"] for each in (await operator.get(f"{REPORTS}/{again}")).json()["notes"]]
    assert [(note["kind"], note["title"]) for note in notes] == [("text", "First"), ("text", "Runs")]
    assert [each["id"] for each in (await operator.get(REPORTS)).json()["reports"]][:2] == [again, report]


async def test_a_pasted_table_is_saved_as_csv_without_formulas(operator: httpx.AsyncClient) -> None:
    report = await start_report(operator)
    await add(operator, report, {"kind": "table", "title": "Runs", "csv": "name;change\n=1+1;-2.5"})
    [packed] = re.findall(r'base64,([^"]+)" download="table.csv"', await page_of(operator, report))
    assert base64.b64decode(packed).decode() == "name,change\r\n'=1+1,-2.5\r\n"


async def test_artefacts_are_frozen_as_they_look(operator: httpx.AsyncClient) -> None:
    report = await start_report(operator)
    made = []
    for body, start in ((PLOCKSTAT, "2026-11-22T00:00:00Z"), (PLOCKSTAT.replace(b"69427", b"694"), "2026-11-22T00:10:00Z")):
        params = {"host": HOST, "command": "plockstat -A -e 10 -p 1", "start": start}
        made.append((await operator.post(ARTEFACTS, content=body, params=params)).json()["id"])
    other = (await operator.post(ARTEFACTS, content=DISTRIBUTION, params={"host": HOST})).json()["id"]
    await add(operator, report, {"kind": "artefact", "title": "Locks", "artefact": made[0]})
    await add(operator, report, {"kind": "artefact", "title": "Writes", "artefact": other})
    await add(operator, report, {"kind": "artefact", "title": "Live", "artefact": other, "is_frozen": False})
    await add(operator, report, {"kind": "artefact_diff", "title": "Both", "baseline": made[0], "incident": made[1]})
    for each in (*made, other):
        await operator.delete(f"{ARTEFACTS}/{each}")
    page = await page_of(operator, report)
    assert "libzip.so`deflate+0x29c" in page
    assert f"{78 * 69427:,}" in page
    assert f"{78 * 694:,}" in page
    assert f"{78 * (694 - 69427):,}" in page
    assert "10 events" in page
    assert f"/artefacts/{other}" in page
    nothing = {"note": {"kind": "artefact_diff", "baseline": made[0], "incident": made[0]}}
    assert_envelope(await operator.post(f"{REPORTS}/{report}/notes", json=nothing), 404, "not_found")


async def test_an_experiment_is_frozen_or_a_link(operator: httpx.AsyncClient) -> None:
    for threads, real_s in ((1, 8.0), (2, 4.04), (4, 4.01), (2, 4.05)):
        run = {
            "experiment": "xz", "host": HOST, "start": f"2026-11-22T10:0{threads}:00Z", "factors": {"threads": str(threads)},
            "results": [{"name": "real", "value": real_s, "unit": "s"}],
        }  # fmt: skip
        made = body_of(await operator.post("/api/v1/experiments/runs", json=run), 201)
    experiment = made["experiment"]
    report = await start_report(operator)
    await add(operator, report, {"kind": "experiment", "title": "Threads", "experiment": experiment})
    await add(operator, report, {"kind": "experiment", "title": "Live", "experiment": experiment, "is_frozen": False})
    wrong = {"note": {"kind": "experiment", "experiment": experiment, "factor": "disks"}}
    assert_envelope(await operator.post(f"{REPORTS}/{report}/notes", json=wrong), 400, "bad_request")
    await operator.delete(f"/api/v1/experiments/{experiment}")
    page = await page_of(operator, report)
    assert "Full at threads=2: 1.98 times as fast as the reference; more adds nothing." in page
    assert f"/experiments/{experiment}" in page
    assert_envelope(
        await operator.post(f"{REPORTS}/{report}/notes", json={"note": wrong["note"] | {"factor": None}}), 404, "not_found"
    )
    assert (await operator.get(f"{REPORTS}/{report}/export.pdf")).content.startswith(b"%PDF-")


async def test_a_graph_keeps_its_data_and_a_comparison_its_answer(people: People, operator: httpx.AsyncClient) -> None:
    async with await people.agent(HOST) as agent:
        assert (await send(agent, frames_of(VMSTAT))).status_code == 200
    window = {"start": "2026-11-21T10:00:30Z", "end": "2026-11-21T10:01:00Z"}
    report = await start_report(operator, **window)
    graph = {"kind": "graph", "title": "CPU", "host": HOST, "stat": "vmstat_linux", "fields": ["cpu_us", "cpu_sy"]}
    long = {"start": "2026-11-21T10:00:00Z", "end": "2026-11-21T10:02:00Z"}
    note = await add(operator, report, graph | long)
    await add(operator, report, graph | window | {"title": "Live", "is_frozen": False})
    inputs = {"host": [HOST], **window, "baseline_start": "2026-11-21T10:00:00Z", "baseline_end": "2026-11-21T10:00:30Z"}
    await add(operator, report, {"kind": "comparison", "title": "Different", "inputs": inputs})
    await add(operator, report, {"kind": "events", "title": "Log", "hosts": [HOST], **window})
    page = await page_of(operator, report)
    assert "every sample: 120 samples" in page
    assert "incident</text>" in page
    assert "No events" in page
    assert "this comparison on the page".casefold() in page.casefold()
    [packed] = re.findall(r'base64,([^"]+)" download="web1_vmstat_linux.csv"', page)
    lines = base64.b64decode(packed).decode().splitlines()
    assert (lines[1], len(lines)) == ("2026-11-21T10:00:00.000Z,1795255200000,cpu_us,%,0.0", 121)
    # Other words are no other data; another window is.
    address = f"{REPORTS}/{report}/notes/{note}"
    before = (await operator.get(f"{REPORTS}/{report}")).json()["notes"][0]
    after = await operator.put(address, json={"revision": 1, "note": graph | long | {"title": "CPU time", "comment": "look"}})
    assert after.json()["notes"][0]["frozen_at"] == before["frozen_at"]
    again = await operator.put(address, json={"revision": 2, "note": graph | window})
    assert again.json()["notes"][0]["frozen_at"] > before["frozen_at"]
    for fields, code in ((["nothing"], "not_found"), (["cpu_us"], "not_found")):
        wrong = {"note": graph | window | {"fields": fields, "host": HOST if fields == ["nothing"] else "nowhere"}}
        assert_envelope(await operator.post(f"{REPORTS}/{report}/notes", json=wrong), 404, code)
    assert_envelope(
        await operator.post(f"{REPORTS}/{report}/notes", json={"note": {"kind": "comparison", "inputs": {"host": [HOST]}}}),
        400, "bad_request",
    )  # fmt: skip
    pdf = (await operator.get("/api/v1/comparison/report.pdf", params=inputs)).content
    text = " ".join(page.extract_text() for page in PdfReader(io.BytesIO(pdf)).pages)
    assert HOST in text
    assert "Compared with" in text


async def test_hostile_words_are_only_words(operator: httpx.AsyncClient) -> None:
    report = await start_report(operator, title=HOSTILE)
    await add(operator, report, text(HOSTILE, HOSTILE) | {"comment": HOSTILE})
    await add(operator, report, {"kind": "table", "title": HOSTILE, "csv": f'"a","{HOSTILE.replace(chr(34), "")}"\n1,2'})
    page = await page_of(operator, report)
    assert "<script" not in page
    assert "<img" not in page
    assert not re.search(r'(href|src)="(?!https?:|data:|#)', page)
    assert "default-src &#x27;none&#x27;" in page
    shown = (await operator.post("/api/v1/report-preview", json={"markdown": HOSTILE})).json()["html"]
    assert "<img" not in shown
    assert "<script" not in shown
    assert (await operator.get(f"{REPORTS}/{report}/export.pdf")).content.startswith(b"%PDF-")


async def test_images_are_made_anew_and_files_kept(operator: httpx.AsyncClient) -> None:
    report = await start_report(operator)
    svg = b"""<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10" onload="alert(1)"><script>alert(2)</script>
      <rect width="5" height="5" fill="red" onclick="alert(3)"/><image href="http://e.example/x"/>
      <a href="javascript:x"><text>t</text></a>
      <foreignObject><body xmlns="http://www.w3.org/1999/xhtml">x</body></foreignObject></svg>"""
    picture = (await operator.post(FILES, content=png() + b"<script>", params={"report": report, "name": "../a.png"})).json()
    assert (picture["name"], picture["media_type"]) == ("a.png", "image/png")
    body = (await operator.get(f"{FILES}/{picture['id']}")).content
    assert b"<script>" not in body
    drawing = (await operator.post(FILES, content=svg, params={"report": report, "name": "x.svg"})).json()
    answer = await operator.get(f"{FILES}/{drawing['id']}")
    assert b"rect" in answer.content
    assert not any(
        word in answer.content for word in (b"script", b"alert", b"e.example", b"foreignObject", b"onload", b"javascript")
    )
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["x-content-type-options"] == "nosniff"
    kept = (await operator.post(FILES, content=b"\x00core", params={"report": report, "name": "core", "image": "false"})).json()
    for note in (
        {"kind": "image", "title": "Picture", "file": picture["id"]},
        {"kind": "image", "title": "Drawing", "file": drawing["id"], "share": 0.5},
        {"kind": "file", "title": "Core", "file": kept["id"]},
    ):
        await add(operator, report, note)
    page = await page_of(operator, report)
    assert page.count("<img src=") == 2
    assert "data:application/octet-stream;base64,AGNvcmU=" in page
    assert (await operator.get(f"{REPORTS}/{report}/export.pdf")).status_code == 200
    other = await start_report(operator)
    theirs = {"note": {"kind": "image", "file": picture["id"]}}
    assert_envelope(await operator.post(f"{REPORTS}/{other}/notes", json=theirs), 400, "bad_request")


async def test_what_is_no_image_is_refused(operator: httpx.AsyncClient) -> None:
    report = await start_report(operator)
    entity = b"<!DOCTYPE x [<!ENTITY a 'b'>]><svg>&a;</svg>"
    for body in (b"", b"GIF89a", b"%PDF-1.4", b"<html></html>", b"\x89PNG\r\n\x1a\nbroken", entity):
        answer = await operator.post(FILES, content=body, params={"report": report, "name": "x.png"})
        assert_envelope(answer, 400, "bad_request")


async def test_too_many_pixels_and_too_large_a_table(operator: httpx.AsyncClient) -> None:
    report = await start_report(operator)
    out = io.BytesIO()
    Image.new("1", (9000, 9000)).save(out, "PNG")
    assert_envelope(await operator.post(FILES, content=out.getvalue(), params={"report": report, "name": "x"}), 413, "too_large")
    large = {"note": {"kind": "table", "csv": "a\n" * 600}}
    assert_envelope(await operator.post(f"{REPORTS}/{report}/notes", json=large), 400, "bad_request")
    odd = {"note": {"kind": "movie", "file": 1}}
    assert (await operator.post(f"{REPORTS}/{report}/notes", json=odd)).status_code == 422


async def test_one_account_makes_one_report_at_a_time(
    operator: httpx.AsyncClient, state: AppState, monkeypatch: pytest.MonkeyPatch
) -> None:
    slots = state.report_slots
    monkeypatch.setattr(slots, "_max_wait_s", 0.01)
    report = await start_report(operator)
    me = (await operator.get("/api/v1/auth/me")).json()["name"]
    async with slots.hold(me):
        for path in (f"{REPORTS}/{report}/export.html", f"{REPORTS}/{report}/export.pdf"):
            assert_envelope(await operator.get(path), 503, "overloaded")
        assert_envelope(await operator.post("/api/v1/report-preview", json={"markdown": "x"}), 503, "overloaded")
    assert (await operator.get(f"{REPORTS}/{report}/export.html")).status_code == 200
