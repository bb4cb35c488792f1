"""The built-in sampler of Linux: what it prints, under every shell and every awk; what stats.conf may say about it."""

import contextlib
import os
import pwd
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.agent.conftest import SHELLS, make_shell, require_program, under_every_shell
from tests.agent.host import AGENT, AGENTS, PARTS, Host

SECTIONS: Final = "cpu kernel memory disk net tcp pressure"
READERS: Final = {"mawk": "mawk -W interactive", "gawk": "gawk", "busybox": "busybox awk", "head": "head"}
FILES: Final = {
    "stat", "loadavg", "meminfo", "vmstat", "diskstats", "net/dev", "net/snmp", "net/netstat", "net/sockstat",
    "pressure/cpu", "pressure/io", "pressure/memory",
}  # fmt: skip
# Kernels without them, and containers that hide them, exist.
OPTIONAL: Final = {"diskstats", "pressure/cpu", "pressure/io", "pressure/memory"}

Snapshot = dict[str, list[str]]


def snapshots_of(text: str) -> list[tuple[int, Snapshot]]:
    """The whole snapshots of a stream: the epoch, and the lines of each file by its name below /proc, or of each control group."""
    found: list[tuple[int, Snapshot]] = []
    lines: list[str] = []
    for line in text.splitlines():
        if re.fullmatch(r"\d{10}", line):
            found.append((int(line), {}))
        elif title := re.fullmatch("==> (?:/proc/)?(.+) <==", line):
            lines = found[-1][1].setdefault(title[1], [])
        elif process := re.match(r"(\d+) \(", line):
            found[-1][1].setdefault(f"{process[1]}/stat", []).append(line)
        elif line:
            lines.append(line)
    # The last one may be cut.
    return found[:-1]


def assert_system(snapshots: list[tuple[int, Snapshot]]) -> None:
    """All of the counters are there, in their order and with their numbers."""
    times = [epoch for epoch, _ in snapshots]
    assert times == sorted(set(times)), times
    uptimes = [float(files["uptime"][0].split()[0]) for _, files in snapshots]
    assert uptimes == sorted(set(uptimes)), uptimes
    assert FILES - OPTIONAL <= set(snapshots[0][1]) - {"uptime"} <= FILES
    for _, files in snapshots:
        assert next(iter(files)) == "uptime"
        assert [line.split()[0] for line in files["stat"]][:2] == ["cpu", "cpu0"]
        assert len([line for line in files["stat"] if re.match(r"cpu\d", line)]) == os.cpu_count()
        assert any(re.match(r"ctxt \d+$", line) for line in files["stat"])
        assert any(re.match(r"MemAvailable: +\d+ kB$", line) for line in files["meminfo"])
        assert any(re.match(r"pgmajfault \d+$", line) for line in files["vmstat"])
        assert any(re.match(r" *lo: *\d+", line) for line in files["net/dev"])
    assert any(line.startswith("TcpExt: ") for line in snapshots[0][1]["net/netstat"])


def start_sampler(clock: Path, reader: str, command: str, key: Path) -> subprocess.Popen[bytes]:
    """The sampler alone, as the agent starts it."""
    work = key.with_suffix(key.suffix + ".work")
    work.mkdir()
    script = (
        f"NORMSTAT_SOURCED=1; . {AGENT}; work={work}; sample_shell={clock}; sample_reader='{READERS[reader]}';"
        f" run_sampler '{command}' '{key}'"
    )
    path = f"{clock.parent}:/usr/bin:/bin"
    return subprocess.Popen(
        ["dash", "-c", script], env={"PATH": path, "NORMSTAT_PATH": path, "BASH_ENV": "/dev/full"}, start_new_session=True
    )


