"""Hand a message to a program of the server's administrator: JSON on its standard input, within a time limit."""

import asyncio
import json
import os
import signal
import stat
from pathlib import Path
from typing import Final

from normstat.alerts.senders.send_outcome import SEND_LIMIT_S, SendOutcome, shorten_answer

MAX_OUTPUT: Final = 4096
# Nothing of the server's own environment: it holds the password of the database.
ENVIRONMENT: Final = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"}


def list_scripts(folder: Path | None) -> list[str]:
    """Return the names of the programs that channels may use. Missing: none without a folder"""
    if folder is None or not folder.is_dir():
        return []
    return sorted(path.name for path in folder.iterdir() if find_problem(folder, path.name) is None)


def find_problem(folder: Path | None, name: str) -> str | None:
    """Return why a script may not be run. Missing: None when it may"""
    if folder is None:
        return "this server runs no scripts: its administrator has to set NORMSTAT_ALERT_SCRIPTS_DIR"
    path = folder / name
    if path.name != name or not path.is_file():
        return f"there is no script {name} in the server's folder of alert scripts"
    if path.resolve().parent != folder.resolve():
        return f"{name} is a link that leads out of the folder"
    if not os.access(path, os.X_OK):
        return f"{name} is not executable"
    for each in (folder, path):
        if each.stat().st_mode & stat.S_IWOTH:
            return f"{each.name} is writable by everyone: change that (chmod o-w)"
    return None


def name_program(folder: Path, name: str) -> str:
    """Return the path of a script, whatever the current folder is."""
    return str(folder.resolve() / name)


async def run_script(folder: Path | None, name: str, message: object, *, limit_s: float = SEND_LIMIT_S) -> SendOutcome:
    """Return how the script ended: 0 is sent. Its last output is the answer."""
    problem = find_problem(folder, name)
    if problem is not None:
        return SendOutcome(is_sent=False, answer=problem, is_final=True)
    assert folder is not None
    try:
        process = await asyncio.create_subprocess_exec(
            name_program(folder, name),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=folder,
            env=ENVIRONMENT,
            # A group of its own, so that what it starts ends with it.
            start_new_session=True,
        )
    except OSError as error:
        return SendOutcome(is_sent=False, answer=shorten_answer(f"{name} does not start: {error.strerror}"), is_final=True)
    try:
        async with asyncio.timeout(limit_s):
            output = await _talk(process, json.dumps(message, ensure_ascii=False).encode() + b"\n")
            code = await process.wait()
    except TimeoutError:
        return SendOutcome(is_sent=False, answer=f"{name} took longer than {limit_s:g} s and was ended")
    finally:
        _end(process)
    text = shorten_answer(output.decode("utf-8", "replace"))
    if code == 0:
        return SendOutcome(is_sent=True, answer=text or "exit 0")
    return SendOutcome(is_sent=False, answer=shorten_answer(f"exit {code}: {text}" if text else f"exit {code}"))


async def _talk(process: asyncio.subprocess.Process, text: bytes) -> bytes:
    """Write the message and return the first bytes of the output; the rest is discarded."""
    assert process.stdin is not None
    assert process.stdout is not None
    writing = asyncio.create_task(_write(process.stdin, text))
    try:
        kept = b""
        while piece := await process.stdout.read(65_536):
            kept = (kept + piece)[:MAX_OUTPUT]
        return kept
    finally:
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)


async def _write(stdin: asyncio.StreamWriter, text: bytes) -> None:
    try:
        stdin.write(text)
        await stdin.drain()
    except (BrokenPipeError, ConnectionResetError):
        # A script need not read the message.
        return
    finally:
        stdin.close()


def _end(process: asyncio.subprocess.Process) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
