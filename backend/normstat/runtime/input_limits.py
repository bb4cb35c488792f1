"""Limits of what comes in: agents' data and new names, and uploads.

A leaked token, or a runaway tool, must not fill the database with names. Apart from the modules that read uploads: every server
needs the limits, few read an upload.
"""

import re
from dataclasses import dataclass
from typing import Final

from normstat.errors import TooManyRequests

HOST_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._:-]{0,199}", re.ASCII)
# A host runs some fifty tools; each begins a stream per day, and one whenever the agent or the tool restarts.
MAX_NEW_STREAMS: Final = 2000
# Per token: a fleet set up at once with the same token needs as many hours as it has thousands of hosts.
MAX_NEW_HOSTS: Final = 1000
MAX_HOSTS: Final = 10_000
# A busy host starts some thousand processes an hour, a build server some ten thousand.
MAX_NEW_INSTANCES: Final = 50_000
# The longest time that agents wait.
RETRY_AFTER_S: Final = 300
# One batch is read while another is written; more would only wait for the same two.
BATCHES_AT_ONCE: Final = 2
# `perf script` of minutes is larger, its folded stacks are not.
MAX_ARTEFACT_BYTES: Final = 256 << 20
MAX_REPORT_FILE_BYTES: Final = 32 << 20


@dataclass(frozen=True, slots=True)
class IngestLimits:
    """Limits of agents' data and new names; settings.py has the settings.

    `new_hosts`: per token and hour. `new_streams`: per host and hour. `new_instances`: per host and stat, for an hour of its
    samples.
    """

    hosts: int = MAX_HOSTS
    new_hosts: int = MAX_NEW_HOSTS
    new_streams: int = MAX_NEW_STREAMS
    new_instances: int = MAX_NEW_INSTANCES


def too_many_hosts(limit: int) -> TooManyRequests:
    """Return the error for a host that would be one too many."""
    return TooManyRequests(
        f"This server has reached its limit of {limit} hosts; delete hosts that are gone, or raise NORMSTAT_INGEST_MAX_HOSTS;"
        " nothing was stored",
        {"retry_after_s": RETRY_AFTER_S},
    )
