"""Install the user specs of the database in this process, when they have changed."""

from typing import Final

import anyio.to_thread
import structlog
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.db.schema.models import UserSpec
from normstat.db.session import driver_of, open_read_session
from normstat.stats.installed_specs import Installed

log = structlog.get_logger()

REVISION: Final = """
    SELECT CASE count(*) WHEN 0 THEN '' ELSE concat_ws(' ', count(*), sum(version), max(updated_at)) END FROM user_specs
"""
SPECS_CHANNEL: Final = "normstat_specs"


async def read_revision(session: AsyncSession) -> str:
    """Return a text that changes whenever a user spec is added, changed or removed; "" when there is none."""
    # Asked for every batch of requests: the driver alone takes a third of the time.
    row = await (await (await driver_of(session)).execute(REVISION)).fetchone()
    assert row is not None
    return str(row[0])


async def refresh_catalogue(session: AsyncSession) -> bool:
    """Install the user specs of the database in this process; return False if they were installed already."""
    revision = await read_revision(session)
    if revision == Installed.revision:
        return False
    # Only where there are user specs, not in every server that starts.
    from normstat.stats.catalogue import UserSpecText, install_user_specs  # noqa: PLC0415

    rows = (await session.scalars(select(UserSpec))).all()
    texts = [UserSpecText(row.name, row.toml, row.version) for row in rows]
    # Many take a while, and must not block the event loop.
    troubles = await anyio.to_thread.run_sync(install_user_specs, texts, revision)
    for name, trouble in troubles.items():
        log.error("user_spec_unreadable", spec=name, error=trouble)
    return True


async def reload_user_specs(sessions: async_sessionmaker[AsyncSession]) -> None:
    """Call refresh_catalogue in a session of its own; if the database is away, the catalogue stays as it is until the next call."""
    try:
        async with open_read_session(sessions) as session:
            await refresh_catalogue(session)
    except (DBAPIError, PoolTimeout) as error:
        log.warning("user_specs_not_loaded", error=type(error).__name__)
