"""Statements that SQLAlchemy compiled, kept for all engines of this process.

A server has one engine for months, and compiles a statement once. Each test has an engine of its own, which would compile again
what those before it did: a tenth of what the tests of the database cost.
"""

from typing import Final

from sqlalchemy import Connection, Engine, event
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.util import LRUCache

# There are some hundred statements, and variants of them with other tables of samples.
MAX_STATEMENTS: Final = 2000


def share_compiled_statements() -> None:
    """Let all engines of this process use one cache."""
    # A key begins with the engine's dialect: those that talk in the same way to the same version of the database are one.
    PGDialect_psycopg.__hash__ = lambda dialect: hash(_identity(dialect))  # type: ignore[method-assign,assignment]
    PGDialect_psycopg.__eq__ = lambda dialect, other: _identity(dialect) == _identity(other)  # type: ignore[method-assign]
    statements: LRUCache[object, object] = LRUCache(MAX_STATEMENTS)

    def use(connection: Connection) -> None:
        connection.execution_options(compiled_cache=statements)

    event.listen(Engine, "engine_connect", use)


def _identity(dialect: object) -> tuple[type, object]:
    return type(dialect), getattr(dialect, "server_version_info", None)
