"""Fixtures of the tests of ingest."""

import pytest

from normstat.storage import instance_cache


@pytest.fixture(autouse=True)
def instances_are_written_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of instances have their last sample after every request, so that they can be compared."""
    monkeypatch.setattr(instance_cache, "LAST_STEP_US", 0)
