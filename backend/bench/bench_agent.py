"""What the agent costs on a host, its tools included: CPU time, memory and processes, beside node_exporter.

    python -m bench.bench_agent [--seconds 150] [--only bare,full] [--old FILE] [--processes 450 --groups 60] [--forks]
    python -m bench.bench_agent --slow 20 [--seconds 300] [--only dash,mksh-wget] [--old FILE]

All variants run at the same time against servers in this process, so that they meet the same load of the machine: compare the rows
of one run. CPU time is that of a cgroup (version 1 or 2) of each variant; where none may be made, it is that of the process tree
with the children that were waited for. `--old` runs another normstat-agent too, for the ratio. `--forks` counts, after the
measurement, the processes that a request takes; it needs strace. `--processes` is how many the host shall have at least: sleeping
ones are added, which `--groups` control groups hold, as the services of a busy host.

`--slow N` is an old SPARC, N times slower than a core here: the agent in each shell, with the stand-ins for Solaris 10's programs
(agents/tests/fakebin). Its share of that CPU is N times its CPU time here, and it is made to count its own CPU time so, too. What
the stand-ins for the stat tools take, which is not what the tools of Solaris take, is reported apart.
"""

import argparse
import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.record import record
from tests.agent.conftest import SHELLS, make_shell
from tests.agent.fake_server import TOKEN, FakeServer
from tests.agent.test_userland import SOLARIS_TOOLS, SUNOS

AGENT: Final = Path(__file__).resolve().parents[2] / "agents" / "normstat-agent"
FOLDERS: Final = ("/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin")
SYSSTAT: Final = frozenset({"mpstat", "iostat", "pidstat", "sar", "sadf"})
TICKS: Final = os.sysconf("SC_CLK_TCK")
# An agent asks each second while it starts.
START_S: Final = 20.0
# On a slow host, it also measures what a request costs before it finds its pace.
SLOW_START_S: Final = 60.0
# Where the agent counts its CPU time (agents/src/83-pace.sh).
COUNTED: Final = "used_cs=$at_total"
# The number of a TCP socket on Solaris (agents/src/75-transports.sh): Linux has another, without which perl loads modules.
SOCKET: Final = "perl_socket=2"


@dataclass(frozen=True, slots=True)
class Variant:
    """A way to run the agent: without these programs, with these options, as an account whose sampler has capabilities."""

    word: str
    name: str
    without: frozenset[str] = frozenset()
    options: tuple[str, ...] = ()
    is_account: bool = False
    # One of SHELLS, on a host with the stand-ins for Solaris 10 and these programs.
    shell: str = ""
    solaris: tuple[str, ...] = ()


