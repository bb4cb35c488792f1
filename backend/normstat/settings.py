"""The settings of the server: the only place that reads the environment.

Every variable is named NORMSTAT_<FIELD>; DATABASE_URL is accepted too, because hosting platforms set it. Where the environment
lacks a setting, these are read, in this order: the file of lines NAME=VALUE that NORMSTAT_ENV_FILE names, files named as the
variables in the folder that systemd gives a service (CREDENTIALS_DIRECTORY), and normstat.toml, with keys named as the fields.
Each of them but the folder may name a file that holds a secret instead: NORMSTAT_SECRET_KEY_FILE, or the key secret_key_file.
"""

import difflib
import os
import re
import tomllib
from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import AliasChoices, BeforeValidator, Field, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SecretsSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from normstat.runtime.input_limits import MAX_HOSTS, MAX_NEW_HOSTS, MAX_NEW_INSTANCES, MAX_NEW_STREAMS, IngestLimits
from normstat.runtime.units import MIB

# For agents 4, and one each for health, events of the database, looking for work, imports, reparses, deletions, backtests, alerts,
# webhooks, and what is remembered of incidents (tests/db/test_connection_budget.py counts them).
CONNECTIONS_BESIDE_POOL = 14
# For the process that judges a large fleet. Only one of the server's processes starts one.
CONNECTIONS_OF_WATCHING = 2
# Settings that may be in a file of their own: secrets, and addresses with a password.
SECRETS: Final = ("database_url", "database_read_url", "admin_url", "secret_key", "oidc_client_secret", "metrics_token")
FILE: Final = "_file"
# Read where NORMSTAT_CONFIG names no other file. Never one in the current folder, which another account may own.
DEFAULT_CONFIG: Final = Path("/etc/normstat/normstat.toml")


def _split(value: object) -> object:
    """Return the comma-separated parts of an environment variable."""
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


def _lower(value: object) -> object:
    """Return a word in lower case, as `NORMSTAT_LOG_LEVEL=INFO` is usual too."""
    return value.lower() if isinstance(value, str) else value


# One variable with commas, not JSON.
CommaSeparated = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]


class BadSecretFile(Exception):
    """A file that a setting names cannot be used; the text is a sentence about it."""


class _SecretFiles(PydanticBaseSettingsSource):
    """Secrets in files that another source names. `named`: what it has, by name in lower case; `prefix`: of its names."""

    def __init__(self, settings_cls: type[BaseSettings], named: Mapping[str, object], prefix: str) -> None:
        super().__init__(settings_cls)
        self._named = {
            field: str(path)
            for field in SECRETS
            if (path := named.get(f"{prefix}{field}{FILE}")) and f"{prefix}{field}" not in named
        }

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:  # noqa: ARG002 (of the base class)
        """Return the content of the file of a setting. Missing: None

        Raises: BadSecretFile
        """
        return (_read_secret(field_name, Path(self._named[field_name])) if field_name in self._named else None), field_name, False

    def __call__(self) -> dict[str, Any]:
        """Return all settings that are in files.

        Raises: BadSecretFile
        """
        return {field: _read_secret(field, Path(path)) for field, path in self._named.items()}


def _read_secret(field: str, path: Path) -> str:
    named = f"{setting_variable(field)}{FILE.upper()} names {path}"
    try:
        # Editors and `echo` end a file with a newline.
        secret = path.read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise BadSecretFile(f"{named}, which cannot be read: {why}") from None
    if not secret:
        raise BadSecretFile(f"{named}, which is empty")
    return secret


