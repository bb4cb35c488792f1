"""Readers: how the output of one family of tools is laid out. A reader never imports another reader."""

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Final

from normstat.stats.readers import columns
from normstat.stats.records import ReadResult, State
from normstat.stats.spec import Spec

READERS: Final[Mapping[str, Callable[..., ReadResult]]] = {"columns": columns.read}


def read(
    spec: Spec,
    data: bytes,
    *,
    state: State,
    offset: int,
    is_final: bool = False,
    zone: str | None = None,
    date: dt.date | None = None,
    command: str = "",
) -> ReadResult:
    """Samples, rejected lines and accounts of a piece of a stream.

    `state` is {} at the beginning, else what the call before returned; `offset` is the place of data[0] in the stream. A last line
    without newline is left for the next call, unless `is_final`. `zone` names the zone of times that do not say theirs (UTC when
    None), `date` the day of the first clock where the tool names none, `command` the command line: its options tell whether the
    first report is about the time since boot.
    Raises: BadRequest for an unknown zone, and nothing else, whatever the bytes.
    """
    return READERS[spec.reader](spec, data, state=state, offset=offset, is_final=is_final, zone=zone, date=date, command=command)
