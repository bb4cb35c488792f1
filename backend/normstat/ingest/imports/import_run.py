"""An import from its beginning to its end: survey, then load. The command and the server's background task call `run_import`."""

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Final, Protocol

import structlog
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.db.session import make_sessions, open_read_session
from normstat.errors import BadRequest, NormstatError, shorten
from normstat.ingest.import_rows import ImportedFile, list_lengths
from normstat.ingest.imports.archives import walk_file
from normstat.ingest.imports.import_options import ImportOptions
from normstat.ingest.imports.load import Loader, Pieces, empty_result, unread_result
from normstat.ingest.imports.scan import Found, Survey, too_large_note
from normstat.ingest.imports.unpacking import Budget, Peekable, TooMuch, Unreadable
from normstat.records.artefact_keeper import ArtefactKeeper, ImportedText
from normstat.runtime.input_limits import HOST_NAME
from normstat.samples.spec_refresh import reload_user_specs
from normstat.stats.catalogue import require_spec
from normstat.window import from_us

log = structlog.get_logger()

READ_BYTES: Final = 1 << 20
MAX_MEMBERS: Final = 100_000
TICK_S: Final = 0.5


class Watch(Protocol):
    """Progress callbacks of an import. Each may raise Stopped."""

    async def surveying(self, n_bytes: int, path: str) -> None:
        """Report how many bytes the survey has read, and the file it is at."""
        ...

    async def loading(self, n_bytes: int, n_bytes_done: int, path: str) -> None:
        """Report that `n_bytes_done` of `n_bytes` are loaded."""
        ...

    async def done(self, position: int, file: ImportedFile) -> None:
        """Report the result of a file, the `position`th of the survey."""
        ...


@dataclass(frozen=True, slots=True)
class ImportSource:
    """The files to import, and their host.

    `shown_as` is the name of a single file that lies elsewhere under another one. `since` and `skipped` are for an import that goes
    on: when it began, and the places of the files that are done. `only` is the place of the one file to load, None for all.
    """

    host: str
    paths: Sequence[Path]
    options: ImportOptions
    most_bytes: int
    shown_as: str | None = None
    since: datetime | None = None
    skipped: frozenset[int] = frozenset()
    only: int | None = None


def require_host_name(host: str) -> str:
    """Return the name, when it can be a host's.

    Raises: BadRequest
    """
    if HOST_NAME.fullmatch(host) is None:
        raise BadRequest(
            f"The host is {shorten(host)}; a host's name has up to 200 of the characters A-Z a-z 0-9 . _ : - and begins with a "
            "letter, a digit or _"
        )
    return host


async def run_import(engine: AsyncEngine, job: ImportSource, watch: Watch, keeper: ArtefactKeeper | None = None) -> None:
    """Load everything that can be read; report the result of each file to `watch`, also of those that cannot.

    What is committed stays when it ends early.
    Raises: BadRequest for an invalid host name; NotFound for an unknown spec; DatabaseAway when the database stays away; what the
    watch raises
    """
    require_host_name(job.host)
    sessions = make_sessions(engine)
    await reload_user_specs(sessions)
    if job.options.spec is not None:
        require_spec(job.options.spec)
    async with open_read_session(sessions) as session:
        lengths = await list_lengths(session, job.host)
    survey = Survey(job.options, Budget(job.most_bytes, MAX_MEMBERS), lengths, keeper, job.host)
    found = await _run_survey(survey, job, watch)
    try:
        await _Run(engine, job, watch, found, keeper).run()
    finally:
        for file in found:
            if file.text is not None:
                file.text.close()


async def _run_survey(survey: Survey, job: ImportSource, watch: Watch) -> list[Found]:
    """Return the survey in a thread of its own, which ends before this does."""
    task = asyncio.create_task(asyncio.to_thread(survey.run, job.paths, job.shown_as))
    try:
        while not task.done():
            await asyncio.wait({task}, timeout=TICK_S)
            await watch.surveying(survey.n_bytes, survey.path)
    finally:
        # The thread must end before this does. When it is over already, this changes nothing.
        survey.stop()
        await asyncio.gather(task, return_exceptions=True)
    return task.result()