def test_every_shell_and_every_awk_print_the_same_counters(host: Host) -> None:
    require_program("dash")
    runs: dict[tuple[str, str], tuple[subprocess.Popen[bytes], Path, Path]] = {}
    pairs = [(name, "mawk") for name in SHELLS] + [("bash", reader) for reader in READERS] + [("dash", "head")]
    for name, reader in pairs:
        if name == "bash":
            clock = Path(require_program("bash"))
        else:
            shell = make_shell(name, host.root / f"{name}-{reader}")
            if shell is None:
                continue
            clock = shell.program
        if shutil.which(reader):
            files, pids = host.root / f"{name}.{reader}.files", host.root / f"{name}.{reader}.pids"
            runs[name, reader] = (start_sampler(clock, reader, f"sample 1 {SECTIONS}", files), files, pids)
            runs[name, reader + " pids"] = (start_sampler(clock, reader, "sample 1", pids), pids, pids)
    try:
        for pair, (process, key, pids) in runs.items():
            raw = key.with_suffix(key.suffix + ".raw")
            host.wait_for(lambda raw=raw: raw.exists() and len(snapshots_of(raw.read_text())) >= 2, f"the sampler {pair}")  # type: ignore[misc]
            assert process.poll() is None
            snapshots = snapshots_of(raw.read_text())
            if key != pids:
                assert_system(snapshots)
                # What comes after the total of interrupts is left out, but by head.
                interrupts = [line for line in snapshots[0][1]["stat"] if line.startswith("intr ")]
                assert interrupts
                assert "head" in pair or re.fullmatch(r"intr \d+", interrupts[0])
            else:
                own = f"{os.getpid()}"
                for _, shown in snapshots:
                    assert re.match(rf"{own} \(.*\) \w {os.getppid()} ", shown[f"{own}/stat"][0])
                    assert any(re.match(r"read_bytes: \d+$", line) for line in shown[f"{own}/io"])
                    assert re.fullmatch(r"\d+( \d+){6}", shown[f"{own}/statm"][0])
                    assert next(iter(shown)) == "uptime"
            assert not key.with_suffix(key.suffix + ".err").read_text(), pair
    finally:
        for process, _, _ in runs.values():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            process.wait()


def assert_groups(pid: int, told: list[str], files: list[Snapshot]) -> None:
    """The groups of a process as its kernel lists them: told once, printed in each snapshot. The root is none."""
    lists = [line.split(":", 2)[1:] for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines()]
    paths = {path for _, path in lists if path != "/"}
    assert {line.removeprefix("Cgroup:\t").split("\t")[0] for line in told} <= paths
    assert len(told) == min(1, len(paths))
    read = {
        path for names, path in lists if path in paths and {*names.split(",")} & {"", "cpu", "cpuacct", "memory", "blkio", "pids"}
    }
    for snapshot in files:
        assert all(any(name.startswith("/sys/fs/cgroup") and name.endswith(path) for name in snapshot) for path in read)


@pytest.mark.parametrize("reader", ["mawk", "gawk", "busybox"])
def test_a_process_is_described_once_with_its_user_and_arguments(host: Host, reader: str) -> None:
    """What is said of a process cannot pass for a line of another: control characters are shown, long arguments are cut."""
    require_program(READERS[reader].split()[0])
    clock = Path(require_program("bash"))
    odd = "a\tb\x7f 1795305600 " + "q" * 600
    runs = {}
    with subprocess.Popen(["sleep", "600"]) as plain, subprocess.Popen(["sh", "-c", "read x", odd], stdin=subprocess.PIPE) as long:
        try:
            for command in ("sample 1", "sample 1 arguments"):
                key = host.root / command.replace(" ", "-")
                runs[command] = (start_sampler(clock, reader, command, key), key.with_suffix(".raw"))
            shown = {}
            for command, (_, raw) in runs.items():
                host.wait_for(lambda raw=raw: raw.exists() and len(snapshots_of(raw.read_text())) >= 3, command)  # type: ignore[misc]
                shown[command] = [files for _, files in snapshots_of(raw.read_text())]
            name = pwd.getpwuid(os.getuid()).pw_name
            for files in shown.values():
                uid, user, *arguments = files[0][f"{plain.pid}/status"]
                assert uid.split()[:2] == ["Uid:", f"{os.getuid()}"]
                assert user == f"User:\t{name}"
                assert not any(f"{plain.pid}/status" in later for later in files[1:]), "it is described once"
                groups = [line for line in arguments if line.startswith("Cgroup:")]
                assert arguments[len(groups) :] == (["Args:\tsleep 600"] if files is shown["sample 1 arguments"] else [])
                assert_groups(plain.pid, groups, files)
            cut = shown["sample 1 arguments"][0][f"{long.pid}/status"][-1]
            assert cut.startswith("Args:\tsh -c read x a\\x09b\\x7f 1795305600 qqq")
            assert cut.endswith("q...")
            assert len(cut) == len("Args:\t") + 512
        finally:
            plain.kill()
            long.kill()
            for process, _ in runs.values():
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, 9)
                process.wait()


