"""The USE matrices over HTTP."""

from datetime import UTC, datetime
from typing import Final

import httpx
import numpy as np

from normstat.api.state import AppState
from normstat.window import to_us
from tests.query.filling import fill_values

NOW: Final = datetime(2026, 11, 20, 12, 0, 30, tzinfo=UTC)


async def test_all_hosts_are_answered_at_once_and_not_sent_again(viewer: httpx.AsyncClient, state: AppState) -> None:
    times = np.arange(to_us(NOW) - 60_000_000, to_us(NOW), 10_000_000)
    for host, idle in (("web1", 50), ("web2", 1)):
        values = {"idle_pct": np.full(len(times), idle)}
        await fill_values(state.sessions, host, "mpstat_linux", time_us=times, instances=("all",) * len(times), values=values)
    first: httpx.Response = await viewer.get("/api/v1/use", params={"at": NOW.isoformat()})
    assert [(row["host"], row["state"], row["cells"][0]["text"]) for row in first.json()["hosts"]] == [
        ("web2", "critical", "99 %"), ("web1", "fine", "50 %"),
    ]  # fmt: skip
    etag = first.headers["ETag"]
    again: httpx.Response = await viewer.get("/api/v1/use", params={"at": NOW.isoformat()}, headers={"If-None-Match": etag})
    assert (again.status_code, again.content) == (304, b"")
    own: httpx.Response = await viewer.get("/api/v1/hosts/web2/use", params={"at": NOW.isoformat()})
    cpu = own.json()["rows"][0]["cells"][0]
    assert (cpu["state"], cpu["text"], cpu["warning_from"], cpu["critical_from"]) == ("critical", "99 %", "80 %", "95 %")
