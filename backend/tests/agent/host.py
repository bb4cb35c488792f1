"""A host of its own for one test: a folder with tools that are scripts, an agent under one shell, and a server to send to."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.agent.fake_server import TOKEN, FakeServer
from tests.vanishing import files_below

AGENTS: Final = Path(__file__).resolve().parents[3] / "agents"
AGENT: Final = AGENTS / "normstat-agent"
PARTS: Final = AGENTS / "src"
# Far longer than anything here takes: no test may fail because the machine is busy.
PATIENCE_S: Final = 60.0 * int(os.environ.get("NORMSTAT_TEST_PATIENCE", "1"))
CUT_OFF: Final = b" <normstat-agent: line cut off here>\n"

# A tool whose every byte is known: it writes each piece to a file of truth before it writes it to its output. Its lines hold
# every kind of byte that could trip a shell.
EMIT: Final = """#!{python} -S
import os, random, signal, sys, time
every, n_lines, is_cut = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] == ["cut"]
dice = random.Random(os.getpid())
truth = os.open("{truth}/%d-%d" % (time.time_ns(), os.getpid()), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
n = 0
while True:
    piece = b""
    for _ in range(min(n_lines, 2) if os.path.exists("{calm}") else n_lines):
        n += 1
        piece += b"%08d \\0 \\377\\376 \\r %%s $(x) `y` \\\\ " % n + dice.randbytes(40).replace(b"\\n", b"") + b"\\n"
    if is_cut:
        piece = piece[:-1]
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])  # ends between two pieces, so that truth and output agree
    os.write(truth, piece)
    os.write(1, piece)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    if is_cut:
        sys.exit(3)
    time.sleep(every)