VARIANTS: Final = (
    Variant("bare", "without sysstat", SYSSTAT),
    Variant("bare-curl", "without sysstat, curl sends", SYSSTAT, ("--transport", "curl")),
    Variant("bare-sh", "without sysstat or perl, curl sends", SYSSTAT | {"perl"}, ("--transport", "curl")),
    Variant("bare-account", "without sysstat, not root, sampler apart", SYSSTAT, is_account=True),
    Variant("full", "with sysstat"),
    Variant("full-curl", "with sysstat, curl sends", options=("--transport", "curl")),
    Variant("full-sh", "with sysstat, without perl, curl sends", frozenset({"perl"}), ("--transport", "curl")),
)
SLOW_VARIANTS: Final = tuple(
    Variant(f"{shell}{word}", f"{shell}{name}", shell=shell, solaris=programs)
    for shell in SHELLS
    for word, name, programs in (
        ("", ", perl sends", SOLARIS_TOOLS),
        ("-wget", ", no perl, wget sends", (*(tool for tool in SOLARIS_TOOLS if tool != "perl"), "grep", "wget")),
    )
)
# A user without privileges, with the capabilities that its sampler keeps.
UID: Final = 61198
CAPABILITIES: Final = "-all,+sys_ptrace,+dac_read_search"
ACCOUNT: Final = (
    *("setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "--no-new-privs"),
    *(f"--{kind}={CAPABILITIES}" for kind in ("inh-caps", "ambient-caps", "bounding-set")),
)
# All of them at once, with an older agent beside each, would make a machine busy.
DEFAULT: Final = "bare,bare-sh,full,full-sh"


class CpuAccount:
    """CPU seconds (user, system) of a process, of what it starts, and of what that starts."""

    def __init__(self, name: str) -> None:
        self._folder: Path | None = None
        self._is_v2 = Path("/sys/fs/cgroup/cgroup.controllers").exists()
        self._pid = 0
        root = Path("/sys/fs/cgroup") if self._is_v2 else Path("/sys/fs/cgroup/cpuacct")
        with contextlib.suppress(OSError):
            folder = root / f"normstat-bench-{os.getpid()}-{name}"
            folder.mkdir()
            self._folder = folder

    def prefix(self) -> list[str]:
        """The words before a command that put it into the account."""
        return ["/bin/sh", "-c", 'echo $$ >"$0"; exec "$@"', f"{self._folder}/cgroup.procs"] if self._folder else []

    def wrapper(self, program: Path) -> str:
        """A script that is the program in this account, not in that of the agent that starts it."""
        joins = f"echo $$ >{self._folder}/cgroup.procs\n" if self._folder else ""
        return f'#!/bin/sh\n{joins}exec {program} "$@"\n'

    def follow(self, pid: int) -> None:
        """Names the first process, for hosts without cgroups."""
        self._pid = pid

    def kind(self) -> str:
        """How CPU time is counted."""
        return ("cgroup 2" if self._is_v2 else "cgroup 1") if self._folder else "process tree"

    def pids(self) -> list[int]:
        """The processes that now run."""
        if self._folder:
            return [int(pid) for pid in (self._folder / "cgroup.procs").read_text().split()]
        parents = {pid: int(words[1]) for pid, words in _processes().items()}
        found = [self._pid]
        for pid in found:
            found += [child for child, parent in parents.items() if parent == pid]
        return found

    def seconds(self) -> tuple[float, float]:
        """User and system."""
        if self._folder and self._is_v2:
            told = dict(line.split() for line in (self._folder / "cpu.stat").read_text().splitlines())
            return int(told["user_usec"]) / 1e6, int(told["system_usec"]) / 1e6
        if self._folder:
            user, system = (int((self._folder / f"cpuacct.usage_{what}").read_text()) / 1e9 for what in ("user", "sys"))
            return user, system
        processes = _processes()
        words = [processes[pid] for pid in self.pids() if pid in processes]
        return sum(int(w[11]) + int(w[13]) for w in words) / TICKS, sum(int(w[12]) + int(w[14]) for w in words) / TICKS

    def memory_kb(self) -> int:
        """PSS: memory that processes share is counted once."""
        total = 0
        for pid in self.pids():
            with contextlib.suppress(OSError):
                found = re.search(r"^Pss: +(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
                total += int(found[1]) if found else 0
        return total

    def close(self) -> None:
        """Removes the cgroup; its processes have ended."""
        for _ in range(50):
            with contextlib.suppress(OSError):
                if self._folder:
                    self._folder.rmdir()
                return
            time.sleep(0.1)


def _processes() -> dict[int, list[str]]:
    """The words of each /proc/PID/stat from the state on."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with contextlib.suppress(OSError):
                found[int(folder.name)] = (folder / "stat").read_text().rpartition(")")[2].split()
    return found


class Sleepers:
    """Processes that sleep, spread over control groups of every hierarchy that the host has."""

    def __init__(self, n_processes: int, n_groups: int) -> None:
        mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
        # A group of version 1 with cpusets takes no process before it was given CPUs.
        roots = [
            Path(folder)
            for _, folder, kind, options, *_ in mounts
            if kind == "cgroup2" or (kind == "cgroup" and "cpuset" not in options.split(","))
        ]
        self._folders = [root / f"normstat-bench-{os.getpid()}.slice" for root in roots if n_groups]
        self._groups = [[folder / f"unit{number}.service" for folder in self._folders] for number in range(n_groups)]
        self._processes: list[subprocess.Popen[bytes]] = []
        try:
            for folder in self._folders:
                folder.mkdir()
                if (folder / "cgroup.controllers").exists():
                    controllers = (folder / "cgroup.controllers").read_text().split()
                    (folder / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in controllers))
            for folders in self._groups:
                for folder in folders:
                    folder.mkdir()
            for number in range(n_processes):
                process = subprocess.Popen(["sleep", "infinity"])
                self._processes.append(process)
                for folder in self._groups[number % n_groups] if n_groups else ():
                    (folder / "cgroup.procs").write_text(str(process.pid))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Ends the processes and removes their groups."""
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait(60)
        for folder in (*(folder for folders in self._groups for folder in folders), *self._folders):
            # A group is busy until its last process is gone.
            for _ in range(50):
                if folder.exists():
                    with contextlib.suppress(OSError):
                        folder.rmdir()
                        break
                    time.sleep(0.1)


class Reading:
    """CPU time between two moments."""

    def __init__(self, account: CpuAccount) -> None:
        self.account = account
        self.began = time.monotonic()
        self.first = account.seconds()

    def percent(self) -> tuple[float, float]:
        """Of one core: user and system."""
        last, elapsed = self.account.seconds(), time.monotonic() - self.began
        return (last[0] - self.first[0]) / elapsed * 100, (last[1] - self.first[1]) / elapsed * 100


def tool_folder(root: Path, without: frozenset[str]) -> Path:
    """A folder with a link to every program of this host but some."""
    root.mkdir()
    for folder in FOLDERS:
        for path in Path(folder).iterdir() if Path(folder).is_dir() else ():
            if path.name not in without and not (root / path.name).is_symlink():
                (root / path.name).symlink_to(path)
    return root


class AgentRun:
    """The agent in one variant, and the server that it sends to."""

    def __init__(self, name: str, variant: Variant, agent: Path, folder: Path, slow: int = 1) -> None:
        self.name, self.variant, self.agent = name, variant, agent
        folder.mkdir()
        if slow > 1:
            self.agent = folder / "normstat-agent"
            text = agent.read_text()
            for wanted, made in ((COUNTED, f"used_cs=$((at_total * {slow}))"), (SOCKET, f"perl_socket={socket.SOCK_STREAM}")):
                if wanted not in text:
                    raise SystemExit(f"{agent} has no {wanted}")
                text = text.replace(wanted, made)
            self.agent.write_text(text)
        self.folder = folder
        self.server = FakeServer()
        self.server.start()
        self.account = CpuAccount(folder.name)
        self.tools = CpuAccount(f"{folder.name}-tools") if variant.solaris else None
        self.shell = "/bin/sh"
        self.own = folder / "own"
        self.own.mkdir(mode=0o700)
        (self.own / "token").write_text(TOKEN + "\n")
        (self.own / "token").chmod(0o600)
        if variant.is_account:
            folder.parent.chmod(0o755)
            for path in (self.own, self.own / "token"):
                os.chown(path, UID, UID)
        self.stats = AGENT.parent / "stats.conf.linux"
        if self.tools:
            self.environment = os.environ | self._become_solaris(self.tools)
        else:
            self.environment = os.environ | {"NORMSTAT_PATH": str(tool_folder(folder / "bin", variant.without))}
        self.process: subprocess.Popen[bytes] | None = None
        self.is_traced = False

    def _become_solaris(self, tools: CpuAccount) -> dict[str, str]:
        """Makes the host's programs, those of the stat tools in their own account, and returns the environment of its agent."""
        shell = make_shell(self.variant.shell, self.folder / "shell")
        if not shell:
            raise SystemExit(f"{self.variant.shell} is not installed")
        self.shell, self.stats = str(shell.program), AGENT.parent / "stats.conf.sunos"
        stand_ins, replayed, programs = self.folder / "stand-ins", self.folder / "replayed", self.folder / "bin"
        for made in (stand_ins, replayed, programs):
            made.mkdir()
        for path in SUNOS.iterdir():
            if path.is_symlink():
                (stand_ins / path.name).write_text(tools.wrapper(path))
                (stand_ins / path.name).chmod(0o755)
            else:
                (stand_ins / path.name).symlink_to(path)
        for name in self.variant.solaris:
            program = shutil.which(name)
            if program:
                (programs / name).symlink_to(program)
        return {
            "NORMSTAT_PATH": f"{stand_ins}:{programs}",
            "NORMSTAT_SHELL": self.shell,
            "REPLAY_CAPTURES": str(AGENT.parent / "tests" / "captures"),
            "REPLAY_TRUTH": str(replayed),
        }

    def start(self, prefix: Sequence[str] = ()) -> None:
        """Starts the agent with the recorded tools of a new host."""
        self.is_traced = bool(prefix)
        options = ["--server", self.server.url, "--token-file", f"{self.own}/token", "--spool", f"{self.own}/spool"]
        account = ACCOUNT if self.variant.is_account else ()
        with (self.folder / "log").open("ab") as log:
            own = ["--stats", str(self.stats), "--host", "web1", *self.variant.options]
            command = [self.shell, str(self.agent), "run", *options, *own]
            words = [*(prefix or self.account.prefix()), *account, *command]
            self.process = subprocess.Popen(words, env=self.environment, stderr=log)
        self.account.follow(self.process.pid)

    def end(self) -> None:
        """Asks the agent to end."""
        if self.process:
            found = (self.own / "spool" / "lock" / "pid").read_text() if self.is_traced else str(self.process.pid)
            os.kill(int(found), signal.SIGTERM)

    def close(self) -> None:
        """Waits for its end."""
        if self.process:
            self.process.wait(60)
        self.account.close()
        if self.tools:
            self.tools.close()
        self.server.stop()

    def sent(self) -> tuple[int, int]:
        """Requests, and bytes before gzip, so far."""
        return len(self.server.requests), sum(len(stream.data) for stream in self.server.streams.values())


class Exporter:
    """node_exporter, scraped once a second."""

    def __init__(self, program: str) -> None:
        with socket.socket() as chosen:
            chosen.bind(("127.0.0.1", 0))
            self.port = chosen.getsockname()[1]
        self.account = CpuAccount("exporter")
        self.url = f"http://127.0.0.1:{self.port}/metrics"
        self.process = subprocess.Popen(
            [*self.account.prefix(), program, f"--web.listen-address=127.0.0.1:{self.port}"], stderr=subprocess.DEVNULL
        )
        self.account.follow(self.process.pid)
        self.n_bytes = 0
        self._has_ended = threading.Event()
        self._thread = threading.Thread(target=self._scrape, daemon=True)
        self._thread.start()

    def _scrape(self) -> None:
        while not self._has_ended.wait(1 - time.time() % 1):
            with (
                contextlib.suppress(OSError),
                urllib.request.urlopen(self.url, timeout=10) as answer,
            ):
                self.n_bytes += len(answer.read())

    def stop(self) -> None:
        """Ends it."""
        self._has_ended.set()
        self._thread.join()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self.account.close()


def count_forks(run: AgentRun, seconds: float) -> float:
    """Processes that one request takes, all loops of the agent and its sampler included."""
    trace = run.folder / "trace"
    run.start(("strace", "-f", "-qq", "-ttt", "-e", "trace=clone,clone3,fork,vfork", "-o", str(trace)))
    time.sleep(START_S)
    begin, n_before = time.time(), run.sent()[0]
    time.sleep(seconds)
    end, n_requests = time.time(), run.sent()[0] - n_before
    run.end()
    run.close()
    forks = [line.split(None, 2) for line in trace.read_text(errors="replace").splitlines()]
    times = [float(words[1]) for words in forks if len(words) == 3 and re.match(r"(clone3?|v?fork)\(", words[2])]
    return sum(begin < at < end for at in times) / max(1, n_requests)


def measure(runs: list[AgentRun], exporter: Exporter | None, seconds: float) -> None:
    """Prints and records a row for each."""
    for run in runs:
        run.start()
    time.sleep(START_S)
    readings = {run.name: (Reading(run.account), run.sent()) for run in runs}
    scraped = (Reading(exporter.account), exporter.n_bytes) if exporter else None
    time.sleep(seconds)
    load = Path("/proc/loadavg").read_text().split()[0]
    print(f"{seconds:.0f} s, load {load}, {len(_processes())} processes, CPU time by {runs[0].account.kind()}")
    print(f"{'what runs':44} {'% of a core':>11} {'user':>6} {'system':>6} {'PSS MB':>7} {'bytes/s':>8} {'requests':>8}")
    rows = [
        (run.name, readings[run.name][0], run.sent()[1] - readings[run.name][1][1], str(run.sent()[0] - readings[run.name][1][0]))
        for run in runs
    ]
    if exporter and scraped:
        rows.append(("node_exporter, scraped each second", scraped[0], exporter.n_bytes - scraped[1], "-"))
    for name, reading, n_bytes, n_requests in rows:
        user, system = reading.percent()
        memory = reading.account.memory_kb() / 1024
        print(f"{name:44} {user + system:11.3f} {user:6.3f} {system:6.3f} {memory:7.1f} {n_bytes / seconds:8.0f} {n_requests:>8}")
        record("", f"agent: {name}: CPU", user + system, "% of a core")
        record("", f"agent: {name}: PSS", memory, "MB")


def measure_slow(runs: list[AgentRun], slow: int, seconds: float) -> None:
    """Prints and records the share of a CPU that is `slow` times slower than a core of this machine, for each."""
    for run in runs:
        run.start()
    time.sleep(SLOW_START_S)
    readings = [(Reading(run.account), Reading(run.tools or run.account), run.sent()) for run in runs]
    time.sleep(seconds)
    load = Path("/proc/loadavg").read_text().split()[0]
    print(f"{seconds:.0f} s, load {load}, a CPU of 1/{slow} of a core, CPU time by {runs[0].account.kind()}")
    print(
        f"{'shell':44} {'% of that CPU':>13} {'CPU ms a request':>17} {'requests':>8} {'bytes/s':>8} {'stand-ins, % of a core':>23}"
    )
    for run, (own, tools, (n_before, n_bytes_before)) in zip(runs, readings, strict=True):
        used, of_tools = sum(own.percent()), sum(tools.percent())
        n_requests, n_bytes = run.sent()[0] - n_before, run.sent()[1] - n_bytes_before
        cost_ms = 10 * used * seconds / max(1, n_requests)
        print(
            f"{run.name:44} {slow * used:13.2f} {cost_ms:17.1f} {n_requests:>8} {n_bytes / seconds:8.0f} {of_tools:23.2f}",
            flush=True,
        )
        record("", f"agent on 1/{slow} of a core: {run.name}: CPU", slow * used, "% of that CPU")


def main() -> None:
    """Runs what is wished."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=150)
    parser.add_argument("--only", help=f"of {','.join(variant.word for variant in VARIANTS)}; with --slow of {','.join(SHELLS)}")
    parser.add_argument("--slow", type=int, default=1, help="a Solaris host whose CPU is this many times slower than a core here")
    parser.add_argument("--old", type=Path, help="another normstat-agent, to run beside this one")
    parser.add_argument("--forks", action="store_true", help="count the processes of a request, by strace")
    parser.add_argument("--processes", type=int, default=0, help="fill the host up to this number with sleeping processes")
    parser.add_argument("--groups", type=int, default=0, help="control groups that hold the sleeping processes")
    options = parser.parse_args()
    known, default = (SLOW_VARIANTS, ",".join(SHELLS)) if options.slow > 1 else (VARIANTS, DEFAULT)
    words = (options.only or default).split(",")
    chosen = [variant for variant in known if variant.word in words]
    if len(chosen) != len(words):
        parser.error(f"--only takes words of {','.join(variant.word for variant in known)}")
    if options.forks and not shutil.which("strace"):
        parser.error("--forks needs strace")
    if options.groups and options.processes <= len(_processes()):
        parser.error(f"--groups needs --processes above the {len(_processes())} of this host")
    n_added = max(0, options.processes - len(_processes()))
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(Sleepers(n_added, options.groups)):
        agents = {"": AGENT} | ({"old: ": options.old.resolve()} if options.old else {})
        pairs = [(mark + variant.name, variant, agent) for variant in chosen for mark, agent in agents.items()]
        runs = [
            AgentRun(name, variant, agent, Path(folder) / f"run{n}", options.slow) for n, (name, variant, agent) in enumerate(pairs)
        ]
        program = shutil.which("prometheus-node-exporter") or shutil.which("node_exporter")
        exporter = Exporter(program) if program and options.slow == 1 else None
        try:
            if options.slow > 1:
                measure_slow(runs, options.slow, options.seconds)
            else:
                measure(runs, exporter, options.seconds)
        finally:
            for run in runs:
                run.end()
            for run in runs:
                run.close()
            if exporter:
                exporter.stop()
        for number, (name, variant, agent) in enumerate(pairs if options.forks else ()):
            forks = count_forks(AgentRun(name, variant, agent, Path(folder) / f"forks{number}"), 30)
            print(f"{name:44} {forks:6.1f} processes a request")
            record("", f"agent: {name}: processes a request", forks, "")


if __name__ == "__main__":
    main()
