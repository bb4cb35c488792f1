"""The database of `normstat up`, found by commands beside it."""

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from typer.testing import CliRunner

from normstat import cli
from normstat.cli import local_database
from normstat.local import running_database
from normstat.local.running_database import find_running_url
from normstat.settings import load_settings


def make_home(home: Path, *, pid: int | None = None, state: str = "ready") -> Path:
    """The files of a server that runs below the folder: ours, which lives."""
    (home / "postgres").mkdir(parents=True)
    lines = [str(pid or os.getpid()), str(home), "1795255200", "5432", str(home / "run"), "", "  0  0", f"{state}   "]
    (home / "postgres" / "postmaster.pid").write_text("\n".join(lines))
    (home / "postgres.password").write_text("p/w\n")
    return home


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in ("NORMSTAT_DATABASE_URL", "DATABASE_URL", "NORMSTAT_DATA"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setattr(running_database, "ROOT_STATE_DIR", tmp_path / "state")
    # Whatever runs on this machine.
    monkeypatch.setattr(running_database, "PROC", tmp_path / "proc")
    monkeypatch.setattr(local_database, "CHECKOUT", tmp_path / "checkout")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    load_settings.cache_clear()
    yield
    monkeypatch.undo()
    load_settings.cache_clear()
    local_database._searched.clear()
    local_database._several.clear()
    local_database._chosen.clear()


def make_process(proc: Path, pid: int, cwd: Path, *arguments: str) -> None:
    """What the system tells of a process."""
    (proc / str(pid)).mkdir(parents=True)
    (proc / str(pid) / "cmdline").write_text("\0".join([*arguments, ""]))
    (proc / str(pid) / "cwd").symlink_to(cwd)


def test_a_running_server_gives_its_url(tmp_path: Path) -> None:
    home = make_home(tmp_path / "data")
    assert find_running_url(home) == f"postgresql://normstat:p/w@/normstat?host={home}/run"
    # Root's database may lie elsewhere.
    beside = make_home(tmp_path / "state" / "root%2Fdata")
    assert find_running_url(Path("/root/data")) == f"postgresql://normstat:p/w@/normstat?host={quote(str(beside))}/run"


def test_a_server_that_does_not_run_is_none(tmp_path: Path) -> None:
    assert find_running_url(tmp_path) is None
    # No process has such a number.
    assert find_running_url(make_home(tmp_path / "dead", pid=2**31)) is None
    assert find_running_url(make_home(tmp_path / "starting", state="starting")) is None
    half = make_home(tmp_path / "half")
    (half / "postgres" / "postmaster.pid").write_text("17\n")
    assert find_running_url(half) is None


def test_a_folder_of_another_account_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = make_home(tmp_path / "data")
    home.chmod(0o777)
    assert find_running_url(home) is None
    home.chmod(0o711)
    assert find_running_url(home) is not None
    if os.geteuid() == 0:
        os.chown(home, 12345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert find_running_url(home) is None


def chosen() -> str | None:
    local_database.use_running_database()
    settings = load_settings()
    return settings.database_url if "database_url" in settings.model_fields_set else None


def test_folders_are_searched_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout, own, named = (tmp_path / name for name in ("checkout", "elsewhere", "named"))
    checkout.mkdir()
    (checkout / "Makefile").touch()
    assert chosen() is None
    make_home(checkout / "data")
    assert f"{checkout}/data/run" in str(chosen())
    monkeypatch.delenv("NORMSTAT_DATABASE_URL")
    load_settings.cache_clear()
    make_home(own / "data")
    assert f"{own}/data/run" in str(chosen())
    monkeypatch.delenv("NORMSTAT_DATABASE_URL")
    monkeypatch.setenv("NORMSTAT_DATA", str(make_home(named)))
    load_settings.cache_clear()
    assert f"{named}/run" in str(chosen())
    monkeypatch.delenv("NORMSTAT_DATABASE_URL")
    monkeypatch.setenv("DATABASE_URL", "postgresql://x@y/z")
    load_settings.cache_clear()
    assert chosen() == "postgresql://x@y/z"


def test_the_only_one_that_runs_is_found_wherever_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    proc, home = tmp_path / "proc", make_home(tmp_path / "far" / "data")
    make_process(proc, 7, tmp_path, "/bin/sh", "-c", "normstat up")
    make_process(proc, 8, tmp_path / "far", "/usr/bin/python3", ".venv/bin/normstat", "up", "--port", "8081")
    make_process(proc, 9, tmp_path / "far", "python3", "-m", "normstat", "serve", "--data", str(tmp_path / "none"))
    (proc / "10").mkdir()
    assert running_database.find_running_folders() == [home]
    assert f"{home}/run" in str(chosen())
    assert capsys.readouterr().err == f"normstat: using the database of the normstat that runs in {home}\n"
    # Of two, nobody knows which one is meant.
    other = make_home(tmp_path / "other")
    make_process(proc, 11, tmp_path, "/opt/venv/bin/normstat", "up", "--data=other", "--no-agent")
    monkeypatch.delenv("NORMSTAT_DATABASE_URL")
    load_settings.cache_clear()
    assert chosen() is None
    assert local_database.describe_search() == (
        f". Several normstat run on this machine; set NORMSTAT_DATA to one of {home}, {other}"
    )
    # A folder that is named is the only one that is looked at.
    monkeypatch.setenv("NORMSTAT_DATA", str(other))
    load_settings.cache_clear()
    assert f"{other}/run" in str(chosen())


def test_the_error_says_what_was_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A port that nothing listens on, whatever runs on this machine.
    monkeypatch.setenv("PGPORT", "1")
    shown = CliRunner().invoke(cli.app, ["storage"])
    assert shown.exit_code == 1
    assert f"no database of `make run` is running in {tmp_path}/elsewhere/data; start it, or set NORMSTAT_DATA" in shown.output
    monkeypatch.setenv("NORMSTAT_DATA", str(tmp_path / "named"))
    load_settings.cache_clear()
    shown = CliRunner().invoke(cli.app, ["storage"])
    assert shown.exit_code == 1
    assert f"is running in {tmp_path}/named;" in shown.output
