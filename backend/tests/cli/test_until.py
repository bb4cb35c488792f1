"""`normstat until` and its route: what fills up, with the interval; nothing is said of what only goes up and down."""

import json
from datetime import UTC, datetime, timedelta

import numpy as np

from tests.cli.commands import Commands
from tests.databases import Sessions, on_either_database
from tests.query.filling import fill_stat

START = datetime(2026, 10, 1, tzinfo=UTC)
N_HOURS = 10 * 24


@on_either_database
async def test_what_fills_up_and_when(sessions: Sessions, normstat: Commands) -> None:
    rng = np.random.default_rng(1)
    hours = np.arange(N_HOURS)
    var = np.round(50e6 - 1e5 * hours + rng.normal(0, 1e4, N_HOURS))
    backup = np.round(30e6 - np.where(hours % 24 < 6, 4e6 * (hours % 24), 0))
    avail = np.stack([var, backup, np.zeros(N_HOURS)], axis=1).ravel()
    await fill_stat(sessions, "df_linux", START, 3600 * hours, ("/var", "/backup", "/snap/core"), values={"avail": avail})
    at = (START + timedelta(hours=N_HOURS)).strftime("%Y-%m-%dT%H:%M:%SZ")
    lines = [" ".join(line.split()) for line in (await normstat.do("until", "web1", "--at", at)).splitlines()]
    assert len(lines) == 2
    # 26 GB are left, and 2.4 GB a day go.
    assert lines[1].startswith("/var is full in 11 days (")
    assert "2.46 GB a day" in lines[1]
    found = json.loads(await normstat.do("until", "web1", "--at", at, "--json"))
    assert (found["n_filling"], [(own["instance"], own["state"]) for own in found["forecasts"]]) == (
        1,
        [("/var", "filling"), ("/backup", "steady")],
    )
    first = found["forecasts"][0]
    assert first["soonest_at"] <= first["full_at"] <= first["latest_at"]
    assert (first["kind"], first["stat"], first["field"], first["unit"], first["limit"]) == (
        "space",
        "df_linux",
        "avail",
        "bytes",
        0,
    )
    everything = await normstat.do("until", "web1", "--at", at, "--all")
    assert "/backup does not come nearer to its limit" in everything
    early = (START + timedelta(hours=3)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert await normstat.do("until", "web1", "--at", early) == "nothing fills up: 2 levels with a limit were looked at\n"
    assert "too few hours are recorded" in await normstat.do("until", "web1", "--at", early, "--all")
    assert "no host 'web9'" in (await normstat("until", "web9"))[2]
