"""Store artefacts, load their parts, and read their text again after a reader has changed."""

import dataclasses
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, TypeVar

import anyio.to_thread
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.artefacts.duration import commanded_duration
from normstat.artefacts.packed_reading import PackedReading, ReadingRequest, read_packed
from normstat.artefacts.part_codec import unpack_part
from normstat.artefacts.part_making import MAX_ROWS
from normstat.artefacts.parts import Part, PartKind
from normstat.artefacts.tools import Effect
from normstat.db.schema.artefact_models import ArtefactPartRow, ArtefactRow
from normstat.db.session import open_read_session, open_write_session
from normstat.errors import BadRequest, TooLarge
from normstat.records import artefact_rows
from normstat.records.artefact_rows import Artefact, ArtefactChange, ArtefactSource
from normstat.window import from_us, to_us

Sessions = async_sessionmaker[AsyncSession]
Part_ = TypeVar("Part_", bound=Part)
Answer_ = TypeVar("Answer_")
# The sources where a person describes a text, and may correct it; agents and imports repeat their first description.
BY_PEOPLE: Final = frozenset({ArtefactSource.UPLOAD, ArtefactSource.API, ArtefactSource.CLI})
# PostgreSQL's text has no NUL.
NUL: Final = "\x00"
MAX_ROWS_AT_ONCE: Final = 3 * MAX_ROWS
# A part can unpack to hundreds of MiB, and parsing its JSON blocks the whole process, so only one is unpacked at a time.
_unpacking = anyio.CapacityLimiter(1)


@dataclass(frozen=True, slots=True)
class ArtefactDraft:
    """The description of a text that becomes an artefact. Without `start` its own times say when it was, else `now`.

    `effect` None: as the tool and its command usually have. `duration_s` None: as the text or the command says, else from start to
    end.
    """

    host: str
    source: ArtefactSource
    author: str
    start: datetime | None = None
    end: datetime | None = None
    duration_s: float | None = None
    title: str = ""
    question: str = ""
    command: str = ""
    file_name: str = ""
    spec: str | None = None
    zone: str | None = None
    effect: Effect | None = None
    exit_status: int | None = None
    episode_id: int | None = None

    def __post_init__(self) -> None:
        """Raise BadRequest when it ends before it starts."""
        if self.start is not None and self.end is not None and self.end < self.start:
            raise BadRequest(f"The artefact ends at {self.end.isoformat()}, before its start {self.start.isoformat()}")


async def make_artefact(sessions: Sessions, draft: ArtefactDraft, path: Path, *, now: datetime) -> Artefact:
    """Return the artefact made of a file's text; the same one when this host has this text at this time already.

    The title, question, command and effect that a person gives now replace the earlier ones. A text without a known time that is
    given with another command is the artefact that is kept already: the person adds the command.

    Raises: NotFound for an unknown spec; TooLarge; BadRequest for an empty text, or one that takes too much time or memory
    """
    if not path.stat().st_size:  # noqa: ASYNC240 (a file of ours, written a moment ago)
        raise BadRequest("The text is empty; there is nothing to store. Did the command print to standard error?")
    start_us = None if draft.start is None else to_us(draft.start)
    asked = ReadingRequest(draft.file_name, draft.command, draft.question, draft.spec, draft.zone, start_us)
    found = await read_packed(path, asked)
    pieces = await anyio.to_thread.run_sync(lambda: artefact_rows.compress_text(path.read_bytes()))
    row = _to_row(draft, found, now)
    async with open_write_session(sessions) as session:
        same = await artefact_rows.find_same(session, draft.host, found.sha256, row.start_at)
        if same is None and draft.start is None and found.first_us is None and draft.command and draft.source in BY_PEOPLE:
            same = await artefact_rows.find_same(session, draft.host, found.sha256, None)
            same = None if same is None or same.command == draft.command else same
        if same is None:
            return await artefact_rows.add_artefact(session, row, draft.host, pieces, _to_part_rows(found))
    return await _say_again(sessions, same, draft) if draft.source in BY_PEOPLE else same


async def _say_again(sessions: Sessions, known: Artefact, draft: ArtefactDraft) -> Artefact:
    change = ArtefactChange(
        known.start, draft.end or known.end, draft.duration_s or known.duration_s, draft.title or known.title,
        draft.question or known.question, draft.command or known.command, draft.effect or known.effect,
    )  # fmt: skip
    if change == ArtefactChange(
        known.start, known.end, known.duration_s, known.title, known.question, known.command, known.effect
    ):  # fmt: skip
        return known
    return await change_artefact(sessions, known.id, change)


async def change_artefact(sessions: Sessions, artefact_id: int, change: ArtefactChange) -> Artefact:
    """Return the changed artefact. With another command its text is read again: the command says what the tool counted, how long.

    Raises: NotFound; BadRequest when it ends before it starts; DamagedArtefact
    """
    async with open_write_session(sessions) as session:
        known = await artefact_rows.read_artefact_row(session, artefact_id)
        said_s = commanded_duration(known.command)
        if change.command != known.command and said_s is not None and change.duration_s == known.duration_s == said_s:
            # The new command gives the duration.
            end = None if change.end == change.start + timedelta(seconds=said_s) else change.end
            change = dataclasses.replace(change, duration_s=None, end=end)
        changed = await artefact_rows.update_artefact(session, artefact_id, change)
    if changed.command == known.command:
        return changed
    return await reparse_artefact(sessions, artefact_id, spec=known.spec or None)


