"""`normstat baseline`: creates, shows and changes baselines, and excludes incidents from them."""

import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

import typer

from normstat.baselines import baseline_rows, exclusion_rows
from normstat.baselines.baseline_health import HostHealth, read_health
from normstat.baselines.baseline_records import BaselineInfo
from normstat.baselines.baseline_versions import VersionInfo, list_versions
from normstat.baselines.exclusion_rows import ExclusionCreate
from normstat.baselines.lifecycle import MAX_RECORD_HOURS, MIN_RECORD_HOURS, BaselineCreate, create_requested
from normstat.cli.db_session import format_instant, print_table, run_in_session
from normstat.db.session import WriteSession
from normstat.errors import BadRequest
from normstat.runtime.body import check_body, parse_instant
from normstat.runtime.readable import count_of
from normstat.samples.spec_refresh import refresh_catalogue
from normstat.window import Window

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Manage baselines, the periods marked as normal: docs/baselines.md."
)

MADE_BY: Final = "command line"
UNITS_S: Final = {"d": 86_400, "h": 3600, "m": 60, "s": 1}
NEWEST: Final = 10


def parse_duration(text: str) -> int:
    """Return the seconds of 8h, 90m, 1d12h.

    Raises: typer.BadParameter
    """
    parts = re.findall(r"(\d{1,6})([dhms])", text, re.ASCII)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise typer.BadParameter(f"{text!r} is not a duration; expected 8h, 90m, 28d or 1d12h")
    return sum(int(number) * UNITS_S[unit] for number, unit in parts)


def parse_window(text: str) -> Window:
    """Return the window START/END.

    Raises: typer.BadParameter
    """
    start, slash, end = text.partition("/")
    if not slash:
        raise typer.BadParameter(f"{text!r} is not a window; expected START/END, e.g. 2026-11-21T09:00:00Z/2026-11-21T17:00:00Z")
    try:
        return Window(parse_instant(start), parse_instant(end))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    except BadRequest as error:
        raise typer.BadParameter(error.message) from None


NameArgument = Annotated[str, typer.Argument(metavar="BASELINE", help="name or id of the baseline")]
WindowOption = typer.Option("--window", parser=parse_window, metavar="START/END", help="a normal window; may be repeated")


@app.callback()
def baseline() -> None:
    """Create, show and change baselines, and exclude incidents from them."""


@app.command(name="list")
def list_(
    *,
    host: Annotated[str | None, typer.Option(help="only baselines of this host")] = None,
    archived: Annotated[bool, typer.Option("--archived", help="list archived baselines instead")] = False,
) -> None:
    """List baselines, newest first."""

    async def read(session: WriteSession) -> list[BaselineInfo]:
        return await baseline_rows.list_baselines(session, host, is_archived=archived)

    records = run_in_session(read)
    rows = [
        (str(record.id), record.name, _hosts_text(record), str(len(record.windows)), str(record.version), _source_text(record))
        for record in records
    ]
    print_table([("no", "name", "hosts", "windows", "version", "made"), *rows])


@app.command()
def show(name: NameArgument) -> None:
    """Show a baseline: its windows, exclusions, versions, and its health for each host."""

    async def read(session: WriteSession) -> tuple[BaselineInfo, list[VersionInfo], list[HostHealth]]:
        await refresh_catalogue(session)
        record = await baseline_rows.find_baseline(session, name)
        _, health = await read_health(session, record.id, datetime.now(UTC))
        return record, await list_versions(session, record.id), health

    record, versions, health = run_in_session(read)
    typer.echo(f"{record.name} (id {record.id}, version {record.version}): {_hosts_text(record)}; {_source_text(record)}")
    if record.note:
        typer.echo(record.note)
    if record.archived_at is not None:
        typer.echo(f"archived {format_instant(record.archived_at)}")
    for window in record.windows:
        typer.echo(f"  {_span(window.start, window.end)}")
    for part in record.excluded:
        typer.echo(f"  without {_span(part.start, part.end)} ({part.host or 'all hosts'}): {part.name}")
    for host in health:
        typer.echo(f"{host.host}: {host.state}, {100 * host.coverage:.0f} % covered, {count_of(host.n_samples, 'sample')}")
        for reason in host.reasons:
            typer.echo(f"  {reason}")
    for version in versions[:NEWEST]:
        windows = f"{len(version.windows)} window{'' if len(version.windows) == 1 else 's'}"
        typer.echo(f"version {version.version}, {format_instant(version.made_at)}, {version.made_by}: {version.reason} ({windows})")


