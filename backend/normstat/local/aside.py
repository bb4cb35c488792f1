"""Call a function in a process of its own, so that its imports do not stay in the memory of this one."""

import contextlib
import os
import pickle
import signal
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def call_aside(function: Callable[[], T]) -> T:
    """Return what the function returns, or raise what it raises: both must be picklable. This process must have one thread.

    Raises: RuntimeError when the process ended without an answer
    """
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _answer(function, writer)
    os.close(writer)
    try:
        with os.fdopen(reader, "rb") as file:
            answer = file.read()
    except BaseException:
        # A Ctrl-C: what is no longer waited for must not go on.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        raise
    finally:
        _, status = os.waitpid(pid, 0)
    if not answer:
        raise RuntimeError(f"a helper process ended without an answer (exit status {os.waitstatus_to_exitcode(status)})")
    is_error, result = pickle.loads(answer)  # noqa: S301 - written by ourselves
    if is_error:
        raise result
    found: T = result
    return found


def _answer(function: Callable[[], T], writer: int) -> None:
    """Write the result and end this process, without what the caller would do when it ends."""
    try:
        try:
            answer = pickle.dumps((False, function()))
        except BaseException as error:  # noqa: BLE001 - passed on
            answer = pickle.dumps((True, error))
        with os.fdopen(writer, "wb") as file:
            file.write(answer)
    finally:
        os._exit(0)
