"""Turn the events that the lines of a stream tell into stored ones."""

from collections.abc import Sequence

from normstat.ingest.stream_samples import StreamResult
from normstat.stats.records import NO_TIME
from normstat.storage.event_rows import EventSource, RecordedEvent, to_kind
from normstat.storage.ingest_rows import OpenStream
from normstat.storage.schema.models import IMPORT_KEY
from normstat.window import from_us


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
