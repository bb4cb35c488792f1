"""Experiments and reports of a window arrive on another server, name what is there, and arrive once."""

import hashlib
import io
import json
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import zstandard
from PIL import Image
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.artefacts.artefact_service import ArtefactDraft, make_artefact
from normstat.baselines.baseline_rows import BaselineDraft, create_baseline
from normstat.bundles.bundle_format import MANIFEST
from normstat.bundles.bundle_service import BundleRequest, stream_bundle
from normstat.bundles.reference_map import NOWHERE, ReferenceMap
from normstat.comparison.saved_comparison_rows import SavedComparisonDraft, create_saved, list_saved
from normstat.db.session import make_sessions, open_read_session, open_write_session
from normstat.errors import BadRequest, NotFound
from normstat.experiments.experiment_rows import RunDraft, RunSource, add_run, find_experiment, list_runs
from normstat.records.artefact_rows import ArtefactFilter, ArtefactSource, list_artefacts
from normstat.report import report_rows
from normstat.report.blocks import LinkBlock, SaidBlock, TextBlock, pack_blocks, unpack_blocks
from normstat.report.note_models import NOTE
from normstat.report.report_rows import ReportChange, add_file, add_note, create_report, list_files, list_notes, list_reports
from normstat.stats.measured_value import MeasuredValue
from normstat.window import Window
from tests.bundles.test_round_trip import START, WINDOW, load, make, other, other_url
from tests.databases import Sessions, on_either_database
from tests.generated import PLOCKSTAT, vmstat_text, vmstat_times
from tests.ingest.sending import Agent

pytestmark = on_either_database

__all__ = ["other", "other_url"]


def run_at(seconds: float, threads: str, real_s: float, artefacts: tuple[int, ...] = (), host: str = "alpha") -> RunDraft:
    start = WINDOW.start + timedelta(seconds=seconds)
    return RunDraft(
        host, start, start + timedelta(seconds=1), {"threads": threads}, "xz -k", 0, "", RunSource.CLI, "ann",
        [MeasuredValue("real", real_s, "s")], artefacts,
    )  # fmt: skip


def png() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (20, 10), "red").save(out, "PNG")
    return out.getvalue()


