"""What goes wrong goes wrong alike on PostgreSQL and TimescaleDB: one of them is enough, for the sake of time."""

import pytest

from tests.databases import ServerPool, TestServer
from tests.unavailable import require_plain


@pytest.fixture(scope="session")
def server(servers: ServerPool) -> TestServer:
    return require_plain(servers)
