"""A process that dies at a statement."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine


@contextmanager
def dying_at_statement(engine: AsyncEngine, number: int, deaths: list[int]) -> Iterator[None]:
    """End the block before its statement of that number, if it has as many; `deaths` gets the number then."""
    n_left = number

    def die(*_: object) -> None:
        nonlocal n_left
        n_left -= 1
        if n_left == 0:
            raise KeyboardInterrupt

    event.listen(engine.sync_engine, "before_cursor_execute", die)
    try:
        yield
    except KeyboardInterrupt:
        deaths.append(number)
    finally:
        event.remove(engine.sync_engine, "before_cursor_execute", die)
