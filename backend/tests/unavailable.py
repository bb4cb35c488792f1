"""What tests do where a database cannot be had: they say so, or fail where skipping is forbidden."""

import os
from typing import NoReturn

import pytest

from tests.databases import PlainServer, ServerPool, TestServer
from tests.debian_root import DatabaseUnavailable


def skip_without(error: DatabaseUnavailable | str) -> NoReturn:
    """Skip the test, or fail it where NORMSTAT_REQUIRE_ALL=1 forbids that."""
    if os.environ.get("NORMSTAT_REQUIRE_ALL") == "1":
        pytest.fail(f"{error} (and NORMSTAT_REQUIRE_ALL=1 forbids skipping)", pytrace=False)
    pytest.skip(str(error))


def require_plain(servers: ServerPool) -> TestServer:
    """The running plain PostgreSQL."""
    try:
        return servers.require(PlainServer.name)
    except DatabaseUnavailable as error:
        skip_without(error)
