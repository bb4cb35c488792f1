"""The types of metrics announced by senders: Prometheus sends them once a minute, in requests without samples.

They are lost when the process ends. Readers keep the types that they were given (stats/readers/exposition), so that no series
changes.
"""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

MAX_TYPES: Final = 20_000
MAX_SENDERS: Final = 200
NOTHING: Final[Mapping[str, str]] = {}


class TypeMemory:
    """Types by the token of their sender; those used longest ago go first.

    >>> memory = TypeMemory()
    >>> memory.learn(1, {"up": "gauge"}); memory.known(1), memory.known(2)
    ({'up': 'gauge'}, {})
    """

    def __init__(self) -> None:
        self._types: OrderedDict[int, dict[str, str]] = OrderedDict()

    def known(self, token_id: int) -> Mapping[str, str]:
        """Return the types by the name of the metric."""
        return self._types.get(token_id, NOTHING)

    def learn(self, token_id: int, types: Mapping[str, str]) -> None:
        """Remember the types."""
        if not types:
            return
        own = self._types.setdefault(token_id, {})
        self._types.move_to_end(token_id)
        if len(self._types) > MAX_SENDERS:
            self._types.popitem(last=False)
        own.update(types)
        while len(own) > MAX_TYPES:
            del own[next(iter(own))]
