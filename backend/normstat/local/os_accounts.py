"""The accounts under which `normstat up`, started as root, runs its processes, and what these accounts can reach.

The server and the agent run as the account `normstat` if the machine has one, else under an unused user number. PostgreSQL runs as
`postgres`, else under another unused number, so that an attacker who takes over the server does not get the database's files.
`nobody` is not used: daemons of all kinds share it, and each could read what belongs to it.

Python, the checkout or the data often lie below a folder that is closed to other accounts, such as /root. A process then gets a
private view (a mount namespace) in which that folder holds only what the process needs.
"""

import ctypes
import os
import pwd
import stat
import subprocess
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

# The range that systemd assigns to services with dynamic users; like us, it first checks whether a number is in use.
FIRST_NUMBER: Final = 61184
LAST_NUMBER: Final = 65519

PR_SET_PDEATHSIG: Final = 1
PR_SET_KEEPCAPS: Final = 8
PR_CAPBSET_DROP: Final = 24
PR_SET_NO_NEW_PRIVS: Final = 38
PR_CAP_AMBIENT: Final = 47
PR_CAP_AMBIENT_RAISE: Final = 2
CAPSET_VERSION: Final = 0x20080522
MAX_CAPABILITY: Final = 63
CAP_DAC_READ_SEARCH: Final = 2
CAP_SYS_PTRACE: Final = 19
# The capabilities to read the I/O of all processes. Only the agent may get them, for its sampler of processes.
IO_CAPABILITIES: Final = frozenset({CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE})
CLONE_NEWNS: Final = 0x00020000
MS_NOSUID: Final = 0x2
MS_NODEV: Final = 0x4
MS_BIND: Final = 0x1000
MS_REC: Final = 0x4000
MS_SLAVE: Final = 0x80000

# Prints those of its arguments that pass the test in $1, each ended by a zero byte.
TEST_SCRIPT: Final = 'flag=$1; shift; for path do test "$flag" "$path" && printf "%s\\0" "$path"; done; exit 0'
MAX_LINKS: Final = 100
# The folder that hides a closed one is empty but for what is put into it.
VIEW_OPTIONS: Final = "mode=0711,size=1m"


@dataclass(frozen=True, slots=True)
class OsAccount:
    """An unprivileged account; `name` is its number if it has no name."""

    name: str
    uid: int
    gid: int


def find_account(name: str) -> OsAccount | None:
    """Return the account of that name, or None if the machine has none."""
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return None
    return OsAccount(name, entry.pw_uid, entry.pw_gid)


def numbered_account(purpose: str, *, is_taken: Callable[[int], bool] | None = None) -> OsAccount:
    """Return the number for that purpose: always the same one, unless an account of the machine has it."""
    is_taken = is_taken or _has_entry
    n_numbers = LAST_NUMBER - FIRST_NUMBER + 1
    first = zlib.crc32(purpose.encode())
    for step in range(n_numbers):
        number = FIRST_NUMBER + (first + step) % n_numbers
        if not is_taken(number):
            return OsAccount(str(number), number, number)
    raise OSError(f"every user number from {FIRST_NUMBER} to {LAST_NUMBER} is taken")


def _has_entry(number: int) -> bool:
    try:
        pwd.getpwuid(number)
    except KeyError:
        return False
    return True


def service_account(data_dir: Path) -> OsAccount | None:
    """Return the account of the server and the agent; None if we are not root and everything runs as ourselves."""
    if os.geteuid() != 0:
        return None
    return find_account("normstat") or numbered_account(f"service {data_dir}")


def database_account(data_dir: Path, cluster_dir: Path) -> OsAccount | None:
    """Return the account of PostgreSQL: the current owner of the cluster, unless that is root or nobody.

    Missing: None where we are not root.
    """
    if os.geteuid() != 0:
        return None
    nobody = find_account("nobody")
    if cluster_dir.is_dir():
        owner = cluster_dir.stat()
        if owner.st_uid not in {0, nobody.uid if nobody is not None else 0}:
            try:
                name = pwd.getpwuid(owner.st_uid).pw_name
            except KeyError:
                name = str(owner.st_uid)
            return OsAccount(name, owner.st_uid, owner.st_gid)
    return find_account("postgres") or numbered_account(f"database {data_dir}")


def reachable(account: OsAccount, flag: str, paths: Iterable[Path], view: "MountView | None" = None) -> set[Path]:
    """Return those paths for which `test FLAG PATH` is true for the account, within the view if there is one."""
    command = ["/bin/sh", "-c", TEST_SCRIPT, "sh", flag, *(str(path) for path in paths)]
    done = subprocess.run(  # noqa: S603
        command, stdout=subprocess.PIPE, preexec_fn=drop_privileges(account, view=view), check=True, cwd="/"
    )  # fmt: skip
    return {Path(os.fsdecode(name)) for name in done.stdout.split(b"\0") if name}


def can_reach(account: OsAccount, flag: str, path: Path) -> bool:
    """Return whether `test FLAG PATH` is true for the account."""
    return path in reachable(account, flag, [path])


