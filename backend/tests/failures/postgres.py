"""A PostgreSQL that is stopped, killed and started again in the middle of things, or that lives on a disk of a few dozen MB."""

import contextlib
import errno
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

import psycopg
from psycopg import sql

from tests.databases import OPTIONS, TEMPLATE, PlainServer, _free_port
from tests.debian_root import DatabaseUnavailable
from tests.unavailable import skip_without

START_TIMEOUT_S: Final = 100.0
PAGE_SIZE: Final = os.sysconf("SC_PAGE_SIZE")
# Acknowledged is committed: what is lost with the processes, not only with the machine, must not count.
DURABLE: Final = {"synchronous_commit": "on", "full_page_writes": "on"}

# Runs in a mount namespace of its own. $1 is the folder, $2 the size, $3 what fills it, the rest a command.
ON_SMALL_DISK: Final = """set -eu
folder=$1; size=$2; content=$3; shift 3
mount -t tmpfs -o "size=$size" tmpfs "$folder"
cp -a "$content" "$folder/"
exec "$@"
"""


class FragilePostgres(PlainServer):
    """Plain PostgreSQL with the migrated database `url_of_tests`; it starts again on the same port and data."""

    name = "fragile"

    def __init__(self, **changed_options: str) -> None:
        super().__init__(**(OPTIONS | DURABLE | changed_options))

    @property
    def url_of_tests(self) -> str:
        """The database that the tests use."""
        return self.url("normstat")

    def start(self) -> None:
        """Makes and starts it, with the database of the tests."""
        super().start()
        self.admin(sql.SQL("CREATE DATABASE normstat OWNER normstat TEMPLATE {}").format(sql.Identifier(TEMPLATE)))

    def make_folder(self, folder: Path) -> None:
        """Make a folder that its processes may write to."""
        folder.mkdir(mode=0o700)
        if self._account is not None:
            os.chown(folder, self._account.pw_uid, self._account.pw_gid)

    def crash(self) -> None:
        """Kills all of its processes at once, as a loss of power would."""
        assert self._process is not None
        family = [self._process.pid, *_children(self._process.pid)]
        for pid in family:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()
        self._process = None
        deadline = time.monotonic() + START_TIMEOUT_S
        while any(Path(f"/proc/{pid}").exists() for pid in family) and time.monotonic() < deadline:
            time.sleep(0.01)

    def stop_at_once(self) -> None:
        """An immediate shutdown: without a checkpoint, sessions are cut."""
        assert self._process is not None
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait()
        self._process = None

    def start_again(self) -> None:
        """Starts it where it was."""
        if self._process is None or self._process.poll() is not None:
            (self._data / "postmaster.pid").unlink(missing_ok=True)
            self._launch()
        self._wait()

    def _wait(self) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            with contextlib.suppress(psycopg.OperationalError):
                psycopg.connect(self.url("postgres"), connect_timeout=5).close()
                return
            assert time.monotonic() < deadline, self.log_path.read_text(errors="replace")[-2000:]
            time.sleep(0.02)


@contextlib.contextmanager
def running_postgres(**changed_options: str) -> Iterator[FragilePostgres]:
    """One that runs until the end, or the reason why there is none."""
    postgres = FragilePostgres(**changed_options)
    try:
        postgres.start()
    except DatabaseUnavailable as error:
        skip_without(error)
    try:
        yield postgres
    finally:
        postgres.stop()


class SmallDiskPostgres(FragilePostgres):
    """One whose data lie on a file system of `size`; `fill` and `make_room` take and give back what is free there."""

    def __init__(self, size: str, **changed_options: str) -> None:
        super().__init__(**changed_options)
        self._size = size
        self._disk = self.home / "disk"
        self._disk.mkdir(mode=0o711)

    def move_to_small_disk(self) -> None:
        """Stops it, and starts it with its data on the small disk.

        Raises: DatabaseUnavailable where nothing can be mounted
        """
        assert self._process is not None
        probe = subprocess.run(
            ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", str(self._disk)], capture_output=True, text=True, check=False
        )
        if probe.returncode != 0:
            raise DatabaseUnavailable(f"a disk that gets full: no file system can be mounted here ({probe.stderr.strip()})")
        self._process.send_signal(signal.SIGINT)
        self._process.wait()
        source, self._data = self._data, self._disk / "data"
        self._launch("unshare", "--mount", "sh", "-c", ON_SMALL_DISK, "sh", str(self._disk), self._size, str(source))
        self._wait()

    @property
    def disk(self) -> Path:
        """The small disk, seen from here."""
        assert self._process is not None
        return Path(f"/proc/{self._process.pid}/root{self._disk}")

    def n_free_bytes(self) -> int:
        """What is free on it."""
        return shutil.disk_usage(self.disk).free

    def fill(self, n_left: int) -> None:
        """Leaves at most so many bytes free. The database goes on writing meanwhile, so each step looks again at what is free."""
        n_filled = 0
        with (self.disk / "filler").open("wb") as filler:
            while (n_free := self.n_free_bytes()) > n_left:
                n_more = max((n_free - n_left) // 2, PAGE_SIZE)
                try:
                    os.posix_fallocate(filler.fileno(), n_filled, n_more)
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise
                else:
                    n_filled += n_more

    def make_room(self) -> None:
        """Gives back what `fill` took."""
        (self.disk / "filler").unlink()


def _children(pid: int) -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == pid:
                    yield int(entry.name)


class CopyOfPostgres(FragilePostgres):
    """A copy of another one's data by pg_basebackup: a hot standby that follows it, or a base backup that is recovered later."""

    name = "copy"

    def copy(self, primary: FragilePostgres, *options: str) -> None:
        """Copy the data of one that runs."""
        self._prepare()
        self.password = primary.password
        self.make_folder(self._data)
        source = f"host=127.0.0.1 port={primary.port} user={primary.initdb_role} password={primary.password}"
        command = [str(self._bin / "pg_basebackup"), f"-D{self._data}", f"-d{source}", "-cfast", "-Xstream", "--no-sync", *options]
        self._run(self._as_account(command))

    def follow(self, primary: FragilePostgres) -> None:
        """Copy the primary, and follow it as a hot standby."""
        self.copy(primary, "-R")
        self.port = _free_port()
        self._launch()
        self._wait()

    def promote(self) -> None:
        """Make it a primary; returns when it takes changes."""
        with psycopg.connect(self.admin_url("postgres"), autocommit=True) as connection:
            assert connection.execute("SELECT pg_promote()").fetchall() == [(True,)]

    def recover(self, archive: Path, until: datetime) -> None:
        """Start it at this instant, with the archived log; returns when it takes changes."""
        settings = {
            "restore_command": f"cp {archive}/%f %p",
            "recovery_target_time": until.isoformat(),
            "recovery_target_action": "promote",
        }
        with (self._data / "postgresql.auto.conf").open("a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
        (self._data / "recovery.signal").touch()
        self.port = _free_port()
        self._launch()
        self._wait()
        with psycopg.connect(self.admin_url("postgres"), autocommit=True) as connection:
            deadline = time.monotonic() + START_TIMEOUT_S
            while connection.execute("SELECT pg_is_in_recovery()").fetchone() == (True,):
                assert time.monotonic() < deadline, self.log_path.read_text(errors="replace")[-2000:]
                time.sleep(0.02)