def _to_row(draft: ArtefactDraft, found: PackedReading, now: datetime) -> ArtefactRow:
    start = draft.start or (from_us(found.first_us) if found.first_us is not None else now)
    end = draft.end
    if end is None and found.last_us is not None and from_us(found.last_us) > start:
        end = from_us(found.last_us)
    duration_s = draft.duration_s or found.duration_s
    if duration_s is None and end is not None and end > start:
        duration_s = (end - start).total_seconds()
    if end is None and duration_s:
        end = start + timedelta(seconds=duration_s)
    row = ArtefactRow(
        start_at=start,
        end_at=end,
        duration_s=duration_s,
        title=draft.title,
        question=draft.question,
        command=draft.command or found.command,
        file_name=draft.file_name,
        effect=draft.effect or found.effect,
        source=draft.source,
        exit_status=draft.exit_status,
        author=draft.author,
        episode_id=draft.episode_id,
        n_bytes=found.n_bytes,
        sha256=found.sha256,
        **_read_columns(found),
    )
    row.search_text = artefact_rows.search_text_of(row, found.words)
    return row


def _read_columns(found: PackedReading) -> dict[str, object]:
    return {
        "tool": found.tool,
        "spec": found.spec,
        "spec_version": found.spec_version,
        "n_lines": found.n_lines,
        "n_rejected": found.n_rejected,
        "rejected": [
            {**dataclasses.asdict(line), "text": line.text.replace(NUL, "\N{SYMBOL FOR NULL}")} for line in found.rejected
        ],
    }


def _to_part_rows(found: PackedReading) -> list[ArtefactPartRow]:
    return [
        ArtefactPartRow(kind=part.kind, stat=part.stat, title=part.title, n_rows=part.n_rows, body=part.body)
        for part in found.parts
    ]


async def reparse_artefact(sessions: Sessions, artefact_id: int, *, spec: str | None = None) -> Artefact:
    """Return the artefact, its text read again with the current readers, or with the given spec.

    Raises: NotFound, DamagedArtefact, BadRequest
    """
    async with open_read_session(sessions) as session:
        known = await artefact_rows.read_artefact_row(session, artefact_id)
        with tempfile.NamedTemporaryFile(prefix="normstat-artefact-") as file:
            async for piece in artefact_rows.read_text(session, artefact_id):
                await anyio.to_thread.run_sync(file.write, piece)
            file.flush()
            asked = ReadingRequest(known.file_name, known.command, known.question, spec, None, to_us(known.start))
            found = await read_packed(Path(file.name), asked)
    values = _read_columns(found)
    values["command"] = known.command or found.command
    if known.duration_s is None and found.duration_s:
        values["duration_s"] = found.duration_s
        values["end_at"] = known.end or known.start + timedelta(seconds=found.duration_s)
    async with open_write_session(sessions) as session:
        return await artefact_rows.replace_parts(session, artefact_id, values, found.words, _to_part_rows(found))


async def load_part(session: AsyncSession, artefact_id: int, position: int, kind: type[Part_]) -> Part_:
    """Return a part of the kind asked for.

    Raises: NotFound; BadRequest for a part of another kind; DamagedArtefact
    """
    return await ask_part(session, artefact_id, position, kind, lambda part: part)


async def ask_part(
    session: AsyncSession, artefact_id: int, position: int, kind: type[Part_], answer: Callable[[Part_], Answer_]
) -> Answer_:
    """Return what `answer` makes of a part of the kind asked for, in a thread: the part is in memory as long as its turn lasts.

    Raises: NotFound; BadRequest for a part of another kind; DamagedArtefact; what `answer` raises
    """
    body = await artefact_rows.read_part_body(session, artefact_id, position)

    def unpack_and_answer() -> Answer_:
        part = unpack_part(body)
        if not isinstance(part, kind):
            message = f"Part {position} of artefact {artefact_id} is a {part.kind}, which cannot be asked for in this form"
            raise BadRequest(message)
        return answer(part)

    return await anyio.to_thread.run_sync(unpack_and_answer, limiter=_unpacking)


async def load_parts(session: AsyncSession, artefact_id: int) -> Sequence[Part]:
    """Return all parts of an artefact.

    Raises: NotFound, DamagedArtefact; TooLarge for tables of too many rows to be read at once
    """
    known = await artefact_rows.read_artefact_row(session, artefact_id)
    n_rows = sum(part.n_rows for part in known.parts if part.kind == PartKind.TABLE)
    if n_rows > MAX_ROWS_AT_ONCE:
        raise TooLarge(
            f"The tables of artefact {artefact_id} have {n_rows:,} rows; at most {MAX_ROWS_AT_ONCE:,} are read at once. "
            "Look at its parts one by one"
        )
    bodies = [await artefact_rows.read_part_body(session, artefact_id, part.position) for part in known.parts]
    return await anyio.to_thread.run_sync(lambda: [unpack_part(body) for body in bodies], limiter=_unpacking)


def now_utc() -> datetime:
    """Return the instant; callers hand it on, so that tests can choose it."""
    return datetime.now(UTC)
