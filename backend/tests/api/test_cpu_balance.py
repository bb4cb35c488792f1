"""How evenly CPUs are used, through the API."""

from datetime import timedelta

import httpx
import numpy as np
from pydantic import TypeAdapter

from normstat.api.state import AppState
from normstat.query.busy_cpus import CpuBalance
from normstat.rollups.rollup_job import roll_up
from normstat.window import to_us
from tests.api.people import body_of
from tests.api.samples import HOST, START
from tests.query.filling import fill_values

CPUS = ("all", "0", "10", "2")
N = 240


async def test_one_busy_cpu_of_three(viewer: httpx.AsyncClient, state: AppState) -> None:
    """CPU 10 does everything from the third minute on; before, nobody does anything. Rollups say the same as samples."""
    second = np.arange(N)
    is_busy = second >= 120
    idle = np.stack([np.where(is_busy, 70.0, 100.0), *([np.full(N, 100.0)] * 3)], axis=1)
    idle[is_busy, 2] = 4.0
    await fill_values(
        state.sessions,
        HOST,
        "mpstat_linux",
        time_us=to_us(START) + np.repeat(second, len(CPUS)) * 1_000_000,
        instances=CPUS * N,
        values={"idle_pct": idle.ravel(), "iowait_pct": np.where(idle == 4.0, 6.0, 0.0).ravel()},
    )
    asked: dict[str, str | int] = {
        "stat": "mpstat_linux",
        "start": START.isoformat(),
        "end": (START + timedelta(seconds=N)).isoformat(),
        "width": 4,
    }

    async def ask() -> CpuBalance:
        return TypeAdapter(CpuBalance).validate_python(body_of(await viewer.get(f"/api/v1/hosts/{HOST}/cpu-balance", params=asked)))

    balance = await ask()
    assert (balance.cpus, balance.step_ms, balance.is_wait_known) == (["0", "2", "10"], 60_000, True)
    assert balance.starts == [to_us(START) // 1000 + 60_000 * step for step in range(4)]
    assert balance.busy == [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 90, 90]], "the 6 % of waiting for a disk are not busy"
    assert (balance.mean, balance.imbalance) == ([0, 0, 30, 30], [None, None, 200, 200])
    await roll_up(state.sessions, now=START + timedelta(days=3), budget_s=60)
    assert await ask() == balance

    for stat in ("linux_command", "nothing"):
        response = await viewer.get(f"/api/v1/hosts/{HOST}/cpu-balance", params=asked | {"stat": stat})
        assert response.status_code == 404, response.text
    asked |= {"start": "2026-11-20T00:00:00Z", "end": "2026-11-20T01:00:00Z"}
    assert (await ask()).cpus == []
