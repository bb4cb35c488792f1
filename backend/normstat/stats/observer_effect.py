"""How far a tool disturbs what it watches: its kinds, and in words."""

from enum import StrEnum
from typing import Final


class Effect(StrEnum):
    """How much a tool slows down what it watches.

    none   it looks afterwards, or costs nothing that can be measured
    light  some percent: sampling profilers, counters, aggregations in the kernel
    heavy  several times: it stops a process at each call, or traces every event
    """

    NONE = "none"
    LIGHT = "light"
    HEAVY = "heavy"


# The known cost of a tool that stops a process at each call: 120,000 system calls a second became 12,000 under truss.
_CUTS: Final = {"truss": "cuts the rate of what it watches about 10 times"}


def describe_effect(tool: str, effect: Effect) -> str:
    """Return the effect of a tool on what it watches, in words that follow its name.

    >>> describe_effect("truss", Effect.HEAVY)
    'cuts the rate of what it watches about 10 times'
    >>> describe_effect("dtrace", Effect.LIGHT), describe_effect("iozone", Effect.NONE)
    ('slows what it watches by some percent', 'does not disturb what it watches')
    """
    match effect:
        case Effect.HEAVY:
            return _CUTS.get(tool, "slows what it watches several times")
        case Effect.LIGHT:
            return "slows what it watches by some percent"
        case Effect.NONE:
            return "does not disturb what it watches"
