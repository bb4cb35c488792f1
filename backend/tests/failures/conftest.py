"""What goes wrong goes wrong alike on PostgreSQL and TimescaleDB: one of them is enough, for the sake of time."""

import os

import pytest

from tests.databases import ServerPool, TestServer
from tests.debian_root import DatabaseUnavailable


@pytest.fixture(scope="session")
def server(servers: ServerPool) -> TestServer:
    try:
        return servers.require("postgresql")
    except DatabaseUnavailable as error:
        if os.environ.get("NORMSTAT_REQUIRE_ALL") == "1":
            pytest.fail(f"{error} (and NORMSTAT_REQUIRE_ALL=1 forbids skipping)", pytrace=False)
        pytest.skip(str(error))
