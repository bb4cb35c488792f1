"""The I/O of all processes: an agent that starts with the two capabilities leaves them to its sampler of processes alone."""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.agent.conftest import require_program
from tests.agent.host import AGENT

# One for each worker of the tests: an agent of another worker is not looked at.
ACCOUNT: Final = 1_000_000_000 + os.getpid()
BOTH: Final = "-all,+sys_ptrace,+dac_read_search"
BITS: Final = 1 << 19 | 1 << 2
PATIENCE_S: Final = 40.0
STATS: Final = "proc_pid_linux\tsample 1\nproc_linux\tsample 1 cpu\nhost_events\twatch 1\nvmstat_linux\t?vmstat 1\n"

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="giving capabilities away needs root")


def capabilities_of(pid: int, kind: str) -> int:
    """The bits of a set of capabilities (Prm, Inh, Bnd); 0 of a process that has ended."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(f"Cap{kind}:"):
                return int(line.split()[1], 16)
    return 0


def owners_of_processes() -> dict[int, int]:
    """The uid of each process."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            found[int(folder.name)] = folder.stat().st_uid
    return found


def idle_account() -> pwd.struct_passwd:
    """An account of the system that nothing runs as; without one the test is skipped."""
    account = next((entry for entry in pwd.getpwall() if entry.pw_name in {"games", "news", "uucp"}), None)
    if account is None:
        pytest.skip("no account of the system that nothing runs as")
    return account


class Agent:
    """An agent of an account that is not root, with the capabilities or without."""

    def __init__(self, folder: Path, program: str) -> None:
        self.folder = folder
        self.program = program
        self.uid = ACCOUNT
        self.script = folder / "normstat-agent"
        self.own = folder / "own"
        self.log = folder / "log"
        shutil.copy(AGENT, self.script)
        (folder / "stats.conf").write_text(STATS)
        self.own.mkdir(mode=0o700)
        (self.own / "token").write_text("a-token\n")
        (self.own / "token").chmod(0o600)
        self.give_to(ACCOUNT)
        self.process: subprocess.Popen[bytes] | None = None

    def give_to(self, uid: int) -> None:
        """Makes this the agent of that user."""
        self.uid = uid
        for path in (self.own, self.own / "token"):
            os.chown(path, uid, uid)

    def words(self, command: str) -> list[str]:
        options = ["--token-file", f"{self.own}/token", "--spool", f"{self.own}/spool", "--stats", f"{self.folder}/stats.conf"]
        return [self.program, str(self.script), command, "--server", "http://127.0.0.1:9", *options]

    def start(self, *, capabilities: str) -> None:
        account = ["setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups", "--no-new-privs"]
        self.run([*account, *(f"--{name}={capabilities}" for name in ("inh-caps", "ambient-caps", "bounding-set"))])

    def run(self, prefix: list[str]) -> None:
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "NORMSTAT_SHELL": self.program}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen([*prefix, *self.words("run")], env=environment, stdout=log, stderr=log, cwd="/")

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(PATIENCE_S)

    def processes(self) -> dict[int, str]:
        """The processes of the account that have not ended, with their command lines."""
        found = {}
        for pid in [pid for pid, uid in owners_of_processes().items() if uid == self.uid]:
            with contextlib.suppress(OSError):
                if words := Path(f"/proc/{pid}/cmdline").read_bytes():
                    found[pid] = words.replace(b"\0", b" ").decode()
        return found

    def holders(self) -> dict[int, str]:
        """Those that have a capability, or could give one to what they start."""
        return {pid: words for pid, words in self.processes().items() if any(capabilities_of(pid, kind) for kind in ("Prm", "Inh"))}

    def raw(self, spec: str = "proc_pid_linux") -> str:
        return "".join(path.read_text() for path in sorted((self.own / "spool").glob(f"{spec}.*.raw")))

    def wait_for(self, text: str, *, log: bool = False, spec: str = "proc_pid_linux", times: int = 1) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while (self.log.read_text() if log else self.raw(spec)).count(text) < times:
            assert time.monotonic() < deadline, (text, self.log.read_text())
            time.sleep(0.1)

    def as_account(self, *words: str) -> subprocess.CompletedProcess[str]:
        account = ["setpriv", f"--reuid={ACCOUNT}", f"--regid={ACCOUNT}", "--clear-groups", "--bounding-set=-all"]
        return subprocess.run([*account, *words], capture_output=True, text=True, check=False, cwd="/")