@dataclass(frozen=True, slots=True)
class MountView:
    """The mount namespace of a process: of folders that are closed to its account, it sees only these paths.

    `links` are the symbolic links that lead to them, with their targets.
    """

    kept: Mapping[Path, tuple[Path, ...]]
    links: Mapping[Path, str]

    def enter(self) -> None:
        """Switch this process to the view, for good. Needs root; called in a child between fork and exec.

        Raises: OSError where the machine does not allow it, as in most containers
        """
        if not self.kept:
            return
        _call("unshare", CLONE_NEWNS)
        # Mounts made elsewhere propagate to here, not the other way round.
        _call("mount", None, b"/", None, MS_REC | MS_SLAVE, None)
        for closed, paths in self.kept.items():
            opened = [(path, os.open(path, os.O_PATH | os.O_CLOEXEC)) for path in paths]
            _call("mount", b"tmpfs", os.fsencode(closed), b"tmpfs", MS_NOSUID | MS_NODEV, VIEW_OPTIONS.encode())
            for path, number in opened:
                _make_mount_point(closed, path, is_folder=stat.S_ISDIR(os.fstat(number).st_mode))
                _call("mount", f"/proc/self/fd/{number}".encode(), os.fsencode(path), None, MS_BIND | MS_REC, None)
                os.close(number)
        for link, target in self.links.items():
            if any(closed in link.parents for closed in self.kept) and not os.path.lexists(link):
                for folder in [folder for folder in reversed(link.parents) if not folder.exists()]:
                    folder.mkdir()
                    folder.chmod(0o755)
                link.symlink_to(target)


def make_view(account: OsAccount, paths: Iterable[Path]) -> MountView:
    """Return the view in which the account reaches all the paths; an empty one if it reaches them anyway."""
    links: dict[Path, str] = {}
    wanted = sorted({_resolve(path, links) for path in paths})
    # A path below another one comes with it.
    wanted = [path for path in wanted if not any(other in path.parents for other in wanted)]
    ancestors = {ancestor for path in wanted for ancestor in path.parents}
    open_ones = reachable(account, "-x", sorted(ancestors))
    kept: dict[Path, tuple[Path, ...]] = {}
    for path in wanted:
        closed = next((ancestor for ancestor in reversed(path.parents) if ancestor not in open_ones), None)
        if closed is not None:
            kept[closed] = (*kept.get(closed, ()), path)
    return MountView(kept, links)


def _resolve(path: Path, links: dict[Path, str]) -> Path:
    """Return the path without symbolic links, and record the links in `links`."""
    parts, at = list(path.absolute().parts[1:]), Path("/")
    while parts:
        part = parts.pop(0)
        if part == "..":
            at = at.parent
            continue
        at /= part
        if at.is_symlink():
            if len(links) > MAX_LINKS:
                raise OSError(f"too many symbolic links on the way to {path}")
            links[at] = target = str(at.readlink())
            parts[:0] = Path(target).parts[1:] if target.startswith("/") else Path(target).parts
            at = Path("/") if target.startswith("/") else at.parent
    return at


def drop_privileges(
    account: OsAccount | None,
    *,
    view: MountView | None = None,
    death_signal: int | None = None,
    is_final: bool = False,
    kept: Collection[int] = (),
) -> Callable[[], None]:
    """Return the function that a child calls between fork and exec: it switches to the account and its view, for good.

    With a `death_signal` the kernel sends that signal when the parent ends, however it ends. `is_final`: no program that the child
    starts can gain privileges, such as by a set-user-ID bit. `kept`: the capabilities that it hands on to what it starts, if it has
    them all; else it has none.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    parent = os.getpid()

    def change() -> None:
        if account is not None:
            if view is not None:
                view.enter()
            _become(account, libc, kept)
        if hasattr(libc, "prctl"):
            if is_final:
                libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            if death_signal is not None:
                # After the change of user, which clears it.
                libc.prctl(PR_SET_PDEATHSIG, death_signal)
                if os.getppid() != parent:
                    os._exit(1)

    return change


def _become(account: OsAccount, libc: ctypes.CDLL, kept: Collection[int]) -> None:
    """Switch to the account. Hand on the capabilities and no other, or none where this process lacks one of them."""
    for number in set(range(MAX_CAPABILITY + 1)) - set(kept) if kept else ():
        # It refuses numbers that this kernel does not have.
        libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)
    if kept:
        libc.prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0)
    os.setgroups([])
    os.setgid(account.gid)
    os.setuid(account.uid)
    if not kept:
        return
    if _set_capabilities(libc, kept):
        for number in kept:
            libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, number, 0, 0)
    elif not _set_capabilities(libc, ()):
        raise OSError(ctypes.get_errno(), "capset")


def _set_capabilities(libc: ctypes.CDLL, numbers: Collection[int]) -> bool:
    mask = sum(1 << number for number in numbers)
    low, high = mask & 0xFFFFFFFF, mask >> 32
    # Effective, permitted and inheritable, for each half.
    header, data = (ctypes.c_uint32 * 2)(CAPSET_VERSION, 0), (ctypes.c_uint32 * 6)(low, low, low, high, high, high)
    return bool(libc.capset(header, data) == 0)


def chown(path: Path, account: OsAccount | None) -> None:
    """Give the file or folder to the account; does nothing unless we are root."""
    if account is not None:
        os.chown(path, account.uid, account.gid, follow_symlinks=False)


def chown_tree(folder: Path, account: OsAccount | None) -> None:
    """Give the folder and everything in it to the account, unless it owns the folder already.

    A file with several links is left alone: one of them may be another account's file.
    """
    if account is None or folder.stat().st_uid == account.uid:
        return
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(parent, name)
            status = path.lstat()
            if not stat.S_ISREG(status.st_mode) or status.st_nlink == 1:
                chown(path, account)
    # Last, so that an interrupted call is repeated.
    chown(folder, account)


def _make_mount_point(closed: Path, path: Path, *, is_folder: bool) -> None:
    """Create the mount point of the path and the folders above it; whatever the umask, the account must be able to traverse
    them.
    """
    folders = [folder for folder in reversed(path.parents) if closed in folder.parents]
    for folder in [*folders, path] if is_folder else folders:
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
    if not is_folder:
        path.touch()


def _call(name: str, *arguments: object) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, name):
        raise OSError(f"no {name}() here")
    if getattr(libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
