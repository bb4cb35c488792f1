"""Commands and processes of a host, from the agent's text to the answers."""

import doctest
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from pydantic import TypeAdapter
from sqlalchemy import delete

from normstat.api.state import AppState
from normstat.comparison import process_origins
from normstat.comparison.model import Story, StoryProcess
from normstat.comparison.process_origins import add_origins, describe_origin
from normstat.query.process_details import ProcessDetail, ProcessFacts
from normstat.query.process_list import ProcessList
from normstat.rollups.rollup_job import roll_up
from normstat.storage.lookup import require_host
from normstat.storage.schema.models import Chunk
from normstat.storage.session import open_read_session
from normstat.window import Window
from tests.api.people import People, body_of
from tests.api.samples import HOST, deliver_text
from tests.packing.raw_view import pack_all

EPOCH = 1_795_305_600
START = datetime.fromtimestamp(EPOCH, UTC)


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
    assert first.facts == ProcessFacts("root", 9, "sh", "dd if=/dev/zero of=/x 1795305600", at(2))
    assert (first.first_sample_at, first.last_sample_at) == (at(5), at(10))
    assert (first.last_seen_at, first.gone_at, first.is_running) == (at(10), at(15), False)
    assert second.facts == ProcessFacts("x", 7, "java", "dd of=/y", at(20))
    assert (second.last_seen_at, second.gone_at, second.is_running) == (at(30), None, True)
    assert [(series.stat, series.instance) for series in found.series] == [("linux_process", "20/dd")]
    assert found.series[0].fields[:2] == ["cpu_pct", "usr_pct"]
    assert (await read_process(viewer, window(18, 60), command="dd", pid=20)).lives == [second]

    # What the agent said of it once lies before the window.
    (java,) = (await read_process(viewer, window(18, 60), command="java", pid=7)).lives
    assert java.facts == ProcessFacts("web", 1, "init", "java -jar shop.jar", at(-500))
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
    assert life.facts == ProcessFacts(None, None, None, None, None)
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
    assert life.facts == ProcessFacts("web", 1, None, "/usr/bin/java -jar shop.jar", None)
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
    assert [one.origin for one in told.processes] == [
        "user root; started by sh (9); dd if=/dev/zero of=/x 1795305600",
        "",
        "",
    ]


def test_origins_in_words() -> None:
    assert doctest.testmod(process_origins).attempted == 1
    assert describe_origin(ProcessFacts(None, 812, None, None, None)) == "started by process 812"
    assert describe_origin(ProcessFacts(None, None, None, None, None)) == ""
