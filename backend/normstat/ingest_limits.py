"""How much that is new agents may bring: a leaked token, or a tool gone mad, must not fill the database with names."""

from dataclasses import dataclass
from typing import Final

# A host runs some fifty tools; each begins a stream a day, and one each time that the agent or the tool is started again.
MAX_NEW_STREAMS: Final = 2000
# Of one token: a fleet that is set up in one go with the same token takes as many hours as it has thousands of hosts.
MAX_NEW_HOSTS: Final = 1000
MAX_HOSTS: Final = 10_000
# A busy host starts some thousand processes an hour, a build server some ten thousand.
MAX_NEW_INSTANCES: Final = 50_000


@dataclass(frozen=True, slots=True)
class IngestLimits:
    """What agents may bring; the settings with the same meaning are in settings.py.

    `new_hosts`: of a token within an hour. `new_streams`: of a host within an hour. `new_instances`: of a host and stat for an hour
    of its samples.
    """

    hosts: int = MAX_HOSTS
    new_hosts: int = MAX_NEW_HOSTS
    new_streams: int = MAX_NEW_STREAMS
    new_instances: int = MAX_NEW_INSTANCES
