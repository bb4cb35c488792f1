"""Limits of what agents may bring. Of new names: a leaked token, or a tool gone mad, must not fill the database with names."""

from dataclasses import dataclass
from typing import Final

# A host runs some fifty tools; each begins a stream per day, and one whenever the agent or the tool restarts.
MAX_NEW_STREAMS: Final = 2000
# Per token: a fleet set up at once with the same token needs as many hours as it has thousands of hosts.
MAX_NEW_HOSTS: Final = 1000
MAX_HOSTS: Final = 10_000
# A busy host starts some thousand processes an hour, a build server some ten thousand.
MAX_NEW_INSTANCES: Final = 50_000
# One batch is read while another is written; more would only wait for the same two.
BATCHES_AT_ONCE: Final = 2


@dataclass(frozen=True, slots=True)
class IngestLimits:
    """Limits of what agents may bring; settings.py has the settings.

    `new_hosts`: per token and hour. `new_streams`: per host and hour. `new_instances`: per host and stat, for an hour of its
    samples.
    """

    hosts: int = MAX_HOSTS
    new_hosts: int = MAX_NEW_HOSTS
    new_streams: int = MAX_NEW_STREAMS
    new_instances: int = MAX_NEW_INSTANCES
