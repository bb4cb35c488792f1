"""The units of fields, and what they stand for. The page has the same rule in frontend/src/logic/unit.ts.

Sizes by their exact names: KiB, MiB and GiB are powers of 1024 bytes, kB, MB and GB powers of 1000. Tools that print "kB", "KB" or
"MB" nearly always count 1024 (sysstat, the kernel, iostat of Solaris, free, df -k), so their specs say KiB and MiB.
"""

from collections.abc import Mapping
from typing import Final

BINARY: Final[Mapping[str, int]] = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}
DECIMAL: Final[Mapping[str, int]] = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15}
MIB: Final = 2**20
GIB: Final = 2**30
BYTES: Final[Mapping[str, int]] = {**BINARY, **DECIMAL, "bytes": 1, "sectors": 512}
MILLISECONDS: Final[Mapping[str, float]] = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}
# The unit of numbers that stand for the states of the SE toolkit, in this order.
STATE: Final = "state"
STATES: Final = ("white", "blue", "green", "amber", "red", "black")


def name_state(value: float) -> str | None:
    """Return the name of a state. Missing: None for a number between two, as a mean of states is, or beyond them

    >>> name_state(4), name_state(2.5)
    ('red', None)
    """
    return STATES[int(value)] if value == int(value) and 0 <= value < len(STATES) else None


def to_base(value: float | None, unit: str) -> float | None:
    """Return sizes in bytes, times in milliseconds, anything else unchanged; rates stay per second. Missing: None stays None.

    >>> to_base(2, "KiB/s"), to_base(2, "kB"), to_base(2, "s"), to_base(2, "requests")
    (2048, 2000, 2000.0, 2)
    """
    if value is None:
        return None
    name = unit.removesuffix("/s")
    return value * BYTES.get(name, MILLISECONDS.get(name, 1))


def scale(value: float, unit: str) -> tuple[float, str] | None:
    """Return a size or a time in the unit in which it has one to three digits. Missing: None for other units.

    >>> scale(1_894_930.0, "KiB/s")
    (1.8071460723876953, 'GiB/s')
    """
    base, slash, rest = unit.partition("/")
    base = "B" if base == "bytes" else base
    family: Mapping[str, float] | None = next((some for some in (DECIMAL, BINARY, MILLISECONDS) if base in some), None)
    if family is None:
        return None
    in_base = value * family[base]
    if not in_base:
        return value, f"{base}{slash}{rest}"
    fitting = [name for name, size in family.items() if abs(in_base) >= size]
    name = fitting[-1] if fitting else next(iter(family))
    return in_base / family[name], f"{name}{slash}{rest}"
