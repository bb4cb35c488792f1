"""`normstat up`: runs everything on this machine: database, server, and an agent for this host. `make run` calls it."""

import contextlib
import fcntl
import importlib.util
import os
import platform
import re
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Annotated, ClassVar, Final

import typer

import normstat
from normstat.cli.agent_tools import tools_of
from normstat.cli.up_process import go_on
from normstat.cli.up_settings import UpSettings, read_settings
from normstat.errors import NormstatError
from normstat.local.aside import call_aside
from normstat.local.disk import DiskMonitor
from normstat.local.log_files import LogFiles
from normstat.local.os_accounts import (
    IO_CAPABILITIES,
    MountView,
    OsAccount,
    chown,
    chown_tree,
    drop_privileges,
    make_view,
    reachable,
    service_account,
)
from normstat.local.processes import ChildProcess, ServiceProcess, Supervisor
from normstat.local.running_installation import LOCK, local_url, note_running
from normstat.runtime.installed_files import find_agents_dir, program_dir
from normstat.server.embedded import EmbeddedPostgres, Watcher

SERVER_START_TIMEOUT_S: Final = 60.0
POLL_S: Final = 0.2
# While all is well; the end of a process is noticed at once.
CALM_POLL_S: Final = 1.0
MAX_SIGNALS: Final = 4096
# An agent that has run for this long has found its token, its tools and its spool.
AGENT_READY_S: Final = 2.0
CONNECT_TIMEOUT_S: Final = 0.5
HEALTH_TIMEOUT_S: Final = 2.0
MAX_STATUS_LINE: Final = 1000
# Seconds between two reports of our own database.
RECORD_S: Final = 10

app = typer.Typer(add_completion=False)


def _compile_modules() -> None:
    import compileall  # noqa: PLC0415

    compileall.compile_dir(Path(normstat.__file__).parent, quiet=2)


def _find_module(name: str) -> str:
    """Return the file of a module, without importing it."""
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        raise UpError(f"the Python package {name} is not installed; install normstat again (in a checkout: `make setup`)")
    return found.origin


def _is_healthy(address: str, port: int, *, by_tls: bool) -> bool:
    """Return whether the server answers that all is well. http.client would bring the modules that read mail."""
    try:
        with contextlib.ExitStack() as stack:
            connection = stack.enter_context(socket.create_connection((address, port), HEALTH_TIMEOUT_S))
            if by_tls:
                connection = stack.enter_context(_begin_tls(connection))
            connection.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            with connection.makefile("rb") as answer:
                return answer.readline(MAX_STATUS_LINE).split()[1:2] == [b"200"]
    except OSError:
        return False


def _begin_tls(connection: socket.socket) -> socket.socket:
    import ssl  # noqa: PLC0415

    # Our own server, at an address of this machine that its certificate need not name.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context.wrap_socket(connection)


class UpError(NormstatError):
    """Something that `normstat up` needs is missing; the message says what to do."""

    code: ClassVar[str] = "up"


def say(text: str) -> None:
    """Print one line at once, also into a pipe; a closed terminal stops nothing."""
    with contextlib.suppress(OSError):
        typer.echo(text)
        sys.stdout.flush()


class Interrupted(Exception):
    """A stop was requested."""


def _on_signal(number: int, frame: FrameType | None) -> None:
    del number, frame
    # Only the first one: an impatient second Ctrl-C must not interrupt stopping.
    for stop_signal in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(stop_signal, signal.SIG_IGN)
    raise Interrupted


def _on_child(number: int, frame: FrameType | None) -> None:
    del number, frame


