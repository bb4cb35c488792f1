"""The database of `normstat up`, found by commands beside it; settings in files."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from typer.testing import CliRunner

from normstat import cli
from normstat.cli import local_database
from normstat.cli.local_database import describe_origin, find_public_url
from normstat.local import running_installation
from normstat.local.running_installation import RunningInstallation, find_installation, find_installations, note_running
from normstat.settings import load_settings


def make_process(proc: Path, pid: int, cwd: Path, *arguments: str) -> None:
    """What the system tells of a process."""
    (proc / str(pid)).mkdir(parents=True)
    (proc / str(pid) / "cmdline").write_text("\0".join([*arguments, ""]))
    (proc / str(pid) / "cwd").symlink_to(cwd)


def make_home(
    folder: Path, proc: Path, *words: str, pid: int = 7, home: Path | None = None, port: int = 8081, cwd: Path | None = None
) -> Path:
    """A data folder on which `normstat up` runs as a process."""
    folder.mkdir(parents=True)
    (home or folder).mkdir(parents=True, exist_ok=True)
    ((home or folder) / "postgres.password").write_text("p/w\n")
    with (folder / "lock").open("wb") as lock:
        note_running(lock.fileno(), f"http://127.0.0.1:{port}", home or folder, folder / "run")
    facts = json.loads((folder / "lock").read_text())
    (folder / "lock").write_text(json.dumps(facts | {"pid": pid}))
    make_process(proc, pid, cwd or folder.parent, *(words or ("python3", "-m", "normstat", "up", "--data", folder.name)))
    return folder


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    return tmp_path / "proc"


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    ours = ("NORMSTAT_DATABASE_URL", "NORMSTAT_DATA", "NORMSTAT_PUBLIC_URL", "NORMSTAT_ENV_FILE", "NORMSTAT_WORKERS")
    for name in ("DATABASE_URL", "CREDENTIALS_DIRECTORY", *ours):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    # Whatever runs on this machine.
    monkeypatch.setattr(running_installation, "PROC", tmp_path / "proc")
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


def url_of(folder: Path) -> str | None:
    found = find_installation(folder)
    return None if found is None else found.database_url


def test_a_running_installation_is_known_whether_or_not_its_database_answers(tmp_path: Path, proc: Path) -> None:
    folder = make_home(tmp_path / "data", proc, home=tmp_path / "state")
    assert find_installation(folder) == RunningInstallation(
        folder, 7, "http://127.0.0.1:8081", f"postgresql://normstat:p/w@/normstat?host={quote(str(folder))}/run"
    )
    # Before its database was started, or where DATABASE_URL names one.
    with (folder / "lock").open("r+b") as lock:
        note_running(lock.fileno(), "http://127.0.0.1:9")
    make_process(proc, os.getpid(), tmp_path, "normstat", "up", "--data=data")
    assert find_installation(folder) == RunningInstallation(folder, os.getpid(), "http://127.0.0.1:9", None)


def test_what_does_not_run_is_none(tmp_path: Path, proc: Path) -> None:
    assert find_installation(tmp_path) is None
    folder = make_home(tmp_path / "data", proc)
    # Another process has its number by now, or it runs on another folder.
    for words in (["python3", "-m", "normstat", "serve"], ["normstat", "up", "--data", "other"]):
        (proc / "7" / "cmdline").write_text("\0".join([*words, ""]))
        assert find_installation(folder) is None
    shutil.rmtree(proc)
    assert find_installation(folder) is None
    for text in ("", "17\n", "{}", '{"pid": "x", "public_url": ""}'):
        (folder / "lock").write_text(text)
        assert find_installation(folder) is None


def test_a_folder_of_another_account_is_not_trusted(tmp_path: Path, proc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = make_home(tmp_path / "data", proc)
    home.chmod(0o777)
    assert url_of(home) is None
    home.chmod(0o711)
    assert url_of(home) is not None
    if os.geteuid() == 0:
        os.chown(home, 12345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert url_of(home) is None


def chosen() -> str | None:
    local_database.use_running_database()
    settings = load_settings()
    return settings.database_url if "database_url" in settings.model_fields_set else None


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """What another process would not have: the installation that was chosen."""
    for name in ("NORMSTAT_DATABASE_URL", "NORMSTAT_PUBLIC_URL"):
        monkeypatch.delenv(name, raising=False)
    load_settings.cache_clear()


def test_folders_are_searched_in_order(tmp_path: Path, proc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout, own, named = (tmp_path / name for name in ("checkout", "elsewhere", "named"))
    checkout.mkdir()
    (checkout / "Makefile").touch()
    assert chosen() is None
    make_home(checkout / "data", proc, pid=7)
    assert f"{checkout}/data/run" in str(chosen())
    forget(monkeypatch)
    make_home(own / "data", proc, pid=8)
    assert f"{own}/data/run" in str(chosen())
    forget(monkeypatch)
    monkeypatch.setenv("NORMSTAT_DATA", str(make_home(named, proc, pid=9, port=8089)))
    assert f"{named}/run" in str(chosen())
    # Links lead to its port, unless the environment says where to.
    assert find_public_url() == "http://127.0.0.1:8089"
    forget(monkeypatch)
    monkeypatch.setenv("NORMSTAT_PUBLIC_URL", "https://normstat.example.org")
    assert f"{named}/run" in str(chosen())
    assert find_public_url() == "https://normstat.example.org"
    forget(monkeypatch)
    monkeypatch.setenv("DATABASE_URL", "postgresql://x@y/z")
    assert chosen() == "postgresql://x@y/z"


def test_the_only_one_that_runs_is_found_wherever_it_is(
    tmp_path: Path, proc: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_process(proc, 7, tmp_path, "/bin/sh", "-c", "normstat up")
    words = ("/usr/bin/python3", ".venv/bin/normstat", "up", "--port", "8081")
    home = make_home(tmp_path / "far" / "data", proc, *words, pid=8)
    make_process(proc, 9, tmp_path / "far", "python3", "-m", "normstat", "serve", "--data", str(tmp_path / "none"))
    (proc / "10").mkdir()
    assert [found.data_dir for found in find_installations()] == [home]
    assert f"{home}/run" in str(chosen())
    assert capsys.readouterr().err == f"normstat: using the database of the normstat that runs in {home}\n"
    # Of two, nobody knows which one is meant.
    other = make_home(tmp_path / "other", proc, "/opt/venv/bin/normstat", "up", "--data=other", "--no-agent", pid=11)
    forget(monkeypatch)
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


def test_a_credential_of_systemd_is_a_setting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "NORMSTAT_DATABASE_URL").write_text("postgresql://normstat:s3cret@db/normstat\n")
    (tmp_path / "NORMSTAT_METRICS_TOKEN").write_text("a-long-token\n")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    settings = load_settings()
    assert settings.database_url == "postgresql://normstat:s3cret@db/normstat"
    assert settings.metrics_token is not None
    assert settings.metrics_token.get_secret_value() == "a-long-token"
    assert "database_url" in settings.model_fields_set, "no database of a running normstat is used instead"
    assert describe_origin() == "postgresql://normstat@db/normstat (a credential of systemd)"


def test_the_file_of_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "normstat.env"
    file.write_text(
        "# a comment\nNORMSTAT_DATABASE_URL=postgresql://a@/a?host=/var/run/postgresql\nNORMSTAT_WORKERS=3\nNORMSTAT_PORT=80\n"
    )
    monkeypatch.setenv("NORMSTAT_ENV_FILE", str(file))
    settings = load_settings()
    assert (settings.database_url, settings.workers) == ("postgresql://a@/a?host=/var/run/postgresql", 3)
    assert describe_origin().endswith(f"({file})")
    # The environment wins.
    monkeypatch.setenv("NORMSTAT_WORKERS", "2")
    load_settings.cache_clear()
    assert load_settings().workers == 2


def test_files_that_are_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NORMSTAT_ENV_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path / "none"))
    assert load_settings().workers == 1