class _Run:
    """The second way through, file after file."""

    def __init__(
        self, engine: AsyncEngine, job: ImportSource, watch: Watch, found: Sequence[Found], keeper: ArtefactKeeper | None
    ) -> None:
        self._keeper = keeper
        self._job = job
        self._watch = watch
        self._found = found
        self._engine = engine
        wanted = found if job.only is None else found[job.only : job.only + 1]
        self._n_bytes = sum(file.n_bytes for file in wanted if file.is_loadable)
        self._n_bytes_done = 0

    async def run(self) -> None:
        """Load what can be loaded, in the order of the survey."""
        await self._watch.loading(self._n_bytes, 0, "")
        roots: dict[Path, list[int]] = {}
        for position, file in enumerate(self._found):
            if position in self._job.skipped or self._job.only not in (None, position):
                continue
            if file.is_loadable:
                roots.setdefault(file.root, []).append(position)
            else:
                await self._watch.done(position, unread_result(file, self._job.options.zone))
        for root, positions in roots.items():
            await self._load_root(root, positions)

    async def _load_root(self, root: Path, positions: Sequence[int]) -> None:
        """Load the files in one file of this machine, in the order in which the survey met them."""
        members = _Members(root, Budget(self._job.most_bytes, MAX_MEMBERS))
        try:
            for position in positions:
                file = self._found[position]
                try:
                    result = await self._load_file(file, members)
                except (Unreadable, TooMuch, OSError) as trouble:
                    result = empty_result(file.path, None, f"the second reading failed: {trouble}")
                except NormstatError as trouble:
                    if trouble.status == 503:
                        raise
                    log.warning("import_file_failed", host=self._job.host, code=trouble.code, error=trouble.message)
                    result = empty_result(file.path, None, f"not loaded, or not all of it: {trouble.message}")
                await self._watch.done(position, result)
        finally:
            await asyncio.to_thread(members.close)

    async def _load_file(self, file: Found, members: "_Members") -> ImportedFile:
        begin = self._n_bytes_done

        async def moved(n_bytes: int) -> None:
            self._n_bytes_done = begin + n_bytes
            await self._watch.loading(self._n_bytes, self._n_bytes_done, file.path)

        if self._keeper is not None and file.look.artefact:
            with tempfile.NamedTemporaryFile(prefix="normstat-import-") as copy:
                parts = _copied(await asyncio.to_thread(members.open, file), copy)
                await asyncio.to_thread(_exhaust, parts)
                await moved(file.n_bytes)
                result = empty_result(file.path, file.look.artefact, file.look.note)
                return await self._keep(self._keeper, file, file.look.artefact, result, Path(copy.name))
        host = require_host_name(file.host or self._job.host)
        if file.text is not None and file.spec is not None and host != self._job.host:
            async with open_read_session(make_sessions(self._engine)) as session:
                lengths = await list_lengths(session, host)
            await asyncio.to_thread(Survey.hash_text, file, lengths.get(file.spec.name, ()))
        loader = Loader(self._engine, host, self._job.since, self._job.options.title)
        plan = await loader.plan(file)
        is_there = plan.n_known >= file.n_bytes
        is_artefact = self._keeper is not None and file.spec is not None and self._keeper.wants(file.spec)
        is_too_large = self._keeper is not None and file.n_bytes > self._keeper.max_bytes
        if self._keeper is None or file.spec is None or not is_artefact or is_too_large or not file.n_bytes:
            parts = iter(()) if is_there else await asyncio.to_thread(members.open, file)
            result = await loader.load(file, plan, Pieces(parts, file.n_bytes), moved)
            await moved(file.n_bytes)
            if self._keeper is not None and is_artefact and is_too_large:
                return _with_note(result, too_large_note(file.n_bytes, self._keeper.max_bytes))
            return result
        with tempfile.NamedTemporaryFile(prefix="normstat-import-") as copy:
            parts = _copied(await asyncio.to_thread(members.open, file), copy)
            result = await loader.load(file, plan, Pieces(parts, file.n_bytes), moved)
            await asyncio.to_thread(_exhaust, parts)
            await moved(file.n_bytes)
            return await self._keep(self._keeper, file, file.spec.name, result, Path(copy.name))

    async def _keep(self, keeper: ArtefactKeeper, file: Found, spec: str, result: ImportedFile, copy: Path) -> ImportedFile:
        """Return the result with the artefact made of the file's copy."""
        start_us = file.timing.start_us
        text = ImportedText(
            host=file.host or self._job.host,
            name=file.path,
            spec=spec,
            command=file.look.command or "",
            title=self._job.options.title or "",
            zone=file.timing.zone,
            start=None if start_us is None else from_us(start_us),
            modified=None if file.modified_at is None else datetime.fromtimestamp(file.modified_at, UTC),
        )
        try:
            return replace(result, artefact=await keeper.keep(text, copy))
        except NormstatError as trouble:
            if trouble.status == 503:
                raise
            log.warning("import_artefact_failed", host=self._job.host, code=trouble.code, error=trouble.message)
            return _with_note(result, f"no artefact: {trouble.message}")


class _Members:
    """The files within one file of this machine, each opened when its turn comes. It blocks."""

    def __init__(self, root: Path, budget: Budget) -> None:
        self._members = walk_file(root, budget)
        self._number = -1
        self._source: Peekable | None = None

    def open(self, found: Found) -> Iterator[bytes]:
        """Yield the bytes of the file; those before it are passed over.

        Raises: Unreadable when it is gone
        """
        if found.text is not None:
            return _slice(Peekable(found.text.open()), found.begin, found.end)
        while self._number < found.member:
            member = next(self._members, None)
            if member is None:
                raise Unreadable("it is gone")
            self._number += 1
            self._source = member.source
        if self._source is None:
            raise Unreadable("it cannot be opened any more")
        return _slice(self._source, found.begin, found.end)

    def close(self) -> None:
        """Close what is open."""
        self._members.close()


def _with_note(result: ImportedFile, note: str) -> ImportedFile:
    return replace(result, note=f"{result.note}; {note}" if result.note else note)


def _copied(parts: Iterator[bytes], copy: IO[bytes]) -> Iterator[bytes]:
    """Yield the parts; each is written to `copy` first."""
    for part in parts:
        copy.write(part)
        copy.flush()
        yield part


def _exhaust(parts: Iterator[bytes]) -> None:
    for _ in parts:
        pass


def _slice(source: Peekable, begin: int, end: int) -> Iterator[bytes]:
    """Yield the bytes [begin, end) of the source."""
    while source.n_read < end:
        wanted = begin - source.n_read if source.n_read < begin else end - source.n_read
        at = source.n_read
        data = source.read(min(READ_BYTES, wanted))
        if not data:
            return
        if at >= begin:
            yield data
