"""`normstat join-token`: tokens that hosts enrol with."""

import re
from typing import Annotated, Final

import typer

from normstat.auth import enrolment, join_token_rows
from normstat.auth.enrolment import JoinTokenCreate
from normstat.auth.join_token_rows import JoinTokenInfo
from normstat.cli.db_session import format_instant, print_table, run_in_session, to_printable
from normstat.cli.local_database import find_public_url
from normstat.db.session import WriteSession
from normstat.records.host_tag_rows import read_tags
from normstat.runtime.body import check_body
from normstat.runtime.logs import configure_logging
from normstat.settings import load_settings

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Create, list and revoke tokens that hosts enrol with: docs/run.md."
)
UNITS: Final = {"m": 60, "h": 3600, "d": 86400}
MAX_LISTED: Final = 200


@app.callback()
def join_token() -> None:
    """Create, list and revoke tokens that hosts enrol with."""


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="name of the token in the list of tokens", min=1)] = "join token",
    *,
    lifetime: Annotated[str, typer.Option("--for", help="how long hosts can enrol: 30m, 1h, 7d; 30d at most")] = "1h",
    uses: Annotated[int, typer.Option(help="how many hosts can enrol", min=1, max=enrolment.MAX_USES)] = 50,
    hosts: Annotated[str, typer.Option(help="names that the hosts may have, such as 'web* db?'; default: any")] = "",
    tags: Annotated[str, typer.Option(help="tags that each host gets, separated by commas")] = "",
    takeover: Annotated[bool, typer.Option(help="also for names that another token sends for, which is revoked then")] = False,
    command: Annotated[bool, typer.Option(help="print the whole install command, not the token alone")] = False,
) -> None:
    """Print a new join token; it is shown only once."""
    settings = load_settings()
    configure_logging(settings.log_level)
    members = {
        "name": name,
        "lifetime_s": _read_lifetime(lifetime),
        "max_uses": uses,
        "host_pattern": hosts,
        "tags": read_tags(tags),
        "allows_takeover": takeover,
    }

    async def work(session: WriteSession) -> str:
        return (await enrolment.create_join_token(session, check_body(JoinTokenCreate, members), created_by="command line"))[0]

    token = run_in_session(work)
    typer.echo(enrolment.join_command(find_public_url(), token) if command else token)


@app.command(name="list")
def list_() -> None:
    """List join tokens, the newest first, with the hosts that enrolled."""

    async def read(session: WriteSession) -> list[JoinTokenInfo]:
        return await join_token_rows.show_join_tokens(session, limit=MAX_LISTED, max_hosts=10 * MAX_LISTED)

    tokens = run_in_session(read)
    if not tokens:
        typer.echo("no join tokens")
        return
    header = ("token", "name", "uses", "expires", "names", "hosts")
    print_table([header, *map(_to_cells, tokens)])


@app.command()
def revoke(number: Annotated[int, typer.Argument(help="number of the token, as `list` shows it", min=1)]) -> None:
    """Revoke a join token; hosts that enrolled keep their own tokens."""

    async def work(session: WriteSession) -> None:
        await enrolment.revoke_join_token(session, number, by="command line")

    run_in_session(work)
    typer.echo(f"revoked join token {number}")


def _read_lifetime(text: str) -> int:
    match = re.fullmatch(r"([0-9]{1,5})([mhd])", text)
    if match is None:
        raise typer.BadParameter(f"{text!r} is not a time: expected a number with m, h or d, such as 1h")
    seconds = int(match[1]) * UNITS[match[2]]
    if not 60 <= seconds <= enrolment.MAX_LIFETIME_S:
        raise typer.BadParameter(f"{text!r}: a join token is valid for at least a minute and at most 30 days")
    return seconds


def _to_cells(row: JoinTokenInfo) -> tuple[str, ...]:
    ends = "revoked" if row.revoked_at is not None else format_instant(row.expires_at)
    return (
        str(row.id),
        to_printable(row.name),
        f"{row.n_uses} of {row.max_uses}",
        ends,
        row.host_pattern or "any",
        " ".join(each.host for each in row.hosts) or "-",
    )