@contextlib.contextmanager
def _locked(data_dir: Path) -> Iterator[int]:
    """Lock the data folder for this process; provide the number of the open lock file."""
    # Not emptied: it may say who runs there.
    with contextlib.ExitStack() as stack:
        lock = os.open(data_dir / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        stack.callback(os.close, lock)
        os.fchmod(lock, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UpError(
                f"{data_dir} is used by another normstat; stop it, or choose another folder with --data (of make run: DATA=)"
            ) from None
        yield lock


def _require_free_port(host: str, port: int) -> None:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise UpError(
                f"cannot listen on {host} port {port}: {error.strerror}; choose another with --port (of make run: PORT=)"
            ) from error


class Up:
    """Runs everything. `run` returns after an interrupt, when everything it started has ended."""

    farewell: ClassVar[str] = "Ctrl-C stops everything; the data stays."

    def __init__(
        self,
        data_dir: Path,
        host: str,
        port: int,
        settings: UpSettings,
        *,
        workers: int,
        with_agent: bool,
        backup: Path | None = None,
    ) -> None:
        self.data_dir = data_dir
        self.backup = backup
        self.host = host
        self.port = port
        self.workers = workers
        self.with_agent = with_agent
        if settings.tls is None:
            self.url = local_url(host, port, by_tls=False)
        else:
            # Browsers and the agent compare the name with the certificate's.
            self.url = settings.tls.url or local_url(settings.tls.host or host, port, by_tls=True)
        self.environment = dict(os.environ) | (settings.tls.environment if settings.tls else {})
        self.stack = contextlib.ExitStack()
        self.settings = settings
        self.account: OsAccount | None = None
        self.view: MountView | None = None
        self.logs = LogFiles(
            data_dir / "log",
            ["up", "postgres", "server", "agent"],
            max_bytes=self.settings.log_max_bytes,
            n_files=self.settings.log_files,
        )
        self.supervisors: dict[str, Supervisor] = {}
        self.disks: list[DiskMonitor] = []

    def run(self) -> None:
        """Start everything in the order of the data flow, wait, and stop it in reverse order."""
        for stop_signal in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(stop_signal, _on_signal)
        with self.stack:
            try:
                lock_file = self.stack.enter_context(_locked(self.data_dir))
                _require_free_port(self.host, self.port)
                note_running(lock_file, self.url)
                self.logs.start()
                self.stack.callback(self.logs.close)
                self._watch_disk(self.data_dir)
                postgres = self._start_database()
                if postgres is not None:
                    note_running(lock_file, self.url, postgres.home, postgres.socket_dir)
                self._choose_account(postgres)
                if self.backup is not None:
                    self._restore(self.backup)
                self.normstat("migrate")
                self._fill()
                self._start_server()
                link = self._make_login_link()
                say("")
                say(f"  normstat is running   {self.url}")
                say(f"  log in once with      {link}")
                say(f"  data and logs         {self.data_dir}")
                self._start_agent(postgres)
                self._say_more()
                say("")
                say(self.farewell)
                self._watch()
            except Interrupted:
                say("\nstopping ...")
        say("stopped")

    def _fill(self) -> None:
        """Fill the database before the server starts; here it keeps what it has."""

    def _say_more(self) -> None:
        """Print what else there is; here nothing."""

    def _make_login_link(self) -> str:
        """Return the address that logs in once."""
        return self.normstat("login-link").strip().splitlines()[-1]

    def _tell(self, text: str) -> None:
        """Report an event with its time, on the terminal and in the log of this command."""
        line = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%SZ}  {text}"
        say(line)
        self.logs.write("up", line)

    def _watch_disk(self, folder: Path) -> None:
        watch = DiskMonitor(folder, self._tell)
        watch.check()
        self.disks.append(watch)

    def _start_database(self) -> EmbeddedPostgres | None:
        self.environment["NORMSTAT_PUBLIC_URL"] = self.url
        if self.settings.has_database_url:
            say("database: the one that DATABASE_URL names")
            return None
        postgres = EmbeddedPostgres(
            self.data_dir, say, output=self.logs.output("postgres"), read_log=lambda: self.logs.tail("postgres")
        )
        if postgres.home.stat().st_dev != self.data_dir.stat().st_dev:
            self._watch_disk(postgres.home)
        self.stack.callback(postgres.stop)
        postgres.start()
        extra = " with TimescaleDB" if postgres.binaries.has_timescaledb else ""
        say(f"database: private PostgreSQL {postgres.binaries.version}{extra}, {postgres.binaries.origin}")
        self.environment["NORMSTAT_DATABASE_URL"] = postgres.url
        self.supervisors["database"] = Supervisor(postgres, self._tell)
        return postgres

    def _restore(self, backup: Path) -> None:
        """Restore a backup into the database before anything else uses it; its progress is shown."""
        say(f"restoring the backup in {backup}")
        # As ourselves: a backup is readable for its owner alone.
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-m", "normstat", "restore", str(backup)],
            env=self.environment,
            check=False,
            preexec_fn=drop_privileges(None, death_signal=signal.SIGTERM),
        )
        if done.returncode != 0:
            raise UpError("nothing was started, because the backup was not restored")
        # The restored database does not know the token of this host's agent.
        (self.data_dir / "agent" / "token").unlink(missing_ok=True)

    def _choose_account(self, postgres: EmbeddedPostgres | None) -> None:
        """When run as root, choose the account of server and agent, and hand over their folders."""
        imports = self.settings.import_dir or self.data_dir / "imports"
        account = service_account(self.data_dir)
        if account is not None:
            # The account cannot store compiled bytecode.
            call_aside(_compile_modules)
            folders = [self.data_dir, program_dir(), *map(Path, (sys.prefix, sys.base_prefix, sys.base_exec_prefix))]
            folders += [postgres.home] if postgres is not None else []
            chosen = [imports, self.settings.page_dir, self.settings.agents_dir, self.settings.migrations_dir]
            chosen += self.settings.tls.files if self.settings.tls else []
            view = make_view(
                account, [Path(sys.executable), *folders, *(path for path in chosen if path is not None and path.exists())]
            )
            files = [Path(file) for file in (os.__file__, normstat.__file__, _find_module("psycopg"))]
            try:
                is_enough = reachable(account, "-r", files, view) == set(files) and self.data_dir in reachable(
                    account, "-x", [self.data_dir], view
                )
            except subprocess.SubprocessError:
                # Most containers do not allow a mount namespace.
                is_enough = False
            if is_enough:
                self.account, self.view = account, view
                self.environment["HOME"] = str(self.data_dir)
                say(
                    f"accounts: {account.name} for server and agent"
                    + (f", {postgres.account_name} for PostgreSQL" if postgres else "")
                )
            else:
                closed = ", ".join(map(str, view.kept)) or str(program_dir())
                self._tell(
                    f"server and agent run as root: the account {account.name!r} cannot reach what lies in {closed}; move the "
                    "program, Python and the data to folders that every account can enter, or run normstat as an ordinary user"
                )
        if self.settings.import_dir is None:
            self._make_folder(imports)
            self.environment["NORMSTAT_IMPORT_DIR"] = str(imports)
        elif self.account is not None and imports.exists() and imports not in reachable(self.account, "-w", [imports], self.view):
            self._tell(
                f"files cannot be imported on the page: {self.account.name!r} cannot write to NORMSTAT_IMPORT_DIR, {imports}"
            )

    def _make_folder(self, folder: Path) -> None:
        """Create a folder of the server or the agent; one that an earlier version created as root is handed over."""
        folder.mkdir(mode=0o700, exist_ok=True)
        chown_tree(folder, self.account)
        folder.chmod(0o700)

    def normstat(self, *arguments: str) -> str:
        """Return the standard output of another normstat command in the same environment."""
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-m", "normstat", *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            preexec_fn=drop_privileges(self.account, view=self.view, death_signal=signal.SIGTERM, is_final=True),
        )
        if done.returncode != 0:
            raise UpError(f"'normstat {arguments[0]}' failed: {done.stderr.strip()[-1500:]}")
        return done.stdout

    def _supervise(
        self, name: str, start: Callable[[], ChildProcess], is_ready: Callable[[], bool], needs: str | None = None
    ) -> ServiceProcess:
        """Start a process and supervise it."""

        def can_launch() -> bool:
            return needs not in self.supervisors or self.supervisors[needs].is_up

        process = ServiceProcess(name, start, is_ready, can_launch, read_log=lambda: self.logs.tail(name, 1))
        self.stack.callback(process.stop)
        process.launch()
        self.supervisors[name] = Supervisor(process, self._tell)
        return process

    def _start_server(self) -> None:
        command = [sys.executable, "-m", "normstat", "serve", "--host", self.host, "--port", str(self.port)]
        command += ["--workers", str(self.workers)]
        address = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104

        def start() -> ChildProcess:
            return self._child(command, "server", self.environment)

        def takes_connections() -> bool:
            with contextlib.suppress(OSError), socket.create_connection((address, self.port), CONNECT_TIMEOUT_S):
                return True
            return False

        server = self._supervise("server", start, takes_connections, needs="database")
        deadline = time.monotonic() + SERVER_START_TIMEOUT_S
        while time.monotonic() < deadline and server.poll() is None:
            if _is_healthy(address, self.port, by_tls=self.settings.tls is not None):
                return
            time.sleep(POLL_S)
        tail = "\n".join("  " + line for line in self.logs.tail("server"))
        raise UpError(f"the server did not start; {self.logs.path('server')} ends with:\n{tail}")

    def _child(
        self, command: list[str], name: str, environment: dict[str, str], kept: Collection[int] = frozenset()
    ) -> ChildProcess:
        return ChildProcess(
            command,
            output=self.logs.output(name),
            environment=environment,
            account=self.account,
            view=self.view,
            is_final=True,
            kept=kept,
        )

    def _start_agent(self, postgres: EmbeddedPostgres | None) -> None:
        agents_dir = find_agents_dir(self.settings.agents_dir)
        if not self.with_agent or agents_dir is None or not (agents_dir / "normstat-agent").is_file():
            say("  agent                 none for this host")
            return
        script = agents_dir / "normstat-agent"
        stats = agents_dir / f"stats.conf.{'sunos' if platform.system() == 'SunOS' else 'linux'}"
        name = platform.node()
        agent_dir = self.data_dir / "agent"
        self._make_folder(agent_dir)
        watcher = None if postgres is None else postgres.watcher
        if watcher is not None:
            stats = self._record_database(watcher, stats.read_text(), agent_dir)
        tools = tools_of(stats, _agent_path(script))
        token_path = agent_dir / "token"
        if not token_path.is_file():
            made = self.normstat("agent-token", "create", f"agent of {name} (normstat up)", "--host", name)
            self._write_for_agent(token_path, made.strip().splitlines()[-1])
        command = [
            "sh", str(script), "run", "--server", self.url, "--token-file", str(token_path), "--spool", str(agent_dir / "spool"),
            "--stats", str(stats), "--host", name,
        ]  # fmt: skip
        if self.settings.tls and self.settings.tls.trusted and "NORMSTAT_CA_FILE" not in os.environ:
            command += ["--ca-file", str(self.settings.tls.trusted)]
        environment = dict(os.environ) | {"HOME": self.environment.get("HOME", "/")}

        # Without setpriv the agent could not give them up again.
        can_part = platform.system() == "Linux" and shutil.which("setpriv", path=_agent_path(script)) is not None
        kept = IO_CAPABILITIES if can_part else frozenset()

        def start() -> ChildProcess:
            return self._child(command, "agent", environment, kept)

        agent = self._supervise("agent", start, lambda: time.monotonic() - agent.launched_at > AGENT_READY_S)
        say(f"  agent                 {name}: {', '.join(tools.recorders) or 'nothing'}")
        if tools.missing:
            say(f"  not installed here    {', '.join(tools.missing)}")
        if platform.system() == "Linux" and os.geteuid() != 0:
            say("                        not recorded: the I/O of other accounts' processes, which takes root")
        elif platform.system() == "Linux" and self.account is not None and not can_part:
            say("                        not recorded: the I/O of other accounts' processes, without setpriv (package util-linux)")

    def _record_database(self, watcher: Watcher, stats: str, agent_dir: Path) -> Path:
        """Return the list of what the agent records, with our own database at its end."""
        passwords = agent_dir / "pgpass"
        self._write_for_agent(passwords, f"*:*:*:*:{watcher.password}")
        conninfo = shlex.quote(watcher.conninfo(passwords))
        self._write_for_agent(
            agent_dir / "stats.conf", f"{stats.rstrip()}\npostgresql\t?query {RECORD_S} {watcher.psql} {conninfo}"
        )
        return agent_dir / "stats.conf"

    def _write_for_agent(self, path: Path, text: str) -> None:
        # The folder belongs to the agent: never write to a file that it may have planted there.
        path.unlink(missing_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text + "\n")
        chown(path, self.account)

    def _watch(self) -> None:
        """Wait for the end; restart processes that end earlier."""
        with _woken_by_children() as child_ended:
            poll = select.poll()
            poll.register(child_ended, select.POLLIN)
            while True:
                is_calm = all(each.is_up for each in self.supervisors.values()) and not any(disk.is_full for disk in self.disks)
                with contextlib.suppress(BlockingIOError):
                    if poll.poll(1000 * (CALM_POLL_S if is_calm else POLL_S)):
                        child_ended.recv(MAX_SIGNALS)
                has_room = [disk.check() for disk in self.disks]
                if any(has_room):
                    for supervisor in self.supervisors.values():
                        supervisor.retry_now()
                for supervisor in self.supervisors.values():
                    supervisor.check()
                self.logs.check(self._tell)


