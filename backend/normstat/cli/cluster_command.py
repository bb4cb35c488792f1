"""`normstat cluster`: a Citus cluster as the database."""

from collections.abc import Callable
from typing import Annotated, TypeVar

import psycopg
import typer
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from normstat.cli.db_session import exit_with, print_table, to_printable
from normstat.db import cluster_layout, cluster_nodes
from normstat.db.cluster_layout import Connection
from normstat.db.connecting import connect_arguments, is_citus
from normstat.db.schema_version import require_current_schema
from normstat.errors import Conflict, DatabaseAway, NormstatError
from normstat.runtime.readable import count_of, format_bytes
from normstat.settings import load_settings

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Spread samples and raw bytes over several machines with Citus: docs/scale.md."
)

T = TypeVar("T")
Worker = Annotated[str, typer.Argument(help="the worker's HOST or HOST:PORT, as the coordinator reaches it", metavar="HOST")]


@app.callback()
def cluster() -> None:
    """Manage the Citus cluster whose coordinator NORMSTAT_DATABASE_URL names."""


@app.command()
def init() -> None:
    """Distribute the tables of an empty, migrated database over the workers."""

    def work(connection: Connection) -> list[str]:
        require_current_schema(load_settings().database_url, may_be_undistributed=True)
        return cluster_layout.lay_out(connection)

    names = _run(work)
    typer.echo(f"distributed: {', '.join(names)}; tables of samples follow as they are created")


@app.command()
def add_worker(
    host: Worker,
    coordinator: Annotated[
        str | None, typer.Option(help="HOST or HOST:PORT by which workers reach the coordinator", metavar="HOST")
    ] = None,
) -> None:
    """Add a worker; its database of the same name must have the extension citus. Shards move there by `rebalance`."""

    def work(connection: Connection) -> None:
        own = None if coordinator is None else cluster_nodes.parse_address(coordinator)
        cluster_nodes.add_worker(connection, cluster_nodes.parse_address(host), own)

    _run(work, is_admin=True)
    typer.echo(f"{to_printable(host)} is a worker of the cluster")


@app.command()
def remove_worker(host: Worker) -> None:
    """Move all data from a worker to the others, and remove it from the cluster. Hosts wait while their shard moves."""
    _run(lambda connection: cluster_nodes.remove_worker(connection, cluster_nodes.parse_address(host)), is_admin=True)
    typer.echo(f"{to_printable(host)} is no longer a worker")


@app.command()
def status() -> None:
    """Show the nodes, whether they answer, and what they hold. Exit code 1 when one does not answer."""

    def work(connection: Connection) -> tuple[list[cluster_nodes.ClusterNode], bool]:
        return cluster_nodes.list_nodes(connection), cluster_layout.is_laid_out(connection)

    nodes, is_laid_out = _run(work, is_admin=True)
    print_table([
        ("node", "role", "state", "shards", "size"),
        *(
            (
                to_printable(str(node.address)),
                "coordinator" if node.is_coordinator else "worker",
                _state_of(node),
                "-" if node.is_coordinator else str(node.n_shards),
                "-" if node.is_coordinator else format_bytes(node.n_bytes),
            )
            for node in nodes
        ),
    ])  # fmt: skip
    if not is_laid_out:
        typer.echo("the tables are not distributed yet; run `normstat cluster init`")
    away = [node for node in nodes if node.problem is not None]
    for node in away:
        typer.echo(f"normstat: {node.address} does not answer: {to_printable(node.problem or '')}", err=True)
    if away:
        raise typer.Exit(1)


@app.command()
def rebalance() -> None:
    """Move shards until all workers hold as many. Agents of hosts whose shard moves wait, and lose nothing."""
    n_moves = _run(cluster_nodes.rebalance, is_admin=True)
    typer.echo(f"{count_of(n_moves, 'shard')} moved" if n_moves else "the workers are balanced; nothing was moved")


def _state_of(node: cluster_nodes.ClusterNode) -> str:
    if node.problem is not None:
        return "away"
    return "answers" if node.is_active else "not active"


def _run(work: Callable[[Connection], T], *, is_admin: bool = False) -> T:
    """Return the result of the work on a connection to the coordinator, as the superuser if there is one and the work needs it."""
    try:
        if not is_citus():
            raise Conflict("NORMSTAT_DISTRIBUTED is not set; set it to citus for commands of a cluster, and for all servers")
        with psycopg.connect(_conninfo(is_admin=is_admin), autocommit=True) as connection:
            return work(connection)
    except NormstatError as error:
        raise exit_with(error) from error
    except psycopg.OperationalError as error:
        cause = (str(error).strip().splitlines() or ["no answer"])[0]
        raise exit_with(DatabaseAway(f"The coordinator is unavailable ({cause})")) from error


def _conninfo(*, is_admin: bool) -> str:
    settings = load_settings()
    arguments = connect_arguments(settings.database_url)
    if not is_admin or settings.admin_url is None:
        return make_conninfo("", **arguments)
    # Without a database in its URL, libpq uses the one named like the account.
    database = arguments.get("dbname") or conninfo_to_dict(settings.database_url).get("user")
    return make_conninfo("", **{**connect_arguments(settings.admin_url), **({"dbname": database} if database else {})})