@pytest.fixture(params=["dash", *(pytest.param(name, marks=pytest.mark.matrix) for name in ("bash", "ksh93", "mksh", "yash"))])
def agent(request: pytest.FixtureRequest) -> Iterator[Agent]:
    require_program("setpriv")
    with tempfile.TemporaryDirectory(prefix="normstat-io-") as folder:
        Path(folder).chmod(0o755)
        agent = Agent(Path(folder), require_program(request.param))
        yield agent
        agent.stop()
        for pid in agent.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


only_dash = pytest.mark.parametrize("agent", ["dash"], indirect=True)


def test_the_sampler_alone_has_the_capabilities(agent: Agent) -> None:
    agent.start(capabilities=BOTH)
    # The tests themselves are root's.
    agent.wait_for(f"==> /proc/{os.getpid()}/io <==", times=2)
    holders = agent.holders()
    assert holders, "the sampler"
    assert all(capabilities_of(pid, "Prm") == BITS for pid in holders)
    own = {pid: words for pid, words in agent.processes().items() if pid not in holders}
    assert any("normstat-agent run" in words for words in own.values())
    assert any(words.startswith("cat") for words in own.values())
    clock = next(pid for pid, words in holders.items() if "normstat-sampler" in words)
    # It reads no file of the account, and neither its memory nor its files are open to the account's other processes.
    files = [str(path.readlink()) for pid in holders for path in Path(f"/proc/{pid}/fd").iterdir()]
    assert not [name for name in files if str(agent.own) in name and not name.startswith(f"{agent.own}/spool/sampler.pipe")], files
    for file in ("fd/0", "fd/1", "environ", "maps"):
        assert agent.as_account("head", "-c1", f"/proc/{clock}/{file}").stdout == "", file
    agent.stop()
    assert agent.processes() == {}


@only_dash
def test_the_sampler_ends_with_a_killed_agent(agent: Agent) -> None:
    agent.start(capabilities=BOTH)
    agent.wait_for(f"==> /proc/{os.getpid()}/io <==")
    assert agent.process is not None
    agent.process.kill()
    agent.process.wait()
    deadline = time.monotonic() + PATIENCE_S
    while agent.processes():
        assert time.monotonic() < deadline, agent.processes()
        time.sleep(0.2)


@only_dash
def test_without_its_sampler_the_agent_goes_on_and_says_what_is_missing(agent: Agent) -> None:
    agent.start(capabilities=BOTH)
    agent.wait_for(f"==> /proc/{os.getpid()}/io <==")
    for pid in agent.holders():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    missing = "not recorded: the I/O of processes of other users: the sampler that may see it has ended; start the agent again"
    agent.wait_for(missing, log=True)
    agent.wait_for(missing, spec="host_events")
    deadline = time.monotonic() + PATIENCE_S
    while len(list((agent.own / "spool").glob("proc_pid_linux.*.raw"))) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert agent.holders() == {}
    assert missing in agent.as_account(*agent.words("status")).stdout


@only_dash
@pytest.mark.parametrize("what", ["normstat-agent", "."])
def test_an_account_that_could_change_the_agent_gets_no_sampler(agent: Agent, what: str) -> None:
    os.chown(agent.folder / what, ACCOUNT, ACCOUNT)
    agent.start(capabilities=BOTH)
    agent.wait_for(f"not recorded: the I/O of processes of other users: uid {ACCOUNT} could change", log=True)
    agent.wait_for(f"{os.getpid()} (")
    assert agent.holders() == {}
    assert f"/proc/{os.getpid()}/io" not in agent.raw()


@only_dash
def test_without_capabilities_it_is_said_what_is_not_recorded(agent: Agent) -> None:
    agent.start(capabilities="-all")
    note = "not recorded: the I/O of processes of other users: the kernel shows it only with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH"
    agent.wait_for(note, log=True)
    agent.wait_for(f"{os.getpid()} (")
    assert f"/proc/{os.getpid()}/io" not in agent.raw()
    assert note in agent.as_account(*agent.words("status")).stdout


@only_dash
def test_root_becomes_the_user_that_the_settings_name(agent: Agent) -> None:
    account = idle_account()
    agent.give_to(account.pw_uid)
    (agent.folder / "agent.conf").write_text(f"user={account.pw_name}\n")
    # As a systemd unit does.
    agent.run(["setpriv", "--no-new-privs"])
    agent.wait_for(f"==> /proc/{os.getpid()}/io <==")
    assert agent.process is not None
    assert Path(f"/proc/{agent.process.pid}").stat().st_uid == account.pw_uid
    assert {capabilities_of(pid, "Prm") for pid in agent.processes()} == {0, BITS}
    assert all(capabilities_of(pid, "Bnd") in {0, BITS} for pid in agent.processes())
    status = subprocess.run(agent.words("status"), capture_output=True, text=True, check=False, cwd="/")
    assert "agent    runs" in status.stdout, status