@contextlib.contextmanager
def _woken_by_children() -> Iterator[socket.socket]:
    """Provide a socket that becomes readable when a child ends."""
    ours, theirs = socket.socketpair()
    ours.settimeout(0)
    theirs.settimeout(0)
    with ours, theirs:
        # There is no wake-up without a handler of Python's.
        signal.signal(signal.SIGCHLD, _on_child)
        signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
        try:
            yield ours
        finally:
            # Children that end while everything is stopped would write to a closed socket.
            signal.set_wakeup_fd(-1)


def _agent_path(script: Path) -> str:
    """Return where an agent that runs in this environment looks for programs: in NORMSTAT_PATH or its own PATH, not in ours."""
    found = re.search(r"^PATH=\$\{NORMSTAT_PATH:-([^}]*)\}$", script.read_text(), re.MULTILINE)
    return os.environ.get("NORMSTAT_PATH") or (found[1] if found else os.defpath)


@app.command()
def up(
    data: Annotated[Path, typer.Option(help="folder for the database, the agent's spool and the logs")] = Path("data"),
    host: Annotated[str, typer.Option(help="address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="port to listen on", min=1, max=65535)] = 8080,
    workers: Annotated[
        int | None, typer.Option(help="number of server processes; default: NORMSTAT_WORKERS, or 1", min=1, max=64)
    ] = None,
    agent: Annotated[bool, typer.Option(help="run an agent for this host")] = True,  # noqa: FBT002
    *,
    restore: Annotated[
        Path | None, typer.Option(metavar="DIR", help="first restore the backup in DIR, into a data folder without data")
    ] = None,
    tls_cert: Annotated[Path | None, typer.Option(help="PEM file of the certificate and its chain: speak HTTPS")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="PEM file of its key, if it is not in the same file")] = None,
) -> None:
    """Run database, server and an agent for this host; Ctrl-C stops them."""
    data_dir = data.resolve()
    if not data_dir.exists():
        data_dir.mkdir(parents=True)
        # When we are root, other accounts can reach their own files, but not list the folder.
        data_dir.chmod(0o711 if os.geteuid() == 0 else 0o700)
    os.umask(0o077)
    for variable, path in (("NORMSTAT_TLS_CERT", tls_cert), ("NORMSTAT_TLS_KEY", tls_key)):
        if path is not None:
            os.environ[variable] = str(path)
    try:
        settings = call_aside(read_settings)
    except NormstatError as error:
        typer.echo(f"normstat: {error.message}", err=True)
        raise typer.Exit(1) from error
    backup = None if restore is None else restore.resolve()
    go_on(Up, data_dir, host, port, settings, workers=workers or settings.workers, with_agent=agent, backup=backup)
