"""`normstat compare --host`: the product's own findings as a table and as JSON."""

import json
from datetime import timedelta

import numpy as np

from normstat.storage.baseline_rows import BaselineDraft, create_baseline
from normstat.storage.session import open_write_session
from normstat.window import Window, to_us
from tests.api.samples import START
from tests.cli.commands import Commands
from tests.databases import Sessions, on_either_database
from tests.query.filling import fill_values

pytestmark = on_either_database

N_NORMAL, N = 300, 360
FROM, MIDDLE, TO = (f"{START + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}" for seconds in (0, N_NORMAL, N))
INCIDENT = ("--host", "web1", "--from", MIDDLE, "--to", TO)


async def test_a_host_against_a_baseline_by_its_name(normstat: Commands, sessions: Sessions) -> None:
    rng = np.random.default_rng(5)
    usr = np.where(np.arange(N) < N_NORMAL, 3.0, 95.0) + np.round(rng.uniform(-1, 1, N), 2)
    time_us = to_us(START) + np.arange(N) * 1_000_000
    await fill_values(sessions, "web1", "mpstat_linux", time_us=time_us, instances=("0",) * N, values={"usr_pct": usr})
    async with open_write_session(sessions) as session:
        normal = Window(START, START + timedelta(seconds=N_NORMAL))
        made = await create_baseline(session, BaselineDraft("quiet days", "", ("web1",), (normal,), "ann"))
    out = await normstat.do("compare", *INCIDENT, "--baseline", "quiet days")
    lines = out.splitlines()
    assert lines[0].startswith("CPU 0 spent ")
    assert any(line.split()[:3] == ["1", "web1", "mpstat_linux.usr_pct@0"] for line in lines), out
    assert lines[-1] == (
        "1 series: 1 changed, 0 unchanged, 0 appeared, 0 disappeared,"
        " 0 with insufficient data, 0 muted; compared with baseline quiet days"
    )
    code, out, _ = await normstat("compare", *INCIDENT, "--baseline", str(made.id), "--json")
    found = json.loads(out)
    assert (code, found["n_findings"], found["groups"][0]["field"], found["method_version"]) == (0, 1, "usr_pct", 8)
    code, out, _ = await normstat("compare", *INCIDENT, "--baseline-from", FROM, "--baseline-to", MIDDLE, "--json")
    assert (code, json.loads(out)["against"]["kind"]) == (0, "window")
    code, out, _ = await normstat("compare", *INCIDENT, "--baseline", "quiet days", "--ask", "USR")
    first, reason = out.splitlines()
    assert (code, first) == (0, "web1: CPU 0 %usr (mpstat): unusual")
    assert reason.startswith("  Median 9")
    # One sample on each side.
    second = f"{START + timedelta(seconds=1):%Y-%m-%dT%H:%M:%SZ}"
    last = f"{START + timedelta(seconds=N - 1):%Y-%m-%dT%H:%M:%SZ}"
    single = ("--host", "web1", "--from", last, "--to", TO, "--baseline-from", FROM, "--baseline-to", second)
    code, out, _ = await normstat("compare", *single)
    header, row = out.splitlines()[2:4]
    assert header.split() == ["host", "series", "baseline", "incident", "difference", "ratio"]
    assert row.split()[:5] == ["web1", "CPU", "0", "%usr", "(mpstat)"]
    assert "  +9" in row


async def test_the_ledger_follows_the_verdict(normstat: Commands, sessions: Sessions) -> None:
    rng = np.random.default_rng(5)
    seconds = np.arange(N)
    time_us = to_us(START) + seconds * 1_000_000
    idle = np.where(seconds < N_NORMAL, 90.0, 10.0) + np.round(rng.uniform(-1, 1, N), 2)
    cpu = {"idle_pct": idle, "iowait_pct": np.zeros(N), "usr_pct": 100 - idle}
    await fill_values(sessions, "web1", "mpstat_linux", time_us=time_us, instances=("all",) * N, values=cpu)
    moved = {key: 10 + np.round(rng.uniform(-1, 1, N), 2) for key in ("rxkb_per_s", "txkb_per_s")}
    await fill_values(sessions, "web1", "sar_linux_net_dev", time_us=time_us, instances=("eth0",) * N, values=moved)
    code, out, _ = await normstat("compare", *INCIDENT, "--baseline-from", FROM, "--baseline-to", MIDDLE)
    lines = out.splitlines()
    assert code == 0
    # The verdict is the sentence of the CPU, and the ledger does not repeat it.
    assert "he CPUs were busy 90 % of the time (normally " in lines[0]
    assert lines[1].startswith("As normal: network eth0 "), out
