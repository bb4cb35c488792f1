"""The USE matrix: limits, the worst instance, what is not recorded, and what is wrong with a checklist."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from normstat.artefacts.artefact_service import ArtefactDraft, make_artefact
from normstat.db.session import open_read_session
from normstat.errors import NotFound
from normstat.records.artefact_rows import ArtefactSource
from normstat.stats.catalogue import load_catalogue
from normstat.watch.use.checklist import BadChecklist, UseSource, load_checklist, parse_checklist
from normstat.watch.use.matrix import UseCell, judge_value, read_fleet_use, read_matrix, word_limits
from tests.databases import Sessions, on_either_database
from tests.golden_captures import GOLDEN
from tests.profiles.profiled import START
from tests.query.filling import fill_stat

END = START + timedelta(minutes=5)
CELL = """
[[cells]]
resource = "disk"
kind = "errors"
about = "x"
commands = { linux = "a", sunos = "b" }
"""


def source(cell: str, place: int = 0) -> UseSource:
    return next(own for own in load_checklist() if f"{own.resource} {own.kind}" == cell).sources[place]


def test_states_by_the_limits() -> None:
    busy = source("disk utilisation")
    assert [judge_value(busy, value) for value in (0, 89.9, 90, 100)] == ["fine", "fine", "warning", "warning"]
    cpu = source("cpu utilisation")
    assert [judge_value(cpu, value) for value in (79.9, 80, 94.9, 95)] == ["fine", "warning", "warning", "critical"]
    drops = source("network saturation")
    assert [judge_value(drops, value) for value in (0, 0.01)] == ["fine", "warning"]
    assert judge_value(source("memory utilisation", 1), 1.0) == "no_limit"
    assert word_limits(source("memory utilisation", 1)) == ("", "", "", "")
    assert word_limits(drops)[:3] == ("", "0 /s", "")
    assert word_limits(cpu)[:3] == ("80 %", "", "95 %")
    assert word_limits(busy)[3].startswith("chosen;")


@pytest.mark.parametrize(
    ("added", "error"),
    [
        ('[[cells.from]]\nfields = ["linux_disk.no_such"]\nunit = "1"\n', "linux_disk.no_such is not a field"),
        ('[[cells.from]]\nunit = "1"\n', "either a meaning or fields"),
        ('[[cells.from]]\nmeaning = "disk.error"\nunit = "1"\n', "meaning disk.error"),
        ('[[cells.from]]\nmeaning = "disk.errors"\nunit = "1"\namber = 3\n', "a limit needs `source`"),
        ('[[cells.from]]\nmeaning = "disk.errors"\nunit = "1"\nred = 3\nsource = "x"\n', "a limit needs `source`"),
        ('[[cells.from]]\nmeaning = "disk.errors"\nunit = "1"\nreds = 3\n', "unknown key reds"),
    ],
)
def test_a_bad_checklist_names_the_cell(added: str, error: str) -> None:
    with pytest.raises(BadChecklist, match=f"disk errors: .*{error}"):
        parse_checklist(CELL + added)


@on_either_database
async def test_a_host_is_answered_from_what_it_records(sessions: Sessions) -> None:
    seconds = np.arange(0, 300, 10)
    n = len(seconds)
    disks = {"util_pct": np.tile([3.0, 97.5], n), "aqu_sz": np.tile([0.5, np.nan], n)}
    await fill_stat(sessions, "mpstat_linux", START, seconds, ("all", "0", "1"), idle_pct=np.tile([25.0, 0.0, 50.0], n))
    await fill_stat(sessions, "iostat_linux", START, seconds, ("vda", "vdb"), values=disks)
    await fill_stat(sessions, "vmstat_linux", START, seconds, procs_r=3)
    async with open_read_session(sessions) as session:
        found = await read_matrix(session, "web1", END)
        empty = await read_matrix(session, "web1", END + timedelta(hours=1))
        with pytest.raises(NotFound, match="no host 'web2'"):
            await read_matrix(session, "web2", END)
    cells = {(row.resource, cell.kind): cell for row in found.rows for cell in row.cells}

    def told(resource: str, kind: str) -> tuple[str, str, str | None, int]:
        cell: UseCell = cells[resource, kind]  # type: ignore[index]
        return cell.state, cell.text, cell.field, cell.n_instances

    assert told("cpu", "utilisation") == ("fine", "75 %", "idle_pct", 1)
    assert told("cpu", "saturation") == ("fine", "1.5 processes for each CPU", "procs_r", 1)
    assert told("disk", "utilisation") == ("warning", "vdb 98 %", "util_pct", 2)
    assert told("disk", "saturation") == ("fine", "vda 0.5 requests", "aqu_sz", 1)
    assert told("cpu", "errors") == ("not_recorded", "", None, 0)
    assert cells["cpu", "errors"].command.startswith("ras-mc-ctl")
    assert (cells["cpu", "errors"].record, cells["filesystem", "utilisation"].record) == ("", "df_linux\t?@300 df -k")
    assert {cell.state for row in empty.rows for cell in row.cells} == {"not_recorded"}


@on_either_database
async def test_a_tool_that_prints_each_cpu_and_no_sum_says_how_busy_all_are(sessions: Sessions) -> None:
    seconds = np.arange(0, 300, 10)
    await fill_stat(
        sessions, "mpstat_solaris", START, seconds, ("0", "1", "33"), host="sun1", idl_pct=np.tile([0.0, 0.0, 45.0], 30)
    )
    async with open_read_session(sessions) as session:
        (row,) = (row for row in (await read_matrix(session, "sun1", END)).rows if row.resource == "cpu")
    busy = row.cells[0]
    assert (busy.state, busy.text, busy.stat, busy.instance) == ("warning", "85 %", "mpstat_solaris", "")


@on_either_database
async def test_saturation_is_that_of_the_worst_tenth_of_the_time(sessions: Sessions) -> None:
    # A disk stalls for 5 s of 38; another always has a queue.
    seconds = np.arange(300)
    queues = np.stack([np.where(seconds % 38 >= 33, 32.0, 0.1), np.full(300, 9.0)], axis=1)
    await fill_stat(sessions, "iostat_solaris", START, seconds, ("sd3", "sd4"), values={"actv": queues.ravel()})
    # Many threads begin together now and then, for a second.
    await fill_stat(sessions, "mpstat_linux", START, seconds, ("0", "1"), idle_pct=np.full(600, 50.0))
    await fill_stat(sessions, "vmstat_linux", START, seconds, procs_r=np.where(seconds % 100 == 0, 40, 1))
    async with open_read_session(sessions) as session:
        rows = (await read_matrix(session, "web1", END)).rows
        fleet = await read_fleet_use(session, END)
    found = {row.resource: (cell.state, cell.text) for row in rows for cell in row.cells if cell.kind == "saturation"}
    assert found["disk"] == ("critical", "sd3 32 requests in the worst tenth (mean 3.93 requests)")
    assert found["cpu"] == ("fine", "0.5 processes for each CPU")
    # A minute is enough for it.
    assert {cell.resource: cell.text for cell in fleet.hosts[0].cells}["disk"].startswith("sd3 32 requests in the worst tenth")


@on_either_database
async def test_the_facts_of_a_host_tell_its_cpus_where_no_tool_does(sessions: Sessions) -> None:
    await fill_stat(sessions, "vmstat_linux", START, np.arange(0, 300, 10), procs_r=12)
    await fill_stat(sessions, "host_facts", START - timedelta(hours=1), [0, 60], cpus=[2, 4])
    async with open_read_session(sessions) as session:
        found = await read_matrix(session, "web1", END)
    cpu = next(row for row in found.rows if row.resource == "cpu")
    assert [cell.text for cell in cpu.cells if cell.kind == "saturation"] == ["3 processes for each CPU"]


@on_either_database
async def test_hardware_errors_fill_the_cells_of_cpus_and_memory(sessions: Sessions, tmp_path: Path) -> None:
    async def add(host: str, text: bytes, start: datetime | None = None) -> None:
        path = tmp_path / "mcelog.txt"
        path.write_bytes(text)
        draft = ArtefactDraft(host=host, source=ArtefactSource.CLI, author="eva", start=start)
        await make_artefact(sessions, draft, path, now=END)

    async def told(host: str, at: datetime) -> dict[str, tuple[str, str]]:
        async with open_read_session(sessions) as session:
            rows = (await read_matrix(session, host, at)).rows
        return {row.resource: (cell.state, cell.text) for row in rows for cell in row.cells if cell.kind == "errors"}

    mcelog = GOLDEN / "synthetic/mcelog"
    await add("web1", (mcelog / "mcelog-1--client.txt").read_bytes(), END - timedelta(hours=3))
    # Nothing was killed for memory; that hides no broken module.
    await fill_stat(sessions, "linux_memory", START, np.arange(0, 300, 10), oom_kills_per_s=0)
    found = await told("web1", END)
    assert found["memory"] == ("warning", "socket 1 channel any DIMM any 3 errors")
    assert found["cpu"] == ("not_recorded", "")
    assert (await told("web1", END + timedelta(hours=22)))["memory"] == ("not_recorded", "")
    # Two events of 2012: one of a module, and one that no hardware corrected, of a processor.
    await add("web2", (mcelog / "mcelog-1--memory-error.txt").read_bytes())
    found = await told("web2", datetime(2012, 4, 5, 0, 0, tzinfo=UTC))
    assert found["cpu"][0] == "critical"
    assert "Internal Timer error" in found["cpu"][1]
    assert found["memory"][0] == "warning"
    assert "MEMORY CONTROLLER RD_CHANNEL0_ERR" in found["memory"][1]


@on_either_database
async def test_a_unit_with_limits_has_a_row_of_its_own_and_the_worst_comes_first(sessions: Sessions) -> None:
    seconds = np.arange(0, 300, 10)
    n = len(seconds)
    names = ("idle.service", "shop/web/nginx", "db.service", "free.service")
    none = np.nan
    values = {
        "cpu_limit_pct": np.tile([100.0, 50.0, none, none], n),
        "cpu_of_limit_pct": np.tile([3.0, 97.0, none, none], n),
        "throttled_pct": np.tile([0.0, 40.0, none, none], n),
        "memory_limit_kb": np.tile([none, 524288.0, 1048576.0, none], n),
        "memory_of_limit_pct": np.tile([none, 61.0, 100.0, none], n),
        "at_limit_per_s": np.tile([0.0, 0.0, 25.0, 0.0], n),
        "oom_kills_per_s": np.tile([0.0, 0.0, 0.0, 0.0], n),
        "cpu_pct": np.tile([3.0, 48.5, 10.0, 80.0], n),
    }
    await fill_stat(sessions, "linux_unit", START, seconds, names, values=values)
    await fill_stat(sessions, "vmstat_linux", START, seconds, host="web2", procs_r=1)
    async with open_read_session(sessions) as session:
        found = await read_matrix(session, "web1", END)
        fleet = await read_fleet_use(session, END)
        without = await read_matrix(session, "web2", END)
    rows = {row.title: row for row in found.rows if row.limits}
    assert [(row.title, row.limits) for row in rows.values()] == [
        ("shop/web/nginx", "0.5 CPUs, 512 MiB"),
        ("db.service", "1 GiB"),
        ("idle.service", "1 CPU"),
    ]
    assert found.n_units == 3
    told = {cell.kind: (cell.state, cell.text, cell.field, cell.instance) for cell in rows["shop/web/nginx"].cells}
    assert told == {
        "utilisation": ("critical", "CPU 97 %, memory 61 %", "cpu_of_limit_pct", "shop/web/nginx"),
        "saturation": ("warning", "throttled 40 %", "throttled_pct", "shop/web/nginx"),
        "errors": ("fine", "killed 0 /s", "oom_kills_per_s", "shop/web/nginx"),
    }
    database = {cell.kind: (cell.state, cell.text) for cell in rows["db.service"].cells}
    assert database["utilisation"] == ("no_limit", "memory 100 %")
    assert database["saturation"][0] == "warning"
    cells = {(row.host, cell.resource): cell for row in fleet.hosts for cell in row.cells}
    assert cells["web1", "unit"].text == "shop/web/nginx CPU 97 %, memory 61 %"
    assert (cells["web2", "unit"].state, cells["web2", "unit"].n_recorded) == ("not_recorded", 0)
    # No host has a GPU: there is no column.
    assert "gpu" not in fleet.resources
    assert {row.resource for row in without.rows}.isdisjoint({"gpu", "unit"})


@on_either_database
async def test_gpus_have_a_row_where_there_are_some(sessions: Sessions) -> None:
    seconds = np.arange(0, 300, 10)
    n = len(seconds)
    values = {
        "utilization_gpu_pct": np.tile([99.0, 5.0], n),
        "throttled_hardware_pct": np.tile([0.0, 100.0], n),
        "ecc_corrected": np.tile([3.0, 0.0], n),
        "ecc_uncorrected": np.zeros(2 * n),
    }
    await fill_stat(sessions, "nvidia_smi_query", START, seconds, ("0", "1"), values=values)
    async with open_read_session(sessions) as session:
        (row,) = (row for row in (await read_matrix(session, "web1", END)).rows if row.resource == "gpu")
    assert [(cell.kind, cell.state, cell.text) for cell in row.cells] == [
        ("utilisation", "no_limit", "GPU 0 99 %"),
        ("saturation", "warning", "GPU 1 100 %"),
        ("errors", "warning", "GPU 0 3 errors"),
    ]


def test_what_can_be_recorded_is_a_line_of_stats_conf() -> None:
    known = load_catalogue().specs
    conf = (Path(__file__).parents[4] / "agents" / "stats.conf.linux").read_text() + "sar_linux\tsar -v 60\nnicstat\tnicstat -a 5\n"
    for question in load_checklist():
        for system, line in question.records.items():
            name, command = line.split("\t")
            assert known[name].os in {system, "any", "unix"}, line
            assert command
            if system == "linux":
                # What is proposed is what the agent proposes.
                assert line in conf, line


@on_either_database
async def test_the_fleet_has_the_worst_cell_of_each_resource(sessions: Sessions) -> None:
    for host, idle in (("web1", 50.0), ("web2", 2.0), ("web10", 15.0)):
        await fill_stat(sessions, "mpstat_linux", END, np.arange(-60, 0, 10), ("all", "0", "1"), host=host, idle_pct=idle)
    # df ran twice in this quarter of an hour, the last time five minutes ago: that is what counts.
    full = [97.0, 100.0, 100.0, 97.0, 40.0, 100.0]
    await fill_stat(sessions, "df_linux", END, [-600, -300], ("/", "/home", "/snap/core"), host="web10", used_pct=full)
    async with open_read_session(sessions) as session:
        found = await read_fleet_use(session, END)
        empty = await read_fleet_use(session, END + timedelta(hours=1))
    assert [(row.host, row.state) for row in found.hosts] == [("web2", "critical"), ("web10", "warning"), ("web1", "fine")]
    told = {(row.host, cell.resource): cell for row in found.hosts for cell in row.cells}
    cpu = told["web2", "cpu"]
    assert (cpu.state, cpu.kind, cpu.text, cpu.n_recorded, cpu.n_questions) == ("critical", "utilisation", "98 %", 1, 3)
    assert told["web10", "filesystem"].text == "/ 97 %"
    disk = told["web1", "disk"]
    assert (disk.state, disk.kind, disk.text, disk.n_recorded) == ("not_recorded", None, "", 0)
    assert {row.state for row in empty.hosts} == {"not_recorded"}
