"""Commands of ours that are killed outright while they wait for a lock in the database."""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psycopg
from psycopg import sql

from tests.e2e.product import wait_until
from tests.fork_server import start_forked
from tests.lock_waits import WAITING


@contextlib.contextmanager
def killed_at_lock(url: str, lock: str, *words: str) -> Iterator[None]:
    """Start a command, kill it when it waits for the lock that a statement takes, and release the lock in the end."""
    with psycopg.connect(url) as connection, psycopg.connect(url, autocommit=True) as looker:
        connection.execute(sql.SQL(lock))
        with Path(os.devnull).open("wb") as nowhere:
            process = start_forked(words, os.environ | {"NORMSTAT_DATABASE_URL": url}, nowhere)

        def is_waiting() -> bool:
            assert process.poll() is None, "the command ended before it came upon the lock"
            return looker.execute(WAITING).fetchone() is not None

        wait_until(is_waiting, "the command waits for the lock")
        process.send_signal(signal.SIGKILL)
        process.wait()
        yield
        connection.rollback()
        # Its backend is told only when it answers: then it rolls back.
        wait_until(lambda: looker.execute(WAITING).fetchone() is None, "the backend of the killed command ends")
