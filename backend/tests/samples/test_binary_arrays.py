"""What is sent as an array in binary form arrives as it was."""

import datetime as dt
import json

import psycopg
import pytest

from normstat.samples.binary_arrays import accept_arrays, to_array
from tests.database_access import Database
from tests.databases import on_either_database

pytestmark = on_either_database

INSTANT = dt.datetime(2026, 11, 30, 23, 59, 59, 999999, tzinfo=dt.UTC)
VALUES = {
    "bool": [True, False, None],
    "int8": [0, -1, 2**63 - 1, -(2**63), None],
    "text": ["", "vmstat -t 1", 'a "quoted", {comma} \\', "Größe µs 千", "NULL", None],
    "float8": [0.1, -1e300, float("inf"), None],
    "date": [dt.date(1999, 12, 31), dt.date(2026, 11, 30), None],
    "timestamptz": [INSTANT, dt.datetime(1970, 1, 1, tzinfo=dt.UTC), None],
    "jsonb": [b'{"header": "a \\"b\\"", "n": [1, null]}', b"{}", None],
}


@pytest.mark.parametrize("type_", VALUES)
@pytest.mark.parametrize("length", [None, 1, 0])
async def test_values_arrive_as_they_were(db: Database, type_: str, length: int | None) -> None:
    values = VALUES[type_][:length]
    async with await psycopg.AsyncConnection.connect(db.url) as connection:
        accept_arrays(connection)
        cursor = await connection.execute(f"SELECT unnest(%(values)s::{type_}[])", {"values": to_array(type_, values)})
        found = [value for (value,) in await cursor.fetchall()]
    assert found == [json.loads(value) if isinstance(value, bytes) else value for value in values]
