"""Commands and processes of a host, from the agent's text to the answers."""

import doctest
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from pydantic import TypeAdapter
from sqlalchemy import delete

from normstat.api.http.state import AppState
from normstat.comparison import process_origins
from normstat.comparison.ledger.ledger_words import describe
from normstat.comparison.ledger_units import add_units, retell
from normstat.comparison.model import Story, StoryProcess
from normstat.comparison.process_origins import add_origins, describe_origin
from normstat.db.schema.models import Chunk
from normstat.db.session import open_read_session
from normstat.profiles.profile_job import run_profiles
from normstat.query import process_report
from normstat.query.process_details import ProcessDetail, ProcessFacts
from normstat.query.process_list import ProcessList
from normstat.query.process_report import ProcessReport
from normstat.samples.lookup import require_host
from normstat.samples.rollups.rollup_job import roll_up
from normstat.window import Window
from tests.api.people import People, body_of
from tests.api.samples import HOST, deliver_text
from tests.compaction.raw_view import pack_all
from tests.report.made import ledger_line, ledger_part

EPOCH = 1_795_305_600
START = datetime.fromtimestamp(EPOCH, UTC)

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


def stat_line(pid: int, command: str, *, parent: int = 1, utime: int = 0, start: int = 100) -> str:
    return f"{pid} ({command}) S {parent} 1 1 0 -1 4194304 0 0 0 0 {utime} 0 0 0 20 0 1 0 {start} 4096 10 1 1 1 0 0 0 0 0 0 0\n"


def told(pid: int, uid: int, user: str, arguments: str) -> str:
    return f"==> /proc/{pid}/status <==\nUid:\t{uid}\t{uid}\t{uid}\t{uid}\nUser:\t{user}\nArgs:\t{arguments}\n"


def written(pid: int, n_bytes: int) -> str:
    return f"==> /proc/{pid}/io <==\nread_bytes: 0\nwrite_bytes: {n_bytes}\ncancelled_write_bytes: 0\n"


def snapshots() -> list[str]:
    """Every 5 s: java from before, dd from 2 s to 12 s, and another dd with its PID from 20 s on."""
    java, shell = ({"parent": 1, "start": 50_000}, {"parent": 1, "start": 90_000})
    dd = stat_line(20, "dd", parent=9, utime=200, start=100_200)
    bodies = [
        stat_line(7, "java", utime=100, **java) + told(7, 1000, "web", "java -jar shop.jar") + stat_line(9, "sh", **shell),
        stat_line(7, "java", utime=350, **java)
        + stat_line(9, "sh", **shell)
        + dd
        + written(20, 50 << 20)
        + told(20, 0, "root", "dd if=/dev/zero of=/x 1795305600"),
        stat_line(7, "java", utime=450, **java)
        + stat_line(9, "sh", **shell)
        + dd.replace(" 200 ", " 600 ")
        + written(20, 150 << 20),
        stat_line(7, "java", utime=450, **java) + stat_line(9, "sh", **shell),
        stat_line(7, "java", utime=460, **java)
        + stat_line(20, "dd", parent=7, utime=10, start=102_000)
        + told(20, 5, "x", "dd of=/y"),
        *2 * [stat_line(7, "java", utime=460, **java) + stat_line(20, "dd", parent=7, utime=10, start=102_000)],
    ]
    return [
        f"{EPOCH + 5 * at}\n==> /proc/uptime <==\n{1000 + 5 * at}.00 0.00\n" + stat_line(1, "init") + body
        for at, body in enumerate(bodies)
    ]


async def send_pieces(people: People, spec: str, key: str, pieces: list[str], *, offset: int = 0) -> None:
    async with await people.agent() as agent:
        for piece in pieces:
            await deliver_text(agent, spec, piece, key, offset=offset, command="sample 5")
            offset += len(piece)


def window(start_s: float, end_s: float) -> dict[str, str]:
    return {name: (START + timedelta(seconds=at)).isoformat() for name, at in (("start", start_s), ("end", end_s))}


async def list_processes(client: httpx.AsyncClient, within: dict[str, str], **asked: str | int) -> ProcessList:
    response = body_of(await client.get(f"/api/v1/hosts/{HOST}/processes", params={**within, **asked}))
    return TypeAdapter(ProcessList).validate_python(response)


async def read_process(client: httpx.AsyncClient, within: dict[str, str], **asked: str | int) -> ProcessDetail:
    response = body_of(await client.get(f"/api/v1/hosts/{HOST}/process", params={**within, **asked}))
    return TypeAdapter(ProcessDetail).validate_python(response)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


