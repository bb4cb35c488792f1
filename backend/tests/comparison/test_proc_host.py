"""A host without sysstat: the counters of /proc alone name the command that is busy, and the resource that it saturates."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from normstat.comparison.host_comparison import HostComparison
from normstat.comparison.model import FindingGroup
from normstat.comparison.next_questions.questions import FindingContext, FindingValue, find_questions
from normstat.scoring.summary import FloatArray
from normstat.stats.catalogue import require_spec
from normstat.stats.readers import read
from tests.comparison.sides import compare_values

EPOCH = 1_795_305_600
N_NORMAL_S, N_INCIDENT_S = 600, 120
PID_EACH_S = 5
HZ = 100

Side = Mapping[str, Mapping[tuple[str, str], FloatArray]]


@dataclass
class Host:
    """Counters of a host with two CPUs and a disk, as they grow from second to second."""

    random: np.random.Generator
    ticks: list[list[float]] = field(default_factory=lambda: [[0.0] * 4 for _ in range(2)])
    disk: list[float] = field(default_factory=lambda: [0.0] * 4)
    stalled_us: dict[str, float] = field(default_factory=lambda: {"cpu": 0.0, "io": 0.0})
    # The daemons that are always there, and the ticks that they used.
    daemons: dict[int, float] = field(default_factory=lambda: {100 + number: 0.0 for number in range(8)})
    visitors: dict[int, tuple[str, int, float]] = field(default_factory=dict)
    n_started: int = 0

    def pass_second(self, *, is_burning: bool, is_flooded: bool) -> None:
        """Let a second pass. Burning: four processes of `yes` have the CPUs. Flooded: the disk is full of writes."""
        draw = self.random.uniform
        for ticks in self.ticks:
            user = 99.0 if is_burning else draw(4, 8)
            system = min(100 - user, draw(1, 3))
            wait = min(100 - user - system, draw(60, 80) if is_flooded else draw(0, 1))
            for at, used in enumerate((user, system, 100 - user - system - wait, wait)):
                ticks[at] += used
        for at, more in enumerate(
            (900, 900 * 1024, 980, 45_000) if is_flooded else (draw(8, 12), draw(60, 90), draw(8, 15), draw(8, 20))
        ):
            self.disk[at] += more
        self.stalled_us["cpu"] += 950_000 if is_burning else draw(0, 10_000)
        self.stalled_us["io"] += 900_000 if is_flooded else draw(0, 8_000)
        for pid in self.daemons:
            self.daemons[pid] += draw(0.5, 1.5)

    def start_visitors(self, command: str, second: int, ticks: float) -> None:
        """Replace the visitors by new processes that started a moment before this second."""
        self.visitors = {}
        for _ in range(4):
            self.n_started += 1
            self.visitors[5000 + self.n_started] = (command, (1000 + second) * HZ - int(ticks), ticks)

    def counters(self, second: int) -> str:
        """The snapshot of /proc/stat and its neighbours."""
        cpus = [f"cpu{number} {t[0]:.0f} 0 {t[1]:.0f} {t[2]:.0f} {t[3]:.0f} 0 0 0 0 0" for number, t in enumerate(self.ticks)]
        total = [sum(ticks[at] for ticks in self.ticks) for at in range(4)]
        writes, sectors, busy_ms, queue_ms = self.disk
        files = {
            "uptime": f"{1000 + second}.00 0.00",
            "stat": "\n".join([f"cpu  {total[0]:.0f} 0 {total[1]:.0f} {total[2]:.0f} {total[3]:.0f} 0 0 0 0 0", *cpus]),
            "diskstats": f"254 0 vda 0 0 0 0 {writes:.0f} 0 {sectors:.0f} {queue_ms:.0f} 0 {busy_ms:.0f} {queue_ms:.0f}",
        } | {
            f"pressure/{name}": f"some avg10=0.00 avg60=0.00 avg300=0.00 total={total_us:.0f}"
            for name, total_us in self.stalled_us.items()
        }
        return f"{EPOCH + second}\n" + "".join(f"==> /proc/{path} <==\n{text}\n" for path, text in files.items())

    def processes(self, second: int) -> str:
        """The snapshot of the processes."""
        known = [(pid, f"daemon{pid % 4}", 50, ticks) for pid, ticks in self.daemons.items()]
        known += [(pid, *visitor) for pid, visitor in self.visitors.items()]
        lines = [
            f"==> /proc/{pid}/stat <==\n"
            f"{pid} ({command}) S 1 1 1 0 -1 0 0 0 0 0 {ticks:.0f} 0 0 0 20 0 1 0 {start} {4096 * pid} 300\n"
            for pid, command, start, ticks in known
        ]
        return f"{EPOCH + second}\n==> /proc/uptime <==\n{1000 + second}.00 0.00\n" + "".join(lines)


def record(*, is_burning: bool = False, is_flooded: bool = False) -> tuple[str, str]:
    """What the sampler printed in ten quiet minutes and two of the incident: host, processes."""
    host, counters, processes = Host(np.random.default_rng(5)), [], []
    for second in range(N_NORMAL_S + N_INCIDENT_S):
        is_incident = second >= N_NORMAL_S
        host.pass_second(is_burning=is_burning and is_incident, is_flooded=is_flooded and is_incident)
        counters.append(host.counters(second))
        if second % PID_EACH_S == 0:
            if is_burning and is_incident:
                host.start_visitors("yes", second, 45 * PID_EACH_S)
            processes.append(host.processes(second))
    return "".join(counters), "".join(processes)


def sides(spec: str, text: str) -> dict[str, tuple[dict[tuple[str, str], FloatArray], dict[tuple[str, str], FloatArray]]]:
    """The values of each stat before the incident and in it."""
    result = read(require_spec(spec), text.encode(), state={}, offset=0, is_final=True)
    assert result.rejected == ()
    found: dict[str, tuple[dict[tuple[str, str], list[float]], dict[tuple[str, str], list[float]]]] = {}
    for block in result.blocks:
        both = found.setdefault(block.stat.name, (defaultdict(list), defaultdict(list)))
        for at in range(len(block)):
            side = both[int(block.time_us[at]) >= (EPOCH + N_NORMAL_S) * 1_000_000]
            for key, column, missing in zip(block.fields, block.values, block.missing, strict=True):
                side[block.instances[at], key.key].append(np.nan if missing is not None and missing[at] else column[at].item())
    return {
        name: (
            {key: np.array(values) for key, values in baseline.items()},
            {key: np.array(values) for key, values in incident.items()},
        )
        for name, (baseline, incident) in found.items()
    }


def compare(counters: str, processes: str) -> HostComparison:
    return compare_values(sides("proc_linux", counters) | sides("proc_pid_linux", processes))


def group_of(found: HostComparison, stat: str, key: str) -> FindingGroup:
    return next(group for group in found.groups if (group.stat, group.field) == (stat, key))


def questions_of(group: FindingGroup) -> Sequence[str]:
    members = tuple(FindingValue(item.instance, item.kind, item.baseline.median, item.incident.median) for item in group.members)
    context = FindingContext(
        "web1", group.stat, group.field, group.unit, group.kind, group.direction, group.n_members, group.n_instances, members
    )
    return [command.command for question in find_questions([context], {"web1": "linux"})[0] for command in question.commands]


def test_a_command_of_short_processes_that_burns_the_cpus_is_named() -> None:
    found = compare(*record(is_burning=True))
    [command] = [item for item in found.appeared if (item.stat, item.field) == ("linux_command", "cpu_pct")]
    # Four processes with 45 ticks a second each.
    assert command.instance == "yes"
    assert command.sentence.startswith("command yes %CPU (proc) appeared: median 180.00 %, highest 180.00 %, 24 samples")
    # Each process lived for one interval: they are no findings of their own, and the daemons did not change.
    [new] = [group for group in found.groups if group.stat in ("linux_process", "linux_command")]
    assert (new.kind, new.instances, new.direction, new.is_worse) == ("appeared", ["yes"], "up", True)
    # 180 % of two CPUs.
    assert new.impact == pytest.approx(0.9)
    first = found.stories[0].story
    assert (first.topic, first.title) == ("cpu", "CPU")
    assert first.sentence.startswith(
        "yes (96 processes), which are new, used 180 % of a CPU; the CPUs spent 99 % of the time in programs"
    )
    assert "tasks waited for a CPU 95 % of the time (normally " in first.sentence
    listed = {item.stat for item in found.appeared} | {item.stat for item in found.insufficient_data}
    assert "linux_process" not in listed
    usr = group_of(found, "linux_cpu", "usr_pct")
    assert (usr.direction, set(usr.instances), usr.subsystem) == ("up", {"all", "0", "1"}, "cpu")
    assert group_of(found, "linux_pressure", "stall_pct").instances == ["cpu.some"]
    assert found.groups[0].stat in ("linux_command", "linux_cpu", "linux_pressure")


def test_a_saturated_disk_is_named_with_its_queue_and_latency() -> None:
    found = compare(*record(is_flooded=True))
    util = group_of(found, "linux_disk", "util_pct")
    assert (util.instances, util.direction, util.is_worse, util.subsystem) == (["vda"], "up", True, "disk")
    assert util.members[0].incident.median == pytest.approx(98, abs=0.5)
    assert {group.field for group in found.groups if group.stat == "linux_disk"} >= {
        "util_pct",
        "aqu_sz",
        "w_await_ms",
        "wkb_per_s",
    }
    assert group_of(found, "linux_pressure", "stall_pct").instances == ["io.some"]
    assert group_of(found, "linux_cpu", "iowait_pct").direction == "up"
    assert any("vda" in command for command in questions_of(group_of(found, "linux_disk", "w_await_ms")))


def test_a_quiet_host_has_nothing_to_say() -> None:
    assert compare(*record()).groups == []


def test_a_busier_command_is_asked_about_by_name() -> None:
    member = FindingValue("postgres", "level", 5.0, 90.0)
    context = FindingContext("web1", "linux_command", "cpu_pct", "%", "level", "up", 1, 30, (member,))
    [first, *_] = find_questions([context], {"web1": "linux"})[0]
    assert first.why.startswith("The processes of this command use more CPU time")
    assert first.commands[0].command.startswith("ps -C postgres ")
