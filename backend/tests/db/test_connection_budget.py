"""How many connections a server process opens beside the pool for people, which administrators add up for `max_connections`."""

import ast
from collections import Counter
from pathlib import Path
from typing import Final

import normstat
from normstat.app import INGEST_POOL_SIZE
from normstat.settings import CONNECTIONS_BESIDE_POOL

PACKAGE: Final = Path(normstat.__file__).parent
# Not of the server: commands, what they call, and the examination, which opens its own for a moment.
COMMANDS: Final = ("cli/", "doctor/", "local/", "backup/", "demo/", "db/migrations.py", "db/schema_version.py", "db/owner.py")
# Each call of these is one connection that may be open beside the pools; open_claims and run_outbox open theirs by make_engine.
ONE_EACH: Final = {"open_claims", "run_outbox", "DatabaseProbe", "AsyncConnection.connect"}
# Pools, and what the functions above are made of.
MAKERS: Final = {
    ("make_engine", "app.py"): 3,  # for people, for agents, and for the standby, which is another database
    ("make_engine", "alerts/outbox_worker.py"): 1,
    ("make_engine", "db/session.py"): 1,
    ("make_engine", "watch/watch_process.py"): 1,  # CONNECTIONS_OF_WATCHING, in one process
    ("make_probe_engine", "db/probe.py"): 1,
    ("open_locked_sessions", "jobs/claims.py"): 1,
    ("open_locked_sessions", "incidents/incident_worker.py"): 1,  # for as long as it works
    ("create_async_engine", "db/session.py"): 2,
}
OTHER_WAYS: Final = {"make_engine", "make_probe_engine", "open_locked_sessions", "create_async_engine", "psycopg.connect"}


def count_calls() -> Counter[tuple[str, str]]:
    """The calls that open connections in the server, by name and module."""
    found: Counter[tuple[str, str]] = Counter()
    for path in sorted(PACKAGE.rglob("*.py")):
        module = str(path.relative_to(PACKAGE))
        text = path.read_text()
        # To parse all of the server takes seconds.
        if module.startswith(COMMANDS) or not any(f"{name.split('.')[-1]}(" in text for name in ONE_EACH | OTHER_WAYS):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call):
                words = ast.unparse(node.func).split(".")
                for name in {words[-1], ".".join(words[-2:])}:
                    found[name, module] += name in ONE_EACH | OTHER_WAYS
    return +found


def test_connections_beside_the_pool_are_counted() -> None:
    calls = count_calls()
    others = {(name, module): n for (name, module), n in calls.items() if name in OTHER_WAYS}
    assert others == MAKERS, "another way to the database: count its connections here and in settings.py"
    n_single = sum(n for (name, _), n in calls.items() if name in ONE_EACH)
    n_of_incidents = MAKERS["open_locked_sessions", "incidents/incident_worker.py"]
    assert n_single + n_of_incidents + INGEST_POOL_SIZE == CONNECTIONS_BESIDE_POOL, sorted(calls)
