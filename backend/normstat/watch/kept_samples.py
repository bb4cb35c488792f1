"""The newest samples of hosts, kept from run to run: rules look back some minutes, and only what is new since the last run is read.

What a host sends next has times at or after the last sample of its stream, so what was kept before that time is complete. Where
a stream says otherwise (late samples, samples derived again), and where retention removed any, all of it is read again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import compress
from typing import Final

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.comparison.read_side import StatSide, side_of_page
from normstat.runtime.arrays import distinct_values
from normstat.runtime.units import MIB
from normstat.samples.lookup import InstanceNames, StatRef
from normstat.samples.pages_of_hosts import find_short, plan_plainly, read_short_pages
from normstat.samples.sample_pages import Page, PageQuery, merge_pages
from normstat.stats.spec import Field
from normstat.watch.watched_stream_rows import NO_STREAMS, HostStreams, StreamMark, read_removed
from normstat.window import Window, from_us, to_us

# A host of 400 values/s takes 0.44 MiB. Those that find no room are read in full each time.
MAX_BYTES: Final = 512 * MIB
NOT_KEPT_US: Final = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True)
class SideRequest:
    """Samples of a stat of a host that its rules look at."""

    stat: StatRef
    host_id: int
    window: Window
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class _Kept:
    """Samples of a stat of a host in a window, as they were when the streams had come this far."""

    window: Window
    fields: tuple[Field, ...]
    page: Page
    marks: Mapping[int, StreamMark]

    @property
    def n_bytes(self) -> int:
        page = self.page
        return page.time_us.nbytes + page.instance_id.nbytes + sum(column.nbytes for column in page.values)

    def complete_until_us(self, wanted: SideRequest, marks: Mapping[int, StreamMark]) -> int:
        """Return up to when this has all samples that are wanted. Missing: NOT_KEPT_US where it lacks the first of them"""
        if self.window.start > wanted.window.start or self.fields != wanted.fields or self.marks.keys() - marks.keys():
            return NOT_KEPT_US
        until = self.window.end
        for id_, mark in marks.items():
            before = self.marks.get(id_)
            if before is None:
                until = min(until, mark.first_at)
            elif before.n_changes != mark.n_changes:
                return NOT_KEPT_US
            elif before.n_acked != mark.n_acked:
                until = min(until, before.last_at)
        return to_us(until) if until > wanted.window.start else NOT_KEPT_US


class KeptSamples:
    """What one process keeps of hosts."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._n_bytes = 0
        self._kept: dict[int, dict[str, _Kept]] = {}
        self._removed: tuple[int, int] | None = None

    async def keep_only(self, session: AsyncSession, host_ids: Iterable[int]) -> None:
        """Forget all but these hosts; all of them where retention has removed samples since."""
        removed = await read_removed(session)
        if removed != self._removed:
            self._kept, self._n_bytes, self._removed = {}, 0, removed
        for host_id in self._kept.keys() - set(host_ids):
            self._forget(host_id)

    async def read(
        self,
        session: AsyncSession,
        wanted: Sequence[SideRequest],
        streams: Mapping[int, HostStreams],
        names: InstanceNames,
        *,
        max_rows: int,
    ) -> dict[int, dict[str, StatSide]]:
        """Return samples of many hosts, by host and stat: a statement for each stat. `streams`: as they were before

        Missing: a stat of a host with sealed samples, or with more than `max_rows` rows, which its judge reads itself
        """
        alike: dict[tuple[str, tuple[str, ...]], list[tuple[SideRequest, _Kept | None]]] = {}
        before = {host_id: self._forget(host_id) for host_id in {one.host_id for one in wanted}}
        is_short = await find_short(session, [(one.host_id, one.stat.name, one.window) for one in wanted])
        for one in compress(wanted, is_short):
            kept = before[one.host_id].get(one.stat.name)
            alike.setdefault((one.stat.name, tuple(field.key for field in one.fields)), []).append((one, kept))
        sides: dict[int, dict[str, StatSide]] = {}
        await plan_plainly(session)
        for some in alike.values():
            pages = await self._read_pages(session, some, streams, max_rows)
            ids = distinct_values(
                np.concatenate([np.empty(0, np.int64), *(page.instance_id for page in pages if page is not None)])
            )
            known = await names.of(session, ids.tolist())
            for (one, _), page in zip(some, pages, strict=True):
                if page is not None:
                    sides.setdefault(one.host_id, {})[one.stat.name] = side_of_page(one.stat, one.fields, page, known)
        return sides

    async def _read_pages(
        self,
        session: AsyncSession,
        some: Sequence[tuple[SideRequest, _Kept | None]],
        streams: Mapping[int, HostStreams],
        max_rows: int,
    ) -> list[Page | None]:
        marks = [streams.get(one.host_id, NO_STREAMS).marks for one, _ in some]
        untils = [
            NOT_KEPT_US if kept is None else min(kept.complete_until_us(one, own), one.window.end_us - 1)
            for (one, kept), own in zip(some, marks, strict=True)
        ]
        queries = [
            PageQuery(one.stat.name, one.host_id, Window(max(one.window.start, _at(until_us, one)), one.window.end), one.fields)
            for (one, _), until_us in zip(some, untils, strict=True)
        ]
        pages = await read_short_pages(session, queries, max_rows=max_rows)
        found: list[Page | None] = []
        for (one, kept), own, until_us, page in zip(some, marks, untils, pages, strict=True):
            whole = page
            if page is not None and kept is not None and until_us != NOT_KEPT_US:
                first, end = np.searchsorted(kept.page.time_us, (one.window.start_us, until_us)).tolist()
                whole = merge_pages([kept.page.slice(first, end), page])
            if whole is not None and len(whole) > max_rows:
                whole = None
            if whole is not None:
                self._keep(one, _Kept(one.window, one.fields, whole, own))
            found.append(whole)
        return found

    def _keep(self, one: SideRequest, kept: _Kept) -> None:
        if self._n_bytes + kept.n_bytes <= self._max_bytes:
            self._n_bytes += kept.n_bytes
            self._kept.setdefault(one.host_id, {})[one.stat.name] = kept

    def _forget(self, host_id: int) -> dict[str, _Kept]:
        kept = self._kept.pop(host_id, {})
        self._n_bytes -= sum(own.n_bytes for own in kept.values())
        return kept


def _at(until_us: int, one: SideRequest) -> datetime:
    return one.window.start if until_us == NOT_KEPT_US else from_us(until_us)
