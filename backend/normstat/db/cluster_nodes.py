"""The nodes of a Citus cluster: add and remove workers, move shards, show both. Only a superuser's connection can change nodes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import psycopg
from psycopg import sql

from normstat.db.cluster_layout import Connection, is_laid_out, require_citus
from normstat.errors import BadRequest, Conflict, NotAllowed

DEFAULT_PORT: Final = 5432
LOOPBACK: Final = frozenset({"", "localhost", "127.0.0.1", "::1"})
# Settings of a session do not reach workers: their output and comparisons must not depend on the zone of their machines, and no
# statement of theirs may wait for a lock for ever.
WORKER_SETTINGS: Final = {"timezone": "UTC", "lock_timeout": "30s"}
COORDINATOR: Final = "SELECT nodename, nodeport FROM pg_dist_node WHERE groupid = 0"
ON_WORKERS: Final = "SELECT nodename, nodeport, success, result FROM run_command_on_workers({command})"
NODES: Final = """
    SELECT n.nodename, n.nodeport, n.groupid, n.isactive, count(p.shardid) FILTER (WHERE t.citus_table_type = 'distributed')
    FROM pg_dist_node AS n
    LEFT JOIN pg_dist_placement AS p ON p.groupid = n.groupid
    LEFT JOIN pg_dist_shard AS s ON s.shardid = p.shardid
    LEFT JOIN citus_tables AS t ON t.table_name = s.logicalrelid
    WHERE n.noderole = 'primary'
    GROUP BY n.nodename, n.nodeport, n.groupid, n.isactive
    ORDER BY n.groupid
"""
SIZES: Final = """
    SELECT nodename, nodeport, coalesce(sum(shard_size), 0)::int8 FROM citus_shards
    WHERE citus_table_type = 'distributed' GROUP BY nodename, nodeport
"""
# A row of the plan moves all shards that are colocated with that one.
PLAN: Final = (
    "SELECT count(DISTINCT (shardid, sourcename, sourceport, targetname, targetport)) FROM get_rebalance_table_shards_plan()"
)
# Tables of samples have no key to identify their rows, which a move without a lock needs.
REBALANCE: Final = "SELECT rebalance_table_shards(shard_transfer_mode => 'block_writes')"
DRAIN: Final = "SELECT citus_drain_node(%s, %s, shard_transfer_mode => 'block_writes')"


@dataclass(frozen=True, slots=True)
class Address:
    """Where the nodes of a cluster reach one of them."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class ClusterNode:
    """A node. Missing: `n_bytes` is None where sizes are unknown, because a worker is away; `problem` is None without one"""

    address: Address
    is_coordinator: bool
    is_active: bool
    n_shards: int
    n_bytes: int | None
    problem: str | None


def parse_address(text: str) -> Address:
    """Return the address of HOST or HOST:PORT.

    Raises: BadRequest
    """
    host, colon, port = text.rpartition(":") if text.count(":") == 1 else (text, "", "")
    if not host or (colon and not (port.isdigit() and 0 < int(port) < 65536)):
        raise BadRequest(f"{text!r} is not an address of a worker; give HOST or HOST:PORT")
    return Address(host, int(port) if colon else DEFAULT_PORT)


def add_worker(connection: Connection, worker: Address, coordinator: Address | None) -> None:
    """Add the worker to the cluster, and tell the workers how they reach the coordinator; a worker that exists stays.

    Raises: Conflict when Citus is missing, the worker cannot be reached or refuses; NotAllowed for a role that is not a superuser
    """
    require_citus(connection)
    known = connection.execute(COORDINATOR).fetchone()
    own = coordinator or (Address(str(known[0]), int(str(known[1]))) if known else None)
    if own is None or own.host in LOOPBACK:
        own = own or Address(connection.info.host, connection.info.port)
        # A name that resolves to another machine on each of them.
        if worker.host not in LOOPBACK and (own.host in LOOPBACK or own.host.startswith("/")):
            raise Conflict(f"Workers cannot reach the coordinator as {own.host or 'its socket'}; give --coordinator HOST:PORT")
    with _changing(connection, lambda said: f"The worker {worker} was not added: {said}; {_advice(said)}"):
        if known != (own.host, own.port):
            connection.execute("SELECT citus_set_coordinator_host(%s, %s)", [own.host, own.port])
        connection.execute("SELECT citus_add_node(%s, %s)", [worker.host, worker.port])
    set_on_workers(connection)


