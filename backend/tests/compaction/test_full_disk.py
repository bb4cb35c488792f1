"""A disk that is really full while samples are sealed: no sample is lost or changed, and sealing goes on when there is space."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BACKEND = Path(__file__).resolve().parents[2]
SMALL_DISK = 'mount -t tmpfs -o size=200m,mode=0711 tmpfs "$1" && exec "$2" -m tests.compaction.full_disk "$1"'


@pytest.mark.matrix
@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="a small disk needs root and unshare")
def test_a_really_full_disk_loses_nothing(tmp_path: Path) -> None:
    # The account of the database must get through to the disk.
    for folder in (tmp_path, *list(tmp_path.parents)[:-2]):
        folder.chmod(0o711)
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["unshare", "-m", "true"], check=False).returncode:
        pytest.skip("no mount namespace may be made here")
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", SMALL_DISK, "sh", str(disk), sys.executable],
        cwd=BACKEND,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rounds = done.stdout.splitlines()[-4:]
    assert "No space left on device" in rounds[0], done.stdout
    assert rounds[-1] == "all is sealed: True; the same samples: True"
