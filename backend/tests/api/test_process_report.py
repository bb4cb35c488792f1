"""The processes of a host at an instant, beside what is normal for them."""

import doctest
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx
from pydantic import TypeAdapter
from sqlalchemy import delete

from normstat.api.state import AppState
from normstat.profiles.profile_job import run_profiles
from normstat.query import process_report
from normstat.query.process_report import ProcessReport
from normstat.storage.schema.models import Chunk
from tests.api.people import People, body_of
from tests.api.samples import HOST
from tests.api.test_processes import EPOCH, START, at, list_processes, send_pieces, snapshots, stat_line, window

HOUR = timedelta(hours=1)
PIDSTAT = """Linux 6.1.0 (web1) \t11/21/26 \t_x86_64_\t(4 CPU)

# Time        UID       PID    %usr %system  %guest   %wait    %CPU   CPU   kB_rd/s  Command
"""
# Solaris prints no time of its own; -d u adds the epoch.
PRSTAT = """{0}
   PID USERNAME USR SYS TRP TFL DFL LCK SLP LAT VCX ICX SCL SIG PROCESS/NLWP
  4711 web      61 12 0.0 0.0 0.1 3.2  20 3.7  12   3 900   0 java/31
     1 root     0.0 0.0 0.0 0.0 0.0 0.0 100 0.0   1   0   9   0 init/1
Total: 2 processes, 32 lwps, load averages: 0.51, 0.40, 0.33
"""


async def ask(client: httpx.AsyncClient, instant: datetime, **asked: str | int) -> ProcessReport:
    response = body_of(await client.get(f"/api/v1/hosts/{HOST}/process-report", params={"at": instant.isoformat(), **asked}))
    return TypeAdapter(ProcessReport).validate_python(response)


def values_of(report: ProcessReport, quantity: str) -> dict[str, float | None]:
    place = [field.quantity for field in report.fields].index(quantity)
    return {row.instance: row.values[place] for row in report.rows}


async def test_a_report_is_shown_as_the_tool_printed_it(people: People, viewer: httpx.AsyncClient, state: AppState) -> None:
    await send_pieces(people, "proc_pid_linux", "1", snapshots())
    report = await ask(viewer, at(12))
    assert (report.stat, report.reported_at, report.interval_s) == ("linux_process", at(10), 5.0)
    assert (report.previous_at, report.next_at, report.is_of_interval) == (at(5), at(15), True)
    assert [source.stat for source in report.sources] == ["linux_process"]
    assert [row.command for row in report.rows][:2] == ["dd", "java"]
    assert values_of(report, "cpu") == {"20/dd": 80.0, "7/java": 20.0}
    assert values_of(report, "writes")["20/dd"] == 20480.0
    assert [row.user for row in report.rows] == ["root", "web"], "one told in the second snapshot, one in the first"
    assert report.n_users_unread == 0
    assert [state.quantity for state in report.states] == ["user", "system"]
    assert report.rows[0].states == [80.0, 0.0]
    assert [(normal.name, normal.n_processes, normal.totals[0], normal.is_new) for normal in report.normals] == [
        ("dd", 1, 80.0, None),
        ("java", 1, 20.0, None),
    ]

    # A report in which nobody did anything is one, too.
    idle = await ask(viewer, at(17))
    assert (idle.reported_at, idle.interval_s, idle.rows, idle.next_at) == (at(15), 5.0, [], at(20))

    # A step to the next report is the report itself, also where the page cuts its microseconds off.
    assert (await ask(viewer, at(15))).reported_at == at(15)
    assert (await ask(viewer, at(14.9999))).reported_at == at(15)
    assert (await ask(viewer, at(14.99))).reported_at == at(10)
    cut = await ask(viewer, at(12), limit=1)
    assert (len(cut.rows), cut.n_found, [normal.name for normal in cut.normals]) == (1, 2, ["dd"])

    before = await ask(viewer, at(-60))
    assert (before.stat, before.rows, before.reported_at, before.next_at) == (None, [], None, at(0))
    late = await ask(viewer, at(30) + HOUR + timedelta(seconds=1))
    assert (late.stat, late.next_at) == (None, None), "an hour later nobody knows what ran"
    for asked in ({"stat": "vmstat_linux"}, {"stat": "linux_command"}):
        response = await viewer.get(f"/api/v1/hosts/{HOST}/process-report", params={"at": at(12).isoformat(), **asked})
        assert response.status_code == 404, response.text

    async with state.sessions() as session, session.begin():
        await session.execute(delete(Chunk))
    assert [row.user for row in (await ask(viewer, at(12))).rows] == [None, None], "the raw output is gone"


