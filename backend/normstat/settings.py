"""The settings of the server: the only place that reads the environment.

Every variable is named NORMSTAT_<FIELD>; DATABASE_URL is accepted too, because hosting platforms set it. What the environment does
not say may be in files: a secret in a file of its name, in the folder that systemd gives a service (CREDENTIALS_DIRECTORY), and
everything in one file of lines NAME=VALUE, which NORMSTAT_ENV_FILE names.
"""

import os
from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AliasChoices, BeforeValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from normstat.runtime.ingest_limits import MAX_HOSTS, MAX_NEW_HOSTS, MAX_NEW_INSTANCES, MAX_NEW_STREAMS, IngestLimits

# For agents 4, and one each for health, events of the database, looking for work, imports, reparses, deletions, backtests, alerts
# and webhooks (tests/db/test_connection_budget.py counts them).
CONNECTIONS_BESIDE_POOL = 13
MIB = 1024 * 1024


def _split(value: object) -> object:
    """Return the comma-separated parts of an environment variable."""
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


# One variable with commas, not JSON.
CommaSeparated = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]


class Settings(BaseSettings):
    """All settings, with the defaults that `make run` uses."""

    model_config = SettingsConfigDict(env_prefix="NORMSTAT_", frozen=True, extra="ignore", populate_by_name=True)

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
        default=0, ge=0, le=100_000, description="agents change a token that is bound to their host after so many days; 0: never"
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
        default=0, ge=0, le=100_000, description="entries of the audit log are deleted after so many days, 30 at least; 0: never"
    )
    audit_syslog: str | None = Field(
        default=None, description="where the audit log is sent, too: udp://HOST:PORT, tcp://HOST:PORT or unix:/PATH (RFC 5424)"
    )
    log_max_bytes: int = Field(
        default=10 * MIB, ge=4096, description="maximum size of a log file of `normstat up` before it is rotated"
    )
    log_files: int = Field(default=5, ge=1, le=1000, description="number of files kept per log, including the current one")
    metrics_token: SecretStr | None = Field(
        default=None, description="token that /metrics asks for; None: it answers clients on this machine only"
    )
    notify_socket: str | None = Field(
        default=None, validation_alias="NOTIFY_SOCKET", description="where systemd learns that the server is ready; systemd sets it"
    )
    log_level: str = Field(default="info", description="debug, info, warning or error")

    @property
    def agent_token_max_age(self) -> timedelta | None:
        """From when on a token of a host is to be rotated; None: never by its age."""
        return timedelta(days=self.agent_token_days) if self.agent_token_days else None

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
    """Return the settings of this process, read once; a value that cannot be used ends the process with a sentence about it."""
    # Accounts that may not read the file use the environment alone.
    env_file, secrets_dir = _readable(os.environ.get("NORMSTAT_ENV_FILE")), _readable(os.environ.get("CREDENTIALS_DIRECTORY"))
    try:
        return Settings(_env_file=env_file, _secrets_dir=secrets_dir)  # type: ignore[call-arg]  # pydantic-settings' own
    except ValidationError as error:
        # Without the value: it may be a secret.
        wrong = [f"NORMSTAT_{'_'.join(map(str, one['loc'])).upper()}: {one['msg']}" for one in error.errors(include_input=False)]
        raise SystemExit(f"normstat: wrong settings: {'; '.join(wrong)}") from None


def _readable(path: str | None) -> str | None:
    return path if path and os.access(path, os.R_OK) else None


def name_of_database_url() -> str | None:
    """Return the variable or the file that names the database; None where the default is used."""
    named = next((name for name in ("NORMSTAT_DATABASE_URL", "DATABASE_URL") if name in os.environ), None)
    if named is None and "database_url" in load_settings().model_fields_set:
        return os.environ.get("NORMSTAT_ENV_FILE") or "a credential of systemd"
    return named


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