async def write(engine: AsyncEngine, sessions: Sessions, tmp_path: Path) -> dict[str, int]:
    """A host with an artefact before the window, an experiment, a saved comparison, and a report that names all of them."""
    await Agent(engine).send_file(vmstat_text(vmstat_times(200)), key="vmstat_linux.1.1-2")
    text = tmp_path / "lock.txt"
    text.write_bytes(PLOCKSTAT)
    # A first one shifts the ids, so that they differ on the other server.
    made = []
    for host, at in (("beta", START), ("alpha", START + timedelta(seconds=1))):
        draft = ArtefactDraft(host, ArtefactSource.API, "ann", start=at, command="plockstat -A -e 10 -p 1", title="locks")
        made.append((await make_artefact(sessions, draft, text, now=START)).id)
    async with open_write_session(sessions) as session:
        await add_run(session, "other", run_at(0, "1", 1.0, host="beta"))
        for place, (threads, real_s) in enumerate((("1", 8.0), ("2", 4.1), ("2", 4.0))):
            run = await add_run(session, "xz", run_at(10 + place, threads, real_s, (made[1],)))
        await add_run(session, "xz", run_at(3600, "4", 3.9))
        await add_run(session, "xz", run_at(11, "4", 3.9, host="beta"))
        baseline = await create_baseline(session, BaselineDraft("quiet", "", ("alpha",), (Window(START, WINDOW.start),), "ann"))
        inputs: dict[str, Any] = {
            "host": ["alpha"], "start": WINDOW.start.isoformat(), "end": WINDOW.end.isoformat(), "baseline": baseline.id,
        }  # fmt: skip
        await create_saved(session, SavedComparisonDraft("not of alpha", "", inputs | {"host": ["beta"]}, b"{}", "ann"))
        saved = await create_saved(session, SavedComparisonDraft("incident 7", "", inputs, b"{}", "ann"))
        await create_report(session, ReportChange("Not here", ["beta"], WINDOW.start, WINDOW.end), [], author="ann")
        report = await create_report(session, ReportChange("Slow <b>", ["alpha"], WINDOW.start, WINDOW.end), [], author="ann")
        picture = await add_file(session, report.id, "a.png", "image/png", png(), author="ann")
        core = await add_file(session, report.id, "core", "application/octet-stream", b"\x00core", author="ann")
        link = LinkBlock("On the page", f"/comparison?host=alpha&baseline={baseline.id}&version=1")
        frozen = pack_blocks([SaidBlock("frozen words"), link, LinkBlock("Other", "/comparison?baseline=999&host=beta")])
        notes: list[tuple[dict[str, Any], bytes | None]] = [
            ({"kind": "text", "markdown": f"[lock](/artefacts/{made[1]}) [no](/artefacts/{made[0]}) [h](/hosts/alpha?x=1)"}, None),
            ({"kind": "artefact", "title": "Locks", "artefact": made[1]}, frozen),
            ({"kind": "artefact_diff", "title": "Both", "baseline": made[0], "incident": made[1]}, frozen),
            ({"kind": "experiment", "experiment": run.experiment_id, "is_frozen": False}, None),
            ({"kind": "comparison", "comparison": saved.id}, frozen),
            ({"kind": "comparison", "inputs": inputs}, frozen),
            ({"kind": "image", "title": "Picture", "file": picture.id}, None),
            ({"kind": "file", "file": core.id}, None),
            ({"kind": "graph", "host": "alpha", "stat": "vmstat_linux", "fields": ["cpu_us"], "is_frozen": False,
              "start": "2026-11-21T12:01:00Z", "end": "2026-11-21T12:02:00Z"}, None),
        ]  # fmt: skip
        for content, body in notes:
            full = NOTE.validate_python(content).model_dump(mode="json")
            await add_note(session, report.id, full, body, place=None, author="bob")
    return {"report": report.id, "artefact": made[1], "experiment": run.experiment_id}


async def test_a_report_arrives_with_all_that_it_names(
    engine: AsyncEngine, sessions: Sessions, other: AsyncEngine, tmp_path: Path
) -> None:
    there = await write(engine, sessions, tmp_path)
    bundle = await make(engine, tmp_path / "b.zip")
    told = await load(other, bundle, "copy")
    assert {one.path: one.note.startswith("from bundle") for one in told if one.path.startswith(("rep", "exp"))} == {
        "experiment xz": True, "report Slow <b>": True,
    }  # fmt: skip
    theirs = make_sessions(other)
    async with open_read_session(theirs) as session, open_read_session(sessions) as home:
        [artefact] = (await list_artefacts(session, ArtefactFilter(hosts=("copy",)), limit=9, offset=0)).artefacts
        experiment = await find_experiment(session, "xz")
        runs = await list_runs(session, experiment.id)
        [saved] = (await list_saved(session)).comparisons
        [report] = await list_reports(session, templates=False)
        original = await report_rows.read_report(home, there["report"])
        assert artefact.id != there["artefact"]
        assert [(run.host, run.factors["threads"], run.results[0].value, run.artefacts) for run in runs] == [
            ("copy", "1", 8.0, [artefact.id]), ("copy", "2", 4.1, [artefact.id]), ("copy", "2", 4.0, [artefact.id]),
            ("copy", "4", 3.9, []),
        ]  # fmt: skip
        assert (report.title, report.hosts, report.start, report.author, report.created_at, report.updated_at) == (
            "Slow <b>", ["copy"], WINDOW.start, "ann", original.created_at, original.updated_at,
        )  # fmt: skip
        notes = await list_notes(session, report.id)
        text, locks, both, experiment_note, compared, with_inputs, picture, core, graph = (note.content for note in notes)
        assert text["markdown"] == f"[lock](/artefacts/{artefact.id}) [no]({NOWHERE}) [h](/hosts/copy?x=1)"
        assert locks["artefact"] == artefact.id
        # Of the two artefacts one is of another host: what was frozen stays, and nothing leads to a wrong one.
        assert (both["kind"], both["title"]) == ("text", "Both")
        assert "which its bundle does not carry" in both["markdown"]
        assert experiment_note["experiment"] == experiment.id
        assert (compared["comparison"], with_inputs["inputs"]["host"]) == (saved.id, ["copy"])
        assert with_inputs["inputs"]["baseline"] == saved.inputs["baseline"]
        assert graph["host"] == "copy"
        files = await list_files(session, report.id)
        assert [(file.name, file.media_type) for file in files] == [("a.png", "image/png"), ("core", "application/octet-stream")]
        assert [picture["file"], core["file"]] == [file.id for file in files]
        assert await report_rows.read_file_body(session, files[1].id) == b"\x00core"
        frozen = unpack_blocks((await report_rows.read_frozen(session, report.id))[notes[1].id])
        path = f"/comparison?host=copy&baseline={saved.inputs['baseline']}&version=1"
        assert frozen == [SaidBlock("frozen words"), LinkBlock("On the page", path), frozen[2]]
        assert isinstance(frozen[2], SaidBlock)
        stored = [note.frozen_at for note in await list_notes(home, there["report"])]
        assert [note.frozen_at for note in notes] == stored
    # Twice is once, and what people changed here meanwhile stays.
    async with open_write_session(theirs) as session:
        change = ReportChange("Changed here", ["copy"], WINDOW.start, WINDOW.end)
        await report_rows.update_report(session, report.id, report.revision, change, author="carl")
    again = await load(other, bundle, "copy", merges=True)
    assert [one.note for one in again if one.path.startswith(("rep", "exp"))] == [
        "already here", "already here; it stays as it is here",
    ]  # fmt: skip
    async with open_read_session(theirs) as session:
        assert [one.title for one in await list_reports(session, templates=False)] == ["Changed here"]
        assert len(await list_runs(session, experiment.id)) == 4