class Settings(BaseSettings):
    """All settings, with the defaults that `make run` uses."""

    model_config = SettingsConfigDict(env_prefix="NORMSTAT_", frozen=True, extra="ignore", populate_by_name=True)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return where settings come from, the strongest first."""
        file = TomlConfigSettingsSource(settings_cls, config_file())
        assert isinstance(env_settings, EnvSettingsSource)
        assert isinstance(dotenv_settings, DotEnvSettingsSource)
        return (
            init_settings,
            *(env_settings, _SecretFiles(settings_cls, env_settings.env_vars, "normstat_")),
            *(dotenv_settings, _SecretFiles(settings_cls, dotenv_settings.env_vars, "normstat_")),
            file_secret_settings,
            *(file, _SecretFiles(settings_cls, file.toml_data, "")),
        )

    database_url: str = Field(
        default="postgresql://normstat@127.0.0.1/normstat",
        validation_alias=AliasChoices("NORMSTAT_DATABASE_URL", "DATABASE_URL"),
        description="libpq URL of the PostgreSQL database",
    )
    database_read_url: str | None = Field(
        default=None,
        description="libpq URL of a standby of it, for graphs, comparisons and exports; None: the primary does it all",
    )
    database_read_max_lag_s: float = Field(
        default=10.0, gt=0, description="a standby that is further behind is not read from until it has caught up"
    )
    distributed: Annotated[Literal["citus"] | None, BeforeValidator(lambda value: value or None)] = Field(
        default=None,
        description="citus: the database is the coordinator of a Citus cluster, on which samples and raw bytes lie by host; see"
        " `normstat cluster`",
    )
    data: Path | None = Field(
        default=None,
        description="data folder of a running `make run`: commands use its database if no URL is set; None: data in the current"
        " folder, or in the checkout",
    )
    admin_url: str | None = Field(default=None, description="libpq URL of a superuser, for `normstat own-database` only")
    workers: int = Field(default=1, ge=1, le=64, description="processes of `normstat serve` that share the work")
    database_dir: Path | None = Field(
        default=None, description="data directory of the database, to measure its disk; None asks the database"
    )
    database_pool_size: int = Field(
        default=8,
        ge=2,
        description=f"database connections for people and jobs, per process; up to {CONNECTIONS_BESIDE_POOL} more are opened",
    )
    max_connections: int = Field(
        default=4000, ge=16, description="client connections, per process; above, the longest idle one is dropped"
    )
    max_connections_per_address: int | None = Field(
        default=None, ge=1, description="client connections per address (or IPv6 /64); None: half of all. A proxy is one address"
    )
    head_timeout_s: float = Field(default=10, gt=0, description="a client must send a complete head of a request within this time")
    stall_timeout_s: float = Field(
        default=20, gt=0, description="a connection is closed when a body or an answer moves less than 1 KiB/s for this long"
    )
    max_running_requests: int = Field(
        default=256, ge=8, description="requests processed at once, per process; others wait up to 15 s, then 503"
    )
    max_body_bytes_at_once: int = Field(
        default=64 * MIB, ge=16 * MIB, description="bytes of people's request bodies at once, per process; half of it per address"
    )
    public_url: str = Field(
        default="http://127.0.0.1:8080", description="URL under which browsers and agents reach this server, for links"
    )
    tls_cert: Path | None = Field(
        default=None, description="PEM file of the server's certificate and its chain; with it the server speaks HTTPS"
    )
    tls_key: Path | None = Field(default=None, description="PEM file of its unencrypted key; None: in the file of the certificate")
    tls_client_ca: Path | None = Field(
        default=None, description="PEM file of authorities; agents must show a certificate that one of them signed"
    )
    cookie_secure: bool = Field(default=False, description="send the session cookie over HTTPS only; set it when serving over TLS")
    trusted_proxies: CommaSeparated = Field(
        default=(), description="comma-separated addresses or networks of proxies whose X-Forwarded-For and -Proto are trusted"
    )
    allowed_hosts: CommaSeparated = Field(
        default=(),
        description="comma-separated host names that this server answers to, besides IP addresses, localhost, the machine's own"
        " name and that of public_url; *.example.org for all subdomains, * for any",
    )
    page_dir: Path | None = Field(default=None, description="folder of the built page; None: the wheel's or the checkout's")
    agents_dir: Path | None = Field(
        default=None, description="folder of the agent script that hosts download; None: the wheel's or the checkout's"
    )
    migrations_dir: Path | None = Field(default=None, description="folder of the migrations; None: the wheel's or the checkout's")
    secret_key: SecretStr | None = Field(
        default=None,
        description="encrypts the secrets of second factors in the database, at least 32 characters, the same for all servers;"
        " None: they are stored as they are",
        min_length=32,
    )
    second_factor_role: Literal["viewer", "operator", "administrator"] | None = Field(
        default=None, description="accounts of this role and above must have a second factor (administrator, operator or viewer)"
    )
    oidc_issuer: str | None = Field(default=None, description="issuer of the OpenID Connect provider that accounts may log in at")
    oidc_client_id: str | None = Field(default=None, description="id of this server at the provider")
    oidc_client_secret: SecretStr | None = Field(default=None, description="secret of this server at the provider, if it gave one")
    oidc_scopes: str = Field(default="openid profile email", description="scopes to ask for; openid must be one")
    oidc_groups_claim: str = Field(
        default="groups", description="claim that has the groups of an account; dots lead into nested ones (realm_access.roles)"
    )
    oidc_name_claim: str = Field(default="preferred_username", description="claim that names a new account")
    oidc_admin_groups: CommaSeparated = Field(default=(), description="comma-separated groups whose members are administrators")
    oidc_operator_groups: CommaSeparated = Field(default=(), description="comma-separated groups whose members are operators")
    oidc_viewer_groups: CommaSeparated = Field(
        default=(), description="comma-separated groups whose members are viewers; * for everybody whom the provider knows"
    )
    oidc_host_groups: CommaSeparated = Field(
        default=(),
        description="comma-separated pairs GROUP=HOST GROUP: members see the hosts of these host groups alone; GROUP=* sees all"
        " hosts, and so do administrators. Empty: administrators of normstat decide for each account",
    )
    oidc_label: str = Field(default="single sign-on", description="what the button of the login page calls the provider")
    oidc_session_hours: float = Field(
        default=12, gt=0, description="a session from the provider ends after this time, and its role is that of the next login"
    )
    oidc_ca_file: Path | None = Field(
        default=None, description="certificates that the provider's is checked with; None: the system's"
    )
    session_days: int = Field(default=30, ge=1, description="a session ends after this many days")
    ingest_max_body_bytes: int = Field(default=16 * MIB, description="largest compressed body; larger is 413")
    ingest_max_plain_bytes: int = Field(default=64 * MIB, description="largest body after gzip; larger is 413")
    ingest_max_requests: int = Field(default=512, ge=1, description="agent requests at once, per process; above, 503")
    ingest_max_bytes: int = Field(default=64 * MIB, description="bytes of agents' request bodies at once, per process; above, 503")
    ingest_token_share: float = Field(
        default=0.5, gt=0, le=1, description="share of the two limits above that the agents of one token may use together"
    )
    ingest_max_plain_bytes_at_once: int = Field(default=256 * MIB, description="memory for their decompressed bodies, per process")
    ingest_max_hosts: int = Field(default=MAX_HOSTS, ge=1, description="total hosts that agents can create; above, 429")
    ingest_max_new_hosts: int = Field(default=MAX_NEW_HOSTS, ge=1, description="new hosts per token and hour; above, 429")
    ingest_max_new_streams: int = Field(default=MAX_NEW_STREAMS, ge=200, description="new streams per host and hour; above, 429")
    ingest_max_new_instances: int = Field(
        default=MAX_NEW_INSTANCES, ge=1, description="new instances per host, stat and hour; above, their lines are rejected"
    )
    share_max_days: int = Field(
        default=30, ge=0, le=365, description="longest life of a link that shows a comparison or report without login; 0: no links"
    )
    max_events_per_day: int = Field(
        default=20_000,
        ge=1,
        description="events of an account or agent token in 24 hours; above, 429, as for all that follow",
    )
    max_artefacts_per_day: int = Field(default=10_000, ge=1, description="artefacts of an account or agent token in 24 hours")
    max_runs_per_day: int = Field(default=10_000, ge=1, description="runs of experiments of an account or agent token in 24 hours")
    max_jobs_per_day: int = Field(default=10_000, ge=1, description="imports, reparses and backtests of an account in 24 hours")
    max_baseline_versions_per_day: int = Field(default=2_000, ge=1, description="changes to baselines by an account in 24 hours")
    max_experiments: int = Field(default=2_000, ge=1, description="experiments of an account or agent token")
    max_reports: int = Field(default=2_000, ge=1, description="reports and templates of an account")
    max_report_notes: int = Field(default=20_000, ge=1, description="notes of an account in all reports")
    max_report_files: int = Field(default=5_000, ge=1, description="files of an account in all reports")
    max_baselines: int = Field(default=2_000, ge=1, description="baselines of an account")
    max_exclusions: int = Field(default=5_000, ge=1, description="excluded periods of an account")
    max_mutes: int = Field(default=5_000, ge=1, description="muted series of an account")
    max_watch_mutes: int = Field(default=2_000, ge=1, description="mutes of rules of an account that have not ended")
    max_rule_limits: int = Field(default=2_000, ge=1, description="limits of rules of an account")
    max_saved_comparisons: int = Field(default=2_000, ge=1, description="saved comparisons of an account")
    max_views: int = Field(default=500, ge=1, description="saved views of an account")
    max_api_tokens: int = Field(default=200, ge=1, description="valid API tokens of an account")
    max_share_links: int = Field(default=200, ge=1, description="valid share links of an account")
    max_host_groups: int = Field(default=1_000, ge=1, description="host groups of an account")
    agent_token_days: int = Field(
        default=0, ge=0, le=100_000, description="rotate host-bound agent tokens after this many days; 0: never"
    )
    import_dir: Path | None = Field(default=None, description="folder for files waiting to be imported; None: a temporary one")
    import_max_upload_bytes: int = Field(default=8 << 30, description="largest file that /imports accepts; larger is 413")
    import_max_bytes: int = Field(default=50 << 30, description="maximum bytes that one import decompresses")
    export_max_at_once: int = Field(
        default=4, ge=1, description="exports at once, per process (at most half of the connections); others wait, then 503"
    )
    busy_max_wait_s: float = Field(default=20.0, ge=0, description="how long an export or a comparison waits in the queue")
    reader_stall_s: float = Field(
        default=60.0, gt=0, description="a client that reads nothing of a stream for this long is disconnected"
    )
    compare_max_at_once: int = Field(default=3, ge=1, description="comparisons at once, per process; others wait, then 503")
    compare_max_bytes: int = Field(
        default=640 * MIB, ge=16 * MIB, description="memory of all comparisons at once, per process; a larger one is 413"
    )
    compare_cache_max_bytes: int = Field(
        default=64 * MIB, ge=0, description="results of comparisons kept in memory, per process; 0: none"
    )
    compare_max_rows: int = Field(
        default=4_000_000,
        description="maximum rows of one stat read for each side of a comparison; evenly spaced pieces of more, or of what does"
        " not fit into NORMSTAT_COMPARE_MAX_BYTES",
    )
    change_verdict_minutes: int = Field(
        default=15,
        ge=0,
        le=1440,
        description="a deployment, a setting, a reboot or a change of facts is judged this many minutes after it: the time after it"
        " against the time before; 0: never",
    )
    seal_after_days: int | None = Field(
        default=None,
        ge=0,
        le=100_000,
        description="samples of a day are packed into sealed blocks this many days after its end; 0: never; None: 1, and"
        " never where TimescaleDB's columnstore packs them",
    )
    pack_after_days: int = Field(
        default=1,
        ge=0,
        le=100_000,
        description="raw bytes are packed when the day they arrived on (UTC) ended this many days ago; 0: never",
    )
    alert_scripts_dir: Path | None = Field(
        default=None, description="folder of the programs that alert channels may run; None: none may be run"
    )
    alert_days: int = Field(
        default=400, ge=0, le=100_000, description="alerts that ended this many days ago are deleted, with their messages; 0: never"
    )
    audit_days: int = Field(
        default=0, ge=0, le=100_000, description="delete entries of the audit log after this many days, at least 30; 0: never"
    )
    audit_syslog: str | None = Field(
        default=None, description="where the audit log is sent, too: udp://HOST:PORT, tcp://HOST:PORT or unix:/PATH (RFC 5424)"
    )
    log_max_bytes: int = Field(
        default=10 * MIB, ge=4096, description="maximum size of a log file of `normstat up` before it is rotated"
    )
    log_files: int = Field(default=5, ge=1, le=1000, description="number of files kept per log, including the current one")
    read_only: bool = Field(
        default=False,
        description="refuse requests of people and agents that change data; logins and this server's own work go on."
        " `normstat demo` sets it",
    )
    metrics_token: SecretStr | None = Field(
        default=None, description="token that /metrics asks for; None: it answers clients on this machine only"
    )
    notify_socket: str | None = Field(
        default=None, validation_alias="NOTIFY_SOCKET", description="where systemd learns that the server is ready; systemd sets it"
    )
    log_level: Annotated[Literal["debug", "info", "warning", "error"], BeforeValidator(_lower)] = Field(
        default="info", description="debug, info, warning or error"
    )

    @property
    def agent_token_max_age(self) -> timedelta | None:
        """From when on a token of a host is to be rotated; None: never by its age."""
        return timedelta(days=self.agent_token_days) if self.agent_token_days else None

    @property
    def change_verdict_after(self) -> timedelta | None:
        """How long after a change it is judged. Missing: None for never."""
        return timedelta(minutes=self.change_verdict_minutes) if self.change_verdict_minutes else None

    @property
    def ingest_limits(self) -> IngestLimits:
        """The limits of new names that agents may bring."""
        return IngestLimits(
            hosts=self.ingest_max_hosts,
            new_hosts=self.ingest_max_new_hosts,
            new_streams=self.ingest_max_new_streams,
            new_instances=self.ingest_max_new_instances,
        )


@cache
def load_settings() -> Settings:
    """Return the settings of this process, read once; bad ones end the process with a sentence about each."""
    config = os.environ.get("NORMSTAT_CONFIG")
    if config and not _is_readable_file(Path(config)):
        raise SystemExit(f"normstat: NORMSTAT_CONFIG names {config}, which cannot be read")
    sentences: list[str] = []
    try:
        sentences += unknown_settings()
        settings = Settings(_env_file=_env_file(), _secrets_dir=_secrets_dir())  # type: ignore[call-arg]  # pydantic-settings' own
    except UnicodeDecodeError:
        sentences.append(f"{config_file()} is not UTF-8")
    except tomllib.TOMLDecodeError as error:
        sentences.append(f"{config_file()} is not valid TOML: {error}")
    except BadSecretFile as error:
        sentences.append(str(error))
    except ValidationError as error:
        sources = find_sources()
        # Without the value: it may be a secret.
        wrong = error.errors(include_input=False)
        sentences += [_say_what_is_wrong(str(one["loc"][0]), one["msg"], sources) for one in wrong]
    if sentences:
        raise SystemExit("\n".join(f"normstat: {sentence}" for sentence in sentences))
    return settings


def _say_what_is_wrong(place: str, message: str, sources: Mapping[str, str]) -> str:
    """Return a sentence about a bad value; pydantic names the field or one of its variables."""
    field = _field_of(place) or place
    said = re.sub(r"^[A-Z][a-z]+ should ", "must ", message).replace(" items after validation", " characters")
    return f"{setting_variable(field)} ({sources.get(field, 'default')}) {said}"


def config_file() -> Path | None:
    """Return the normstat.toml that is read; None where there is none, or this account may not read it."""
    path = Path(os.environ.get("NORMSTAT_CONFIG") or DEFAULT_CONFIG)
    return path if _is_readable_file(path) else None


def _is_readable_file(path: Path) -> bool:
    return path.is_file() and os.access(path, os.R_OK)


def _env_file() -> str | None:
    """Return the file of lines NAME=VALUE; None where there is none, or this account may not read it."""
    return _readable(os.environ.get("NORMSTAT_ENV_FILE"))


def _secrets_dir() -> str | None:
    return _readable(os.environ.get("CREDENTIALS_DIRECTORY"))


def _readable(path: str | None) -> str | None:
    return path if path and os.access(path, os.R_OK) else None


def setting_variables(field: str) -> list[str]:
    """Return the environment variables of a setting, the one to document first."""
    alias = Settings.model_fields[field].validation_alias
    if alias is None:
        return [f"NORMSTAT_{field.upper()}"]
    return [str(name) for name in (alias.choices if isinstance(alias, AliasChoices) else [alias])]


def setting_variable(field: str) -> str:
    """Return the environment variable of a setting."""
    return setting_variables(field)[0]


def _field_of(key: str) -> str | None:
    """Return the setting that a source or an error means by a field's name or one of its variables; None: it is not a setting."""
    if key in Settings.model_fields:
        return key
    return next((field for field in Settings.model_fields if key.upper() in setting_variables(field)), None)


