"""Stops work when its client has disconnected."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from fastapi import Request
from starlette.exceptions import HTTPException

T_ = TypeVar("T_")
# The status that proxies log for a client that closed its connection; it is never sent.
CLIENT_GONE: Final = 499


async def run_while_connected(request: Request, work: Coroutine[Any, Any, T_]) -> T_:
    """Return what the work returns; when the client disconnects, cancel it and wait until it has ended.

    The body of the request must have been read before.
    """
    task = asyncio.create_task(work)
    gone = asyncio.create_task(_wait_until_gone(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise HTTPException(CLIENT_GONE, "The client disconnected")
    finally:
        gone.cancel()
        if not task.done():
            task.cancel()
            await asyncio.wait({task})


async def _wait_until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
