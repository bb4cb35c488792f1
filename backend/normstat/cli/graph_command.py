"""`normstat graph`: series of hosts as a picture, without a browser."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from normstat.baselines.baseline_rows import find_baseline
from normstat.cli.artefact_command import printable
from normstat.cli.db_session import exit_with, parse_time, run_in_session
from normstat.db.session import WriteSession
from normstat.errors import BadRequest, NotFound
from normstat.query.series_points import SeriesRequest, SeriesResult, read_series
from normstat.query.view_lines import PanelLines, read_view_lines
from normstat.report.graph_svg import GraphPicture, PictureLine, PictureMark, draw_graph, draw_sheet
from normstat.report.pdf import svg_to_png
from normstat.samples.lookup import list_host_stats, require_host
from normstat.views.view_rows import find_view
from normstat.window import Window

app = typer.Typer(add_completion=False)

BARS: Final = "▁▂▃▄▅▆▇█"
SPARK_WIDTH: Final = 60


@app.command()
def graph(
    *,
    host: Annotated[list[str], typer.Option(help="name of a host; repeatable")],
    stat: Annotated[str, typer.Option(help="name of the stat, e.g. linux_cpu")] = "",
    field: Annotated[
        list[str] | None,
        typer.Option(help="key of a field, e.g. usr_pct, or without --stat STAT.FIELD, a graph for each stat; repeatable"),
    ] = None,
    view: Annotated[str, typer.Option(help="all panels of a saved view, by its name or key, instead of a stat")] = "",
    start: Annotated[datetime, typer.Option(parser=parse_time, metavar="INSTANT", help="first instant: 2026-11-21T10:00:00Z")],
    end: Annotated[datetime, typer.Option(parser=parse_time, metavar="INSTANT", help="first instant after the window")],
    instance: Annotated[list[str] | None, typer.Option(help="only this instance; repeatable; default: the first ones")] = None,
    baseline: Annotated[str | None, typer.Option(help="mark the windows of this baseline, by its name or id")] = None,
    width: Annotated[int, typer.Option(help="width in pixels", min=200, max=4000)] = 900,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="output file, .svg or .png")] = None,
    text: Annotated[bool, typer.Option("--text", help="print a line of bars for each series instead")] = False,
) -> None:
    """Draw series of hosts as SVG or PNG, or as lines of text in the terminal."""
    fields = _fields_by_stat(stat, field or [])
    _check_options(fields, stat, view, instance, output, is_text=text)
    window = Window(start, end)
    has_panels = bool(view) or len(fields) > 1

    async def work(session: WriteSession) -> tuple[list[PanelLines], list[PictureMark]]:
        marks = await _baseline_marks(session, baseline, window)
        if view:
            _, panels = await find_view(session, view)
            return await read_view_lines(session, panels, host, window, width), marks
        asked = SeriesRequest("", "", window, width, (), tuple(instance or ()))
        return await _read_panels(session, host, fields, asked), marks

    panels, marks = run_in_session(work)
    pictures = []
    for panel in panels:
        lines = [line for found in panel.found for line in lines_of_series(found, found.host if len(host) > 1 else "")]
        pictures.append(GraphPicture(panel.title, int(start.timestamp() * 1000), int(end.timestamp() * 1000), lines, marks))
        if panel.lacking:
            typer.echo(f"{panel.title}: {', '.join(panel.lacking)} recorded nothing of it.", err=True)
    if text:
        for picture in pictures:
            for line in ([picture.title] if has_panels else []) + [sparkline(each) for each in picture.lines]:
                typer.echo(line)
    if output is not None:
        title = view or ", ".join(host)
        svg = str(draw_sheet(title, pictures, width=width) if has_panels else draw_graph(pictures[0], width=width))
        _write(output, svg, sum(len(picture.lines) for picture in pictures))


def _fields_by_stat(stat: str, fields: Sequence[str]) -> dict[str, list[str]]:
    """Return the keys of the fields of each stat. Missing: "" is the stat of a field that names none."""
    found: dict[str, list[str]] = {}
    for field in fields:
        named, _, key = (stat, ".", field) if stat else field.rpartition(".")
        found.setdefault(named, []).append(key)
    return found


def _check_options(
    fields: Mapping[str, list[str]], stat: str, view: str, instance: list[str] | None, output: Path | None, *, is_text: bool
) -> None:
    problem = ""
    if bool(view) == bool(fields) or (view and (stat or instance)):
        problem = "give either --view, or --stat and --field, or --field STAT.FIELD"
    elif "" in fields:
        problem = f"--field {fields[''][0]} names no stat: give --stat, or --field STAT.FIELD"
    elif output is None and not is_text:
        problem = "give -o FILE.svg, -o FILE.png, or --text"
    elif output is not None and output.suffix.lower() not in {".svg", ".png"}:
        problem = f"{output} ends in neither .svg nor .png, the pictures that this command draws"
    if problem:
        typer.echo(f"normstat: {problem}", err=True)
        raise typer.Exit(2)


async def _baseline_marks(session: WriteSession, baseline: str | None, window: Window) -> list[PictureMark]:
    if baseline is None:
        return []
    known = await find_baseline(session, baseline)
    return [
        PictureMark("baseline", int(one.start.timestamp() * 1000), int(one.end.timestamp() * 1000), known.name)
        for one in known.windows
        if one.start < window.end and one.end > window.start
    ]


def _write(output: Path, svg: str, n_series: int) -> None:
    drawn = svg_to_png(svg) if output.suffix.lower() == ".png" else svg.encode()
    try:
        output.write_bytes(drawn)
    except OSError as error:
        raise exit_with(BadRequest(f"Cannot write {output}: {error.strerror}; choose a writable place")) from None
    typer.echo(f"Wrote {output}: {n_series} series.", err=True)


async def _read_panels(
    session: WriteSession, hosts: Sequence[str], fields: Mapping[str, list[str]], asked: SeriesRequest
) -> list[PanelLines]:
    """Return a panel for each stat: its fields, of each host.

    Raises: NotFound for an unknown host, and for a stat that none of the hosts has
    """
    stats = {host: await _list_stats(session, host) for host in hosts}
    panels = []
    for stat, keys in fields.items():
        having = [host for host in hosts if stat in stats[host]]
        if not having:
            known = "; ".join(f"{host} has {', '.join(names) or 'none yet'}" for host, names in stats.items())
            raise NotFound(f"There is no stat {stat!r} of {', '.join(hosts)}; {known}")
        found = [await read_series(session, replace(asked, host=host, stat=stat, fields=tuple(keys))) for host in having]
        title = f"{stat}: {', '.join(keys)} of {', '.join(hosts)}"
        panels.append(PanelLines(title, found, [host for host in hosts if host not in having]))
    return panels


async def _list_stats(session: WriteSession, host: str) -> list[str]:
    """Return the names of the stats that the host has."""
    return sorted(one.name for one in await list_host_stats(session, await require_host(session, host)))


def lines_of_series(found: SeriesResult, host: str) -> list[PictureLine]:
    """Return the series as lines of a picture, named with the host where there are several."""
    return [
        PictureLine(
            " ".join(part for part in (host, one.instance, one.field) if part), one.unit, one.times.tolist(), one.values.tolist()
        )
        for one in found.series
    ]


def sparkline(line: PictureLine) -> str:
    """Return a line of bars with the lowest and the highest value; a blank is a gap.

    >>> sparkline(PictureLine("usr", "%", [0, 1000, 2000], [0.0, None, 7.0]))
    '▁ █  usr: 0 to 7 %'
    """
    known = [value for value in line.values if value is not None and math.isfinite(value)]
    if not known:
        return f"{line.name}: no samples"
    low, high = min(known), max(known)
    bars = "".join(_bar(part, low, high) for part in _columns(line.values))
    return f"{bars}  {printable(line.name)}: {low:g} to {high:g} {line.unit}".rstrip()


def _columns(values: Sequence[float | None]) -> list[float | None]:
    """Return the highest value of each column: a spike of one second stays visible."""
    n = min(SPARK_WIDTH, len(values))
    columns = []
    for number in range(n):
        part = values[number * len(values) // n : (number + 1) * len(values) // n]
        columns.append(max((value for value in part if value is not None and math.isfinite(value)), default=None))
    return columns


def _bar(value: float | None, low: float, high: float) -> str:
    if value is None:
        return " "
    return BARS[0] if high <= low else BARS[min(len(BARS) - 1, int((value - low) / (high - low) * len(BARS)))]
