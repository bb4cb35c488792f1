"""How this process gets memory from the system."""

import contextlib
import ctypes
from typing import Final

# glibc's <malloc.h>.
M_MMAP_THRESHOLD: Final = -3
THRESHOLD_BYTES: Final = 1 << 20


def return_large_blocks() -> None:
    """Return each freed block of a MiB or more to the system at once, where the C library is glibc.

    By itself glibc raises that threshold up to 32 MiB after the first such block, and the holes between arrays stay with the
    process: a third more than the arrays in use, where comparisons run.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, THRESHOLD_BYTES)
