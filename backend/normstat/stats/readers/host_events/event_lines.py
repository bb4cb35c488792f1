r"""Host events, as the agent prints them: a line for each.

    1795305605<TAB>1795305600<TAB>log<TAB>/var/log/app.log<TAB>ERROR out of memory

It has the time at which the agent saw it, the time of its look before (`-` where that says nothing), the kind, the file or tool
that it is about, and the text. There are no samples in it.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b"1795305605\t1795305600\tlog\t/var/log/app.log\tERROR out of memory\n"
>>> (event,) = read(require_spec("host_events"), text, state={}, offset=0, is_final=True).events
>>> event.kind, event.origin, event.text, event.time_us - event.earlier_us
('log', '/var/log/app.log', 'ERROR out of memory', 5000000)
"""

import re
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.times.timeline import MICRO
from normstat.stats.records import NO_TIME, LineEvent, LineKind
from normstat.stats.spec import Layout


@dataclass(frozen=True)
class HostEventsLayout(Layout):
    """Nothing: the format has no variants."""


LAYOUT: Final = HostEventsLayout

EVENT: Final = re.compile(
    r"(?P<time>\d{9,10})\t(?P<earlier>\d{9,10}|-)\t(?P<kind>[a-z]{1,20})\t(?P<origin>[^\t]{0,1000})\t(?P<text>.*)", re.ASCII
)
NO_EVENT: Final = Rejected("not an event: expected time, time before, kind, origin and text, separated by tabs")
EMPTY: Final = Rejected("an event without a text")


class Reader(LineReader[HostEventsLayout]):
    """One call of the reader."""

    def take_line(self, line: Line) -> Outcome:
        """Return the kind of the line, after taking its event."""
        found = EVENT.fullmatch(line.text)
        if found is None:
            return NO_EVENT if line.text.strip() else LineKind.IGNORED
        text = found["text"].strip()
        if not text:
            return EMPTY
        earlier_us = NO_TIME if found["earlier"] == "-" else int(found["earlier"]) * MICRO
        self.events.append(
            LineEvent(line.offset, int(found["time"]) * MICRO, earlier_us, found["kind"], found["origin"].strip(), text)
        )
        return LineKind.STATE_CHANGE
