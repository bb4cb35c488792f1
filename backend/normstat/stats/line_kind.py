"""The kinds of lines. Apart from the records, which need numpy: every server counts lines by kind."""

from enum import StrEnum


class LineKind(StrEnum):
    """The kind of a line of a stream; every received byte belongs to exactly one kind."""

    HEADER = "header"
    SAMPLE = "sample"
    SINCE_BOOT = "since_boot"
    TIMESTAMP = "timestamp"
    STATE_CHANGE = "state_change"
    IGNORED = "ignored"
    REJECTED = "rejected"

    # Every line is counted by its kind; Enum's own takes ten times as long.
    __hash__ = str.__hash__
