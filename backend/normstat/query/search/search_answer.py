"""Find things by words and put the best of each kind first."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

import anyio.to_thread
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.query.host_events import HostEvent, search_events
from normstat.query.process_list import find_kind
from normstat.query.search import search_rows
from normstat.query.search.metric_index import MetricEntry, MetricIndex
from normstat.query.search.search_rows import HostRow, InstanceRow, NamedRow, Senders
from normstat.query.search.search_score import START, TEXT_INSIDE, Searchable, score, split_words
from normstat.records.artefact_rows import ArtefactFilter, ArtefactPage, list_artefacts
from normstat.records.event_rows import EventFilter
from normstat.runtime.field_docs import Documented
from normstat.runtime.readable import natural_key
from normstat.samples import lookup
from normstat.stats.catalogue import load_catalogue
from normstat.stats.engine.report_sums import split_process
from normstat.stats.spec import Shape

# The latest of a host; an older one is found on the page of events.
MAX_EVENTS_SEARCHED: Final = 1_000
MAX_ARTEFACTS_SEARCHED: Final = 200
# Maximum length of a shown question, which may be a whole program.
MAX_NAME: Final = 200
# A person does not search by the text of a stack.
SHAPES: Final = (Shape.TABLE, Shape.KEYS, Shape.HISTOGRAM)


class SearchKind(StrEnum):
    """The kind of a hit: a metric (a field of a stat) that the host sends, one that it does not send (other_metric), a host, an
    instance of a stat (a disk, a CPU), a command, a process, a baseline, a saved comparison, an artefact, an event of the host.
    """

    METRIC = "metric"
    OTHER_METRIC = "other_metric"
    HOST = "host"
    INSTANCE = "instance"
    COMMAND = "command"
    PROCESS = "process"
    BASELINE = "baseline"
    COMPARISON = "comparison"
    ARTEFACT = "artefact"
    EVENT = "event"


@dataclass(frozen=True, slots=True)
class SearchHit(Documented):
    """Something that fits the words."""

    kind: SearchKind
    name: str
    """Its name: the column as the tool prints it, the host, the disk, `java`."""

    detail: str
    """What it is, in a few words."""

    score: int
    """How well the words fit its name: 0 for exactly, more for less."""

    host: str | None
    """The host that has it; of a metric, the one to draw it for: the requested one if it sends the metric, else another that does.
    Null for what belongs to no host, and for a metric that no host sends."""

    n_hosts: int
    """Of a metric that the requested host does not send, or without a requested host: how many do."""

    stat: str | None
    field: str | None
    unit: str | None
    spec: str | None
    """Of a metric: the spec of its tool."""

    instance: str | None
    pid: int | None
    id: int | None
    """Of a baseline, a saved comparison or an artefact."""

    at: datetime | None
    """Of an event or an artefact; of an instance, its last sample."""


@dataclass(frozen=True, slots=True)
class FoundCount(Documented):
    """How many things of a kind fit."""

    kind: SearchKind
    n_found: int


@dataclass(frozen=True, slots=True)
class SearchAnswer(Documented):
    """The best hits of each kind, best first within a kind."""

    hits: list[SearchHit]
    counts: list[FoundCount]
    """How many of each kind fit; kinds without any are left out."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """The search. Without a host, hosts are searched together: not their processes and events. `limit`: hits of each kind."""

    query: str
    host: str | None
    kinds: frozenset[SearchKind]
    limit: int


METRICS: Final = frozenset({SearchKind.METRIC, SearchKind.OTHER_METRIC})
# Rank of an instance whose name is one of the words: `sda util`.
MAX_METRICS_OF_INSTANCE: Final = 3
EMPTY: Final = SearchHit(SearchKind.HOST, "", "", 0, None, 0, None, None, None, None, None, None, None, None)


@dataclass(slots=True)
class _Found:
    """Hits with their order, and the number of each kind."""

    request: SearchRequest
    hits: list[SearchHit]
    counts: dict[SearchKind, int]

    def add(self, kind: SearchKind, ranked: list[tuple[tuple[object, ...], SearchHit]], *, n_more: int = 0) -> None:
        """Keep the best; `n_more` fit too and were not read."""
        ranked.sort(key=lambda each: each[0])
        self.hits += [hit for _, hit in ranked[: self.request.limit]]
        if ranked or n_more:
            self.counts[kind] = self.counts.get(kind, 0) + len(ranked) + n_more


async def find(session: AsyncSession, request: SearchRequest, index: MetricIndex) -> SearchAnswer:
    """Return what fits all words of the request.

    Raises: NotFound for an unknown host
    """
    words = split_words(request.query)
    host_id = None if request.host is None else await lookup.require_host(session, request.host)
    found = _Found(request, [], {})
    if not words:
        return SearchAnswer([], [])
    hosts = await search_rows.list_host_rows(session)
    if METRICS & request.kinds:
        await _add_metrics(session, found, words, host_id, index)
    if SearchKind.HOST in request.kinds:
        _add_hosts(found, words, hosts)
    own = hosts if host_id is None else [host for host in hosts if host.id == host_id]
    await _add_instances(session, found, words, own, index)
    if SearchKind.BASELINE in request.kinds:
        _add_named(found, words, SearchKind.BASELINE, await search_rows.list_baseline_rows(session))
    if SearchKind.COMPARISON in request.kinds:
        _add_named(found, words, SearchKind.COMPARISON, await search_rows.list_comparison_rows(session))
    if SearchKind.ARTEFACT in request.kinds:
        wanted = ArtefactFilter(hosts=() if request.host is None else (request.host,), words=tuple(words))
        _add_artefacts(found, words, await list_artefacts(session, wanted, limit=MAX_ARTEFACTS_SEARCHED, offset=0))
    if SearchKind.EVENT in request.kinds and request.host is not None:
        page = await search_events(session, [request.host], EventFilter(), limit=MAX_EVENTS_SEARCHED, offset=0)
        _add_events(found, words, page.events)
    # Those of the instances are metrics too.
    found.hits.sort(key=lambda hit: (list(SearchKind).index(hit.kind), hit.score if hit.kind in METRICS else 0))
    return SearchAnswer(found.hits, [FoundCount(kind, n) for kind, n in found.counts.items()])


async def _add_metrics(session: AsyncSession, found: _Found, words: Sequence[str], host_id: int | None, index: MetricIndex) -> None:
    """Find metrics. Without a host, those that any host sends come before those that none does."""
    refs = await (lookup.list_stats(session) if host_id is None else lookup.list_host_stats(session, host_id))
    sent = {ref.name for ref in refs}
    extras = [entry for ref in refs for entry in index.extras(ref.name, ref.fields)]
    ranked = await anyio.to_thread.run_sync(rank_metrics, [*index.entries, *extras], words)
    for kind in (SearchKind.METRIC, SearchKind.OTHER_METRIC):
        own = [(points, entry) for points, entry in ranked if (entry.stat in sent) == (kind is SearchKind.METRIC)]
        if not own or kind not in found.request.kinds:
            continue
        best = own[: found.request.limit]
        is_here = kind is SearchKind.METRIC and host_id is not None
        senders = {} if is_here else await search_rows.find_senders(session, sorted({entry.stat for _, entry in best}))
        host = found.request.host if is_here else None
        found.hits += [_to_metric(kind, entry, points, host, senders.get(entry.stat)) for points, entry in best]
        found.counts[kind] = len(own)


def rank_metrics(entries: Iterable[MetricEntry], words: Sequence[str]) -> list[tuple[int, MetricEntry]]:
    """Return the metrics that fit with their score, the best first; of equal ones those that a panel draws."""
    fitting = [(points, entry) for entry in entries if (points := score(words, entry.text)) is not None]
    fitting.sort(key=lambda each: (each[0], not each[1].is_usual, each[1].place))
    return fitting


def _to_metric(kind: SearchKind, entry: MetricEntry, points: int, host: str | None, senders: Senders | None) -> SearchHit:
    return replace(
        EMPTY,
        kind=kind,
        name=entry.field.column,
        detail=f"{entry.stat_title}: {entry.field.help}" if entry.field.help else entry.stat_title,
        score=points,
        host=host if senders is None else senders.latest,
        n_hosts=0 if senders is None else senders.n_hosts,
        stat=entry.stat,
        field=entry.field.key,
        unit=entry.field.unit,
        spec=entry.spec,
    )


def _add_hosts(found: _Found, words: Sequence[str], hosts: Sequence[HostRow]) -> None:
    ranked: list[tuple[tuple[object, ...], SearchHit]] = []
    for host in hosts:
        own = score(words, Searchable.of((host.name,), (host.os, *host.tags)))
        if own is not None:
            detail = " · ".join([*host.tags, host.os] if host.os else host.tags)
            hit = replace(EMPTY, kind=SearchKind.HOST, name=host.name, detail=detail, score=own, host=host.name)
            ranked.append(((own, natural_key(host.name)), hit))
    found.add(SearchKind.HOST, ranked)


async def _add_instances(
    session: AsyncSession, found: _Found, words: Sequence[str], hosts: Sequence[HostRow], index: MetricIndex
) -> None:
    """Find disks, CPUs, commands and their metrics; on one host also processes, of which many hosts have millions."""
    catalogue = load_catalogue()
    by_kind: dict[SearchKind, list[str]] = {}
    for name, (_, stat) in catalogue.stats.items():
        if stat.shape in SHAPES and stat.instance_title:
            own = find_kind(name)
            by_kind.setdefault(SearchKind.INSTANCE if own is None else SearchKind(own), []).append(name)
    pairs: list[tuple[tuple[object, ...], SearchHit]] = []
    for kind, stats in by_kind.items():
        if kind not in found.request.kinds and SearchKind.METRIC not in found.request.kinds:
            continue
        if kind is SearchKind.PROCESS and found.request.host is None:
            continue
        rows, n = await search_rows.find_instance_rows(session, hosts, stats, words)
        if kind in found.request.kinds:
            found.add(kind, await anyio.to_thread.run_sync(_rank_instances, kind, rows, words), n_more=n - len(rows))
        if kind is not SearchKind.PROCESS and len(words) > 1:
            pairs += await anyio.to_thread.run_sync(_rank_pairs, rows, words, index)
    if pairs and SearchKind.METRIC in found.request.kinds:
        found.add(SearchKind.METRIC, pairs)


def _rank_pairs(
    rows: Sequence[InstanceRow], words: Sequence[str], index: MetricIndex
) -> list[tuple[tuple[object, ...], SearchHit]]:
    """Return the metrics of an instance: `sda util` names the disk and what is asked of it."""
    ranked: list[tuple[tuple[object, ...], SearchHit]] = []
    for row in rows:
        whole = Searchable.of((row.name,))
        naming = [word for word in words if (points := score([word], whole)) is not None and points <= START]
        asked = [word for word in words if word not in naming]
        if not naming or not asked:
            continue
        for points, entry in rank_metrics(index.of_stat(row.stat), asked)[:MAX_METRICS_OF_INSTANCE]:
            total = points + (score(naming, whole) or 0)
            hit = replace(_to_metric(SearchKind.METRIC, entry, total, row.host, None), instance=row.name, detail=entry.stat_title)
            ranked.append(((total, not entry.is_usual, entry.place, natural_key(row.name), row.host), hit))
    return ranked


def _rank_instances(
    kind: SearchKind, rows: Sequence[InstanceRow], words: Sequence[str]
) -> list[tuple[tuple[object, ...], SearchHit]]:
    """Return the instances that fit, each process and command once for a host, whichever tools report it."""
    catalogue = load_catalogue()
    ranked: dict[object, tuple[tuple[object, ...], SearchHit]] = {}
    for row in rows:
        stat = catalogue.stats[row.stat][1]
        process = split_process(row.name) if kind is SearchKind.PROCESS else None
        if kind is SearchKind.PROCESS and process is None:
            continue
        pid, name = process or (None, row.name)
        own = score(words, Searchable.of((name, pid or "", row.name), (stat.instance_title, stat.title, row.stat, row.host)))
        if own is None:
            continue
        key = (row.host, name, pid) if kind is not SearchKind.INSTANCE else (row.host, row.stat, name)
        place = (own, not stat.panels, natural_key(row.name), row.stat, row.host)
        hit = replace(
            EMPTY,
            kind=kind,
            name=name,
            detail=stat.title if kind is SearchKind.INSTANCE else "" if pid is None else f"PID {pid}",
            score=own,
            host=row.host,
            stat=row.stat,
            instance=row.name,
            pid=None if pid is None else int(pid),
            at=row.last_sample_at,
        )
        if key not in ranked or place < ranked[key][0]:
            ranked[key] = (place, hit)
    return list(ranked.values())


def _add_named(found: _Found, words: Sequence[str], kind: SearchKind, rows: Sequence[NamedRow]) -> None:
    ranked: list[tuple[tuple[object, ...], SearchHit]] = []
    for place, row in enumerate(rows):
        own = score(words, Searchable.of((row.name,), (row.note,)))
        if own is not None:
            detail = "archived" if row.is_archived else row.note
            ranked.append(
                ((row.is_archived, own, place), replace(EMPTY, kind=kind, name=row.name, detail=detail, score=own, id=row.id))
            )
    found.add(kind, ranked)


def _add_artefacts(found: _Found, words: Sequence[str], page: ArtefactPage) -> None:
    """Find artefacts. `page`: those that have all words, the newest first; some have them in what their tool printed."""
    ranked: list[tuple[tuple[object, ...], SearchHit]] = []
    for place, artefact in enumerate(page.artefacts):
        said = [text for text in (artefact.title, artefact.question, artefact.command, artefact.file_name) if text.strip()]
        name = " ".join(said[0].split())[:MAX_NAME] if said else artefact.tool or f"artefact {artefact.id}"
        own = score(words, Searchable.of((name, artefact.tool), (*said, artefact.host)))
        hit = replace(
            EMPTY, kind=SearchKind.ARTEFACT, name=name, detail=artefact.tool, score=TEXT_INSIDE if own is None else own,
            host=artefact.host, id=artefact.id, at=artefact.start,
        )  # fmt: skip
        ranked.append(((hit.score, place), hit))
    found.add(SearchKind.ARTEFACT, ranked, n_more=page.n_total - len(page.artefacts))


def _add_events(found: _Found, words: Sequence[str], events: Sequence[HostEvent]) -> None:
    """Find events. `events`: newest first"""
    ranked: list[tuple[tuple[object, ...], SearchHit]] = []
    for place, event in enumerate(events):
        own = score(words, Searchable.of((event.text,), (event.kind, *event.tags)))
        if own is not None:
            detail = " ".join(event.tags)
            hit = replace(
                EMPTY, kind=SearchKind.EVENT, name=event.text, detail=detail, score=own, host=found.request.host, at=event.at
            )
            ranked.append(((own, place), hit))
    found.add(SearchKind.EVENT, ranked)
