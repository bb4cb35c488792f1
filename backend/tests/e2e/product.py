"""The product as a user has it: real processes, real files, the real agent."""

import contextlib
import http.client
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

import httpx

from normstat.local.binaries import ROOT_STATE_DIR
from tests.fork_server import ForkedProcess, start_forked

CHECKOUT = Path(__file__).resolve().parents[3]
AGENT = CHECKOUT / "agents/normstat-agent"
# What is well takes a second or two: only what hangs pays for it, and a busy machine may take a hundred times as long.
START_TIMEOUT_S = 100.0


def free_port() -> int:
    """A port that nobody listens on, and that no other test of this machine gets as long as this process lives.

    Below those that the system gives to outgoing connections (32768 and up): one of them may be taken before the product starts.
    """
    while True:
        port = random.randrange(20_000, 32_000)
        # A name without a file, which ends with the process.
        claim = socket.socket(socket.AF_UNIX)
        with contextlib.suppress(OSError), socket.socket() as probe:
            claim.bind(f"\0normstat-test-port-{port}")
            probe.bind(("127.0.0.1", port))
            claim.detach()
            return port
        claim.close()


def wait_until(is_done: Callable[[], bool], what: str, timeout_s: float = START_TIMEOUT_S) -> None:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if is_done():
            return
        time.sleep(0.1)
    raise AssertionError(f"not within {timeout_s:.0f} s: {what}")


def health_status(port: int, timeout_s: float = 30) -> int:
    """The status of /health; 0 while nobody answers.

    Tests that wait ask ten times a second; a client of httpx would load the certificates of the system each time: 20 ms of CPU.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_s)
    try:
        connection.request("GET", "/api/v1/health")
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def processes_naming(word: str) -> list[str]:
    """Command lines of the living processes that mention the word."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if word in command:
                    found.append(f"{entry.name} {command}")
    return found


