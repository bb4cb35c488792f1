"""The state that a reader keeps after lost bytes."""

from normstat.stats.records import NO_TIME, State


def state_after_gap(state: State) -> State:
    """Return the state to continue with after a gap. Headers are still known.

    The rest of a line that may have lost its beginning is skipped and booked as rejected: what is left of `1234 5 6` can be
    `34 5 6`, and look whole. Rows wait for the next stamp, since the last one may belong to a report before the gap; what was
    gathered of an unfinished sample of many lines is dropped.
    """
    return state | {"long": True, "stamp": NO_TIME, "gap": True}