def find_sources() -> dict[str, str]:
    """Return where each setting that is not at its default comes from, by field."""
    env_file, secrets_dir, file = _env_file(), _secrets_dir(), config_file()
    environment = EnvSettingsSource(Settings)
    sources: list[tuple[str, PydanticBaseSettingsSource]] = [
        ("environment", environment),
        ("a file that the environment names", _SecretFiles(Settings, environment.env_vars, "normstat_")),
    ]
    if env_file:
        lines = DotEnvSettingsSource(Settings, env_file=env_file)
        sources += [(env_file, lines), (f"a file that {env_file} names", _SecretFiles(Settings, lines.env_vars, "normstat_"))]
    if secrets_dir:
        sources.append(("a credential of systemd", SecretsSettingsSource(Settings, secrets_dir=secrets_dir)))
    if file:
        table = TomlConfigSettingsSource(Settings, file)
        sources += [(str(file), table), (f"a file that {file} names", _SecretFiles(Settings, table.toml_data, ""))]
    found: dict[str, str] = {}
    for where, source in sources:
        for key in source():
            if (field := _field_of(key)) is not None:
                found.setdefault(field, where)
    return found


def unknown_settings() -> list[str]:
    """Return a sentence for each key of normstat.toml that is not a setting, with the one that it resembles."""
    file = config_file()
    if file is None:
        return []
    with file.open("rb") as stream:
        keys = list(tomllib.load(stream))
    known = [*Settings.model_fields, *(f"{field}{FILE}" for field in SECRETS)]
    return [
        f"{file} has an unknown setting {key!r}{_suggest(key.lower().removeprefix('normstat_'), known)}"
        for key in keys
        if key not in known
    ]


