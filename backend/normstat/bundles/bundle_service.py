"""Create a bundle of a host and a window, and open one: all of it, or nothing if it is damaged.

The whole bundle is read and its hashes are checked before the first row is stored. Rows are then committed piece by piece; opening
it again continues where it stopped, and changes nothing that is already here.
"""

import asyncio
import socket
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession

from normstat.bundles import bundle_rows
from normstat.bundles.artefact_section import ArtefactSection
from normstat.bundles.bundle_format import FORMAT, VERSION, BundleManifest, BundleSection
from normstat.bundles.bundle_reader import BundleFile
from normstat.bundles.bundle_sections import BundleSource, BundleTarget, NamedThings, SectionCodec, section_result
from normstat.bundles.bundle_writer import BundleWriter
from normstat.bundles.experiment_section import ExperimentSection
from normstat.bundles.pattern_section import PatternSection
from normstat.bundles.record_sections import BaselineSection, ComparisonSection, EventSection, ExclusionSection, SpecSection
from normstat.bundles.reference_map import ReferenceMap
from normstat.bundles.stream_section import StreamSection
from normstat.bundles.written_report_section import WrittenReportSection
from normstat.db.schema.models import Host
from normstat.db.session import make_sessions, open_read_session, open_write_session
from normstat.errors import Conflict, NotFound, shorten
from normstat.ingest.import_rows import ImportedFile
from normstat.ingest.imports.import_run import require_host_name
from normstat.report import report_rows
from normstat.report.report_rows import ReportInfo
from normstat.samples.lookup import require_host
from normstat.samples.spec_refresh import refresh_catalogue, reload_user_specs
from normstat.window import Window

# In the order in which they are opened: streams need specs, events of streams need the streams, comparisons the baselines, runs the
# artefacts, reports all of them.
SECTIONS: Final[tuple[SectionCodec, ...]] = (
    SpecSection(), StreamSection(), EventSection(), ExclusionSection(), BaselineSection(), ArtefactSection(), ComparisonSection(),
    PatternSection(), ExperimentSection(), WrittenReportSection(),
)  # fmt: skip

