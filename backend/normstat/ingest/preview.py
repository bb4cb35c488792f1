"""A preview in a process of its own: what a user writes into a spec may be slow, and must not hold up the server.

Patterns are tried by a part of Python that lets nothing else run meanwhile. So a small process reads the sample, and is ended when
it takes too long.
"""

import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Final

from normstat.errors import BadRequest, SpecError
from normstat.stats.catalogue import parse_spec
from normstat.stats.preview import Preview, PreviewLine, PreviewRow, preview_spec

TIMEOUT_S: Final = 15.0
PACKAGES: Final = Path(__file__).parents[2]


async def preview_apart(name: str, toml: str, sample: bytes, *, slots: asyncio.Semaphore) -> Preview:
    """What the spec makes of the sample; `slots` bounds how many processes there are at once.

    Raises: BadRequest when that takes too long, or the text is no spec
    """
    given = json.dumps({"name": name, "toml": toml, "sample": sample.decode("latin-1")}).encode()
    async with slots:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            __name__,
            cwd=PACKAGES,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(TIMEOUT_S):
                answer, _ = await process.communicate(given)
        except TimeoutError:
            raise BadRequest(
                f"Reading the sample takes longer than {TIMEOUT_S:.0f} seconds; look at its patterns: repeats in a row are slow"
            ) from None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    found = json.loads(answer or b"{}")
    if "refusal" in found or process.returncode:
        raise BadRequest(str(found.get("refusal", "The sample could not be read with this spec")))
    return Preview(
        rows=[PreviewRow(**row) for row in found["rows"]],
        rejected=[PreviewLine(**line) for line in found["rejected"]],
        n_lines=found["n_lines"],
        n_rows=found["n_rows"],
        n_rejected=found["n_rejected"],
    )


def main() -> None:
    """Reads what preview_apart wrote, and writes what it reads."""
    given = json.loads(sys.stdin.buffer.read())
    try:
        # Not the catalogue: its hundred specs take longer to read than the sample.
        spec = parse_spec(f"{given['name']}.toml", given["toml"], version=1)
        answer = asdict(preview_spec(spec, given["sample"].encode("latin-1")))
    except SpecError as error:
        answer = {"refusal": error.message}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