def misspelled_variables() -> list[str]:
    """Return a sentence for each environment variable that resembles a setting's but is not one.

    Other variables that begin with NORMSTAT_ belong to the agent, the client and the build.
    """
    known = [name for field in Settings.model_fields for name in setting_variables(field)]
    known += [f"{setting_variable(field)}{FILE.upper()}" for field in SECRETS]
    unknown = [name for name in os.environ if name.startswith("NORMSTAT_") and name not in known]
    return [f"{name} is not a setting{guess}" for name in unknown if (guess := _suggest(name, known))]


def _suggest(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.85)
    return f"; did you mean {near[0]}?" if near else ""


def name_of_database_url() -> str | None:
    """Return the variable or the file that names the database; None where the default is used."""
    named = next((name for name in setting_variables("database_url") if name in os.environ), None)
    return named or find_sources().get("database_url")


def adopt_environment(environment: Mapping[str, str]) -> None:
    """Use the settings of another process from now on: those of ours that it does not have are forgotten."""
    for name in [name for name in os.environ if name.startswith("NORMSTAT_") or name in {"DATABASE_URL", "CREDENTIALS_DIRECTORY"}]:
        del os.environ[name]
    os.environ.update(environment)
    load_settings.cache_clear()


def adopt_installation(database_url: str, public_url: str) -> None:
    """Use this database and public URL from now on, in this process and those that it starts."""
    os.environ.update({"NORMSTAT_DATABASE_URL": database_url, "NORMSTAT_PUBLIC_URL": public_url})
    load_settings.cache_clear()
