"""Reads a user's spec in a separate process: it may be slow or large, and must not block the server.

The process has limits of memory and CPU time, and is killed when it does not answer in time. A spec that it has read is known to be
harmless: the server itself reads only such texts.
"""

import contextlib
import json
import resource
import sys
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from normstat.errors import BadRequest, SpecError
from normstat.runtime.isolated_module import ask_isolated
from normstat.runtime.readable import format_bytes
from normstat.stats.catalogue import UserSpecText, parse_user_spec
from normstat.stats.preview import SpecPreview, SpecPreviewLine, SpecPreviewRow, preview_spec
from normstat.stats.user_spec import find_name

TIMEOUT_S: Final = 30.0
# CPU seconds; a busy machine may need more wall time.
MAX_CPU_S: Final = 10
# On top of what the program itself needs.
MAX_MEMORY: Final = 256 << 20


async def check_isolated(toml: str) -> str:
    """Return the name of the spec in the text, as far as it can be determined without the other specs.

    Raises: BadRequest when it is not a spec, or reading it takes too much time or memory
    """
    return str((await _ask({"toml": toml}))["name"])


async def preview_isolated(toml: str, sample: bytes) -> SpecPreview:
    """Return the preview of the sample.

    Raises: BadRequest when the text is not a spec, or reading takes too much time or memory
    """
    found = await _ask({"toml": toml, "sample": sample.decode("latin-1")})
    return SpecPreview(
        rows=[_to_row(**row) for row in found["rows"]],
        rejected=[SpecPreviewLine(**line) for line in found["rejected"]],
        n_lines=found["n_lines"],
        n_rows=found["n_rows"],
        n_rejected=found["n_rejected"],
    )


def _to_row(*, time: str | None, **others: Any) -> SpecPreviewRow:
    return SpecPreviewRow(time=None if time is None else datetime.fromisoformat(time), **others)


async def _ask(given: dict[str, str]) -> dict[str, Any]:
    answer = await ask_isolated(
        __name__,
        json.dumps(given).encode(),
        timeout_s=TIMEOUT_S,
        late=f"Reading the spec takes longer than {TIMEOUT_S:.0f} seconds; make it simpler, or the sample shorter",
        exceeded=f"Reading the spec needs more than {format_bytes(MAX_MEMORY)} or {MAX_CPU_S} seconds of processor time;"
        " make it simpler, or the sample shorter",
    )
    found: dict[str, Any] = json.loads(answer)
    if "refusal" in found:
        raise BadRequest(found["refusal"])
    return found


def main() -> None:
    """Read what `_ask` wrote, and write what it reads."""
    _limit()
    given = json.loads(sys.stdin.buffer.read())
    try:
        name = find_name(given["toml"])
        # Not the catalogue: its hundred specs take longer to read than the sample.
        spec = parse_user_spec(UserSpecText(name, given["toml"], 1))
        answer: dict[str, Any] = {"name": name}
        if "sample" in given:
            answer |= asdict(preview_spec(spec, given["sample"].encode("latin-1")))
    except SpecError as error:
        answer = {"refusal": error.message}
    sys.stdout.write(json.dumps(answer, default=datetime.isoformat))


def _limit() -> None:
    """Set the resource limits of this process."""
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_S, MAX_CPU_S + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Where the system does not report mapped memory, only time is limited.
    with contextlib.suppress(OSError):
        n_pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        n_bytes = n_pages * resource.getpagesize() + MAX_MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))


if __name__ == "__main__":
    main()
