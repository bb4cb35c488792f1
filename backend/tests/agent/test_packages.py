"""The packages of the agent: built without root, twice to the same bytes; installed, upgraded and removed in a clean Debian."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.agent.conftest import require_program
from tests.agent.host import AGENTS
from tests.debian_root import COPY_OF_ROOT, DatabaseUnavailable, require_timescale_root

NEWER: Final = "9.8.7"
PLACES: Final = {
    "/opt/normstat/normstat-agent": "-rwxr-xr-x",
    "/opt/normstat/stats.conf": "-rw-r--r--",
    "/opt/normstat/agent.conf": "-rw-r--r--",
    "/usr/lib/systemd/system/normstat-agent.service": "-rw-r--r--",
    "/usr/share/man/man1/normstat-agent.1.gz": "-rw-r--r--",
    "/usr/share/doc/normstat-agent/copyright": "-rw-r--r--",
    "/usr/share/doc/normstat-agent/README.md": "-rw-r--r--",
}

# Runs in namespaces of its own: whatever it mounts or starts ends with it, and the cached Debian below is not changed.
# The agent cannot reach its server, so everything stays in the spool.
LIFE: Final = (
    COPY_OF_ROOT
    + r"""
mount -t proc proc "$SCRATCH/root/proc"
cp "$OLD" "$SCRATCH/root/old" && cp "$NEW" "$SCRATCH/root/new"
manage() {
    case $KIND in
    deb) chroot "$SCRATCH/root" dpkg "$@" ;;
    rpm) rpm --root "$SCRATCH/root" --nodeps "$@" ;;
    esac
}
agent() {
    chroot "$SCRATCH/root" /opt/normstat/normstat-agent "$@" </dev/null
}
home=$SCRATCH/root/opt/normstat
state=$SCRATCH/root/var/lib/normstat-agent
echo "== install"
if [ "$KIND" = deb ]; then manage -i /old; else manage -U "$SCRATCH/root/old"; fi
agent version
echo "== configure"
sed -i 's,^#server=.*,server=http://127.0.0.1:9,' "$home/agent.conf"
printf 'df_linux\t@60 df -k\n' >>"$home/stats.conf"
echo a-token | chroot "$SCRATCH/root" install -o normstat-agent -m 600 /dev/stdin /var/lib/normstat-agent/token
agent start || :
n=0
until [ "$(cat "$state"/spool/proc_linux.*.raw | wc -c)" -gt 3000 ]; do
    n=$((n + 1)) && [ "$n" -lt 600 ] && sleep 0.1
done
until grep -q '^==> /proc/1/io' "$state"/spool/proc_pid_linux.*.raw; do
    n=$((n + 1)) && [ "$n" -lt 600 ] && sleep 0.1
done
echo "root's I/O is recorded"
old_pid=$(cat "$state/spool/lock/pid")
owner=$(stat -c %u "$state")
[ "$(stat -c %u "$SCRATCH/root/proc/$old_pid")" = "$owner" ] && [ "$owner" != 0 ] && echo "as its account"
grep -q '^CapPrm:.0*$' "$SCRATCH/root/proc/$old_pid/status" && echo "without capabilities"
old_raw=$(echo "$state"/spool/proc_linux.*.raw)
echo "== upgrade"
if [ "$KIND" = deb ]; then manage --force-confold -i /new; else manage -U "$SCRATCH/root/new"; fi
agent version
[ "$(cat "$state/spool/lock/pid")" != "$old_pid" ] && echo "another agent runs"
[ -s "$old_raw" ] && echo "the old stream is kept"
grep -q df_linux "$home/stats.conf" && grep -q '^server=http://127.0.0.1:9' "$home/agent.conf" && echo "settings are kept"
echo "== remove"
if [ "$KIND" = deb ]; then manage -r normstat-agent; else manage -e normstat-agent; fi
[ ! -e "$home/normstat-agent" ] && echo "the program is gone"
[ -s "$old_raw" ] && [ -s "$state/token" ] && echo "spool and token are kept"
[ ! -e "$state/spool/lock" ] && echo "the agent is stopped"
if [ "$KIND" = deb ]; then
    manage -P normstat-agent
    [ -s "$old_raw" ] && echo "purged: the spool is kept"
