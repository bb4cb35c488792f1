"""Receivers of messages on this machine."""

from collections.abc import Iterator

import pytest

from tests.alerts.receivers import MailReceiver
from tests.alerts.receivers import http as http  # noqa: PLC0414 (a fixture)


@pytest.fixture
def mail() -> Iterator[MailReceiver]:
    """A mail server that remembers what arrived."""
    receiver = MailReceiver()
    yield receiver
    receiver.close()
