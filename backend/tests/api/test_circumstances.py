"""The circumstances of an incident from end to end: facts, processes, rejected lines and gaps, in all that tells them."""

from datetime import timedelta
from typing import Any

import httpx
import numpy as np
import pytest

from normstat.auth.roles import Role
from normstat.ingest.protocol import Frame, FrameKind, format_frames
from normstat.window import to_us
from tests.api.people import People, body_of
from tests.api.samples import HOST, START, send
from tests.api.test_comparison_again import ASKED, END, N_NORMAL, WINDOW, line
from tests.databases import Sessions
from tests.generated import VMSTAT_HEADER
from tests.query.filling import fill_values

API = "/api/v1"
GARBAGE = b"what is this\n"
LOST = 4096


def lines(start: int, end: int) -> bytes:
    return b"".join(map(line, range(start, end)))


async def send_frames(people: People, spec: str, key: str, *pieces: bytes | int) -> None:
    """Sends bytes, and gaps of so many bytes, one after the other."""
    offset, frames = 0, []
    for piece in pieces:
        data = b"" if isinstance(piece, int) else piece
        kind = FrameKind.GAP if isinstance(piece, int) else FrameKind.STREAM
        length = piece if isinstance(piece, int) else len(piece)
        frames.append(Frame(kind, spec, key, offset, length, "a command", data))
        offset += length
    async with await people.agent() as agent:
        answer = await send(agent, format_frames(frames))
    assert answer.status_code == 200, answer.text


def facts(seconds: int, governor: str) -> bytes:
    moment = int((START + timedelta(seconds=seconds)).timestamp())
    return f"{moment}\nos\tLinux\ncpu_governor\t{governor}\nagent\t1\n".encode()


@pytest.fixture
async def viewer(people: People, sessions: Sessions) -> httpx.AsyncClient:
    """Two minutes of normal and half a minute of incident, in which much is missing, after the governor was changed."""
    start = VMSTAT_HEADER.encode() + line(-1)
    inside = [
        lines(0, N_NORMAL - 3),
        GARBAGE,
        lines(N_NORMAL - 3, N_NORMAL + 10),
        2 * GARBAGE,
        lines(N_NORMAL + 10, END + 3),
        GARBAGE,
    ]
    await send_frames(people, "vmstat_linux", "1", start, *inside, lines(END + 3, END + 9))
    await send_frames(people, "vmstat_linux", "2", start + lines(0, N_NORMAL + 5), LOST, lines(N_NORMAL + 20, END + 9))
    await send_frames(people, "host_facts", "facts", facts(-3600, "powersave"), facts(-60, "powersave"), facts(105, "performance"))
    moments = to_us(START) + np.arange(END) * 1_000_000
    late = moments[N_NORMAL + 5 :]
    await fill_values(
        sessions,
        HOST,
        "pidstat_linux",
        time_us=np.concatenate([moments, late]),
        instances=("1/init",) * END + ("77/strace",) * len(late),
        values={"cpu_pct": np.concatenate([np.full(END, 0.5), np.full(len(late), 9.0)])},
    )
    return await people.enter(Role.VIEWER)


async def ask(client: httpx.AsyncClient, **change: Any) -> dict[str, Any]:
    return body_of(await client.get(f"{API}/comparison", params={**ASKED, **WINDOW, **change}))


async def test_all_of_them(viewer: httpx.AsyncClient) -> None:
    body = await ask(viewer)
    begin = round(1000 * (START + timedelta(seconds=N_NORMAL)).timestamp())
    assert body["stories"][0]["onset_ms"] == begin
    told = [(one["kind"], one["sentence"]) for one in body["circumstances"]]
    assert told == [
        ("event", "Likely cause: Frequency governor: powersave → performance, between 3 min and 15 s before it began"),
        ("observer", "Observer: strace (77) ran from 5 s into the incident to its end; it slows what it watches"),
        ("lost_bytes", "4.1 kB of the output of vmstat were lost on the host before the agent could send them"),
        (
            "rejected_lines",
            f"2 lines of vmstat were rejected in this window: {body['circumstances'][3]['sentence'].partition(': ')[2]}",
        ),
    ]
    event, observer, lost, rejected = body["circumstances"]
    assert (event["start_ms"], event["end_ms"]) == (begin - 180_000, begin - 15_000)
    assert (observer["command"], observer["start_ms"]) == ("strace", begin + 5000)
    assert rejected["stream_id"] != lost["stream_id"]
    page = (await viewer.get(f"{API}/comparison/report.html", params={**ASKED, **WINDOW})).text
    for one in body["circumstances"]:
        assert one["sentence"].replace("'", "&#x27;").partition(": ")[0] in page
    assert "09:59:00 to 10:01:45 UTC" in page
