"""Settings: each is documented, their sources are shown, and a bad one is a sentence that names it."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from normstat.cli import app
from normstat.cli.gen_command import SETTINGS_PAGE, render_settings_page
from normstat.settings import SECRETS, Settings, load_settings, setting_variable


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


def test_all_mistakes_are_said_at_once(fresh_settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh_settings.write_text("workers = 0\nlog_files = 0\n")
    monkeypatch.setenv("NORMSTAT_SESSION_DAYS", "none")
    done = config("check")
    assert done.exit_code == 1
    assert sorted(line.partition(" (")[0] for line in done.output.splitlines()) == [
        "normstat: NORMSTAT_LOG_FILES", "normstat: NORMSTAT_SESSION_DAYS", "normstat: NORMSTAT_WORKERS",
    ]  # fmt: skip


class TestSecretsInFiles:
    """The environment, the file of lines and normstat.toml may each name a file that holds a secret."""

    @pytest.fixture
    def secret(self, tmp_path: Path) -> Path:
        path = tmp_path / "secret"
        path.write_text("a-long-token\n")
        return path

    def token(self) -> str | None:
        load_settings.cache_clear()
        found = load_settings().metrics_token
        return None if found is None else found.get_secret_value()

    def test_of_each_source(self, fresh_settings: Path, secret: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        fresh_settings.write_text(f'metrics_token_file = "{secret}"\n')
        assert self.token() == "a-long-token"
        shown = json.loads(config("show", "--changed", "--json").stdout)
        assert shown == {"NORMSTAT_METRICS_TOKEN": {"value": "(hidden)", "source": f"a file that {fresh_settings} names"}}
        lines, other = tmp_path / "normstat.env", tmp_path / "other"
        other.write_text("another-token")
        lines.write_text(f"NORMSTAT_METRICS_TOKEN_FILE={other}\n")
        monkeypatch.setenv("NORMSTAT_ENV_FILE", str(lines))
        assert self.token() == "another-token"
        monkeypatch.setenv("NORMSTAT_METRICS_TOKEN_FILE", str(secret))
        assert self.token() == "a-long-token"
        assert config("check").exit_code == 0

    def test_a_value_wins_over_a_file_of_the_same_source(self, secret: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("NORMSTAT_METRICS_TOKEN_FILE", str(secret))
        monkeypatch.setenv("NORMSTAT_METRICS_TOKEN", "direct")
        assert self.token() == "direct"

    @pytest.mark.parametrize(
        ("content", "sentence"), [(None, "cannot be read: No such file"), (b"\n", "is empty"), (b"\xff", "not UTF-8")]
    )
    def test_a_bad_file_is_a_sentence(
        self, content: bytes | None, sentence: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        path = tmp_path / "bad"
        if content is not None:
            path.write_bytes(content)
        monkeypatch.setenv("NORMSTAT_SECRET_KEY_FILE", str(path))
        done = config("check")
        assert done.exit_code == 1
        assert done.output.startswith(f"normstat: NORMSTAT_SECRET_KEY_FILE names {path}, which ")
        assert sentence in done.output

    def test_only_secrets_may_be_in_files(self, fresh_settings: Path) -> None:
        fresh_settings.write_text('workers_file = "/tmp/x"\n')
        assert "unknown setting 'workers_file'" in config("check").output
        annotated = {name for name, field in Settings.model_fields.items() if "SecretStr" in str(field.annotation)}
        assert annotated <= set(SECRETS)


def test_the_example_has_every_setting_and_is_valid_without_its_comments(fresh_settings: Path) -> None:
    text = config("example").stdout
    assert tomllib.loads(text) == {}
    lines = [line.removeprefix("#") for line in text.splitlines() if re.match(r"#[a-z_]+ = ", line)]
    values = tomllib.loads("\n".join(lines))
    assert {name for name in Settings.model_fields if name != "notify_socket"} <= values.keys()
    # An empty text is no path and no number: such a setting stays a comment.
    fresh_settings.write_text("\n".join(line for line in lines if not line.endswith(' = ""') and "_file = " not in line))
    assert config("check").output.startswith("The settings are valid")
