"""The status of a host: each subsystem by its worst rule, what live_test.se said, and what is not recorded."""

from datetime import timedelta

import numpy as np
import pytest
from sqlalchemy import update

from normstat.db.schema.models import Host
from normstat.db.session import open_read_session
from normstat.errors import NotFound
from normstat.watch.host_status import HostStatus, InstanceStatus, SubsystemStatus, read_status
from normstat.window import from_us
from tests.databases import Sessions, on_either_database
from tests.golden_captures import GOLDEN
from tests.query.filling import fill_capture, fill_stat
from tests.watch.live import START

pytestmark = on_either_database

END = START + timedelta(minutes=10)
SECONDS = np.arange(0, 600, 10)


async def status(sessions: Sessions, host: str = "sun1", at: object = END) -> HostStatus:
    async with open_read_session(sessions) as session:
        return await read_status(session, host, at)  # type: ignore[arg-type]


def rows_of(found: HostStatus) -> dict[str, SubsystemStatus]:
    return {row.subsystem: row for row in found.rows}


async def test_each_subsystem_has_the_state_of_its_worst_rule(sessions: Sessions) -> None:
    n = len(SECONDS)
    cpus = {"smtx": np.tile([900.0, 100.0], n), "sys_pct": np.tile([40.0, 5.0], n), "usr_pct": np.tile([10.0, 10.0], n)}
    await fill_stat(sessions, "mpstat_solaris", START, SECONDS, ("0", "1"), host="sun1", values=cpus, idl_pct=50.0)
    await fill_stat(sessions, "iostat_solaris", START, SECONDS, ("sd0",), host="sun1", b_pct=2.0, asvc_t_ms=4.0)
    # No agent said what system it is: its tools do.
    found = await status(sessions)
    rows = rows_of(found)
    assert found.colour == "red"
    assert list(rows)[:11] == ["disk", "net", "nfs", "swap", "ram", "kernel", "cpu", "mutex", "dnlc", "inode", "tcp"]
    mutex, disk, dnlc = rows["mutex"], rows["disk"], rows["dnlc"]
    assert (mutex.colour, mutex.rule, mutex.n_rules) == ("red", "mutex", 1)
    assert mutex.instances == [InstanceStatus("0", "red"), InstanceStatus("1", "green")]  # type: ignore[arg-type]
    assert mutex.action.startswith("Find the lock and who takes it")
    assert (disk.colour, disk.explanation) == ("white", "The disk is hardly used.")
    assert (dnlc.colour, dnlc.needs) == (None, "rate(kstat_solaris.value@unix:0:dnlcstats:hits)")
    assert "linux" not in " ".join(row.needs for row in found.rows)
    # Half an hour later nothing is known of it.
    assert (await status(sessions, at=END + timedelta(minutes=30))).colour is None


async def test_a_linux_host_is_not_asked_for_caches_of_solaris(sessions: Sessions) -> None:
    await fill_stat(sessions, "vmstat_linux", START, SECONDS, host="web1", procs_r=1, procs_b=0)
    async with sessions() as session, session.begin():
        await session.execute(update(Host).values(os="Linux 6.1 x86_64"))
    rows = rows_of(await status(sessions, "web1"))
    assert rows.keys() >= {"disk", "net", "cpu", "tcp"}
    assert not rows.keys() & {"mutex", "dnlc", "inode"}
    with pytest.raises(NotFound, match="no host 'web2'"):
        await status(sessions, "web2")


async def test_what_live_test_said_stands_beside_it(sessions: Sessions) -> None:
    capture = GOLDEN / "recorded/livetest_solaris/se-3.0--two-reports.txt"
    await fill_capture(sessions, "sun1", "livetest_solaris", capture.read_bytes())
    # 1998-07-29 00:13 UTC: after the second report.
    found = await status(sessions, at=from_us(901_671_180_000_000))
    rows = rows_of(found)
    assert found.se is not None
    assert found.se.colour == "red"
    assert rows["mutex"].se is not None
    assert rows["mutex"].se.colour == "red"
    assert rows["mutex"].se.text.startswith("MP Kernel overloaded")
    assert rows["tcp"].se is not None
    assert (rows["tcp"].se.colour, rows["tcp"].se.text) == ("green", "No activity")
