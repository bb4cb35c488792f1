"""Reports as their tool printed them: the raw text around a sample, read from chunks of its stream."""

import re
from dataclasses import dataclass
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.samples.chunks import ByteRange, read_ranges
from normstat.stats.process_lines import SNAPSHOT

# How far to each side of a line to look for the ends of its report: a hundred processes take some 50 kB.
REACHES: Final = (64 * 1024, 512 * 1024, 4 * 1024 * 1024)
MAX_CACHED: Final = 64
NEXT_SNAPSHOT: Final = re.compile(rb"\n(?=\d{10}\n)", re.ASCII)


@dataclass(frozen=True, slots=True)
class RawText:
    """Bytes of a stream from `start` on."""

    start: int
    data: bytes

    @property
    def end(self) -> int:
        """The offset after the last byte."""
        return self.start + len(self.data)


class RawReports:
    """The reports of streams; the last ones are cached, since the processes of a list are often of the same."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session
        self._cached: dict[tuple[int, int], RawText] = {}

    async def text_around(self, stream_id: int, offset: int, reach: int) -> RawText | None:
        """Return the bytes from `reach` before an offset to `reach` after it, as far as they follow each other.

        Missing: None where the byte at the offset is not stored
        """
        begin, end = max(0, offset - reach), offset + reach
        found = await read_ranges(self._session, [ByteRange(stream_id, begin, end)])
        start, at = 0, -1
        pieces: list[bytes] = []
        for chunk in found.get(stream_id, []):
            if chunk.start != at:
                if start <= offset < at:
                    break
                start, pieces = chunk.start, []
            pieces.append(chunk.data)
            at = chunk.end
        text = RawText(start, b"".join(pieces))
        return text if text.start <= offset < text.end else None

    async def snapshot_at(self, stream_id: int, offset: int) -> RawText | None:
        """Return the snapshot of /proc that holds an offset, from its time to the next one's.

        Missing: None where it is not stored, or has no time
        """
        for (stream, _), known in self._cached.items():
            if stream == stream_id and known.start <= offset < known.end:
                return known
        for reach in REACHES:
            text = await self.text_around(stream_id, offset, reach)
            if text is None:
                return None
            found, has_end = cut_snapshot(text, offset)
            # Without a following one it is the last of its stream, or the bytes that follow are too far.
            if found is not None and (has_end or text.end < offset + reach):
                if len(self._cached) >= MAX_CACHED:
                    self._cached.clear()
                self._cached[stream_id, found.start] = found
                return found
        return None

    async def lines_before(self, stream_id: int, offset: int) -> tuple[list[str], str] | None:
        """Return the lines before a line, last one first, and the line. Missing: None where it is not stored."""
        text = await self.text_around(stream_id, offset, REACHES[0])
        if text is None:
            return None
        at = offset - text.start
        before = text.data[:at].decode("utf-8", "backslashreplace").split("\n")
        return before[::-1], text.data[at:].split(b"\n", 1)[0].decode("utf-8", "backslashreplace")


def cut_snapshot(text: RawText, offset: int) -> tuple[RawText | None, bool]:
    """Return the snapshot that holds the offset, and whether its end is known.

    >>> text = RawText(100, b"1795305600\\n1 (a) S\\n1795305605\\n1 (a) S\\n")
    >>> cut_snapshot(text, 112), cut_snapshot(text, 135)[1]
    ((RawText(start=100, data=b'1795305600\\n1 (a) S\\n'), True), False)
    """
    at = offset - text.start
    begins = [found.start() for found in SNAPSHOT.finditer(text.data, 0, text.data.find(b"\n", at) + 1 or len(text.data))]
    begins = [begin for begin in begins if begin <= at]
    if not begins:
        return None, False
    ended = NEXT_SNAPSHOT.search(text.data, max(at, begins[-1] + 1))
    end = len(text.data) if ended is None else ended.end()
    return RawText(text.start + begins[-1], text.data[begins[-1] : end]), ended is not None
