"""Commands, receivers of messages on this machine, and a server without sockets."""

from collections.abc import AsyncIterator

import pytest

from tests.alerts.receivers import http as http  # noqa: PLC0414 (a fixture)
from tests.cli.commands import Commands
from tests.cli.connection_rig import Rig
from tests.databases import Sessions
from tests.query.filling import fill_capture
from tests.query.test_export import VMSTAT


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    rig = Rig()
    rig.reads.set()
    yield rig
    await rig.close()


@pytest.fixture
def normstat(database_url: str) -> Commands:
    return Commands(database_url)


@pytest.fixture
async def _filled(sessions: Sessions) -> None:
    """One host with samples of vmstat."""
    await fill_capture(sessions, "web1", "vmstat_linux", VMSTAT)
