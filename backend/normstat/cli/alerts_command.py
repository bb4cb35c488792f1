"""`normstat alerts`: alerts and who received them, channels and routes, and tests of both."""

import asyncio
import json
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final

import typer
from pydantic import ValidationError

from normstat.alerts import channel_book
from normstat.alerts.alert_channel_rows import list_channels
from normstat.alerts.alert_lists import AlertFilter, AlertInfo, AlertMessageInfo, list_alerts
from normstat.alerts.alert_route_rows import list_routes, read_settings
from normstat.alerts.channel_book import ChannelTestResult, RouteTrial
from normstat.alerts.channel_settings import AnySettings, join_secrets
from normstat.alerts.route_settings import RouteSettings
from normstat.cli.db_session import format_instant, parse_time, print_table, run_in_session
from normstat.cli.local_database import find_public_url
from normstat.db.schema.alert_models import AlertChannelRow, AlertRouteRow
from normstat.db.session import WriteSession
from normstat.errors import BadRequest, NotFound
from normstat.runtime.csv_cells import format_csv
from normstat.runtime.readable import count_of, name_some
from normstat.settings import load_settings
from normstat.window import Window

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Show alerts, test channels, try routes: docs/alerts.md.")

MAX_LISTED: Final = 500
MAX_HOSTS: Final = 3
SERVER: Final = "normstat"


@app.callback()
def alerts() -> None:
    """Show alerts, test channels, try routes."""


@app.command("list")
def print_alerts(
    *,
    host: Annotated[str | None, typer.Option(help="only with episodes of this host")] = None,
    history: Annotated[bool, typer.Option("--history", help="also alerts that are over, the latest first")] = False,
    failed: Annotated[bool, typer.Option("--failed", help="only those with a message that was given up")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="print the messages as CSV")] = False,
) -> None:
    """Print alerts with the state of their messages; exit 1 if a message was given up."""
    wanted = AlertFilter(host=host, is_open=None if history or failed else True, has_failed=failed or None)

    async def work(session: WriteSession) -> list[AlertInfo]:
        return await list_alerts(session, wanted, limit=MAX_LISTED)

    found = run_in_session(work)
    if as_csv:
        _print_csv(found)
    elif not found:
        typer.echo("no alerts")
    else:
        rows = [(*_describe(alert), *_describe_messages(alert.messages)) for alert in found]
        print_table([("alert", "since", "state", "", "host", "what", "route", "messages", "problem"), *rows])
    if any(message.state == "failed" for alert in found for message in alert.messages):
        raise typer.Exit(1)


def _describe(alert: AlertInfo) -> tuple[str, ...]:
    care = "acknowledged" if alert.acknowledged_at is not None else ""
    return (
        str(alert.id),
        format_instant(alert.start),
        alert.state,
        care,
        name_some(alert.hosts, MAX_HOSTS) or SERVER,
        f"{alert.colour}: {alert.title}",
        alert.route,
    )


def _describe_messages(messages: Sequence[AlertMessageInfo]) -> tuple[str, str]:
    problem = next((message for message in reversed(messages) if message.state == "failed" or message.n_tries > 1), None)
    told = ", ".join(f"{message.kind} {message.channel} {message.state}" for message in messages[-3:])
    return told, "" if problem is None or problem.state == "sent" else f"{problem.channel}: {problem.answer}"


def _print_csv(found: Sequence[AlertInfo]) -> None:
    rows: list[list[object]] = [[
        "alert", "route", "hosts", "title", "colour", "message", "kind", "channel", "state", "tries", "created_at", "sent_at",
        "answer",
    ]]  # fmt: skip
    for alert in found:
        for message in alert.messages:
            sent = "" if message.sent_at is None else message.sent_at.isoformat()
            what = [alert.id, alert.route, " ".join(alert.hosts), alert.title, alert.colour]
            how = [
                message.kind,
                message.channel,
                message.state,
                message.n_tries,
                message.created_at.isoformat(),
                sent,
                message.answer,
            ]
            rows.append([*what, message.number, *how])
    sys.stdout.write(format_csv(rows))


@app.command("channels")
def print_channels() -> None:
    """List channels; without their secrets."""
    found = run_in_session(list_channels)
    if not found:
        typer.echo("no channels; create one on the page Alerts, or with POST /api/v1/alert-channels")
        return
    rows = [(each.name, each.kind, _endpoint(each), "" if each.is_enabled else "disabled", _held(each)) for each in found]
    print_table([("channel", "kind", "reaches", "", ""), *rows])


def _held(channel: AlertChannelRow) -> str:
    return "" if channel.held_until is None else f"asked for a pause until {format_instant(channel.held_until)}"


def _endpoint(channel: AlertChannelRow) -> str:
    try:
        return join_secrets(channel.settings, channel.secrets).endpoint
    except ValidationError:
        return "(unreadable: save it again)"


