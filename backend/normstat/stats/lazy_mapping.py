"""A mapping that makes its values when they are first asked for."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

V = TypeVar("V")


class LazyMapping(Mapping[str, V], Generic[V]):
    """Keys in a fixed order; `make` makes the value of a key, once.

    >>> squares = LazyMapping(["2", "3"], lambda key: int(key) ** 2)
    >>> "3" in squares, squares.get("4"), dict(squares)
    (True, None, {'2': 4, '3': 9})
    """

    def __init__(self, keys: Iterable[str], make: Callable[[str], V]) -> None:
        self._keys = dict.fromkeys(keys)
        self._make = make
        self._made: dict[str, V] = {}

    def __getitem__(self, key: str) -> V:
        if key not in self._made:
            if key not in self._keys:
                raise KeyError(key)
            # If two threads make a value at once, all callers get the one that was stored first.
            self._made.setdefault(key, self._make(key))
        return self._made[key]

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)
