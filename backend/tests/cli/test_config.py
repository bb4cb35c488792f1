"""Settings: each is documented, their sources are shown, and a bad one is a sentence that names it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from normstat.cli import app
from normstat.cli.gen_command import SETTINGS_PAGE, render_settings_page
from normstat.settings import Settings, load_settings, setting_variable


@pytest.fixture(autouse=True)
def fresh_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No settings but those of a test; returns the place of normstat.toml."""
    for name in Settings.model_fields:
        monkeypatch.delenv(setting_variable(name), raising=False)
    for name in ("DATABASE_URL", "NORMSTAT_ENV_FILE", "CREDENTIALS_DIRECTORY"):
        monkeypatch.delenv(name, raising=False)
    file = tmp_path / "normstat.toml"
    file.touch()
    monkeypatch.setenv("NORMSTAT_CONFIG", str(file))
    return file


def config(*arguments: str) -> Result:
    load_settings.cache_clear()
    try:
        return CliRunner().invoke(app, ["config", *arguments])
    finally:
        load_settings.cache_clear()


def test_each_setting_is_documented() -> None:
    assert render_settings_page() == SETTINGS_PAGE.read_text(), "run make gen"
    assert not [name for name, field in Settings.model_fields.items() if not field.description]


def test_sources_are_shown_and_the_environment_wins(fresh_settings: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fresh_settings.write_text(
        'database_url = "postgresql://a:s3cret@db/a"\nworkers = 3\nallowed_hosts = ["a.example", "b.example"]\n'
        'log_level = "debug"\n'
    )
    env_file = tmp_path / "normstat.env"
    env_file.write_text("NORMSTAT_WORKERS=4\nNORMSTAT_METRICS_TOKEN=a-long-token\nNORMSTAT_PORT=80\n")
    monkeypatch.setenv("NORMSTAT_ENV_FILE", str(env_file))
    monkeypatch.setenv("NORMSTAT_LOG_LEVEL", "WARNING")
    shown = config("show", "--changed", "--json")
    assert json.loads(shown.stdout) == {
        "NORMSTAT_DATABASE_URL": {"value": "postgresql://a@db/a", "source": str(fresh_settings)},
        "NORMSTAT_WORKERS": {"value": "4", "source": str(env_file)},
        "NORMSTAT_ALLOWED_HOSTS": {"value": "a.example,b.example", "source": str(fresh_settings)},
        "NORMSTAT_METRICS_TOKEN": {"value": "(hidden)", "source": str(env_file)},
        "NORMSTAT_LOG_LEVEL": {"value": "warning", "source": "environment"},
    }
    assert config("check").stdout.startswith("The settings are valid; 5 of ")
    table = config("show").stdout.splitlines()
    assert len(table) == len(Settings.model_fields) + 1
    assert table[-1].split() == ["NORMSTAT_LOG_LEVEL", "warning", "environment"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("workers = 0", "NORMSTAT_WORKERS ({file}) must be greater than or equal to 1"),
        ("database_url = 5", "NORMSTAT_DATABASE_URL ({file}) must be a valid string"),
        ('secret_key = "short"', "NORMSTAT_SECRET_KEY ({file}) must have at least 32 characters, not 5"),
        ('log_level = "loud"', "NORMSTAT_LOG_LEVEL ({file}) must be 'debug', 'info', 'warning' or 'error'"),
        ("worker = 2", "{file} has an unknown setting 'worker'; did you mean workers?"),
        ("NORMSTAT_WORKERS = 2", "{file} has an unknown setting 'NORMSTAT_WORKERS'; did you mean workers?"),
        ("[server]\nworkers = 2", "{file} has an unknown setting 'server'"),
        ("workers = ", "{file} is not valid TOML: Invalid value (at end of document)"),
    ],
)
def test_a_bad_setting_of_the_file_is_a_sentence(fresh_settings: Path, text: str, sentence: str) -> None:
    fresh_settings.write_text(text)
    done = config("check")
    assert (done.exit_code, done.stderr or done.output) == (1, f"normstat: {sentence.format(file=fresh_settings)}\n")


def test_a_bad_setting_of_the_environment_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NORMSTAT_WORKERS", "two")
    assert "NORMSTAT_WORKERS (environment) must be a valid integer" in config("show").output
    monkeypatch.setenv("NORMSTAT_WORKERS", "2")
    monkeypatch.setenv("NORMSTAT_WORKRES", "2")
    done = config("check")
    assert (done.exit_code, done.output) == (1, "normstat: NORMSTAT_WORKRES is not a setting; did you mean NORMSTAT_WORKERS?\n")
    monkeypatch.setenv("NORMSTAT_CONFIG", str(tmp_path / "none"))
    assert config("check").output == f"normstat: NORMSTAT_CONFIG names {tmp_path}/none, which cannot be read\n"
    monkeypatch.setenv("NORMSTAT_CONFIG", str(tmp_path))
    assert config("check").output == f"normstat: NORMSTAT_CONFIG names {tmp_path}, which cannot be read\n"


def test_a_file_in_another_encoding_is_a_sentence(fresh_settings: Path) -> None:
    fresh_settings.write_bytes('oidc_label = "Anmeldung f\u00fcr alle"\n'.encode("latin-1"))
    assert config("check").output == f"normstat: {fresh_settings} is not UTF-8\n"
