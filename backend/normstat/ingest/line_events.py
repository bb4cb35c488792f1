"""Turn events in the lines of a stream into stored events, and its gaps into losses."""

from collections.abc import Sequence
from typing import Final

from normstat.db.schema.models import IMPORT_KEY
from normstat.ingest.stream_samples import StreamResult
from normstat.records.event_rows import EventSource, RecordedEvent, to_kind
from normstat.records.loss_events import StreamGap
from normstat.samples.ingest_rows import OpenStream
from normstat.samples.stream_rows import LostBytes, clean_text
from normstat.stats.records import NO_TIME
from normstat.window import from_us

# Maximum length of an agent's reason for a gap.
MAX_REASON: Final = 200


def to_recorded_events(stream: OpenStream, results: Sequence[StreamResult]) -> list[RecordedEvent]:
    """Return the events that were read of a stream."""
    source = EventSource.IMPORT if stream.key.startswith(IMPORT_KEY) else EventSource.AGENT
    return [
        RecordedEvent(
            host_id=stream.host_id,
            stream_id=stream.id,
            line_offset=event.offset,
            at=from_us(event.time_us),
            not_before=None if event.earlier_us == NO_TIME else from_us(event.earlier_us),
            kind=to_kind(event.kind),
            text=event.text,
            source=source,
            author=event.origin,
        )
        for result in results
        for event in result.events
    ]


def to_loss(stream: OpenStream, host: str, gaps: Sequence[LostBytes]) -> StreamGap:
    """Return the loss of a stream from its gaps; there is at least one."""
    n_bytes = sum(gap.end - gap.start for gap in gaps)
    return StreamGap(stream.host_id, host, stream.spec, n_bytes, clean_text(gaps[-1].reason)[:MAX_REASON])