async def test_chosen_reports_and_names_that_are_taken(
    engine: AsyncEngine, sessions: Sessions, other: AsyncEngine, tmp_path: Path
) -> None:
    there = await write(engine, sessions, tmp_path)
    late = Window(WINDOW.end + timedelta(seconds=10), WINDOW.end + timedelta(seconds=20))
    pieces = await stream_bundle(engine, BundleRequest("alpha", late, "admin", reports=(there["report"],)))
    bundle = tmp_path / "late.zip"
    bundle.write_bytes(b"".join([piece async for piece in pieces]))
    theirs = make_sessions(other)
    async with open_write_session(theirs) as session:
        await add_run(session, "xz", run_at(0, "1", 1.0, host="gamma"))
    told = await load(other, bundle)
    [name] = [one.path.removeprefix("experiment ") for one in told if (one.spec or "").endswith("runs")]
    async with open_read_session(theirs) as session:
        # The experiment that has the name here is another one.
        assert len(await list_runs(session, (await find_experiment(session, name)).id)) == 1
        carried = await find_experiment(session, f"xz ({told[-1].note})")
        # What a chosen report names comes with it, of whatever time.
        assert len(await list_runs(session, carried.id)) == 4
        assert len((await list_artefacts(session, ArtefactFilter(hosts=("alpha",)), limit=9, offset=0)).artefacts) == 1
    # Without the choice the report is not of this window.
    assert not [one for one in await load(other, await make(engine, tmp_path / "c.zip", late), merges=True) if "report" in one.path]
    with pytest.raises(NotFound, match="report 999"):
        await stream_bundle(engine, BundleRequest("alpha", late, "admin", reports=(999,)))