@under_every_shell
def test_the_agent_samples_without_any_tool(host: Host) -> None:
    """What a host without sysstat records with the stats.conf that comes with the agent; and nothing about it is trouble."""
    tools = host.root / "usr-bin"
    tools.mkdir()
    for program in Path("/usr/bin").iterdir():
        if program.name not in ("mpstat", "iostat", "pidstat", "vmstat", "sar"):
            (tools / program.name).symlink_to(program)
    host.path = f"{host.bin}:{tools}"
    (host.root / "stats.conf").write_text((AGENTS / "stats.conf.linux").read_text())
    host.run()
    for spec in ("proc_linux", "proc_pid_linux"):
        host.wait_for(lambda spec=spec: host.received(spec) > 2000, f"{spec}")  # type: ignore[misc]
    host.wait_for(lambda: len(snapshots_of(all_of(host, "proc_linux"))) >= 2, "snapshots")
    assert_system(snapshots_of(all_of(host, "proc_linux")))
    status = host.command("status")
    assert status.returncode == 0, status.stdout
    assert "idle" in status.stdout
    assert "not found" not in host.log
    checked = host.command("check")
    assert checked.returncode == 0, checked.stdout
    assert "not installed (optional): no program mpstat" in checked.stdout
    assert f"tool     proc_linux: sample 1 {SECTIONS} (built in, by bash and " in checked.stdout
    assert host.stop() == 0
    host.assert_nothing_left_behind()
    assert not host.server.errors


def all_of(host: Host, spec: str) -> str:
    return b"".join(host.server.data(spec).values()).decode()


@under_every_shell
def test_auto_leaves_out_what_tools_of_this_host_record(host: Host) -> None:
    for name in ("mpstat", "iostat"):
        host.tool(name, "#!/bin/sh\nwhile :; do echo x; sleep 1; done\n")
    host.stats(
        "mpstat_linux ?mpstat -P ALL 1",
        "iostat_linux ?iostat -x -t 1",
        "proc_linux sample 1 auto",
        "other_linux ?@1 no-such-tool",
    )
    host.run()
    host.wait_for(lambda: len(snapshots_of(all_of(host, "proc_linux"))) >= 2, "snapshots")
    for _, files in snapshots_of(all_of(host, "proc_linux")):
        assert "diskstats" not in files
        assert not any(line.startswith("cpu") for line in files["stat"])
        assert any(line.startswith("ctxt ") for line in files["stat"])
    status = host.command("status")
    assert status.returncode == 0, status.stdout
    assert re.search(r"other_linux +idle +0 +optional: no program no-such-tool in ", status.stdout), status.stdout
    assert {stream.command for stream in host.server.streams.values() if stream.spec == "proc_linux"} == {
        "sample 1 kernel memory net tcp pressure"
    }
    # A killed agent's sampler ends as other tools do.
    host.kill()
    host.wait_for(lambda: not host.processes(), "the end of all processes")
    assert "not found" not in host.log


