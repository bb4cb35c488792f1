"""`normstat retention`: how long samples and raw bytes are kept."""

import asyncio
from typing import Annotated, Final

import typer

from normstat.cli.db_session import print_table, run_in_session, run_or_exit
from normstat.db.schema.job_models import OPEN_STATES, JobState
from normstat.db.session import WriteSession, make_engine, make_sessions, open_read_session
from normstat.errors import BadRequest
from normstat.retention import retention_rules
from normstat.retention.deletion_worker import work_off_removals
from normstat.retention.retention_rules import MAX_DAYS, RESULTS, RetentionRule, RetentionRulePut, RetentionRun
from normstat.runtime.body import check_body
from normstat.runtime.logs import configure_logging
from normstat.runtime.readable import count_of, format_bytes
from normstat.samples.spec_refresh import refresh_catalogue
from normstat.settings import load_settings

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Show and set how long samples and raw bytes are kept: docs/run.md."
)

CREATED_BY: Final = "command line"
FOR_EVER: Final = "forever"
OTHERS: Final = "others"
LOOK_S: Final = 0.5


@app.callback()
def retention() -> None:
    """Set and apply rules for how long samples and raw bytes are kept."""


@app.command()
def show() -> None:
    """List the rules, and what their last runs removed."""
    found = run_in_session(retention_rules.read_retention)
    rules, runs = found.rules, found.runs
    if not rules:
        typer.echo("no rules: everything is kept for ever")
    else:
        print_table(
            [
                ("stat", "samples", "raw bytes", "changed by", "changed"),
                *(
                    (
                        rule.stat or "all others",
                        _days(rule.samples_days),
                        _days(rule.chunks_days),
                        rule.updated_by,
                        f"{rule.updated_at:%Y-%m-%d %H:%M}",
                    )
                    for rule in rules
                ),
            ]
        )
    for run in runs[:10]:
        typer.echo(_describe(run))


@app.command(name="set")
def set_(
    stat: Annotated[
        str, typer.Argument(help=f"name of the stat, `{OTHERS}` for all stats without a rule, or {', '.join(RESULTS)}")
    ],
    samples: Annotated[str, typer.Option(help=f"days to keep samples, or `{FOR_EVER}`")] = FOR_EVER,
    raw: Annotated[str, typer.Option(help=f"days to keep raw bytes, or `{FOR_EVER}`")] = FOR_EVER,
) -> None:
    """Set the rule for STAT; with neither option all of its data is kept forever."""
    name = None if stat == OTHERS else stat

    async def put(session: WriteSession) -> None:
        await refresh_catalogue(session)
        rules = [_to_body(rule) for rule in await retention_rules.read_rules(session) if rule.stat != name]
        members = {"stat": name, "samples_days": _to_days(samples), "chunks_days": _to_days(raw)}
        await retention_rules.put_rules(session, [*rules, check_body(RetentionRulePut, members)], updated_by=CREATED_BY)

    run_in_session(put)
    typer.echo("the rule is set; `normstat retention run`, or the next night, deletes what it no longer keeps")


@app.command()
def remove(stat: Annotated[str, typer.Argument(help=f"name of the stat, or `{OTHERS}`")]) -> None:
    """Remove the rule for STAT: the rule for all other stats applies again, or its data is kept forever."""
    name = None if stat == OTHERS else stat

    async def put(session: WriteSession) -> bool:
        await refresh_catalogue(session)
        rules = await retention_rules.read_rules(session)
        kept = [_to_body(rule) for rule in rules if rule.stat != name]
        await retention_rules.put_rules(session, kept, updated_by=CREATED_BY)
        return len(kept) < len(rules)

    if not run_in_session(put):
        typer.echo(f"normstat: there is no rule for {stat}", err=True)
        raise typer.Exit(1)


@app.command()
def run() -> None:
    """Apply the rules now."""
    configure_logging("error")
    run_id = run_in_session(_queue)
    record = run_or_exit(lambda: asyncio.run(_finish(run_id)))
    typer.echo(_describe(record))
    if record.state is JobState.FAILED:
        raise typer.Exit(1)


async def _queue(session: WriteSession) -> int:
    return (await retention_rules.add_run(session, created_by=CREATED_BY)).id


async def _finish(run_id: int) -> RetentionRun:
    """Run it, or wait until a server has run it."""
    url = load_settings().database_url
    engine = make_engine(url, pool_size=1)
    try:
        while True:
            await work_off_removals(url)
            async with open_read_session(make_sessions(engine)) as session:
                record = await retention_rules.read_run(session, run_id)
            if record.state not in OPEN_STATES:
                return record
            await asyncio.sleep(LOOK_S)
    finally:
        await engine.dispose()


def _days(days: int | None) -> str:
    return "for ever" if days is None else f"{days} day{'s' if days > 1 else ''}"


def _to_days(word: str) -> int | None:
    if word == FOR_EVER:
        return None
    if not word.isdecimal() or not 1 <= int(word) <= MAX_DAYS:
        raise BadRequest(f"{word!r} is neither a number of days from 1 to {MAX_DAYS} nor `{FOR_EVER}`")
    return int(word)


def _describe(run: RetentionRun) -> str:
    when = f"{run.created_at:%Y-%m-%d %H:%M}"
    said = (
        f"{when} {run.state} ({run.created_by}): {count_of(run.n_samples, 'sample')}, "
        f"{count_of(run.n_instances, 'instance')} and {count_of(run.n_chunks, 'chunk')} "
        f"of raw bytes removed, {format_bytes(run.n_chunk_bytes)} of output"
    )
    if run.n_results:
        said += f", {count_of(run.n_results, 'result')} of watching"
    return f"{said}; {run.message}" if run.message else said


def _to_body(rule: RetentionRule) -> RetentionRulePut:
    return RetentionRulePut(stat=rule.stat, samples_days=rule.samples_days, chunks_days=rule.chunks_days)
