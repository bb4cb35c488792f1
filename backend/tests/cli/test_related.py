"""`normstat related`: what moves with a series as a table; metrics of a business move like any other."""

import json
from datetime import timedelta

import numpy as np

from tests.cli.commands import Commands
from tests.databases import Sessions, on_either_database
from tests.profiles.profiled import START
from tests.query.filling import fill_stat


@on_either_database
async def test_what_moves_with_a_series_is_a_table(sessions: Sessions, normstat: Commands) -> None:
    rng = np.random.default_rng(3)
    seconds = np.arange(0, 1200)
    dip = (seconds >= 500) & (seconds < 560)
    orders = 100 - 80.0 * dip + rng.normal(0, 3, len(seconds))
    await fill_stat(sessions, "vmstat_linux", START, seconds, ("",), values={"system_cs": np.round(np.maximum(orders, 0))})
    busy = {"util_pct": np.round(10 + 80 * np.roll(dip, -6) + rng.random(len(seconds)), 2)}
    await fill_stat(sessions, "iostat_linux", START, seconds, ("sda",), values=busy)
    window = ["--from", at(400), "--to", at(800)]
    lines = [
        " ".join(line.split()) for line in (await normstat.do("related", "web1", "vmstat_linux.system_cs", *window)).splitlines()
    ]
    assert "device sda %util (iostat) of web1 moved first, 5 s before it" in lines[0]
    assert lines[1] == "host series correlation direction and lag also"
    assert lines[2].startswith("web1 device sda %util (iostat) -0.9")
    # Twenty minutes are read in steps of 5 s.
    assert "moves the other way, 5 s before it" in lines[2]
    found = json.loads(await normstat.do("related", "web1", "iostat_linux.util_pct@sda", *window, "--json"))
    assert [(one["stat"], one["field"]) for one in found["related"]] == [("vmstat_linux", "system_cs")]
    for series in ("rubbish", "vmstat_linux.", ".cs"):
        assert "STAT.FIELD" in (await normstat("related", "web1", series, *window))[2]
    assert (
        "--to is not after --from"
        in (await normstat("related", "web1", "vmstat_linux.system_cs", "--from", at(9), "--to", at(9)))[2]
    )


def at(seconds: int) -> str:
    return (START + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