class Server:
    """`normstat serve` on a database; `kill` is kill -9.

    A single process is forked off one that has imported it all (tests/fork_server.py), unless the start itself is the subject.
    """

    def __init__(
        self,
        database_url: str,
        log_path: Path,
        port: int | None = None,
        *,
        workers: int = 1,
        settings: dict[str, str] | None = None,
        is_forked: bool = True,
    ) -> None:
        self.is_forked = is_forked and workers == 1
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log_path = log_path
        self.workers = workers
        self.environment = os.environ | {"NORMSTAT_DATABASE_URL": database_url, "NORMSTAT_PUBLIC_URL": self.url} | (settings or {})
        self.process: subprocess.Popen[bytes] | ForkedProcess | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def start(self) -> None:
        self.launch()
        wait_until(self.is_healthy, f"healthy server; its log:\n{self.log_path.read_text()[-2000:]}")

    def launch(self) -> None:
        """Start the process without waiting for it."""
        arguments = ["serve", "--port", str(self.port), "--workers", str(self.workers)]
        with self.log_path.open("ab") as log:
            if self.is_forked:
                self.process = start_forked(arguments, self.environment, log)
            else:
                command = [sys.executable, "-m", "normstat", *arguments]
                self.process = subprocess.Popen(command, env=self.environment, stdout=log, stderr=log)

    def is_healthy(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.log_path.read_text()[-3000:]
        return health_status(self.port) == 200

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        assert self.process is not None
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(START_TIMEOUT_S)

    def normstat(self, *arguments: str) -> str:
        """The last line that another normstat command prints in the server's environment, "" where it prints nothing."""
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            status = start_forked(arguments, self.environment, output, errors).wait(START_TIMEOUT_S)
            output.seek(0)
            errors.seek(0)
            assert status == 0, errors.read().decode()
            return (output.read().decode().strip().splitlines() or [""])[-1]

    def log_in(self) -> contextlib.AbstractContextManager[httpx.Client]:
        return log_in(self.normstat("login-link"))


@contextlib.contextmanager
def log_in(link: str) -> Iterator[httpx.Client]:
    """A client with the session that the one-time link opens."""
    base, token = link.split("/login#token=")
    with httpx.Client(base_url=f"{base}/api/v1", headers={"X-Normstat-Request": "1"}, timeout=START_TIMEOUT_S) as client:
        answer = client.post("/auth/link", json={"token": token})
        assert answer.status_code == 200, answer.text
        yield client


@contextlib.contextmanager
def running_agent(
    server_url: str, token: str, folder: Path, stats: str, *, host: str, shell: str = "sh", options: tuple[str, ...] = ()
) -> Iterator[Path]:
    """The real agent, running the commands of `stats`; gives its spool folder."""
    folder.mkdir(parents=True, exist_ok=True)
    token_path = folder / "token"
    token_path.touch(0o600)
    token_path.write_text(token + "\n")
    stats_path = folder / "stats.conf"
    stats_path.write_text(stats)
    spool = folder / "spool"
    command = [
        shell, str(AGENT), "run", "--server", server_url, "--token-file", str(token_path), "--spool", str(spool),
        "--stats", str(stats_path), "--host", host, *options,
    ]  # fmt: skip
    with (folder / "agent.log").open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    try:
        yield spool
    finally:
        process.terminate()
        process.wait(START_TIMEOUT_S)


class Up:
    """`normstat up` with its own data folder, as `make run` starts it; Ctrl-C is sent as a terminal would."""

    def __init__(self, data_dir: Path, port: int, settings: dict[str, str] | None = None, *, options: tuple[str, ...] = ()) -> None:
        self.data_dir = data_dir
        self.port = port
        self.options = options
        self.url = f"http://127.0.0.1:{port}"
        self.out_path = data_dir.with_suffix(".out")
        self.link = ""
        self.settings = settings or {}

    def __enter__(self) -> "Up":
        with self.out_path.open("wb") as out:
            self.process = subprocess.Popen(self.command(), env=self.environment(), stdout=out, stderr=out, start_new_session=True)
        try:
            wait_until(self._is_up, "normstat up prints a login link", START_TIMEOUT_S)
        except AssertionError:
            self.interrupt()
            raise AssertionError(self.out_path.read_text()) from None
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.interrupt()

    def command(self) -> list[str]:
        return [sys.executable, "-m", "normstat", "up", "--port", str(self.port), "--data", str(self.data_dir), *self.options]

    def environment(self) -> dict[str, str]:
        named = ("DATABASE_URL", "NORMSTAT_DATABASE_URL")
        return {name: value for name, value in os.environ.items() if name not in named} | self.settings

    @property
    def seen_data_dir(self) -> Path:
        """The data folder, seen from here."""
        return self.data_dir

    @property
    def home(self) -> Path:
        """Where the database lies: in the data folder, unless its account cannot get there."""
        elsewhere = ROOT_STATE_DIR / quote(str(self.data_dir).strip("/"), safe="")
        return elsewhere if elsewhere.exists() else self.seen_data_dir

    @property
    def database_url(self) -> str:
        """The private database, for the role that the server uses."""
        environment = Path(f"/proc/{self.server}/environ").read_bytes().decode().split("\0")
        [url] = [value for name, _, value in (entry.partition("=") for entry in environment) if name == "NORMSTAT_DATABASE_URL"]
        return url

    @property
    def server(self) -> int:
        return self.process_of("-m normstat serve", f"--port {self.port} ")

    @property
    def postmaster(self) -> int:
        return int((self.home / "postgres/postmaster.pid").read_text().split()[0])

    def said(self) -> str:
        """What is on the terminal."""
        return self.out_path.read_text()

    def process_of(self, *words: str) -> int:
        """The process of ours whose command line has all the words."""
        [found] = [line for line in processes_naming(words[0]) if all(word in line for word in words)][:1]
        return int(found.split()[0])

    def _is_up(self) -> bool:
        assert self.process.poll() is None, self.out_path.read_text()
        found = re.search(r"\S+/login#token=\S+", self.out_path.read_text())
        self.link = found.group(0) if found else ""
        return bool(found) and "Ctrl-C" in self.out_path.read_text()

    def interrupt(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGINT)
            self.process.wait(START_TIMEOUT_S)


# Runs in a mount namespace of its own: $1 is the folder, $2 the size, the rest a command.
ON_SMALL_DISK = """set -eu
folder=$1; size=$2; shift 2
mount -t tmpfs -o "size=$size,mode=755" tmpfs "$folder"
exec "$@"
"""


class SmallDiskUp(Up):
    """`normstat up` whose data folder lies on a disk of its own, of `size`; `fill` and `make_room` take and give back what is free.

    The disk can be used only where file systems may be mounted: `is_possible`.
    """

    def __init__(self, disk: Path, port: int, size: str, settings: dict[str, str] | None = None) -> None:
        disk.mkdir()
        super().__init__(disk / "data", port, settings)
        self.disk = disk
        self.size = size
        self.out_path = disk.with_suffix(".out")

    def is_possible(self) -> bool:
        probe = ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", str(self.disk)]
        return have("unshare") and subprocess.run(probe, capture_output=True, check=False).returncode == 0

    def command(self) -> list[str]:
        return ["unshare", "--mount", "sh", "-c", ON_SMALL_DISK, "sh", str(self.disk), self.size, *super().command()]

    @property
    def seen_disk(self) -> Path:
        return Path(f"/proc/{self.process.pid}/root{self.disk}")

    @property
    def seen_data_dir(self) -> Path:
        return self.seen_disk / "data"

    @property
    def database_url(self) -> str:
        # The socket lies on the disk that only the product sees.
        return super().database_url.replace(quote(str(self.disk), safe="/"), quote(str(self.seen_disk), safe="/"))

    def n_free_bytes(self) -> int:
        return shutil.disk_usage(self.seen_disk).free

    def fill(self) -> None:
        """Takes all that is free, whatever others write meanwhile."""
        with (self.seen_disk / "filler").open("ab") as filler:
            piece = 32 << 20
            while piece >= 4096:
                try:
                    os.posix_fallocate(filler.fileno(), os.fstat(filler.fileno()).st_size, piece)
                except OSError:
                    piece //= 2

    def make_room(self) -> None:
        (self.seen_disk / "filler").unlink()


def have(program: str) -> bool:
    return shutil.which(program) is not None
