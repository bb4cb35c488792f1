"""Settings in files: secrets that systemd hands over, and the file beside the packages."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from normstat.cli.local_database import describe_origin
from normstat.settings import load_settings


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("NORMSTAT_DATABASE_URL", "DATABASE_URL", "NORMSTAT_ENV_FILE", "CREDENTIALS_DIRECTORY", "NORMSTAT_WORKERS"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    load_settings.cache_clear()
    yield
    monkeypatch.undo()
    load_settings.cache_clear()


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