@app.command()
def add(
    name: Annotated[str, typer.Argument(help="name of the baseline")],
    *,
    host: Annotated[list[str] | None, typer.Option(help="a host that it covers; may be repeated")] = None,
    group: Annotated[str | None, typer.Option(help="the host group that it covers, instead of hosts")] = None,
    window: Annotated[list[Window] | None, WindowOption] = None,
    record: Annotated[str | None, typer.Option(metavar="DURATION", help="record from now on for this duration, e.g. 2h")] = None,
    rule: Annotated[
        str | None, typer.Option(help="weekdays, daily, mondays, or an RRULE: FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR")
    ] = None,
    at: Annotated[str, typer.Option(help="with a rule: local start, 09:00 or 2026-11-02T09:00")] = "00:00",
    lasts: Annotated[str, typer.Option("--for", metavar="DURATION", help="with a rule: length of each window")] = "1d",
    keep: Annotated[str, typer.Option(metavar="DAYS", help="with a rule: number of days to keep")] = "28d",
    zone: Annotated[str, typer.Option(help="time zone of the rule and of seasonal hours")] = "UTC",
    note: Annotated[str, typer.Option(help="a note")] = "",
) -> None:
    """Create a baseline from windows, a recording that begins now, or a rule."""
    keep_s = parse_duration(keep)
    if keep_s % UNITS_S["d"]:
        raise typer.BadParameter(f"{keep!r} is not a number of days; expected e.g. 28d")
    hours = None if record is None else parse_duration(record) / 3600
    if hours is not None and not MIN_RECORD_HOURS <= hours <= MAX_RECORD_HOURS:
        raise typer.BadParameter(f"{record!r}: a recording lasts from one minute to {MAX_RECORD_HOURS} hours")
    members = {
        "name": name,
        "note": note,
        "hosts": host,
        "group": group,
        "windows": None if window is None else [{"start": each.start, "end": each.end} for each in window],
        "record_hours": hours,
        "rule": None
        if rule is None
        else {"rrule": rule, "start": at, "duration_s": parse_duration(lasts), "keep_days": keep_s // UNITS_S["d"]},
        "time_zone": zone,
    }

    async def make(session: WriteSession) -> BaselineInfo:
        return await create_requested(session, check_body(BaselineCreate, members), datetime.now(UTC), by=MADE_BY)

    made = run_in_session(make)
    typer.echo(f"Created baseline {made.name} (id {made.id}): {_hosts_text(made)}, {len(made.windows)} windows")
    if made.recording_until is not None:
        typer.echo(f"recording until {format_instant(made.recording_until)}; `normstat baseline stop` ends it earlier")


@app.command()
def stop(name: NameArgument) -> None:
    """End a recording now; what was recorded so far is the baseline."""

    async def work(session: WriteSession, found: BaselineInfo) -> BaselineInfo:
        return await baseline_rows.stop_recording(session, found.id, datetime.now(UTC), made_by=MADE_BY)

    record = _run_on(name, work)
    typer.echo(f"{record.name}: recorded {_span(record.windows[-1].start, record.windows[-1].end)}")


@app.command()
def copy(name: NameArgument, new: Annotated[str, typer.Argument(help="name of the copy")]) -> None:
    """Copy a baseline, with its rule."""

    async def work(session: WriteSession, found: BaselineInfo) -> BaselineInfo:
        return await baseline_rows.copy_baseline(session, found.id, new, datetime.now(UTC), made_by=MADE_BY)

    record = _run_on(name, work)
    typer.echo(f"Created baseline {record.name} (id {record.id})")


@app.command()
def archive(name: NameArgument, *, undo: Annotated[bool, typer.Option("--undo", help="show it in lists again")] = False) -> None:
    """Hide a baseline from lists; it can still be read and compared with."""

    async def work(session: WriteSession, found: BaselineInfo) -> BaselineInfo:
        return await baseline_rows.archive_baseline(session, found.id, is_archived=not undo)

    record = _run_on(name, work)
    typer.echo(f"Baseline {record.name} is {'listed again' if undo else 'archived'}")


@app.command()
def delete(name: NameArgument, *, yes: Annotated[bool, typer.Option("--yes", help="do not ask for confirmation")] = False) -> None:
    """Delete a baseline with all its versions; samples stay."""
    if not yes:
        typer.confirm(f"Baseline {name} and all its versions will be deleted for good. Continue?", abort=True)

    async def work(session: WriteSession, found: BaselineInfo) -> BaselineInfo:
        await baseline_rows.delete_baseline(session, found.id)
        return found

    typer.echo(f"Deleted baseline {_run_on(name, work).name}")


@app.command()
def exclude(
    incident: Annotated[str, typer.Argument(help="what happened, in a few words")],
    *,
    window: Annotated[Window, typer.Option("--window", parser=parse_window, metavar="START/END", help="when")],
    host: Annotated[str | None, typer.Option(help="the affected host; default: all hosts")] = None,
    note: Annotated[str, typer.Option(help="a note")] = "",
) -> None:
    """Mark a window as an incident: every baseline that contains it excludes it."""
    members = {"name": incident, "note": note, "start": window.start, "end": window.end, "host": host}

    async def make(session: WriteSession) -> tuple[int, int]:
        record, n_baselines = await exclusion_rows.create_exclusion(session, check_body(ExclusionCreate, members), by=MADE_BY)
        return record.id, n_baselines

    number, n_baselines = run_in_session(make)
    typer.echo(f"Created exclusion {number}; it affects {_baselines(n_baselines)}; `normstat baseline include {number}` undoes it")


@app.command()
def include(number: Annotated[int, typer.Argument(help="id of the exclusion", min=1, max=2**63 - 1)]) -> None:
    """Delete an exclusion: baselines include its window again."""

    async def work(session: WriteSession) -> int:
        return await exclusion_rows.delete_exclusion(session, number)

    n_baselines = run_in_session(work)
    typer.echo(f"{_baselines(n_baselines)} {'includes' if n_baselines == 1 else 'include'} the window again")


@app.command(name="exclusions")
def list_exclusions(*, host: Annotated[str | None, typer.Option(help="exclusions that apply to this host")] = None) -> None:
    """List the windows excluded from baselines."""

    async def read(session: WriteSession) -> list[exclusion_rows.ExclusionInfo]:
        return await exclusion_rows.list_exclusions(session, host=host)

    rows = [
        (str(record.id), record.name, record.host or "all hosts", _span(record.start, record.end), record.created_by)
        for record in run_in_session(read)
    ]
    print_table([("no", "what", "host", "when", "by"), *rows])


def _run_on(
    name: str, work: Callable[[WriteSession, BaselineInfo], Awaitable[BaselineInfo]]
) -> BaselineInfo:  # fmt: skip
    """Return the result of the work on the baseline of that name or id, in a committed session."""

    async def run(session: WriteSession) -> BaselineInfo:
        return await work(session, await baseline_rows.find_baseline(session, name))

    return run_in_session(run)


def _baselines(n: int) -> str:
    return f"{n} baseline{'' if n == 1 else 's'}"


def _hosts_text(record: BaselineInfo) -> str:
    hosts = ", ".join(record.hosts) or "no host"
    return hosts if record.group is None else f"{record.group} ({hosts})"


def _source_text(record: BaselineInfo) -> str:
    if record.recording_until is not None:
        return f"recorded until {format_instant(record.recording_until)}"
    rule = record.rule
    if rule is None:
        return "windows"
    lasts = timedelta(seconds=rule.duration_s)
    return f"{rule.rrule} at {rule.start:%H:%M} {record.time_zone} for {lasts}, {count_of(rule.keep_days, 'day')} kept"


def _span(start: datetime, end: datetime) -> str:
    return f"{format_instant(start)} - {format_instant(end)}"
