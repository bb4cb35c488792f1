"""Lines of the panels of a saved view: the source that a host recorded, and its series."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.query.series_points import SeriesRequest, SeriesResult, read_series
from normstat.samples.lookup import list_host_stats, require_host
from normstat.stats.catalogue import load_catalogue
from normstat.views.view_panels import PanelSource, ViewPanel
from normstat.window import Window


@dataclass(frozen=True, slots=True)
class PanelLines:
    """A panel of a view. `lacking`: hosts that recorded none of its sources"""

    title: str
    found: Sequence[SeriesResult]
    lacking: Sequence[str]


@dataclass(frozen=True, slots=True)
class ChosenSource:
    """The lines to read of a host; as in SeriesRequest."""

    stat: str
    fields: tuple[str, ...]
    instances: tuple[str, ...]
    top: int | None


async def read_view_lines(
    session: AsyncSession, panels: Sequence[ViewPanel], hosts: Sequence[str], window: Window, width: int
) -> list[PanelLines]:
    """Return the lines of each panel for each host.

    Raises: NotFound for an unknown host
    """
    stats: dict[str, dict[str, frozenset[str]]] = {}
    for host in hosts:
        own = await list_host_stats(session, await require_host(session, host))
        stats[host] = {stat.name: frozenset(field.key for field in stat.fields) for stat in own}
    drawn = []
    for panel in panels:
        found, lacking = [], []
        for host in hosts:
            chosen = choose_source(panel, stats[host])
            if chosen is None:
                lacking.append(host)
                continue
            request = SeriesRequest(host, chosen.stat, window, width, chosen.fields, chosen.instances, chosen.top)
            found.append(await read_series(session, request))
        drawn.append(PanelLines(panel.title or _title_of(panel.sources[0]), found, lacking))
    return drawn


def choose_source(panel: ViewPanel, stats: Mapping[str, frozenset[str]]) -> ChosenSource | None:
    """Return what to read of a host with these stats, each with its fields: the first source that it has.

    Missing: None where it has none of them
    """
    for source in panel.sources:
        fields, instances = _fields_of(source)
        own = tuple(key for key in fields if key in stats.get(source.stat, ()))
        if own:
            kind, _, value = instances.partition(":")
            names = tuple(map(unquote, value.split(","))) if kind == "only" else ()
            # A heatmap shows one field of all instances; as lines it is that field.
            heat = (value,) if kind == "heatmap" and value in own else own
            return ChosenSource(source.stat, heat, names, int(value) if kind == "top" else None)
    return None


def _fields_of(source: PanelSource) -> tuple[tuple[str, ...], str]:
    """Return the fields and the choice of instances of a source. Missing: no fields for an unknown stat or panel"""
    known = load_catalogue().stats.get(source.stat)
    panel = None if known is None else next((each for each in known[1].panels if each.key == source.panel), None)
    if source.panel is None:
        return source.fields, source.instances
    return ((), "") if panel is None else (panel.fields, source.instances or panel.instances)


def _title_of(source: PanelSource) -> str:
    known = load_catalogue().stats.get(source.stat)
    panels = () if known is None else known[1].panels
    return next((each.title for each in panels if each.key == source.panel), f"{source.stat}: {', '.join(source.fields)}")
