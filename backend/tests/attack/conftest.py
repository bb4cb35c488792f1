"""Receivers of messages on this machine."""

from tests.alerts.receivers import http as http  # noqa: PLC0414 (a fixture)
