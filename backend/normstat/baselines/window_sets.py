"""Sets of windows: merged, subtracted, thinned. Pure; a set is an ordered tuple without overlaps."""

from collections.abc import Iterable, Sequence
from datetime import timedelta

from normstat.window import Window

Windows = tuple[Window, ...]


def merge(windows: Iterable[Window]) -> Windows:
    """Return the same instants as a set: overlapping and touching windows become one."""
    merged: list[Window] = []
    for window in sorted(windows):
        if merged and window.start <= merged[-1].end:
            merged[-1] = Window(merged[-1].start, max(merged[-1].end, window.end))
        else:
            merged.append(window)
    return tuple(merged)


def subtract(windows: Iterable[Window], excluded: Iterable[Window]) -> Windows:
    """Return the parts of the windows that lie in none of the excluded ones."""
    left = list(merge(windows))
    for hole in merge(excluded):
        left = [
            Window(start, end)
            for window in left
            for start, end in (
                (window.start, min(window.end, max(window.start, hole.start))),
                (max(window.start, min(window.end, hole.end)), window.end),
            )
            if start < end
        ]
    return merge(left)


def intersect(windows: Iterable[Window], others: Iterable[Window]) -> Windows:
    """Return the instants that are in both sets."""
    pairs = [(one, other) for one in merge(windows) for other in merge(others)]
    return merge(
        Window(max(one.start, other.start), min(one.end, other.end))
        for one, other in pairs
        if max(one.start, other.start) < min(one.end, other.end)
    )


def length_s(windows: Iterable[Window]) -> float:
    """Return the total seconds of a set of windows."""
    return sum(window.length_s for window in windows)


def sample_evenly(windows: Sequence[Window], share: float, n_pieces: int) -> Windows:
    """Return evenly spaced pieces that hold that share of the time, about `n_pieces` of them: the beginning of each equal part."""
    part = timedelta(seconds=length_s(windows) / n_pieces)
    pieces = []
    for window in merge(windows):
        n_parts = max(1, round(window.length_s / part.total_seconds()))
        step = (window.end - window.start) / n_parts
        kept = max(step * share, timedelta(microseconds=1))
        pieces += [Window(window.start + number * step, window.start + number * step + kept) for number in range(n_parts)]
    return merge(pieces)
