"""Receivers of messages on this machine."""

from collections.abc import Iterator

import pytest

from tests.alerts.receivers import HttpReceiver, MailReceiver


@pytest.fixture
def http() -> Iterator[HttpReceiver]:
    """An HTTP server that remembers what arrived."""
    receiver = HttpReceiver()
    yield receiver
    receiver.close()


@pytest.fixture
def mail() -> Iterator[MailReceiver]:
    """A mail server that remembers what arrived."""
    receiver = MailReceiver()
    yield receiver
    receiver.close()
