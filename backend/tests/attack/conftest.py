"""Receivers of messages on this machine, and a database for what does not depend on its kind."""

from collections.abc import Iterator

import pytest

from tests.alerts.receivers import http as http  # noqa: PLC0414 (a fixture)
from tests.attack.clients import plain_database
from tests.databases import ServerPool


@pytest.fixture
def url(servers: ServerPool) -> Iterator[str]:
    with plain_database(servers) as url:
        yield url
