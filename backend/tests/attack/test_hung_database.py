"""A database that neither answers nor goes away: /health says so within a second, and the server goes on when it is back."""

import os
import signal
from pathlib import Path

from tests.attack.clients import ask_health
from tests.e2e.product import Server, wait_until
from tests.failures.postgres import _children, running_postgres


def test_a_database_that_hangs(tmp_path: Path) -> None:
    with running_postgres(max_connections="40") as postgres, Server(postgres.url_of_tests, tmp_path / "log") as server:
        assert postgres._process is not None
        family = [postgres._process.pid, *_children(postgres._process.pid)]
        for pid in family:
            os.kill(pid, signal.SIGSTOP)
        try:
            for _ in range(5):
                answer = ask_health(server.port)
                assert answer.status == 503
                assert b'"database_away"' in answer.body
                # Its own deadline has ended it, not that of the question or of the client.
                assert b"within 0.8 s" in answer.body
        finally:
            for pid in family:
                os.kill(pid, signal.SIGCONT)
        wait_until(lambda: ask_health(server.port).status == 200, "it answers again")
