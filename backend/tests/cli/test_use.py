"""`normstat use`: the matrix of a host as a table, units with limits below the resources."""

from datetime import timedelta

import numpy as np

from tests.cli.commands import Commands
from tests.databases import Sessions, on_either_database
from tests.profiles.profiled import START
from tests.query.filling import fill_stat


@on_either_database
async def test_the_matrix_is_a_table_and_what_is_not_recorded_names_a_command(sessions: Sessions, normstat: Commands) -> None:
    seconds = np.arange(0, 300, 10)
    await fill_stat(sessions, "mpstat_linux", START, seconds, ("all", "0", "1"), idle_pct=2)
    units = {"cpu_limit_pct": np.full(30, 50.0), "cpu_of_limit_pct": np.full(30, 97.0), "throttled_pct": np.full(30, 40.0)}
    await fill_stat(sessions, "linux_unit", START, seconds, ("web.service",), values=units)
    at = (START + timedelta(minutes=5)).strftime("%Y-%m-%dT%H:%M:%SZ")
    lines = [" ".join(line.split()) for line in (await normstat.do("use", "web1", "--at", at)).splitlines()]
    assert lines[0] == "resource utilisation saturation errors"
    assert lines[1].startswith("CPUs 98 % (critical) not recorded; run: ")
    assert "web.service (0.5 CPUs) CPU 97 % (critical) throttled 40 % (warning) not recorded; run: dmesg" in lines[-2]
    assert lines[-1].startswith("in the 5 minutes before ")
    assert "no host 'web9'" in (await normstat("use", "web9"))[2]
