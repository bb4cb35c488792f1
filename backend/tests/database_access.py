"""What a test does with a database that it was given."""

from dataclasses import dataclass

import psycopg
from psycopg.rows import TupleRow
from sqlalchemy.ext.asyncio import AsyncEngine

from tests.databases import Sessions


@dataclass(frozen=True, slots=True)
class Database:
    """A fresh, migrated database, and the ways into it."""

    url: str
    engine: AsyncEngine
    sessions: Sessions

    def query(self, statement: str) -> list[TupleRow]:
        return query(self.url, statement)


def query(url: str, statement: str) -> list[TupleRow]:
    with psycopg.connect(url, options="-c timezone=UTC") as connection:
        return connection.execute(statement).fetchall()
