"""One metric of many hosts, for a graph."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

from anyio import to_thread
from fastapi import Query, Request, Response
from pydantic import StringConstraints
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.api.http.deps import NEEDS_VIEWER, InWindow, LargeReadSession, ReadSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.routes.host_series_body import HostSeriesBody, respond
from normstat.api.routes.schemas import HostMetrics, HostSeriesBlock
from normstat.baselines.host_group_rows import find_group
from normstat.comparison.metric_choice import KnownHost, MetricChoice, choose_metric, list_metrics
from normstat.errors import BadRequest, NotFound, shorten
from normstat.query.host_lines import HostLeftOut, HostRun, HostSeriesRequest, Spread, read_host_series
from normstat.query.step_reduction import Reduction
from normstat.records.host_tag_rows import find_tagged
from normstat.runtime.body import MAX_TAG_LENGTH, NO_NUL, parse_instant
from normstat.runtime.readable import natural_key
from normstat.samples.lookup import find_hosts, find_stats, list_stats_of_hosts
from normstat.samples.spec_refresh import refresh_catalogue

router = LazyRouter(tags=["series"], dependencies=[NEEDS_VIEWER])

MAX_HOSTS: Final = 500
# Agents send every few seconds: steps that ended later may still miss samples of some hosts.
SETTLING: Final = timedelta(seconds=10)
HostName = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=NO_NUL)]
RunText = Annotated[str, StringConstraints(min_length=3, max_length=300, pattern=NO_NUL)]
Hosts = Annotated[list[HostName] | None, Query(max_length=MAX_HOSTS, description="names of hosts")]
Group = Annotated[
    str | None, Query(min_length=1, max_length=200, pattern=NO_NUL, description="name of a host group: all of its hosts")
]
Tag = Annotated[str | None, Query(min_length=1, max_length=MAX_TAG_LENGTH, pattern=NO_NUL, description="a tag: all hosts with it")]


@router.get("/host-metrics", responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def list_host_metrics(session: ReadSession, host: Hosts = None, group: Group = None, tag: Tag = None) -> HostMetrics:
    """List the metrics that a graph of these hosts can show: quantities that several tools measure, and every field sent."""
    await refresh_catalogue(session)
    names = await _name_hosts(session, host, group, tag)
    known = await _find_known(session, names)
    stats = await find_stats(session, sorted({stat for own in known for stat in own.stats}))
    metrics = await to_thread.run_sync(list_metrics, known, stats)
    found = {own.name for own in known}
    return HostMetrics(hosts=names, unknown_hosts=[name for name in names if name not in found], metrics=metrics)


@router.get("/series/hosts", response_model=HostSeriesBlock, responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def read_series_of_hosts(
    *,
    request: Request,
    window: InWindow,
    session: LargeReadSession,
    width: Annotated[int, Query(ge=16, le=8000, description="width of the graph in pixels")],
    metric: Annotated[str, Query(min_length=1, max_length=200, pattern=NO_NUL, description="a key of /host-metrics")],
    host: Hosts = None,
    group: Group = None,
    tag: Tag = None,
    run: Annotated[
        list[RunText] | None,
        Query(
            max_length=MAX_HOSTS,
            description="HOST@START, instead of hosts: each begins at its start, is as long as the window, and is drawn in it",
        ),
    ] = None,
    instance: Annotated[
        str | None, Query(max_length=1000, pattern=NO_NUL, description="name of the instance, the same on all hosts")
    ] = None,
    across: Annotated[Reduction | Spread, Query(description="how the instances of a host become one line; `each`: they do not")] = (
        Spread.USUAL
    ),
    over: Annotated[Reduction | None, Query(description="how all hosts (with across=each: all instances) become one line")] = None,
    top: Annotated[int | None, Query(ge=1, le=200, description="only the first lines by their mean, the worst first")] = None,
) -> Response:
    """Return a metric of many hosts: a line for each, or one line over all of them in steps of time.

    `left_out` has the hosts without a line, each with the reason.
    """
    await refresh_catalogue(session)
    runs = _parse_runs(run) if run else [HostRun(name) for name in await _name_hosts(session, host, group, tag)]
    known = {own.name: own for own in await _find_known(session, list(dict.fromkeys(each.host for each in runs)))}
    choice = await _choose(session, list(known.values()), metric) if known else None
    columns = {} if choice is None else choice.columns
    left_out = [HostLeftOut(each.host, _why_not(each.host, known, choice)) for each in runs if each.host not in columns]
    accepted = request.headers.get("accept-encoding", "")
    if choice is None:
        return await to_thread.run_sync(respond, HostSeriesBody(window, None, None, left_out, len(runs)), accepted)
    asked = HostSeriesRequest(
        window=window,
        width=width,
        runs=tuple((each, columns[each.host]) for each in runs if each.host in columns),
        usual=choice.usual,
        worse=choice.info.worse,
        instance=instance,
        across=across,
        over=over,
        top=top,
        complete_until=datetime.now(UTC) - SETTLING,
    )
    found = await read_host_series(session, asked)
    body = HostSeriesBody(window, choice.info, found, [*left_out, *found.left_out], len(runs))
    return await to_thread.run_sync(respond, body, accepted)


async def _name_hosts(session: AsyncSession, hosts: Sequence[str] | None, group: str | None, tag: str | None) -> list[str]:
    """Return the hosts that a request names, each once."""
    of_group = [] if group is None else (await find_group(session, group)).hosts
    of_tag = [] if tag is None else await find_tagged(session, tag)
    names = list(dict.fromkeys([*(hosts or ()), *sorted(of_group, key=natural_key), *of_tag]))
    if not names:
        where = "Give `host`, `group` or `tag`" if group is None else f"Host group {shorten(group)} has no hosts"
        raise BadRequest(f"There is no host to draw. {where}")
    if len(names) > MAX_HOSTS:
        raise BadRequest(f"{len(names):,} hosts are too many for one graph; at most {MAX_HOSTS} can be drawn. Choose fewer")
    return names


def _parse_runs(texts: Sequence[str]) -> list[HostRun]:
    runs = []
    for text in dict.fromkeys(texts):
        host, _, at = text.rpartition("@")
        try:
            start = parse_instant(at)
        except ValueError as trouble:
            raise BadRequest(f"run {shorten(text)}: {trouble}. Write HOST@2026-11-21T10:00:00Z") from None
        if not host:
            raise BadRequest(f"run {shorten(text)} names no host. Write HOST@2026-11-21T10:00:00Z")
        runs.append(HostRun(host, start))
    return runs


async def _find_known(session: AsyncSession, names: Sequence[str]) -> list[KnownHost]:
    """Return the hosts that exist, in the order of the names."""
    ids = await find_hosts(session, names)
    stats = await list_stats_of_hosts(session, list(ids.values()))
    return [KnownHost(ids[name], name, tuple(stats.get(ids[name], ()))) for name in names if name in ids]


async def _choose(session: AsyncSession, known: Sequence[KnownHost], metric: str) -> MetricChoice:
    stats = await find_stats(session, sorted({stat for own in known for stat in own.stats}))
    return await to_thread.run_sync(choose_metric, metric, known, stats)


def _why_not(host: str, known: dict[str, KnownHost], choice: MetricChoice | None) -> str:
    if host not in known:
        return f"There is no host {shorten(host)}: it was deleted, renamed, or never sent data"
    title = "this metric" if choice is None else choice.info.title
    return f"{host} never sent {title}" + ("" if choice is None else f" ({', '.join(choice.info.fields[:3])})")