async def test_of_several_tools_the_one_whose_report_still_holds(people: People, viewer: httpx.AsyncClient) -> None:
    rows = "".join(
        f"{EPOCH + 2 + 60 * number}     1000        70   10.00    2.00    0.00    1.00   12.00     1      0.50  java\n"
        f"{EPOCH + 2 + 60 * number}        0        71    0.00    3.00    0.00    0.00    3.00     0     -1.00  java\n"
        for number in range(3)
    )
    await send_pieces(people, "pidstat_linux", "1", [PIDSTAT + rows])
    await send_pieces(people, "prstat_solaris", "2", [PRSTAT.format(EPOCH + second) for second in range(0, 100, 5)])
    report = await ask(viewer, at(64))
    assert report.stat == "pidstat_linux", "it tells more, and its next report is not due"
    assert [source.stat for source in report.sources] == ["pidstat_linux", "prstat_solaris_micro"]
    assert [(row.pid, row.user) for row in report.rows] == [(70, "1000"), (71, "0")]
    assert values_of(report, "reads") == {"70/java": 0.5, "71/java": None}, "-1: pidstat may not read it"
    listed = await list_processes(viewer, window(60, 70), by="process", sort="reads")
    assert [row.mean[4] for row in listed.rows] == [0.5, None], "the list says the same"
    (java,) = report.normals
    assert (java.name, java.n_processes, java.totals[0], java.totals[4]) == ("java", 2, 15.0, 0.5)

    solaris = await ask(viewer, at(64), stat="prstat_solaris_micro")
    assert (solaris.reported_at, solaris.normal_of) == (at(60), "process")
    assert [field.quantity for field in solaris.states] == [
        "user", "system", "trap", "text_fault", "data_fault", "lock", "sleep", "cpu_wait",
    ]  # fmt: skip
    assert solaris.rows[0].states == [61.0, 12.0, 0.0, 0.0, 0.1, 3.2, 20.0, 3.7]
    assert [row.user for row in solaris.rows] == ["web", "root"]
    assert (await ask(viewer, at(600))).stat == "pidstat_linux", "no report holds: the last one"


async def test_a_command_that_the_baseline_never_had_is_new(people: People, operator: httpx.AsyncClient, state: AppState) -> None:
    """Ten minutes of java at 20 %; then java at 60 %, and a yes that was never there."""
    texts = []
    for number in range(125):
        second, ticks = 5 * number, 100 * number if number <= 121 else 12_100 + 300 * (number - 121)
        own = stat_line(1, "init") + stat_line(7, "java", utime=ticks, start=50_000)
        own += stat_line(30, "yes", utime=500 * (number - 122), start=61_000) if number >= 122 else ""
        texts.append(f"{EPOCH + second}\n==> /proc/uptime <==\n{1000 + second}.00 0.00\n{own}")
    await send_pieces(people, "proc_pid_linux", "1", texts)
    body = {"name": "quiet", "hosts": [HOST], "windows": [{"start": START.isoformat(), "end": at(600).isoformat()}]}
    made = body_of(await operator.post("/api/v1/baselines", json=body), 201)
    baseline = made["id"]
    early = await ask(operator, at(620), baseline=baseline)
    assert early.baseline is not None
    assert "still being built" in early.baseline.note
    assert {normal.is_new for normal in early.normals} == {None}
    assert await run_profiles(state.sessions, budget_s=600, now=datetime.now(UTC) + HOUR) == 1

    report = await ask(operator, at(620), baseline=baseline)
    assert report.baseline is not None
    assert (report.baseline.id, report.baseline.is_seasonal, report.baseline.note) == (baseline, False, "")
    normals = {normal.name: normal for normal in report.normals}
    assert {name: normal.is_new for name, normal in normals.items()} == {"yes": True, "java": False}
    cpu = [field.quantity for field in report.fields].index("cpu")
    band = normals["java"].bands[cpu]
    assert band is not None
    assert (band.p5, band.p50, band.p95, normals["java"].totals[cpu]) == (20.0, 20.0, 20.0, 60.0)
    assert normals["yes"].bands == [None] * len(report.fields)

    # A baseline that is too short for a profile is read as it is.
    body |= {"name": "short", "windows": [{"start": START.isoformat(), "end": at(240).isoformat()}]}
    short = (await operator.post("/api/v1/baselines", json=body)).json()["id"]
    from_samples = await ask(operator, at(620), baseline=short)
    assert (from_samples.baseline, from_samples.normals) == (replace(report.baseline, id=short), report.normals)
    missing = await operator.get(f"/api/v1/hosts/{HOST}/process-report", params={"at": at(620).isoformat(), "baseline": 999})
    assert missing.status_code == 404


def test_helpers() -> None:
    assert doctest.testmod(process_report).attempted == 2
