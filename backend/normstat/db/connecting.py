"""How each connection is made, and to what kind of database. Without SQLAlchemy: those who ask for the schema alone need none."""

import os
import secrets
from typing import Final

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from normstat import __version__
from normstat.errors import BadRequest
from normstat.settings import load_settings

# A column that only the coordinator of a cluster has.
IS_DISTRIBUTED: Final = (
    "EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('public.chunks') AND attname = 'host_id' AND NOT attisdropped)"
)
CONNECT_TIMEOUT_S = 10
# Drawn when this module is imported. A forked process has the same one, but another process id.
_IMPORT_ID: Final = secrets.token_hex(4)
# A database whose machine silently vanished is noticed after about a minute, whether something was asked of it or not.
KEEPALIVES: Final[dict[str, str | int]] = {
    "keepalives": 1, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 60_000,
}  # fmt: skip
# The same for the other end: the locks of a server whose machine vanished (leader, jobs, hosts) go with its connections, which the
# database would keep for two hours. And text printed by PostgreSQL (and dates without a zone) must not depend on its own zone.
SESSION_OPTIONS: Final = " ".join(
    f"-c {name}={value}"
    for name, value in {
        "timezone": "UTC", "tcp_keepalives_idle": 30, "tcp_keepalives_interval": 10, "tcp_keepalives_count": 3,
        "tcp_user_timeout": 60_000,
    }.items()
)  # fmt: skip
# The coordinator of a cluster keeps connections to shards, tells workers the time limits of a transaction, and gives a worker that
# does not answer a few seconds. With one kept connection for each worker, Citus's default, each batch makes all others again.
CLUSTER_OPTIONS: Final = " ".join(
    f"-c citus.{name}={value}"
    for name, value in {
        "max_cached_conns_per_worker": 16, "propagate_set_commands": "local", "node_connection_timeout": 5_000,
    }.items()
)  # fmt: skip


def is_citus() -> bool:
    """Return whether the database is the coordinator of a Citus cluster."""
    return load_settings().distributed == "citus"


def process_id() -> str:
    """Return a name that distinguishes the connections of this process from those of others, on any machine."""
    return f"{_IMPORT_ID}-{os.getpid()}"


def connect_arguments(database_url: str) -> dict[str, str | int]:
    """Return libpq's connection parameters for that URL, with our defaults for what it leaves out.

    Raises: BadRequest when it is not a libpq URL
    """
    try:
        parsed = conninfo_to_dict(database_url)
    except ProgrammingError as error:
        raise BadRequest(f"The database URL is not a valid libpq URL: {str(error).strip()}") from None
    defaults: dict[str, str | int] = KEEPALIVES | {
        # `normstat doctor` compares the versions of all that are connected.
        "application_name": f"normstat {__version__} {process_id()}",
        "connect_timeout": CONNECT_TIMEOUT_S,
        "options": f"{SESSION_OPTIONS} {CLUSTER_OPTIONS}" if is_citus() else SESSION_OPTIONS,
    }
    return defaults | {key: value for key, value in parsed.items() if value is not None}
