"""Log files of limited length, of which no line is lost, whoever is stopped or killed; a disk that gets full is said once."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from normstat.local.disk import DiskMonitor, measure_free
from normstat.local.log_files import LogFiles
from normstat.local.log_writer import RotatingFile
from tests.e2e.product import wait_until

PRINT = "import sys\nfor n in range(int(sys.argv[1]), int(sys.argv[2])): print(f'line {n} ' + 'x' * (n % 97))"

MIB = 1 << 20


def expected(first: int, end: int) -> list[str]:
    return [f"line {n} {'x' * (n % 97)}" for n in range(first, end)]


def files_of(path: Path) -> list[Path]:
    """The log's files, the oldest first."""
    older = sorted(path.parent.glob(f"{path.name}.*"), key=lambda file: -int(file.suffix[1:]))
    return [*older, path]


def lines_of(path: Path) -> list[str]:
    return [line for file in files_of(path) for line in file.read_text().splitlines()]


def print_lines(logs: LogFiles, first: int, end: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", PRINT, str(first), str(end)], stdout=logs.output("server"))


def test_all_lines_are_in_files_of_the_size_that_may_be(tmp_path: Path) -> None:
    log = RotatingFile(str(tmp_path / "server.log"), 5000, 100)
    data = "".join(f"{line}\n" for line in expected(0, 3000)).encode()
    for start in range(0, len(data), 777):
        log.write(data[start : start + 777])
    files = files_of(tmp_path / "server.log")
    assert lines_of(tmp_path / "server.log") == expected(0, 3000)
    assert len(files) > 20
    assert all(file.stat().st_size <= 5000 + 120 for file in files)
    assert all(file.read_bytes().endswith(b"\n") for file in files), "no line is torn"
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


@pytest.mark.parametrize("n_files", [1, 3])
def test_only_so_many_files_are_kept(tmp_path: Path, n_files: int) -> None:
    log = RotatingFile(str(tmp_path / "server.log"), 1000, n_files)
    for line in expected(0, 500):
        log.write(f"{line}\n".encode())
    assert len(files_of(tmp_path / "server.log")) == n_files
    kept = lines_of(tmp_path / "server.log")
    assert kept == expected(500 - len(kept), 500), "the newest ones"


def test_a_line_that_never_ends_is_bounded_too(tmp_path: Path) -> None:
    log = RotatingFile(str(tmp_path / "server.log"), 1000, 3)
    for _ in range(100):
        log.write(b"x" * 500)
    assert all(file.stat().st_size <= 2500 for file in files_of(tmp_path / "server.log"))


def test_what_a_full_disk_did_not_take_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = RotatingFile(str(tmp_path / "server.log"), 5000, 3)
    log.write(b"before\n")
    with monkeypatch.context() as full:

        def write(*_: object) -> int:
            raise OSError(28, "No space left on device")

        full.setattr(os, "write", write)
        log.write(b"lost\n")
        log.write(b"lost too\n")
    log.write(b"after\n")
    assert lines_of(tmp_path / "server.log") == [
        "before",
        "log_writer: 14 bytes are missing here; they could not be written",
        "after",
    ]


def test_existing_files_and_the_folder_are_protected(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    folder.mkdir(mode=0o755)
    for name in ("server.log", "server.log.1"):
        (folder / name).write_text("old\n")
        (folder / name).chmod(0o644)
    logs = LogFiles(folder, ["server"], max_bytes=5000, n_files=3)
    logs.start()
    print_lines(logs, 0, 10).wait()
    logs.close()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert (folder / "server.log").read_text().splitlines() == ["old", *expected(0, 10)]


def test_no_line_is_lost_and_nobody_waits_when_the_writer_is_stopped_or_killed(tmp_path: Path) -> None:
    logs = LogFiles(tmp_path / "log", ["server", "up"], max_bytes=20_000, n_files=1000)
    logs.start()
    said: list[str] = []
    assert logs._writer is not None
    os.kill(logs._writer.pid, signal.SIGSTOP)
    # The pipe holds what is printed meanwhile: the child ends.
    assert print_lines(logs, 0, 5000).wait(60) == 0
    os.kill(logs._writer.pid, signal.SIGKILL)
    logs._writer.wait()
    assert print_lines(logs, 5000, 10_000).wait(60) == 0, "without a reader it is not ended by SIGPIPE either"
    logs.check(said.append)
    assert print_lines(logs, 10_000, 30_000).wait(60) == 0
    wait_until(lambda: logs.tail("server", 2) == expected(29_998, 30_000), "the last lines")
    logs.write("up", "a line of our own")
    logs.close()
    assert said == ["the log writer ended and was restarted"]
    assert lines_of(tmp_path / "log/server.log") == expected(0, 30_000)
    assert (tmp_path / "log/up.log").read_text() == "a line of our own\n"


OWNER = """
import os, sys, time
from pathlib import Path
from normstat.local.log_files import LogFiles
from normstat.local.processes import ChildProcess
logs = LogFiles(Path(sys.argv[1]), ["server"], max_bytes=20_000, n_files=1000)
logs.start()
code = "import os, signal, time\\nsignal.signal(signal.SIGTERM, lambda *_: os.write(1, b'last words\\\\n') and exit())\\n" \
    "print('on', flush=True)\\ntime.sleep(600)"
child = ChildProcess([sys.executable, "-c", code], output=logs.output("server"), environment={})
print(child.pid, logs._writer.pid, flush=True)
time.sleep(600)
"""


def test_last_words_are_kept_and_nothing_is_left_when_the_owner_is_killed(tmp_path: Path) -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER, str(tmp_path / "log")], stdout=subprocess.PIPE)
    assert owner.stdout is not None
    pids = owner.stdout.readline().split()
    path = tmp_path / "log/server.log"
    wait_until(lambda: path.exists() and path.read_text() == "on\n", "the child runs")
    owner.kill()
    owner.wait()
    owner.stdout.close()
    wait_until(lambda: not any(Path(f"/proc/{int(pid)}").exists() for pid in pids), "child and writer end")
    assert path.read_text() == "on\nlast words\n"


def test_each_change_is_said_once() -> None:
    said: list[str] = []
    sizes = (500, 33, 31, 5, 0, 40, 31, 47, 900, 900, 31, 48, 48, 48, 48, 33, 20)
    free, now = iter([n * MIB for n in sizes]), iter(range(1000))
    watch = DiskMonitor(Path("/data"), said.append, measure=lambda _: next(free), clock=lambda: next(now))
    has_room = [watch.check() for _ in sizes]
    # Two looks at a disk with much room, between others without, are no end of it.
    assert [number for number, is_new in enumerate(has_room) if is_new] == [13]
    assert [line.split(";")[0] for line in said] == [
        "the disk of /data is full: 31 MiB free",
        "the disk of /data has room again: 48 MiB free",
        "the disk of /data is full: 20 MiB free",
    ]
    assert watch.is_full


def test_a_folder_that_cannot_be_asked_is_no_full_disk(tmp_path: Path) -> None:
    said: list[str] = []
    watch = DiskMonitor(tmp_path / "gone", said.append)
    assert not watch.check()
    assert said == []
    assert measure_free(tmp_path) > 0
