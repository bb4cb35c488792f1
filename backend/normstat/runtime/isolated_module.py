"""Runs a module of ours in a process of its own, for work that may be slow or large: the server goes on, and the process can be
killed.
"""

import asyncio
import contextlib
import subprocess
import sys
from pathlib import Path
from typing import Final

import structlog

from normstat.errors import BadRequest

log = structlog.get_logger()

PACKAGES: Final = Path(__file__).parents[2]


async def ask_isolated(module: str, given: bytes, *, timeout_s: float, late: str, exceeded: str) -> bytes:
    """Return what `python -m module` writes when it reads these bytes. It limits its own memory and CPU time.

    Raises: BadRequest with the text `late` when it takes longer than `timeout_s`, with `exceeded` when it ends by itself
    """
    process = await asyncio.create_subprocess_exec(
        *_command(module),
        cwd=PACKAGES,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(timeout_s):
            answer, _ = await process.communicate(given)
    except TimeoutError:
        raise BadRequest(late) from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode:
        log.warning("isolated_module_ended", module=module, status=process.returncode)
        raise BadRequest(exceeded)
    return answer


def run_isolated(module: str, *arguments: str, timeout_s: float) -> tuple[int, str]:
    """Return the exit status of `python -m module arguments` and what it writes to standard error, for a caller in a thread.

    Raises: TimeoutError when it takes longer, after it was killed
    """
    try:
        ended = subprocess.run(  # noqa: S603 (our own module)
            _command(module, *arguments), cwd=PACKAGES, capture_output=True, timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired:
        raise TimeoutError from None
    if ended.returncode:
        log.warning("isolated_module_ended", module=module, status=ended.returncode)
    return ended.returncode, ended.stderr.decode("utf-8", "replace").strip()


def _command(module: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", module, *arguments]