"""


@dataclass(frozen=True, slots=True)
class Shell:
    """A shell under test: its name and the program, which is a link named so that the shell behaves as wanted."""

    name: str
    program: Path


class Host:
    """One host. Everything it starts carries its folder in the environment, so that nothing of it can be left behind unseen."""

    def __init__(self, shell: Shell, root: Path) -> None:
        self.shell = shell
        self.root = root
        self.spool = root / "spool"
        self.truth = root / "truth"
        self.bin = root / "bin"
        self.path = f"{self.bin}:/usr/bin:/bin"
        self.extra: dict[str, str] = {}
        self.agent: subprocess.Popen[bytes] | None = None
        # Runs the agent in its own process: a mount namespace.
        self.wrapper: tuple[str, ...] = ()
        self._options: tuple[str, ...] = ()
        self._was_server_slow = False
        for folder in (self.truth, self.bin):
            folder.mkdir(parents=True)
        self.token_file = root / "token"
        self.write_token(TOKEN)
        self.server = FakeServer()
        self.server.start()
        self.tool("emit", EMIT.format(python=sys.executable, truth=self.truth, calm=self.root / "calm"))
        self.stats("emit_linux emit 0.2 10")

    def close(self) -> None:
        """Ends whatever a failed test left."""
        for pid in self.processes():
            send_signal(pid, signal.SIGKILL)
        if self.agent:
            self.agent.wait()
        self.server.stop()

    def write_token(self, token: str) -> None:
        self.token_file.write_text(f"{token}\n")
        self.token_file.chmod(0o600)

    def tool(self, name: str, text: str) -> None:
        """Puts a script into the host's own bin."""
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def calm(self) -> None:
        """From now on emit writes 2 lines at a time, which an agent on a busy machine keeps up with."""
        (self.root / "calm").touch()

    def hurry(self) -> None:
        """From now on emit writes as many lines at a time as stats.conf says."""
        (self.root / "calm").unlink()

    def stats(self, *lines: str) -> None:
        """Writes another stats.conf: `name command` each; the first blank becomes the tab."""
        (self.root / "stats.conf").write_text("".join(line.replace(" ", "\t", 1) + "\n" for line in lines))

    def environment(self) -> Mapping[str, str]:
        # LC_ALL as on a desktop: the agent must set its own. No LANG of a locale that may be missing: mksh itself complains.
        return {
            "HOME": str(self.root),
            "LC_ALL": "C.UTF-8",
            "TZ": "Pacific/Chatham",
            "PATH": self.path,
            "NORMSTAT_PATH": self.path,
            "NORMSTAT_SHELL": str(self.shell.program),
            "NORMSTAT_TEST_HOST": str(self.root),
            "TMPDIR": str(self.root),
            **self.extra,
        }

    def arguments(self, command: str, options: Sequence[str]) -> list[str]:
        base = ["--token-file", str(self.token_file), "--spool", str(self.spool), "--stats", str(self.root / "stats.conf")]
        server = [] if "--server" in options else ["--server", self.server.url]
        return [str(self.shell.program), str(AGENT), command, *base, *server, "--host", "web1", "--interval", "1", *options]

    def command(self, command: str, *options: str) -> subprocess.CompletedProcess[str]:
        """Runs one command of the agent to its end."""
        return self.execute(*self.arguments(command, options))

    def execute(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Runs a program to its end, in the environment and the folder of the agent."""
        return subprocess.run(
            words,
            env=self.environment(),
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE_S,
            check=False,
        )

    def run(self, *options: str) -> None:
        """Starts `normstat-agent run`; its messages go to `log`."""
        self._options = options
        with (self.root / "log").open("ab") as log:
            self.agent = subprocess.Popen(
                [*self.wrapper, *self.arguments("run", options)],
                env=self.environment(),
                cwd=self.root,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def stop(self, with_signal: signal.Signals = signal.SIGTERM) -> int:
        """Sends the signal and returns the exit status."""
        assert self.agent is not None
        n_said = len(self.log)
        self.agent.send_signal(with_signal)
        # A shell may lose a signal while it starts a process (yash 2.52, once in hundreds on a busy machine): people ask twice.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.agent.wait(PATIENCE_S / 3)
        if self.agent.poll() is None:
            self.agent.send_signal(with_signal)
        self.wait_for(lambda: self.agent and self.agent.poll() is not None, "the agent's end")
        self._was_server_slow = any(words in self.log[n_said:] for words in ("cannot ship", "no time to send the rest"))
        return self.agent.wait()

    def kill(self) -> None:
        """Ends the agent and nothing that it started."""
        assert self.agent is not None
        self.agent.kill()
        self.agent.wait()

    def end_exactly(self) -> None:
        """Stops the agent: it ends well, nothing of it is left, and the server has every byte."""
        assert self.stop() == 0
        self.assert_nothing_left_behind()
        self.assert_exact()

    @property
    def log(self) -> str:
        path = self.root / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    def processes(self) -> dict[int, str]:
        """The live processes of this host: pid and command line."""
        found = {}
        mark = f"NORMSTAT_TEST_HOST={self.root}\0".encode()
        for entry in os.scandir("/proc"):
            if not entry.name.isdecimal():
                continue
            try:
                is_ours = mark in _read_whole(f"{entry.path}/environ")
                if is_ours and _read_whole(f"{entry.path}/stat").rpartition(b")")[2].split()[0] != b"Z":
                    found[int(entry.name)] = _read_whole(f"{entry.path}/cmdline").replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
        return found

    def tool_processes(self, name: str) -> list[int]:
        """The processes that run a tool of this host's bin."""
        return [pid for pid, line in self.processes().items() if re.search(rf"{re.escape(str(self.bin))}/{name}\b", line)]

    def raw_files(self) -> list[Path]:
        return sorted(self.spool.glob("*.raw"))

    def raw_sizes(self) -> list[int]:
        """How long the raw files are; one may go while we look."""
        return [status.st_size for path, status in files_below(self.spool) if path.suffix == ".raw" and path.parent == self.spool]

    def acknowledged(self) -> dict[str, int]:
        """What the agent believes the server has of each stream; as we look, one may be given up, or new and without a number."""
        found = {}
        for path in self.spool.glob("*.ack"):
            with contextlib.suppress(FileNotFoundError):
                if words := path.read_text().split():
                    found[path.stem] = int(words[0])
        return found

    def wait_for(self, condition: Callable[[], object], what: str, seconds: float = PATIENCE_S) -> None:
        """Returns when the condition holds.

        Raises: AssertionError, with what was waited for and the agent's log, when it does not come to hold.
        """
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, (
                f"{self.shell.name}: waited {seconds} s for {what}; it runs {self.processes()}; the agent said:\n{self.log[-3000:]}"
            )
            time.sleep(0.02)

    def wait_for_bytes(self, spec: str, n_bytes: int) -> None:
        self.wait_for(lambda: sum(map(len, self.server.data(spec).values())) >= n_bytes, f"{n_bytes} bytes of {spec}")

    def received(self, spec: str) -> int:
        return sum(map(len, self.server.data(spec).values()))

    def assert_nothing_left_behind(self) -> None:
        """Every process of this host has ended."""
        self.wait_for(lambda: not self.processes(), "the end of all processes")

    def assert_exact(self, spec: str = "emit_linux") -> None:
        """The server has, byte for byte, what the tool wrote; what a gap covers is where the gap says and nowhere else.

        An agent that ends gives the server 3 seconds and leaves the rest to its next run: on a busy machine that run is made here.
        """
        while self._was_server_slow:
            n_sent = sum(self.acknowledged().values())
            self.run(*self._options)
            self.wait_for(lambda n=n_sent: sum(self.acknowledged().values()) > n, "what the run before left")  # type: ignore[misc]
            self.stop()
        truths = [path.read_bytes() for path in sorted(self.truth.iterdir()) if path.stat().st_size]
        with self.server._lock:
            streams = [(key, stream) for key, stream in self.server.streams.items() if stream.spec == spec]
        assert streams, f"{self.shell.name}: nothing of {spec} came"
        # What is nothing but a gap fits any run of that length, so those that can be told apart come first.
        for key, stream in sorted(streams, key=lambda item: sum(end - begin for begin, end, _ in item[1].gaps)):
            data = bytes(stream.data)
            data = data.removesuffix(CUT_OFF)
            for begin, end, _ in stream.gaps:
                assert not any(data[begin:end])
            matches = [truth for truth in truths if _agrees(truth, data, [(begin, end) for begin, end, _ in stream.gaps])]
            assert matches, f"{self.shell.name}: {key} with {len(data)} bytes is not what any run of the tool wrote"
            truths.remove(matches[0])
        assert not truths, f"{self.shell.name}: {len(truths)} runs of the tool never came, of {sum(map(len, truths))} bytes"
        assert not self.server.errors, self.server.errors


def send_signal(pid: int, number: int) -> None:
    """Send a signal to a process that may have ended since it was found: the agent starts short ones all the time."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _read_whole(path: str) -> bytes:
    """A file of /proc, without `Path`, which takes longer than the kernel: who waits reads one of every process each time."""
    handle = os.open(path, os.O_RDONLY)
    try:
        text = b""
        while piece := os.read(handle, 1 << 20):
            text += piece
        return text
    finally:
        os.close(handle)


def _agrees(truth: bytes, data: bytes, gaps: list[tuple[int, int]]) -> bool:
    at = 0
    for begin, end in [*gaps, (len(data), len(data))]:
        if truth[at:begin] != data[at:begin]:
            return False
        at = end
    return len(data) == len(truth)
