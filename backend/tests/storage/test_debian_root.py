"""Making the private Debian root touches nothing outside of it, however it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.debian_root import mounts_below, remove_root

BACKEND = Path(__file__).parents[2]
pytestmark = pytest.mark.matrix
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")

# Mounts like mmdebstrap, says so, and stays.
FAKE_MMDEBSTRAP = """#!/bin/sh
for last; do :; done
mkdir -p "$last/dev/shm" && mount --bind "$PRECIOUS" "$last/dev/shm" && echo $$ > "$last/mounted" && exec sleep 300
"""


@needs_root
def test_root_with_a_mount_is_not_removed(tmp_path: Path) -> None:
    scratch, precious = tmp_path / "root.new", tmp_path / "precious"
    (scratch / "dev/shm").mkdir(parents=True)
    precious.mkdir()
    (precious / "file").touch()
    code = (
        "import sys; from pathlib import Path; from tests.debian_root import DatabaseUnavailable, remove_root\n"
        "try: remove_root(Path(sys.argv[1]))\n"
        "except DatabaseUnavailable as error: print(error)\n"
        "else: sys.exit('removed')\n"
    )
    # In a mount namespace of the test's own: nothing of it reaches the machine.
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", 'mount --bind "$1" "$2/dev/shm" && exec "$3" -c "$4" "$2"', "sh",
         str(precious), str(scratch), sys.executable, code],
        cwd=BACKEND, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"umount {scratch}/dev/shm" in done.stdout
    assert (precious / "file").exists()


@needs_root
def test_killed_build_leaves_no_mount_and_no_process(tmp_path: Path) -> None:
    root, precious, programs = tmp_path / "root", tmp_path / "precious", tmp_path / "bin"
    precious.mkdir()
    (precious / "file").touch()
    programs.mkdir()
    (programs / "mmdebstrap").write_text(FAKE_MMDEBSTRAP)
    (programs / "mmdebstrap").chmod(0o755)
    builder = subprocess.Popen(
        [sys.executable, "-c", "from tests.debian_root import *; make_timescale_root(Path(__import__('sys').argv[1]))", str(root)],
        cwd=BACKEND,
        env=os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "PRECIOUS": str(precious)},
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    scratch = root.with_name("root.new")
    wait_for((scratch / "mounted").exists)
    builder.send_signal(signal.SIGKILL)
    builder.wait()
    wait_for(lambda: not _processes_naming(str(scratch)))
    assert mounts_below(scratch) == []
    remove_root(scratch)
    assert not scratch.exists()
    assert (precious / "file").exists()


def wait_for(condition: object) -> None:
    assert callable(condition)
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _processes_naming(text: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if text in path.read_text():
                found.append(path.parent.name)
        except OSError:
            continue
    return found