async def test_commands_open_to_their_processes(people: People, viewer: httpx.AsyncClient) -> None:
    await send_pieces(people, "proc_pid_linux", "1", snapshots())
    all_of_it = window(0, 60)

    commands = await list_processes(viewer, all_of_it)
    assert (commands.stat, commands.sort, commands.precision_s) == ("linux_command", "cpu", 0)
    assert [row.command for row in commands.rows] == ["dd", "java", "init", "sh"], "200 + 400 + 10 ticks against 360"
    assert {row.pid for row in commands.rows} == {None}
    cpu, writes = ([field.quantity for field in commands.fields].index(name) for name in ("cpu", "writes"))
    assert (commands.rows[0].mean[cpu], commands.rows[0].max[cpu]) == (30.5, 80.0), "of the 4 whole snapshots with it"
    assert commands.rows[0].max[writes] == 20480.0, "100 MiB in 5 s"
    assert commands.fields[writes].key == "kb_wr_per_s"
    # What no process has in the window is no column, and no order.
    without_dd = await list_processes(viewer, window(15, 19), sort="writes")
    assert {field.quantity for field in commands.fields} - {field.quantity for field in without_dd.fields} >= {"reads", "writes"}
    assert (without_dd.sort, [len(row.mean) for row in without_dd.rows]) == ("cpu", 3 * [len(without_dd.fields)])
    assert {(stat.name, stat.is_command) for stat in commands.stats} == {("linux_command", True), ("linux_process", False)}

    own = await list_processes(viewer, all_of_it, by="process", command="dd", sort="writes")
    (row,) = own.rows
    assert (row.instance, row.pid, row.first_sample_at, row.last_sample_at) == ("20/dd", 20, at(5), at(20))
    assert (row.n_samples, row.max[cpu]) == (3, 80.0)

    assert [row.pid for row in (await list_processes(viewer, all_of_it, by="process", search="JAV")).rows] == [7]
    assert [row.pid for row in (await list_processes(viewer, all_of_it, by="process", search="20/")).rows] == [20]
    cut = await list_processes(viewer, all_of_it, by="process", limit=1)
    assert (len(cut.rows), cut.n_found) == (1, 4)


@pytest.mark.parametrize("n_packed", [0, 4, 7])
async def test_a_pid_that_is_used_again_is_another_process(
    people: People, viewer: httpx.AsyncClient, state: AppState, n_packed: int
) -> None:
    """Whether its raw output is packed, in part or not at all."""
    pieces = snapshots()
    await send_pieces(people, "proc_pid_linux", "1", pieces[:n_packed])
    await pack_all(state.sessions)
    await send_pieces(people, "proc_pid_linux", "1", pieces[n_packed:], offset=sum(map(len, pieces[:n_packed])))
    found = await read_process(viewer, window(0, 60), command="dd", pid=20)
    first, second = found.lives
    assert first.facts == ProcessFacts("root", 9, "sh", "dd if=/dev/zero of=/x 1795305600", at(2), None)
    assert (first.first_sample_at, first.last_sample_at) == (at(5), at(10))
    assert (first.last_seen_at, first.gone_at, first.is_running) == (at(10), at(15), False)
    assert second.facts == ProcessFacts("x", 7, "java", "dd of=/y", at(20), None)
    assert (second.last_seen_at, second.gone_at, second.is_running) == (at(30), None, True)
    assert [(series.stat, series.instance) for series in found.series] == [("linux_process", "20/dd")]
    assert found.series[0].fields[:2] == ["cpu_pct", "usr_pct"]
    assert (await read_process(viewer, window(18, 60), command="dd", pid=20)).lives == [second]

    # What the agent said of it once lies before the window.
    (java,) = (await read_process(viewer, window(18, 60), command="java", pid=7)).lives
    assert java.facts == ProcessFacts("web", 1, "init", "java -jar shop.jar", at(-500), None)
    assert java.is_running is True

    command = await read_process(viewer, window(0, 60), command="dd")
    assert (command.pid, command.lives) == (None, [])
    assert [(series.stat, series.is_command) for series in command.series] == [("linux_command", True)]
    for asked in ({"command": "dd", "pid": "7"}, {"command": "nothing"}):
        response = await viewer.get(f"/api/v1/hosts/{HOST}/process", params=window(0, 60) | asked)
        assert response.status_code == 404, response.text


async def test_what_is_not_known_is_not_told(people: People, viewer: httpx.AsyncClient, state: AppState) -> None:
    """The raw output of all but the last two snapshots is gone."""
    pieces = snapshots()
    await send_pieces(people, "proc_pid_linux", "1", pieces)
    async with state.sessions() as session, session.begin():
        await session.execute(delete(Chunk).where(Chunk.start_offset < sum(map(len, pieces[:5]))))
    (life,) = (await read_process(viewer, window(0, 60), command="java", pid=7)).lives
    assert life.facts == ProcessFacts(None, None, None, None, None, None)
    assert (life.first_sample_at, life.last_seen_at, life.gone_at, life.is_running) == (at(0), None, None, None)


async def test_a_long_window_is_read_from_rollups(people: People, viewer: httpx.AsyncClient, state: AppState) -> None:
    await send_pieces(people, "proc_pid_linux", "1", snapshots())
    await roll_up(state.sessions, now=START + timedelta(days=3), budget_s=60)
    short = await list_processes(viewer, window(0, 60))
    long = await list_processes(viewer, window(0, 86_400))
    assert long.precision_s == 60
    assert [(row.command, row.n_samples, row.mean, row.max) for row in long.rows] == [
        (row.command, row.n_samples, row.mean, row.max) for row in short.rows
    ]
    assert (long.rows[0].first_sample_at, long.rows[0].last_sample_at) == (at(0), at(60) - timedelta(microseconds=1))