def set_on_workers(connection: Connection) -> None:
    """Set for the database on all workers what sessions set for themselves on the coordinator.

    Raises: Conflict when one refuses
    """
    for name, value in WORKER_SETTINGS.items():
        command = sql.SQL("ALTER DATABASE {} SET {} = {}").format(
            sql.Identifier(connection.info.dbname), sql.Identifier(name), sql.Literal(value)
        )
        # A worker that propagated it would connect to the others, which it may not.
        text = f"SET citus.enable_ddl_propagation TO off; {command.as_string(connection)}"
        rows = connection.execute(sql.SQL(ON_WORKERS).format(command=sql.Literal(text))).fetchall()
        for host, port, is_done, result in rows:
            if not is_done:
                raise Conflict(f"The worker {host}:{port} does not take {name} = {value}: {str(result).strip()}")


def remove_worker(connection: Connection, worker: Address) -> None:
    """Move all shards from the worker to the others, and remove it from the cluster.

    Raises: Conflict when it is not a worker, or holds the only copy of shards and none is left; NotAllowed
    """
    nodes = {node.address: node for node in list_nodes(connection)}
    node = nodes.get(worker)
    if node is None or node.is_coordinator:
        raise Conflict(f"The cluster has no worker {worker}; `normstat cluster status` lists them")
    if node.problem is not None:
        raise Conflict(f"The worker {worker} is away ({node.problem}); its shards can only be moved while it answers")
    if sum(not other.is_coordinator and other.is_active for other in nodes.values()) < 2 and node.n_shards:
        raise Conflict(f"{worker} is the only worker; add another one first")
    with _changing(connection, lambda said: f"The worker {worker} was not removed: {said}"):
        connection.execute(DRAIN, [worker.host, worker.port])
        connection.execute("SELECT citus_remove_node(%s, %s)", [worker.host, worker.port])


def count_moves(connection: Connection) -> int:
    """Return how many shards would have to move to balance the workers."""
    row = connection.execute(PLAN).fetchone()
    return 0 if row is None else int(str(row[0]))


def rebalance(connection: Connection) -> int:
    """Move shards until the workers are balanced; return how many were moved. Hosts of a shard that moves wait meanwhile.

    Raises: Conflict when the tables are not distributed, or a worker is away
    """
    require_citus(connection)
    if not is_laid_out(connection):
        raise Conflict("The tables of this database are not distributed; run `normstat cluster init` first")
    with _changing(connection, lambda said: f"Shards were not moved, or not all: {said}; run it again when all workers answer"):
        n_moves = count_moves(connection)
        if n_moves:
            connection.execute(REBALANCE)
    return n_moves


def list_nodes(connection: Connection) -> list[ClusterNode]:
    """Return the coordinator and the workers, each asked whether it answers.

    Raises: Conflict without Citus
    """
    require_citus(connection)
    rows = connection.execute(NODES).fetchall()
    problems = {Address(str(row[0]), int(str(row[1]))): _find_problem(connection, str(row[0]), int(str(row[1]))) for row in rows}
    sizes: dict[Address, int] = {}
    # With a worker away the view waits for it, and fails.
    is_measured = not any(problems.values())
    if is_measured:
        sizes = {Address(str(host), int(str(port))): int(str(n)) for host, port, n in connection.execute(SIZES).fetchall()}
    return [
        ClusterNode(
            address=(address := Address(str(host), int(str(port)))),
            is_coordinator=group == 0,
            is_active=bool(is_active),
            n_shards=int(str(n_shards)),
            n_bytes=sizes.get(address, 0) if is_measured else None,
            problem=problems[address],
        )
        for host, port, group, is_active, n_shards in rows
    ]


def _find_problem(connection: Connection, host: str, port: int) -> str | None:
    try:
        row = connection.execute("SELECT citus_check_connection_to_node(%s, %s)", [host, port]).fetchone()
    except psycopg.Error as error:
        if connection.closed:
            raise
        return _said(error)
    return None if row == (True,) else "it does not answer the coordinator"


@contextmanager
def _changing(connection: Connection, describe: Callable[[str], str]) -> Iterator[None]:
    """Change the nodes in the block; `describe` turns Citus's message into the error.

    Raises: Conflict; NotAllowed for a role that is not a superuser; psycopg.Error when the connection is lost
    """
    try:
        yield
    except psycopg.errors.InsufficientPrivilege as error:
        raise NotAllowed(f"Only a superuser may change the nodes of a cluster ({_said(error)}); set NORMSTAT_ADMIN_URL") from error
    except psycopg.Error as error:
        if connection.closed:
            raise
        raise Conflict(describe(_said(error))) from error


def _said(error: psycopg.Error) -> str:
    lines = str(error.diag.message_primary or error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _advice(said: str) -> str:
    if "extension" in said or "version" in said:
        return "install the coordinator's version of Citus there, and run CREATE EXTENSION citus in the database of the same name"
    return "check its name and port, that PostgreSQL runs there, and that its pg_hba.conf lets the coordinator in"