fi
"""
)


def build(kind: str, agents: Path, folder: Path, *, umask: int = 0o077, zone: str = "UTC") -> Path:
    require_program({"deb": "dpkg-deb", "rpm": "rpmbuild", "tar": "tar"}[kind])
    words = ["sh", str(agents / "package" / "build.sh"), kind, str(folder)]
    # Whatever mask the user has, other accounts can read what is installed.
    done = subprocess.run(words, env=os.environ | {"TZ": zone}, capture_output=True, text=True, check=False, umask=umask)
    assert done.returncode == 0, done
    return Path(done.stdout.strip())


@pytest.mark.parametrize("kind", ["deb", "rpm", "tar"])
def test_two_builds_give_the_same_bytes(kind: str, tmp_path: Path) -> None:
    one = build(kind, AGENTS, tmp_path / "one")
    shutil.copytree(AGENTS, tmp_path / "elsewhere/agents")
    shutil.copytree(AGENTS.parent / "packaging", tmp_path / "elsewhere/packaging")
    (tmp_path / "elsewhere/backend").mkdir()
    shutil.copy(AGENTS.parent / "backend/pyproject.toml", tmp_path / "elsewhere/backend")
    another = build(kind, tmp_path / "elsewhere/agents", tmp_path / "another", umask=0o002, zone="Pacific/Chatham")
    assert one.name == another.name
    assert one.read_bytes() == another.read_bytes()


def test_solaris_finds_every_file_that_its_packages_list(tmp_path: Path) -> None:
    """What pkgmk reads (prototype) and what pkgsend reads (the manifest) name the same files, all of which are there."""
    archive = build("tar", AGENTS, tmp_path)
    subprocess.run(["tar", "-xzf", archive, "-C", tmp_path], check=True)
    top = tmp_path / archive.name.removesuffix(".tar.gz")
    version = top.name.removeprefix("normstat-agent-")
    solaris = top / "solaris"
    entries = [line.split() for line in (solaris / "prototype").read_text().splitlines()]
    assert [name for kind, name, *_ in entries if kind == "i" and not (solaris / name).is_file()] == []
    files = {
        path: mode for kind, _, path, mode, *owner in (entry for entry in entries if entry[0] in "fe") if owner == ["root", "root"]
    }
    root = solaris / "root"
    found = {f"/{path.relative_to(root)}": f"0{path.stat().st_mode & 0o777:o}" for path in root.rglob("*") if path.is_file()}
    assert files == found
    assert {"/opt/normstat/normstat-agent", "/opt/normstat/stats.conf", "/opt/normstat/agent.conf"} < files.keys()
    assert (root / "opt/normstat/stats.conf").read_text() == (AGENTS / "stats.conf.sunos").read_text()
    manifest = (solaris / "normstat-agent.p5m").read_text()
    assert f"pkg:/application/normstat-agent@{version}\n" in manifest
    listed = re.findall(r"^file (\S+) path=(\S+) owner=root group=root mode=(\d+)", manifest, re.MULTILINE)
    assert {f"/{path}": mode for source, path, mode in listed if source == path} == files
    about = dict(line.split("=", 1) for line in (solaris / "pkginfo").read_text().splitlines())
    assert (about["PKG"], about["VERSION"], about["CLASSES"]) == ("normstat-agent", version, "none preserve")
    assert len(about["NAME"]) <= 256


def test_packages_of_solaris_keep_settings(tmp_path: Path) -> None:
    new, changed, missing = (tmp_path / name for name in ("new", "changed", "missing"))
    new.write_text("new\n")
    changed.write_text("mine\n")
    pairs = f"{new} {changed}\n{new} {missing}\n"
    subprocess.run(["sh", AGENTS / "package/solaris/i.preserve"], input=pairs, text=True, check=True)
    assert (changed.read_text(), missing.read_text()) == ("mine\n", "new\n")
    assert (tmp_path / "changed.new").read_text() == "new\n"
    assert not (tmp_path / "missing.new").exists()
    done = subprocess.run(
        ["sh", AGENTS / "package/solaris/r.preserve"], input=f"{changed}\n", text=True, capture_output=True, check=True
    )
    assert changed.exists()
    assert done.stdout == f"kept {changed}\n"


def listing(kind: str, package: Path) -> dict[str, str]:
    """The files of a package and their modes; all belong to root."""
    if kind == "deb":
        text = subprocess.run(["dpkg-deb", "-c", package], capture_output=True, text=True, check=True).stdout
        rows = [(line.split()[0], line.split()[1], line.split()[-1].removeprefix(".")) for line in text.splitlines()]
        owner = "root/root"
    else:
        query = [
            "rpm",
            "-qp",
            "--queryformat",
            r"[%{FILEMODES:perms} %{FILEUSERNAME}/%{FILEGROUPNAME} %{FILENAMES}\n]",
            str(package),
        ]
        text = subprocess.run(query, capture_output=True, text=True, check=True).stdout
        rows = [(mode, owner, name) for mode, owner, name in (line.split() for line in text.splitlines())]
        owner = "root/root"
    assert {row[1] for row in rows} == {owner}
    return {name: mode for mode, _, name in rows if not mode.startswith("d")}


@pytest.mark.parametrize("kind", ["deb", "rpm"])
def test_a_package_is_installed_upgraded_and_removed(kind: str, tmp_path: Path) -> None:
    old = build(kind, AGENTS, tmp_path / "old")
    assert PLACES.items() <= listing(kind, old).items()
    if os.geteuid() != 0:
        pytest.skip("installing the agent's package in a clean Debian needs root")
    require_program("unshare")
    try:
        base = require_timescale_root()
    except DatabaseUnavailable as error:
        if os.environ.get("NORMSTAT_REQUIRE_ALL") == "1":
            pytest.fail(f"{error} (and NORMSTAT_REQUIRE_ALL=1 forbids skipping)", pytrace=False)
        pytest.skip(f"the agent's package is not installed anywhere: {error}")
    newer = tmp_path / "agents"
    shutil.copytree(AGENTS, newer)
    shutil.copytree(AGENTS.parent / "packaging", tmp_path / "packaging")
    (tmp_path / "backend").mkdir()
    shutil.copy(AGENTS.parent / "backend/pyproject.toml", tmp_path / "backend")
    script = newer / "normstat-agent"
    script.write_text(re.sub(r"(?m)^readonly VERSION=.*$", f"readonly VERSION={NEWER}", script.read_text()))
    new = build(kind, newer, tmp_path / "new")
    assert NEWER in new.name
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    environment = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "KIND": kind,
        "BASE": str(base),
        "SCRATCH": str(scratch),
        "OLD": str(old),
        "NEW": str(new),
    }
    words = ["unshare", "--mount", "--pid", "--net", "--fork", "--kill-child", "sh", "-c", LIFE]
    done = subprocess.run(
        words, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300, check=False
    )
    assert done.returncode == 0, done
    steps = dict(re.findall(r"(?s)== (\w+)\n(.*?)(?=== |\Z)", done.stdout))
    assert "write server=URL into /opt/normstat/agent.conf" in steps["install"]
    assert f"normstat-agent {NEWER}" not in steps["install"]
    assert re.search(r"proc_linux +running", steps["configure"])
    assert "root's I/O is recorded\nas its account\nwithout capabilities" in steps["configure"]
    assert f"normstat-agent {NEWER}\nanother agent runs\nthe old stream is kept\nsettings are kept" in steps["upgrade"]
    assert "the program is gone\nspool and token are kept\nthe agent is stopped" in steps["remove"]
    assert "kept the spool and the token in /var/lib/normstat-agent" in steps["remove"]
    assert ("purged: the spool is kept" in steps["remove"]) == (kind == "deb")
