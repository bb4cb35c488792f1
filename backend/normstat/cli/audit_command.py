"""`normstat audit`: prints the audit log."""

import sys
from datetime import datetime
from typing import Annotated, Final

import typer

from normstat.auth.audit_text import AUDIT_COLUMNS, to_csv_line, to_json_line
from normstat.cli.db_session import format_instant, parse_time, print_table, run_in_session, to_printable
from normstat.db.schema.audit_models import AuditEntryRow
from normstat.db.session import WriteSession
from normstat.records.audit_rows import AuditFilter, list_entries

app = typer.Typer(add_completion=False)

MAX_LISTED: Final = 1_000_000


@app.command()
def audit(
    *,
    account: Annotated[str | None, typer.Option(help="only what this account did")] = None,
    action: Annotated[str | None, typer.Option(help="such as delete_host or login_failed")] = None,
    start: Annotated[datetime | None, typer.Option("--from", parser=parse_time, metavar="TIME", help="from this time on")] = None,
    end: Annotated[datetime | None, typer.Option("--to", parser=parse_time, metavar="TIME", help="before this time")] = None,
    search: Annotated[str | None, typer.Option(help="text in action, account, address or target")] = None,
    refused: Annotated[bool, typer.Option("--refused", help="only what was refused")] = False,
    limit: Annotated[int, typer.Option(help="maximum number of entries", min=1, max=MAX_LISTED)] = 100,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON objects, one a line")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="print CSV")] = False,
) -> None:
    """Print who did what, from where, newest first: logins, refusals, changes, exports."""
    wanted = AuditFilter(account, action, start, end, search, True if refused else None)

    async def work(session: WriteSession) -> list[AuditEntryRow]:
        return await list_entries(session, wanted, limit=limit)

    rows = run_in_session(work)
    if as_json:
        sys.stdout.writelines(map(to_json_line, rows))
    elif as_csv:
        sys.stdout.write(",".join(AUDIT_COLUMNS) + "\r\n")
        sys.stdout.writelines(map(to_csv_line, rows))
    elif not rows:
        typer.echo("no entries")
    else:
        print_table([("time", "account", "from", "action", "", "target"), *map(_to_cells, rows)])


def _to_cells(row: AuditEntryRow) -> tuple[str, ...]:
    target = ", ".join(f"{key} {value}" for key, value in row.target.items())
    by = f"{row.account or '-'}" + (f" (token {row.token_id})" if row.token_id is not None else "")
    return (format_instant(row.at), by, row.address or "-", row.action, "refused" if row.is_refused else "", to_printable(target))
