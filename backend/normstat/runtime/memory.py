"""How this process manages its memory."""

import contextlib
import ctypes
import gc
from collections.abc import Iterator
from typing import Final

# glibc's <malloc.h>.
M_TRIM_THRESHOLD: Final = -1
M_MMAP_THRESHOLD: Final = -3
M_ARENA_MAX: Final = -8
LARGE_BYTES: Final = 4 << 20
KEPT_BYTES: Final = 32 << 20
# Each thread that allocates gets an arena of its own, up to eight for each core, and what is free in one serves no other. Python's
# threads take turns, so two are enough.
MAX_ARENAS: Final = 2
# Pauses of the collector that may overlap: where there is always another one, it would never run.
MAX_PAUSES: Final = 8


def return_large_blocks() -> None:
    """Return each freed block of 4 MiB or more to the system at once, and keep at most 32 MiB of others, where glibc is in use.

    By itself glibc raises the first limit up to 32 MiB after the first such block, and the holes between arrays stay with the
    process: a third more than the arrays in use, where comparisons run. Lower limits cost more than they save: a piece of a MiB is
    read with arrays of one to two MiB, and to get and clear their pages each time takes as long as the reading.
    """
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        libc.mallopt(M_MMAP_THRESHOLD, LARGE_BYTES)
        libc.mallopt(M_TRIM_THRESHOLD, KEPT_BYTES)
        libc.mallopt(M_ARENA_MAX, MAX_ARENAS)


async def return_free_pages() -> None:
    """Return pages to the system that nothing is in, where glibc is in use: by itself it does so at the end of an arena only."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """Run the block without the garbage collector. To import modules with it takes a fifth longer, and finds no garbage.

    Of blocks in several threads, the one that found it running starts it again.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class CollectorPauses:
    """Pauses of the garbage collector that overlap, in one thread: it runs again when the last one ends, or after MAX_PAUSES.

    What a batch makes lives until the batch is stored and is no garbage then. A collector that runs in between looks at all of it,
    and takes it for objects that stay: it then looks at everything else in the process, too, several times a minute.
    """

    def __init__(self) -> None:
        self._n_running = 0
        self._n_ended = 0

    @contextlib.contextmanager
    def pause(self) -> Iterator[None]:
        """Run the block without the garbage collector."""
        gc.disable()
        self._n_running += 1
        try:
            yield
        finally:
            self._n_running -= 1
            self._n_ended += 1
            if self._n_running == 0 or self._n_ended >= MAX_PAUSES:
                self._n_ended = 0
                gc.enable()
