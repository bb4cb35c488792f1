"""A minute of vmstat, and the request in which an agent sends it."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Final

import httpx

from normstat.ingest.protocol import Frame, FrameKind, format_frames
from tests.generated import VMSTAT_HEADER

HOST: Final = "web1"
KEY: Final = "vmstat_linux.1795255200.1-1"
START: Final = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
N_SAMPLES: Final = 60


def _line(number: int) -> str:
    at = START + timedelta(seconds=number)
    counts = f"1 0 0 {812000 + number} 10244 409600 0 0 5 12 250 400"
    return f" {counts} {number % 50} 2 90 0 0 {at:%Y-%m-%d %H:%M:%S}\n"


# The first report of vmstat is since boot, so one more than the samples.
VMSTAT: Final = (VMSTAT_HEADER + "".join(_line(number) for number in range(-1, N_SAMPLES))).encode()


def frames_of(data: bytes) -> bytes:
    """The body that brings these bytes from the beginning of the stream on."""
    return format_frames([Frame(FrameKind.STREAM, "vmstat_linux", KEY, 0, len(data), "vmstat -t 1", data)])


async def send(agent: httpx.AsyncClient, body: bytes | AsyncIterator[bytes], **headers: str) -> httpx.Response:
    """The answer to a request of that body."""
    return await agent.post("/api/v1/ingest", content=body, headers={"Normstat-Host": HOST} | headers)


async def deliver(agent: httpx.AsyncClient, body: bytes, **headers: str) -> None:
    """Send a request that must be taken."""
    answer = await send(agent, body, **headers)
    assert answer.status_code == 200, answer.text


async def deliver_text(
    agent: httpx.AsyncClient,
    spec: str,
    text: bytes | str,
    key: str = "",
    *,
    offset: int = 0,
    command: str = "tool 5",
    host: str = HOST,
) -> None:
    """Send the output of a tool, which must be taken."""
    data = text.encode() if isinstance(text, str) else text
    frame = Frame(FrameKind.STREAM, spec, key or f"{spec}.1", offset, len(data), command, data)
    await deliver(agent, format_frames([frame]), **{"Normstat-Host": host})
