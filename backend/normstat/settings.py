"""The settings of the server: the only place that reads the environment.

Every variable is named NORMSTAT_<FIELD>; DATABASE_URL is taken too, because that is what hosting platforms set.
"""

from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import AliasChoices, BeforeValidator, Field, SecretStr
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from normstat.ingest_limits import MAX_HOSTS, MAX_NEW_HOSTS, MAX_NEW_INSTANCES, MAX_NEW_STREAMS, IngestLimits

MIB = 1024 * 1024


def _split(value: object) -> object:
    """Return the parts between commas of what the environment says."""
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


# One variable with commas, not JSON.
CommaSeparated = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]


class Settings(BaseSettings):
    """All settings, each with the default that `make run` uses."""

    model_config = SettingsConfigDict(env_prefix="NORMSTAT_", frozen=True, extra="ignore")

    database_url: str = Field(
        default="postgresql://normstat@127.0.0.1/normstat",
        validation_alias=AliasChoices("NORMSTAT_DATABASE_URL", "DATABASE_URL"),
        description="libpq URL of the PostgreSQL database",
    )
    admin_url: str | None = Field(default=None, description="libpq URL of a superuser, for `normstat own-database` only")
    workers: int = Field(default=1, ge=1, le=64, description="processes of `normstat serve` that share the work")
    database_dir: Path | None = Field(default=None, description="folder whose disk the database lies on; None asks the database")
    database_pool_size: int = Field(default=8, ge=2, description="connections for people and jobs, by process; 8 more are made")
    max_connections: int = Field(
        default=4000, ge=16, description="connections of clients at once, by process; beyond, the longest idle one is dropped"
    )
    max_connections_per_address: int | None = Field(
        default=None, ge=1, description="of them from one address (or one /64 of IPv6); None: half. A proxy is one address"
    )
    head_timeout_s: float = Field(default=10, gt=0, description="a client must send a complete head of a request within this time")
    stall_timeout_s: float = Field(
        default=20, gt=0, description="a connection ends when a body or an answer moves less than 1 KiB/s for so long"
    )
    max_running_requests: int = Field(
        default=256, ge=8, description="requests that are worked on at once, by process; others wait for 15 s, beyond, 503"
    )
    max_body_bytes_at_once: int = Field(
        default=64 * MIB, ge=16 * MIB, description="bytes of bodies of people's requests at once, by process; half for one address"
    )
    public_url: str = Field(default="http://127.0.0.1:8080", description="what browsers and agents type, for links")
    cookie_secure: bool = Field(default=False, description="send the session cookie over HTTPS only; set it behind TLS")
    trusted_proxies: CommaSeparated = Field(
        default=(), description="addresses or networks, with commas, of proxies whose X-Forwarded-For and -Proto are believed"
    )
    allowed_hosts: CommaSeparated = Field(
        default=(),
        description="names, with commas, that browsers may call this server by, besides IP addresses, localhost, the machine's own"
        " name and that of public_url; *.example.org for all below, * for any",
    )
    page_dir: Path | None = Field(default=None, description="folder of the built page; None serves the API only")
    agents_dir: Path | None = Field(default=None, description="folder of the agent script that hosts download")
    migrations_dir: Path | None = Field(default=None, description="folder of the migrations; None finds the checkout's")
    session_days: int = Field(default=30, ge=1, description="a session ends after this many days")
    ingest_max_body_bytes: int = Field(default=16 * MIB, description="largest compressed body; larger is 413")
    ingest_max_plain_bytes: int = Field(default=64 * MIB, description="largest body after gzip; larger is 413")
    ingest_max_requests: int = Field(default=512, ge=1, description="requests of agents at once, by process; beyond, 503")
    ingest_max_bytes: int = Field(default=64 * MIB, description="bytes of their bodies at once, by process; beyond, 503")
    ingest_token_share: float = Field(
        default=0.5, gt=0, le=1, description="part of the two limits above that the agents of one token may take together"
    )
    ingest_max_plain_bytes_at_once: int = Field(default=256 * MIB, description="memory for what is unpacked of them, by process")
    ingest_max_hosts: int = Field(default=MAX_HOSTS, ge=1, description="hosts in all that agents can make; beyond, 429")
    ingest_max_new_hosts: int = Field(default=MAX_NEW_HOSTS, ge=1, description="hosts that one token makes in an hour; beyond, 429")
    ingest_max_new_streams: int = Field(
        default=MAX_NEW_STREAMS, ge=200, description="streams that one host begins in an hour; beyond, 429"
    )
    ingest_max_new_instances: int = Field(
        default=MAX_NEW_INSTANCES, ge=1, description="instances of a stat that are new on a host in an hour; beyond, rejected lines"
    )
    import_dir: Path | None = Field(default=None, description="folder of files that wait to be imported; None: a temporary one")
    import_max_upload_bytes: int = Field(default=8 << 30, description="largest file that /imports takes; larger is 413")
    import_max_bytes: int = Field(default=50 << 30, description="most bytes that one import unpacks")
    export_max_at_once: int = Field(
        default=4, ge=1, description="exports at once, by process (at most half of the connections); others wait, then 503"
    )
    busy_max_wait_s: float = Field(default=20.0, ge=0, description="how long an export or a comparison waits for its turn")
    reader_stall_s: float = Field(default=60.0, gt=0, description="a client that reads nothing of a stream for so long is cut off")
    compare_max_at_once: int = Field(default=3, ge=1, description="comparisons at once, by process; others wait, then 503")
    compare_max_bytes: int = Field(
        default=640 * MIB, ge=16 * MIB, description="memory of all comparisons at once, by process; a larger one is 413"
    )
    compare_max_rows: int = Field(default=500_000, description="most rows of one stat read for each side of a comparison")
    log_max_bytes: int = Field(
        default=10 * MIB, ge=4096, description="length of a log file of `normstat up`; then a new one begins"
    )
    log_files: int = Field(default=5, ge=1, le=1000, description="files that it keeps of each log, the current one among them")
    metrics_token: SecretStr | None = Field(
        default=None, description="token that /metrics asks for; None: it answers clients on this machine only"
    )
    log_level: str = Field(default="info", description="debug, info, warning or error")

    @property
    def ingest_limits(self) -> IngestLimits:
        """How much that is new agents may bring."""
        return IngestLimits(
            hosts=self.ingest_max_hosts,
            new_hosts=self.ingest_max_new_hosts,
            new_streams=self.ingest_max_new_streams,
            new_instances=self.ingest_max_new_instances,
        )


@cache
def load_settings() -> Settings:
    """Return the settings of this process, read once."""
    return Settings()
