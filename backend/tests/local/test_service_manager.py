"""systemd learns when the server answers, and when it stops."""

import os
import signal
import socket
from pathlib import Path

import pytest

from normstat.local.service_manager import READY, tell_service_manager
from tests.databases import on_either_database
from tests.e2e.product import Server

pytestmark = on_either_database


def test_the_state_is_sent_to_the_named_socket(tmp_path: Path) -> None:
    abstract = f"@normstat-test-{os.getpid()}"
    for address, bound in ((str(tmp_path / "notify"), str(tmp_path / "notify")), (abstract, "\0" + abstract[1:])):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(bound)
            tell_service_manager(address, READY)
            assert manager.recv(100) == b"READY=1"


def test_without_a_manager_nothing_happens(tmp_path: Path) -> None:
    tell_service_manager(None, READY)
    tell_service_manager("", READY)
    tell_service_manager(str(tmp_path / "none"), READY)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.matrix)])
def test_a_server_tells_that_it_is_ready_and_that_it_stops(database_url: str, tmp_path: Path, workers: int) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(100)
        settings = {"NOTIFY_SOCKET": str(tmp_path / "notify")}
        with Server(database_url, tmp_path / "server.log", workers=workers, settings=settings) as server:
            assert manager.recv(100) == b"READY=1"
            assert server.is_healthy()
            assert server.process is not None
            os.kill(server.process.pid, signal.SIGTERM)
            assert manager.recv(100) == b"STOPPING=1"
        manager.settimeout(0)
        with pytest.raises(BlockingIOError):
            manager.recv(100)
