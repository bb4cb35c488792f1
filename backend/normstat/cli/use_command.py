"""`normstat use`: shows utilisation, saturation and errors of each resource of a host, and of its units with limits."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from normstat.cli.db_session import format_instant, parse_time, print_table, run_in_session
from normstat.db.session import WriteSession
from normstat.watch.use.checklist import USE_KINDS
from normstat.watch.use.matrix import UseCell, UseMatrix, UseRow, read_matrix

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Show the USE matrix of a host: docs/watching.md.")


@app.command()
def use(
    host: Annotated[str, typer.Argument(help="name of the host")],
    at: Annotated[
        datetime | None, typer.Option("--at", parser=parse_time, metavar="TIME", help="end of the five minutes; default: now")
    ] = None,
) -> None:
    """Show utilisation, saturation and errors of each resource of a host; of what is not recorded, the command to run."""

    async def work(session: WriteSession) -> UseMatrix:
        return await read_matrix(session, host, at or datetime.now(UTC))

    matrix = run_in_session(work)
    print_table([("resource", *USE_KINDS), *(_to_row(row) for row in matrix.rows)])
    n_hidden = matrix.n_units - sum(row.limits != "" for row in matrix.rows)
    hidden = f"; {n_hidden} more units with limits are better off" if n_hidden else ""
    typer.echo(f"in the 5 minutes before {format_instant(matrix.end)}{hidden}")


def _to_row(row: UseRow) -> tuple[str, ...]:
    cells = {cell.kind: cell for cell in row.cells}
    title = f"{row.title} ({row.limits})" if row.limits else row.title
    return (title, *(_describe(cells.get(kind)) for kind in USE_KINDS))


def _describe(cell: UseCell | None) -> str:
    if cell is None:
        return "-"
    if cell.state == "not_recorded":
        return f"not recorded; run: {cell.command}"
    return f"{cell.text} ({cell.state})" if cell.state in ("warning", "critical") else cell.text
