"""`normstat rules`: lists rules, explains one, and shows when one would have fired."""

import dataclasses
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

import typer

from normstat.cli.db_session import format_instant, parse_time, print_table, run_in_session
from normstat.db.session import WriteSession
from normstat.runtime.csv_cells import format_csv
from normstat.runtime.readable import count_of, format_human, format_seconds, name_some
from normstat.samples.lookup import require_host
from normstat.watch.rules.episode_tracker import Episode
from normstat.watch.rules.past import PastRun, run_over_past
from normstat.watch.rules.rule_file import COLOUR_WORDS, COLOURS, BadRule, WatchRule, load_builtin_rules, name_parts, read_rule
from normstat.watch.rules.rule_frame import name_sources
from normstat.window import Window

app = typer.Typer(add_completion=False, no_args_is_help=True, help="List, explain and try rules: docs/rules.md.")

MAX_SOURCES: Final = 4
MAX_EPISODES: Final = 50
# In a shorter window, episodes per week mean nothing.
MIN_FOR_WEEKS: Final = timedelta(days=1)


@app.callback()
def rules() -> None:
    """List, explain and try rules."""


@app.command("list")
def list_rules() -> None:
    """List the built-in rules."""
    known = load_builtin_rules().values()
    rows = [(rule.name, rule.subsystem, name_parts(rule), rule.title) for rule in known]
    print_table([("rule", "subsystem", "a state for each", "what it watches"), *rows])


@app.command()
def show(name: Annotated[str, typer.Argument(help="name of a built-in rule, or a file with one")]) -> None:
    """Explain a rule: what it looks at, its limits with where they come from, and its states with what to do."""
    rule = _load(name)
    typer.echo(f"{rule.title} ({rule.name}, version {rule.version})\n{rule.about}\nSource: {rule.source}\n")
    print_table(
        [
            ("input", "unit", "read from"),
            *((each.name, each.unit, name_some(name_sources(each), MAX_SOURCES)) for each in rule.inputs),
        ]
    )
    typer.echo("")
    if rule.limits:
        rows = [(f"limit.{each.name}", f"{each.value:g} {each.unit}".strip(), each.source) for each in rule.limits]
        print_table([("limit", "value", "source"), *rows])
        typer.echo("")
    for state in rule.states:
        when = "otherwise" if state.when is None else f"when {state.when.text}"
        typer.echo(f"{state.colour} ({COLOUR_WORDS[state.colour]}): {when}")
        typer.echo(f"  {state.explanation} {state.action}".rstrip())


@app.command("test")
def try_rule(
    name: Annotated[str, typer.Argument(help="name of a built-in rule, or a file with one")],
    *,
    host: Annotated[str, typer.Option(help="name of the host")],
    start: Annotated[datetime, typer.Option("--from", parser=parse_time, metavar="TIME", help="first instant")],
    end: Annotated[datetime, typer.Option("--to", parser=parse_time, metavar="TIME", help="first instant after the window")],
    limit: Annotated[list[str] | None, typer.Option(help="another limit for this run: smtx=800; may be repeated")] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="print the episodes as CSV")] = False,
) -> None:
    """Show when a rule would have fired in a window of a host's samples, how long, and what it saw. Nothing is stored."""
    rule = _with_limits(_load(name), limit or [])
    if end <= start:
        raise typer.BadParameter("--to must be after --from")

    async def work(session: WriteSession) -> PastRun:
        return await run_over_past(session, (await require_host(session, host), host), rule, Window(start, end))

    past = run_in_session(work)
    if as_csv:
        _print_csv(past)
    else:
        _print_text(past)


def _load(name: str) -> WatchRule:
    path = Path(name)
    known = load_builtin_rules()
    if name in known:
        return known[name]
    try:
        if path.suffix == ".toml":
            return read_rule(path.read_text("utf-8"), path.name)
    except (OSError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{name}: {error.strerror if isinstance(error, OSError) else 'not UTF-8'}") from None
    except BadRule as error:
        raise typer.BadParameter(str(error)) from None
    raise typer.BadParameter(f"there is no rule {name!r}; `normstat rules list` names those built in, a file's name ends in .toml")


def _with_limits(rule: WatchRule, given: Sequence[str]) -> WatchRule:
    values = rule.limit_values()
    for text in given:
        name, _, value = text.partition("=")
        if name not in values:
            raise typer.BadParameter(f"rule {rule.name} has no limit {name!r}; it has {', '.join(values) or 'none'}")
        try:
            values[name] = float(value)
        except ValueError:
            raise typer.BadParameter(f"{text!r}: a limit is a number: {name}=800") from None
    return dataclasses.replace(rule, limits=tuple(dataclasses.replace(each, value=values[each.name]) for each in rule.limits))


def _print_text(past: PastRun) -> None:
    rule = past.rule
    sources = "; ".join(f"{name} from {', '.join(fields)}" for name, fields in past.sources.items())
    typer.echo(f"{rule.title} on {past.host}, {format_instant(past.window.start)} to {format_instant(past.window.end)}")
    typer.echo(f"{count_of(past.n_reports, 'report')}; {sources}")
    shares = [f"{colour} {format_seconds(past.seconds[colour])}" for colour in reversed(COLOURS) if colour in past.seconds]
    if past.unknown_s:
        shares.append(f"not to be judged {format_seconds(past.unknown_s)}")
    typer.echo(f"{f'The worst {name_parts(rule)}' if rule.of else 'The host'} was {', '.join(shares)}.\n")
    if not past.episodes:
        typer.echo("It would not have fired.")
        return
    weekly = f", {past.n_a_week:.3g} a week" if past.covered >= MIN_FOR_WEEKS else ""
    typer.echo(f"It would have fired {count_of(len(past.episodes), 'time', 'times')}{weekly}:")
    rows = [_to_row(past, episode) for episode in past.episodes[:MAX_EPISODES]]
    print_table([("from", "lasted", name_parts(rule), "state", "what it saw"), *rows])
    if len(past.episodes) > MAX_EPISODES:
        typer.echo(f"The first {MAX_EPISODES} of {len(past.episodes):,}; --csv prints all.")
    typer.echo("")
    for state in dict.fromkeys(episode.state for episode in past.episodes):
        typer.echo(f"{state.colour}: {state.explanation} {state.action}")


def _to_row(past: PastRun, episode: Episode) -> tuple[str, ...]:
    units = {each.name: each.unit for each in past.rule.inputs}
    saw = ", ".join(f"{name} {format_human(value, units[name])}" for name, value in episode.values.items())
    lasted = format_seconds(episode.end_s - episode.start_s) if episode.n_reports > 1 else "one report"
    return (format_instant(_at(episode.start_s)), lasted, episode.instance or past.host, episode.state.colour, saw)


def _print_csv(past: PastRun) -> None:
    names = [each.name for each in past.rule.inputs]
    rows: list[list[object]] = [["host", "rule", "instance", "start", "end", "reports", "state", *names]]
    for episode in past.episodes:
        saw = map(episode.values.get, names)
        times = [_at(episode.start_s).isoformat(), _at(episode.end_s).isoformat()]
        rows.append([past.host, past.rule.name, episode.instance, *times, episode.n_reports, episode.state.colour, *saw])
    sys.stdout.write(format_csv(rows))


def _at(time_s: float) -> datetime:
    return datetime.fromtimestamp(time_s, UTC)
