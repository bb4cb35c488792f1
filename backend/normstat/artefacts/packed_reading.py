"""The parts read from an artefact, packed to be stored; read in a separate process if the text is large.

A text of a hundred MiB takes a reader minutes, and its stacks gigabytes: a separate process has limits, and the server goes on.
"""

import base64
import contextlib
import dataclasses
import hashlib
import resource
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import anyio.to_thread
import orjson

from normstat.artefacts.part_codec import pack_part
from normstat.artefacts.part_making import split_tables
from normstat.artefacts.part_words import find_words
from normstat.artefacts.reading import RejectedText, read_artefact
from normstat.artefacts.tools import Effect
from normstat.errors import NormstatError, NotFound, TooLarge
from normstat.runtime.input_limits import MAX_ARTEFACT_BYTES
from normstat.runtime.isolated_module import ask_isolated
from normstat.runtime.readable import format_bytes
from normstat.stats.records import Timing

# The largest text read in a thread of the server: a quarter of a second.
INLINE_BYTES: Final = 128 << 10
TIMEOUT_S: Final = 900.0
# For any text, and for each of its bytes: lines of a lock each, the worst that is known, take 24 bytes and a microsecond.
MIN_CPU_S: Final = 60
CPU_S_PER_MIB: Final = 4
MAX_CPU_S: Final = 600
MIN_MEMORY: Final = 1 << 30
MEMORY_PER_BYTE: Final = 40
MAX_MEMORY: Final = 6 << 30


@dataclass(frozen=True, slots=True)
class PackedPart:
    """A part as it is stored."""

    kind: str
    stat: str
    title: str
    n_rows: int
    body: bytes


@dataclass(frozen=True, slots=True)
class PackedReading:
    """What a text holds; see ArtefactReading. `words`: names in its parts, for the search. `sha256`: of the text, hexadecimal."""

    spec: str
    spec_version: int
    tool: str
    command: str
    effect: Effect
    first_us: int | None
    last_us: int | None
    duration_s: float | None
    n_bytes: int
    n_lines: int
    n_rejected: int
    rejected: Sequence[RejectedText]
    words: str
    sha256: str
    parts: Sequence[PackedPart]


@dataclass(frozen=True, slots=True)
class ReadingRequest:
    """The description of a text: its file, the command that printed it, what was asked, its times, its spec where one is named."""

    name: str = ""
    command: str = ""
    question: str = ""
    spec: str | None = None
    zone: str | None = None
    start_us: int | None = None


async def read_packed(path: Path, asked: ReadingRequest) -> PackedReading:
    """Return what the file holds.

    Raises: NotFound for an unknown spec; TooLarge; BadRequest for a text that takes too much time or memory
    """
    n_bytes = path.stat().st_size  # noqa: ASYNC240 (a file of ours, written a moment ago)
    if n_bytes > MAX_ARTEFACT_BYTES:
        limit = format_bytes(MAX_ARTEFACT_BYTES)
        raise TooLarge(f"The text has {format_bytes(n_bytes)}; an artefact has up to {limit}: send less of it")
    if n_bytes <= INLINE_BYTES:
        return await anyio.to_thread.run_sync(pack_reading, path, asked)
    return await _read_isolated(path, asked)


def pack_reading(path: Path, asked: ReadingRequest) -> PackedReading:
    """Return what the file holds, read in this process.

    Raises: NotFound for an unknown spec
    """
    data = path.read_bytes()
    timing = Timing(zone=asked.zone, start_us=asked.start_us)
    found = read_artefact(data, name=asked.name, command=asked.command, question=asked.question, spec=asked.spec, timing=timing)
    return PackedReading(
        spec=found.spec,
        spec_version=found.spec_version,
        tool=found.tool,
        command=found.command,
        effect=found.effect,
        first_us=found.first_us,
        last_us=found.last_us,
        duration_s=found.duration_s,
        n_bytes=len(data),
        n_lines=found.n_lines,
        n_rejected=found.n_rejected,
        rejected=found.rejected,
        words=find_words(found.parts),
        sha256=hashlib.sha256(data).hexdigest(),
        parts=[PackedPart(part.kind, part.stat, part.title, part.n_rows, pack_part(part)) for part in split_tables(found.parts)],
    )


async def _read_isolated(path: Path, asked: ReadingRequest) -> PackedReading:
    given = orjson.dumps({"path": str(path), **dataclasses.asdict(asked)})
    answer = await ask_isolated(
        __name__,
        given,
        timeout_s=TIMEOUT_S,
        late=f"Reading the text takes longer than {TIMEOUT_S / 60:.0f} minutes; send less of it",
        exceeded="Reading the text needs far more memory or CPU time than texts of its size do; send less of it",
    )
    return await anyio.to_thread.run_sync(_unpack_answer, answer)


def _unpack_answer(answer: bytes) -> PackedReading:
    found: dict[str, Any] = orjson.loads(answer)
    if "refusal" in found:
        raise NotFound(found["refusal"])
    parts = [PackedPart(**{**part, "body": base64.b64decode(part["body"])}) for part in found.pop("parts")]
    rejected = [RejectedText(**line) for line in found.pop("rejected")]
    return PackedReading(**{**found, "effect": Effect(found["effect"])}, parts=parts, rejected=rejected)


def main() -> None:
    """Read what `_read_isolated` asks for, and write it."""
    given = orjson.loads(sys.stdin.buffer.read())
    path = Path(given.pop("path"))
    _limit(path.stat().st_size)
    try:
        found = dataclasses.asdict(pack_reading(path, ReadingRequest(**given)))
        for part in found["parts"]:
            part["body"] = base64.b64encode(part["body"]).decode()
    except NormstatError as error:
        found = {"refusal": error.message}
    sys.stdout.buffer.write(orjson.dumps(found))


def _limit(n_bytes: int) -> None:
    """Limit memory and CPU time by the size of the text, so that a small text that expands is stopped early."""
    cpu_s = min(MAX_CPU_S, MIN_CPU_S + CPU_S_PER_MIB * (n_bytes >> 20))
    memory = min(MAX_MEMORY, MIN_MEMORY + MEMORY_PER_BYTE * n_bytes)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


if __name__ == "__main__":
    main()
