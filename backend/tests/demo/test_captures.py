"""The day as text: the readers of real output read all of it, and the same moment gives the same bytes."""

from datetime import UTC, datetime, timedelta

import pytest

from normstat.demo.day import INTERVAL_S, Day
from normstat.demo.scene import APP, DB, HOSTS, WEB, make_linux_hosts, make_scene, write_captures
from normstat.stats.catalogue import require_spec
from normstat.stats.line_kind import LineKind
from normstat.stats.readers import read

END = datetime(2026, 11, 21, 15, 7, 13, tzinfo=UTC)


@pytest.fixture(scope="module")
def captures() -> dict[str, dict[str, str]]:
    return write_captures(make_scene(Day(END)))


@pytest.mark.parametrize(
    ("host", "spec"),
    [
        *((WEB, spec) for spec in ("host_facts", "vmstat_solaris", "mpstat_solaris", "iostat_solaris", "prstat_solaris")),
        *((DB, spec) for spec in ("host_facts", "vmstat_linux", "mpstat_linux", "iostat_linux", "pidstat_linux")),
        (APP, "pidstat_linux"),
    ],
)
def test_no_line_is_rejected(captures: dict[str, dict[str, str]], host: str, spec: str) -> None:
    # An hour of it: every layout occurs.
    text = captures[host][f"{spec}.txt"]
    head = text[: text.rfind("\n", 0, len(text) // 24 + 400) + 1]
    result = read(require_spec(spec), head.encode(), state={}, offset=0, is_final=True, command=spec.replace("_", " "))
    assert result.rejected == ()
    assert result.accounts.n_lines[LineKind.SAMPLE] > 0


def test_the_day_ends_at_its_end_and_is_the_same_for_the_same_end(captures: dict[str, dict[str, str]]) -> None:
    scene = make_scene(Day(END))
    assert set(captures) == set(HOSTS)
    assert timedelta() <= END - scene.day.times[-1] < timedelta(seconds=INTERVAL_S)
    assert scene.day.times[0] == scene.day.end - timedelta(hours=24, seconds=-INTERVAL_S)
    assert write_captures(scene) == captures
    # Hours later the same hosts do the same at other times of day.
    later = write_captures(make_scene(Day(END + timedelta(hours=5))))
    assert later[DB]["vmstat_linux.txt"] != captures[DB]["vmstat_linux.txt"]


def test_processes_of_a_host_use_what_its_cpus_do() -> None:
    """A ledger that adds them up must not find more, or much less, than the total."""
    for host in make_linux_hosts(make_scene(Day(END))):
        total = (host.usr_pct + host.sys_pct) * host.n_cpus
        used = sum((one.usr_pct + one.system_pct) * one.is_there for one in host.processes)
        assert 0.75 < (used / total).mean() < 1.1, host.name