async def test_tables_tell_users_parents_and_arguments(people: People, viewer: httpx.AsyncClient) -> None:
    table = (
        "1795305600\nUSER         PID    PPID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n"
        "root           1       0  0.0  0.3 104364 13208 ?        Ss   Nov20   0:06 /sbin/init splash\n"
        "web           77       1  9.5  0.3 104364 13208 ?        Ss   10:00   0:06 /usr/bin/java -jar shop.jar\n"
    )
    await send_pieces(people, "ps_linux", "1", [table])
    (life,) = (await read_process(viewer, window(0, 60), command="java", pid=77)).lives
    assert life.facts == ProcessFacts("web", 1, None, "/usr/bin/java -jar shop.jar", None, None)
    assert (life.last_seen_at, life.is_running) == (None, None)
    assert [row.command for row in (await list_processes(viewer, window(0, 60), by="process", sort="memory")).rows] == [
        "init",
        "java",
    ]


async def test_a_quantity_that_no_field_tells_is_refused(people: People, viewer: httpx.AsyncClient) -> None:
    await send_pieces(people, "proc_pid_linux", "1", snapshots())
    response = await viewer.get(f"/api/v1/hosts/{HOST}/processes", params={**window(0, 60), "sort": "switches"})
    assert response.status_code == 400
    assert "linux_command has no switches; sort by one of cpu, " in response.json()["error"]["message"]
    response = await viewer.get(f"/api/v1/hosts/{HOST}/processes", params={**window(0, 60), "stat": "vmstat_linux"})
    assert response.status_code == 404


async def test_a_story_says_where_its_process_comes_from(people: People, state: AppState) -> None:
    await send_pieces(people, "proc_pid_linux", "1", snapshots())
    process = StoryProcess(HOST, "linux_command", "dd", "dd (20)", [20], "new", None, "dd (20), which is new, wrote 15 MiB/s")
    unknown = replace(process, instance="ghost", name="ghost (99)", pids=[99])
    nameless = replace(process, pids=[])
    story = Story(1, [HOST], "disk", "Disk I/O", "", 0.5, 9, 0.5, None, None, [process, unknown, nameless], [], [], [1])
    async with open_read_session(state.sessions) as session:
        host_id = await require_host(session, HOST)
        [told] = await add_origins(session, [story], {HOST: host_id}, Window(at(0), at(60)))
    assert [one.origin for one in told.processes] == ["user root; started by sh (9); dd if=/dev/zero of=/x 1795305600", "", ""]


async def test_a_line_names_the_unit_of_its_process(people: People, state: AppState) -> None:
    texts = [text.replace("User:\troot\n", "User:\troot\nCgroup:\t/system.slice/etl.service\n") for text in snapshots()]
    await send_pieces(people, "proc_pid_linux", "1", texts)
    unit = ledger_part(name="etl.service", kind="unit", command="", pids=[], is_culprit=False)
    own = ledger_part(name="dd (20)", instance="20/dd", command="dd", pids=[20])
    ghost = ledger_part(name="ghost (99)", instance="99/ghost", command="ghost", pids=[99], is_culprit=False)
    lines = [ledger_line(host=HOST, units=[unit], parts=[own, ghost]), ledger_line(host=HOST, certainty="nothing", parts=[own])]
    lines = [replace(line, sentence=describe(line, EPOCH)) for line in lines]
    async with open_read_session(state.sessions) as session:
        host_id = await require_host(session, HOST)
        found = await add_units(session, lines, {HOST: host_id}, Window(at(0), at(60)))
    assert [[part.of_unit for part in line.parts] for line in found] == [["etl.service", ""], [""]]
    assert found[0].sentence.startswith("dd (20) of etl.service, which is new, used 170 % of a CPU")
    told = [
        Story(1, [HOST], "cpu", "CPU", f"Likely: {lines[0].sentence}", 0.5, 9, 0.5, None, None, [], [], [], [1]),
        Story(2, [HOST], "disk", "Disk I/O", "vda was busy.", 0.5, 9, 0.5, None, None, [], [], [], [1]),
    ]
    assert [story.sentence for story in retell(told, lines, found)] == [f"Likely: {found[0].sentence}", "vda was busy."]


def test_origins_in_words() -> None:
    assert doctest.testmod(process_origins).attempted == 1
    assert describe_origin(ProcessFacts(None, 812, None, None, None, None)) == "started by process 812"
    assert describe_origin(ProcessFacts(None, None, None, None, None, None)) == ""


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
    table = await list_processes(viewer, window(60, 70), by="process", stat="prstat_solaris_micro", sort="lock_wait")
    told = {field.quantity: value for field, value in zip(table.fields, table.rows[0].mean, strict=True)}
    assert (table.rows[0].command, told["lock_wait"], told["syscalls"]) == ("java", 3.2, 900.0)
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