@under_every_shell
def test_facts_about_the_host_are_sent_with_their_date(host: Host) -> None:
    host.stats("host_facts facts 1")
    host.run()
    host.wait_for(lambda: all_of(host, "host_facts").count("os\tLinux\n") >= 2, "facts twice")
    lines = all_of(host, "host_facts").splitlines()
    assert re.fullmatch(r"\d{10}", lines[0])
    facts = dict(line.split("\t") for line in lines[1 : lines.index("os\tLinux", 2) - 1])
    uname = os.uname()
    assert (facts["kernel_release"], facts["kernel_version"], facts["machine"]) == (uname.release, uname.version, uname.machine)
    assert int(facts["cpus"]) == os.cpu_count()
    assert int(facts["memory_kb"]) == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 1024
    boot_time = next(line.split()[1] for line in Path("/proc/stat").read_text().splitlines() if line.startswith("btime "))
    assert abs(int(facts["boot_time"]) - int(boot_time)) <= 1
    # The last one: a list that was cut off ends otherwise.
    assert list(facts)[-1] == "agent"
    assert facts["time_zone"] == "Pacific/Chatham"
    assert host.command("check").returncode == 0
    assert host.stop() == 0
    host.assert_nothing_left_behind()


@pytest.mark.parametrize("awk", ["mawk", "busybox awk", "gawk"])
def test_groups_are_found_from_a_namespace_of_its_own(awk: str) -> None:
    """As in a container of a cluster: the kernel shows other groups as /../../x, and the disks have names."""
    root = next(
        (Path(folder) for folder in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified") if Path(folder, "cgroup.controllers").exists()),
        None,
    )
    own = None if root is None else root / f"normstat-test-{os.getpid()}"
    if root is None or own is None or not os.access(root, os.W_OK) or shutil.which(awk.split(maxsplit=1)[0]) is None:
        pytest.skip(f"needs root, control groups of version 2 and {awk}")
    folders = [own, own / "container", own / "other"]
    for folder in folders:
        folder.mkdir()
    idle = subprocess.Popen(["sleep", "60"])
    try:
        (own / "other/cgroup.procs").write_text(str(idle.pid))
        parts = " ".join(f"-f {PARTS / name}" for name in ("sampler-processes.awk", "sampler-cgroups.awk"))
        script = (
            f'echo $$ >"$0/container/cgroup.procs" && echo "1796026400 /proc/self /proc/{idle.pid}" | unshare -C {awk} {parts} 5'
        )
        done = subprocess.run(["sh", "-c", script, str(own)], capture_output=True, text=True, timeout=60, check=False)
        if "unshare" in done.stderr:
            pytest.skip(f"no namespaces here: {done.stderr}")
        assert f"Cgroup:\t/{own.name}/other\n" in done.stdout
        assert f"Cgroup:\t/{own.name}/container\n" in done.stdout
        assert f"==> {own}/other <==\n" in done.stdout
        assert "==> /proc/partitions <==\n" in done.stdout
    finally:
        idle.kill()
        idle.wait()
        for folder in reversed(folders):
            folder.rmdir()


# A process of 40 MB, with the ticks that it has run in user space.
STAT: Final = "77 (a b) S 1 77 77 0 -1 4194560 100 0 0 0 {} 3 0 0 20 0 1 0 500 99999744 10000 0 0"


@pytest.mark.parametrize("reader", ["mawk", "gawk", "busybox"])
def test_what_cannot_have_changed_is_not_read_again(tmp_path: Path, reader: str) -> None:
    """The memory of a process whose other counters are the same; limits of groups, but once a minute. What is printed is complete
    each time, also where the controllers cpu and cpuacct share a folder.
    """
    if shutil.which(reader) is None:
        pytest.skip(f"needs {reader}")
    both, memory, process = (tmp_path / name for name in ("cpu,cpuacct/web", "memory/web", "77"))
    gates = [tmp_path / f"gate{number}" for number in range(4)]
    for folder in (both, memory, process, *gates):
        folder.mkdir(parents=True)
    for gate in gates:
        os.mkfifo(gate / "stat")
    files = {
        both / "cpuacct.usage": "5000", both / "cpu.stat": "nr_periods 9", both / "cpu.cfs_quota_us": "50000",
        memory / "memory.usage_in_bytes": "4096", memory / "memory.limit_in_bytes": "100",
        process / "stat": STAT.format(7), process / "statm": "24414 10000 500 1 0 900 0",
        process / "io": "rchar: 1\nread_bytes: 2\nwrite_bytes: 3\ncancelled_write_bytes: 0", process / "status": "Uid:\t0\t0",
        process / "cgroup": "3:memory:/web\n1:cpu,cpuacct:/web",
        tmp_path / "mounts": f"x {both.parent} cgroup rw,cpu,cpuacct 0 0\nx {memory.parent} cgroup rw,memory 0 0",
    }  # fmt: skip
    for path, text in files.items():
        path.write_text(f"{text}\n")
    program = "".join((PARTS / name).read_text() for name in ("sampler-processes.awk", "sampler-cgroups.awk"))
    (tmp_path / "awk").write_text(program.replace('"/proc/mounts"', f'"{tmp_path}/mounts"'))
    ticks, out = tmp_path / "ticks", tmp_path / "out"
    # The awk opens a pipe at the beginning of a tick, and waits there until the files have been changed.
    ticks.write_text("".join(f"{1796026400 + 30 * number} {gate} {process}\n" for number, gate in enumerate(gates)))
    words = [*READERS[reader].split(), "-f", str(tmp_path / "awk"), "30"]
    with ticks.open() as given, out.open("w") as printed, subprocess.Popen(words, stdin=given, stdout=printed) as sampler:
        steps: list[dict[Path, str]] = [
            {},
            {process / "statm": "1 1 1 1 0 1 0", both / "cpu.cfs_quota_us": "70000", memory / "memory.usage_in_bytes": "8192"},
            {process / "stat": STAT.format(8)},
            {},
        ]
        for gate, changes in zip(gates, steps, strict=True):
            with (gate / "stat").open("w"):
                for path, text in changes.items():
                    path.write_text(f"{text}\n")
        assert sampler.wait(60) == 0
    # Without the last line, snapshots_of leaves out the last one.
    shown = [snapshot for _, snapshot in snapshots_of(out.read_text() + "1796026520\n")]
    assert [snapshot[f"{process}/statm"] for snapshot in shown] == [
        *[["24414 10000 500 1 0 900 0"]] * 2, *[["1 1 1 1 0 1 0"]] * 2,
    ]  # fmt: skip
    assert [snapshot[f"{process}/io"] for snapshot in shown] == [
        ["read_bytes: 2", "write_bytes: 3", "cancelled_write_bytes: 0"]
    ] * 4
    quotas = [f"cpu.cfs_quota_us {quota}" for quota in (50000, 70000)]
    of_cpu = ["cpuacct.usage 5000", "cpu.stat nr_periods 9"]
    assert [sorted(snapshot[str(both)]) for snapshot in shown] == [
        sorted([*of_cpu, quotas[0]]),
        [],
        sorted([*of_cpu, quotas[1]]),
        [],
    ]
    assert [snapshot[str(memory)][:1] for snapshot in shown] == [
        ["memory.usage_in_bytes 4096"], ["memory.usage_in_bytes 8192"], [], [],
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["dash", "bash"])
def test_a_new_awk_takes_over_without_a_break(host: Host, name: str) -> None:
    """mawk keeps the names of all files that it opened: it is replaced after sixty ticks, here after two."""
    program = require_program(name)
    clock = host.root / "sampler-clock.sh"
    clock.write_text((PARTS / clock.name).read_text().replace("n_left=60", "n_left=2"))
    out, whole = host.root / "out", host.root / "sampler.awk"
    whole.write_text("".join((PARTS / name).read_text() for name in ("sampler-processes.awk", "sampler-cgroups.awk")))
    words = [program, str(clock), "1", "pids", READERS["mawk"], str(whole), "1"]
    with out.open("wb") as file:
        process = subprocess.Popen(words, env=host.environment(), stdout=file, start_new_session=True)
    try:
        host.wait_for(lambda: len(snapshots_of(out.read_text())) >= 6, "six snapshots")
        times = [epoch for epoch, _ in snapshots_of(out.read_text())]
        assert times == sorted(set(times))
        n_awks = len([line for line in host.processes().values() if line.startswith("mawk ")])
        assert n_awks <= 2, "the ones before have ended"
        described = [f"{os.getpid()}/status" in files for _, files in snapshots_of(out.read_text())]
        assert described[0]
        assert not any(described[1:]), "a new awk does not describe again what the one before has seen"
    finally:
        os.killpg(process.pid, 9)
        process.wait()
