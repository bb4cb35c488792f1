"""The sessions of the database, and which account limits those of the present task (db/host_limits.py).

Separate from the limits, which need every table: commands without limited accounts do not load them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from sqlalchemy.orm import Session

# The account whose groups limit the statements of the present task; None: all hosts. Set by `limit_hosts` alone, whose module makes
# the limits work.
limiting_account: Final[ContextVar[int | None]] = ContextVar("limiting_account", default=None)


# In `info` of sessions whose transactions the leader alone may make: the process of the database that holds its lock for it.
LEADER_PID: Final = "leader_pid"


class LimitedSession(Session):
    """A session whose ORM statements see only the hosts that the account of the present task may see."""


def limited_account() -> int | None:
    """Return the id of the account whose groups limit the present task. Missing: None when all hosts are visible"""
    return limiting_account.get()


@contextmanager
def all_hosts() -> Iterator[None]:
    """Lift the limit in the block: for what is kept in memory and shown to other accounts, too."""
    before = limiting_account.set(None)
    try:
        yield
    finally:
        limiting_account.reset(before)
