"""`normstat up`: everything on this machine: database, server, and an agent for this host. `make run` calls it."""

import contextlib
import ctypes
import fcntl
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from types import FrameType
from typing import Annotated, ClassVar, Final

import typer

from normstat.embedded import PR_SET_PDEATHSIG, EmbeddedPostgres
from normstat.errors import NormstatError
from normstat.settings import load_settings

SERVER_START_TIMEOUT_S: Final = 60.0
STOP_TIMEOUT_S: Final = 15.0
POLL_S: Final = 0.2
# A server that falls over this often within the time is not restarted any more: the log must be read.
MOST_RESTARTS: Final = 5
RESTART_WINDOW_S: Final = 60.0
CHECKOUT: Final = Path(__file__).resolve().parents[3]

app = typer.Typer()


class UpError(NormstatError):
    """Something that `normstat up` needs is not there; the message says what to do."""

    code: ClassVar[str] = "up"


def say(text: str) -> None:
    """Prints one line at once, also into a pipe."""
    typer.echo(text)
    sys.stdout.flush()


class Child:
    """A process of ours with a log file; it dies with us even if we are killed outright."""

    def __init__(self, name: str, command: list[str], log_path: Path, environment: dict[str, str]) -> None:
        self.name = name
        self.log_path = log_path
        libc = ctypes.CDLL(None, use_errno=True)

        def die_with_parent() -> None:
            if hasattr(libc, "prctl"):
                libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)

        with log_path.open("ab") as log:
            self.process = subprocess.Popen(  # noqa: S603
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,
                preexec_fn=die_with_parent,  # noqa: PLW1509
            )

    def stop(self) -> None:
        """Asks the process to end, and insists after a while."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def tail(self, n: int = 8) -> str:
        """The last lines of its log."""
        return "\n".join("  " + line for line in self.log_path.read_text(errors="replace").splitlines()[-n:])


class Interrupted(Exception):
    """Somebody wants us to stop."""


def _on_signal(number: int, frame: FrameType | None) -> None:
    del number, frame
    # Only the first one: stopping must not be torn apart by an impatient second Ctrl-C.
    for stop_signal in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(stop_signal, signal.SIG_IGN)
    raise Interrupted


@contextlib.contextmanager
def _locked(data_dir: Path) -> Iterator[None]:
    """Holds the data folder for this process alone."""
    with (data_dir / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UpError(f"{data_dir} is in use by another normstat; stop it, or choose another folder with DATA=") from None
        yield


def _require_free_port(host: str, port: int) -> None:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise UpError(f"cannot listen on {host} port {port}: {error.strerror}; choose another with PORT=") from error


class Up:
    """The running whole. `run` returns when it was interrupted; everything it started is gone then."""

    def __init__(self, data_dir: Path, host: str, port: int, *, workers: int, with_agent: bool) -> None:
        self.data_dir = data_dir
        self.log_dir = data_dir / "log"
        self.host = host
        self.port = port
        self.workers = workers
        self.with_agent = with_agent
        self.url = f"http://{'127.0.0.1' if host in ('0.0.0.0', '::') else host}:{port}"  # noqa: S104
        self.environment = dict(os.environ)
        self.stack = contextlib.ExitStack()

    def run(self) -> None:
        """Starts everything in the order of the data's way, waits, and stops it in the opposite order."""
        for stop_signal in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(stop_signal, _on_signal)
        self.log_dir.mkdir(parents=True, exist_ok=True)
        with self.stack:
            try:
                self.stack.enter_context(_locked(self.data_dir))
                _require_free_port(self.host, self.port)
                self._start_database()
                self._normstat("migrate")
                server = self._start_server()
                link = self._normstat("login-link").strip().splitlines()[-1]
                say("")
                say(f"  normstat is running   {self.url}")
                say(f"  log in once with      {link}")
                say(f"  data and logs         {self.data_dir}")
                self._start_agent()
                say("")
                say("Ctrl-C stops everything; the data stays.")
                self._watch(server)
            except Interrupted:
                say("\nstopping ...")
        say("stopped")

    def _start_database(self) -> None:
        settings = load_settings()
        if "database_url" in settings.model_fields_set:
            say("database: the one that DATABASE_URL names")
        else:
            postgres = EmbeddedPostgres(self.data_dir, say)
            self.stack.callback(postgres.stop)
            postgres.start()
            extra = " with TimescaleDB" if postgres.binaries.has_timescaledb else ""
            say(f"database: private PostgreSQL {postgres.binaries.major}{extra}, {postgres.binaries.origin}")
            self.environment["NORMSTAT_DATABASE_URL"] = postgres.url
        self.environment["NORMSTAT_PUBLIC_URL"] = self.url
        if settings.import_dir is None:
            self.environment["NORMSTAT_IMPORT_DIR"] = str(self.data_dir / "imports")
        page_dir = CHECKOUT / "frontend/dist"
        if settings.page_dir is None and page_dir.is_dir():
            self.environment["NORMSTAT_PAGE_DIR"] = str(page_dir)

    def _normstat(self, *arguments: str) -> str:
        """Standard output of another normstat command in the same environment."""
        command = [sys.executable, "-m", "normstat", *arguments]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode != 0:
            raise UpError(f"'normstat {arguments[0]}' failed: {done.stderr.strip()[-1500:]}")
        return done.stdout

    def _start_server(self) -> Child:
        command = [sys.executable, "-m", "normstat", "serve", "--host", self.host, "--port", str(self.port)]
        command += ["--workers", str(self.workers)]
        server = Child("server", command, self.log_dir / "server.log", self.environment)
        self.stack.callback(server.stop)
        deadline = time.monotonic() + SERVER_START_TIMEOUT_S
        while time.monotonic() < deadline and server.process.poll() is None:
            with contextlib.suppress(OSError, HTTPException):
                connection = HTTPConnection("127.0.0.1" if self.host == "0.0.0.0" else self.host, self.port, timeout=2)  # noqa: S104
                connection.request("GET", "/api/v1/health")
                if connection.getresponse().status == 200:
                    return server
            time.sleep(POLL_S)
        raise UpError(f"the server did not start; {server.log_path} ends with:\n{server.tail()}")

    def _start_agent(self) -> None:
        script = CHECKOUT / "agents/normstat-agent"
        stats = CHECKOUT / "agents" / f"stats.conf.{'sunos' if platform.system() == 'SunOS' else 'linux'}"
        if not self.with_agent or not script.exists():
            say("  agent                 none for this host")
            return
        missing = [tool for tool in _tools_of(stats) if shutil.which(tool) is None]
        name = platform.node()
        agent_dir = self.data_dir / "agent"
        agent_dir.mkdir(mode=0o700, exist_ok=True)
        token_path = agent_dir / "token"
        if not token_path.exists():
            token = (
                self._normstat("agent-token", "create", f"agent of {name} (normstat up)", "--host", name).strip().splitlines()[-1]
            )
            token_path.touch(0o600)
            token_path.write_text(token + "\n")
        command = [
            "sh", str(script), "run", "--server", self.url, "--token-file", str(token_path), "--spool", str(agent_dir / "spool"),
            "--stats", str(stats), "--host", name,
        ]  # fmt: skip
        agent = Child("agent", command, self.log_dir / "agent.log", dict(os.environ))
        self.stack.callback(agent.stop)
        say(f"  agent                 {name}: {', '.join(tool for tool in _tools_of(stats) if tool not in missing) or 'nothing'}")
        if missing:
            say(f"  not installed here    {', '.join(missing)} (package procps has vmstat, package sysstat the others)")

    def _watch(self, server: Child) -> None:
        """Waits for the end; a server that fell over is started again, unless it does so all the time."""
        restarts: list[float] = []
        while True:
            time.sleep(POLL_S)
            if server.process.poll() is None:
                continue
            now = time.monotonic()
            restarts = [at for at in restarts if now - at < RESTART_WINDOW_S] + [now]
            if len(restarts) > MOST_RESTARTS:
                raise UpError(f"the server keeps ending; {server.log_path} ends with:\n{server.tail()}")
            say(f"the server ended (exit status {server.process.returncode}); starting it again")
            server = self._start_server()


def _tools_of(stats: Path) -> list[str]:
    """The program of each line `name<TAB>command` of an agent's stats.conf, each once."""
    lines = [line for line in stats.read_text().splitlines() if line.strip() and not line.startswith("#") and "\t" in line]
    return list(dict.fromkeys(line.split("\t")[1].split()[0] for line in lines))


@app.command()
def up(
    data: Annotated[Path, typer.Option(help="folder of the database, the agent's spool and the logs")] = Path("data"),
    host: Annotated[str, typer.Option(help="address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="port to listen on", min=1, max=65535)] = 8080,
    workers: Annotated[int | None, typer.Option(help="processes of the server; NORMSTAT_WORKERS, or 1", min=1, max=64)] = None,
    agent: Annotated[bool, typer.Option(help="watch this host too")] = True,  # noqa: FBT002
) -> None:
    """Run database, server and an agent for this host; Ctrl-C stops them."""
    data_dir = data.resolve()
    data_dir.mkdir(parents=True, exist_ok=True)
    try:
        Up(data_dir, host, port, workers=workers or load_settings().workers, with_agent=agent).run()
    except NormstatError as error:
        typer.echo(f"normstat: {error.message}", err=True)
        raise typer.Exit(1) from error
