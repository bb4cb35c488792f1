"""What a reader leaves behind is freed at once.

A reader that refers to itself is garbage with all of its arrays until the collector finds it: on a server with 1,000 agents, that
took a tenth of the time.
"""

import gc
from collections import Counter

import pytest

from normstat.stats.catalogue import require_spec
from tests.golden_captures import Capture, captures

# For each reader its largest capture: most of its code runs.
LARGEST: dict[str, Capture] = {
    require_spec(capture.spec).reader: capture for capture in sorted(captures(), key=lambda one: one.path.stat().st_size)
}


@pytest.mark.parametrize("reader", sorted(LARGEST))
def test_a_reader_leaves_no_garbage(reader: str) -> None:
    capture = LARGEST[reader]
    # What is cached or imported now is none.
    capture.result()
    # The collection below looks at nothing that is there now.
    gc.freeze()
    gc.disable()
    try:
        capture.result()
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        found = Counter(type(one).__qualname__ for one in gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert not found, "break the circle in let_go(), or hand over a function instead of a bound method"
