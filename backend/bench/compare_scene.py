"""Where a fault of a made-up host goes: the host as it is without the fault, and how series are picked and changed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from bench.compare_host import FloatArray, Plan, Raw

Size = Literal["obvious", "medium", "hard"]
SIZES: Final[tuple[Size, ...]] = ("obvious", "medium", "hard")
Key = tuple[str, int]
BoolArray = npt.NDArray[np.bool_]


class NothingSuitsError(Exception):
    """The host has no series that can have this fault."""


@dataclass(slots=True)
class Scene:
    """A host before the fault, and where the fault goes.

    `raw` is changed; `printed` is what the tools print without the fault, "stat/field" -> (n_times, n_instances).
    """

    rng: np.random.Generator
    plan: Plan
    raw: Raw
    printed: Raw
    size: Size
    injected: list[Key] = field(default_factory=list)
    # Samples of the incident that do not come, of all that is injected. Shape: (n_incident,) bool
    gone: BoolArray | None = None

    @property
    def n(self) -> int:
        return self.plan.n_baseline

    def baseline(self, key: Key) -> FloatArray:
        return self.printed[key[0]][: self.n, key[1]]

    def incident(self, key: Key) -> FloatArray:
        return self.printed[key[0]][self.n :, key[1]].copy()

    def swing(self, key: Key) -> float:
        low, high = np.quantile(self.baseline(key), (0.05, 0.95))
        return float(high - low)

    def by_size(self, obvious: float, medium: float, hard: float) -> float:
        """The value for this size, give or take a tenth."""
        return {"obvious": obvious, "medium": medium, "hard": hard}[self.size] * float(self.rng.uniform(0.9, 1.1))

    def put(self, key: Key, values: FloatArray) -> None:
        """The incident of a series from now on."""
        stat_field, column = key
        self.raw[stat_field] = self.raw[stat_field].copy()
        self.raw[stat_field][self.n :, column] = np.maximum(values, 0.0)
        if key not in self.injected:
            self.injected.append(key)

    def pick(self, fields: Sequence[str], suits: Callable[[Key], bool]) -> Key:
        """Some series of one of the fields that suits; every field is as likely, however many instances it has."""
        for name in self.rng.permutation(np.array(fields)):
            keys = [(str(name), int(column)) for column in self.rng.permutation(self.printed[name].shape[1])]
            for key in keys:
                if suits(key):
                    return key
        raise NothingSuitsError(str(fields))

    def is_lively(self, key: Key) -> bool:
        """Whether it moves on both sides: many values, seldom zero, and a swing of at least four printed steps."""
        sides = self.baseline(key), self.incident(key)
        n_values = [len(np.unique(side)) for side in sides]
        step = float(np.diff(np.unique(sides[0])).min()) if n_values[0] > 1 else 0.0
        enough = [min(8, len(side) // 2) for side in sides]
        return (
            all(n >= least for n, least in zip(n_values, enough, strict=True))
            and all((side == 0).mean() < 0.3 for side in sides)
            and self.swing(key) >= 4 * step * 0.999
        )