def rewrite(path: Path, section: str, change: Any, *, member: str = "") -> Path:
    """The bundle with the JSON of a section's list changed, all hashes right."""
    with zipfile.ZipFile(path) as file:
        bodies = {name: file.read(name) for name in file.namelist()}
    manifest = json.loads(bodies[MANIFEST])
    [found] = [each for each in manifest["sections"] if each["name"] == section]
    name = member or f"{section}.json.zst"
    body = zstandard.ZstdDecompressor().decompressobj().decompress(bodies[name])
    if isinstance(change, bytes):
        body = change
    else:
        rows = json.loads(body)
        change(rows)
        body = json.dumps(rows).encode()
    bodies[name] = zstandard.compress(body)
    for each in found["members"]:
        if each["name"] == name:
            each.update(n_bytes=len(body), sha256=hashlib.sha256(body).hexdigest())
    bodies[MANIFEST] = json.dumps(manifest).encode()
    changed = path.with_name("changed.zip")
    with zipfile.ZipFile(changed, "w") as file:
        for each, data in bodies.items():
            file.writestr(each, data)
    return changed


async def test_hostile_reports_are_refused_or_only_words(
    engine: AsyncEngine, sessions: Sessions, other: AsyncEngine, tmp_path: Path
) -> None:
    await write(engine, sessions, tmp_path)
    bundle = await make(engine, tmp_path / "b.zip")
    refused: list[tuple[str, Any]] = [
        ("reports", lambda rows: rows[0].update(title="")),
        ("reports", lambda rows: rows[0].update(notes=rows[0]["notes"] * 100)),
        ("reports", lambda rows: rows[0]["notes"][0].update(content={"kind": "movie"})),
        ("reports", lambda rows: rows[0].update(created_at="2026-11-21T12:00:00")),
        ("reports", b"{}"),
        ("experiments", lambda rows: rows[0]["runs"][0].update(exit_status=-1)),
        ("experiments", lambda rows: rows[0]["runs"][0]["results"][0].update(value="NaN")),
        ("experiments", lambda rows: rows[0]["runs"][0].update(end="2001-01-01T00:00:00+00:00")),
        ("experiments", lambda rows: rows[0].update(name="a\x00")),
    ]
    for place, (section, change) in enumerate(refused):
        with pytest.raises(BadRequest):
            await load(other, rewrite(bundle, section, change), f"h{place}")
    # One report that is damaged is left out, and said; nothing of it stays.
    left_out: list[tuple[Any, str]] = [
        (lambda rows: rows[0]["notes"][1].update(frozen="streams/../x"), "no member"),
        (lambda rows: rows[0]["files"][0].update(member=rows[0]["notes"][1]["frozen"]), "not PNG"),
        (lambda rows: rows[0]["notes"][5]["content"]["inputs"].update(baseline="'; DROP TABLE reports"), "damaged"),
    ]
    for change, words in left_out:
        told = await load(other, rewrite(bundle, "reports", change), "h0", merges=True)
        assert [words in one.note for one in told if one.path.startswith("report")] == [True]
    crooked = b'[{"kind":"table","columns":[{"title":"a"}],"rows":[["1","2"]]}]'
    frozen = rewrite(bundle, "reports", crooked, member="reports/000001.zst")
    told = await load(other, frozen, "h0", merges=True)
    assert [one.note for one in told if one.path.startswith("report")] == [
        "not added: The frozen content of this note cannot be read: it is damaged, or a newer normstat wrote it"
    ]
    async with open_read_session(make_sessions(other)) as session:
        assert await list_reports(session, templates=False) == []


def test_links_lead_to_the_same_things() -> None:
    known = ReferenceMap("alpha", "copy", "srv", artefacts={1: 5}, comparisons={2: 6}, experiments={3: 7}, reports={4: 8})
    paths = {
        "/artefacts/1?part=2": "/artefacts/5?part=2",
        "/artefacts/2": NOWHERE,
        "/experiments/3": "/experiments/7",
        "/reports/4": "/reports/8",
        "/hosts/alpha?from=x": "/hosts/copy?from=x",
        "/hosts/beta": "/hosts/beta",
        "/comparison?saved=2": "/comparison?saved=6",
        "/comparison?saved=x": NOWHERE,
        "/comparison?baseline=3": NOWHERE,
        "https://example.org/artefacts/1": "https://example.org/artefacts/1",
    }
    assert {path: known.to_path(path) for path in paths} == paths
    assert known.to_blocks([TextBlock("[a](/artefacts/1)")]) == [TextBlock("[a](/artefacts/5)")]
