"""The USE matrix: limits, the worst instance, what is not recorded, and what is wrong with a checklist."""

from datetime import timedelta

import numpy as np
import pytest

from normstat.errors import NotFound
from normstat.storage.session import open_read_session
from normstat.use_matrix.checklist import BadChecklist, UseSource, load_checklist, parse_checklist
from normstat.use_matrix.matrix import UseCell, describe_limits, judge_value, read_matrix
from normstat.window import to_us
from tests.databases import on_either_database
from tests.profiles.profiled import START, Sessions
from tests.query.filling import fill_values

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
    assert [judge_value(busy, value) for value in (0, 59.9, 60, 89, 90)] == ["fine", "fine", "warning", "warning", "critical"]
    drops = source("network saturation")
    assert [judge_value(drops, value) for value in (0, 0.01)] == ["fine", "warning"]
    assert judge_value(source("memory utilisation", 1), 1.0) == "no_limit"
    assert describe_limits(source("memory utilisation", 1)) == ""
    assert describe_limits(drops) == "warning above 0 (chosen: a drop is a full queue)"
    assert describe_limits(busy).startswith("warning from 60 %, critical from 90 % (chosen:")


@pytest.mark.parametrize(
    ("added", "error"),
    [
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
    times = to_us(START) + seconds.astype(np.int64) * 1_000_000
    cpus, disks = ("all", "0", "1"), ("vda", "vdb")
    await fill_values(
        sessions, "web1", "mpstat_linux", time_us=np.repeat(times, 3), instances=cpus * n,
        values={"idle_pct": np.tile([25.0, 0.0, 50.0], n)},
    )  # fmt: skip
    await fill_values(
        sessions, "web1", "iostat_linux", time_us=np.repeat(times, 2), instances=disks * n,
        values={"util_pct": np.tile([3.0, 97.5], n), "aqu_sz": np.tile([0.5, np.nan], n)},
    )  # fmt: skip
    await fill_values(sessions, "web1", "vmstat_linux", time_us=times, instances=("",) * n, values={"procs_r": np.full(n, 3)})
    async with open_read_session(sessions) as session:
        found = await read_matrix(session, "web1", END)
        empty = await read_matrix(session, "web1", END + timedelta(hours=1))
        with pytest.raises(NotFound, match="no host 'web2'"):
            await read_matrix(session, "web2", END)
    cells = {(row.resource, cell.kind): cell for row in found.rows for cell in row.cells}

    def told(resource: str, kind: str) -> tuple[str, str, str | None, int]:
        cell: UseCell = cells[resource, kind]  # type: ignore[index]
        return cell.state, cell.text, cell.field, cell.n_instances

    assert told("cpu", "utilisation") == ("warning", "75 %", "idle_pct", 1)
    assert told("cpu", "saturation") == ("fine", "1.5 for each CPU", "procs_r", 1)
    assert told("disk", "utilisation") == ("critical", "vdb 98 %", "util_pct", 2)
    assert told("disk", "saturation") == ("fine", "vda 0.5", "aqu_sz", 1)
    assert told("cpu", "errors") == ("not_recorded", "", None, 0)
    assert cells["cpu", "errors"].command.startswith("ras-mc-ctl")
    assert {cell.state for row in empty.rows for cell in row.cells} == {"not_recorded"}
