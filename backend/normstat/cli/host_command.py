"""`normstat host`: tag hosts, and delete a host with all of its data."""

import asyncio
from typing import Annotated, Final

import typer

from normstat.cli.db_session import print_table, run_in_session, run_or_exit
from normstat.db.schema.job_models import JobState
from normstat.db.session import WriteSession, make_engine, make_sessions, open_read_session
from normstat.errors import NormstatError
from normstat.records.host_tag_rows import TAG, HostTagsUpdate, TaggedHost, change_tags, list_tagged
from normstat.retention import host_deletion
from normstat.retention.deletion_worker import work_off_removals
from normstat.retention.host_deletion import HostDeletion
from normstat.runtime.body import MAX_TAG_LENGTH, check_body
from normstat.runtime.logs import configure_logging
from normstat.runtime.readable import count_of
from normstat.settings import load_settings

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Tag and delete hosts.")

REQUESTED_BY: Final = "command line"
LOOK_S: Final = 0.5


@app.callback()
def host() -> None:
    """Tag and delete hosts."""


@app.command()
def tag(
    name: Annotated[str, typer.Argument(help="name of the host")],
    tags: Annotated[list[str], typer.Argument(help="tags: words without commas")],
    *,
    remove: Annotated[bool, typer.Option("--remove", help="take these tags from the host")] = False,
) -> None:
    """Give the host NAME tags, or take them from it."""
    configure_logging("error")
    for own in tags:
        if TAG.fullmatch(own) is None:
            raise typer.BadParameter(f"{own!r} is not a tag: a tag has 1 to {MAX_TAG_LENGTH} characters, no blanks and no commas")

    async def change(session: WriteSession) -> list[TaggedHost]:
        return await change_tags(session, check_body(HostTagsUpdate, {"hosts": [name], "remove" if remove else "add": tags}))

    [found] = run_in_session(change)
    typer.echo(f"{found.name}: {' '.join(found.tags) or 'no tags'}")
    kept = [own for own in tags if own in found.agent_tags] if remove else []
    if kept:
        typer.echo(f"Its agent sets {' '.join(kept)}; remove it from the line tags= of its agent.conf", err=True)


@app.command()
def tags() -> None:
    """List the hosts that have tags."""
    configure_logging("error")
    found = run_in_session(list_tagged)
    if not found:
        typer.echo("No host has tags. `normstat host tag NAME TAG` gives a host a tag.")
        return
    print_table(
        [("host", "tags", "set by its agent"), *((host.name, " ".join(host.tags), " ".join(host.agent_tags)) for host in found)]
    )


@app.command()
def delete(
    name: Annotated[str, typer.Argument(help="name of the host")],
    *,
    yes: Annotated[bool, typer.Option("--yes", help="do not ask for confirmation")] = False,
) -> None:
    """Delete the host NAME with all its samples, raw bytes and tokens; its name is free at once."""
    configure_logging("error")
    if not yes and typer.prompt(f"All data of {name} will be deleted for good; type its name to continue") != name:
        typer.echo("normstat: nothing was deleted", err=True)
        raise typer.Exit(1)

    async def request(session: WriteSession) -> int:
        return (await host_deletion.request_deletion(session, name, requested_by=REQUESTED_BY)).job_id

    job_id = run_in_session(request)
    record = run_or_exit(lambda: asyncio.run(_finish(job_id)))
    typer.echo(f"Deleted {record.host}: {count_of(record.n_samples, 'sample')}")


async def _finish(job_id: int) -> HostDeletion:
    """Run the deletion, or wait until a server has run it.

    Raises: NormstatError when it failed
    """
    url = load_settings().database_url
    engine = make_engine(url, pool_size=1)
    try:
        while True:
            await work_off_removals(url)
            async with open_read_session(make_sessions(engine)) as session:
                record = await host_deletion.read_deletion(session, job_id)
            if record.state is JobState.DONE:
                return record
            if record.state is JobState.FAILED:
                raise NormstatError(
                    f"{record.host} is hidden, but its data is not deleted yet: {record.message}; a server tries again"
                )
            await asyncio.sleep(LOOK_S)
    finally:
        await engine.dispose()
