"""How a try to deliver ended, and how a try in a thread of its own is cut off."""

import asyncio
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

MAX_ANSWER: Final = 500
# Maximum time from the first to the last byte of an answer.
SEND_LIMIT_S: Final = 30.0
CONNECT_LIMIT_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class SendOutcome:
    """How a try ended. `answer`: what the receiver said, or why it was not reached; `retry_after_s`: the pause that it asked for.

    `is_final`: another try would end the same way
    """

    is_sent: bool
    answer: str
    is_final: bool = False
    retry_after_s: float | None = None


def shorten_answer(text: str) -> str:
    """Return what a receiver said in one line, without control characters, at most 500 characters."""
    plain = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return plain if len(plain) <= MAX_ANSWER else f"{plain[: MAX_ANSWER - 3]}..."


class Cutter:
    """Holds the socket of a try, so that it can be cut off from outside: a time limit of a socket is one for each read only."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._is_cut = False

    def hold(self, held: socket.socket) -> None:
        """Note the socket that the try uses from now on. Raises: OSError, when the try was cut off already"""
        with self._lock:
            self._socket = held
            if self._is_cut:
                raise TimeoutError("the time is over")

    def cut(self) -> None:
        """Cut off the try's connection."""
        with self._lock:
            self._is_cut = True
            if self._socket is not None:
                try:
                    self._socket.shutdown(socket.SHUT_RDWR)
                except OSError:
                    return


async def run_cut_off(send: Callable[[Cutter], SendOutcome], *, limit_s: float = SEND_LIMIT_S) -> SendOutcome:
    """Return how a blocking try ended, run in a thread of its own; one that takes too long is cut off.

    The threads of the event loop are few, and one slow receiver must not hold them. A name server may keep a thread for longer than
    the limit; it ends by itself, and is not waited for.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[SendOutcome] = loop.create_future()
    cutter = Cutter()

    def work() -> None:
        # Where a defect ends the thread; the log has its traceback.
        outcome = SendOutcome(is_sent=False, answer="normstat failed; its log says why")
        try:
            outcome = send(cutter)
        except OSError as error:
            outcome = SendOutcome(is_sent=False, answer=describe_failure(error))
        except ValueError as error:
            # A name that cannot be one of a host is found out when it is looked up.
            outcome = SendOutcome(is_sent=False, answer=shorten_answer(str(error)), is_final=True)
        finally:
            with suppress(RuntimeError):
                # The server may have ended meanwhile.
                loop.call_soon_threadsafe(_finish, done, outcome)

    threading.Thread(target=work, name="alert_sender", daemon=True).start()
    try:
        async with asyncio.timeout(limit_s):
            return await done
    except TimeoutError:
        return SendOutcome(is_sent=False, answer=f"no answer within {limit_s:g} s")
    finally:
        cutter.cut()


def _finish(done: asyncio.Future[SendOutcome], outcome: SendOutcome) -> None:
    if not done.done():
        done.set_result(outcome)


def describe_failure(error: OSError) -> str:
    """Return why a receiver was not reached."""
    text = error.strerror if isinstance(error.strerror, str) else str(error)
    return shorten_answer(text or type(error).__name__)
