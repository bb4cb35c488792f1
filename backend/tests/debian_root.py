"""Private Debian roots, one with TimescaleDB, one with Ansible, and bare ones: made with mmdebstrap, once, and kept in the cache.

Trap: mmdebstrap mounts the machine's own /dev/shm, /dev/pts, /proc and /sys into the root that it makes. Killed, it leaves them
there, and whoever then removes the half-made root empties the machine's /dev/shm. So it runs in namespaces of its own, where mounts
and processes end with us however we end; and what is removed is looked at first, and never across a border of file systems.
"""

import contextlib
import ctypes
import fcntl
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CHECKOUT: Final = Path(__file__).resolve().parents[2]
DEBIAN_BIN: Final = "/usr/lib/postgresql/17/bin"
PR_SET_PDEATHSIG: Final = 1


class DatabaseUnavailable(Exception):
    """This machine cannot have that database; the message is the one line that a skip shows."""


@dataclass(frozen=True, slots=True)
class DebianRoot:
    """A root with some packages. `marker`: the last file that it must have; `what`: it is called so where it cannot be had."""

    name: str
    what: str
    packages: str
    marker: str
    release: str = "trixie"

    @property
    def path(self) -> Path:
        """Where it is, or will be."""
        cache = Path(os.environ.get("NORMSTAT_CACHE", CHECKOUT / ".cache"))
        variable = f"NORMSTAT_{self.name.upper().replace('-', '_')}"
        return Path(os.environ.get(variable, cache / self.name))

    @property
    def is_made(self) -> bool:
        """Return whether it is whole."""
        return (self.path / self.marker).exists()

    def require(self) -> Path:
        """The root, made (half a minute to two, once) where it is not there yet.

        Raises: DatabaseUnavailable
        """
        if os.geteuid() != 0:
            raise DatabaseUnavailable(f"{self.what}: its private Debian root needs root to start; run the tests as root")
        if not self.is_made:
            self._make()
        return self.path

    def _make(self) -> None:
        root = self.path
        if shutil.which("mmdebstrap") is None:
            raise DatabaseUnavailable(f"{self.what}: mmdebstrap is not installed (`make test-deps` installs it)")
        root.parent.mkdir(parents=True, exist_ok=True)
        with root.with_name(root.name + ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if self.is_made:  # another process made it meanwhile
                return
            # Made aside and renamed, so that an interrupted one is never taken for a whole one.
            scratch = root.with_name(root.name + ".new")
            remove_root(scratch)
            command = ["mmdebstrap", "--variant=apt", f"--include={self.packages}", self.release, str(scratch)]
            done = subprocess.run(
                # The first process of a namespace of processes takes all others with it.
                ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", *command],
                preexec_fn=_be_killed_with_parent,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode != 0:
                remove_root(scratch)
                last = (done.stderr.strip().splitlines() or ["no message"])[-1]
                raise DatabaseUnavailable(f"{self.what}: mmdebstrap could not make {root}: {last}")
            scratch.rename(root)


# Begins a script in mounts of its own, which end with it: "$root" is a copy of the cached Debian ("$BASE"), which is not changed.
COPY_OF_ROOT: Final = r"""
set -eu
mount -t tmpfs tmpfs "$SCRATCH"
mkdir "$SCRATCH/upper" "$SCRATCH/work" "$SCRATCH/root"
mount -t overlay overlay -o "lowerdir=$BASE,upperdir=$SCRATCH/upper,workdir=$SCRATCH/work" "$SCRATCH/root"
root=$SCRATCH/root
"""

TIMESCALE_ROOT: Final = DebianRoot(
    "timescale-root", "TimescaleDB", "postgresql-17,postgresql-17-timescaledb", f"{DEBIAN_BIN}/postgres".lstrip("/")
)
# Ansible runs in the root that it changes. util-linux has runuser; systemd, to enable units that it does not run.
ANSIBLE_ROOT: Final = DebianRoot(
    "ansible-root",
    "Ansible",
    "ansible-core,ansible-lint,python3-apt,postgresql,systemd,util-linux,curl",
    "usr/bin/ansible-lint",
)


def bare_root(release: str) -> DebianRoot:
    """A Debian with apt and nothing that it could do without: no Python, no Node, no compiler."""
    return DebianRoot(f"bare-{release}", f"a bare Debian ({release})", "ca-certificates", "usr/bin/apt-get", release)


def can_have_timescale() -> bool:
    """Return whether this machine has the private Debian root, or can make it."""
    return os.geteuid() == 0 and (shutil.which("mmdebstrap") is not None or TIMESCALE_ROOT.is_made)


def require_timescale_root() -> Path:
    """The root with TimescaleDB, made where it is not there yet.

    Raises: DatabaseUnavailable
    """
    return TIMESCALE_ROOT.require()


def remove_root(scratch: Path) -> None:
    """Removes a half-made root, unless something is mounted in it: then what would be removed is not ours.

    Raises: DatabaseUnavailable
    """
    mounted = mounts_below(scratch)
    if mounted:
        raise DatabaseUnavailable(
            f"an interrupted mmdebstrap left mounts; `umount {' '.join(mounted)}`, only then remove {scratch}"
        )
    if scratch.exists():
        subprocess.run(["rm", "-rf", "--one-file-system", "--", str(scratch)], check=True)


def mounts_below(folder: Path) -> list[str]:
    """What is mounted on the folder or below it, the innermost first."""
    begin = str(folder.resolve())
    # Blanks and the like are written in octal: \\040.
    points = [line.split()[4].encode().decode("unicode_escape") for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    return sorted((point for point in points if point == begin or point.startswith(begin + "/")), reverse=True)


def _be_killed_with_parent() -> None:
    # unshare ignores the signals that ask.
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    # Ahead of the tests: they say what is missing.
    with contextlib.suppress(DatabaseUnavailable):
        require_timescale_root()
