"""Making the private Debian root touches nothing outside of it, however it ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BACKEND = Path(__file__).parents[2]
pytestmark = pytest.mark.matrix
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")


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
