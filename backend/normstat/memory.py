"""How this process manages its memory."""

import contextlib
import ctypes
import gc
from collections.abc import Iterator
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


@contextlib.contextmanager
def importing() -> Iterator[None]:
    """Import without the garbage collector: it would take a fifth of the time and find no garbage.

    What exists afterwards is never looked at again.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.freeze()
