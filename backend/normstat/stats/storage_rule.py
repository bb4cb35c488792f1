"""The type of a field's column where its spec names none: four bytes where no host's numbers can be larger, else eight.

Half the bytes of a row are saved on disk and on the way; what is in doubt gets eight bytes, because a number that does not fit
costs the field a second column (samples/wide_columns.py).
"""

from collections.abc import Container
from typing import Final

from normstat.stats.spec import Kind, Storage

# A dec4 of two decimals ends at 21 474 836.47: shares, milliseconds, events a second. 20 GiB/s in KiB/s is in reach, and 200 GiB/s,
# where one decimal ends, is not.
MAX_DECIMALS: Final = 3
LARGE_DECIMALS: Final = frozenset(
    {"B", "bytes", "B/s", "bytes/s", "kB", "KB", "KiB", "kB/s", "KB/s", "blocks", "sectors", "ns", "us", ""}
)
# Whole numbers: an int4 ends at 2 147 483 647. 2 TB/s in KiB/s is not in reach, 2 GB/s in bytes is.
LARGE_RATES: Final = frozenset({"B/s", "bytes/s", "bits/s", "ns/s", "us/s", "cycles/s", "instructions/s", ""})
SMALL_GAUGES: Final = frozenset({"threads", "processes", "tasks", "CPUs", "requests", "sockets", "users", "MHz", "LWPs", "locks"})


def usual_storage(kind: Kind, unit: str, decimals: int, raw: Container[str]) -> Storage:
    """Return the type for such a field; `raw` holds the keys of the spec that the field has (scale, clock, derived)."""
    if decimals:
        is_plain = "scale" not in raw and "clock" not in raw and "derived" not in raw and decimals <= MAX_DECIMALS
        is_large = unit in LARGE_DECIMALS or (unit == "KiB/s" and decimals > 1)
        is_small = kind is Kind.PERCENT or (kind in (Kind.RATE, Kind.GAUGE, Kind.TIME) and not is_large)
        return Storage.DEC4 if is_plain and is_small else Storage.FLOAT8
    if "scale" in raw:
        return Storage.FLOAT8
    is_small = (
        kind is Kind.PERCENT or (kind is Kind.RATE and unit not in LARGE_RATES) or (kind is Kind.GAUGE and unit in SMALL_GAUGES)
    )
    return Storage.INT4 if is_small and "derived" not in raw and "clock" not in raw else Storage.INT8
