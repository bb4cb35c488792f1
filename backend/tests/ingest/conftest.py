"""Fixtures of the tests of ingest."""

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.samples import instance_cache
from tests.ingest.sending import Agent


@pytest.fixture(autouse=True)
def instances_are_written_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of instances have their last sample after every request, so that they can be compared."""
    monkeypatch.setattr(instance_cache, "LAST_STEP_US", 0)


@pytest.fixture
def agent(engine: AsyncEngine) -> Agent:
    """The agent of the host alpha."""
    return Agent(engine)