@app.command("routes")
def print_routes() -> None:
    """List routes in their order."""

    async def work(session: WriteSession) -> tuple[list[AlertRouteRow], dict[int, str]]:
        return await list_routes(session), {channel.id: channel.name for channel in await list_channels(session)}

    routes, names = run_in_session(work)
    if not routes:
        typer.echo("no routes: no alerts are sent")
        return
    rows = [(each.name, "" if each.is_enabled else "disabled", *_describe_route(each, names)) for each in routes]
    print_table([("route", "", "takes", "sends to", "escalates to"), *rows])


def _describe_route(route: AlertRouteRow, names: dict[int, str]) -> tuple[str, str, str]:
    settings = read_settings(route)
    if settings is None:
        return "(unreadable: save it again)", "", ""
    match = settings.match
    chosen = [("host", match.hosts), ("tag", match.tags), ("group", match.groups), ("rule", match.sources), ("", match.subsystems)]
    takes = [f"{name} {' or '.join(words)}".strip() for name, words in chosen if words]
    hours = [f"at {len(match.hours)} times of the week ({match.time_zone})"] if match.hours else []
    escalations = [
        f"{', '.join(names.get(channel, '?') for channel in each.channels)} after {each.after_min} min"
        for each in settings.escalations
    ]
    return (
        ", ".join([f"{match.lowest} or worse", *takes, *hours]),
        ", ".join(names.get(channel, "?") for channel in settings.channels),
        "; ".join(escalations),
    )


@app.command("test")
def send_test(name: Annotated[str, typer.Argument(help="name of a channel")]) -> None:
    """Send a test message through a channel; print what the receiver said."""
    settings = load_settings()

    async def read(session: WriteSession) -> AnySettings:
        channel = next((each for each in await list_channels(session) if each.name == name), None)
        if channel is None:
            raise NotFound(f"There is no channel {name}; `normstat alerts channels` lists them")
        try:
            return join_secrets(channel.settings, channel.secrets)
        except ValidationError:
            raise BadRequest(f"The settings of {name} cannot be used any more; save them again") from None

    async def send(channel: AnySettings) -> ChannelTestResult:
        return await channel_book.test_channel(
            channel, name=name, public_url=find_public_url(), scripts_dir=settings.alert_scripts_dir
        )

    result = asyncio.run(send(run_in_session(read)))
    typer.echo(f"{'sent' if result.is_sent else 'not sent'} after {result.seconds:.1f} s: {result.answer}")
    if not result.is_sent:
        raise typer.Exit(1)


@app.command("try")
def try_route(
    route: Annotated[str, typer.Argument(help="name of a route, or a JSON file with the settings of one")],
    *,
    start: Annotated[datetime, typer.Option("--from", parser=parse_time, metavar="TIME", help="first instant")],
    end: Annotated[datetime, typer.Option("--to", parser=parse_time, metavar="TIME", help="first instant after the window")],
) -> None:
    """Print which messages a route would have sent about the episodes that began in a window. Nothing is stored or sent."""
    if end <= start:
        raise typer.BadParameter("--to must be after --from")

    async def work(session: WriteSession) -> tuple[RouteTrial, dict[int, str]]:
        settings = await _read_route(session, route)
        names = {channel.id: channel.name for channel in await list_channels(session)}
        return await channel_book.try_in_past(session, settings, Window(start, end)), names

    trial, names = run_in_session(work)
    rows = []
    for message in trial.messages:
        first = trial.episodes[message.episode_ids[0]]
        more = f" and {len(message.episode_ids) - 1} more" if len(message.episode_ids) > 1 else ""
        who = f"{first.host or SERVER}: {first.title} {first.instance}".strip()
        to = ", ".join(names[channel] for channel in message.channels)
        rows.append((format_instant(message.at), str(message.alert), message.kind.value, message.colour or "", f"{who}{more}", to))
    if rows:
        print_table([("at", "alert", "message", "state", "what", "to"), *rows])
    n_alerts = max((message.alert for message in trial.messages), default=0)
    days = (end - start).total_seconds() / 86_400
    a_week = f", {len(rows) / days * 7:.1f} a week" if days >= 1 else ""
    typer.echo(f"{count_of(len(rows), 'message')} about {count_of(n_alerts, 'alert')}{a_week}")


async def _read_route(session: WriteSession, name: str) -> RouteSettings:
    """Return the settings of a route by its name, or those of a file.

    Raises: NotFound, BadRequest
    """
    path = Path(name)
    known = next((each for each in await list_routes(session) if each.name == name), None)
    try:
        if known is not None:
            return RouteSettings.model_validate(known.settings)
        # Small, and nothing else runs.
        if path.is_file():  # noqa: ASYNC240
            return RouteSettings.model_validate(json.loads(path.read_text("utf-8")))  # noqa: ASYNC240
    except (ValidationError, ValueError, OSError) as error:
        raise BadRequest(f"{name} is not a route: {error}") from None
    raise NotFound(f"There is no route {name}, nor a file of that name; `normstat alerts routes` lists routes")