# Called with the number of bytes done, and of all.
Told = Callable[[int, int], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class BundleRequest:
    """What to put into a bundle. It also carries the samples of `baselines` and the `reports` with these ids, whatever their
    time."""

    host: str
    window: Window
    made_by: str
    baselines: tuple[str, ...] = ()
    comment: str = ""
    reports: tuple[int, ...] = ()


async def stream_bundle(engine: AsyncEngine, request: BundleRequest) -> AsyncGenerator[bytes]:
    """Yield the bundle in pieces: `pieces = await stream_bundle(...)` checks the names, so that a 404 is possible; then iterate.

    Raises: NotFound for an unknown host, baseline or report
    """
    sessions = make_sessions(engine)
    await reload_user_specs(sessions)
    async with open_read_session(sessions) as session:
        host_id = await require_host(session, request.host)
        found = await bundle_rows.windows_of_baselines(session, host_id, request.baselines)
        for report in request.reports:
            await report_rows.read_report(session, report)
    for name in request.baselines:
        if name not in found:
            raise NotFound(f"The host {shorten(request.host)} has no baseline {shorten(name)}; GET /api/v1/baselines lists them")
    windows = [request.window, *(window for name in request.baselines for window in found[name])]
    return _write(engine, request, host_id, windows)


async def _write(engine: AsyncEngine, request: BundleRequest, host_id: int, windows: Sequence[Window]) -> AsyncGenerator[bytes]:
    writer = BundleWriter()
    made: list[BundleSection] = []
    async with open_read_session(make_sessions(engine)) as session:
        await refresh_catalogue(session)
        server_id = await bundle_rows.read_server_id(session)
        host = await session.get(Host, host_id)
        if host is None:
            raise NotFound(f"The host {shorten(request.host)} was deleted meanwhile")
        reports = await report_rows.list_reports_of(session, request.host, windows, request.reports)
        named = await _find_named(session, request.host, windows, reports)
        for codec in SECTIONS:
            source = BundleSource(session, writer, server_id, request.host, host_id, windows, request.baselines, reports, named)
            async for _ in codec.write(source):
                if piece := writer.take():
                    yield piece
            made.append(BundleSection(codec.name, codec.version, source.members, source.counts, source.notes, source.index))
        manifest = BundleManifest(
            format=FORMAT,
            version=VERSION,
            id=str(uuid.uuid4()),
            made_at=datetime.now(UTC),
            made_by=request.made_by,
            normstat=metadata.version("normstat"),
            server=socket.gethostname(),
            server_id=server_id,
            host=request.host,
            os=host.os,
            agent_version=host.agent_version,
            tags=list(host.tags),
            windows=list(windows),
            sections=made,
            comment=request.comment,
        )
    writer.finish(manifest)
    yield writer.take()


async def _find_named(
    session: AsyncSession, host: str, windows: Sequence[Window], reports: Sequence[ReportInfo]
) -> NamedThings:  # fmt: skip
    """Return what the notes of reports refer to, and the baselines of comparisons."""
    found: dict[str, set[int]] = {"artefact": set(), "comparison": set(), "experiment": set()}
    inputs: list[Mapping[str, Any]] = []
    for report in reports:
        for note in await report_rows.list_notes(session, report.id):
            if note.content.get("kind") == "artefact_diff":
                found["artefact"] |= {int(note.content[side]) for side in ("baseline", "incident")}
            for name, ids in found.items():
                if isinstance(id_there := note.content.get(name), int):
                    ids.add(id_there)
            inputs.append(note.content.get("inputs") or {})
    comparisons = await bundle_rows.list_comparisons_of(session, host, windows, found["comparison"])
    inputs += [comparison.inputs for comparison in comparisons]
    baselines = {each["baseline"] for each in inputs if isinstance(each.get("baseline"), int)}
    return NamedThings(*map(frozenset, (found["artefact"], found["comparison"], found["experiment"], baselines)))


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """A bundle to open: `host` is its name here, None for that of the bundle; `merges` into a host that already exists here."""

    path: Path
    opened_by: str
    host: str | None = None
    merges: bool = False
    max_bytes: int = 50 << 30


def read_manifest(path: Path, *, max_bytes: int) -> BundleManifest:
    """Return the manifest of a bundle. It blocks.

    Raises: BadRequest, TooLarge
    """
    bundle = BundleFile(path, max_bytes=max_bytes)
    bundle.close()
    return bundle.manifest


async def choose_host(engine: AsyncEngine, manifest: BundleManifest, request: OpenRequest) -> str:
    """Return the name of the host here.

    Raises: BadRequest for an invalid host name; Conflict when the host exists and the bundle may not merge into it
    """
    name = require_host_name(manifest.host if request.host is None else request.host)
    async with open_read_session(make_sessions(engine)) as session:
        is_here = await bundle_rows.find_host_id(session, name) is not None
    if is_here and not request.merges:
        raise Conflict(
            f"There is already a host {name} here; open the bundle under another name (--as), or merge it into {name} (--merge)",
            {"host": name},
        )
    return name


async def open_bundle(
    engine: AsyncEngine, request: OpenRequest, *, told: Callable[[ImportedFile], None], moved: Told
) -> BundleManifest:
    """Load a bundle; return its manifest. `told` is called with the result of each thing, `moved` with bytes that are done.

    Raises: BadRequest, TooLarge for a bundle that cannot be read: nothing of it is loaded; Conflict; DatabaseAway; what `moved`
        raises
    """
    bundle = await asyncio.to_thread(BundleFile, request.path, max_bytes=request.max_bytes)
    try:
        host = await choose_host(engine, bundle.manifest, request)
        n_bytes = bundle.manifest.n_bytes
        await moved(0, n_bytes)
        await asyncio.to_thread(bundle.verify)
        sessions = make_sessions(engine)
        await reload_user_specs(sessions)
        references = ReferenceMap(bundle.manifest.host, host, bundle.manifest.server)
        async with open_read_session(sessions) as session:
            names = await bundle_rows.list_author_names(session) - {request.opened_by}
        target = BundleTarget(engine, sessions, bundle, host, request.opened_by, told, references, names)
        n_done = 0
        async with open_write_session(sessions) as session:
            await bundle_rows.add_bundle_host(session, host, bundle.manifest.os, bundle.manifest.tags)
        for codec in SECTIONS:
            section = bundle.section(codec.name)
            if section is None:
                continue
            if section.version > codec.version:
                told(section_result(codec.name, "section", "left out: a newer normstat wrote it; upgrade normstat here to load it"))
                continue
            async for n in codec.open(target, section):
                await moved(n_done + n, n_bytes)
            n_done += sum(member.n_bytes for member in section.members)
        known = {codec.name for codec in SECTIONS}
        for section in bundle.manifest.sections:
            if section.name not in known:
                told(section_result(section.name[:100], "section", "left out: this normstat does not know this kind of content"))
        return bundle.manifest
    finally:
        await asyncio.to_thread(bundle.close)
