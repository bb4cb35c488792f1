"""Which PostgreSQL of this machine a private database uses: programs of other versions are stand-ins that say theirs."""

import json
from pathlib import Path

import pytest

from normstat.local import binaries as binaries_module
from normstat.local.binaries import FROM_WHEEL, INSTALLED, find_binaries
from normstat.server import embedded as embedded_module
from normstat.server.embedded import EmbeddedError, EmbeddedPostgres


def put(folder: Path, version: str, *, with_timescaledb: bool = False) -> Path:
    """The programs of a server that says this version."""
    bin_dir = folder / version / "bin"
    bin_dir.mkdir(parents=True)
    for name in ("postgres", "initdb"):
        (bin_dir / name).write_text(f"#!/bin/sh\necho '{name} (PostgreSQL) {version} (a stand-in)'\n")
        (bin_dir / name).chmod(0o755)
    if with_timescaledb:
        extension = folder / version / "share/extension"
        extension.mkdir(parents=True)
        (extension / "timescaledb.control").touch()
    return bin_dir


def offer(monkeypatch: pytest.MonkeyPatch, *found: tuple[Path, str]) -> None:
    monkeypatch.setattr(binaries_module, "_candidates", lambda: iter(found))


@pytest.mark.parametrize(
    ("installed", "wheel", "preferred"),
    [
        ("17.12", "16.14", "17.12"),
        ("16.16", "16.14", "16.16"),
        # The same releases are missing: the system's is updated by the system.
        ("15.18", "16.14", "15.18"),
        ("15.17", "16.14", "16.14"),
        # No more updates.
        ("14.25", "16.14", "16.14"),
        ("19.0", "16.14", "19.0"),
        ("19rc2", "16.14", "19rc2"),
    ],
)
def test_a_patched_server_is_preferred(
    installed: str, wheel: str, preferred: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch, (put(tmp_path, wheel), FROM_WHEEL), (put(tmp_path, installed), INSTALLED))
    assert find_binaries()[0].bin_dir == tmp_path / preferred / "bin"


def test_timescaledb_is_preferred_while_its_server_gets_updates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, ended = put(tmp_path, "17.2", with_timescaledb=True), put(tmp_path, "14.25", with_timescaledb=True)
    offer(monkeypatch, (put(tmp_path, "18.7"), INSTALLED), (ended, INSTALLED), (old, INSTALLED))
    assert [found.bin_dir.parent.name for found in find_binaries()] == ["17.2", "18.7", "14.25"]


def made_by(major: str, data_dir: Path, *, with_timescaledb: bool | None = False) -> None:
    """A data folder with what tells who made it; older versions of normstat wrote no postgres.json."""
    (data_dir / "postgres").mkdir(parents=True)
    (data_dir / "postgres/PG_VERSION").write_text(f"{major}\n")
    if with_timescaledb is not None:
        (data_dir / "postgres.json").write_text(json.dumps({"major": int(major), "has_timescaledb": with_timescaledb}))


def choose(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The version that a private database in that folder would be run with."""
    # Accounts are another subject (tests/e2e/test_up.py).
    monkeypatch.setattr(embedded_module, "database_account", lambda *_: None)
    return str(EmbeddedPostgres(data_dir, say=lambda _: None).binaries.version)


@pytest.mark.parametrize("with_timescaledb", [False, None])
def test_a_data_folder_is_opened_by_its_own_major_version(
    with_timescaledb: bool | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(
        monkeypatch, (put(tmp_path, "18.7"), INSTALLED), (put(tmp_path, "16.14"), FROM_WHEEL), (put(tmp_path, "16.16"), INSTALLED)
    )
    made_by("16", tmp_path / "data", with_timescaledb=with_timescaledb)
    assert choose(tmp_path / "data", monkeypatch) == "16.16"
    assert choose(tmp_path / "new", monkeypatch) == "18.7"


def test_another_major_version_never_opens_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, (put(tmp_path, "18.7"), INSTALLED), (put(tmp_path, "17.12"), INSTALLED))
    made_by("16", tmp_path / "data")
    with pytest.raises(
        EmbeddedError, match=r"made by PostgreSQL 16, which is no longer installed, and no other major version can open it"
    ):
        choose(tmp_path / "data", monkeypatch)
    made_by("17", tmp_path / "timescale", with_timescaledb=True)
    with pytest.raises(EmbeddedError, match="made by PostgreSQL 17 with TimescaleDB"):
        choose(tmp_path / "timescale", monkeypatch)
