"""The streams of a bundle: raw bytes, which go where an agent's bytes go and are read again by the same code."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Final

from normstat.bundles import bundle_rows
from normstat.bundles.bundle_format import BundleSection
from normstat.bundles.bundle_sections import BundleSource, BundleTarget
from normstat.bundles.bundle_writer import to_text
from normstat.bundles.carried_stream import origin_of, to_carried
from normstat.bundles.stream_cut import StreamCut, cut_stream, read_bytes
from normstat.bundles.stream_feed import CarriedBytes, StreamFeed
from normstat.db.schema.models import Stream
from normstat.errors import BadRequest
from normstat.stats.catalogue import load_catalogue
from normstat.window import Window

# Host facts are small, and those from before the window describe the host in it.
WHOLE_SPECS: Final = ("host_facts",)


class StreamSection:
    """Raw bytes of streams."""

    name = "streams"
    version = 1

    async def write(self, source: BundleSource) -> AsyncIterator[None]:
        """Write a member for each stream and stretch of it."""
        streams = await bundle_rows.list_streams_in(source.session, source.host_id, source.windows, WHOLE_SPECS)
        specs = load_catalogue().specs
        n_bytes = 0
        for stream in streams:
            spec = specs.get(stream.spec)
            kept_from = await bundle_rows.read_kept_from(source.session, stream.id)
            is_whole = stream.spec in WHOLE_SPECS
            windows = source.windows[:1] if is_whole else source.windows
            cuts: list[StreamCut] = []
            for window in windows:
                if is_whole or _has_part(stream, window) or await bundle_rows.list_event_offsets(source.session, stream.id, window):
                    cuts.append(await cut_stream(source.session, stream, None if is_whole else spec, window))
                yield
            for cut in _merge(cuts):
                n_bytes += await self._write_stream(source, stream, cut, kept_from)
                yield
        source.counts |= {"streams": len({entry["origin"] for entry in source.index}), "raw_bytes": n_bytes}

    async def _write_stream(self, source: BundleSource, stream: Stream, cut: StreamCut, kept_from: int) -> int:
        name = f"streams/{len(source.index) + 1:06d}-{stream.spec}.raw.zst"
        runs: list[list[int]] = []
        with source.writer.open_member(name) as member:
            for begin, end in ((0, cut.head), (cut.start, cut.end)):
                async for start, data in read_bytes(source.session, stream.id, begin, end):
                    if runs and runs[-1][1] == start:
                        runs[-1][1] += len(data)
                    else:
                        runs.append([start, start + len(data)])
                    await asyncio.to_thread(member.write, data)
            entry = member.finish()
        source.members.append(entry)
        if kept_from > cut.start:
            source.notes.append(f"{stream.spec}: retention removed raw bytes of the window; their samples are not in the bundle")
        elif not cut.is_tried:
            source.notes.append(
                f"{stream.spec}: its bytes, read with today's spec, do not give the samples that are stored here (from version"
                f" {stream.spec_version}); reparse the stream first for digits that are the same"
            )
        timing = stream.timing
        source.index.append({
            "member": name,
            "origin": origin_of(source.server_id, source.host, stream.spec, stream.key),
            "key": stream.key,
            "spec": stream.spec,
            "spec_version": stream.spec_version,
            "command": stream.command,
            "is_import": not timing.is_live,
            "zone": timing.zone,
            "first_day": None if timing.date is None else timing.date.isoformat(),
            "start": to_text(stream.start_at),
            "interval_s": stream.interval_s,
            "is_first_real": timing.is_first_real,
            "shift_s": stream.shift_s,
            "head": cut.head,
            "begin": cut.begin,
            "end": cut.end,
            "is_final": cut.is_final,
            "runs": runs,
        })  # fmt: skip
        return entry.n_bytes

    async def open(self, target: BundleTarget, section: BundleSection) -> AsyncIterator[int]:
        """Load what is not here yet of each stream."""
        members = {member.name: member for member in section.members}
        n_done = 0
        for entry in section.index:
            stream = to_carried(entry)
            member = members.get(str(entry.get("member")))
            if member is None or sum(end - start for start, end in stream.runs) != member.n_bytes:
                raise BadRequest("The index of streams in the bundle does not fit its members; nothing more was loaded")
            pieces = CarriedBytes(stream.runs, target.bundle.read(member))
            async for n_bytes in StreamFeed(target, stream, pieces).run():
                yield n_done + n_bytes
            n_done += member.n_bytes
            yield n_done


def _has_part(stream: Stream, window: Window) -> bool:
    first, last = stream.first_sample_at, stream.last_sample_at
    return first is not None and last is not None and first < window.end and last >= window.start


def _merge(cuts: Sequence[StreamCut]) -> list[StreamCut]:
    """Return the stretches of a stream, those that overlap as one."""
    merged: list[StreamCut] = []
    for cut in sorted(cuts, key=lambda one: one.start):
        last = merged[-1] if merged else None
        if last is not None and cut.start <= last.end:
            later = max(last, cut, key=lambda one: one.end)
            merged[-1] = StreamCut(
                last.head, last.start, last.begin, later.end, later.is_final, is_tried=last.is_tried and cut.is_tried
            )
        else:
            merged.append(cut)
    return merged
