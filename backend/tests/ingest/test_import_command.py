"""`normstat import` as a new user types it."""

import gzip
import os
import tarfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from normstat.cli import app
from normstat.settings import load_settings
from tests.databases import on_one_database
from tests.fork_server import start_forked
from tests.generated import vmstat_text, vmstat_times

# What a command says; what an import does to each kind of database is in test_import_load.py.
pytestmark = on_one_database

MPSTAT = """12:00:01     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
12:00:02     all    1.00    0.00    0.50    0.00    0.00    0.00    0.00    0.00    0.00   98.50
12:00:03     all    2.00    0.00    0.50    0.00    0.00    0.00    0.00    0.00    0.00   97.50
"""


Ran = tuple[int, list[str], str]


def settings_of(url: str) -> dict[str, str]:
    return {"NORMSTAT_DATABASE_URL": url, "NORMSTAT_IMPORT_MAX_BYTES": "1000000"}


def lines_of(printed: str) -> list[str]:
    return [" ".join(line.split()) for line in printed.splitlines()]


def run_process(url: str, folder: Path, *arguments: str | Path) -> Ran:
    """Exit code, the lines of the table with single blanks, and what went to standard error."""
    with (folder / "output").open("wb+") as output, (folder / "errors").open("wb+") as errors:
        status = start_forked(["import", *map(str, arguments)], os.environ | settings_of(url), output, errors).wait(60)
    return status, lines_of((folder / "output").read_text()), (folder / "errors").read_text()


def run(url: str, *arguments: str | Path) -> Ran:
    """The same in this process: to start another one takes longer than to import a small file."""
    load_settings.cache_clear()
    done = CliRunner().invoke(app, ["import", *map(str, arguments)], env=settings_of(url))
    load_settings.cache_clear()
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, lines_of(done.stdout), done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "host"
    folder.mkdir()
    (folder / "vmstat.out").write_bytes(vmstat_text(vmstat_times(11)) + b"nonsense\n")
    (folder / "notes.txt").write_text("Dear customer\n")
    (folder / "mpstat.out").write_text(MPSTAT.replace("12:00", "13:00"))
    return folder


def test_table_and_exit_code(database_url: str, folder: Path, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "host.tar.gz", "w:gz") as archive:
        archive.add(folder, "host")
    status, lines, errors = run_process(database_url, tmp_path, "--host", "web1", tmp_path / "host.tar.gz")
    assert (status, errors) == (0, "")
    inside = f"{tmp_path}/host.tar.gz/host"
    assert lines == [
        "reports samples new rejected spec, times and file",
        # It stands beside a file that begins an hour earlier, on the same day.
        f"2 2 2 0 mpstat_linux 2026-11-21T13:00:02Z to 2026-11-21T13:00:03Z {inside}/mpstat.out",
        "its first day is 2026-11-21, by the files beside it",
        f"10 10 10 1 vmstat_linux 2026-11-21T12:00:01Z to 2026-11-21T12:00:10Z {inside}/vmstat.out",
        lines[4],
        "1 line is about the time since boot, and no samples",
        f"not loaded {inside}/notes.txt: not output of a known tool",
        "2 of 3 files loaded: 12 samples, 12 of them new, 1 rejected line",
    ]
    assert lines[4].startswith("1 x 1 words, 17 values")
    status, lines, _ = run(database_url, "--host", "web1", folder)
    assert status == 0
    assert lines[-1] == "2 of 3 files loaded: 12 samples, 0 of them new, 1 rejected line"
    assert lines.count("already loaded") == 1


def test_what_a_user_is_told_when_nothing_is_loaded(database_url: str, folder: Path, tmp_path: Path) -> None:
    status, lines, _ = run(database_url, "--host", "web1", folder / "mpstat.out")
    assert status == 1
    assert "not loaded: it prints clocks without a day: give --date" in lines
    status, lines, _ = run(database_url, "--host", "web1", "--date", "2026-11-21", "--zone", "Europe/Berlin", folder / "mpstat.out")
    assert status == 0
    assert "2026-11-21T12:00:02Z to 2026-11-21T12:00:03Z" in lines[1]
    for arguments, word in (
        (["--host", "a b"], "host's name"),
        (["--host", "a", "--zone", "Mars"], "no time zone"),
        (["--host", "a", "--date", "today"], "2026-11-21"),
        (["--host", "a", "--start", "noon"], "2026-11-21T12:00:00"),
        (["--host", "a", "--interval", "0"], "interval"),
        (["--host", "a", "--spec", "nothing"], "there is no spec"),
    ):
        status, lines, errors = run(database_url, *arguments, folder)
        assert (status, lines) == (1, [])
        assert errors.startswith("normstat: ")
        assert word in errors
    (tmp_path / "big.tar").write_bytes(b"")
    status, lines, _ = run(database_url, "--host", "a", tmp_path / "big.tar", tmp_path / "none")
    assert status == 1
    assert any(line.endswith("big.tar: empty") for line in lines)
    assert any("none: cannot be read: No such file or directory" in line for line in lines)


def test_what_is_beyond_the_limit_is_named(database_url: str, folder: Path) -> None:
    (folder / "n.gz").write_bytes(gzip.compress(vmstat_text(vmstat_times(20_000))))
    status, lines, _ = run(database_url, "--host", "web1", folder)
    assert any("n.gz: what is in it unpacks to more than 977 KiB" in line for line in lines)
    assert any("(what follows): not read: the import has reached its limit" in line for line in lines)
    assert status == 1
    (folder / "n.gz").rename(folder / "z.gz")
    status, lines, _ = run(database_url, "--host", "web1", folder)
    assert any("vmstat.out" in line and line.startswith("10 10 10 1 vmstat_linux") for line in lines)
    assert status == 0


def test_each_host_of_a_file_under_its_own_name(database_url: str, tmp_path: Path) -> None:
    """A file that was put together from two hosts; without the option, the second one's lines are rejected."""
    day = "2026-11-21\t_x86_64_\t(2 CPU)\n\n"
    texts = [f"Linux 6.1.0 ({name})\t{day}{MPSTAT}" for name in ("web1", "web2.example.com", "web1")]
    (tmp_path / "all.txt").write_text("".join(texts))
    assert run(database_url, "--host", "web8", tmp_path / "all.txt")[1][1].startswith("2 4 4 4 mpstat_linux")
    code, lines, errors = run(database_url, "--host", "web9", "--each-host", tmp_path / "all.txt")
    assert (code, errors) == (0, "")
    assert [line.split()[1] for line in lines if "mpstat_linux" in line] == ["4", "2"]
    assert [line.rsplit("/", 1)[1] for line in lines if "mpstat_linux" in line] == ["all.txt (web1)", "all.txt (web2.example.com)"]
    again = run(database_url, "--host", "web9", "--each-host", tmp_path / "all.txt")
    assert [line.split()[2] for line in again[1] if "mpstat_linux" in line] == ["0", "0"]
